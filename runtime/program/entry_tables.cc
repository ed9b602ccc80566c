//===- entry_tables.cc - Entries and in-edges of devices ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/entry_tables.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/buffer_bytes.h"

namespace pathways {
namespace {

// Returns the tokens of one firing that come along `edge` to `shard`.
uint32_t Expected(const PreparedPlan& plan, const PreparedEdge& edge,
                  int32_t shard) {
  if (edge.relation != proto::PIECES) return 1;
  const layout::Movement& movement = plan.movement(edge.send);
  return static_cast<uint32_t>(edge.kind == proto::DATA
                                   ? movement.NumPiecesInto(shard)
                                   : movement.NumPiecesFrom(shard));
}

void AddEntries(const TableInputs& in, uint32_t a, DeviceProgram* device) {
  const proto::Action& action = in.action(a);
  device->first_entry[a] = static_cast<uint32_t>(device->entries.size());
  for (int32_t shard : device->shards[action.slice()]) {
    Entry entry;
    entry.action = a;
    entry.shard = shard;
    entry.kind = static_cast<uint8_t>(action.kind());
    entry.queued = action.kind() == proto::GANG;
    entry.need = in.dispatch.prepares();
    device->entries.push_back(entry);
  }
}

}  // namespace

DevicePrograms MakeDevices(const TableInputs& in, uint32_t program,
                           uint32_t incarnation) {
  const size_t num_slices = in.plan.slices().size();
  DevicePrograms devices(in.topology.num_host_devices(in.host));
  for (size_t d = 0; d < devices.size(); ++d) {
    std::vector<std::vector<int32_t>> shards(num_slices);
    bool any = false;
    for (size_t s = 0; s < num_slices; ++s) {
      shards[s] = in.plan.bound(static_cast<uint32_t>(s))
                      .ShardsOn(in.first_device() + static_cast<int64_t>(d));
      any |= !shards[s].empty();
    }
    if (!any) continue;
    auto device = std::make_unique<DeviceProgram>();
    device->plan = &in.plan;
    device->program = program;
    device->incarnation = incarnation;
    device->device = static_cast<uint32_t>(d);
    device->window = in.plan.window();
    device->shards = std::move(shards);
    devices[d] = std::move(device);
  }
  return devices;
}

uint64_t TableBytes(const TableInputs& in, const DevicePrograms& devices) {
  const PreparedPlan& plan = in.plan;
  const uint64_t window = plan.window();
  uint64_t total = 0;
  auto add = [&total](uint64_t bytes, uint64_t times) {
    total = AddBytes(total, bytes, times);
  };
  for (const auto& device : devices) {
    if (device == nullptr) continue;
    for (int a = 0; a < plan.plan().actions_size(); ++a) {
      const proto::Action& action = in.action(a);
      const std::vector<int32_t>& shards = device->shards[action.slice()];
      add(sizeof(Entry) + 5 * window, shards.size());
      add((sizeof(InEdge) + 4 * window) * plan.in_edges(a).size() +
              sizeof(OutToken) * plan.out_edges(a).size(),
          shards.size());
      if (in.dispatch.prepares()) {
        add(sizeof(OutToken), shards.size());
        add(sizeof(DispatchTable::Item) + 4 * window, 1);
      }
      const bool send = action.kind() == proto::SEND;
      if (!send && action.kind() != proto::RECV) continue;
      const layout::Movement& movement =
          plan.movement(send ? a : action.peer());
      for (int32_t shard : shards) {
        add(sizeof(PieceOut) + sizeof(layout::Piece),
            send ? movement.NumPiecesFrom(shard)
                 : movement.NumPiecesInto(shard));
      }
    }
  }
  return total;
}

void LayOutEntries(const TableInputs& in, DeviceProgram* device,
                   EdgeBases* bases, EdgeBases* self_bases) {
  const PreparedPlan& plan = in.plan;
  const int num_actions = plan.plan().actions_size();
  device->first_entry.assign(num_actions, kNoEntry);
  for (int a = 0; a < num_actions; ++a) {
    const proto::Action& action = in.action(a);
    const std::vector<int32_t>& shards = device->shards[action.slice()];
    if (shards.empty()) continue;
    device->max_shards =
        std::max(device->max_shards, static_cast<uint32_t>(shards.size()));
    AddEntries(in, a, device);
    auto add_in_edge = [&](size_t k, uint32_t edge, uint32_t expected) {
      device->in_edges.push_back(
          {device->first_entry[a] + static_cast<uint32_t>(k), edge, expected});
    };
    for (uint32_t e : plan.in_edges(a)) {
      if (plan.edges()[e].elided) continue;
      bases->Set(e, device->device,
                 static_cast<uint32_t>(device->in_edges.size()));
      for (size_t k = 0; k < shards.size(); ++k) {
        add_in_edge(k, e, Expected(plan, plan.edges()[e], shards[k]));
      }
    }
    if (action.kind() != proto::RECV) continue;
    // A recv shard that receives no pieces is its own sender: the credits that
    // would go to its senders go to the recv itself.
    const layout::Movement& movement = plan.movement(action.peer());
    for (uint32_t e : plan.in_edges(action.peer())) {
      const PreparedEdge& edge = plan.edges()[e];
      if (edge.relation != proto::PIECES || edge.kind == proto::DATA) continue;
      self_bases->Set(e, device->device,
                      static_cast<uint32_t>(device->in_edges.size()));
      for (size_t k = 0; k < shards.size(); ++k) {
        add_in_edge(k, e, movement.NumPiecesInto(shards[k]) == 0);
      }
    }
  }
  for (const InEdge& edge : device->in_edges) {
    device->entries[edge.entry].need += edge.expected;
  }
  for (uint32_t i = 0; i < device->entries.size(); ++i) {
    if (device->entries[i].kind != proto::GANG) {
      device->move_entries.push_back(i);
    }
  }
}

void ResetCounters(const TableInputs& in, DeviceProgram* device) {
  const uint64_t window = device->window;
  device->counts.assign(device->entries.size() * window,
                        in.dispatch.prepares());
  device->poison.assign(device->entries.size() * window, 0);
  device->arrived.assign(device->in_edges.size() * window, 0);
  for (const InEdge& edge : device->in_edges) {
    // Firings below the edge's tokens do not wait for it.
    for (uint64_t n = in.plan.edges()[edge.edge].tokens; n < window; ++n) {
      device->counts[device->EntryAt(edge.entry, n)] += edge.expected;
    }
  }
}

}  // namespace pathways
