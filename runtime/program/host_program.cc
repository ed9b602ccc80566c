//===- host_program.cc - Builder of one host's tables ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/host_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/plan/tables.h"
#include "runtime/program/host_program_builder.h"

namespace pathways {

uint32_t DeviceProgram::TokensOf(uint32_t in_edge, uint64_t firing) const {
  const InEdge& in = in_edges[in_edge];
  const uint32_t tokens = plan->edges()[in.edge].tokens;
  if (firing < tokens) return in.expected;
  // Earlier firings of the slot had all their tokens. The first may have waited
  // for none.
  const uint64_t slot = firing % window;
  uint64_t earlier = firing / window;
  if (earlier > 0 && slot < tokens) --earlier;
  return arrived[InEdgeAt(in_edge, firing)] -
         static_cast<uint32_t>(earlier * in.expected);
}

void FillPadding(const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& valid, int64_t element_bytes,
                 char* data) {
  int64_t row = element_bytes;  // bytes of one index of dimension d
  for (size_t d = shape.size(); d-- > 0;) {
    // For each index of the dimensions before d, including those in their
    // padding, zero the tail of d.
    const int64_t plane = row * shape[d];
    int64_t outer = 1;
    for (size_t o = 0; o < d; ++o) outer *= shape[o];
    const int64_t tail = (shape[d] - valid[d]) * row;
    for (int64_t o = 0; tail > 0 && o < outer; ++o) {
      std::memset(data + o * plane + valid[d] * row, 0, tail);
    }
    row = plane;
  }
}

absl::Status HostProgramBuilder::Build(const std::vector<Arena*>& arenas,
                                       Arena* host_arena) {
  out_.devices = MakeDevices(in_, out_.program, out_.incarnation);
  out_.edge_bases = EdgeBases(p_.edges().size(), out_.devices.size());
  self_bases_ = out_.edge_bases;
  FindCohorts();
  absl::Status memory = CheckTables(*host_arena);
  if (!memory.ok()) return memory;
  memory = memory_.AllocateDevices(arenas);
  if (!memory.ok()) return memory;
  for (auto& device : out_.devices) {
    if (device == nullptr) continue;
    LayOutEntries(in_, device.get(), &out_.edge_bases, &self_bases_);
  }
  const ValueBuilder values(p_, out_.devices);
  out_.argument_bytes = values.ArgumentBytes();
  out_.result_bytes = values.ResultBytes();
  out_.all_edges = MakeAllEdges(in_, out_.devices, out_.edge_bases);
  out_.all_of_edge.assign(p_.edges().size(), -1);
  for (size_t i = 0; i < out_.all_edges.size(); ++i) {
    out_.all_of_edge[out_.all_edges[i].edge] = static_cast<int32_t>(i);
  }
  groups_ = MakeGroups(in_, out_.devices, &memory_);
  for (auto& device : out_.devices) {
    if (device != nullptr) MakeOps(device.get());
  }
  absl::StatusOr<Arena::Segment> segment = memory_.AllocateHost(host_arena);
  if (!segment.ok()) {
    lacking_ = memory_.host_bytes();
    return segment.status();
  }
  out_.host_memory = *std::move(segment);
  SetGroupMemory(memory_, &groups_);
  GangTablePool queues;
  for (auto& device : out_.devices) {
    if (device == nullptr) continue;
    GangTables queue = MakeGangs(in_, memory_, &groups_, device.get());
    MakeMoves(device.get());
    values.MakeOps(memory_, device.get());
    tokens_.MakeTokens(device.get());
    MarkPlain(*device, &queue);
    device->queue = queues.Share(std::move(queue));
    ResetCounters(in_, device.get());
  }
  out_.shapes = std::move(groups_.shapes);
  out_.groups = std::move(groups_.groups);
  out_.flag_barriers = std::move(groups_.flag_barriers);
  out_.group_of = std::move(groups_.group_of);
  SortReceived();
  out_.dispatch = MakeDispatch(in_, out_.devices, &arriving_);
  CountAll();
  return absl::OkStatus();
}

void HostProgramBuilder::FindCohorts() {
  const std::vector<uint32_t>& cohorts = host_actors_.cohorts;
  for (const auto& device : out_.devices) {
    if (device == nullptr) continue;
    const uint32_t cohort = cohorts[device->device];
    if (cohort >= out_.cohort_sizes.size())
      out_.cohort_sizes.resize(cohort + 1);
    if (out_.cohort_sizes[cohort]++ == 0) {
      out_.cohort_heads.push_back(device->device);
    }
  }
}

absl::Status HostProgramBuilder::CheckTables(const Arena& arena) {
  const uint64_t bytes = TableBytes(in_, out_.devices);
  if (bytes <= arena.room()) return absl::OkStatus();
  lacking_ = bytes;
  return absl::ResourceExhaustedError(absl::StrCat(
      "the tables of program '", p_.name(), "' need ", bytes, " bytes of ",
      arena.name(), ", where ", arena.used(), " of ", arena.bound(),
      " bytes are used", Tag(ErrorId::kNoHostMemory)));
}

void HostProgramBuilder::CountAll() {
  for (const auto& device : out_.devices) {
    if (device == nullptr) continue;
    device->groups = out_.groups.data();
    for (const auto& shards : device->shards) {
      out_.num_own_shards += shards.size();
    }
    out_.num_entries += device->entries.size();
    out_.num_in_edges += device->in_edges.size();
    out_.num_queue_entries += device->queue->gangs.size();
  }
}

absl::StatusOr<std::unique_ptr<HostProgram>> HostProgram::Build(
    std::shared_ptr<const PreparedPlan> plan, const Topology& topology,
    const HostActors& host_actors, const DispatchOptions& dispatch, int host,
    uint32_t program, uint32_t incarnation, const std::vector<Arena*>& arenas,
    Arena* host_arena, HostReach reach, uint64_t* lacking) {
  auto self = std::make_unique<HostProgram>();
  self->plan = std::move(plan);
  self->program = program;
  self->incarnation = incarnation;
  self->host = host;
  HostProgramBuilder builder(*self->plan, topology, host_actors, dispatch,
                             std::move(reach), self.get());
  absl::Status built = builder.Build(arenas, host_arena);
  if (lacking != nullptr) *lacking = builder.lacking();
  if (!built.ok()) return built;
  return self;
}

}  // namespace pathways
