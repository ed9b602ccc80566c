//===- drains.cc - Drains of devices --------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/drains.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/error_codes.h"
#include "runtime/topology/named_devices.h"

namespace pathways {

void Drains::AnswerAway(ClientRequest request) {
  ControlRef control = outbox_.New();
  control->set_client(request.client);
  control->mutable_answer()->set_request(request.id);
  for (int64_t device : programs_.admission().AwayDevices()) {
    control->mutable_answer()->add_devices(static_cast<uint32_t>(device));
  }
  outbox_.SendToClient(std::move(control));
}

bool Drains::Take(uint32_t client, const proto::DrainRequest& drain) {
  const ClientRequest request{client, drain.request()};
  const int64_t num_devices = topology_.num_devices();
  std::vector<bool> devices(num_devices);
  for (uint32_t device : drain.devices()) {
    if (device < num_devices) {
      devices[device] = true;
      continue;
    }
    outbox_.Answer(request,
                   absl::InvalidArgumentError(absl::StrCat(
                       "cannot drain device ", device, ": the cluster has ",
                       num_devices, " devices")));
    return false;
  }
  for (int64_t device = 0; device < num_devices; ++device) {
    if (devices[device]) programs_.Drain(device, !drain.undo());
  }
  if (drain.undo()) {
    Undo(devices);
    outbox_.Answer(request, absl::OkStatus());
    return true;
  }
  NotifyClients(devices);
  Waiting wait{request, std::move(devices)};
  const TimeNs now = clock_.Now();
  if (drain.has_wait_ns() &&
      drain.wait_ns() < static_cast<uint64_t>(kNoDeadline - now)) {
    wait.deadline = now + static_cast<TimeNs>(drain.wait_ns());
  }
  waiting_.push_back(std::move(wait));
  AnswerComplete();
  Expire();
  return true;
}

void Drains::Undo(const std::vector<bool>& devices) {
  // A drain of a device that is in use again would wait in vain.
  std::erase_if(waiting_, [&](const Waiting& drain) {
    for (int64_t device = 0; device < topology_.num_devices(); ++device) {
      if (!devices[device] || !drain.devices[device]) continue;
      outbox_.Answer(drain.request, absl::CancelledError(absl::StrCat(
                                        topology_.GlobalDeviceName(device),
                                        " is no longer drained")));
      return true;
    }
    return false;
  });
}

void Drains::NotifyClients(const std::vector<bool>& devices) {
  std::map<uint32_t, ControlRef> seen;  // by client
  for (uint32_t id : ProgramsOn(devices)) {
    const ProgramTable::Program& program = *programs_.Find(id);
    const auto [found, is_new] = seen.try_emplace(program.owner);
    if (is_new) found->second = outbox_.New();
    found->second->set_client(program.owner);
    found->second->mutable_drain_seen()->add_programs(program.incarnation);
  }
  for (uint32_t client : ArraysOn(devices)) {
    const auto [found, is_new] = seen.try_emplace(client);
    if (is_new) found->second = outbox_.New();
    found->second->set_client(client);
    found->second->mutable_drain_seen()->set_arrays(true);
  }
  for (auto& [owner, control] : seen) outbox_.SendToClient(std::move(control));
}

std::vector<uint32_t> Drains::ProgramsOn(
    const std::vector<bool>& devices) const {
  std::vector<uint32_t> programs;
  for (uint32_t id = 0; id < programs_.end(); ++id) {
    const ProgramTable::Program* program = programs_.Find(id);
    if (program != nullptr &&
        programs_.admission().IsOnAny(program->incarnation, devices)) {
      programs.push_back(id);
    }
  }
  return programs;
}

std::set<uint32_t> Drains::ArraysOn(const std::vector<bool>& devices) const {
  std::vector<bool> hosts = WholeHosts(topology_, devices);
  for (size_t host = 0; host < hosts.size(); ++host) {
    if (epochs_.IsGone(static_cast<int32_t>(host))) hosts[host] = false;
  }
  return objects_.ClientsOn(hosts);
}

void Drains::AnswerComplete() {
  std::erase_if(waiting_, [&](const Waiting& drain) {
    if (!ProgramsOn(drain.devices).empty()) return false;
    if (!ArraysOn(drain.devices).empty()) return false;
    outbox_.Answer(drain.request, absl::OkStatus());
    return true;
  });
}

void Drains::Expire() {
  std::erase_if(waiting_, [&](const Waiting& drain) {
    if (drain.deadline > clock_.Now()) return false;
    std::vector<std::string> who;
    for (uint32_t id : ProgramsOn(drain.devices)) {
      const ProgramTable::Program& program = *programs_.Find(id);
      who.push_back(absl::StrCat("program '", program.plan->name(),
                                 "' of client '",
                                 clients_.LabelOf(program.owner), "'"));
    }
    for (uint32_t client : ArraysOn(drain.devices)) {
      who.push_back(
          absl::StrCat("arrays of client '", clients_.LabelOf(client), "'"));
    }
    outbox_.Answer(drain.request,
                   absl::DeadlineExceededError(absl::StrCat(
                       "the drained devices are still used by ",
                       absl::StrJoin(who, ", "), Tag(ErrorId::kDrainNotOver))));
    return true;
  });
}

void Drains::Leave(uint32_t client) {
  std::erase_if(waiting_, [&](const Waiting& drain) {
    return drain.request.client == client;
  });
}

TimeNs Drains::NextDeadline() const {
  TimeNs next = kNoDeadline;
  for (const Waiting& drain : waiting_) next = std::min(next, drain.deadline);
  return next;
}

}  // namespace pathways
