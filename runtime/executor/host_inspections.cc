//===- host_inspections.cc - Reports of what a host waits for -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_inspections.h"

#include <algorithm>
#include <utility>

#include "runtime/executor/host_dispatcher.h"

namespace pathways {

void HostInspections::OnQuery(const proto::Query& query) {
  Inspection& inspection = inspections_[query.program()];
  if (!inspection.waiting.empty()) {
    inspection.round = std::max(inspection.round, query.round());
    return;
  }
  inspection.round = query.round();
  inspection.incarnation = query.incarnation();
  inspection.reports.clear();
  for (uint32_t d = 0; d < devices_; ++d) {
    inspection.reports.push_back(std::make_unique<DeviceReport>());
    if (lost_.IsDeaf(d)) continue;
    inspection.waiting.Insert(static_cast<int32_t>(d));
    LocalMessage message;
    message.kind = kInspect;
    message.program = query.program();
    message.incarnation = query.incarnation();
    message.payload = inspection.reports.back().get();
    outbox_.SendToDevice(d, message);
  }
  if (inspection.waiting.empty()) Finish(query.program());
}

void HostInspections::OnInspected(const LocalMessage& message) {
  auto found = inspections_.find(message.program);
  if (found == inspections_.end() ||
      !found->second.waiting.Erase(static_cast<int32_t>(message.item))) {
    return;
  }
  if (found->second.waiting.empty()) Finish(message.program);
}

void HostInspections::DropDevices(const std::vector<uint32_t>& devices) {
  std::vector<uint32_t> over;
  for (auto& [program, inspection] : inspections_) {
    bool erased = false;
    for (uint32_t device : devices) {
      erased |= inspection.waiting.Erase(static_cast<int32_t>(device));
    }
    if (erased && inspection.waiting.empty()) over.push_back(program);
  }
  for (uint32_t program : over) Finish(program);
}

void HostInspections::Finish(uint32_t id) {
  auto found = inspections_.find(id);
  Inspection& inspection = found->second;
  HostProgram* program = programs_.Find(id, inspection.incarnation);
  ControlRef control = outbox_.New();
  proto::Report* report = control->mutable_report();
  report->set_round(inspection.round);
  report->set_program(id);
  report->set_incarnation(inspection.incarnation);
  report->set_host(host_);
  if (program != nullptr) report->set_granted(program->granted);
  // Report the devices with the smallest (firing, position).
  auto place = [](const DeviceReport& r) {
    return r.report.stuck_size() == 0
               ? std::make_pair(UINT64_MAX, uint32_t{0})
               : std::make_pair(r.report.stuck(0).firing(),
                                r.report.stuck(0).action());
  };
  std::pair<uint64_t, uint32_t> least{UINT64_MAX, 0};
  for (const auto& r : inspection.reports) {
    report->set_fired(report->fired() + r->report.fired());
    least = std::min(least, place(*r));
  }
  for (auto& r : inspection.reports) {
    if (least.first == UINT64_MAX || place(*r) != least) continue;
    for (int i = 0; i < r->report.stuck_size(); ++i) {
      proto::StuckShard* stuck = report->add_stuck();
      *stuck = r->report.stuck(i);
      if (program != nullptr && stuck->unprepared()) {
        HostDispatcher::Report(*program, stuck);
      }
      if (program == nullptr || r->groups[i] >= program->groups.size()) {
        continue;
      }
      exchanges_.Report(*program, program->groups[r->groups[i]], stuck);
    }
  }
  inspections_.erase(found);
  outbox_.SendToController(std::move(control));
}

}  // namespace pathways
