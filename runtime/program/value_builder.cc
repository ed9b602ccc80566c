//===- value_builder.cc - Builder of feeds and fetches --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/value_builder.h"

#include <algorithm>
#include <utility>

namespace pathways {

Part ValueBuilder::HostBlocks::Of(uint32_t shard) const {
  const auto at = std::lower_bound(shards.begin(), shards.end(),
                                   static_cast<int32_t>(shard));
  const int32_t part = parts.part_of[at - shards.begin()];
  return part < 0 ? Part{} : parts.parts[part];
}

ValueBuilder::ValueBuilder(const PreparedPlan& plan,
                           const DevicePrograms& devices)
    : plan_(plan) {
  const proto::Plan& tables = plan.plan();
  for (const proto::Argument& argument : tables.interface().arguments()) {
    const proto::Action& feed = tables.actions(argument.action());
    arguments_.push_back(Cut(devices, feed.slice(), feed.results(0)));
  }
  for (const proto::Result& result : tables.interface().results()) {
    const proto::Action& fetch = tables.actions(result.action());
    results_.push_back(Cut(devices, fetch.slice(), fetch.operands(0)));
  }
}

ValueBuilder::HostBlocks ValueBuilder::Cut(const DevicePrograms& devices,
                                           uint32_t slice,
                                           uint32_t buffer) const {
  HostBlocks blocks;
  for (const auto& device : devices) {
    if (device == nullptr) continue;
    blocks.shards.insert(blocks.shards.end(), device->shards[slice].begin(),
                         device->shards[slice].end());
  }
  std::sort(blocks.shards.begin(), blocks.shards.end());
  const PreparedBuffer& b = plan_.buffers()[buffer];
  blocks.parts = CutParts(b.layout, plan_.slices()[slice].mesh, b.element_bytes,
                          blocks.shards);
  return blocks;
}

std::vector<uint64_t> ValueBuilder::ArgumentBytes() const {
  std::vector<uint64_t> bytes;
  for (const HostBlocks& blocks : arguments_) {
    bytes.push_back(blocks.parts.step_bytes);
  }
  return bytes;
}

std::vector<uint64_t> ValueBuilder::ResultBytes() const {
  std::vector<uint64_t> bytes;
  for (const HostBlocks& blocks : results_) {
    bytes.push_back(blocks.parts.step_bytes);
  }
  return bytes;
}

void ValueBuilder::MakeOps(const ProgramMemory& memory,
                           DeviceProgram* device) const {
  for (uint32_t i : device->move_entries) {
    Entry& entry = device->entries[i];
    const int64_t k = i - device->first_entry[entry.action];
    if (entry.kind == proto::FEED) {
      device->feed_entries.push_back(i);
      entry.op = static_cast<uint32_t>(device->feeds.size());
      device->feeds.push_back(MakeFeed(memory, device->device, entry, k));
    } else if (entry.kind == proto::FETCH) {
      entry.op = static_cast<uint32_t>(device->fetches.size());
      device->fetches.push_back(MakeFetch(memory, device->device, entry, k));
    }
  }
}

FeedOp ValueBuilder::MakeFeed(const ProgramMemory& memory, uint32_t device,
                              const Entry& entry, int64_t k) const {
  const proto::Action& action = plan_.plan().actions(entry.action);
  const proto::Argument& argument = plan_.argument(entry.action);
  FeedOp op;
  op.argument = action.interface();
  op.stepped = argument.stepped();
  op.carried = argument.carried();
  op.buffer = &plan_.buffers()[action.results(0)];
  op.to = memory.RefOf(action.results(0), device, k);
  if (op.carried && action.operands_size() > 0) {
    op.carried_from = memory.RefOf(action.operands(0), device, k);
  }
  const layout::Mesh& mesh = plan_.slices()[action.slice()].mesh;
  op.extent = layout::ShardBox(op.buffer->layout, mesh, entry.shard).extent;
  op.zeros.assign(op.buffer->shape.size(), 0);
  op.bytes = op.buffer->element_bytes;
  for (int64_t size : op.buffer->shape) op.bytes *= size;
  op.part = arguments_[op.argument].Of(entry.shard);
  if (!op.stepped && !op.carried && op.buffer->is_alone) {
    op.placed.assign(op.to.credits, 0);
  }
  return op;
}

FetchOp ValueBuilder::MakeFetch(const ProgramMemory& memory, uint32_t device,
                                const Entry& entry, int64_t k) const {
  const proto::Action& action = plan_.plan().actions(entry.action);
  FetchOp op;
  op.result = action.interface();
  op.stepped = plan_.plan().interface().results(action.interface()).stepped();
  op.buffer = &plan_.buffers()[action.operands(0)];
  op.from = memory.RefOf(action.operands(0), device, k);
  const layout::Mesh& mesh = plan_.slices()[action.slice()].mesh;
  op.extent = layout::ShardBox(op.buffer->layout, mesh, entry.shard).extent;
  op.zeros.assign(op.buffer->shape.size(), 0);
  op.part = results_[op.result].Of(entry.shard);
  op.writes =
      op.part.bytes > 0 && op.part.shard == static_cast<int32_t>(entry.shard);
  return op;
}

}  // namespace pathways
