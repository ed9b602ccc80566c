//===- plan_code.cc - Code that a plan runs in this process ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/plan_code.h"

#include <set>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

std::string TargetText(const proto::Target& target) {
  std::string text = absl::StrCat(target.triple(), "|", target.cpu());
  for (const std::string& feature : target.features()) {
    absl::StrAppend(&text, "|", feature);
  }
  return text;
}

}  // namespace

PlanCode::PlanCode(const proto::Plan& plan, const PlanBinding& binding,
                   const Topology& topology, HostFilter is_here) {
  struct Wanted {
    proto::Target target;
    std::string device;  // first device with this target
  };
  std::map<std::string, Wanted> targets;
  bool first = true;
  // Targets that each kernel runs on.
  std::map<uint32_t, std::set<std::string>> wanted;
  std::vector<std::set<std::string>> slice_targets(binding.slices().size());
  for (size_t s = 0; s < binding.slices().size(); ++s) {
    int32_t last = -1;
    for (const auto& [device, shard] : binding.slices()[s].by_device) {
      if (device == last) continue;
      last = device;
      if (!is_here(topology.LocateGlobal(device).host)) continue;
      const proto::Target& target = topology.global_device(device).target();
      const std::string text = TargetText(target);
      if (first) common_target_ = text;
      first = false;
      if (targets.count(text) == 0) {
        targets[text] = {target, topology.GlobalDeviceName(device)};
      }
      slice_targets[s].insert(text);
      if (text != common_target_) {
        target_of_[device] = text;
      }
    }
  }
  for (const proto::Action& action : plan.actions()) {
    if (action.kind() != proto::GANG) continue;
    for (const proto::GangStep& step : action.steps()) {
      if (!step.has_run()) continue;
      wanted[action.kernel()].insert(slice_targets[action.slice()].begin(),
                                     slice_targets[action.slice()].end());
      break;
    }
  }
  for (const auto& [kernel, texts] : wanted) {
    for (const std::string& text : texts) {
      needed_.push_back(
          {kernel, targets.at(text).target, targets.at(text).device});
    }
  }
}

absl::Status PlanCode::Load(const PlanData& data, KernelResolver* resolver) {
  for (const NeededCode& needed : needed_) {
    const proto::Kernel& kernel =
        data.tables.kernels(static_cast<int>(needed.kernel));
    absl::StatusOr<ResolvedKernel> code =
        resolver->Resolve(kernel, data.blobs, needed.target);
    if (!code.ok()) {
      return absl::Status(
          code.status().code(),
          absl::StrCat("device ", needed.device, ": ",
                       absl::string_view(code.status().message())));
    }
    if (code->segments.size() != static_cast<size_t>(kernel.segments_size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("the code of kernel '", kernel.name(), "' has ",
                       code->segments.size(), " segments, the plan ",
                       kernel.segments_size()));
    }
    code_[{needed.kernel, TargetText(needed.target)}] = *std::move(code);
  }
  return absl::OkStatus();
}

const ResolvedKernel* PlanCode::kernel(uint32_t kernel, int64_t device) const {
  auto target = target_of_.find(device);
  auto code = code_.find(
      {kernel, target == target_of_.end() ? common_target_ : target->second});
  return code == code_.end() ? nullptr : &code->second;
}

}  // namespace pathways
