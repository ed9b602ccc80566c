//===- island_scheduler.h - The gang scheduler of one island ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives the launches of all programs one order on the island and grants them to
// its hosts in that order. The order is that of tickets, which are one total
// order over all islands; so if a gang waits for a token, what it waits for has
// a smaller (ticket, firing, position) and stands before it in every queue:
// the smallest firing that has not happened is always ready, and programs that
// share islands cannot wait for each other in a circle. A scheduler therefore
// holds back a launch until the previous ticket of its island has come.
//
// Positions count anew for a host that was replaced. Which life of a host is
// meant the controller says with each ticket, and by the order of tickets it
// never falls, so the scheduler need not be told of lives.
//
// A grant covers a range of a launch's steps; the controller asks for the next
// ranges while the launch runs, so messages grow with time and not with steps.
//
//===----------------------------------------------------------------------===//

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
  // `ticket_order` false grants in the order of arrival, which can deadlock;
  // for tests of the stall detector only.
  IslandScheduler(World* world, const Directory* directory,
                  ControlPool* controls, int island, bool ticket_order)
      : ControlActor(world, directory, controls, directory->scheduler(island)),
        directory_(directory),
        island_(island),
        ticket_order_(ticket_order) {}

  // Before the world starts. `ring` is that of the scheduler's worker.
  void StartTrace(TraceRing* ring) { trace_ = ring; }

 private:
  struct Host {
    uint32_t host = 0;
    uint64_t previous_position = 0, store = 0;  // as in Grant
    uint32_t restarts = 0;                      // as in Start
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
    uint64_t time_ns = 0;            // of the slowest host
  };

  void OnStart(ControlRef control);
  void Apply(ControlRef control);
  // One more, as new, behind all others.
  Granted* AddGranted();
  std::vector<std::unique_ptr<Granted>>::iterator First() {
    return granted_.begin() + static_cast<std::ptrdiff_t>(first_);
  }
  void Erase(std::vector<std::unique_ptr<Granted>>::iterator granted);
  void SendGrants(const Granted& granted, bool skip);
  // `restarts`: how often the host that sent it was replaced.
  void OnDone(const proto::GrantDone& done, uint32_t restarts);
  // A grant that was given up: hosts that did not get it must not wait for it.
  void Skip(uint64_t ticket);
  void Record(TraceKind kind, const proto::Start& start);
  void OnMessage(ActorId from, ControlRef control) override;

  const Directory* const directory_;
  const int island_;
  const bool ticket_order_;
  TraceRing* trace_ = nullptr;
  LinkedSequence tickets_;
  uint64_t last_position_ = 0;
  // By host, its last grant, and how often it was replaced before.
  struct LastPlace {
    uint64_t position = 0;
    uint32_t restarts = 0;
  };
  std::map<uint32_t, LastPlace> place_of_;
  // By position, those that are not over, from `first_` on; and records of some
  // that are.
  std::vector<std::unique_ptr<Granted>> granted_, spare_;
  size_t first_ = 0;
  std::set<uint64_t> seen_;  // tickets, without order only
};

// Whether failure a is before b: by step, position, shard.
bool Before(const proto::Failure& a, const proto::Failure& b);

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_ISLAND_SCHEDULER_H_
