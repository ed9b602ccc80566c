//===- program_ends.cc - Ends of programs ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/program_ends.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/base/error_codes.h"

namespace pathways {

void ProgramEnds::Unload(uint32_t client, const proto::UnloadRequest& unload) {
  const ClientRequest request{client, unload.request()};
  const absl::StatusOr<ProgramNext> next = uses_.programs.Unload(
      uses_.clock.Now(), unload.program(), request,
      uses_.open.CountOf(uses_.programs.IdOf(unload.program())));
  if (!next.ok()) return uses_.outbox.Answer(request, next.status());
  uses_.loads.Proceed(*next);
  // A program that was given up is already ending; now a call waits for that.
  uses_.timer.Arm();
}

void ProgramEnds::Leave(uint32_t client, uint64_t handle) {
  const uint32_t program = uses_.programs.IdOf(handle);
  if (uses_.open.CountOf(program) > 0) {
    GiveUp(program,
           absl::CancelledError(absl::StrCat(
               "client '", uses_.clients.LabelOf(client), "' was closed")));
  }
  uses_.loads.Release(client, handle);
}

void ProgramEnds::GiveUp(uint32_t program, const absl::Status& why) {
  uses_.loads.Proceed(uses_.programs.Break(uses_.clock.Now(), program, why,
                                           uses_.open.BusyHosts(program)));
  uses_.launches.Abort(program, why);
}

void ProgramEnds::HostGone(int32_t host, uint32_t epoch,
                           const std::string& gone) {
  for (uint32_t p = 0; p < uses_.programs.end(); ++p) {
    const ProgramTable::Program* program = uses_.programs.Find(p);
    if (program == nullptr) continue;
    const PreparedPlan& plan = *program->plan;
    if (!std::binary_search(plan.binding().hosts().begin(),
                            plan.binding().hosts().end(), host)) {
      continue;
    }
    GiveUp(p, absl::UnavailableError(absl::StrCat("program '", plan.name(),
                                                  "' cannot go on: ", gone,
                                                  Tag(ErrorId::kHostGone))));
  }
  for (const ProgramNext& next :
       uses_.programs.HostGone(uses_.clock.Now(), host, epoch)) {
    uses_.loads.Proceed(next);
  }
}

bool ProgramEnds::WorkerLost(const proto::WorkerLost& lost,
                             const absl::Status& why) {
  const int32_t host = static_cast<int32_t>(lost.host());
  const int num_devices = uses_.topology.num_host_devices(host);
  for (uint32_t device : lost.devices()) {
    if (device >= static_cast<uint32_t>(num_devices)) return false;
  }
  const auto devices =
      absl::MakeConstSpan(lost.devices().data(), lost.devices_size());
  for (uint32_t program : uses_.programs.Lose(host, devices, why)) {
    GiveUp(program, why);
  }
  uses_.loads.Retry();
  return true;
}

void ProgramEnds::HostSilent(int32_t host) {
  const absl::Status why = absl::DeadlineExceededError(
      absl::StrCat("a launch did not begin: no answer from ",
                   uses_.topology.HostName(host), Tag(ErrorId::kNoAnswer)));
  uses_.launches.Unanswered(host, why);
  // Other hosts may be in the middle of a launch that this host has not begun.
  for (uint32_t p = 0; p < uses_.programs.end(); ++p) {
    if (uses_.open.IsMissing(p, host)) GiveUp(p, why);
  }
}

}  // namespace pathways
