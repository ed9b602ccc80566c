//===- grant_order.h - The total order of all grants ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is a client's request; a grant is a range of its firings that may
// join the queues of its islands. Tickets are one total order of all grants
// over all islands, so programs that share islands cannot wait for each other
// in a circle. A policy decides which of the launches that want the same
// devices gets the next ticket.

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

// Device time that a program alone on its devices is granted ahead. A grant is
// never taken back, so this bounds how long a newcomer waits.
inline constexpr TimeNs kGrantHorizonNs = 10'000'000;
// Device time that is granted ahead on a group if several programs share it:
// for one program, and for all of them together. A program with a long fill
// time (FiringCost::fill_ns) gets kFillFactor times its fill time instead, in
// two grants, so devices idle for at most a tenth of each grant.
inline constexpr TimeNs kChunkNs = 1'000'000;
inline constexpr int kFillFactor = 20;

struct Grant {
  uint64_t launch = 0;
  uint32_t program = 0;
  uint64_t ticket = 0;
  uint64_t first = 0, end = 0;  // firings of the program
  // The islands that take part, each with the ticket before this one on that
  // island; 0: none.
  std::vector<std::pair<int32_t, uint64_t>> previous;
  WaitSet running;         // islands on which the grant is not over
  double estimate_ns = 0;  // expected device time, on each island
  TimeNs time_ns = 0;      // measured on the slowest island

  void Reset();
};

// Issues grants. Invariants: (1) tickets increase, and an island gets every
// ticket in which it takes part; (2) the grants of a launch, and the launches
// of a program, are adjacent ranges of the program's firings, in order; (3) a
// program has at most two open grants, or more if all their firings together
// take less than its horizon, by the time that its last grants took (until that
// is measured, at most a fixed number of firings); (4) the programs that share
// a group are limited by kChunkNs together, but a program on several groups is
// granted on all of them when its turn has come on one, since otherwise it
// would wait until all have room at the same time; (5) a waiting program is
// granted when the open grants of one of its groups are over, if the policy
// chooses it: nothing else holds it back. One owner calls it.
class GrantOrder {
 public:
  // A launch that has begun.
  struct Launch {
    uint32_t program = 0;
    uint64_t first = 0, end = 0;        // firings of the program
    bool cut_short = false;             // CutShort has moved `end`
    absl::Span<const int32_t> islands;  // must outlive the launch
    std::vector<uint64_t> tickets;      // of its open grants

    void Reset();
  };

  explicit GrantOrder(std::unique_ptr<SchedulingPolicy> policy,
                      TimeNs horizon_ns = kGrantHorizonNs,
                      TimeNs chunk_ns = kChunkNs)
      : policy_(std::move(policy)),
        horizon_ns_(horizon_ns),
        chunk_ns_(chunk_ns) {}

  // Loads a client's program on `devices`, each listed once. Its firings begin
  // at 0, and are expected to take `cost`.
  void Load(uint32_t program, uint32_t client, const FiringCost& cost,
            absl::Span<const DeviceGroupTable::Device> devices);
  // Unloads the program and ends its open grants.
  void Unload(uint32_t program);
  // Forgets a client that has left, with its programs.
  void ForgetClient(uint32_t client) {
    policy_->Forget(client);
    time_of_.erase(client);
  }

  // Begins a launch. All earlier launches of the program must have all their
  // grants.
  void Begin(uint64_t launch, uint32_t program, uint64_t steps,
             absl::Span<const int32_t> islands, const Claim& claim, TimeNs now);
  // Limits what is left of the launch to one last grant of at most `steps`
  // firings. Has no effect if the launch has all its grants.
  void CutShort(uint64_t launch, uint64_t steps);
  // Priority inheritance: the launch inherits `claim` from a launch that waits
  // for it.
  void Inherit(uint64_t launch, const Claim& claim);
  // Returns the next grant of any launch, or null if none may be given now. The
  // result is valid until the grant is over.
  const Grant* Next(TimeNs now);
  // Records that the grant is over on an island, where it took `time_ns`.
  // Returns true if it is over on all islands.
  bool Done(uint64_t ticket, int32_t island, TimeNs time_ns);
  // Forgets a launch that has ended or was given up, with its open grants.
  void Forget(uint64_t launch);

  // Returns null if no such grant is open.
  const Grant* Find(uint64_t ticket) const { return grants_.Find(ticket); }
  // Returns null if the launch has not begun, or was forgotten.
  const Launch* FindLaunch(uint64_t launch) const {
    return launches_.Find(launch);
  }
  // Returns the first firing of the program that was not granted yet.
  uint64_t next_firing(uint32_t program) const;
  // Returns true if a launch of the program waits and the program has no open
  // grant: only other programs hold it back.
  bool IsWaiting(uint32_t program) const;
  // Returns the device time that the client has used, added up over all groups.
  TimeNs TimeOf(uint32_t client) const;
  // Returns the device time that the program has used, added up over its
  // islands.
  TimeNs TimeOfProgram(uint32_t program) const;

 private:
  struct Program {
    uint32_t client = 0;
    uint64_t next = 0;             // first firing that was not granted
    uint64_t launch = 0, end = 0;  // the last launch, and its end
    Claim claim;                   // of the last launch
    uint64_t open_grants = 0, open_firings = 0;
    FiringCost cost;  // estimated from the plan
    double firing_ns = 1, time_ns = 0;
    bool measured = false;
    bool busy = false;  // waits for grants, or has open ones
    TimeNs since = 0;   // as in Candidate
    uint64_t order = 0;

    bool waits() const { return next < end; }
  };
  struct Group {
    // Number of loaded programs by client; and the busy programs.
    std::map<uint32_t, uint32_t> loaded;
    std::vector<uint32_t> busy;
    uint64_t open_grants = 0;
    double open_ns = 0;
    bool changed = false;  // true if the group is in changed_
  };

  void Change(uint32_t group);
  void ChangeAll(uint32_t program);
  void SetBusy(uint32_t program, bool busy);
  uint32_t CountBusy(const Group& group, uint32_t client) const;
  // Returns true if no other client's program is loaded on the program's
  // groups, and no other program is busy there.
  bool IsAlone(uint32_t program) const;
  // Returns the number of steps of the program's next grant, or 0 if it may
  // have none now.
  uint64_t NextSteps(uint32_t id, const Program& program) const;
  // Returns the program that is next on a group. Sets `steps` to the size of
  // its grant; 0: there is none.
  uint32_t Choose(uint32_t group, TimeNs now, uint64_t* steps);
  const Grant* Give(uint32_t id, uint64_t steps, TimeNs now);
  // Give charges an open grant to the groups of its islands. Return undoes this
  // on one island and charges `time_ns` instead.
  void Return(const Grant& grant, int32_t island, double time_ns);
  void Close(uint64_t ticket);

  const std::unique_ptr<SchedulingPolicy> policy_;
  const TimeNs horizon_ns_, chunk_ns_;
  uint64_t last_ticket_ = 0, last_order_ = 0;
  std::map<int32_t, uint64_t> ticket_of_;  // last ticket, by island
  std::map<uint32_t, Program> programs_;
  RecordPool<Launch> launches_;
  RecordPool<Grant> grants_;  // by ticket
  DeviceGroupTable groups_of_;
  std::vector<Group> groups_;
  // Groups that Next must look at; and programs with a launch on no island.
  std::vector<uint32_t> changed_, nowhere_;
  std::map<uint32_t, double> time_of_;  // device time, by client
  // Kept between calls, so that nothing is allocated.
  std::vector<Candidate> candidates_;
  std::vector<std::pair<uint32_t, uint64_t>> offers_;  // program and steps
  std::vector<DeviceGroupTable::Split> splits_;
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_GRANT_ORDER_H_
