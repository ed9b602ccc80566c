//===- wait_interrupt.h - End waits of a thread early -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_WAIT_INTERRUPT_H_
#define RUNTIME_BASE_WAIT_INTERRUPT_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace pathways {

// While it lives, calls of clients on this thread that wait ask from time to
// time whether to go on: `is_interrupted` returns true to end the call with
// Cancelled, as if it had not been made. It runs on this thread. Only for calls
// that can end at any wait: launches, and waits for runs and arrays. A
// simulation asks no one. Scopes do not nest.
class WaitInterrupt {
 public:
  static constexpr int64_t kPeriodNs = 50'000'000;

  explicit WaitInterrupt(absl::FunctionRef<bool()> is_interrupted)
      : is_interrupted_(is_interrupted) {
    current_ = this;
  }
  WaitInterrupt(const WaitInterrupt&) = delete;
  WaitInterrupt& operator=(const WaitInterrupt&) = delete;
  ~WaitInterrupt() { current_ = nullptr; }

  // The one of this thread, or null.
  static WaitInterrupt* Current() { return current_; }
  bool Ask() { return is_interrupted_(); }

 private:
  static inline thread_local WaitInterrupt* current_ = nullptr;
  absl::FunctionRef<bool()> is_interrupted_;
};

}  // namespace pathways

#endif  // RUNTIME_BASE_WAIT_INTERRUPT_H_
