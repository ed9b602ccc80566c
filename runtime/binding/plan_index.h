//===- plan_index.h - Plans of a process, by content ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_PLAN_INDEX_H_
#define RUNTIME_BINDING_PLAN_INDEX_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/plan/plan_source.h"

namespace pathways {

// Upper bound on the bytes of unused plans that are kept.
inline constexpr uint64_t kMaxUnusedPlanBytes = uint64_t{256} << 20;

// A plan that came from another process.
struct KeptPlan {
  PlanName name;
  std::shared_ptr<const PreparedPlan> plan;
  // Null if no other process requests the plan from this one.
  std::shared_ptr<const PlanSource> source;
};

// The plans of a process, each held once and shared by its clients, hosts and
// controller. Invariants: (1) a plan that is in use is found; (2) a plan that
// came from another process is also kept while unused; the least recently used
// ones are dropped beyond a bound; (3) the plan stored under a hash has that
// hash; the caller that adds it has checked this. Thread-safe.
class PlanIndex {
 public:
  explicit PlanIndex(uint64_t max_unused_bytes = kMaxUnusedPlanBytes)
      : max_unused_bytes_(max_unused_bytes) {}

  // Returns null if the process does not have the plan.
  std::shared_ptr<const PreparedPlan> Find(const PlanHash& hash);
  // Adds a plan of this process, which has all of its code. Returns the plan
  // already stored under the hash if there is one, else `plan`.
  std::shared_ptr<const PreparedPlan> Put(
      const PlanName& name, std::shared_ptr<const PreparedPlan> plan);
  // Adds a plan that came from another process. `source` serves requests of
  // other processes; null if there are none.
  void Keep(const PlanName& name, std::shared_ptr<const PreparedPlan> plan,
            std::shared_ptr<const PlanSource> source);
  // Removes and returns the plans that came from other processes, the most
  // recently used last.
  std::vector<KeptPlan> TakeKept();
  // Returns the source that serves requests for the plan. Returns NotFound if
  // the process does not have the plan or may not serve it.
  absl::StatusOr<std::shared_ptr<const PlanSource>> Source(
      const PlanHash& hash);
  // Drops unused plans beyond the bound. Must be called whenever a use of a
  // plan has ended.
  void Trim();

  // Bytes of plans sent to, and received from, other processes.
  void CountSent(uint64_t bytes) { sent_ += bytes; }
  void CountReceived(uint64_t bytes) { received_ += bytes; }
  uint64_t sent() const { return sent_.load(); }
  uint64_t received() const { return received_.load(); }

 private:
  struct Entry {
    PlanName name;
    std::weak_ptr<const PreparedPlan> plan;
    std::shared_ptr<const PreparedPlan> kept;  // null: a plan of this process
    // Plans of this process: made on first request.
    std::shared_ptr<const PlanSource> source;
    uint64_t used = 0;  // larger: used later
  };

  std::shared_ptr<const PreparedPlan> FindLocked(const PlanHash& hash)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t max_unused_bytes_;
  std::atomic<uint64_t> sent_{0}, received_{0};
  Mutex mutex_;
  uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<PlanHash, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_BINDING_PLAN_INDEX_H_
