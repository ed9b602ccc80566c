//===- host_grants.cc - Grants of a host and their ends -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_grants.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace pathways {

void HostGrants::OnGrant(ControlRef control) {
  sequencer_.Take(std::move(control), staging_.last(),
                  [this](const proto::Grant& grant) { Apply(grant); });
}

void HostGrants::Release() {
  sequencer_.Release(staging_.last(),
                     [this](const proto::Grant& grant) { Apply(grant); });
}

HostLaunch* HostGrants::LaunchOf(HostProgram* program,
                                 const proto::Grant& grant) {
  // Devices fire in order. So if an earlier launch was given up, the program is
  // given up too.
  if (grant.first() != program->granted) return nullptr;
  if (!program->launches.empty() &&
      program->launches.back()->id == grant.launch()) {
    return program->launches.back().get();
  }
  if (grant.first() != grant.launch_first() || grant.launch_steps() == 0 ||
      grant.launch_steps() > kMaxSteps || grant.first_step() > kMaxSteps ||
      grant.first() > UINT64_MAX / 2) {
    return nullptr;
  }
  std::unique_ptr<HostLaunch>& slot = program->launches.Push();
  if (slot == nullptr) slot = std::make_unique<HostLaunch>();
  HostLaunch* launch = slot.get();
  if (!staging_.TakeValues(grant, &launch->values)) {
    program->launches.PopBack();
    return nullptr;
  }
  launch->id = grant.launch();
  launch->first = grant.launch_first();
  launch->first_step = grant.first_step();
  launch->end = grant.launch_first() + grant.launch_steps();
  launch->failure = {};
  unfilled_.Add(program, launch);
  world_.kernels().ExpectKernels(1);
  return launch;
}

void HostGrants::Apply(const proto::Grant& message) {
  HostProgram* program =
      programs_.Find(message.program(), message.incarnation());
  if (program == nullptr || message.skip()) return;
  HostLaunch* launch = LaunchOf(program, message);
  if (launch == nullptr || message.steps() == 0 ||
      message.steps() > launch->end - message.first()) {
    return;
  }
  if (message.cut_short()) {
    launch->end.store(message.first() + message.steps(),
                      std::memory_order_relaxed);
    for (HostValues::Result& result : launch->values.results) {
      result.poisoned.store(true, std::memory_order_relaxed);
    }
  }
  std::unique_ptr<HostGrant>& grant = program->grants.Push();
  if (grant == nullptr) grant = std::make_unique<HostGrant>();
  grant->launch = launch;
  grant->position = message.position();
  grant->first = message.first();
  grant->end = message.first() + message.steps();
  program->granted = grant->end;
  grant->cohorts_left = static_cast<uint32_t>(program->cohort_heads.size());
  grant->cohorts.clear();
  for (uint32_t devices : program->cohort_sizes) {
    grant->cohorts.push_back({devices, 0, {}});
  }
  outbox_.SendToCohorts(*program, kGrantDevice, grant.get());
  dispatcher_.PrepareGranted(program);
}

void HostGrants::NotifyFilled() {
  unfilled_.Update([this](const HostProgram& program) {
    outbox_.SendToCohorts(program, kArgumentFilled);
  });
}

void HostGrants::OnDeviceDone(HostProgram* program,
                              const LocalMessage& message) {
  auto grant =
      std::find_if(program->grants.begin(), program->grants.end(),
                   [&](const auto& g) { return g->position == message.extra; });
  if (grant == program->grants.end()) return;
  --(*grant)->cohorts_left;
  // If a grant ends on two cohorts, the report of the later grant may arrive
  // first.
  while (!program->grants.empty() &&
         program->grants.front()->cohorts_left == 0) {
    Finish(program);
  }
}

void HostGrants::Finish(HostProgram* program) {
  const HostGrant& grant = *program->grants.front();
  HostLaunch& launch = *grant.launch;
  ControlRef control = outbox_.New(proto::Control::kGrantDone);
  proto::GrantDone* done = control->mutable_grant_done();
  done->set_program(program->program);
  done->set_incarnation(program->incarnation);
  done->set_launch(launch.id);
  done->set_sender(host_);
  done->set_number(grant.position);
  TimeNs time_ns = 0;
  for (const HostGrant::Cohort& cohort : grant.cohorts) {
    time_ns = std::max(time_ns, cohort.time_ns);
    launch.failure.Add(cohort.failure);
  }
  done->set_time_ns(static_cast<uint64_t>(time_ns));
  if (grant.end == launch.end) FinishLaunch(program, done);
  program->grants.Pop();
  outbox_.SendControl(
      context_.directory.scheduler(context_.topology->island_of_host(host_)),
      std::move(control));
}

void HostGrants::FinishLaunch(HostProgram* program, proto::GrantDone* done) {
  HostLaunch* launch = program->launches.front().get();
  done->set_over(true);
  if (launch->failure.code != 0) {
    proto::Failure* failure = done->mutable_failure();
    failure->set_firing(launch->failure.firing);
    failure->set_action(launch->failure.action);
    failure->set_shard(launch->failure.shard);
    failure->set_step(launch->failure.step);
    failure->set_code(launch->failure.code);
  }
  const auto& results = launch->values.results;
  for (size_t r = 0; r < results.size(); ++r) {
    if (results[r].poisoned.load(std::memory_order_relaxed)) {
      done->add_poisoned(static_cast<uint32_t>(r));
    }
  }
  launch->values.Fill(/*failed=*/false);
  launch->values.Clear();
  program->launches.Pop();
  world_.kernels().ExpectKernels(-1);
  NotifyFilled();
}

void HostGrants::End(HostProgram* program) {
  for (const auto& launch : program->launches) {
    launch->values.Fill(/*failed=*/true);
    launch->values.Clear();
  }
  unfilled_.Remove(program);
  world_.kernels().ExpectKernels(-static_cast<int>(program->launches.size()));
  program->launches.Clear();
  program->grants.Clear();
  NotifyFilled();
}

}  // namespace pathways
