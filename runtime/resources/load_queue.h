//===- load_queue.h - Loads that wait for memory ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_RESOURCES_LOAD_QUEUE_H_
#define RUNTIME_RESOURCES_LOAD_QUEUE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/resources/admission.h"
#include "runtime/resources/client_requests.h"
#include "runtime/scheduler/policy.h"
#include "runtime/world/world.h"

namespace pathways {

// Loads of programs, and slices, for which there is no memory now, or no
// devices.
// Invariants: (1) a load that can never be granted, in whatever order, does not
// wait: it fails at once and says why; so those that wait are granted some
// time, if clients give up some time what they hold; (2) loads are granted in
// the order of asking, but that one that fits passes those that do not, each
// kMaxPassed times; after that, only clients that hold something do, for whom
// it may be waited; (3) each is granted or refused once. One owner calls it; it
// sends nothing.
class LoadQueue {
 public:
  static constexpr uint32_t kMaxPassed = 16;

  // One of a load's programs.
  struct Program {
    PlanName name;
    std::shared_ptr<const PreparedPlan> plan;
    uint64_t slice = 0;  // that it takes of; 0: of none
    // What it takes of hosts, as far as they have said.
    std::map<int32_t, uint64_t> on_hosts = {};
  };
  // Of programs, or of slices.
  struct Load {
    ClientRequest request;
    std::vector<Program> programs;
    std::vector<DeviceDemand> demands = {};  // by slice
    std::vector<std::string> whats = {};     // likewise: "slice 's'"
    TimeNs since = 0;                        // it was asked for
    TimeNs deadline = kNoDeadline;           // after which it waits no more
    int32_t priority = 0;                    // of its client
    bool awaits_devices = false;             // that are away, too
    // By place; of slices what they may take, and the least of each.
    DeviceBytes need = {};
    uint32_t refused = 0;  // times by hosts, that had no room after all
    uint32_t passed = 0;
    // Of its devices, when it was tried; 0: to be tried in any case.
    uint64_t version = 0;
    // When it was seen to fit into the empty cluster: that of Admission's
    // away_version, and one; 0: never.
    mutable uint64_t fits_alone = 0;
    bool stale = false;    // it has been tried since it was told why it waits
    std::string why = {};  // that it waits, as its client was told

    // "program 'p'", "slices 's' and 't'"
    std::string What() const;
  };
  using NameOf = absl::FunctionRef<std::string(uint32_t client)>;

  // Neither outlives it.
  explicit LoadQueue(const Admission* admission) : admission_(*admission) {}

  // Whether a load is granted at once, if it fits, though others have waited
  // longer; that it was.
  bool MayPass(const Load& load) const;
  void Passed(const Load& load);
  // One that does not fit, or may not pass. ResourceExhausted: it can never be
  // granted: it is too large, or waits in a circle, which is named; it is not
  // taken. Else `why` says why it waits.
  absl::Status Add(Load load, NameOf name_of, std::string* why);
  // Those that fit now, of those whose devices have changed, in order, as
  // `grant` tries: OK if so, ResourceExhausted if not, and anything else ends
  // it. Whether there was one to try.
  bool Retry(absl::FunctionRef<absl::Status(const Load&)> grant);
  // Those that can never be granted any more, since devices are away or were
  // chosen for another load of their client, with why.
  std::vector<std::pair<Load, absl::Status>> TakeStuck(NameOf name_of);
  // Those whose deadline has come, which do not wait any more.
  std::vector<Load> TakeLate(TimeNs now);
  // Nobody waits for it any more. Whether anybody did.
  bool Remove(ClientRequest request);
  void RemoveAll(uint32_t client);
  // Those that Retry tried in vain and that wait for another reason than
  // before, with it.
  std::vector<Load> Explain(NameOf name_of);

  bool empty() const { return loads_.empty(); }
  // Whether one waits for memory of the host itself.
  bool Awaits(int32_t host) const;
  const std::list<Load>& loads() const { return loads_; }
  // The next deadline; kNoDeadline: none.
  TimeNs NextDeadline() const;
  // The highest priority of those who wait for what the client holds; nullopt:
  // nobody does with more than `above`.
  std::optional<int32_t> PriorityOver(uint32_t client, int32_t above) const;

 private:
  static bool Meets(const Load& a, const Load& b);
  // What waits for one that is gone may be next.
  void TryAll();
  // Those that can never be granted, beside `more`, if that is not null, by
  // index, it last; if `granted` is one of them, as if it had been.
  std::vector<size_t> Stuck(const Load* more, const Load* granted) const;
  // Nobody who waits, nor `more`, holds anything, or waits twice. Then all that
  // is held is given up some time, and each that fits alone is granted.
  bool AreApart(const Load* more) const;
  bool FitsAlone(const Load& load) const;
  // Whether others can still be granted what they wait for when its client has
  // that: it may wait for more, of what they have.
  bool IsSafe(const Load& load) const;
  std::string Why(const Load& load, NameOf name_of) const;
  std::string Circle(const Load& load, const std::vector<size_t>& stuck,
                     NameOf name_of) const;

  const Admission& admission_;
  std::list<Load> loads_;
  uint64_t away_ = 0;        // Admission's version, when that was looked at
  bool has_chosen_ = false;  // devices, for a load that was granted since
};

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_LOAD_QUEUE_H_
