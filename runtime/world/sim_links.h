//===- sim_links.h - Arrival times in a simulation --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_SIM_LINKS_H_
#define RUNTIME_WORLD_SIM_LINKS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/world/link.h"
#include "runtime/world/mix.h"
#include "runtime/world/sim_faults.h"
#include "runtime/world/world.h"

namespace pathways {

// Charges messages to links and draws their jitter. Invariants: (1) times are a
// function of the seed and of the messages, in the order asked about; (2)
// messages that an actor sends inside its host, and messages between hosts that
// are not overtaken, arrive in the order sent, whatever the jitter; (3) inside
// a host no message waits for the wire. Owned by a SimWorld; not thread-safe.
class SimLinks {
 public:
  // The times of a message between hosts, which is on the wire from `begin` to
  // `end`.
  struct Way {
    TimeNs begin = 0, end = 0, arrival = 0;
  };

  // `local` is the link inside a host, which `between` does not have.
  SimLinks(const LinkModel& local, LinkModels between, uint64_t seed)
      : local_(local), between_(std::move(between)), random_(seed) {}

  // Returns the arrival time of a message that `from` sends at `now` inside its
  // host. kNobody means a sender outside of the world.
  TimeNs InHost(LocalId from, TimeNs now, uint64_t bytes);
  // Returns the times of a message from one host to another. A dropped message
  // takes its time on the wire too.
  Way BetweenHosts(const Placement& from, const Placement& to, TimeNs now,
                   uint64_t bytes, const FaultOutcome& outcome);

 private:
  TimeNs JitterOf(const LinkModel& link);

  const LinkModel local_;
  LinkTable between_;
  SplitMix random_;
  // Arrival time, by the sender's number plus one.
  std::vector<TimeNs> last_in_host_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_SIM_LINKS_H_
