//===- host_program_moves.cc - Pieces, tokens, values ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "runtime/plan/tables.h"
#include "runtime/program/host_program_builder.h"
#include "runtime/program/token_record.h"

namespace pathways {

void HostProgramBuilder::MakeMoves(DeviceProgram* device) {
  for (uint32_t i = 0; i < device->entries.size(); ++i) {
    Entry& entry = device->entries[i];
    const proto::Action& action = plan().actions(entry.action);
    const int64_t k = i - device->first_entry[entry.action];
    switch (action.kind()) {
      case proto::SEND:
        MakeSend(device, &entry, action, k);
        break;
      case proto::RECV:
        MakeRecv(device, &entry, action, k);
        break;
      default:
        break;
    }
  }
}

OutToken HostProgramBuilder::TokenTo(const DeviceProgram& from, uint32_t edge,
                                     int64_t shard) {
  const PreparedEdge& e = p_.edges()[edge];
  const uint32_t slice = plan().actions(e.to).slice();
  const Topology::Place place = in_.PlaceOf(slice, shard);
  OutToken token;
  token.poisons = e.poisons;
  token.tokens = static_cast<uint16_t>(e.tokens);
  if (place.host != out_.host) {
    token.type = reach_.is_far != nullptr && reach_.is_far(place.host)
                     ? OutToken::kOtherProcess
                     : OutToken::kOtherHost;
    token.target = edge;
    token.shard = static_cast<uint32_t>(shard);
    token.where = place.host;
    return token;
  }
  token.target = out_.edge_bases.At(edge, place.device);
  if (token.target != kNoEntry) {
    token.target += static_cast<uint32_t>(p_.bound(slice).index_of[shard]);
  }
  if (place.device == static_cast<int>(from.device)) return token;
  const std::vector<uint32_t>& cohorts = host_actors_.cohorts;
  if (cohorts[place.device] == cohorts[from.device]) {
    token.type = OutToken::kSameWorker;
    token.where = place.device;
  } else {
    token.type = OutToken::kSameHost;
    token.where = IndexOf(host_actors_.devices[place.device]);
  }
  return token;
}

const std::vector<layout::Piece>& HostProgramBuilder::PiecesInto(
    uint32_t send, int32_t shard) {
  auto [it, fresh] = into_.try_emplace({send, shard});
  if (fresh) it->second = p_.movement(send).PiecesInto(shard);
  return it->second;
}

void HostProgramBuilder::MakeAllEdges() {
  out_.all_of_edge.assign(p_.edges().size(), -1);
  for (size_t e = 0; e < p_.edges().size(); ++e) {
    const PreparedEdge& edge = p_.edges()[e];
    if (edge.relation != proto::ALL || edge.elided) continue;
    const uint32_t from = plan().actions(edge.from).slice();
    const uint32_t to = plan().actions(edge.to).slice();
    HostAllEdge all;
    all.edge = static_cast<uint32_t>(e);
    all.all_sources = static_cast<uint32_t>(p_.slices()[from].num_shards);
    for (const auto& device : out_.devices) {
      if (device == nullptr) continue;
      all.own_sources += device->shards[from].size();
      for (size_t k = 0; k < device->shards[to].size(); ++k) {
        all.targets.push_back(
            {device->device, BaseOf(e, *device) + static_cast<uint32_t>(k)});
      }
    }
    if (all.own_sources == 0 && all.targets.empty()) continue;
    if (all.own_sources > 0) {
      for (const auto& [host, count] : p_.bound(to).hosts) {
        if (host != out_.host) all.target_hosts.push_back(host);
      }
    }
    all.left.assign(p_.window(), all.own_sources);
    all.arrived.assign(p_.window(), 0);
    all.left_poison.assign(p_.window(), 0);
    all.arrived_poison.assign(p_.window(), 0);
    out_.all_of_edge[e] = static_cast<int32_t>(out_.all_edges.size());
    out_.all_edges.push_back(std::move(all));
  }
}

void HostProgramBuilder::MakeOps(DeviceProgram* device) {
  for (int a = 0; a < plan().actions_size(); ++a) {
    const proto::Action& action = plan().actions(a);
    if (action.kind() != proto::SEND || device->first_entry[a] == kNoEntry) {
      continue;
    }
    // Reserve staging for every piece of every local shard that leaves the
    // host.
    const proto::Buffer& to =
        plan().buffers(plan().actions(action.peer()).results(0));
    const PreparedBuffer& from = p_.buffers()[action.operands(0)];
    const uint32_t slice = plan().actions(action.peer()).slice();
    for (int32_t shard : device->shards[action.slice()]) {
      for (const layout::Piece& piece : p_.movement(a).PiecesFrom(shard)) {
        const int host = in_.PlaceOf(slice, piece.destination).host;
        if (host == out_.host || LentOffset(from, piece, host) >= 0) continue;
        uint64_t bytes = from.element_bytes;
        for (int64_t size : piece.extent) bytes *= size;
        staging_.push_back(memory_.Reserve(
            AlignBuffer(bytes), std::max<uint32_t>(1, to.credits())));
      }
    }
  }
}

int64_t HostProgramBuilder::LentOffset(const PreparedBuffer& from,
                                       const layout::Piece& piece,
                                       int host) const {
  if (reach_.lends == nullptr || !reach_.lends(host)) return -1;
  uint64_t bytes = from.element_bytes;
  for (int64_t size : piece.extent) bytes *= size;
  return bytes < kMinLentBytes ? -1 : DenseOffset(from, piece);
}

int64_t HostProgramBuilder::DenseOffset(const PreparedBuffer& from,
                                        const layout::Piece& piece) {
  const int64_t offset =
      layout::DenseOffset(from.shape, piece.source_offset, piece.extent);
  return offset < 0 ? -1 : offset * from.element_bytes;
}

void HostProgramBuilder::MakeSend(DeviceProgram* device, Entry* entry,
                                  const proto::Action& action, int64_t k) {
  SendOp op;
  op.from = memory_.RefOf(action.operands(0), device->device, k);
  op.away.assign(p_.window(), 0);
  op.begin = static_cast<uint32_t>(device->pieces.size());
  uint32_t edge = kNoEntry;
  for (uint32_t e : p_.out_edges(entry->action)) {
    if (p_.edges()[e].kind == proto::DATA &&
        p_.edges()[e].relation == proto::PIECES) {
      edge = e;
    }
  }
  const proto::Action& recv = plan().actions(action.peer());
  for (layout::Piece& piece :
       p_.movement(entry->action).PiecesFrom(entry->shard)) {
    PieceOut out;
    out.token = TokenTo(*device, edge, piece.destination);
    out.source = &p_.buffers()[action.operands(0)];
    out.destination = &p_.buffers()[recv.results(0)];
    out.bytes = out.source->element_bytes;
    for (int64_t size : piece.extent) out.bytes *= size;
    out.from = op.from;
    if (out.token.leaves_host()) {
      out.lent_offset =
          LentOffset(*out.source, piece, static_cast<int>(out.token.where));
    }
    if (out.token.type == OutToken::kOtherProcess &&
        out.bytes <= kMaxMemberBytes && op.from.base != nullptr) {
      out.member_offset = DenseOffset(*out.source, piece);
    }
    out.zeros.assign(piece.extent.size(), 0);
    out.source_offset = std::move(piece.source_offset);
    out.destination_offset = std::move(piece.destination_offset);
    out.extent = std::move(piece.extent);
    if (out.lent_offset >= 0) {
      // The piece is read in place.
    } else if (out.token.leaves_host()) {
      const uint64_t at = staging_[next_staging_++];
      out.to.credits =
          std::max<uint32_t>(1, plan().buffers(recv.results(0)).credits());
      out.to.base = memory_.AddressOf(at);
      if (out.to.base != nullptr) out.to.stride = AlignBuffer(out.bytes);
    } else {
      const Topology::Place place =
          in_.PlaceOf(recv.slice(), piece.destination);
      out.to = memory_.RefOf(
          recv.results(0), place.device,
          out_.devices[place.device]->LocalIndex(
              recv.slice(), static_cast<uint32_t>(piece.destination)));
    }
    device->pieces.push_back(std::move(out));
  }
  op.end = static_cast<uint32_t>(device->pieces.size());
  entry->op = static_cast<uint32_t>(device->sends.size());
  device->sends.push_back(op);
}

void HostProgramBuilder::MakeRecv(DeviceProgram* device, Entry* entry,
                                  const proto::Action& action, int64_t k) {
  const layout::Movement& movement = p_.movement(action.peer());
  const PreparedSlice& slice = p_.slices()[action.slice()];
  RecvOp op;
  op.to = memory_.RefOf(action.results(0), device->device, k);
  op.buffer = &p_.buffers()[action.results(0)];
  op.valid =
      layout::ShardBox(op.buffer->layout, slice.mesh, entry->shard).extent;
  const std::vector<layout::Piece>& pieces =
      PiecesInto(action.peer(), entry->shard);
  if (movement.NeedsFill(entry->shard)) {
    op.fill = !pieces.empty()                        ? RecvOp::kPadding
              : movement.FillsIdentity(entry->shard) ? RecvOp::kIdentity
                                                     : RecvOp::kZero;
  }
  uint32_t edge = kNoEntry;
  for (uint32_t e : p_.in_edges(entry->action)) {
    if (p_.edges()[e].kind == proto::DATA &&
        p_.edges()[e].relation == proto::PIECES) {
      edge = e;
    }
  }
  const uint32_t source_slice = plan().actions(action.peer()).slice();
  for (const layout::Piece& piece : pieces) {
    if (in_.PlaceOf(source_slice, piece.source).host == out_.host) continue;
    PieceIn in;
    in.source = static_cast<uint32_t>(piece.source);
    in.shard = entry->shard;
    in.device = device->device;
    in.in_edge = BaseOf(edge, *device) + static_cast<uint32_t>(k);
    in.destination = op.buffer;
    in.destination_offset = piece.destination_offset;
    in.extent = piece.extent;
    in.zeros.assign(piece.extent.size(), 0);
    in.to = op.to;
    in.bytes = op.buffer->element_bytes;
    for (int64_t size : piece.extent) in.bytes *= size;
    in.dense_offset = layout::DenseOffset(
        op.buffer->shape, piece.destination_offset, piece.extent);
    if (in.dense_offset > 0) in.dense_offset *= op.buffer->element_bytes;
    received_[entry->action].push_back(std::move(in));
  }
  entry->op = static_cast<uint32_t>(device->recvs.size());
  device->recvs.push_back(std::move(op));
}

void HostProgramBuilder::SortReceived() {
  size_t all = 0;
  for (const auto& [action, pieces] : received_) all += pieces.size();
  out_.pieces_in.reserve(all);
  out_.piece_begin.reserve(plan().actions_size() + 1);
  for (auto& [action, pieces] : received_) {
    std::sort(pieces.begin(), pieces.end(),
              [](const PieceIn& a, const PieceIn& b) {
                return a.order() < b.order();
              });
    out_.piece_begin.resize(action + 1,
                            static_cast<uint32_t>(out_.pieces_in.size()));
    std::move(pieces.begin(), pieces.end(), std::back_inserter(out_.pieces_in));
  }
  out_.piece_begin.resize(plan().actions_size() + 1,
                          static_cast<uint32_t>(out_.pieces_in.size()));
}

void HostProgramBuilder::MakeTokens(DeviceProgram* device) {
  for (uint32_t i = 0; i < device->entries.size(); ++i) {
    Entry& entry = device->entries[i];
    const int64_t k = i - device->first_entry[entry.action];
    entry.out_begin = static_cast<uint32_t>(device->out.size());
    for (uint32_t e : p_.out_edges(entry.action)) {
      const PreparedEdge& edge = p_.edges()[e];
      if (edge.elided) continue;
      OutToken token;
      token.poisons = edge.poisons;
      token.tokens = static_cast<uint16_t>(edge.tokens);
      if (edge.relation == proto::ALL) {
        token.type = OutToken::kBroadcast;
        token.target = e;
        device->out.push_back(token);
      } else if (edge.relation == proto::SAME) {
        token.target = BaseOf(e, *device) + static_cast<uint32_t>(k);
        device->out.push_back(token);
      } else if (edge.kind != proto::DATA) {
        // Against the direction of the pieces, to the senders of this shard.
        const std::vector<layout::Piece>& pieces =
            PiecesInto(edge.send, entry.shard);
        for (const layout::Piece& piece : pieces) {
          device->out.push_back(TokenTo(*device, e, piece.source));
        }
        const uint32_t self = self_bases_.At(e, device->device);
        if (pieces.empty() && self != kNoEntry) {
          token.target = self + static_cast<uint32_t>(k);
          device->out.push_back(token);
        }
      }  // DATA edges: the token travels with the pieces
    }
    if (dispatch_.prepares()) {
      OutToken token;
      token.type = OutToken::kHostAction;
      token.target = entry.action;
      device->out.push_back(token);
    }
    entry.out_end = static_cast<uint32_t>(device->out.size());
    for (uint32_t e : p_.out_edges(entry.action)) {
      const PreparedEdge& edge = p_.edges()[e];
      if (!edge.elided || !edge.poisons) continue;
      OutToken token;
      token.poisons = true;
      token.target = device->first_entry[edge.to] + static_cast<uint32_t>(k);
      device->out.push_back(token);
    }
    entry.poison_end = static_cast<uint32_t>(device->out.size());
  }
}

void HostProgramBuilder::MakeDispatch() {
  auto table = std::make_unique<DispatchTable>();
  table->window = p_.window();
  table->item_of.assign(plan().actions_size(), -1);
  for (int a = 0; a < plan().actions_size(); ++a) {
    DispatchTable::Item item;
    item.action = a;
    for (const auto& device : out_.devices) {
      if (device == nullptr || device->first_entry[a] == kNoEntry) continue;
      item.devices.push_back(device->device);
      item.shards += device->shards[plan().actions(a).slice()].size();
    }
    if (item.shards == 0) continue;
    item.left.assign(p_.window(), item.shards);
    table->item_of[a] = static_cast<int32_t>(table->items.size());
    table->items.push_back(std::move(item));
  }
  for (uint32_t e = 0; e < p_.edges().size() && dispatch_.sequential; ++e) {
    const PreparedEdge& edge = p_.edges()[e];
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
      for (int32_t host : HostsOfPieces(edge, /*from_here=*/true)) {
        if (host != out_.host) {
          table->items[from].elsewhere.push_back({host, e});
        }
      }
    }
    if (to < 0) continue;
    for (int32_t host : HostsOfPieces(edge, /*from_here=*/false)) {
      if (host == out_.host) {
        add(/*remote=*/false, from);
        table->items[from].followers.push_back(to);
      } else {
        add(/*remote=*/true, table->remotes.size());
        table->remotes.push_back(
            {host, e, static_cast<uint32_t>(to), /*enqueued=*/0});
      }
    }
  }
  out_.dispatch = std::move(table);
}

std::set<int32_t> HostProgramBuilder::HostsOfPieces(const PreparedEdge& edge,
                                                    bool from_here) {
  const uint32_t own = plan().actions(from_here ? edge.from : edge.to).slice();
  const uint32_t other =
      plan().actions(from_here ? edge.to : edge.from).slice();
  std::set<int32_t> hosts;
  for (const auto& device : out_.devices) {
    if (device == nullptr) continue;
    for (int32_t shard : device->shards[own]) {
      if (from_here) {
        for (const layout::Piece& piece :
             p_.movement(edge.send).PiecesFrom(shard)) {
          hosts.insert(in_.PlaceOf(other, piece.destination).host);
        }
      } else {
        for (const layout::Piece& piece : PiecesInto(edge.send, shard)) {
          hosts.insert(in_.PlaceOf(other, piece.source).host);
        }
      }
    }
  }
  return hosts;
}

}  // namespace pathways
