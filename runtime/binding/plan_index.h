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

// Most bytes of plans that are kept though nobody uses them.
inline constexpr uint64_t kMaxUnusedPlanBytes = uint64_t{256} << 20;

// A plan that came from another process.
struct KeptPlan {
  PlanName name;
  std::shared_ptr<const PreparedPlan> plan;
  std::shared_ptr<const PlanSource> source;  // null: nobody asks here
};

// The plans that a process has, each once, whoever of its clients, hosts and
// controller uses it. Invariants: (1) a plan that somebody uses is found; (2)
// one that came from another process is also kept when nobody does, the last
// ones used, up to a bound; (3) under a hash is a plan that has it: who adds
// one has checked that. Any thread.
class PlanIndex {
 public:
  explicit PlanIndex(uint64_t max_unused_bytes = kMaxUnusedPlanBytes)
      : max_unused_bytes_(max_unused_bytes) {}

  // Null: it is not here.
  std::shared_ptr<const PreparedPlan> Find(const PlanHash& hash);
  // Adds one of this process, whose whole code it has. Returns the one that is
  // there, if there is one.
  std::shared_ptr<const PreparedPlan> Put(
      const PlanName& name, std::shared_ptr<const PreparedPlan> plan);
  // Adds one that came. `source`: for who asks this process; null: nobody does.
  void Keep(const PlanName& name, std::shared_ptr<const PreparedPlan> plan,
            std::shared_ptr<const PlanSource> source);
  // Those that came, the last one used last. They are not here any more.
  std::vector<KeptPlan> TakeKept();
  // What to answer who asks for it. NotFound: it is not here, or not to give.
  absl::StatusOr<std::shared_ptr<const PlanSource>> Source(
      const PlanHash& hash);
  // Drops what is unused and beyond the bound. Called when a use has ended.
  void Trim();

  // Bytes of plans that went to other processes, and came from them.
  void CountSent(uint64_t bytes) { sent_ += bytes; }
  void CountReceived(uint64_t bytes) { received_ += bytes; }
  uint64_t sent() const { return sent_.load(); }
  uint64_t received() const { return received_.load(); }

 private:
  struct Entry {
    PlanName name;
    std::weak_ptr<const PreparedPlan> plan;
    std::shared_ptr<const PreparedPlan> kept;  // null: one of this process
    std::shared_ptr<const PlanSource> source;  // of one of this process: late
    uint64_t used = 0;                         // larger: later
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
