//===- policy.h - Who is granted devices next -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SCHEDULER_POLICY_H_
#define RUNTIME_SCHEDULER_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/world/world.h"

namespace pathways {

inline constexpr TimeNs kNoDeadline = INT64_MAX;

// What a launch claims of devices that others want too.
struct Claim {
  double weight = 1;              // of its client; positive
  int32_t priority = 0;           // larger ones first
  TimeNs deadline = kNoDeadline;  // when it should be over

  // Takes what is more urgent in `other`, of one who waits for this launch.
  // Whether that was anything.
  bool Inherit(const Claim& other);
};

// A launch that may be granted more of its firings now.
struct Candidate {
  uint32_t client = 0;
  int32_t priority = 0;
  TimeNs deadline = kNoDeadline;
  TimeNs since = 0;    // when it was ready, or had its last grant
  uint64_t order = 0;  // of that, among all
};

// Chooses among launches that want the same devices, which are a *group*: all
// programs are on all of a group's devices or on none. What is granted is never
// taken back, and small, so whoever is chosen keeps the others waiting for no
// more than a chunk (docs/scheduling.md). Invariant: the choice is a function
// of what the policy was told, so that a simulation can be repeated. One owner
// calls it.
class SchedulingPolicy {
 public:
  virtual ~SchedulingPolicy() = default;

  // The index of whom the next grant is; there is at least one candidate.
  virtual size_t Choose(uint32_t group, TimeNs now,
                        absl::Span<const Candidate> candidates) = 0;

  // A client has work on the group from now on, that waits or runs; it has no
  // more.
  virtual void Begin(uint32_t /*group*/, uint32_t /*client*/) {}
  virtual void End(uint32_t /*group*/, uint32_t /*client*/) {}
  // It takes so much of the group's time more, or less, than it was charged
  // with before: an estimate when it is granted, the rest when that is over.
  // The weight is positive.
  virtual void Charge(uint32_t /*group*/, uint32_t /*client*/,
                      double /*weight*/, double /*time_ns*/) {}
  // The second one is new, and was part of the first.
  virtual void Split(uint32_t /*from*/, uint32_t /*to*/) {}
  // The client is gone.
  virtual void Forget(uint32_t /*client*/) {}
};

// Those that there are, by name, the default first.
inline constexpr const char* kPolicyNames[] = {"priority", "fair", "fifo",
                                               "deadline"};
// InvalidArgument: there is none of that name; it says which there are.
absl::StatusOr<std::unique_ptr<SchedulingPolicy>> MakePolicy(
    const std::string& name);

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_POLICY_H_
