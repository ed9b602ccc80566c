//===- control_body.h - Control message inside a process --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_CONTROL_BODY_H_
#define RUNTIME_PROTOCOL_CONTROL_BODY_H_

#include <atomic>
#include <cstdint>
#include <string>

namespace pathways {

// A message that a world hands from one actor to another of its process instead
// of bytes. It is reference-counted: the only holder of a reference may change
// it; while there are several references nobody does. Any thread may release
// its reference.
class ControlBody {
 public:
  ControlBody(const ControlBody&) = delete;
  ControlBody& operator=(const ControlBody&) = delete;

  // Returns the bytes that another process would receive.
  virtual std::string Serialize() const = 0;

  void Retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Recycle();
  }

 protected:
  ControlBody() = default;
  ~ControlBody() = default;
  // Called after the last reference was released.
  virtual void Recycle() = 0;
  // Makes a recycled body hold one reference again.
  void Revive() { references_.store(1, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> references_{1};
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_CONTROL_BODY_H_
