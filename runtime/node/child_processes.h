//===- child_processes.h - Child processes of this process ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_CHILD_PROCESSES_H_
#define RUNTIME_NODE_CHILD_PROCESSES_H_

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"

namespace pathways {

// File number, in a child, of the read end of a pipe whose write end the parent
// holds. End of file means that the parent is gone, for whatever reason.
inline constexpr int kParentFd = 3;

// Starts children, reaps each as soon as it ends, and leaves none behind.
// Children see the end of the pipe when this object, or the process, ends;
// children that do not exit then are killed. Each child is a process group of
// its own, so a terminal's signals reach the parent only. Children write to the
// parent's standard error only. Thread-safe.
class ChildProcesses {
 public:
  // `on_exit` is called on a separate thread, once for each child, with its
  // number and how it ended ("exit status 1", "signal 9"). `killed`: it was
  // ended by a signal. It may call Start, and nothing else of this object.
  using OnExit =
      std::function<void(int child, const std::string& how, bool killed)>;

  // Returns ResourceExhausted if there is no pipe.
  static absl::StatusOr<std::unique_ptr<ChildProcesses>> Create(OnExit on_exit);
  ~ChildProcesses();

  // Starts a program with its arguments; a name without a slash is searched
  // along PATH. Returns the child's number, counted from 0. Returns NotFound or
  // PermissionDenied, with the program's name, if it cannot be started;
  // Cancelled if Stop was called; or ResourceExhausted.
  absl::StatusOr<int> Start(const std::vector<std::string>& command);
  // Asks all children to end, kills those that have not ended after `grace`,
  // and waits for them.
  void Stop(absl::Duration grace);

 private:
  struct Child {
    pid_t pid = -1;
    bool running = true;
    std::thread reaper;
  };
  ChildProcesses(OnExit on_exit, int read_end, int write_end);
  void Reap(int child, pid_t pid);

  const OnExit on_exit_;
  const int read_end_;
  Mutex mutex_;
  std::condition_variable_any ended_;
  int write_end_ ABSL_GUARDED_BY(mutex_);  // -1: closed
  std::map<int, Child> children_ ABSL_GUARDED_BY(mutex_);
};

// Ends this process when its parent ends (kParentFd), even if other threads are
// blocked. Call it once, early in main.
void EndWithParent();

}  // namespace pathways

#endif  // RUNTIME_NODE_CHILD_PROCESSES_H_
