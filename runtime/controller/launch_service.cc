//===- launch_service.cc - Launches of clients on hosts -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/launch_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/status_from_wire.h"
#include "runtime/controller/failure.h"
#include "runtime/protocol/client_id.h"

namespace pathways {

void LaunchService::Launch(const proto::LaunchRequest& request) {
  // A launch without a number cannot be answered; a known one is a duplicate.
  if (request.launch() == 0 ||
      uses_.launches.Find(request.launch()) != nullptr) {
    return;
  }
  const absl::Status checked = uses_.reader.Read(request);
  const LaunchSpec& spec = uses_.reader.spec();
  if (!checked.ok()) {
    uses_.launches.Refuse(spec, checked, &effects_);
    return Apply();
  }
  uses_.launches.Add(spec, &effects_);
  if (const LaunchTable::Launch* launch = uses_.launches.Find(spec.launch)) {
    for (int32_t host : spec.hosts) {
      SendPrepare(host, *launch, spec.asks, request);
    }
  }
  Apply();
  uses_.timer.Arm();
}

void LaunchService::SendPrepare(int32_t host, const LaunchTable::Launch& launch,
                                bool asks,
                                const proto::LaunchRequest& request) {
  ControlRef control = uses_.outbox.New(proto::Control::kPrepareLaunch);
  proto::PrepareLaunch* prepare = control->mutable_prepare_launch();
  prepare->set_launch(launch.id);
  prepare->set_program(launch.program);
  prepare->set_incarnation(uses_.programs.Find(launch.program)->incarnation);
  prepare->set_steps(launch.steps);
  prepare->set_sure(!asks);
  // A host waits for the objects that it will be sent, and for nothing else.
  auto here = [&](uint64_t id) {
    const ObjectTable::Object* object = uses_.objects.Find(id);
    return object != nullptr && std::binary_search(object->hosts.begin(),
                                                   object->hosts.end(), host)
               ? id
               : 0;
  };
  for (const proto::ObjectRef& ref : request.arguments()) {
    const uint64_t id = here(ref.object());
    prepare->add_arguments(id);
    if (!ref.fresh() || id == 0) continue;
    ref.has_no_values() ? prepare->add_poisoned(id) : prepare->add_fresh(id);
  }
  for (const proto::ObjectRef& ref : request.results()) {
    prepare->add_results(here(ref.object()));
  }
  control->set_client(ClientOf(launch.id));
  uses_.stores.Send(host, launch.id, asks, std::move(control));
}

void LaunchService::Cancel(uint32_t client,
                           const proto::CancelRequest& cancel) {
  const uint64_t id = cancel.launch();
  const LaunchTable::Launch* launch = uses_.launches.Find(id);
  if (launch == nullptr) return;
  // A launch ends before its program does.
  const ProgramTable::Program& program = *uses_.programs.Find(launch->program);
  const absl::Status why = absl::CancelledError(
      absl::StrCat("a launch of program '", program.plan->name(),
                   "' was cancelled by client '", uses_.clients.LabelOf(client),
                   "'", Tag(ErrorId::kCancelled)));
  if (uses_.launches.Cancel(id, why, &effects_)) {
    // Hosts pass failures on up to the end of the launch that they know, and
    // tokens of the last granted firing reach at most a window of firings
    // beyond it. So the new end must not be nearer than that.
    uses_.grants.CutShort(id, program.plan->window());
    const GrantOrder::Launch& left = *uses_.grants.FindLaunch(id);
    uses_.launches.Shorten(id, left.end - left.first);
  }
  Apply();
}

std::optional<uint32_t> LaunchService::Take(const proto::LaunchReady& ready) {
  const int32_t host = static_cast<int32_t>(ready.host());
  uses_.stores.Answered(host, ready.launch());
  const LaunchTable::Launch* launch = uses_.launches.Find(ready.launch());
  if (launch != nullptr && ready.code() != 0 &&
      !launch->staging.Contains(host)) {
    return launch->program;
  }
  uses_.launches.Staged(ready.launch(), host,
                        StatusFromWire(ready.code(), ready.message()),
                        &effects_);
  Apply();
  return std::nullopt;
}

void LaunchService::Unanswered(int32_t host, const absl::Status& why) {
  uses_.launches.Unanswered(host, why, &effects_);
  Apply();
}

void LaunchService::Abort(uint32_t program, const absl::Status& why) {
  uses_.launches.Abort(program, why, &effects_);
  Apply();
}

void LaunchService::Inherit(absl::FunctionRef<std::optional<int32_t>(
                                const ProgramTable::Program& program)>
                                priority_of) {
  for (uint32_t id = 0; id < uses_.programs.end(); ++id) {
    const ProgramTable::Program* program = uses_.programs.Find(id);
    if (program == nullptr || uses_.launches.Open(id).empty()) continue;
    const std::optional<int32_t> priority = priority_of(*program);
    if (!priority.has_value()) continue;
    for (uint64_t launch : uses_.launches.Open(id)) {
      uses_.launches.Inherit(launch, {.priority = *priority}, &effects_);
    }
  }
  Apply();
}

void LaunchService::Apply() {
  BeginReady();
  for (uint64_t id : effects_.urgent) {
    if (const LaunchTable::Launch* launch = uses_.launches.Find(id)) {
      uses_.grants.Inherit(id, launch->claim);
    }
  }
  GiveGrants();
  // Later launches on the same islands must not wait for these.
  for (uint64_t id : effects_.given_up) {
    const GrantOrder::Launch* launch = uses_.grants.FindLaunch(id);
    if (launch == nullptr) continue;
    for (uint64_t ticket : launch->tickets) {
      uses_.sender.Send(*uses_.grants.Find(ticket), /*skip=*/true);
    }
  }
  for (const LaunchEffects::End& end : effects_.ended) {
    uses_.grants.Forget(end.launch);
    if (end.completed) steps_done_.Add(end.steps);
  }
  uses_.stores.SendDrops(&effects_.drops);
  for (const LaunchEffects::End& end : effects_.ended) NotifyEnded(end);
  const bool are_some_over = !effects_.ended.empty();
  effects_.Clear();
  // Launches may have waited for those that ended.
  GiveGrants();
  if (!effects_.empty()) Apply();
  // In a simulation the timer on its way may not count for the calls that wait,
  // now that hosts are no longer busy with the ended launches.
  if (are_some_over && uses_.world.simulated()) uses_.timer.Arm();
}

void LaunchService::BeginReady() {
  for (size_t i = 0; i < effects_.ready.size(); ++i) {
    const LaunchTable::Launch* launch = uses_.launches.Find(effects_.ready[i]);
    if (launch == nullptr) continue;
    uses_.grants.Begin(
        launch->id, launch->program, launch->steps,
        uses_.programs.Find(launch->program)->plan->binding().islands(),
        launch->claim, uses_.clock.WorldNow());
  }
  effects_.ready.clear();
}

void LaunchService::GiveGrants() {
  while (const Grant* grant = uses_.grants.Next(uses_.clock.WorldNow())) {
    uses_.launches.Begun(grant->launch);
    uses_.sender.Send(*grant, /*skip=*/false);
    if (grant->end == uses_.grants.FindLaunch(grant->launch)->end) {
      uses_.launches.Granted(grant->launch, &effects_);
      BeginReady();
    }
  }
}

void LaunchService::Take(const proto::GrantDone& done) {
  const LaunchTable::Launch* launch = uses_.launches.Find(done.launch());
  const Grant* grant = uses_.grants.Find(done.number());
  if (launch == nullptr || grant == nullptr || grant->launch != launch->id) {
    return;
  }
  const ProgramTable::Program* program =
      uses_.programs.Find(launch->program, done.incarnation());
  if (program == nullptr) return;
  const int32_t island = static_cast<int32_t>(done.sender());
  Failure failure;
  if (done.has_failure()) {
    failure = ReadFailure(*program->plan, uses_.topology,
                          uses_.open.NumbersOf(*launch), done.failure());
  }
  const TimeNs time_ns = static_cast<TimeNs>(
      std::min<uint64_t>(done.time_ns(), uint64_t{1} << 62));
  uses_.grants.Done(grant->ticket, island, time_ns);
  if (done.over()) {
    uses_.launches.Done(
        done.launch(), island, done.has_failure() ? &failure : nullptr,
        absl::MakeConstSpan(done.poisoned().data(), done.poisoned_size()),
        &effects_);
  }
  Apply();
}

void LaunchService::NotifyEnded(const LaunchEffects::End& end) {
  ControlRef control = uses_.outbox.New(proto::Control::kLaunchEnded);
  control->set_client(ClientOf(end.launch));
  proto::LaunchEnded* ended = control->mutable_launch_ended();
  ended->set_launch(NumberOf(end.launch));
  ended->set_code(static_cast<int>(end.status.code()));
  ended->set_message(end.status.message().data(), end.status.message().size());
  ended->set_completed(end.completed);
  ended->set_granted(end.granted);
  for (uint32_t result : end.poisoned) ended->add_poisoned(result);
  uses_.outbox.SendToClient(std::move(control));
}

}  // namespace pathways
