//===- status_query.cc - The controller's status --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <map>
#include <memory>
#include <utility>

#include "runtime/controller/controller.h"
#include "runtime/program/local_kind.h"
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

// Adds one entry for each host whose devices are all away for one reason,
// otherwise one for each device.
void FillAway(const Admission& admission, const Topology& topology,
              proto::ControllerStatus* status) {
  std::map<int32_t, std::vector<int64_t>> by_host;
  for (int64_t device : admission.AwayDevices()) {
    by_host[topology.LocateGlobal(device).host].push_back(device);
  }
  for (const auto& [host, devices] : by_host) {
    std::map<std::string, std::vector<int64_t>> by_reason;
    for (int64_t device : devices) {
      by_reason[admission.WhyAway(device)].push_back(device);
    }
    for (const auto& [why, some] : by_reason) {
      auto add = [&, &why = why](const std::string& name, size_t count) {
        proto::AwayStatus* away = status->add_away();
        away->set_name(name);
        away->set_devices(count);
        away->set_why(why);
      };
      if (static_cast<int>(some.size()) == topology.num_host_devices(host)) {
        add(topology.HostName(host), some.size());
        continue;
      }
      for (int64_t device : some) add(topology.GlobalDeviceName(device), 1);
    }
  }
}

}  // namespace

void Controller::OnDescribe(const LocalMessage& message) {
  const std::unique_ptr<std::shared_ptr<StatusQuery>> query(
      static_cast<std::shared_ptr<StatusQuery>*>(message.payload));
  proto::ControllerStatus status;
  for (uint32_t id = 0; id < programs_.end(); ++id) {
    const ProgramTable::Program* program = programs_.Find(id);
    if (program == nullptr) continue;
    proto::ProgramStatus& out = *status.add_programs();
    out.set_name(program->plan->name());
    if (const std::string* client = clients_.NameOf(program->owner)) {
      out.set_client(*client);
    }
    out.set_state(StateName(program->state));
    out.set_device_bytes(programs_.BytesOf(id));
    out.set_launches(launches_.Open(id).size());
  }
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
  for (auto& [number, client] : clients) *status.add_clients() = client;
  for (const Admission::HeldSlice& slice : programs_.admission().Slices()) {
    proto::SliceStatus& out = *status.add_slices();
    out.set_name(slice.what);
    out.set_client(clients_.LabelOf(slice.client));
    out.set_devices(slice.devices);
    out.set_device_bytes(slice.bytes);
    out.set_lent_bytes(slice.lent);
  }
  FillAway(programs_.admission(), *context_.topology, &status);
  for (const LoadQueue::Load& load : loads_.loads()) {
    proto::WaitingLoad& out = *status.add_waiting_loads();
    out.set_client(clients_.LabelOf(load.request.client));
    out.set_program(load.programs.size() == 1 ? load.programs[0].plan->name()
                                              : load.What());
    out.set_why(load.why);
    out.set_since_ms(
        static_cast<uint64_t>((clock_.Now() - load.since) / 1'000'000));
    out.set_passed(load.passed);
  }
  status.set_launches(launches_.size());
  status.set_messages(messages_received());
  status.set_message_bytes(bytes_received());
  status.set_steps(steps_done());
  for (uint32_t h = 0; h < context_.directory.num_hosts(); ++h) {
    status.add_host_bytes(memory_.used(static_cast<int32_t>(h)));
    status.add_host_spilled_bytes(spilled_[h]);
  }
  MutexLock lock(&(*query)->mutex);
  (*query)->status = std::move(status);
  (*query)->answered.notify_all();
}

}  // namespace pathways
