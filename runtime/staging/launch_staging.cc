//===- launch_staging.cc - Staging of launches on a host ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/staging/launch_staging.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/protocol/wire_kind.h"

namespace pathways {
namespace {

uint64_t NumberOf(const proto::Control& control) {
  switch (control.kind_case()) {
    case proto::Control::kPrepareLaunch:
      return control.prepare_launch().sequence();
    case proto::Control::kFetchBegin:
      return control.fetch_begin().sequence();
    default:
      return control.drop_objects().sequence();
  }
}

int IndexOf(const proto::PrepareLaunch& prepare, uint64_t object) {
  return static_cast<int>(absl::c_find(prepare.arguments(), object) -
                          prepare.arguments().begin());
}

}  // namespace

absl::Status CheckStepNumbers(const std::string& program, uint64_t first_step,
                              uint64_t steps) {
  if (steps <= kMaxSteps && first_step <= kMaxSteps - steps) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "a launch of program '", program, "' begins at step ", first_step,
      " and has ", steps, " steps, expected at most ", kMaxSteps, " together"));
}

uint64_t TotalBytes(uint64_t step_bytes, bool stepped, uint64_t steps) {
  if (!stepped) return step_bytes;
  return step_bytes > kMaxArrayBytes / steps ? UINT64_MAX : step_bytes * steps;
}

LaunchStaging::LaunchStaging(Owner* owner, Arena* arena, std::string host)
    : owner_(*owner),
      host_(std::move(host)),
      store_(arena),
      to_clients_([owner](uint32_t client, const WireMessage& message,
                          Payload payload) {
        owner->SendToClient(client, message, payload);
      }),
      arena_(*arena) {}

bool LaunchStaging::Take(const ControlRef& control) {
  const uint64_t number = NumberOf(*control);
  if (number == 0 && control->has_fetch_begin()) {
    OnFetchAgain(control->client(), control->fetch_begin());
    return true;
  }
  if (sequence_.Take(number, control,
                     [this](const ControlRef& next) { Come(next); })) {
    return true;
  }
  AnswerAgain(*control);
  return false;
}

void LaunchStaging::Come(const ControlRef& control) {
  if (spills()) {
    if (!queue_.empty()) DropEarly(*control);
    Waiting next;
    next.control = control;
    queue_.push_back(std::move(next));
    return Proceed();
  }
  last_ = NumberOf(*control);
  Handle(control);
}

void LaunchStaging::End(Waiting next) {
  if (next.attempt != nullptr) {
    next.attempt(/*is_last=*/true);
    return;
  }
  last_ = NumberOf(*next.control);
  if (!next.is_over) Handle(next.control);
}

void LaunchStaging::Handle(const ControlRef& control) {
  switch (control->kind_case()) {
    case proto::Control::kPrepareLaunch:
      return OnPrepare(control);
    case proto::Control::kFetchBegin:
      return OnFetchBegin(control->client(), control->fetch_begin());
    default:
      return OnDrop(control->client(), control->drop_objects());
  }
}

void LaunchStaging::AnswerAgain(const proto::Control& control) {
  owner_.SendStored(last());
  if (!control.has_prepare_launch()) return;
  const uint64_t launch = control.prepare_launch().launch();
  for (uint64_t id : control.prepare_launch().fresh()) {
    transfers_.PullAgain(id, to_clients_);
  }
  auto refused = refused_.find(launch);
  if (refused != refused_.end()) {
    owner_.SendReady(launch, refused->second);
  } else if (prepared_.Find(launch) != nullptr && waiting_.count(launch) == 0) {
    owner_.SendReady(launch, absl::OkStatus());
  }
}

void LaunchStaging::OnWire(uint32_t client, const WireMessage& message,
                           Payload payload) {
  switch (message.kind) {
    case kPullMessage:
      return transfers_.OnPull(client, message, to_clients_);
    case kBlockMessage:
      if (transfers_.OnBlock(client, message, payload, to_clients_)) {
        TryPrepare();
      }
      return;
    default:
      return;
  }
}

void LaunchStaging::OnPrepare(const ControlRef& control) {
  const proto::PrepareLaunch& prepare = control->prepare_launch();
  const HostProgram* program =
      owner_.FindProgram(prepare.program(), prepare.incarnation());
  for (uint64_t id : prepare.poisoned()) {
    if (program == nullptr || store_.Find(id) != nullptr) continue;
    store_.CreatePoisoned(id, BytesOf(*program, prepare, id));
  }
  if (program == nullptr || prepare.sure()) {
    return Finish(prepare,
                  program == nullptr || HasArguments(prepare)
                      ? Prepare(prepare)
                      : absl::InternalError(
                            "a launch was granted before its arguments came"));
  }
  for (uint64_t id : prepare.fresh()) {
    Pull(control->client(), *program, prepare, id);
  }
  // Make the results before the arguments arrive, so that later messages that
  // wait for memory cannot take what this one will need. Without spilling,
  // nothing waits for memory, and results are made once the arguments are on
  // the host.
  if (spills() && KnowsArguments(prepare)) {
    const absl::Status prepared = Prepare(prepare);
    if (!prepared.ok()) return Finish(prepare, prepared);
  }
  waiting_[prepare.launch()] = {control};
  TryPrepare();
}

uint64_t LaunchStaging::BytesOf(const HostProgram& program,
                                const proto::PrepareLaunch& prepare,
                                uint64_t id) {
  const int index = IndexOf(prepare, id);
  const proto::Interface& interface = program.plan->plan().interface();
  if (index >= interface.arguments_size() || prepare.steps() == 0) return 0;
  return TotalBytes(program.argument_bytes[index],
                    interface.arguments(index).stepped(), prepare.steps());
}

void LaunchStaging::Pull(uint32_t client, const HostProgram& program,
                         const proto::PrepareLaunch& prepare, uint64_t id) {
  const uint64_t bytes = BytesOf(program, prepare, id);
  if (bytes == 0 || store_.Find(id) != nullptr) return;
  const proto::Argument& argument =
      program.plan->plan().interface().arguments(IndexOf(prepare, id));
  transfers_.Pull(
      client,
      store_.Expect(id, bytes,
                    absl::StrCat("argument '", argument.name(),
                                 "' of program '", program.plan->name(), "'")),
      to_clients_);
}

bool LaunchStaging::HasArgument(uint64_t id) const {
  if (id == 0) return true;
  const HostStore::Ref object = store_.Find(id);
  return object != nullptr && (object->complete() || !object->status.ok());
}

bool LaunchStaging::HasArguments(const proto::PrepareLaunch& prepare) const {
  return std::all_of(prepare.arguments().begin(), prepare.arguments().end(),
                     [&](uint64_t id) { return HasArgument(id); });
}

bool LaunchStaging::KnowsArguments(const proto::PrepareLaunch& prepare) const {
  return std::all_of(
      prepare.arguments().begin(), prepare.arguments().end(),
      [&](uint64_t id) { return id == 0 || store_.Find(id) != nullptr; });
}

void LaunchStaging::TryPrepare() {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const proto::PrepareLaunch& prepare = it->second.control->prepare_launch();
    int& next = it->second.next;
    while (next < prepare.arguments_size() &&
           HasArgument(prepare.arguments(next))) {
      ++next;
    }
    if (next < prepare.arguments_size()) {
      ++it;
      continue;
    }
    if (!HasArguments(prepare)) {  // an argument was dropped since it was seen
      next = 0;
      ++it;
      continue;
    }
    Finish(prepare, CheckArrived(prepare));
    it = waiting_.erase(it);
  }
}

absl::Status LaunchStaging::CheckArrived(const proto::PrepareLaunch& prepare) {
  Prepared* prepared = prepared_.Find(prepare.launch());
  if (prepared == nullptr) return Prepare(prepare);
  absl::Status status;
  for (const HostStore::Ref& argument : prepared->values.arguments) {
    if (argument != nullptr) status.Update(argument->status);
  }
  if (status.ok()) return status;
  for (uint64_t id : prepare.results()) store_.Drop(id);
  Forget(prepare.launch(), prepared);
  return status;
}

void LaunchStaging::Finish(const proto::PrepareLaunch& prepare,
                           const absl::Status& status) {
  if (!status.ok()) refused_[prepare.launch()] = status;
  if (!status.ok() || !prepare.sure()) {
    return owner_.SendReady(prepare.launch(), status);
  }
  owner_.SendStoredSoon();
}

absl::Status LaunchStaging::Prepare(const proto::PrepareLaunch& prepare) {
  const HostProgram* program =
      owner_.FindProgram(prepare.program(), prepare.incarnation());
  if (program == nullptr) {
    return absl::FailedPreconditionError("the program is not loaded");
  }
  const proto::Interface& interface = program->plan->plan().interface();
  if (prepare.arguments_size() != interface.arguments_size() ||
      prepare.results_size() != interface.results_size()) {
    return absl::InternalError("a launch has other arguments than its program");
  }
  if (prepare.steps() == 0 || prepare.steps() > kMaxSteps) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a launch of ", prepare.steps(), " steps, expected 1 to ", kMaxSteps));
  }
  Prepared& prepared = prepared_.Insert(prepare.launch());
  prepared.program = prepare.program();
  prepared.incarnation = prepare.incarnation();
  prepared.values.steps = prepare.steps();
  absl::Status status = FindArguments(*program, prepare, &prepared.values);
  if (status.ok()) status = MakeResults(*program, prepare, &prepared.values);
  if (!status.ok()) Forget(prepare.launch(), &prepared);
  return status;
}

void LaunchStaging::Forget(uint64_t launch, Prepared* prepared) {
  prepared->Reset();  // releases its values now
  prepared_.Erase(launch);
}

absl::Status LaunchStaging::FindArguments(const HostProgram& program,
                                          const proto::PrepareLaunch& prepare,
                                          HostValues* values) {
  const proto::Interface& interface = program.plan->plan().interface();
  for (int i = 0; i < interface.arguments_size(); ++i) {
    const uint64_t bytes =
        TotalBytes(program.argument_bytes[i], interface.arguments(i).stepped(),
                   prepare.steps());
    HostStore::Ref object = store_.Use(prepare.arguments(i));
    if (bytes == 0) object = nullptr;
    if (object != nullptr && !object->status.ok()) return object->status;
    if (object != nullptr && object->away()) {
      return LacksRoom(
          *object, absl::StrCat("argument '", interface.arguments(i).name(),
                                "' of program '", program.plan->name(), "'"));
    }
    if (object == nullptr ? bytes != 0 : object->bytes != bytes) {
      return absl::InternalError(absl::StrCat(
          "argument '", interface.arguments(i).name(), "' of program '",
          program.plan->name(), "' has ", object != nullptr ? object->bytes : 0,
          " bytes on ", host_, ", expected ", bytes));
    }
    values->arguments.push_back(std::move(object));
  }
  return absl::OkStatus();
}

absl::Status LaunchStaging::MakeResults(const HostProgram& program,
                                        const proto::PrepareLaunch& prepare,
                                        HostValues* values) {
  const proto::Interface& interface = program.plan->plan().interface();
  for (int r = 0; r < interface.results_size(); ++r) {
    const uint64_t bytes =
        TotalBytes(program.result_bytes[r], interface.results(r).stepped(),
                   prepare.steps());
    HostValues::Result& result = values->results.emplace_back();
    if (bytes == 0) continue;
    result.object = store_.Create(prepare.results(r), bytes,
                                  program.plan->DescribeResult(r));
    result.object->filled = false;
    result.object->writer = prepare.program();
    if (result.object->status.ok()) continue;
    for (uint64_t id : prepare.results()) store_.Drop(id);
    return result.object->status;
  }
  return absl::OkStatus();
}

bool LaunchStaging::TakeValues(const proto::Grant& grant, HostValues* values) {
  Prepared* const prepared = prepared_.Find(grant.launch());
  if (prepared == nullptr || waiting_.count(grant.launch()) > 0 ||
      prepared->program != grant.program() ||
      prepared->incarnation != grant.incarnation() ||
      prepared->values.steps != grant.launch_steps()) {
    return false;  // staged values do not match the grant
  }
  std::swap(*values, prepared->values);
  prepared_.Erase(grant.launch());
  return true;
}

void LaunchStaging::OnDrop(uint32_t client, const proto::DropObjects& drop) {
  waiting_.erase(drop.launch());
  refused_.erase(drop.launch());
  if (Prepared* prepared = prepared_.Find(drop.launch())) {
    // The launch will not be granted.
    prepared->values.Fill(/*failed=*/true);
    Forget(drop.launch(), prepared);
    owner_.OnFilled();
  }
  for (uint64_t id : drop.objects()) {
    transfers_.Stop(id, to_clients_);
    store_.Drop(id);
  }
  if (drop.fetch() != 0) {
    owner_.OnLentEnd(client, drop.fetch());
    transfers_.EndLend(client, drop.fetch());
  }
  if (drop.answer()) owner_.SendStored(last());
}

absl::Status LaunchStaging::LacksRoom(const HostStore::Object& object,
                                      const std::string& what) {
  absl::Status lack = arena_.Charge(object.bytes, what).status();
  if (lack.ok()) lack = spiller_->lack();
  if (lack.ok()) {
    lack = absl::ResourceExhaustedError(absl::StrCat(
        what, " needs ", object.bytes, " bytes of ", arena_.name(),
        " in addition to what the launch already needs there, where ",
        arena_.used(), " of ", arena_.bound(), " bytes are used",
        Tag(ErrorId::kNoHostMemory)));
  }
  return spiller_->Explain(lack);
}

void LaunchStaging::OnFetchBegin(uint32_t client,
                                 const proto::FetchBegin& fetch) {
  const HostStore::Ref object = store_.Use(fetch.object());
  absl::Status status;
  if (object != nullptr) status = object->status;
  if (object != nullptr && object->away()) {
    status = LacksRoom(*object, "an array that is fetched");
  }
  // The client looks when the first piece arrives.
  if (fetch.views() && object != nullptr && status.ok()) {
    owner_.OnLent(client, fetch.request(), *object);
  }
  transfers_.Lend(client, fetch.request(), object, status, fetch.first_piece(),
                  to_clients_);
}

void LaunchStaging::OnFetchAgain(uint32_t client,
                                 const proto::FetchBegin& fetch) {
  transfers_.LendAgain(client, fetch.request(), fetch.first_piece(),
                       to_clients_);
  owner_.SendFetched(client, fetch.request(),
                     transfers_.Sent(client, fetch.request()));
}

}  // namespace pathways
