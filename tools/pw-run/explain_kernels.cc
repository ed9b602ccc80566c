//===- explain_kernels.cc - Cost of a plan's kernels ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/explain_kernels.h"

#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {
namespace {

std::string Milliseconds(double seconds) {
  return absl::StrFormat("%.2f", seconds * 1e3);
}

// Names the rounding unless it is the default; all kernels have the same.
std::string RoundingText(const proto::Plan& plan) {
  for (const proto::Kernel& kernel : plan.kernels()) {
    if (kernel.rounding() == proto::ROUND_STRICT) return "rounding: strict\n";
    if (kernel.rounding() == proto::ROUND_EXCESS) return "rounding: excess\n";
  }
  return "";
}

std::string PathsText(const proto::Plan& plan,
                      const std::map<std::string, CodeOrigin>& origins) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "place", "op", "path"}};
  int plain = 0;
  for (const proto::Kernel& kernel : plan.kernels()) {
    auto origin = origins.find(kernel.name());
    if (origin == origins.end()) continue;
    for (const CodeOrigin::Path& path : origin->second.paths) {
      rows.push_back({kernel.name(), path.place, path.op, path.path});
      if (absl::StrContains(path.path, "plain loop: ")) ++plain;
    }
  }
  if (origins.empty()) return "";
  return absl::StrCat("\n", rows.size() > 1 ? TableText(rows) : "",
                      CountText(rows.size() - 1, "op"), ", ", plain,
                      " in plain loops\n");
}

}  // namespace

std::string KernelsText(const proto::Plan& plan,
                        const std::map<std::string, CodeOrigin>& origins) {
  std::vector<uint64_t> calls(plan.kernels_size(), 0);
  for (const proto::Action& action : plan.actions()) {
    for (const proto::GangStep& step : action.steps()) {
      if (!step.has_run()) continue;
      ++calls[action.kernel()];
      break;
    }
  }
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "calls", "segments", "targets", "object bytes", "code", "ms"}};
  uint64_t all_calls = 0, all_segments = 0, all_bytes = 0;
  double all_seconds = 0;
  for (int k = 0; k < plan.kernels_size(); ++k) {
    const proto::Kernel& kernel = plan.kernels(k);
    uint64_t bytes = 0;
    for (const proto::KernelObject& object : kernel.objects()) {
      bytes += object.blob_bytes();
    }
    std::string code = "plan", time;
    if (auto origin = origins.find(kernel.name()); origin != origins.end()) {
      code = origin->second.is_cached ? "cache" : "compiled";
      time = Milliseconds(origin->second.seconds);
      all_seconds += origin->second.seconds;
    }
    rows.push_back({kernel.name(), absl::StrCat(calls[k]),
                    absl::StrCat(kernel.segments_size()),
                    absl::StrCat(kernel.objects_size()), absl::StrCat(bytes),
                    code, time});
    all_calls += calls[k];
    all_segments += kernel.segments_size();
    all_bytes += bytes;
  }
  // Targets are not summed: all kernels have the same ones.
  rows.push_back({CountText(plan.kernels_size(), "kernel"),
                  absl::StrCat(all_calls), absl::StrCat(all_segments), "",
                  absl::StrCat(all_bytes), "", Milliseconds(all_seconds)});
  return absl::StrCat(TableText(rows), RoundingText(plan),
                      PathsText(plan, origins));
}

}  // namespace pathways::pw_run
