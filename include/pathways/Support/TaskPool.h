//===- TaskPool.h - Threads of one compilation ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_TASKPOOL_H
#define PATHWAYS_SUPPORT_TASKPOOL_H

#include "pathways/Support/CrashRecovery.h"
#include "llvm/Support/ThreadPool.h"
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace mlir::pathways {

/// Runs MLIR's tasks. Unlike LLVM's pools it does not end the process when the
/// system refuses a thread or a task crashes.
///
/// Invariants: (1) Every task runs once, shielded; the first crash is kept.
/// After a crash each wait, once its tasks have finished, ends like a fatal
/// error of LLVM: the waiting thread must be shielded, too. A task that needs a
/// lock of the crashed one does not finish. (2) Threads are started as tasks
/// arrive, fewer than allowed if the system refuses them; a thread that waits
/// for a group runs its tasks meanwhile, so that all tasks run even without
/// threads. The destructor runs the remaining tasks and joins. Thread-safe.
class TaskPool : public llvm::ThreadPoolInterface {
public:
  /// Runs at most `most` tasks at a time, one of them on the waiting thread; 0:
  /// one per core.
  explicit TaskPool(unsigned most = 0);
  ~TaskPool() override;

  void wait() override;
  void wait(llvm::ThreadPoolTaskGroup &group) override;
  unsigned getMaxConcurrency() const override { return most; }

  /// Returns the first crash, or nullopt.
  std::optional<Crash> getCrash();

private:
  using Group = llvm::ThreadPoolTaskGroup;
  struct Task {
    llvm::unique_function<void()> run;
    Group *group;
  };

  void asyncEnqueue(llvm::unique_function<void()> task, Group *group) override;
  void work();
  void waitFor(Group *group);
  void finish(std::unique_lock<std::mutex> &lock, Group *group);
  bool runOne(std::unique_lock<std::mutex> &lock, Group *group);
  size_t countOpen(Group *group) const;

  const unsigned most;
  std::mutex mutex; ///< guards all below
  std::condition_variable hasWork, hasFinished;
  std::deque<Task> queue;
  std::map<Group *, size_t> open; ///< unfinished tasks; no zeros
  std::vector<std::thread> threads;
  size_t idle = 0; ///< threads waiting for work
  bool isEnding = false;
  std::optional<Crash> crash;
};

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_TASKPOOL_H
