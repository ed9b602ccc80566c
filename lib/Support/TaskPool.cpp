//===- TaskPool.cpp - Threads of one compilation --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/TaskPool.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Threading.h"
#include <system_error>

using namespace mlir::pathways;

TaskPool::TaskPool(unsigned most)
    : most(most ? most : llvm::hardware_concurrency().compute_thread_count()) {}

TaskPool::~TaskPool() {
  {
    std::unique_lock lock(mutex);
    finish(lock, /*group=*/nullptr);
    isEnding = true;
  }
  hasWork.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

size_t TaskPool::countOpen(Group *group) const {
  if (group) {
    auto found = open.find(group);
    return found == open.end() ? 0 : found->second;
  }
  size_t count = 0;
  for (auto &[of, tasks] : open)
    count += tasks;
  return count;
}

/// Runs the oldest task, of `group` unless that is null. Returns false if there
/// is none. Releases the lock while the task runs.
bool TaskPool::runOne(std::unique_lock<std::mutex> &lock, Group *group) {
  auto found = llvm::find_if(
      queue, [&](const Task &task) { return !group || task.group == group; });
  if (found == queue.end())
    return false;
  Task task = std::move(*found);
  queue.erase(found);
  lock.unlock();
  std::optional<Crash> ended = runWithCrashRecovery([&] { task.run(); });
  task.run = nullptr;
  lock.lock();
  if (ended && !crash)
    crash = std::move(ended);
  if (--open[task.group] == 0)
    open.erase(task.group);
  hasFinished.notify_all();
  return true;
}

void TaskPool::work() {
  std::unique_lock lock(mutex);
  while (true) {
    if (runOne(lock, /*group=*/nullptr))
      continue;
    if (isEnding)
      return;
    ++idle;
    hasWork.wait(lock);
    --idle;
  }
}

void TaskPool::asyncEnqueue(llvm::unique_function<void()> task, Group *group) {
  {
    std::lock_guard lock(mutex);
    queue.push_back({std::move(task), group});
    ++open[group];
    // The waiting thread is one of the workers.
    if (queue.size() > idle && threads.size() + 1 < most) {
      try {
        threads.emplace_back([this] { work(); });
      } catch (const std::system_error &) {
        // The system refuses another thread.
      }
    }
  }
  hasWork.notify_one();
  hasFinished.notify_all(); // a waiting thread may run it
}

/// Waits until no task of `group`, or of any group if that is null, is open.
void TaskPool::finish(std::unique_lock<std::mutex> &lock, Group *group) {
  while (countOpen(group) > 0)
    if (!runOne(lock, group))
      hasFinished.wait(lock);
}

void TaskPool::waitFor(Group *group) {
  std::unique_lock lock(mutex);
  finish(lock, group);
  if (!crash)
    return;
  const std::string what = crash->what;
  lock.unlock();
  llvm::report_fatal_error(llvm::StringRef(what));
}

void TaskPool::wait() { waitFor(nullptr); }

void TaskPool::wait(llvm::ThreadPoolTaskGroup &group) { waitFor(&group); }

std::optional<Crash> TaskPool::getCrash() {
  std::lock_guard lock(mutex);
  return crash;
}
