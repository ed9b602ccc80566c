//===- indexed_plan.cc - Tables of a plan, for quick reading --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/indexed_plan.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/expand_loops.h"
#include "runtime/plan/tables.h"

namespace pathways {

absl::StatusOr<std::shared_ptr<IndexedPlan>> IndexedPlan::Create(
    PlanData data) {
  std::shared_ptr<IndexedPlan> self(new IndexedPlan);
  self->data_ = std::move(data);
  if (!self->data_.tables.loops().empty())
    self->run_plan_ = WithoutLoops(self->data_.tables);
  const proto::Plan& plan = self->plan();
  self->window_ = std::max<uint32_t>(1, plan.header().steps_in_flight());
  self->slices_.resize(plan.slices_size());
  for (int s = 0; s < plan.slices_size(); ++s) {
    PreparedSlice& out = self->slices_[s];
    out.mesh = MeshOf(plan.slices(s));
    out.num_shards = layout::NumShards(out.mesh);
    out.device_bytes = SegmentBytes(plan, s, proto::DEVICE);
    out.host_bytes = SegmentBytes(plan, s, proto::HOST);
  }
  absl::Status done = self->CheckSize();
  if (!done.ok()) return done;

  self->buffers_.resize(plan.buffers_size());
  for (int b = 0; b < plan.buffers_size(); ++b) {
    PreparedBuffer& out = self->buffers_[b];
    out.slice = plan.buffers(b).slice();
    out.layout = LayoutOf(plan.layouts(plan.buffers(b).layout()));
    out.element = plan.layouts(plan.buffers(b).layout()).element();
    out.element_bytes = pathways::elementBytes(out.element);
    out.shape = layout::ShardShape(out.layout, self->slices_[out.slice].mesh);
  }
  self->FindShared();
  done = self->MakeMovements();
  if (!done.ok()) return done;
  self->MakeEdges();
  return self;
}

absl::Status IndexedPlan::CheckSize() const {
  uint64_t entries = 0;
  for (const proto::Action& action : plan().actions()) {
    entries += slices_[action.slice()].num_shards;
    if (entries > kMaxActionShards) break;
  }
  for (const proto::Edge& edge : plan().edges()) {
    entries += slices_[plan().actions(edge.to()).slice()].num_shards;
    if (entries > kMaxActionShards) break;
  }
  if (entries > kMaxActionShards / window_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("program '", name(), "' needs at least ", entries,
                     " counters of ", window_, " firings, more than the ",
                     kMaxActionShards, " that are supported"));
  }
  return absl::OkStatus();
}

absl::Status IndexedPlan::MakeMovements() {
  for (int a = 0; a < plan().actions_size(); ++a) {
    const proto::Action& action = plan().actions(a);
    if (action.kind() != proto::SEND) continue;
    const PreparedBuffer& source = buffers_[action.operands(0)];
    const PreparedBuffer& destination =
        buffers_[plan().actions(action.peer()).results(0)];
    std::string error;
    if (!layout::Movement::Create(
            source.layout, slices_[source.slice].mesh, destination.layout,
            slices_[destination.slice].mesh, source.slice == destination.slice,
            &movements_[a], &error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("send '", action.name(), "': ", error));
    }
    if (!source.layout.partial.empty() && !movements_[a].KeepsContributions()) {
      return absl::InvalidArgumentError(
          absl::StrCat("send '", action.name(), "' moves a partial buffer '",
                       plan().buffers(action.operands(0)).name(), "'"));
    }
  }
  return absl::OkStatus();
}

void IndexedPlan::MakeEdges() {
  in_edges_.resize(plan().actions_size());
  out_edges_.resize(plan().actions_size());
  for (int e = 0; e < plan().edges_size(); ++e) {
    const proto::Edge& edge = plan().edges(e);
    PreparedEdge out;
    out.from = edge.from();
    out.to = edge.to();
    out.tokens = edge.tokens();
    out.kind = edge.kind();
    out.relation = edge.relation();
    out.poisons = edge.kind() == proto::DATA || edge.kind() == proto::CONTROL;
    const proto::Action& from = plan().actions(edge.from());
    const proto::Action& to = plan().actions(edge.to());
    // Queue order: u's firing n is before v's firing n + t in every queue.
    // Poison for a later firing is not elided, as that firing may belong to
    // another launch.
    out.elided = edge.relation() == proto::SAME && from.kind() == proto::GANG &&
                 to.kind() == proto::GANG && from.slice() == to.slice() &&
                 (edge.from() < edge.to() ? !out.poisons || edge.tokens() == 0
                                          : !out.poisons && edge.tokens() > 0);
    if (edge.relation() == proto::PIECES) {
      out.send = edge.kind() == proto::DATA ? edge.from() : edge.to();
    }
    edges_.push_back(out);
    in_edges_[edge.to()].push_back(e);
    out_edges_[edge.from()].push_back(e);
  }
}

// Buffers with equal credits and stride advance through their slots together,
// so two of them overlap only if their first slots do. Buffers that advance
// differently count as sharing memory if the spans of all their slots overlap.
void IndexedPlan::FindShared() {
  struct Range {
    uint64_t begin = 0, end = 0;  // of the first slot
    uint32_t buffer = 0;
    bool operator<(const Range& other) const {
      return std::tie(begin, end, buffer) <
             std::tie(other.begin, other.end, other.buffer);
    }
  };
  struct Turn {
    uint64_t begin = UINT64_MAX, end = 0;  // of all slots
    std::vector<Range> ranges;
  };
  using Memory = std::tuple<uint32_t, int>;                  // slice, kind
  std::map<Memory, std::map<std::tuple<uint32_t, uint64_t>,  // credits, stride
                            Turn>>
      turns;
  for (int b = 0; b < plan().buffers_size(); ++b) {
    const proto::Buffer& buffer = plan().buffers(b);
    buffers_[b].is_alone = true;
    if (buffer.bytes() == 0) continue;
    Turn& turn = turns[{buffer.slice(), buffer.memory()}][{
        buffer.credits(), buffer.credits() > 1 ? buffer.slot_stride() : 0}];
    turn.begin = std::min(turn.begin, buffer.offset());
    turn.end = std::max(turn.end, buffer.offset() + SpanBytes(buffer));
    turn.ranges.push_back({buffer.offset(), buffer.offset() + buffer.bytes(),
                           static_cast<uint32_t>(b)});
  }
  auto share = [&](const Turn& turn) {
    for (const Range& range : turn.ranges) {
      buffers_[range.buffer].is_alone = false;
    }
  };
  for (auto& [memory, by_turn] : turns) {
    std::vector<const Turn*> order;
    for (auto& [key, turn] : by_turn) {
      order.push_back(&turn);
      std::sort(turn.ranges.begin(), turn.ranges.end());
      const Range* furthest = nullptr;
      for (const Range& range : turn.ranges) {
        // Any other range that overlaps this one also overlaps `furthest`.
        if (furthest != nullptr && range.begin < furthest->end) {
          buffers_[range.buffer].is_alone = false;
          buffers_[furthest->buffer].is_alone = false;
        }
        if (furthest == nullptr || range.end >= furthest->end) {
          furthest = &range;
        }
      }
    }
    for (const Turn* a : order) {
      for (const Turn* b : order) {
        if (a != b && a->begin < b->end && b->begin < a->end) share(*a);
      }
    }
  }
}

void IndexedPlan::SetCode(
    google::protobuf::RepeatedPtrField<proto::Kernel> kernels,
    absl::Span<const uint8_t> blobs, std::shared_ptr<const void> owner) {
  if (!data_.tables.loops().empty()) *run_plan_.mutable_kernels() = kernels;
  *data_.tables.mutable_kernels() = std::move(kernels);
  data_.blobs = blobs;
  data_.owner = std::move(owner);
}

}  // namespace pathways
