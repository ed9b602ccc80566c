//===- log_index.cc - Names and shards of what was traced -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/log_index.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/plan/tables.h"

namespace pathways {

LogIndex::LogIndex(const TraceLog* log) : log_(*log) {
  std::map<std::string, int> uses;
  for (const auto& [program, plan] : log_.programs) {
    ++uses[plan->header().program()];
  }
  for (const auto& [program, plan] : log_.programs) {
    const std::string& name = plan->header().program();
    names_[program] = uses[name] > 1 ? absl::StrCat(name, " #", program) : name;
  }
  for (uint32_t id = 0; id < log_.actors.size(); ++id) {
    const TraceActor& actor = log_.actors[id];
    if (actor.role == TraceActor::kDevice) {
      device_actors_[{actor.island, actor.device}] = id;
    }
  }
  for (const TraceEvent& event : log_.events) {
    if (event.Kind() != TraceKind::kSubmitted) continue;
    submitted_[{event.actor, event.program}][event.firing] = &event;
  }
}

std::optional<uint64_t> LogIndex::StepIndexOf(const TraceEvent& event) const {
  const auto found = submitted_.find({event.actor, event.program});
  if (found == submitted_.end()) return std::nullopt;
  auto after = found->second.upper_bound(event.firing);
  if (after == found->second.begin()) return std::nullopt;
  const auto& [first, launch] = *std::prev(after);
  if (event.firing >= launch->value) return std::nullopt;
  return FirstStepOf(*launch) + (event.firing - first);
}

const proto::Plan* LogIndex::plan(uint32_t program) const {
  auto found = log_.programs.find(program);
  return found == log_.programs.end() ? nullptr : found->second.get();
}

const proto::Action* LogIndex::action(uint32_t program, uint32_t action) const {
  const proto::Plan* tables = plan(program);
  return tables != nullptr &&
                 action < static_cast<uint32_t>(tables->actions_size())
             ? &tables->actions(action)
             : nullptr;
}

const proto::Edge* LogIndex::edge(uint32_t program, uint32_t edge) const {
  const proto::Plan* tables = plan(program);
  return tables != nullptr && edge < static_cast<uint32_t>(tables->edges_size())
             ? &tables->edges(edge)
             : nullptr;
}

const std::string& LogIndex::ProgramName(uint32_t program) const {
  static const std::string* const unknown = new std::string("a program");
  auto found = names_.find(program);
  return found == names_.end() ? *unknown : found->second;
}

uint32_t LogIndex::DeviceActor(int island, int64_t device) const {
  auto found = device_actors_.find({island, device});
  return found == device_actors_.end() ? kNoTraceActor : found->second;
}

const std::vector<int64_t>& LogIndex::ShardsOn(uint32_t program,
                                               uint32_t slice_index,
                                               uint32_t device) {
  auto [found, is_new] = shards_.try_emplace({program, slice_index});
  if (is_new) {
    const proto::Plan* tables = plan(program);
    if (tables != nullptr &&
        slice_index < static_cast<uint32_t>(tables->slices_size())) {
      const proto::Slice& slice = tables->slices(slice_index);
      // Shards beyond the end of the list are on no device.
      const int64_t bound =
          slice.binding().has_list()
              ? std::min<int64_t>(NumShards(slice),
                                  slice.binding().list().devices_size())
          : slice.binding().has_affine() ? NumShards(slice)
                                         : 0;
      const int64_t shards = std::min(bound, shards_left_);
      shards_left_ -= shards;
      for (int64_t shard = 0; shard < shards; ++shard) {
        const std::optional<BoundDevice> where = DeviceOf(slice, shard);
        if (!where.has_value()) continue;
        // The plan may name any number of devices that the log does not have.
        const uint32_t actor =
            DeviceActor(static_cast<int>(where->island), where->device);
        if (actor != kNoTraceActor) found->second[actor].push_back(shard);
      }
    }
  }
  static const std::vector<int64_t>* const none = new std::vector<int64_t>;
  auto on_device = found->second.find(device);
  return on_device == found->second.end() ? *none : on_device->second;
}

uint32_t LogIndex::DeviceOfShard(uint32_t program, uint32_t slice_index,
                                 int64_t shard) {
  const proto::Plan* tables = plan(program);
  if (tables == nullptr ||
      slice_index >= static_cast<uint32_t>(tables->slices_size())) {
    return kNoTraceActor;
  }
  const proto::Slice& slice = tables->slices(slice_index);
  const std::optional<BoundDevice> where = DeviceOf(slice, shard);
  return where.has_value()
             ? DeviceActor(static_cast<int>(where->island), where->device)
             : kNoTraceActor;
}

const layout::Movement* LogIndex::movement(uint32_t program, uint32_t index) {
  const proto::Action* send = action(program, index);
  if (send == nullptr || send->kind() != proto::SEND) return nullptr;
  auto [found, is_new] = movements_.try_emplace({program, index});
  if (is_new) {
    const proto::Plan& tables = *plan(program);
    const proto::Action& recv = tables.actions(send->peer());
    const proto::Buffer& from = tables.buffers(send->operands(0));
    const proto::Buffer& to = tables.buffers(recv.results(0));
    layout::Movement movement;
    std::string error;
    if (layout::Movement::Create(LayoutOf(tables.layouts(from.layout())),
                                 MeshOf(tables.slices(send->slice())),
                                 LayoutOf(tables.layouts(to.layout())),
                                 MeshOf(tables.slices(recv.slice())),
                                 send->slice() == recv.slice(), &movement,
                                 &error)) {
      found->second = std::move(movement);
    }
  }
  return found->second.has_value() ? &*found->second : nullptr;
}

}  // namespace pathways
