//===- status_report.cc - Status of the controller's tables ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/status_report.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/protocol/client_id.h"

namespace pathways {
namespace {

const char* StateName(ProgramTable::State state) {
  switch (state) {
    case ProgramTable::State::kLoading:
      return "loading";
    case ProgramTable::State::kReady:
      return "ready";
    case ProgramTable::State::kStopping:
      return "stopping";
    case ProgramTable::State::kBroken:
      return "broken";
    case ProgramTable::State::kFreeing:
      return "freeing";
  }
  return "unknown";
}

}  // namespace

proto::ControllerStatus StatusReport::Describe(TimeNs now) const {
  proto::ControllerStatus status;
  AddPrograms(&status);
  AddClients(&status);
  AddSlices(&status);
  AddAway(&status);
  AddLoads(now, &status);
  status.set_launches(launches_.size());
  return status;
}

void StatusReport::AddPrograms(proto::ControllerStatus* status) const {
  for (uint32_t id = 0; id < programs_.end(); ++id) {
    const ProgramTable::Program* program = programs_.Find(id);
    if (program == nullptr) continue;
    proto::ProgramStatus& out = *status->add_programs();
    out.set_name(program->plan->name());
    if (const std::string* client = clients_.NameOf(program->owner)) {
      out.set_client(*client);
    }
    out.set_state(StateName(program->state));
    out.set_device_bytes(programs_.BytesOf(id));
    out.set_launches(launches_.Open(id).size());
  }
}

void StatusReport::AddClients(proto::ControllerStatus* status) const {
  std::map<uint32_t, proto::ClientStatus> clients;
  for (uint32_t client : clients_.Numbers()) {
    proto::ClientStatus& out = clients[client];
    out.set_name(clients_.LabelOf(client));
    out.set_process(client / kMaxProcessClients);
    out.set_programs(clients_.ProgramsOf(client));
    if (const ClientTerms* terms = clients_.TermsOf(client)) {
      out.set_weight(terms->weight);
      out.set_priority(terms->priority);
      out.set_quota_bytes(terms->quota_bytes);
    }
    out.set_device_time_ns(static_cast<uint64_t>(grants_.TimeOf(client)));
    out.set_device_bytes(programs_.admission().BytesOfClient(client));
  }
  for (uint32_t id = 0; id < programs_.end(); ++id) {
    const ProgramTable::Program* program = programs_.Find(id);
    if (program == nullptr) continue;
    auto client = clients.find(program->owner);
    if (client == clients.end()) continue;
    proto::ClientStatus& out = client->second;
    out.set_launches(out.launches() + launches_.Open(id).size());
    if (grants_.IsWaiting(id)) out.set_waiting(out.waiting() + 1);
  }
  for (uint64_t id : objects_.Ids()) {
    auto client = clients.find(ClientOf(id));
    if (client == clients.end()) continue;
    uint64_t bytes = client->second.array_bytes();
    for (uint64_t part : objects_.Find(id)->bytes) bytes += part;
    client->second.set_array_bytes(bytes);
    client->second.set_arrays(client->second.arrays() + 1);
  }
  for (auto& [number, client] : clients) *status->add_clients() = client;
}

void StatusReport::AddSlices(proto::ControllerStatus* status) const {
  for (const Admission::HeldSlice& slice : programs_.admission().Slices()) {
    proto::SliceStatus& out = *status->add_slices();
    out.set_name(slice.what);
    out.set_client(clients_.LabelOf(slice.client));
    out.set_devices(slice.devices);
    out.set_device_bytes(slice.bytes);
    out.set_lent_bytes(slice.lent);
  }
}

void StatusReport::AddAway(proto::ControllerStatus* status) const {
  std::map<int32_t, std::vector<int64_t>> by_host;
  for (int64_t device : programs_.admission().AwayDevices()) {
    by_host[topology_.LocateGlobal(device).host].push_back(device);
  }
  for (const auto& [host, devices] : by_host) {
    std::map<std::string, std::vector<int64_t>> by_reason;
    for (int64_t device : devices) {
      by_reason[programs_.admission().WhyAway(device)].push_back(device);
    }
    for (const auto& [why, some] : by_reason) {
      auto add = [&, &why = why](const std::string& name, size_t count) {
        proto::AwayStatus* away = status->add_away();
        away->set_name(name);
        away->set_devices(count);
        away->set_why(why);
      };
      if (static_cast<int>(some.size()) == topology_.num_host_devices(host)) {
        add(topology_.HostName(host), some.size());
        continue;
      }
      for (int64_t device : some) add(topology_.GlobalDeviceName(device), 1);
    }
  }
}

void StatusReport::AddLoads(TimeNs now, proto::ControllerStatus* status) const {
  for (const LoadQueue::Load& load : loads_.loads()) {
    proto::WaitingLoad& out = *status->add_waiting_loads();
    out.set_client(clients_.LabelOf(load.request.client));
    out.set_program(load.programs.size() == 1 ? load.programs[0].plan->name()
                                              : load.What());
    out.set_why(load.why);
    out.set_since_ms(static_cast<uint64_t>((now - load.since) / 1'000'000));
    out.set_passed(load.passed);
  }
}

}  // namespace pathways
