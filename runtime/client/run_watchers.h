//===- run_watchers.h - Callbacks for ends of runs --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_RUN_WATCHERS_H_
#define RUNTIME_CLIENT_RUN_WATCHERS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "runtime/base/mutex.h"

namespace pathways {

// Callbacks for the ends of runs of all clients of a process. Each callback is
// taken once, by the thread that calls it: when its run has ended, its client
// was closed, or the cluster has ended. Thread-safe.
class RunWatchers {
 public:
  using Callback = std::function<void(const absl::Status&)>;

  // Adds a callback for run `run` of the client with number `owner` (see
  // RunHandle).
  void Add(uint64_t owner, uint64_t run, Callback callback);
  // Take removes the callbacks of one run, TakeOf those of all runs of one
  // client, and TakeAll those of all clients. Each returns them by run, in the
  // order in which they were added.
  std::vector<Callback> Take(uint64_t owner, uint64_t run);
  std::vector<Callback> TakeOf(uint64_t owner);
  std::vector<Callback> TakeAll();

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // owner, run
  using Callbacks = std::multimap<Key, Callback>;

  std::vector<Callback> Take(Callbacks::iterator begin, Callbacks::iterator end)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Size of callbacks_, so that the end of a run that nobody watches takes no
  // lock. Sequentially consistent, like Completion: whoever adds a callback
  // looks at the run after that, and whoever ends a run looks here after that.
  std::atomic<size_t> size_{0};
  Mutex mutex_;
  Callbacks callbacks_ ABSL_GUARDED_BY(mutex_);
};

// Calls all of them with that status.
void CallAll(const std::vector<RunWatchers::Callback>& callbacks,
             const absl::Status& status);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RUN_WATCHERS_H_
