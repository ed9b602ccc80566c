//===- TaskPool.h - The threads of one compilation --------------*- C++ -*-===//
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

/// Runs MLIR's tasks where LLVM's pools would end the process: when the system
/// has no thread to give, and when a task crashes.
///
/// Invariants: (1) Every task runs once, shielded; the first crash is kept.
/// From then on each wait, once its tasks have finished, ends as a fatal error
/// of LLVM does: whoever waits is to be shielded too. A task that needs a lock
/// which the crashed one held does not finish. (2) Threads are started as tasks
/// come, fewer than asked for when there are none to be had; who waits for a
/// group runs its tasks meanwhile, so that all are run even without threads.
/// The destructor runs what is left and joins. Thread-safe.
class TaskPool : public llvm::ThreadPoolInterface {
public:
  /// `most` run at a time, one of them on the thread that waits; 0: one for
  /// each core.
  explicit TaskPool(unsigned most = 0);
  ~TaskPool() override;

  void wait() override;
  void wait(llvm::ThreadPoolTaskGroup &group) override;
  unsigned getMaxConcurrency() const override { return most; }

  /// The first, or nothing.
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
  std::map<Group *, size_t> open; ///< tasks that have not finished; no zeros
  std::vector<std::thread> threads;
  size_t idle = 0; ///< threads that wait for work
  bool isEnding = false;
  std::optional<Crash> crash;
};

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_TASKPOOL_H
