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
uint32_t HostProgram::InEdgeOf(uint32_t edge, uint32_t device,
                               uint32_t shard) const {
  const uint64_t at = EdgeAt(edge, device);
  if (at >= edge_bases.size() || edge_bases[at] == kNoEntry) return kNoEntry;
  const uint32_t slice = plan->plan().actions(plan->edges()[edge].to).slice();
  return edge_bases[at] +
         static_cast<uint32_t>(plan->bound(slice).index_of[shard]);
}

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
  FindShards();
  FindCohorts();
  absl::Status memory = CheckTables(*host_arena);
  if (!memory.ok()) return memory;
  memory = memory_.AllocateDevices(arenas);
  if (!memory.ok()) return memory;
  for (auto& device : out_.devices) {
    if (device != nullptr) LayOut(device.get());
  }
  CutValues();
  MakeAllEdges();
  MakeGroups();
  for (auto& device : out_.devices) {
    if (device != nullptr) MakeOps(device.get());
  }
  absl::StatusOr<Arena::Segment> segment = memory_.AllocateHost(host_arena);
  if (!segment.ok()) {
    lacking_ = memory_.host_bytes();
    return segment.status();
  }
  out_.host_memory = *std::move(segment);
  SetGroupMemory();
  for (auto& device : out_.devices) {
    if (device == nullptr) continue;
    GangTables queue;
    MakeGangs(device.get(), &queue);
    MakeTokens(device.get());
    MarkPlain(*device, &queue);
    device->queue = Share(std::move(queue));
    ResetCounters(device.get());
  }
  SortReceived();
  if (dispatch_.prepares()) MakeDispatch();
  CountAll();
  return absl::OkStatus();
}

void HostProgramBuilder::FindShards() {
  out_.devices.resize(in_.topology.num_host_devices(out_.host));
  out_.edge_bases.assign(p_.edges().size() * out_.devices.size(), kNoEntry);
  self_bases_ = out_.edge_bases;
  for (size_t d = 0; d < out_.devices.size(); ++d) {
    std::vector<std::vector<int32_t>> shards(p_.slices().size());
    bool any = false;
    for (size_t s = 0; s < p_.slices().size(); ++s) {
      shards[s] = p_.bound(static_cast<uint32_t>(s))
                      .ShardsOn(in_.first_device() + static_cast<int64_t>(d));
      any |= !shards[s].empty();
      out_.num_own_shards += shards[s].size();
    }
    if (!any) continue;
    auto device = std::make_unique<DeviceProgram>();
    device->plan = &p_;
    device->program = out_.program;
    device->incarnation = out_.incarnation;
    device->device = static_cast<uint32_t>(d);
    device->window = p_.window();
    device->shards = std::move(shards);
    out_.devices[d] = std::move(device);
  }
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
  ByteSum sum;
  for (const auto& device : out_.devices) {
    if (device == nullptr) continue;
    for (int a = 0; a < plan().actions_size(); ++a) {
      const proto::Action& action = plan().actions(a);
      const std::vector<int32_t>& shards = device->shards[action.slice()];
      sum.Add(sizeof(Entry) + 5 * p_.window(), shards.size());
      sum.Add((sizeof(InEdge) + 4 * p_.window()) * p_.in_edges(a).size() +
                  sizeof(OutToken) * p_.out_edges(a).size(),
              shards.size());
      if (dispatch_.prepares()) {
        sum.Add(sizeof(OutToken), shards.size());
        sum.Add(sizeof(DispatchTable::Item) + 4 * p_.window());
      }
      if (action.kind() != proto::SEND && action.kind() != proto::RECV) {
        continue;
      }
      const bool send = action.kind() == proto::SEND;
      const layout::Movement& movement = p_.movement(send ? a : action.peer());
      for (int32_t shard : shards) {
        sum.Add(sizeof(PieceOut) + sizeof(layout::Piece),
                send ? movement.NumPiecesFrom(shard)
                     : movement.NumPiecesInto(shard));
      }
    }
  }
  if (sum.total() <= arena.room()) return absl::OkStatus();
  lacking_ = sum.total();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the tables of program '", p_.name(), "' need ", sum.total(),
      " bytes of ", arena.name(), ", where ", arena.used(), " of ",
      arena.bound(), " bytes are used", Tag(ErrorId::kNoHostMemory)));
}

void HostProgramBuilder::SetGroupMemory() {
  if (!memory_.has_host_memory()) return;
  for (size_t i = 0; i < out_.flag_barriers.size(); ++i) {
    out_.flag_barriers[i]->SetMemory(memory_.AddressOf(small_at_[i]));
  }
  for (size_t g = 0; g < out_.groups.size(); ++g) {
    HostGroup& group = out_.groups[g];
    char* const at = memory_.AddressOf(group_at_[g]);
    if (group.exchange != nullptr) {
      group.exchange->SetMemory(at, AlignBuffer(group.exchange->slot_bytes()));
    } else {
      group.SetMemory(at);
    }
  }
}

void HostProgramBuilder::LayOut(DeviceProgram* device) {
  const int num_actions = plan().actions_size();
  device->first_entry.assign(num_actions, kNoEntry);
  for (int a = 0; a < num_actions; ++a) {
    const proto::Action& action = plan().actions(a);
    const std::vector<int32_t>& shards = device->shards[action.slice()];
    if (shards.empty()) continue;
    device->max_shards =
        std::max(device->max_shards, static_cast<uint32_t>(shards.size()));
    device->first_entry[a] = static_cast<uint32_t>(device->entries.size());
    for (int32_t shard : shards) {
      Entry entry;
      entry.action = a;
      entry.shard = shard;
      entry.kind = static_cast<uint8_t>(action.kind());
      entry.queued = action.kind() == proto::GANG;
      entry.need = dispatch_.prepares();
      device->entries.push_back(entry);
    }
    for (uint32_t e : p_.in_edges(a)) {
      if (p_.edges()[e].elided) continue;
      out_.edge_bases[out_.EdgeAt(e, device->device)] =
          static_cast<uint32_t>(device->in_edges.size());
      for (size_t k = 0; k < shards.size(); ++k) {
        device->in_edges.push_back(
            {device->first_entry[a] + static_cast<uint32_t>(k), e,
             Expected(p_.edges()[e], shards[k])});
      }
    }
    if (action.kind() != proto::RECV) continue;
    // A recv shard that receives no pieces is its own sender: the credits that
    // would go to its senders go to the recv itself.
    for (uint32_t e : p_.in_edges(action.peer())) {
      const PreparedEdge& edge = p_.edges()[e];
      if (edge.relation != proto::PIECES || edge.kind == proto::DATA) {
        continue;
      }
      self_bases_[out_.EdgeAt(e, device->device)] =
          static_cast<uint32_t>(device->in_edges.size());
      for (size_t k = 0; k < shards.size(); ++k) {
        const bool own =
            p_.movement(action.peer()).NumPiecesInto(shards[k]) == 0;
        device->in_edges.push_back(
            {device->first_entry[a] + static_cast<uint32_t>(k), e, own});
      }
    }
  }
  for (const InEdge& in : device->in_edges) {
    device->entries[in.entry].need += in.expected;
  }
  for (uint32_t i = 0; i < device->entries.size(); ++i) {
    if (device->entries[i].kind != proto::GANG) {
      device->move_entries.push_back(i);
    }
  }
}

uint32_t HostProgramBuilder::Expected(const PreparedEdge& edge,
                                      int32_t shard) const {
  if (edge.relation != proto::PIECES) return 1;
  const layout::Movement& movement = p_.movement(edge.send);
  return static_cast<uint32_t>(edge.kind == proto::DATA
                                   ? movement.NumPiecesInto(shard)
                                   : movement.NumPiecesFrom(shard));
}

void HostProgramBuilder::ResetCounters(DeviceProgram* device) {
  const uint64_t window = device->window;
  device->counts.assign(device->entries.size() * window, dispatch_.prepares());
  device->poison.assign(device->entries.size() * window, 0);
  device->arrived.assign(device->in_edges.size() * window, 0);
  for (const InEdge& in : device->in_edges) {
    // Firings below the edge's tokens do not wait for it.
    for (uint64_t n = p_.edges()[in.edge].tokens; n < window; ++n) {
      device->counts[device->EntryAt(in.entry, n)] += in.expected;
    }
  }
}

void HostProgramBuilder::CutValues() {
  auto cut = [&](int slice, uint32_t buffer) {
    HostBlocks blocks;
    for (const auto& device : out_.devices) {
      if (device == nullptr) continue;
      blocks.shards.insert(blocks.shards.end(), device->shards[slice].begin(),
                           device->shards[slice].end());
    }
    std::sort(blocks.shards.begin(), blocks.shards.end());
    const PreparedBuffer& b = p_.buffers()[buffer];
    blocks.parts = CutParts(b.layout, p_.slices()[slice].mesh, b.element_bytes,
                            blocks.shards);
    return blocks;
  };
  const proto::Interface& interface = plan().interface();
  for (const proto::Argument& argument : interface.arguments()) {
    const proto::Action& feed = plan().actions(argument.action());
    arguments_.push_back(cut(feed.slice(), feed.results(0)));
    out_.argument_bytes.push_back(arguments_.back().parts.step_bytes);
  }
  for (const proto::Result& result : interface.results()) {
    const proto::Action& fetch = plan().actions(result.action());
    results_.push_back(cut(fetch.slice(), fetch.operands(0)));
    out_.result_bytes.push_back(results_.back().parts.step_bytes);
  }
}

void HostProgramBuilder::CountAll() {
  for (const auto& device : out_.devices) {
    if (device == nullptr) continue;
    device->groups = out_.groups.data();
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
