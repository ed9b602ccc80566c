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
// circle.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_GRANT_ORDER_H_
#define RUNTIME_CONTROLLER_GRANT_ORDER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/executor/record_pool.h"
#include "runtime/executor/wait_set.h"
#include "runtime/world/world.h"

namespace pathways {

// How far ahead of its devices a program is granted: what is granted is never
// taken back, so a newcomer waits for it.
inline constexpr TimeNs kGrantHorizonNs = 10'000'000;

struct Grant {
  uint64_t launch = 0;
  uint32_t program = 0;
  uint64_t ticket = 0;
  uint64_t first = 0, end = 0;  // firings of the program
  // Islands that take part, each with the ticket before this one there; 0:
  // none.
  std::vector<std::pair<int32_t, uint64_t>> previous;
  WaitSet running;     // islands on which it is not over
  TimeNs time_ns = 0;  // it took, on the slowest island

  void Reset();
};

// Gives grants. Invariants: (1) tickets grow, and an island misses none of
// those that it takes part in; (2) grants of a launch, and launches of a
// program, are adjacent ranges of its firings, in order; (3) a program has two
// grants that are not over, or more whose firings take less than the horizon
// together, by the time that its last ones took. One owner calls it.
class GrantOrder {
 public:
  // Of a launch that has begun.
  struct Launch {
    uint32_t program = 0;
    uint64_t first = 0, end = 0;        // firings of the program
    absl::Span<const int32_t> islands;  // outlive the launch
    std::vector<uint64_t> tickets;      // of grants that are not over

    void Reset();
  };

  explicit GrantOrder(TimeNs horizon_ns = kGrantHorizonNs)
      : horizon_ns_(horizon_ns) {}

  // The program was loaded: its firings begin at 0, and take `cost_ns` each as
  // far as is known.
  void Restart(uint32_t program, TimeNs cost_ns);
  // A launch of a program whose launches before have all their grants.
  void Begin(uint64_t launch, uint32_t program, uint64_t steps,
             absl::Span<const int32_t> islands);
  // Gives the program's last launch its next grant. Null: it has all, or the
  // horizon is reached. Valid until the grant is over.
  const Grant* Next(uint32_t program);
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

 private:
  struct Program {
    uint64_t next = 0;             // firing that was not granted
    uint64_t launch = 0, end = 0;  // the last launch, and where it ends
    uint64_t open_grants = 0, open_firings = 0;
    double firing_ns = 1;
    bool measured = false;
  };

  // Steps of the next grant of `program`; 0: none now.
  uint64_t NextSteps(const Program& program) const;
  void Close(uint64_t ticket);

  const TimeNs horizon_ns_;
  uint64_t last_ticket_ = 0;
  std::map<int32_t, uint64_t> ticket_of_;  // last one, by island
  std::map<uint32_t, Program> programs_;
  RecordPool<Launch> launches_;
  RecordPool<Grant> grants_;  // by ticket
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_GRANT_ORDER_H_
