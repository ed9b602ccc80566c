//===- island_scheduler.h - The gang scheduler of one island ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives the launches of all programs one order on the island, and grants them
// to its hosts in that order. The order is that of tickets, which are one total
// order over all islands. So when a gang waits for a token, the action that
// sends it has a smaller (ticket, firing, position) and comes first in every
// queue: the smallest firing that has not happened is always ready, and
// programs that share islands cannot wait for each other in a circle. For this,
// a scheduler holds back a launch until it has received the previous ticket of
// its island.
//
// Positions restart for a host that was replaced. Each ticket carries the
// number of restarts of each host (`restarts`), which never falls in the order
// of tickets. So the scheduler needs no other notice of replacements.
//
// A grant covers a range of a launch's steps. The controller asks for the next
// ranges while the launch runs, so the number of messages grows with time and
// not with steps.

#ifndef RUNTIME_SCHEDULER_ISLAND_SCHEDULER_H_
#define RUNTIME_SCHEDULER_ISLAND_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "runtime/proto/control.pb.h"
#include "runtime/protocol/directory.h"
#include "runtime/protocol/linked_sequence.h"
#include "runtime/trace/trace.h"
#include "runtime/world/control_actor.h"

namespace pathways {

class IslandScheduler final : public ControlActor {
 public:
  // If `ticket_order` is false, the scheduler grants in the order of arrival,
  // which can deadlock; only tests of the stall detector do so.
  IslandScheduler(World* world, const Directory* directory,
                  ControlPool* controls, int island, bool ticket_order)
      : ControlActor(world, directory, controls, directory->scheduler(island)),
        directory_(directory),
        island_(island),
        ticket_order_(ticket_order) {}

  // Must be called before the world starts. `ring` belongs to the scheduler's
  // worker.
  void StartTrace(TraceRing* ring) { trace_ = ring; }

 private:
  struct Host {
    uint32_t host = 0;
    uint64_t previous_position = 0, store = 0;  // as in proto::Grant
    uint32_t restarts = 0;                      // as in proto::Start
    bool done = false;
  };
  // A grant that is not over.
  struct Granted {
    ControlRef start;
    std::vector<Host> hosts;  // ascending
    uint64_t position = 0;
    size_t waiting = 0;  // hosts that have not finished
    bool failed = false;
    proto::Failure failure;
    std::vector<uint32_t> poisoned;  // results, ascending
    uint64_t time_ns = 0;            // on the slowest host
  };

  void OnStart(ControlRef control);
  void Apply(ControlRef control);
  // Appends an empty record after all others.
  Granted* AddGranted();
  std::vector<std::unique_ptr<Granted>>::iterator First() {
    return granted_.begin() + static_cast<std::ptrdiff_t>(first_);
  }
  void Erase(std::vector<std::unique_ptr<Granted>>::iterator granted);
  void SendGrants(const Granted& granted, bool skip);
  // `restarts`: how often the sending host was replaced.
  void OnDone(const proto::GrantDone& done, uint32_t restarts);
  // Withdraws a grant that was given up: hosts that did not receive it must not
  // wait for it.
  void Skip(uint64_t ticket);
  void Record(TraceKind kind, const proto::Start& start);
  void OnMessage(ActorId from, ControlRef control) override;

  const Directory* const directory_;
  const int island_;
  const bool ticket_order_;
  TraceRing* trace_ = nullptr;
  LinkedSequence tickets_;
  uint64_t last_position_ = 0;
  // The last grant of a host, and how often the host was replaced before.
  struct LastPlace {
    uint64_t position = 0;
    uint32_t restarts = 0;
  };
  std::map<uint32_t, LastPlace> place_of_;
  // Open grants by position, starting at index `first_`; and records of closed
  // grants for reuse.
  std::vector<std::unique_ptr<Granted>> granted_, spare_;
  size_t first_ = 0;
  std::set<uint64_t> seen_;  // tickets; unused if ticket_order_
};

// Returns true if failure `a` comes before `b` in the order of firing, action,
// shard and step.
bool Before(const proto::Failure& a, const proto::Failure& b);

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_ISLAND_SCHEDULER_H_
