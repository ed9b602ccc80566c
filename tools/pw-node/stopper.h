//===- stopper.h - Stop on a signal -----------------------------*- C++ -*-===//
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

// Stops whatever runs at the moment when a signal arrives. Thread-safe.
class Stopper {
 public:
  // Blocks SIGTERM and SIGINT in this thread and in all threads started later;
  // the first signal calls Stop, the second one ends the process. Must be
  // called once, before the first thread; the object lives as long as the
  // process.
  void CatchSignals();

  // Sets the function that Stop calls; null: none. If Stop was called before,
  // it is called at once.
  void Set(std::function<void()> stop);
  void Stop();

 private:
  Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> stop_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways::pw_node

#endif  // TOOLS_PW_NODE_STOPPER_H_
