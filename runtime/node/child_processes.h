//===- child_processes.h - Programs that this process started ---*- C++ -*-===//
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

// The end of a pipe whose other end the parent holds: its end of file says that
// the parent is gone, however that came about. Children have it at this number.
inline constexpr int kParentFd = 3;

// Starts children, reaps each as soon as it ends, and leaves none behind: they
// see the end of the pipe when this, or the process, ends; who does not go then
// is killed. Children are a process group each, so that a terminal's signals go
// to the parent alone; they write to its standard error only. Thread-safe.
class ChildProcesses {
 public:
  // `on_exit`: on a thread of its own, once for each child: which, and how it
  // ended ("exit status 1", "signal 9"), which was not of itself if it was
  // `killed`. May start another one, and call nothing else of this.
  using OnExit =
      std::function<void(int child, const std::string& how, bool killed)>;

  // ResourceExhausted: no pipe.
  static absl::StatusOr<std::unique_ptr<ChildProcesses>> Create(OnExit on_exit);
  ~ChildProcesses();

  // A program, looked for along PATH unless it has a slash, and its arguments.
  // Returns the child's number, from 0. NotFound, PermissionDenied: it cannot
  // be started, names it; Cancelled: all of them are to end; ResourceExhausted.
  absl::StatusOr<int> Start(const std::vector<std::string>& command);
  // Has all of them end, for which they have so long before they are killed.
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

// Ends this process when its parent does (kParentFd). Once, early in main; any
// thread may be stuck in whatever.
void EndWithParent();

}  // namespace pathways

#endif  // RUNTIME_NODE_CHILD_PROCESSES_H_
