//===- load_parts.cc - Loads, while hosts load their programs -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/load_parts.h"

namespace pathways {

void LoadParts::Add(const LoadQueue::Load& load,
                    absl::Span<const uint64_t> handles) {
  Loading& loading = loads_[load.request] = {load, {}, {}};
  for (uint64_t handle : handles) {
    loading.parts.emplace_back(handle, Part::kLoading);
  }
}

void LoadParts::SetBytes(ClientRequest request, uint64_t handle, int32_t host,
                         uint64_t bytes) {
  const auto found = loads_.find(request);
  if (found == loads_.end()) return;
  Loading& loading = found->second;
  for (size_t i = 0; i < loading.parts.size(); ++i) {
    if (loading.parts[i].first != handle) continue;
    loading.load.programs[i].on_hosts[host] = bytes;
  }
}

LoadParts::Step LoadParts::Take(const ProgramNext& next) {
  Step step;
  const auto found = loads_.find(next.request);
  if (found == loads_.end()) return step;
  Loading& loading = found->second;
  for (auto& [handle, part] : loading.parts) {
    if (next.handle != 0 && handle == next.handle) part = Part::kLoaded;
    if (next.handle == 0 && handle == next.gone) part = Part::kGone;
  }
  loading.status.Update(next.status);
  loading.is_held |= next.is_held;
  step.kind = Step::kWait;
  for (const auto& [handle, part] : loading.parts) {
    if (part == Part::kLoading) return step;
  }
  for (auto& [handle, part] : loading.parts) {
    if (part == Part::kLoaded) step.handles.push_back(handle);
  }
  if (loading.status.ok()) {
    step.kind = Step::kLoaded;
    loads_.erase(found);
    return step;
  }
  if (step.handles.empty()) {
    step.kind = Step::kRefused;
    step.load = std::move(loading.load);
    step.status = loading.status;
    step.is_held = loading.is_held;
    loads_.erase(found);
    return step;
  }
  // The load ends when the others are gone, too.
  step.kind = Step::kUnload;
  for (auto& [handle, part] : loading.parts) {
    if (part == Part::kLoaded) part = Part::kLoading;
  }
  return step;
}

void LoadParts::Leave(uint32_t client) {
  std::erase_if(loads_,
                [&](const auto& one) { return one.first.client == client; });
}

}  // namespace pathways
