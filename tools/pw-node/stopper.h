//===- stopper.h - Ends what runs, on a signal ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_NODE_STOPPER_H_
#define TOOLS_PW_NODE_STOPPER_H_

#include <functional>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"

namespace pathways::pw_node {

// What a signal is to end, whatever that is at the moment. Thread-safe.
class Stopper {
 public:
  // Blocks SIGTERM and SIGINT, for all threads that are started from now on;
  // the first one stops, the second one ends the process. Once, before the
  // first thread, and lives as long as the process.
  void CatchSignals();

  // What is to be called to stop, at once if Stop was called; null: nothing.
  void Set(std::function<void()> stop);
  void Stop();

 private:
  Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> stop_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways::pw_node

#endif  // TOOLS_PW_NODE_STOPPER_H_
