//===- open_launches.cc - Launches that have not ended --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/open_launches.h"

#include <algorithm>

namespace pathways {

std::vector<StallDetector::Subject> OpenLaunches::Subjects() const {
  std::vector<StallDetector::Subject> subjects;
  for (uint32_t p = 0; p < programs_.end(); ++p) {
    const ProgramTable::Program* program = programs_.Find(p);
    const std::vector<uint64_t>& open = launches_.Open(p);
    if (program == nullptr || open.empty()) continue;
    const LaunchTable::Launch& oldest = *launches_.Find(open.front());
    StallDetector::Subject subject;
    subject.program = p;
    subject.incarnation = program->incarnation;
    subject.plan = program->plan.get();
    subject.since = oldest.asked;
    subject.staging = !oldest.begun && !oldest.ready;
    if (subject.staging) subject.hosts = oldest.staging.Members();
    subject.end = grants_.next_firing(p);
    for (uint64_t id : open) {
      const LaunchTable::Launch& launch = *launches_.Find(id);
      if (!launch.begun || launch.over || grants_.IsWaiting(p)) continue;
      subject.running = true;
      subject.launch = id;
      subject.numbers = NumbersOf(launch);
      subject.islands = launch.running.Members();
      break;
    }
    subjects.push_back(subject);
  }
  return subjects;
}

WaitSet OpenLaunches::BusyHosts() const {
  WaitSet busy;
  for (const StallDetector::Subject& subject : Subjects()) {
    AddBusy(subject, &busy);
  }
  return busy;
}

WaitSet OpenLaunches::BusyHosts(uint32_t program) const {
  WaitSet busy;
  for (const StallDetector::Subject& subject : Subjects()) {
    if (subject.program == program) AddBusy(subject, &busy);
  }
  return busy;
}

void OpenLaunches::AddBusy(const StallDetector::Subject& subject,
                           WaitSet* busy) const {
  if (!subject.running) return;
  for (int32_t host : subject.plan->binding().hosts()) {
    // A host that has not begun the launch may never have received it.
    if (stores_.Undone(host, subject.launch) == 0) busy->Insert(host);
  }
}

bool OpenLaunches::IsMissing(uint32_t program, int32_t host) const {
  const std::vector<uint64_t>& open = launches_.Open(program);
  return std::any_of(open.begin(), open.end(), [&](uint64_t launch) {
    return launches_.Find(launch)->begun && stores_.Undone(host, launch) != 0;
  });
}

StepNumbers OpenLaunches::NumbersOf(const LaunchTable::Launch& launch) const {
  return {grants_.FindLaunch(launch.id)->first, launch.first_step};
}

}  // namespace pathways
