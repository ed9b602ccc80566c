//===- session_run.cc - The run of a program ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/saved_array.h"
#include "runtime/client/combine.h"
#include "runtime/layout/contributions.h"
#include "runtime/node/local_workers.h"
#include "runtime/plan/tables.h"
#include "runtime/trace/measure.h"
#include "tools/pw-run/checks.h"
#include "tools/pw-run/dry_run.h"
#include "tools/pw-run/plan_view.h"
#include "tools/pw-run/recovery_flags.h"
#include "tools/pw-run/session.h"

namespace pathways::pw_run {
namespace {

// Returns true if a failure comes from the cluster or its other clients, so
// that no input is at fault.
bool IsLoss(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsUnavailable(status) ||
         absl::IsDeadlineExceeded(status);
}

// Returns the contributions to an argument in the layout of the program.
layout::Contributions ContributionsOf(const proto::Plan& plan, int argument) {
  const proto::Action& feed = plan.actions(
      static_cast<int>(plan.interface().arguments(argument).action()));
  const proto::Buffer& buffer = plan.buffers(static_cast<int>(feed.results(0)));
  return layout::ContributionsOf(
      LayoutOf(plan.layouts(static_cast<int>(buffer.layout()))),
      MeshOf(plan.slices(static_cast<int>(buffer.slice()))));
}

}  // namespace

bool Session::Prepare() {
  if (!options_.profile_out.empty()) {
    const absl::Status s = CheckMeasurable(plan().header());
    if (!s.ok()) {
      return Fail(kUsageError, absl::StrCat("--profile-out: ", s.message()));
    }
  }
  signature_ = SignatureOf(plan());
  of_checks_ = ResultsOfChecks(plan().interface());
  if (options_.costs_only) {
    for (const Port& port : signature_.arguments) {
      inputs_.emplace_back(
          HostArray{port.element, port.ShapeOver(options_.steps), {}});
    }
    return true;
  }
  for (auto [specs, ports] : {std::make_pair(&options_.outputs, &output_ports_),
                              std::make_pair(&options_.saves, &save_ports_)}) {
    for (const NamedSpec& spec : *specs) {
      absl::StatusOr<size_t> port =
          FindPort(signature_.results, spec.name, "result");
      if (!port.ok()) return Fail(kUsageError, port.status().message());
      ports->push_back(*port);
    }
  }
  for (const Port& port : signature_.results) {
    if (!Check(kUsageError, CheckSize(port, options_.steps))) return false;
  }
  for (const NamedSpec& expected : options_.expected) {
    absl::StatusOr<size_t> port =
        FindPort(signature_.results, expected.name, "result");
    if (!port.ok()) return Fail(kUsageError, port.status().message());
    absl::StatusOr<HostArray> array =
        MakeArray("expected value of result", signature_.results[*port],
                  options_.steps, expected.spec);
    if (!array.ok()) return FailInput(array.status());
    expected_.emplace_back(*port, *std::move(array));
  }
  if (!ReadExpectedArchives()) return false;
  absl::StatusOr<Archives> archives = Archives::Open(
      options_.input_archives, signature_.arguments, PortKind::kInput);
  if (!archives.ok()) return FailInput(archives.status());
  absl::StatusOr<std::vector<Input>> inputs = MakeInputs(
      signature_.arguments, options_.steps, options_.inputs, &*archives);
  if (!inputs.ok()) return FailInput(inputs.status());
  inputs_ = *std::move(inputs);
  return true;
}

bool Session::ReadExpectedArchives() {
  absl::StatusOr<Archives> archives = Archives::Open(
      options_.expected_archives, signature_.results, PortKind::kResult);
  if (!archives.ok()) return FailInput(archives.status());
  for (size_t i = 0; i < signature_.results.size(); ++i) {
    const bool is_named =
        std::any_of(expected_.begin(), expected_.end(),
                    [i](const auto& expected) { return expected.first == i; });
    if (is_named || !archives->Has(i)) continue;
    absl::StatusOr<HostArray> array = archives->Read(i, options_.steps);
    if (!array.ok()) return FailInput(array.status());
    expected_.emplace_back(i, *std::move(array));
  }
  return true;
}

bool Session::OpenCluster() {
  ClusterOptions options = options_.run;
  options.on_long_work = Warn();
  if (options.processes != 0) progress_.Show("starting workers");
  absl::StatusOr<std::shared_ptr<Cluster>> cluster =
      pathways::OpenCluster(topology_->cluster(), options);
  if (!cluster.ok()) {
    return Fail(
        absl::IsInvalidArgument(cluster.status()) || options.processes == 0
            ? kUsageError
            : kRunError,
        cluster.status().message());
  }
  cluster_ = *std::move(cluster);
  return true;
}

bool Session::Execute() {
  if (cluster_ == nullptr && !OpenCluster()) return false;
  if (!OpenClient()) return false;
  const std::optional<ProgramHandle> program = LoadOnCluster();
  LaunchArguments arguments;
  if (!program.has_value() || !PutConstants() || !PutArguments(&arguments)) {
    return false;
  }
  const double total =
      FiringsOfStep(plan()) * static_cast<double>(options_.steps) + 1;
  progress_.Track("running", [this, total] {
    return static_cast<double>(cluster_->firings()) / total;
  });
  if (!Launch(*program, std::move(arguments)) || !FetchResults()) return false;
  for (size_t i = 0; i < options_.saves.size(); ++i) {
    if (!Save(i)) return false;
  }
  progress_.Clear();
  return true;
}

bool Session::OpenClient() {
  // Other processes may run the tool on the cluster at the same time.
  absl::StatusOr<std::unique_ptr<Client>> client = cluster_->Connect(
      !options_.client.empty() ? options_.client
      : options_.connect.address.empty()
          ? "pw-run"
          : absl::StrCat("pw-run of process ", cluster_->process()),
      options_.share);
  if (!client.ok()) return Fail(kRunError, client.status().message());
  client_ = *std::move(client);
  return true;
}

std::optional<ProgramHandle> Session::LoadOnCluster() {
  progress_.Show("loading");
  options_.load.on_waiting = [this](const std::string& why) {
    progress_.Note(absl::StrCat("pw-run: waiting: ", why));
  };
  if (options_.recovery.has_value() &&
      options_.recovery->mode != RecoveryOptions::kFail) {
    options_.load.await_devices = true;
    if (options_.recovery->mode == RecoveryOptions::kRebind &&
        !options_.anywhere) {
      options_.load.place = LoadPlace::kPresent;
      options_.load.oversubscribe = options_.oversubscribe;
    }
  }
  absl::StatusOr<ProgramHandle> program =
      client_->Load(loaded_.plan, options_.load);
  if (!program.ok()) {
    Fail(IsLoss(program.status()) ? kRunError : kPlanRefused,
         program.status().message());
    return std::nullopt;
  }
  if (options_.load.place != LoadPlace::kAsCompiled &&
      options_.explain_placement) {
    absl::StatusOr<std::shared_ptr<const PreparedPlan>> placed =
        client_->PlanOf(*program);
    if (!placed.ok()) {
      Fail(kRunError, placed.status().message());
      return std::nullopt;
    }
    Print(absl::StrCat("loaded\n", PlacementText((*placed)->plan(), *topology_),
                       "\n"));
  }
  return *program;
}

bool Session::PutConstants() {
  absl::StatusOr<ProgramConstants> constants =
      ProgramConstants::Put(client_.get(), loaded_.plan);
  if (!constants.ok()) return Fail(kRunError, constants.status().message());
  constants_ = *std::move(constants);
  return true;
}

bool Session::PutArguments(LaunchArguments* arguments) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto* saved =
        std::get_if<std::shared_ptr<const SavedArray>>(&inputs_[i]);
    if (saved == nullptr) {
      arguments->emplace_back(std::move(*std::get_if<HostArray>(&inputs_[i])));
      continue;
    }
    const std::string combined = CombinedText(
        absl::StrCat("argument '", signature_.arguments[i].name,
                     "' of program '", plan().header().program(), "'"),
        (*saved)->contributions(),
        ContributionsOf(plan(), signature_.arguments[i].index));
    // A run with recovery reports this itself.
    if (!combined.empty() && !options_.recovery.has_value()) {
      progress_.Note(absl::StrCat("pw-run: ", combined));
    }
    absl::StatusOr<ArrayHandle> array = client_->Put(*saved);
    if (!array.ok()) return Fail(kRunError, array.status().message());
    arguments->emplace_back(*array);
  }
  *arguments = constants_.Complete(std::move(*arguments));
  return true;
}

bool Session::Launch(ProgramHandle program, LaunchArguments arguments) {
  if (!options_.stats.empty() && !options_.connect.address.empty()) {
    absl::StatusOr<ClusterStats> stats = client_->Stats();
    if (!stats.ok()) return Fail(kRunError, stats.status().message());
    before_ = *std::move(stats);
  }
  const TimeNs begin = cluster_->Now();
  if (options_.recovery.has_value()) {
    if (!RunToEnd(program, std::move(arguments))) return false;
  } else {
    absl::StatusOr<RunHandle> run = client_->Launch(
        program, std::move(arguments), options_.steps, options_.launch);
    if (!run.ok()) return Fail(kRunError, run.status().message());
    if (!Check(kRunError, client_->Await(*run))) return false;
    run_ = *run;
  }
  launch_ns_ = cluster_->Now() - begin;
  return true;
}

bool Session::FetchResults() {
  results_.resize(signature_.results.size());
  for (size_t i = 0; i < results_.size() && !options_.costs_only; ++i) {
    if (!IsWanted(i)) continue;
    absl::StatusOr<HostArray> result =
        run_.has_value() ? client_->Fetch(*run_, static_cast<int64_t>(i))
                         : client_->Get(arrays_[i]);
    if (!result.ok()) return Fail(kRunError, result.status().message());
    results_[i] = *std::move(result);
  }
  return true;
}

bool Session::RunToEnd(ProgramHandle program, LaunchArguments arguments) {
  RecoveryOptions& recovery = *options_.recovery;
  recovery.load = options_.load;
  recovery.oversubscribe = options_.oversubscribe;
  recovery.on_event = [this](const std::string& what) {
    progress_.Note(absl::StrCat("pw-run: ", what));
  };
  absl::StatusOr<RecoveredResults> results = client_->RunToEnd(
      program, std::move(arguments), options_.steps, recovery, options_.launch);
  if (!results.ok()) {
    const absl::Status& status = results.status();
    const bool is_usage =
        !IsOfSteps(status) &&
        (absl::IsInvalidArgument(status) || absl::IsAlreadyExists(status) ||
         absl::IsNotFound(status) || absl::IsDataLoss(status) ||
         absl::IsPermissionDenied(status));
    return Fail(is_usage ? kUsageError : kRunError, results.status().message());
  }
  arrays_ = std::move(results->arrays);
  const RecoveryReport& report = results->report;
  if (std::string text = RecoveryText(report); !text.empty()) {
    progress_.Note(absl::StrCat("pw-run: ", text));
  }
  for (auto& [port, expected] : expected_) {
    if (signature_.results[port].stepped) {
      DropSteps(report.resumed_at, &expected);
    }
  }
  return true;
}

bool Session::IsWanted(size_t port) const {
  if (save_ports_.empty() || of_checks_[port] ||
      !options_.output_archive.empty()) {
    return true;
  }
  for (size_t output : output_ports_) {
    if (output == port) return true;
  }
  for (const auto& [expected, value] : expected_) {
    if (expected == port) return true;
  }
  return false;
}

bool Session::Save(size_t save) {
  progress_.Show("saving");
  const size_t port = save_ports_[save];
  absl::StatusOr<ArrayHandle> array =
      run_.has_value() ? client_->Keep(*run_, static_cast<int64_t>(port))
                       : arrays_[port];
  if (!array.ok()) return Fail(kRunError, array.status().message());
  absl::StatusOr<std::unique_ptr<SaveFolder>> folder =
      SaveFolder::Create(options_.saves[save].spec);
  absl::Status saved = folder.status();
  if (saved.ok()) saved = client_->Save(*array, folder->get());
  (void)client_->Release(*array);
  if (saved.ok()) {
    save_folders_.push_back(*std::move(folder));
    return true;
  }
  return Fail(IsLoss(saved) ? kRunError : kUsageError,
              absl::StrCat("--save=", options_.saves[save].name, ": ",
                           saved.message()));
}

}  // namespace pathways::pw_run
