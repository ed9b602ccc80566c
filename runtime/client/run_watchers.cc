//===- run_watchers.cc - Callbacks for ends of runs -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/run_watchers.h"

#include <limits>

namespace pathways {

void RunWatchers::Add(uint64_t owner, uint64_t run, Callback callback) {
  MutexLock lock(&mutex_);
  callbacks_.emplace(Key(owner, run), std::move(callback));
  size_.store(callbacks_.size());
}

std::vector<RunWatchers::Callback> RunWatchers::Take(uint64_t owner,
                                                     uint64_t run) {
  if (size_.load() == 0) return {};
  MutexLock lock(&mutex_);
  const auto [begin, end] = callbacks_.equal_range(Key(owner, run));
  return Take(begin, end);
}

std::vector<RunWatchers::Callback> RunWatchers::TakeOf(uint64_t owner) {
  MutexLock lock(&mutex_);
  return Take(
      callbacks_.lower_bound(Key(owner, 0)),
      callbacks_.upper_bound(Key(owner, std::numeric_limits<uint64_t>::max())));
}

std::vector<RunWatchers::Callback> RunWatchers::TakeAll() {
  MutexLock lock(&mutex_);
  return Take(callbacks_.begin(), callbacks_.end());
}

std::vector<RunWatchers::Callback> RunWatchers::Take(Callbacks::iterator begin,
                                                     Callbacks::iterator end) {
  std::vector<Callback> taken;
  for (auto it = begin; it != end; ++it) taken.push_back(std::move(it->second));
  callbacks_.erase(begin, end);
  size_.store(callbacks_.size());
  return taken;
}

void CallAll(const std::vector<RunWatchers::Callback>& callbacks,
             const absl::Status& status) {
  for (const RunWatchers::Callback& callback : callbacks) callback(status);
}

}  // namespace pathways
