//===- session.cc - Steps before the run of a program ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/session.h"

#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "runtime/client/rebind_plan.h"
#include "runtime/faults/fault_schedule.h"
#include "runtime/topology/named_devices.h"
#include "tools/pw-run/dry_run.h"
#include "tools/pw-run/dump_graph.h"
#include "tools/pw-run/explain_import.h"
#include "tools/pw-run/explain_kernels.h"
#include "tools/pw-run/explain_reshard.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {

void Print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void PrintFailure(const Failure& failure) {
  // Diagnostics of the compiler begin with their location, for editors.
  const bool placed =
      (failure.code == kCompileError || failure.code == kPlanRefused) &&
      failure.message.find(": error: ") != std::string::npos;
  std::fprintf(stderr, "%s%s\n",
               placed ? "" : "pw-run: error: ", failure.message.c_str());
}

Session::Session(Options options)
    : options_(std::move(options)), progress_(isatty(STDERR_FILENO)) {}

int Session::Run() {
  bool done = OpenFiles() && Connect() && Load() && Describe();
  if (done && !options_.dry_run && !options_.compile_only) {
    done = Prepare() && Execute();
    // A failed run is traced, too.
    done = WriteTrace(done) && WriteProfile() && Finish();
  }
  progress_.Clear();
  if (!done) {
    std::fflush(stdout);
    PrintFailure(failure_);
    if (failure_.code == kRunError) Print("[FAILED] the run did not finish\n");
    return failure_.code;
  }
  return exit_code_;
}

bool Session::Fail(ExitCode code, absl::string_view message) {
  failure_ = {code, std::string(message)};
  return false;
}

bool Session::FailInput(const absl::Status& status) {
  return Fail(absl::IsResourceExhausted(status) ? kRunError : kUsageError,
              status.message());
}

bool Session::Check(ExitCode code, const absl::Status& status) {
  return status.ok() || Fail(code, status.message());
}

bool Session::Emit(const std::string& path, OutputFile* file,
                   absl::string_view text) {
  if (path == "-") {
    Print(std::string(text));
    return true;
  }
  return Check(kUsageError, file->Commit(text));
}

bool Session::OpenFiles() {
  absl::StatusOr<RunFiles> opened = OpenRunFiles(options_);
  if (!opened.ok()) return Fail(kUsageError, opened.status().message());
  files_ = *std::move(opened);
  return true;
}

std::function<void(const LongWork&)> Session::Warn() {
  return [this](const LongWork& work) {
    progress_.Note(absl::StrCat("pw-run: warning: ", work.Text()));
  };
}

bool Session::Connect() {
  if (options_.connect.address.empty()) return true;
  progress_.Show("connecting");
  options_.connect.on_long_work = Warn();
  options_.connect.on_waiting = [this](const std::string& whom) {
    progress_.Note(absl::StrCat("pw-run: waiting: ", whom));
  };
  absl::StatusOr<std::shared_ptr<Cluster>> cluster =
      ConnectCluster(options_.connect);
  progress_.Clear();
  if (!cluster.ok()) {
    const bool is_usage = absl::IsInvalidArgument(cluster.status()) ||
                          absl::IsPermissionDenied(cluster.status()) ||
                          absl::IsNotFound(cluster.status());
    return Fail(is_usage ? kUsageError : kRunError,
                absl::StrCat("--connect: ", cluster.status().message()));
  }
  cluster_ = *std::move(cluster);
  for (auto [option, path] :
       {std::make_pair("--trace", &options_.trace),
        std::make_pair("--profile-out", &options_.profile_out)}) {
    if (path->empty() || cluster_->traced()) continue;
    return Fail(kUsageError, absl::StrCat(option, ": ", kUntraced));
  }
  options_.topology = TopologySpec(cluster_->topology().cluster());
  return true;
}

bool Session::Load() {
  absl::StatusOr<Topology> topology = Topology::Read(options_.topology);
  if (!topology.ok()) {
    return Fail(kUsageError,
                absl::StrCat("--topology: ", topology.status().message()));
  }
  topology_ = *std::move(topology);
  if (!options_.run.faults.empty()) {
    const auto faults = ReadFaults(options_.run.faults, *topology_);
    if (!faults.ok()) {
      return Fail(kUsageError,
                  absl::StrCat("--faults: ", faults.status().message()));
    }
  }
  progress_.Show("compiling");
  bool loaded = LoadProgram(options_, &loaded_, &failure_);
  progress_.Clear();
  for (const std::string& remark : loaded_.remarks) {
    std::fprintf(stderr, "%s\n", remark.c_str());
  }
  return loaded && Check(kPlanRefused, CheckFits(plan(), *topology_)) &&
         Avoid();
}

bool Session::Avoid() {
  if (options_.avoid.empty()) return true;
  const auto avoid = NamedDevices(*topology_, options_.avoid);
  if (!avoid.ok()) {
    return Fail(kUsageError,
                absl::StrCat("--avoid: ", avoid.status().message()));
  }
  absl::StatusOr<PlanSlices> slices =
      RebindPlan(plan(), *topology_, *avoid, options_.oversubscribe);
  if (!slices.ok()) {
    return Fail(kPlanRefused,
                absl::StrCat("--avoid: ", slices.status().message()));
  }
  Rebind(*slices, &loaded_);
  return true;
}

bool Session::Describe() {
  if (!options_.emit_plan.empty() &&
      !Emit(options_.emit_plan, &files_.plan, loaded_.bytes)) {
    return false;
  }
  if (!options_.emit_plan_text.empty()) {
    std::string text;
    if (!PlanText(loaded_, &text, &failure_) ||
        !Emit(options_.emit_plan_text, &files_.plan_text, text)) {
      return false;
    }
  }
  if (!options_.dump_graph.empty() &&
      !Emit(options_.dump_graph, &files_.graph, GraphText(plan()))) {
    return false;
  }
  if (options_.explain_placement) {
    Print(absl::StrCat(FormatTopology(*topology_), "\n",
                       PlacementText(plan(), *topology_), "\n"));
  }
  if (options_.explain_reshard) Print(ReshardsText(loaded_.reshards));
  if (options_.explain_import) Print(ImportText(loaded_.imported));
  if (options_.explain_kernels) Print(KernelsText(plan(), loaded_.kernels));
  if (options_.dry_run)
    Print(DryRunText(CostOf(plan(), *topology_), *topology_));
  return true;
}

}  // namespace pathways::pw_run
