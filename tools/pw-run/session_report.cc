//===- session_report.cc - Steps after the run of a program ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <map>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/error_codes.h"
#include "runtime/checkpoint/npy.h"
#include "runtime/checkpoint/npz.h"
#include "runtime/plan/profile.h"
#include "runtime/trace/summary.h"
#include "tools/pw-run/checks.h"
#include "tools/pw-run/compare.h"
#include "tools/pw-run/plan_view.h"
#include "tools/pw-run/session.h"

namespace pathways::pw_run {
namespace {

// Removes the times of devices that are in `before` from `stats`.
void Subtract(const ClusterStats& before, ClusterStats* stats) {
  std::map<std::string, const ClusterStats::Device*> devices;
  for (const ClusterStats::Device& device : before.devices) {
    devices[device.name] = &device;
  }
  for (ClusterStats::Device& device : stats->devices) {
    const auto found = devices.find(device.name);
    // A device whose host was replaced counts from zero again.
    if (found == devices.end() || found->second->busy_ns > device.busy_ns ||
        found->second->waiting_ns > device.waiting_ns) {
      continue;
    }
    device.busy_ns -= found->second->busy_ns;
    device.waiting_ns -= found->second->waiting_ns;
    // The first gang was one of an earlier run.
    if (found->second->last_end_ns > 0) {
      device.first_begin_ns = device.first_end_ns = device.last_end_ns = 0;
    }
  }
}

// Most elements that are printed of a result without an option that asks for
// all.
constexpr int64_t kMaxPrinted = 1000;

}  // namespace

bool Session::WriteTrace(bool has_run) {
  if (options_.trace.empty() || client_ == nullptr) return has_run;
  progress_.Clear();
  std::ostringstream text;
  const absl::Status status = client_->WriteTrace(&text);
  // Only the first failure is reported.
  if (!has_run) {
    if (status.ok() && options_.trace != "-") {
      (void)files_.trace.Commit(text.str());
    }
    return false;
  }
  return Check(kRunError, status) &&
         Emit(options_.trace, &files_.trace, text.str());
}

bool Session::WriteProfile() {
  if (options_.profile_out.empty()) return true;
  absl::StatusOr<proto::Profile> profile = client_->Measure(plan().header());
  if (!profile.ok()) {
    // After a successful run the trace may have kept nothing.
    const bool is_usage = absl::IsInvalidArgument(profile.status()) ||
                          absl::IsFailedPrecondition(profile.status());
    return Fail(is_usage ? kUsageError : kRunError,
                absl::StrCat("--profile-out: ", profile.status().message()));
  }
  const absl::StatusOr<TraceSummary> summary = client_->Summarize();
  if (summary.ok() && summary->events_dropped > 0) {
    progress_.Note(absl::StrFormat(
        "pw-run: --profile-out: the profile covers only the last %.2f ms: %s "
        "dropped; a larger --trace-events keeps more",
        static_cast<double>(summary->wall_ns()) / 1e6,
        CountText(summary->events_dropped, "older event")));
  }
  return Emit(options_.profile_out, &files_.profile, PrintProfile(*profile));
}

bool Session::Finish() {
  for (size_t i = 0; i < options_.outputs.size(); ++i) {
    const std::string& spec = options_.outputs[i].spec;
    const HostArray& result = results_[output_ports_[i]];
    if (spec == "-") {
      PrintResult(output_ports_[i], result.numElements());
    } else if (!Check(kUsageError,
                      files_.outputs[i].Commit(SerializeNpy(result)))) {
      return false;
    }
  }
  if (!options_.output_archive.empty() && !Check(kUsageError, WriteArchive())) {
    return false;
  }
  for (const std::unique_ptr<SaveFolder>& folder : save_folders_) {
    if (!Check(kUsageError, folder->Commit())) return false;
  }
  if (options_.costs_only && !PrintCosts()) return false;
  if (options_.outputs.empty() && options_.output_archive.empty() &&
      expected_.empty() && options_.saves.empty() && !options_.costs_only) {
    for (size_t i = 0; i < results_.size(); ++i) {
      if (!of_checks_[i]) PrintResult(i, kMaxPrinted);
    }
  }
  if (!options_.stats.empty() && !WriteStats()) return false;
  for (const auto& [port, expected] : expected_) {
    Comparison comparison =
        Compare(results_[port], expected, options_.tolerance);
    if (comparison.mismatches == 0) continue;
    exit_code_ = kComparisonFailed;
    Print(
        absl::StrCat("[FAILED] ",
                     MismatchText(signature_.results[port].name, results_[port],
                                  expected, options_.tolerance, comparison),
                     "\n"));
  }
  if (!options_.costs_only) CompareChecks();
  if (exit_code_ != kSuccess) return true;
  std::string compared;
  if (!expected_.empty()) {
    compared = absl::StrCat(", ", CountText(expected_.size(), "result"),
                            " as expected");
  }
  const int64_t checks = NumChecks(plan().interface());
  if (checks > 0 && !options_.costs_only) {
    absl::StrAppend(&compared, ", ", CountText(checks, "check"));
  }
  Print(absl::StrCat("[SUCCESS] ", CountText(options_.steps, "step"), compared,
                     "\n"));
  return true;
}

absl::Status Session::WriteArchive() {
  OutputFile& file = files_.output_archive;
  NpzWriter writer(
      [&file](absl::string_view bytes) { return file.Append(bytes); });
  for (size_t i = 0; i < results_.size(); ++i) {
    if (of_checks_[i]) continue;
    const absl::Status added =
        writer.Add(signature_.results[i].name, results_[i]);
    if (!added.ok()) return added;
  }
  const absl::Status finished = writer.Finish();
  return finished.ok() ? file.Commit("") : finished;
}

void Session::CompareChecks() {
  const proto::Interface& interface = plan().interface();
  for (int i = 0; i < interface.results_size(); ++i) {
    const proto::Result& result = interface.results(i);
    if (!result.has_expect()) continue;
    const std::string why =
        WhyCheckFails(result.name(), results_[i],
                      results_[result.expect().result()], result.expect());
    if (why.empty()) continue;
    exit_code_ = kComparisonFailed;
    Print(
        absl::StrCat("[FAILED] ", why, Tag(ErrorId::kExpectationFailed), "\n"));
  }
}

void Session::PrintResult(size_t port, int64_t max_elements) {
  const HostArray& result = results_[port];
  Print(absl::StrCat(signature_.results[port].name, ": ",
                     shapeString(result.element, result.shape), " = ",
                     ArrayText(result, max_elements), "\n"));
}

RunFacts Session::Facts() const {
  RunFacts facts;
  facts.plan_bytes = static_cast<int64_t>(loaded_.bytes.size());
  facts.steps = options_.steps;
  facts.simulated = options_.run.world == ClusterOptions::kSim;
  facts.launch_ns = launch_ns_;
  return facts;
}

absl::StatusOr<ClusterStats> Session::Stats() {
  absl::StatusOr<ClusterStats> stats = client_->Stats();
  if (stats.ok()) Subtract(before_, &*stats);
  return stats;
}

bool Session::PrintCosts() {
  absl::StatusOr<ClusterStats> stats = Stats();
  if (!stats.ok()) return Fail(kRunError, stats.status().message());
  absl::StatusOr<TraceSummary> summary = client_->Summarize();
  if (!summary.ok()) return Fail(kRunError, summary.status().message());
  Print(CostsText(*stats, *summary, Facts()));
  return true;
}

bool Session::WriteStats() {
  const RunFacts facts = Facts();
  absl::StatusOr<ClusterStats> stats = Stats();
  if (!stats.ok()) return Fail(kRunError, stats.status().message());
  std::optional<TraceSummary> summary;
  if (cluster_->traced()) {
    absl::StatusOr<TraceSummary> made = client_->Summarize();
    if (!made.ok()) return Fail(kRunError, made.status().message());
    summary = *std::move(made);
  }
  if (options_.stats == "table") {
    Print(StatsTable(plan(), *stats, summary, facts));
  } else if (options_.stats == "json") {
    Print(StatsJson(plan(), *stats, summary, facts));
  } else {
    return Check(kUsageError, files_.stats.Commit(
                                  StatsJson(plan(), *stats, summary, facts)));
  }
  return true;
}

}  // namespace pathways::pw_run
