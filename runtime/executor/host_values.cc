//===- host_values.cc - What a host holds of the values of launches -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/executor/host_executor.h"

namespace pathways {

void HostExecutor::OnStore(uint64_t sequence, const ControlRef& control) {
  if (sequence <= last_store_) {
    counters_.duplicates.Add();
    return AnswerAgain(*control);
  }
  if (sequence != last_store_ + 1) {
    early_store_.emplace(sequence, control);
    return;
  }
  auto handle = [&](const proto::Control& next) {
    ++last_store_;
    switch (next.kind_case()) {
      case proto::Control::kPrepareLaunch:
        return OnPrepare(next.client(), next.prepare_launch());
      case proto::Control::kFetchBegin:
        return OnFetchBegin(next.client(), next.fetch_begin());
      default:
        return OnDrop(next.client(), next.drop_objects());
    }
  };
  handle(*control);
  while (!early_store_.empty() &&
         early_store_.begin()->first == last_store_ + 1) {
    handle(*early_store_.begin()->second);
    early_store_.erase(early_store_.begin());
  }
  while (!held_.empty() && held_.front().store() <= last_store_) {
    ApplyGrant(held_.front());
    held_.pop_front();
  }
}

void HostExecutor::SendStored() {
  ControlRef control = NewControl();
  control->mutable_objects_dropped()->set_host(host_);
  control->mutable_objects_dropped()->set_sequence(last_store_);
  SendControl(context_.directory.controller(), std::move(control));
}

void HostExecutor::AnswerAgain(const proto::Control& control) {
  SendStored();
  if (!control.has_prepare_launch()) return;
  const uint64_t launch = control.prepare_launch().launch();
  auto refused = refused_.find(launch);
  for (uint64_t id : control.prepare_launch().fresh()) {
    transfers_.PullAgain(id, ToClients());
  }
  if (refused != refused_.end()) {
    SendReady(launch, refused->second);
  } else if (prepared_.count(launch)) {
    SendReady(launch, absl::OkStatus());
  }
}

void HostExecutor::SendReady(uint64_t launch, const absl::Status& status) {
  ControlRef control = NewControl();
  proto::LaunchReady* ready = control->mutable_launch_ready();
  ready->set_launch(launch);
  ready->set_host(host_);
  ready->set_code(static_cast<int>(status.code()));
  ready->set_message(std::string(status.message()));
  SendControl(context_.directory.controller(), std::move(control));
}

void HostExecutor::SendToClient(uint32_t client, const WireMessage& message,
                                Payload payload) {
  counters_.sent[message.kind].Add();
  world_->Send(self(), context_.directory.client(client), message, payload);
}

HostTransfers::Sender HostExecutor::ToClients() {
  return [this](uint32_t client, const WireMessage& message, Payload payload) {
    SendToClient(client, message, payload);
  };
}

void HostExecutor::OnClientWire(uint32_t client, const WireMessage& message,
                                Payload payload) {
  const auto send = ToClients();
  switch (message.kind) {
    case kPullMessage:
      return transfers_.OnPull(client, message, send);
    case kBlockMessage: {
      const bool settled = transfers_.OnBlock(client, message, payload, send);
      counters_.stored_bytes.Set(transfers_.bytes_stored());
      if (settled) TryPrepare();
      return;
    }
    default:
      return;
  }
}

void HostExecutor::OnPrepare(uint32_t client,
                             const proto::PrepareLaunch& prepare) {
  const HostProgram* program = Find(prepare.program(), prepare.incarnation());
  if (program == nullptr || prepare.sure()) {
    return Finish(prepare,
                  program == nullptr || HasArguments(prepare)
                      ? Prepare(prepare)
                      : absl::InternalError(
                            "a launch was granted before its arguments came"));
  }
  preparing_[prepare.launch()] = prepare;
  for (uint64_t id : prepare.fresh()) Pull(client, *program, prepare, id);
  TryPrepare();
}

void HostExecutor::Pull(uint32_t client, const HostProgram& program,
                        const proto::PrepareLaunch& prepare, uint64_t id) {
  const auto found =
      std::find(prepare.arguments().begin(), prepare.arguments().end(), id);
  const auto index = found - prepare.arguments().begin();
  const proto::Interface& interface = program.plan->plan().interface();
  if (index >= interface.arguments_size()) return;
  const proto::Argument& argument = interface.arguments(index);
  const uint64_t bytes = program.argument_bytes[index] *
                         (argument.stepped() ? prepare.steps() : 1);
  if (bytes == 0 || store_.Find(id) != nullptr) return;
  transfers_.Pull(
      client,
      store_.Expect(id, bytes,
                    absl::StrCat("argument '", argument.name(),
                                 "' of program '", program.plan->name(), "'")),
      ToClients());
}

bool HostExecutor::HasArguments(const proto::PrepareLaunch& prepare) const {
  return std::all_of(
      prepare.arguments().begin(), prepare.arguments().end(), [&](uint64_t id) {
        if (id == 0) return true;
        const std::shared_ptr<HostStore::Object> object = store_.Find(id);
        return object != nullptr &&
               (object->complete() || !object->status.ok());
      });
}

void HostExecutor::TryPrepare() {
  for (auto it = preparing_.begin(); it != preparing_.end();) {
    if (!HasArguments(it->second)) {
      ++it;
      continue;
    }
    Finish(it->second, Prepare(it->second));
    it = preparing_.erase(it);
  }
}

void HostExecutor::Finish(const proto::PrepareLaunch& prepare,
                          const absl::Status& status) {
  if (!status.ok()) refused_[prepare.launch()] = status;
  if (!status.ok() || !prepare.sure()) {
    return SendReady(prepare.launch(), status);
  }
  // Before devices of this worker are in kernels, perhaps for long: a host of
  // which nothing is heard is given up.
  SendStored();
}

absl::Status HostExecutor::Prepare(const proto::PrepareLaunch& prepare) {
  const HostProgram* program = Find(prepare.program(), prepare.incarnation());
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
  auto values = std::make_unique<HostValues>();
  values->steps = prepare.steps();
  // Of all steps; more than any array has when that is too much.
  auto total = [&](uint64_t bytes, bool stepped) {
    const uint64_t steps = stepped ? prepare.steps() : 1;
    return bytes > kMaxArrayBytes / steps ? UINT64_MAX : bytes * steps;
  };
  for (int i = 0; i < interface.arguments_size(); ++i) {
    const uint64_t bytes =
        total(program->argument_bytes[i], interface.arguments(i).stepped());
    std::shared_ptr<HostStore::Object> object =
        store_.Find(prepare.arguments(i));
    if (bytes == 0) object = nullptr;
    if (object != nullptr && !object->status.ok()) return object->status;
    if (object == nullptr ? bytes != 0 : object->bytes != bytes) {
      return absl::InternalError(absl::StrCat(
          "argument '", interface.arguments(i).name(), "' of program '",
          program->plan->name(), "' has ", object ? object->bytes : 0,
          " bytes on ", context_.topology->HostName(host_), ", expected ",
          bytes));
    }
    values->arguments.push_back(std::move(object));
  }
  absl::Status status;
  for (int r = 0; r < interface.results_size() && status.ok(); ++r) {
    const uint64_t bytes =
        total(program->result_bytes[r], interface.results(r).stepped());
    HostValues::Result& result = values->results.emplace_back();
    if (bytes == 0) continue;
    result.object = store_.Create(prepare.results(r), bytes,
                                  program->plan->DescribeResult(r));
    result.object->filled = false;
    result.object->writer = prepare.program();
    status = result.object->status;
  }
  if (!status.ok()) {
    for (uint64_t id : prepare.results()) store_.Drop(id);
    return status;
  }
  prepared_[prepare.launch()] =
      Prepared{prepare.program(), prepare.incarnation(), std::move(values)};
  return absl::OkStatus();
}

std::unique_ptr<HostValues> HostExecutor::TakeValues(
    const HostProgram& program, const proto::Grant& grant) {
  auto found = prepared_.find(grant.launch());
  if (found != prepared_.end()) {
    const Prepared& prepared = found->second;
    if (prepared.program != grant.program() ||
        prepared.incarnation != grant.incarnation() ||
        prepared.values->steps != grant.launch_steps()) {
      return nullptr;  // what was staged is not what was granted
    }
    std::unique_ptr<HostValues> values = std::move(found->second.values);
    prepared_.erase(found);
    return values;
  }
  if (context_.run_kernels) return nullptr;
  auto values = std::make_unique<HostValues>();
  values->steps = grant.launch_steps();
  for (int r = 0; r < program.plan->plan().interface().results_size(); ++r) {
    values->results.emplace_back();
  }
  return values;
}

void HostExecutor::FinishValues(const HostValues& values, bool failed) {
  for (const HostValues::Result& result : values.results) {
    if (result.object == nullptr) continue;
    result.object->poisoned =
        failed || result.poisoned.load(std::memory_order_relaxed);
    result.object->filled.store(true, std::memory_order_release);
  }
}

void HostExecutor::OnDrop(uint32_t client, const proto::DropObjects& drop) {
  preparing_.erase(drop.launch());
  refused_.erase(drop.launch());
  auto prepared = prepared_.find(drop.launch());
  if (prepared != prepared_.end()) {
    // It will not be granted any more.
    FinishValues(*prepared->second.values, /*failed=*/true);
    prepared_.erase(prepared);
    TellFilled();
  }
  for (uint64_t id : drop.objects()) {
    transfers_.Stop(id, ToClients());
    store_.Drop(id);
  }
  if (drop.fetch() != 0) transfers_.EndLend(client, drop.fetch());
  if (drop.answer()) SendStored();
}

void HostExecutor::OnFetchBegin(uint32_t client,
                                const proto::FetchBegin& fetch) {
  transfers_.Lend(client, fetch.request(), store_.Find(fetch.object()),
                  fetch.first_piece(), ToClients());
}

void HostExecutor::OnFetchAgain(uint32_t client,
                                const proto::FetchBegin& fetch) {
  transfers_.LendAgain(client, fetch.request(), fetch.first_piece(),
                       ToClients());
  ControlRef control = NewControl();
  control->set_client(client);
  proto::FetchReport* report = control->mutable_fetch_report();
  report->set_request(fetch.request());
  report->set_host(host_);
  report->set_pieces(transfers_.Sent(client, fetch.request()));
  SendControl(context_.directory.controller(), std::move(control));
}

}  // namespace pathways
