//===- grant_order.h - The one order of all grants --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is what a client asked for; a grant is a range of its firings that
// may join the queues of its islands. Tickets are one order of all grants over
// all islands, so programs that share islands cannot wait for each other in a
// circle. Who has the next ticket a policy says, among those who want the same
// devices.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SCHEDULER_GRANT_ORDER_H_
#define RUNTIME_SCHEDULER_GRANT_ORDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/record_pool.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/scheduler/device_group_table.h"
#include "runtime/scheduler/firing_cost.h"
#include "runtime/scheduler/policy.h"
#include "runtime/world/world.h"

namespace pathways {

// How far ahead of its devices a program is granted when nobody else is on
// them: what is granted is never taken back, so a newcomer waits for it.
inline constexpr TimeNs kGrantHorizonNs = 10'000'000;
// When others are: of it, and of all that are there together. A program that
// takes long to fill its devices has kFillFactor times that instead, in two
// grants, so that they stand idle for a tenth of each at most.
inline constexpr TimeNs kChunkNs = 1'000'000;
inline constexpr int kFillFactor = 20;

struct Grant {
  uint64_t launch = 0;
  uint32_t program = 0;
  uint64_t ticket = 0;
  uint64_t first = 0, end = 0;  // firings of the program
  // Islands that take part, each with the ticket before this one there; 0:
  // none.
  std::vector<std::pair<int32_t, uint64_t>> previous;
  WaitSet running;         // islands on which it is not over
  double estimate_ns = 0;  // that it was to take, on each
  TimeNs time_ns = 0;      // it took, on the slowest island

  void Reset();
};

// Gives grants. Invariants: (1) tickets grow, and an island misses none of
// those that it takes part in; (2) grants of a launch, and launches of a
// program, are adjacent ranges of its firings, in order; (3) a program has two
// grants that are not over, or more whose firings take less than its horizon
// together, by the time that its last ones took (while nobody knows it, a fixed
// number of them at most); (4) where programs share
// devices, so have all of them together on each group, but that a program on
// several groups is granted on all when its turn has come on one: else it would
// wait for all to have room at once; (5) whoever waits is granted when what is
// granted on one of its groups is over, if the policy says so: nothing else
// holds it back. One owner calls it.
class GrantOrder {
 public:
  // Of a launch that has begun.
  struct Launch {
    uint32_t program = 0;
    uint64_t first = 0, end = 0;        // firings of the program
    bool cut_short = false;             // it ends before it was to
    absl::Span<const int32_t> islands;  // outlive the launch
    std::vector<uint64_t> tickets;      // of grants that are not over

    void Reset();
  };

  explicit GrantOrder(std::unique_ptr<SchedulingPolicy> policy,
                      TimeNs horizon_ns = kGrantHorizonNs,
                      TimeNs chunk_ns = kChunkNs)
      : policy_(std::move(policy)),
        horizon_ns_(horizon_ns),
        chunk_ns_(chunk_ns) {}

  // A client's program was loaded on these devices, each once: its firings
  // begin at 0, and take that as far as is known.
  void Load(uint32_t program, uint32_t client, const FiringCost& cost,
            absl::Span<const DeviceGroupTable::Device> devices);
  // It is loaded no more: what it was granted is over.
  void Unload(uint32_t program);
  // The client is gone, with its programs.
  void ForgetClient(uint32_t client) {
    policy_->Forget(client);
    time_of_.erase(client);
  }

  // A launch of a program whose launches before have all their grants.
  void Begin(uint64_t launch, uint32_t program, uint64_t steps,
             absl::Span<const int32_t> islands, const Claim& claim, TimeNs now);
  // A launch that does not have all its grants has one more, of `steps` firings
  // at most, which is its last.
  void CutShort(uint64_t launch, uint64_t steps);
  // One that claims this waits for it.
  void Inherit(uint64_t launch, const Claim& claim);
  // The next grant of any launch. Null: none for now. Valid until the grant is
  // over.
  const Grant* Next(TimeNs now);
  // The grant is over on an island, where it took `time_ns`. Whether it is over
  // on all.
  bool Done(uint64_t ticket, int32_t island, TimeNs time_ns);
  // The launch has ended, or was given up.
  void Forget(uint64_t launch);

  // Null: no such grant is open.
  const Grant* Find(uint64_t ticket) const { return grants_.Find(ticket); }
  // Null: it has not begun, or was forgotten.
  const Launch* FindLaunch(uint64_t launch) const {
    return launches_.Find(launch);
  }
  // The first firing of the program that was not granted.
  uint64_t next_firing(uint32_t program) const;
  // Whether a launch of it waits for others to be over: nothing of it is
  // granted that is not.
  bool IsWaiting(uint32_t program) const;
  // Device time that the client was given on each group, on all groups
  // together.
  TimeNs TimeOf(uint32_t client) const;
  // That the program was given so far, on all its islands together.
  TimeNs TimeOfProgram(uint32_t program) const;

 private:
  struct Program {
    uint32_t client = 0;
    uint64_t next = 0;             // firing that was not granted
    uint64_t launch = 0, end = 0;  // the last launch, and where it ends
    Claim claim;                   // of that launch
    uint64_t open_grants = 0, open_firings = 0;
    FiringCost cost;  // as the plan says
    double firing_ns = 1, time_ns = 0;
    bool measured = false;
    bool busy = false;  // it waits for grants, or has some
    TimeNs since = 0;   // as in Candidate
    uint64_t order = 0;

    bool waits() const { return next < end; }
  };
  struct Group {
    // Of programs that are loaded there, by client; of those that are busy.
    std::map<uint32_t, uint32_t> loaded;
    std::vector<uint32_t> busy;
    uint64_t open_grants = 0;
    double open_ns = 0;
    bool changed = false;  // in changed_
  };

  void Change(uint32_t group);
  void ChangeAll(uint32_t program);
  void SetBusy(uint32_t program, bool busy);
  uint32_t CountBusy(const Group& group, uint32_t client) const;
  // Whether no other client's program is loaded on its groups, and none is
  // busy.
  bool IsAlone(uint32_t program) const;
  // Steps of the next grant of a program; 0: none now.
  uint64_t NextSteps(uint32_t id, const Program& program) const;
  // The program that is next on a group, and how many steps; 0: none.
  uint32_t Choose(uint32_t group, TimeNs now, uint64_t* steps);
  const Grant* Give(uint32_t id, uint64_t steps, TimeNs now);
  // What a grant that is not over holds of an island's groups, until Return.
  void Take(const Grant& grant);
  void Return(const Grant& grant, int32_t island, double time_ns);
  void Close(uint64_t ticket);

  const std::unique_ptr<SchedulingPolicy> policy_;
  const TimeNs horizon_ns_, chunk_ns_;
  uint64_t last_ticket_ = 0, last_order_ = 0;
  std::map<int32_t, uint64_t> ticket_of_;  // last one, by island
  std::map<uint32_t, Program> programs_;
  RecordPool<Launch> launches_;
  RecordPool<Grant> grants_;  // by ticket
  DeviceGroupTable groups_of_;
  std::vector<Group> groups_;
  // To be looked at; and programs with launches that run nowhere.
  std::vector<uint32_t> changed_, nowhere_;
  std::map<uint32_t, double> time_of_;  // by client
  // Used again, so that nothing is allocated.
  std::vector<Candidate> candidates_;
  std::vector<std::pair<uint32_t, uint64_t>> offers_;  // program and steps
  std::vector<DeviceGroupTable::Split> splits_;
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_GRANT_ORDER_H_
