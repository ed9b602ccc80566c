//===- completion.h - That something has ended ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_COMPLETION_H_
#define RUNTIME_CLIENT_COMPLETION_H_

#include <atomic>

namespace pathways {

// That something has ended, and whether anybody waits for it: most launches and
// releases end unwatched, and to wake a thread costs more than they do. One
// thread sets it, once; any number wait.
class Completion {
 public:
  // After it, everything that was written before Set is seen.
  bool load() const { return done_.load(std::memory_order_seq_cst); }
  // Whether waiters must be notified.
  bool Set() {
    done_.store(true, std::memory_order_seq_cst);
    return awaited_.load(std::memory_order_seq_cst);
  }
  // Before the waiter looks.
  void Await() { awaited_.store(true, std::memory_order_seq_cst); }

 private:
  std::atomic<bool> done_{false}, awaited_{false};
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_COMPLETION_H_
