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
    out.token = tokens_.TokenTo(*device, edge, piece.destination);
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
      arriving_.Into(action.peer(), entry->shard);
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

}  // namespace pathways
