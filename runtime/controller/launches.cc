//===- launches.cc - Launches, and the objects that they use --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/controller/controller.h"
#include "runtime/scheduler/island_scheduler.h"

namespace pathways {

void Controller::SendStore(int32_t host, proto::Control control) {
  const uint64_t sequence = ++store_sequence_[host];
  switch (control.kind_case()) {
    case proto::Control::kStorePart:
      control.mutable_store_part()->set_sequence(sequence);
      break;
    case proto::Control::kPrepareLaunch:
      control.mutable_prepare_launch()->set_sequence(sequence);
      break;
    default:
      control.mutable_drop_objects()->set_sequence(sequence);
      break;
  }
  SendTo(context_.directory.executors[host], control);
}

absl::Status Controller::CheckLaunch(const proto::LaunchRequest& request,
                                     uint32_t* id) {
  const Program* program = FindHandle(request.program(), id);
  if (program == nullptr || program->state == Program::kLoading ||
      program->state == Program::kFreeing) {
    return absl::FailedPreconditionError(
        absl::StrCat("program ", request.program(), " is not loaded"));
  }
  if (program->state != Program::kReady) {
    return absl::FailedPreconditionError(absl::StrCat(
        "program '", program->plan->name(),
        "' was given up and must be loaded again",
        program->error.ok()
            ? ""
            : absl::StrCat(": ", absl::string_view(program->error.message()))));
  }
  std::set<uint64_t> fresh;
  for (const proto::ObjectRef& ref : request.arguments()) {
    if (ref.fresh()) fresh.insert(ref.object());
    if (ref.object() != 0 && !fresh.count(ref.object()) &&
        !objects_.count(ref.object())) {
      return absl::FailedPreconditionError(absl::StrCat(
          "a launch of program '", program->plan->name(),
          "' uses an array whose own launch did not begin; launch it again"));
    }
  }
  return absl::OkStatus();
}

void Controller::OnLaunch(proto::LaunchRequest* request) {
  if (request->launch() <= last_launch_) return;
  last_launch_ = request->launch();
  AddLaunch(request);
  for (const proto::ReleaseRequest& early : std::exchange(releases_, {})) {
    OnRelease(early);
  }
}

void Controller::AddLaunch(proto::LaunchRequest* with_parts) {
  const proto::LaunchRequest& request = *with_parts;
  uint32_t id = 0;
  const absl::Status checked = CheckLaunch(request, &id);
  if (!checked.ok()) {
    // Launches that use its results are refused with the same error.
    for (const proto::ObjectRef& ref : request.results()) {
      if (ref.object() == 0) continue;
      Object& object = objects_[ref.object()];
      object.references = 1;
      object.failure = checked;
      object.missing = true;
    }
    EndLaunch(request.launch(), checked, /*completed=*/false, {});
    return;
  }
  Program& program = *programs_[id];
  Launch& launch = launches_[request.launch()];
  launch.program = id;
  launch.plan = program.plan;
  launch.steps = request.steps();
  if (program.launches.empty()) {
    program.last_progress = context_.world->Now();
  }
  program.launches.insert(request.launch());
  for (const proto::ObjectRef& ref : request.arguments()) {
    if (ref.object() == 0) continue;
    Object& object = objects_[ref.object()];
    if (ref.fresh()) {
      object.hosts.assign(ref.hosts().begin(), ref.hosts().end());
      object.references = ref.keep() ? 1 : 0;
    }
    ++object.references;
    launch.arguments.push_back(ref.object());
    if (object.filling != 0 && launch.after.insert(object.filling).second) {
      launches_[object.filling].before.push_back(request.launch());
    }
  }
  for (const proto::ObjectRef& ref : request.results()) {
    launch.results.push_back(ref.object());
    if (ref.object() == 0) continue;
    Object& object = objects_[ref.object()];
    object.hosts.assign(ref.hosts().begin(), ref.hosts().end());
    object.references = 1;
    object.filling = request.launch();
  }
  pending_.push_back(request.launch());
  if (context_.run_kernels) {
    for (int32_t host : program.plan->hosts()) {
      launch.unprepared.insert(host);
      proto::Control control;
      proto::PrepareLaunch* prepare = control.mutable_prepare_launch();
      prepare->set_launch(request.launch());
      prepare->set_program(id);
      prepare->set_incarnation(program.incarnation);
      prepare->set_steps(request.steps());
      // A host waits for what it will be sent, and for nothing else.
      auto here = [&](const proto::ObjectRef& ref) {
        auto object = objects_.find(ref.object());
        if (object == objects_.end()) return uint64_t{0};
        const std::vector<int32_t>& hosts = object->second.hosts;
        return std::binary_search(hosts.begin(), hosts.end(), host)
                   ? ref.object()
                   : 0;
      };
      for (const proto::ObjectRef& ref : request.arguments()) {
        prepare->add_arguments(here(ref));
      }
      for (const proto::ObjectRef& ref : request.results()) {
        prepare->add_results(here(ref));
      }
      for (proto::StorePart& part : *with_parts->mutable_parts()) {
        if (static_cast<int32_t>(part.host()) != host) continue;
        prepare->add_parts()->Swap(&part);
      }
      SendStore(host, std::move(control));
    }
  }
  Advance();
  ArmTimer();
}

void Controller::OnStorePart(proto::Control* control) {
  const proto::StorePart& part = control->store_part();
  // Parts of a launch that was refused at once go nowhere.
  if (launches_.count(part.launch()) == 0) return;
  const int32_t host = static_cast<int32_t>(part.host());
  SendStore(host, std::move(*control));
}

void Controller::OnLaunchReady(const proto::LaunchReady& ready) {
  auto found = launches_.find(ready.launch());
  if (found == launches_.end()) return;
  Launch& launch = found->second;
  if (launch.unprepared.erase(ready.host()) == 0) return;  // a second copy
  // Of several refusals that of the smallest host counts.
  if (ready.code() != 0 &&
      (launch.refusal.ok() || ready.host() < launch.refused_by)) {
    launch.refusal = absl::Status(static_cast<absl::StatusCode>(ready.code()),
                                  ready.message());
    launch.refused_by = ready.host();
  }
  Advance();
}

// Launches begin in the order in which they were asked for: firings and tickets
// are given when a launch begins, so one that is refused leaves no hole.
void Controller::Advance() {
  while (!pending_.empty()) {
    const uint64_t id = pending_.front();
    Launch& launch = launches_[id];
    // Hosts do not answer when an argument will never be there.
    const absl::Status missing = ArgumentFailure(launch, /*missing_only=*/true);
    if (!missing.ok()) {
      launch.refusal = missing;
    } else if (!launch.unprepared.empty()) {
      return;
    }
    pending_.pop_front();
    if (launch.ended) {
      Forget(id);
    } else if (!launch.refusal.ok()) {
      programs_[launch.program]->launches.erase(id);
      const absl::Status refusal = launch.refusal;
      Settle(id, refusal, /*completed=*/false);
      Forget(id);
      EndLaunch(id, refusal, /*completed=*/false, {});
    } else {
      Begin(id);
    }
  }
}

void Controller::EndLaunch(uint64_t launch, const absl::Status& status,
                           bool completed,
                           const std::vector<uint32_t>& poisoned) {
  const proto::ReleaseRequest release =
      port_->LaunchEnded(launch, status, completed, poisoned);
  if (release.objects_size() > 0) OnRelease(release);
}

absl::Status Controller::ArgumentFailure(const Launch& launch,
                                         bool missing_only) const {
  for (uint64_t id : launch.arguments) {
    const Object& object = objects_.at(id);
    if (!object.failure.ok() && (object.missing || !missing_only)) {
      return object.failure;
    }
  }
  return absl::OkStatus();
}

void Controller::Settle(uint64_t id, const absl::Status& status,
                        bool completed) {
  Launch& launch = launches_[id];
  for (uint32_t r = 0; r < launch.results.size(); ++r) {
    auto object = objects_.find(launch.results[r]);
    if (object == objects_.end()) continue;
    object->second.filling = 0;
    if (!completed || launch.poisoned.count(r)) {
      object->second.failure = status;
      object->second.missing = launch.ticket == 0;
    }
  }
  for (uint64_t other : launch.after) {
    auto found = launches_.find(other);
    if (found == launches_.end()) continue;
    std::vector<uint64_t>& before = found->second.before;
    before.erase(std::remove(before.begin(), before.end(), id), before.end());
  }
  for (uint64_t waiting : std::exchange(launch.before, {})) {
    Launch& next = launches_[waiting];
    next.after.erase(id);
    if (next.finished && next.after.empty()) FinishLaunch(waiting);
  }
}

void Controller::Begin(uint64_t id) {
  Launch& launch = launches_[id];
  Program& program = *programs_[launch.program];
  launch.ticket = ++last_ticket_;
  launch.first = program.next_firing;
  program.next_firing += launch.steps;
  for (int32_t island : program.plan->islands()) {
    launch.waiting.insert(island);
    launch.previous[island] = ticket_of_[island];
    ticket_of_[island] = launch.ticket;
  }
  if (launch.waiting.empty()) {
    FinishLaunch(id);  // a plan without shards
    return;
  }
  SendStarts(id, launch, /*skip=*/false);
}

void Controller::SendStarts(uint64_t id, const Launch& launch, bool skip) {
  const Program& program = *programs_[launch.program];
  for (const auto& [island, previous] : launch.previous) {
    proto::Control control;
    proto::Start* start = control.mutable_start();
    start->set_program(launch.program);
    start->set_incarnation(program.incarnation);
    start->set_launch(id);
    start->set_ticket(launch.ticket);
    start->set_previous_ticket(previous);
    start->set_first(launch.first);
    start->set_steps(launch.steps);
    start->set_skip(skip);
    for (int32_t host : program.plan->hosts()) {
      if (context_.topology->island_of_host(host) == island) {
        start->add_hosts(host);
      }
    }
    SendTo(context_.directory.schedulers[island], control);
  }
}

void Controller::OnDone(const proto::LaunchDone& done) {
  auto found = launches_.find(done.launch());
  if (found == launches_.end()) return;
  Launch& launch = found->second;
  Program* program = Find(launch.program, done.incarnation());
  if (program == nullptr || launch.waiting.erase(done.sender()) == 0) return;
  if (done.has_failure() &&
      (!launch.failed || Before(done.failure(), launch.failure))) {
    launch.failed = true;
    launch.failure = done.failure();
  }
  launch.poisoned.insert(done.poisoned().begin(), done.poisoned().end());
  if (launch.waiting.empty()) FinishLaunch(done.launch());
}

void Controller::FinishLaunch(uint64_t id) {
  Launch& launch = launches_[id];
  launch.finished = true;
  if (!launch.after.empty()) return;
  Program& program = *programs_[launch.program];
  absl::Status status = ArgumentFailure(launch, /*missing_only=*/false);
  if (status.ok() && launch.failed) {
    status = FailureStatus(*program.plan, launch.first, launch.failure);
  }
  const std::vector<uint32_t> poisoned(launch.poisoned.begin(),
                                       launch.poisoned.end());
  steps_done_.Add(launch.steps);
  program.launches.erase(id);
  EndLaunch(id, status, /*completed=*/true, poisoned);
  Settle(id, status, /*completed=*/true);
  Forget(id);
}

void Controller::Forget(uint64_t id) {
  auto found = launches_.find(id);
  const std::vector<uint64_t> arguments = std::move(found->second.arguments);
  // A launch that did not begin, or was given up, has left values on hosts.
  std::vector<int32_t> hosts;
  if (!found->second.waiting.empty() || found->second.ticket == 0) {
    hosts = found->second.plan->hosts();
  }
  launches_.erase(found);
  Unreference(arguments, id, /*request=*/0, hosts);
}

void Controller::Unreference(const std::vector<uint64_t>& objects,
                             uint64_t launch, uint64_t request,
                             const std::vector<int32_t>& hosts) {
  std::map<int32_t, proto::Control> drops;
  for (int32_t host : hosts) {
    drops[host].mutable_drop_objects()->set_launch(launch);
  }
  for (uint64_t id : objects) {
    auto found = objects_.find(id);
    if (found == objects_.end() || --found->second.references != 0) continue;
    for (int32_t host : found->second.hosts) {
      proto::DropObjects* drop = drops[host].mutable_drop_objects();
      drop->set_launch(launch);
      drop->add_objects(id);
    }
    objects_.erase(found);
  }
  if (!context_.run_kernels) drops.clear();  // hosts hold nothing
  for (auto& [host, control] : drops) {
    control.mutable_drop_objects()->set_request(request);
    if (request != 0) dropping_[request].insert(static_cast<uint32_t>(host));
    SendStore(host, std::move(control));
  }
  if (request != 0 && drops.empty()) {
    port_->Answer(request, absl::OkStatus(), 0);
  }
}

void Controller::OnRelease(const proto::ReleaseRequest& request) {
  if (request.after() > last_launch_) {
    releases_.push_back(request);
    return;
  }
  Unreference({request.objects().begin(), request.objects().end()},
              /*launch=*/0, request.request());
}

void Controller::OnDropped(const proto::ObjectsDropped& dropped) {
  auto found = dropping_.find(dropped.request());
  if (found == dropping_.end()) return;
  found->second.erase(dropped.host());
  if (!found->second.empty()) return;
  dropping_.erase(found);
  port_->Answer(dropped.request(), absl::OkStatus(), 0);
}

void Controller::OnFetch(const proto::FetchRequest& request) {
  if (objects_.count(request.object()) == 0) {
    port_->Answer(request.request(),
                  absl::NotFoundError("the values were released"), 0);
    return;
  }
  for (const proto::PartRange& range : request.ranges()) {
    proto::Control control;
    proto::FetchPart* fetch = control.mutable_fetch_part();
    fetch->set_request(request.request());
    fetch->set_object(request.object());
    *fetch->mutable_range() = range;
    SendTo(context_.directory.executors[range.host()], control);
  }
}

void Controller::OnPartData(const proto::PartData& part) {
  if (part.missing()) {
    port_->Answer(part.request(),
                  absl::NotFoundError("the values were released"), 0);
    return;
  }
  port_->Deliver(part.request(), static_cast<int32_t>(part.host()),
                 part.offset(), part.data());
}

}  // namespace pathways
