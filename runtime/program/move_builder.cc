//===- move_builder.cc - Builder of sends and recvs -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/move_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/base/buffer_bytes.h"
#include "runtime/program/token_record.h"

namespace pathways {
namespace {

uint64_t PieceBytes(const layout::Piece& piece, int64_t element_bytes) {
  uint64_t bytes = element_bytes;
  for (int64_t size : piece.extent) bytes *= size;
  return bytes;
}

// Returns the byte offset of a box in a shard's buffer, or -1 if the box is not
// contiguous there.
int64_t DenseBytes(const PreparedBuffer& buffer,
                   const std::vector<int64_t>& offset,
                   const std::vector<int64_t>& extent) {
  const int64_t at = layout::DenseOffset(buffer.shape, offset, extent);
  return at < 0 ? -1 : at * buffer.element_bytes;
}

// Returns the one of `edges` along which pieces move, or kNoEntry.
uint32_t PiecesEdge(const PreparedPlan& plan,
                    const std::vector<uint32_t>& edges) {
  uint32_t edge = kNoEntry;
  for (uint32_t e : edges) {
    if (plan.edges()[e].kind == proto::DATA &&
        plan.edges()[e].relation == proto::PIECES) {
      edge = e;
    }
  }
  return edge;
}

}  // namespace

void MoveBuilder::ReserveStaging(const DeviceProgram& device) {
  const proto::Plan& plan = in_.plan.plan();
  for (int a = 0; a < plan.actions_size(); ++a) {
    const proto::Action& send = in_.action(a);
    if (send.kind() != proto::SEND || device.first_entry[a] == kNoEntry) {
      continue;
    }
    const proto::Action& recv = in_.action(send.peer());
    const PreparedBuffer& from = in_.plan.buffers()[send.operands(0)];
    const uint32_t credits =
        std::max<uint32_t>(1, plan.buffers(recv.results(0)).credits());
    for (int32_t shard : device.shards[send.slice()]) {
      for (const layout::Piece& piece :
           in_.plan.movement(a).PiecesFrom(shard)) {
        const int host = in_.PlaceOf(recv.slice(), piece.destination).host;
        if (host == in_.host || LentOffset(from, piece, host) >= 0) continue;
        const uint64_t bytes = PieceBytes(piece, from.element_bytes);
        staging_.push_back(memory_.Reserve(AlignBuffer(bytes), credits));
      }
    }
  }
}

int64_t MoveBuilder::LentOffset(const PreparedBuffer& from,
                                const layout::Piece& piece, int host) const {
  if (!in_.lends(host) ||
      PieceBytes(piece, from.element_bytes) < kMinLentBytes) {
    return -1;
  }
  return DenseBytes(from, piece.source_offset, piece.extent);
}

void MoveBuilder::MakeOps(DeviceProgram* device) {
  for (uint32_t i : device->move_entries) {
    Entry& entry = device->entries[i];
    const int64_t k = i - device->first_entry[entry.action];
    if (entry.kind == proto::SEND) {
      entry.op = static_cast<uint32_t>(device->sends.size());
      device->sends.push_back(MakeSend(device, entry, k));
    } else if (entry.kind == proto::RECV) {
      entry.op = static_cast<uint32_t>(device->recvs.size());
      device->recvs.push_back(MakeRecv(*device, entry, k));
    }
  }
}

SendOp MoveBuilder::MakeSend(DeviceProgram* device, const Entry& entry,
                             int64_t k) {
  const proto::Action& send = in_.action(entry.action);
  SendOp op;
  op.from = memory_.RefOf(send.operands(0), device->device, k);
  if (send.has_guard()) {
    op.is_guarded = true;
    op.unless = send.guard().unless();
    op.guard = memory_.RefOf(send.guard().buffer(), device->device, k);
  }
  op.away.assign(in_.plan.window(), 0);
  op.begin = static_cast<uint32_t>(device->pieces.size());
  const uint32_t edge = PiecesEdge(in_.plan, in_.plan.out_edges(entry.action));
  for (layout::Piece& piece :
       in_.plan.movement(entry.action).PiecesFrom(entry.shard)) {
    device->pieces.push_back(
        MakePiece(*device, send, edge, op.from, std::move(piece)));
  }
  op.end = static_cast<uint32_t>(device->pieces.size());
  return op;
}

PieceOut MoveBuilder::MakePiece(const DeviceProgram& device,
                                const proto::Action& send, uint32_t edge,
                                const SlotRef& from, layout::Piece piece) {
  const proto::Action& recv = in_.action(send.peer());
  PieceOut out;
  out.token = tokens_.TokenTo(device, edge, piece.destination);
  out.source = &in_.plan.buffers()[send.operands(0)];
  out.destination = &in_.plan.buffers()[recv.results(0)];
  out.bytes = PieceBytes(piece, out.source->element_bytes);
  out.from = from;
  if (!out.token.leaves_host()) {
    const Topology::Place to = in_.PlaceOf(recv.slice(), piece.destination);
    const uint32_t k = devices_[to.device]->LocalIndex(
        recv.slice(), static_cast<uint32_t>(piece.destination));
    out.to = memory_.RefOf(recv.results(0), to.device, k);
  } else {
    out.lent_offset =
        LentOffset(*out.source, piece, static_cast<int>(out.token.where));
    if (out.token.type == OutToken::kOtherProcess &&
        out.bytes <= kMaxMemberBytes && from.base != nullptr) {
      out.member_offset =
          DenseBytes(*out.source, piece.source_offset, piece.extent);
    }
    if (out.lent_offset < 0) {
      const uint64_t staging = staging_[next_staging_++];
      out.to.credits = std::max<uint32_t>(
          1, in_.plan.plan().buffers(recv.results(0)).credits());
      out.to.base = memory_.AddressOf(staging);
      if (out.to.base != nullptr) out.to.stride = AlignBuffer(out.bytes);
    }
  }
  out.zeros.assign(piece.extent.size(), 0);
  out.source_offset = std::move(piece.source_offset);
  out.destination_offset = std::move(piece.destination_offset);
  out.extent = std::move(piece.extent);
  return out;
}

RecvOp MoveBuilder::MakeRecv(const DeviceProgram& device, const Entry& entry,
                             int64_t k) {
  const proto::Action& action = in_.action(entry.action);
  const layout::Movement& movement = in_.plan.movement(action.peer());
  const layout::Mesh& mesh = in_.plan.slices()[action.slice()].mesh;
  RecvOp op;
  op.to = memory_.RefOf(action.results(0), device.device, k);
  op.buffer = &in_.plan.buffers()[action.results(0)];
  op.valid = layout::ShardBox(op.buffer->layout, mesh, entry.shard).extent;
  const std::vector<layout::Piece>& pieces =
      arriving_.Into(action.peer(), static_cast<int32_t>(entry.shard));
  if (movement.NeedsFill(entry.shard)) {
    op.fill = !pieces.empty()                       ? RecvOp::kPadding
              : movement.FillsIdentity(entry.shard) ? RecvOp::kIdentity
                                                    : RecvOp::kZero;
  }
  const uint32_t edge = PiecesEdge(in_.plan, in_.plan.in_edges(entry.action));
  const uint32_t source_slice = in_.action(action.peer()).slice();
  for (const layout::Piece& piece : pieces) {
    if (in_.PlaceOf(source_slice, piece.source).host == in_.host) continue;
    PieceIn in;
    in.source = static_cast<uint32_t>(piece.source);
    in.shard = entry.shard;
    in.device = device.device;
    in.in_edge = bases_.At(edge, device.device) + static_cast<uint32_t>(k);
    in.destination = op.buffer;
    in.destination_offset = piece.destination_offset;
    in.extent = piece.extent;
    in.zeros.assign(piece.extent.size(), 0);
    in.to = op.to;
    in.bytes = PieceBytes(piece, op.buffer->element_bytes);
    in.dense_offset =
        DenseBytes(*op.buffer, piece.destination_offset, piece.extent);
    received_[entry.action].push_back(std::move(in));
  }
  return op;
}

void MoveBuilder::TakeReceived(std::vector<PieceIn>* pieces,
                               std::vector<uint32_t>* piece_begin) {
  const int num_actions = in_.plan.plan().actions_size();
  size_t all = 0;
  for (const auto& [action, of] : received_) all += of.size();
  pieces->reserve(all);
  piece_begin->reserve(num_actions + 1);
  for (auto& [action, of] : received_) {
    std::sort(of.begin(), of.end(), [](const PieceIn& a, const PieceIn& b) {
      return a.order() < b.order();
    });
    piece_begin->resize(action + 1, static_cast<uint32_t>(pieces->size()));
    std::move(of.begin(), of.end(), std::back_inserter(*pieces));
  }
  piece_begin->resize(num_actions + 1, static_cast<uint32_t>(pieces->size()));
}

}  // namespace pathways
