//===- dispatch_builder.cc - Builder of a dispatch table ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/dispatch_builder.h"

#include <cstdint>
#include <set>
#include <utility>

#include "runtime/program/edge_bases.h"

namespace pathways {
namespace {

// Return the hosts, ascending, to which shards of this host send pieces along a
// data edge, and those from which they receive some.
std::set<int32_t> Receivers(const TableInputs& in,
                            const DevicePrograms& devices,
                            const PreparedEdge& edge) {
  const uint32_t own = in.action(edge.from).slice();
  const uint32_t other = in.action(edge.to).slice();
  std::set<int32_t> hosts;
  for (const auto& device : devices) {
    if (device == nullptr) continue;
    for (int32_t shard : device->shards[own]) {
      for (const layout::Piece& piece :
           in.plan.movement(edge.send).PiecesFrom(shard)) {
        hosts.insert(in.PlaceOf(other, piece.destination).host);
      }
    }
  }
  return hosts;
}

std::set<int32_t> Senders(const TableInputs& in, const DevicePrograms& devices,
                          const PreparedEdge& edge, ArrivingPieces* pieces) {
  const uint32_t own = in.action(edge.to).slice();
  const uint32_t other = in.action(edge.from).slice();
  std::set<int32_t> hosts;
  for (const auto& device : devices) {
    if (device == nullptr) continue;
    for (int32_t shard : device->shards[own]) {
      for (const layout::Piece& piece : pieces->Into(edge.send, shard)) {
        hosts.insert(in.PlaceOf(other, piece.source).host);
      }
    }
  }
  return hosts;
}

// Adds an item for each action with shards on this host.
void AddItems(const TableInputs& in, const DevicePrograms& devices,
              DispatchTable* table) {
  const int num_actions = in.plan.plan().actions_size();
  table->item_of.assign(num_actions, -1);
  for (int a = 0; a < num_actions; ++a) {
    DispatchTable::Item item;
    item.action = a;
    for (const auto& device : devices) {
      if (device == nullptr || device->first_entry[a] == kNoEntry) continue;
      item.devices.push_back(device->device);
      item.shards += device->shards[in.action(a).slice()].size();
    }
    if (item.shards == 0) continue;
    item.left.assign(table->window, item.shards);
    table->item_of[a] = static_cast<int32_t>(table->items.size());
    table->items.push_back(std::move(item));
  }
}

}  // namespace

std::unique_ptr<DispatchTable> MakeDispatch(const TableInputs& in,
                                            const DevicePrograms& devices,
                                            ArrivingPieces* pieces) {
  if (!in.dispatch.prepares()) return nullptr;
  auto table = std::make_unique<DispatchTable>();
  table->window = in.plan.window();
  AddItems(in, devices, table.get());
  if (!in.dispatch.sequential) return table;
  for (uint32_t e = 0; e < in.plan.edges().size(); ++e) {
    const PreparedEdge& edge = in.plan.edges()[e];
    if (edge.kind != proto::DATA) continue;
    const int32_t from = table->item_of[edge.from];
    const int32_t to = table->item_of[edge.to];
    auto add = [&](bool remote, size_t index) {
      table->items[to].sources.push_back(
          {remote, static_cast<uint32_t>(index), edge.tokens});
    };
    if (edge.relation == proto::SAME) {
      if (to < 0) continue;
      add(/*remote=*/false, from);
      table->items[from].followers.push_back(to);
      continue;
    }
    if (from >= 0) {
      for (int32_t host : Receivers(in, devices, edge)) {
        if (host != in.host) table->items[from].elsewhere.push_back({host, e});
      }
    }
    if (to < 0) continue;
    for (int32_t host : Senders(in, devices, edge, pieces)) {
      if (host == in.host) {
        add(/*remote=*/false, from);
        table->items[from].followers.push_back(to);
      } else {
        add(/*remote=*/true, table->remotes.size());
        table->remotes.push_back(
            {host, e, static_cast<uint32_t>(to), /*enqueued=*/0});
      }
    }
  }
  return table;
}

}  // namespace pathways
