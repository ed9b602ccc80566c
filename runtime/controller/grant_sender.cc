//===- grant_sender.cc - Grants on their way to islands -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/grant_sender.h"

#include <utility>

namespace pathways {

void GrantSender::Send(const Grant& grant, bool skip) {
  const ProgramTable::Program& program = *uses_.programs.Find(grant.program);
  const GrantOrder::Launch& launch = *uses_.grants.FindLaunch(grant.launch);
  const LaunchTable::Launch* asked = uses_.launches.Find(grant.launch);
  const uint64_t first_step = asked == nullptr ? 0 : asked->first_step;
  for (const auto& [island, previous] : grant.previous) {
    ControlRef control = uses_.outbox.New(proto::Control::kStart);
    proto::Start* start = control->mutable_start();
    start->set_program(grant.program);
    start->set_incarnation(program.incarnation);
    start->set_launch(grant.launch);
    start->set_ticket(grant.ticket);
    start->set_previous_ticket(previous);
    start->set_first(grant.first);
    start->set_steps(grant.end - grant.first);
    start->set_skip(skip);
    start->set_launch_first(launch.first);
    start->set_launch_steps(launch.end - launch.first);
    start->set_cut_short(launch.cut_short && grant.end == launch.end);
    start->set_first_step(first_step);
    AddHosts(grant, grant.first == launch.first, island, start);
    uses_.outbox.Send(uses_.directory.scheduler(island), std::move(control));
  }
}

void GrantSender::AddHosts(const Grant& grant, bool is_first, int32_t island,
                           proto::Start* start) const {
  const PreparedPlan& plan = *uses_.programs.Find(grant.program)->plan;
  for (int32_t host : plan.binding().hosts()) {
    if (uses_.topology.island_of_host(host) != island) continue;
    start->add_hosts(host);
    if (is_first) {
      start->add_stores(uses_.store_log.Undone(host, grant.launch));
    }
    if (uses_.epochs.restarts(host) == 0) continue;
    // Adds zeros for the hosts before it.
    start->mutable_restarts()->Resize(start->hosts_size(), 0);
    start->set_restarts(start->hosts_size() - 1, uses_.epochs.restarts(host));
  }
}

}  // namespace pathways
