//===- policy.h - Choice of the next grant ----------------------*- C++ -*-===//
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

// The claim of a launch to devices that other launches want too.
struct Claim {
  double weight = 1;              // of the client; positive
  int32_t priority = 0;           // a larger number comes first
  TimeNs deadline = kNoDeadline;  // when the launch should be over

  // Priority inheritance: raises this claim to the priority and deadline of
  // `other`, a launch that waits for this one, where these are more urgent.
  // Returns true if anything changed.
  bool Inherit(const Claim& other);
};

// A launch that may be granted more of its firings now.
struct Candidate {
  uint32_t client = 0;
  int32_t priority = 0;
  TimeNs deadline = kNoDeadline;
  TimeNs since = 0;    // when it became ready, or had its last grant
  uint64_t order = 0;  // rank of `since` among all launches
};

// Chooses among launches that want the same *group* of devices: each program
// uses all devices of a group or none. A grant is never taken back and is
// small, so the chosen launch keeps the others waiting for at most a chunk
// (docs/scheduling.md). Invariant: the choice depends only on the calls that
// the policy got, so that a simulation can be repeated. One owner calls it.
class SchedulingPolicy {
 public:
  virtual ~SchedulingPolicy() = default;

  // Returns the index of the candidate that gets the next grant. There is at
  // least one candidate.
  virtual size_t Choose(uint32_t group, TimeNs now,
                        absl::Span<const Candidate> candidates) = 0;

  // A client begins to have work on the group, waiting or running; or it has
  // none any more.
  virtual void Begin(uint32_t /*group*/, uint32_t /*client*/) {}
  virtual void End(uint32_t /*group*/, uint32_t /*client*/) {}
  // Adds `time_ns`, which may be negative, to the group's time that the client
  // is charged with: an estimate when a grant is given, and the difference to
  // the measured time when it is over. `weight` is positive.
  virtual void Charge(uint32_t /*group*/, uint32_t /*client*/,
                      double /*weight*/, double /*time_ns*/) {}
  // The group `to` is new, and was part of `from`.
  virtual void Split(uint32_t /*from*/, uint32_t /*to*/) {}
  // The client has left.
  virtual void Forget(uint32_t /*client*/) {}
};

// The names of all policies, the default first.
inline constexpr const char* kPolicyNames[] = {"priority", "fair", "fifo",
                                               "deadline"};
// Returns the policy of that name. Returns InvalidArgument, with the known
// names, if there is none.
absl::StatusOr<std::unique_ptr<SchedulingPolicy>> MakePolicy(
    const std::string& name);

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_POLICY_H_
