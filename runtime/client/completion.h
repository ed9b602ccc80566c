//===- completion.h - Flag that an operation has ended ----------*- C++ -*-===//
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

// Flag that an operation has ended, and whether a thread waits for that: most
// launches and releases end unwatched, and to wake a thread costs more than
// they do. One thread sets it, once; any number wait.
class Completion {
 public:
  // Returns true after Set. The caller then sees everything that was written
  // before Set.
  bool load() const { return done_.load(std::memory_order_seq_cst); }
  // Returns true if waiters must be notified.
  bool Set() {
    done_.store(true, std::memory_order_seq_cst);
    return awaited_.load(std::memory_order_seq_cst);
  }
  // Announces a waiter, before it calls load.
  void Await() { awaited_.store(true, std::memory_order_seq_cst); }

 private:
  std::atomic<bool> done_{false}, awaited_{false};
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_COMPLETION_H_
