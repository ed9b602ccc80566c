//===- token_builder.cc - Builder of outgoing tokens ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/token_builder.h"

#include <utility>

namespace pathways {

OutToken TokenBuilder::TokenTo(const DeviceProgram& from, uint32_t edge,
                               int64_t shard) const {
  const PreparedEdge& e = in_.plan.edges()[edge];
  const uint32_t slice = in_.action(e.to).slice();
  const Topology::Place place = in_.PlaceOf(slice, shard);
  OutToken token;
  token.poisons = e.poisons;
  token.tokens = static_cast<uint16_t>(e.tokens);
  if (place.host != in_.host) {
    token.type =
        in_.is_far(place.host) ? OutToken::kOtherProcess : OutToken::kOtherHost;
    token.target = edge;
    token.shard = static_cast<uint32_t>(shard);
    token.where = place.host;
    return token;
  }
  token.target = bases_.At(edge, place.device);
  if (token.target != kNoEntry) {
    token.target +=
        static_cast<uint32_t>(in_.plan.bound(slice).index_of[shard]);
  }
  if (place.device == static_cast<int>(from.device)) return token;
  const std::vector<uint32_t>& cohorts = in_.actors.cohorts;
  if (cohorts[place.device] == cohorts[from.device]) {
    token.type = OutToken::kSameWorker;
    token.where = place.device;
  } else {
    token.type = OutToken::kSameHost;
    token.where = IndexOf(in_.actors.devices[place.device]);
  }
  return token;
}

void TokenBuilder::MakeTokens(DeviceProgram* device) {
  for (uint32_t i = 0; i < device->entries.size(); ++i) {
    Entry& entry = device->entries[i];
    entry.out_begin = static_cast<uint32_t>(device->out.size());
    for (uint32_t e : in_.plan.out_edges(entry.action)) {
      if (!in_.plan.edges()[e].elided) AddTokens(device, i, e);
    }
    if (in_.dispatch.prepares()) {
      OutToken token;
      token.type = OutToken::kHostAction;
      token.target = entry.action;
      device->out.push_back(token);
    }
    entry.out_end = static_cast<uint32_t>(device->out.size());
    for (uint32_t e : in_.plan.out_edges(entry.action)) {
      const PreparedEdge& edge = in_.plan.edges()[e];
      if (!edge.elided || !edge.poisons) continue;
      OutToken token;
      token.poisons = true;
      token.target =
          device->first_entry[edge.to] + i - device->first_entry[entry.action];
      device->out.push_back(token);
    }
    entry.poison_end = static_cast<uint32_t>(device->out.size());
  }
}

void TokenBuilder::AddTokens(DeviceProgram* device, uint32_t i, uint32_t e) {
  const Entry& entry = device->entries[i];
  const uint32_t k = i - device->first_entry[entry.action];
  const PreparedEdge& edge = in_.plan.edges()[e];
  OutToken token;
  token.poisons = edge.poisons;
  token.tokens = static_cast<uint16_t>(edge.tokens);
  if (edge.relation == proto::ALL) {
    token.type = OutToken::kBroadcast;
    token.target = e;
    device->out.push_back(token);
  } else if (edge.relation == proto::SAME) {
    token.target = bases_.At(e, device->device) + k;
    device->out.push_back(token);
  } else if (edge.kind != proto::DATA) {
    // Against the direction of the pieces, to the senders of this shard.
    const std::vector<layout::Piece>& pieces =
        pieces_.Into(edge.send, static_cast<int32_t>(entry.shard));
    for (const layout::Piece& piece : pieces) {
      device->out.push_back(TokenTo(*device, e, piece.source));
    }
    const uint32_t self = self_bases_.At(e, device->device);
    if (pieces.empty() && self != kNoEntry) {
      token.target = self + k;
      device->out.push_back(token);
    }
  }  // DATA edges: the token travels with the pieces
}

std::vector<HostAllEdge> MakeAllEdges(const TableInputs& in,
                                      const DevicePrograms& devices,
                                      const EdgeBases& bases) {
  const PreparedPlan& plan = in.plan;
  std::vector<HostAllEdge> edges;
  for (uint32_t e = 0; e < plan.edges().size(); ++e) {
    const PreparedEdge& edge = plan.edges()[e];
    if (edge.relation != proto::ALL || edge.elided) continue;
    const uint32_t from = in.action(edge.from).slice();
    const uint32_t to = in.action(edge.to).slice();
    HostAllEdge all;
    all.edge = e;
    all.all_sources = static_cast<uint32_t>(plan.slices()[from].num_shards);
    for (const auto& device : devices) {
      if (device == nullptr) continue;
      all.own_sources += device->shards[from].size();
      for (size_t k = 0; k < device->shards[to].size(); ++k) {
        all.targets.push_back({device->device, bases.At(e, device->device) +
                                                   static_cast<uint32_t>(k)});
      }
    }
    if (all.own_sources == 0 && all.targets.empty()) continue;
    if (all.own_sources > 0) {
      for (const auto& [host, count] : plan.bound(to).hosts) {
        if (host != in.host) all.target_hosts.push_back(host);
      }
    }
    all.left.assign(plan.window(), all.own_sources);
    all.arrived.assign(plan.window(), 0);
    all.left_poison.assign(plan.window(), 0);
    all.arrived_poison.assign(plan.window(), 0);
    edges.push_back(std::move(all));
  }
  return edges;
}

}  // namespace pathways
