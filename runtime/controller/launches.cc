//===- launches.cc - The controller's messages about launches and arrays --===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pathways/Options.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/status_from_wire.h"
#include "runtime/binding/parts.h"
#include "runtime/controller/controller.h"
#include "runtime/controller/launch_check.h"
#include "runtime/program/launch.h"

namespace pathways {
namespace {

Claim ClaimOf(const proto::LaunchRequest& request, const ClientTerms& terms,
              TimeNs now) {
  Claim claim{terms.weight, terms.priority};
  if (request.has_priority()) {
    claim.priority =
        std::clamp(request.priority(), -kMaxPriority, kMaxPriority);
  }
  if (request.deadline_ns() > 0) {
    claim.deadline = request.deadline_ns() < uint64_t(kNoDeadline - now)
                         ? now + TimeNs(request.deadline_ns())
                         : kNoDeadline;
  }
  return claim;
}

LaunchSpec::Array ReadArray(const proto::ObjectRef& ref) {
  LaunchSpec::Array array;
  array.object = ref.object();
  array.hosts = absl::MakeConstSpan(ref.hosts().data(), ref.hosts_size());
  array.fresh = ref.fresh();
  array.keep = ref.keep();
  if (ref.has_no_values()) {
    array.failure =
        StatusFromWire(ref.no_values().code(), ref.no_values().message());
    array.missing = !ref.no_values().granted();
  }
  return array;
}

}  // namespace

void Controller::OnLaunch(proto::LaunchRequest* request) {
  // A launch without a number cannot be answered; a known one is a duplicate.
  if (request->launch() == 0 || launches_.Find(request->launch()) != nullptr) {
    return;
  }
  LaunchSpec& spec = spec_;
  spec.arguments.clear();
  spec.results.clear();
  spec.launch = request->launch();
  spec.steps = request->steps();
  spec.first_step = request->first_step();
  for (const proto::ObjectRef& ref : request->arguments()) {
    spec.arguments.push_back(ReadArray(ref));
  }
  for (const proto::ObjectRef& ref : request->results()) {
    spec.results.push_back(ReadArray(ref));
  }
  const absl::StatusOr<const ProgramTable::Program*> program =
      programs_.Ready(ClientOf(request->launch()), request->program());
  absl::Status checked = program.status();
  if (checked.ok()) checked = CheckLaunch(*request, *(*program)->plan);
  if (checked.ok()) {
    Size(*(*program)->plan, &spec);
    checked = launches_.Check(spec, (*program)->plan->name());
    if (checked.ok()) checked = quotas_.CheckLaunch(spec, *(*program)->plan);
  }
  if (!checked.ok()) {
    launches_.Refuse(spec, checked, &effects_);
    return Apply();
  }
  spec.program = (*program)->id;
  spec.hosts = (*program)->plan->binding().hosts();
  spec.islands = (*program)->plan->binding().islands();
  spec.asked = clock_.Now();
  const ClientTerms* terms = clients_.TermsOf(ClientOf(spec.launch));
  if (terms == nullptr) return;  // no client waits for it
  spec.claim = ClaimOf(*request, *terms, clock_.WorldNow());
  if (const auto urgent =
          loads_.PriorityOver(ClientOf(spec.launch), spec.claim.priority)) {
    spec.claim.Inherit({.priority = *urgent});
  }
  spec.asks = !Charge(spec);
  launches_.Add(spec, &effects_);
  if (const LaunchTable::Launch* launch = launches_.Find(spec.launch)) {
    for (int32_t host : spec.hosts) {
      SendPrepare(host, *launch, spec.asks, *request);
    }
  }
  Apply();
  answer_timer_.Arm();
}

void Controller::Size(const PreparedPlan& plan, LaunchSpec* spec) {
  bytes_.clear();
  const auto add = [&](const LaunchSpec::Array& array,
                       const ArrayPlacement* placement) {
    if (array.hosts.empty()) return;
    const uint64_t steps = placement->stepped ? spec->steps : 1;
    for (const ArrayPlacement::Host& host : placement->hosts) {
      const uint64_t bytes = array.failure.ok() ? host.parts.step_bytes : 0;
      bytes_.push_back(bytes > kMaxArrayBytes / steps ? kMaxArrayBytes
                                                      : bytes * steps);
    }
  };
  for (size_t i = 0; i < spec->arguments.size(); ++i) {
    add(spec->arguments[i], plan.argument_placement(static_cast<int>(i)).get());
  }
  for (size_t i = 0; i < spec->results.size(); ++i) {
    add(spec->results[i], plan.result_placement(static_cast<int>(i)).get());
  }
  const uint64_t* next = bytes_.data();
  for (auto* arrays : {&spec->arguments, &spec->results}) {
    for (LaunchSpec::Array& array : *arrays) {
      array.bytes = absl::MakeConstSpan(next, array.hosts.size());
      next += array.hosts.size();
    }
  }
}

bool Controller::Charge(const LaunchSpec& spec) {
  // While a host loads or frees a program, its free memory may differ from this
  // account.
  bool is_sure = !programs_.Waits();
  for (const LaunchSpec::Array& argument : spec.arguments) {
    if (!argument.failure.ok()) continue;  // takes no memory
    if (argument.fresh) {
      is_sure = false;
      memory_.Charge(argument.hosts, argument.bytes);
    } else if (argument.object != 0) {
      const ObjectTable::Object* object = objects_.Find(argument.object);
      is_sure &= object != nullptr && !object->arriving &&
                 memory_.AreHere(object->hosts);
    }
  }
  for (const LaunchSpec::Array& result : spec.results) {
    is_sure &= memory_.Charge(result.hosts, result.bytes);
  }
  return is_sure;
}

void Controller::SendPrepare(int32_t host, const LaunchTable::Launch& launch,
                             bool asks, const proto::LaunchRequest& request) {
  ControlRef control = outbox_.New(proto::Control::kPrepareLaunch);
  proto::PrepareLaunch* prepare = control->mutable_prepare_launch();
  prepare->set_launch(launch.id);
  prepare->set_program(launch.program);
  prepare->set_incarnation(programs_.Find(launch.program)->incarnation);
  prepare->set_steps(launch.steps);
  prepare->set_sure(!asks);
  // A host waits for the objects that it will be sent, and for nothing else.
  auto here = [&](uint64_t id) {
    const ObjectTable::Object* object = objects_.Find(id);
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
  stores_.Send(host, launch.id, asks, std::move(control));
}

void Controller::OnCancel(uint32_t client, const proto::CancelRequest& cancel) {
  const uint64_t id = cancel.launch();
  const LaunchTable::Launch* launch = launches_.Find(id);
  if (launch == nullptr) return;
  // A launch ends before its program does.
  const ProgramTable::Program& program = *programs_.Find(launch->program);
  const absl::Status why = absl::CancelledError(
      absl::StrCat("a launch of program '", program.plan->name(),
                   "' was cancelled by client '", clients_.LabelOf(client), "'",
                   Tag(ErrorId::kCancelled)));
  if (launches_.Cancel(id, why, &effects_)) {
    // Hosts pass failures on up to the end of the launch that they know, and
    // tokens of the last granted firing reach at most a window of firings
    // beyond it. So the new end must not be nearer than that.
    grants_.CutShort(id, program.plan->window());
    const GrantOrder::Launch& left = *grants_.FindLaunch(id);
    launches_.Shorten(id, left.end - left.first);
  }
  Apply();
}

void Controller::OnLaunchReady(const proto::LaunchReady& ready) {
  const int32_t host = static_cast<int32_t>(ready.host());
  stores_.Answered(host, ready.launch());
  const LaunchTable::Launch* launch = launches_.Find(ready.launch());
  if (launch != nullptr && ready.code() != 0 &&
      !launch->staging.Contains(host)) {
    return OnRefusedLate(ready);
  }
  launches_.Staged(ready.launch(), host,
                   StatusFromWire(ready.code(), ready.message()), &effects_);
  Apply();
}

void Controller::OnRefusedLate(const proto::LaunchReady& ready) {
  // Other hosts may be in the middle of the launch and wait for this one.
  GiveUp(launches_.Find(ready.launch())->program,
         StatusFromWire(ready.code(), ready.message()));
}

void Controller::Apply() {
  BeginReady();
  for (uint64_t id : effects_.urgent) {
    if (const LaunchTable::Launch* launch = launches_.Find(id)) {
      grants_.Inherit(id, launch->claim);
    }
  }
  GiveGrants();
  // Later launches on the same islands must not wait for these.
  for (uint64_t id : effects_.given_up) {
    const GrantOrder::Launch* launch = grants_.FindLaunch(id);
    if (launch == nullptr) continue;
    for (uint64_t ticket : launch->tickets) {
      SendGrant(*grants_.Find(ticket), /*skip=*/true);
    }
  }
  for (const LaunchEffects::End& end : effects_.ended) {
    grants_.Forget(end.launch);
    if (end.completed) counters_.steps_done.Add(end.steps);
  }
  stores_.SendDrops(&effects_.drops);
  for (const LaunchEffects::End& end : effects_.ended) NotifyEnded(end);
  const bool are_some_over = !effects_.ended.empty();
  effects_.Clear();
  // Launches may have waited for those that ended.
  GiveGrants();
  if (!effects_.empty()) Apply();
  // In a simulation the timer on its way may not count for the calls that wait,
  // now that hosts are no longer busy with the ended launches.
  if (are_some_over && context_.world->simulated()) answer_timer_.Arm();
}

void Controller::BeginReady() {
  for (size_t i = 0; i < effects_.ready.size(); ++i) {
    const LaunchTable::Launch* launch = launches_.Find(effects_.ready[i]);
    if (launch == nullptr) continue;
    grants_.Begin(launch->id, launch->program, launch->steps,
                  programs_.Find(launch->program)->plan->binding().islands(),
                  launch->claim, clock_.WorldNow());
  }
  effects_.ready.clear();
}

void Controller::GiveGrants() {
  while (const Grant* grant = grants_.Next(clock_.WorldNow())) {
    launches_.Begun(grant->launch);
    SendGrant(*grant, /*skip=*/false);
    if (grant->end == grants_.FindLaunch(grant->launch)->end) {
      launches_.Granted(grant->launch, &effects_);
      BeginReady();
    }
  }
}

void Controller::SendGrant(const Grant& grant, bool skip) {
  const ProgramTable::Program& program = *programs_.Find(grant.program);
  const GrantOrder::Launch& launch = *grants_.FindLaunch(grant.launch);
  const LaunchTable::Launch* asked = launches_.Find(grant.launch);
  const uint64_t first_step = asked == nullptr ? 0 : asked->first_step;
  for (const auto& [island, previous] : grant.previous) {
    ControlRef control = outbox_.New(proto::Control::kStart);
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
    for (int32_t host : program.plan->binding().hosts()) {
      if (context_.topology->island_of_host(host) != island) continue;
      start->add_hosts(host);
      if (grant.first == launch.first) {
        start->add_stores(store_log_.Undone(host, grant.launch));
      }
      if (lives_.restarts(host) == 0) continue;
      // Adds zeros for the hosts before it.
      start->mutable_restarts()->Resize(start->hosts_size(), 0);
      start->set_restarts(start->hosts_size() - 1, lives_.restarts(host));
    }
    outbox_.Send(context_.directory.scheduler(island), std::move(control));
  }
}

void Controller::OnDone(const proto::GrantDone& done) {
  const LaunchTable::Launch* launch = launches_.Find(done.launch());
  const Grant* grant = grants_.Find(done.number());
  if (launch == nullptr || grant == nullptr || grant->launch != launch->id) {
    return;
  }
  const ProgramTable::Program* program =
      programs_.Find(launch->program, done.incarnation());
  if (program == nullptr) return;
  const int32_t island = static_cast<int32_t>(done.sender());
  Failure failure;
  if (done.has_failure()) {
    failure = ReadFailure(*program->plan, *context_.topology,
                          open_.NumbersOf(*launch), done.failure());
  }
  const TimeNs time_ns = static_cast<TimeNs>(
      std::min<uint64_t>(done.time_ns(), uint64_t{1} << 62));
  grants_.Done(grant->ticket, island, time_ns);
  if (done.over()) {
    launches_.Done(
        done.launch(), island, done.has_failure() ? &failure : nullptr,
        absl::MakeConstSpan(done.poisoned().data(), done.poisoned_size()),
        &effects_);
  }
  Apply();
}

}  // namespace pathways
