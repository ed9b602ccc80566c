//===- host_grants.cc - Grants of a host and their ends -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/executor/host_executor.h"

namespace pathways {

void HostExecutor::OnGrant(const proto::Grant& grant) {
  if (grant.place() <= last_place_) {
    // A second copy, or one that was given up.
    for (proto::Grant& held : held_) {
      if (held.place() == grant.place() && grant.skip()) held.set_skip(true);
    }
    return;
  }
  if (grant.previous_place() != last_place_) {
    early_[grant.previous_place()] = grant;
    return;
  }
  last_place_ = grant.place();
  TakeGrant(grant);
  for (auto early = early_.find(last_place_); early != early_.end();
       early = early_.find(last_place_)) {
    last_place_ = early->second.place();
    TakeGrant(early->second);
    early_.erase(early);
  }
}

void HostExecutor::TakeGrant(const proto::Grant& grant) {
  if (held_.empty() && grant.store() <= staging_.last())
    return ApplyGrant(grant);
  held_.push_back(grant);
}

HostLaunch* HostExecutor::LaunchOf(HostProgram* program,
                                   const proto::Grant& grant) {
  // One before it was given up, so the program is: devices fire in order.
  if (grant.first() != program->granted) return nullptr;
  if (!program->launches.empty() &&
      program->launches.back()->id == grant.launch()) {
    return program->launches.back().get();
  }
  if (grant.first() != grant.launch_first() || grant.launch_steps() == 0 ||
      grant.launch_steps() > kMaxSteps || grant.first() > UINT64_MAX / 2) {
    return nullptr;
  }
  auto launch = std::make_unique<HostLaunch>();
  launch->id = grant.launch();
  launch->first = grant.launch_first();
  launch->end = grant.launch_first() + grant.launch_steps();
  launch->values = staging_.TakeValues(*program, grant);
  if (launch->values == nullptr) return nullptr;
  size_t missing = 0;
  for (const auto& argument : launch->values->arguments) {
    missing += argument != nullptr && !argument->filled.load();
  }
  if (missing > 0) unfilled_.push_back({program, launch.get(), missing});
  program->launches.push_back(std::move(launch));
  world_->ExpectKernels(1);
  return program->launches.back().get();
}

void HostExecutor::ApplyGrant(const proto::Grant& message) {
  HostProgram* program = Find(message.program(), message.incarnation());
  if (program == nullptr || message.skip()) return;
  HostLaunch* launch = LaunchOf(program, message);
  if (launch == nullptr || message.steps() == 0 ||
      message.steps() > launch->end - message.first()) {
    return;
  }
  auto grant = std::make_unique<HostGrant>();
  grant->launch = launch;
  grant->place = message.place();
  grant->first = message.first();
  grant->end = message.first() + message.steps();
  program->granted = grant->end;
  const std::vector<uint32_t>& cohorts = actors_.cohorts;
  grant->cohorts.resize(cohorts.size());
  for (auto& device : program->devices) {
    if (device == nullptr) continue;
    grant->cohorts_left += grant->cohorts[cohorts[device->device]].left++ == 0;
  }
  LocalMessage out;
  out.kind = kGrantDevice;
  out.program = program->program;
  out.incarnation = program->incarnation;
  out.payload = grant.get();
  SendToCohorts(*program, out);
  program->grants.push_back(std::move(grant));
  PrepareGranted(program);
}

void HostExecutor::SendToCohorts(const HostProgram& program,
                                 const LocalMessage& message) {
  const std::vector<uint32_t>& cohorts = actors_.cohorts;
  std::vector<bool> told(cohorts.size());
  for (const auto& device : program.devices) {
    if (device == nullptr || told[cohorts[device->device]]) continue;
    told[cohorts[device->device]] = true;
    SendToDevice(device->device, message);
  }
}

void HostExecutor::TellFilled() {
  for (Unfilled& unfilled : unfilled_) {
    size_t missing = 0;
    for (const auto& argument : unfilled.launch->values->arguments) {
      missing += argument != nullptr && !argument->filled.load();
    }
    if (missing == unfilled.missing) continue;
    unfilled.missing = missing;
    LocalMessage message;
    message.kind = kArgumentFilled;
    message.program = unfilled.program->program;
    message.incarnation = unfilled.program->incarnation;
    SendToCohorts(*unfilled.program, message);
  }
  std::erase_if(unfilled_, [](const Unfilled& u) { return u.missing == 0; });
}

void HostExecutor::OnFailed(HostProgram* program, const LocalMessage& message) {
  for (auto& launch : program->launches) {
    if (message.step >= launch->end) continue;
    const auto now =
        std::make_tuple(message.step, message.target, message.shard);
    const auto before = std::make_tuple(
        launch->failed_firing, launch->failed_action, launch->failed_shard);
    if (launch->failed && before <= now) return;
    launch->failed = true;
    launch->failed_firing = message.step;
    launch->failed_action = message.target;
    launch->failed_shard = message.shard;
    launch->failed_step = message.item;
    launch->failed_code = static_cast<int32_t>(message.extra);
    return;
  }
}

void HostExecutor::OnDeviceDone(HostProgram* program,
                                const LocalMessage& message) {
  auto grant =
      std::find_if(program->grants.begin(), program->grants.end(),
                   [&](const auto& g) { return g->place == message.extra; });
  if (grant == program->grants.end()) return;
  --(*grant)->cohorts_left;
  // Of two cohorts, that of the later grant may have been heard first.
  while (!program->grants.empty() &&
         program->grants.front()->cohorts_left == 0) {
    FinishGrant(program);
  }
}

void HostExecutor::FinishGrant(HostProgram* program) {
  const std::unique_ptr<HostGrant> grant = std::move(program->grants.front());
  program->grants.pop_front();
  const HostLaunch& launch = *grant->launch;
  ControlRef control = NewControl();
  proto::GrantDone* done = control->mutable_grant_done();
  done->set_program(program->program);
  done->set_incarnation(program->incarnation);
  done->set_launch(launch.id);
  done->set_sender(host_);
  done->set_number(grant->place);
  TimeNs time_ns = 0;
  for (const HostGrant::Cohort& cohort : grant->cohorts) {
    time_ns = std::max(time_ns, cohort.time_ns);
  }
  done->set_time_ns(static_cast<uint64_t>(time_ns));
  if (grant->end == launch.end) FinishLaunch(program, done);
  SendControl(
      context_.directory.scheduler(context_.topology->island_of_host(host_)),
      std::move(control));
}

void HostExecutor::FinishLaunch(HostProgram* program, proto::GrantDone* done) {
  const std::unique_ptr<HostLaunch> launch =
      std::move(program->launches.front());
  program->launches.pop_front();
  done->set_over(true);
  if (launch->failed) {
    proto::Failure* failure = done->mutable_failure();
    failure->set_firing(launch->failed_firing);
    failure->set_action(launch->failed_action);
    failure->set_shard(launch->failed_shard);
    failure->set_step(launch->failed_step);
    failure->set_code(launch->failed_code);
  }
  const auto& results = launch->values->results;
  for (size_t r = 0; r < results.size(); ++r) {
    if (results[r].poisoned.load(std::memory_order_relaxed)) {
      done->add_poisoned(static_cast<uint32_t>(r));
    }
  }
  launch->values->Fill(/*failed=*/false);
  world_->ExpectKernels(-1);
  TellFilled();
}

}  // namespace pathways
