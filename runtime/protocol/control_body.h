//===- control_body.h - A rare message inside a process ---------*- C++ -*-===//
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

// What a world hands from an actor to another one of its process, which takes
// the place of bytes. Counted: who holds a reference alone may change it, and
// nobody does while there are several. Any thread may give its reference back.
class ControlBody {
 public:
  ControlBody(const ControlBody&) = delete;
  ControlBody& operator=(const ControlBody&) = delete;

  // What another process would be sent.
  virtual std::string Serialize() const = 0;

  void Retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Recycle();
  }

 protected:
  ControlBody() = default;
  ~ControlBody() = default;
  // Nobody has it any more.
  virtual void Recycle() = 0;
  // Of one that was recycled: somebody has it again.
  void Revive() { references_.store(1, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> references_{1};
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_CONTROL_BODY_H_
