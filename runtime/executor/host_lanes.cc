//===- host_lanes.cc - Tokens and pieces that go together -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <utility>

#include "runtime/executor/host_executor.h"

namespace pathways {

void HostExecutor::ForwardLanes(LaneParcel* parcel) {
  for (const LaneRecord& record : parcel->records()) {
    WireMessage message = record.message;
    if (Find(message.program, message.incarnation) == nullptr) continue;
    Payload payload{record.data, record.bytes};
    if (message.item == 1) {  // it is one of the other kinds
      LaneHeader lane;
      std::memcpy(&lane, record.data, sizeof lane);
      message.kind =
          message.kind == kTokensMessage ? kTokenMessage : kPieceMessage;
      message.shard = lane.shard;
      message.item = lane.item;
      payload = {record.data + sizeof lane, record.bytes - sizeof lane};
      if (payload.bytes == 0) payload.data = nullptr;
    }
    SendToHost(record.host, message, payload);
  }
  parcel->GiveBack();
}

// Lanes of a record mostly follow each other where pieces are in order, too.
const PieceIn* HostExecutor::FindNextPiece(const HostProgram& program,
                                           uint32_t edge, LaneHeader lane,
                                           const PieceIn* last) const {
  if (last != nullptr) {
    const PieceIn* next = last + 1;
    const absl::Span<const PieceIn> pieces =
        program.PiecesOf(program.plan->edges()[edge].to);
    if (next != pieces.data() + pieces.size() && next->source == lane.item &&
        next->shard == lane.shard) {
      return next;
    }
  }
  return FindPiece(program, edge, lane.shard, lane.item);
}

bool HostExecutor::ReadLanes(const HostProgram& program,
                             const WireMessage& message, Payload payload,
                             LaneHere* lanes) const {
  const SliceBinding* target = TargetOf(program, message.target);
  if (message.item == 0 || message.item > kMaxLanes || target == nullptr ||
      payload.data == nullptr) {
    return false;
  }
  const bool has_pieces = message.kind == kPiecesMessage;
  const bool has_bytes = has_pieces && (message.flags & kPoisoned) == 0;
  const char* next = static_cast<const char*>(payload.data);
  uint64_t left = payload.bytes;
  uint64_t least = 0;  // so none is there twice
  const PieceIn* piece = nullptr;
  for (uint32_t i = 0; i < message.item; ++i) {
    LaneHeader header;
    if (left < sizeof header) return false;
    std::memcpy(&header, next, sizeof header);
    if (header.order() < least) return false;
    least = header.order() + 1;
    next += sizeof header;
    left -= sizeof header;
    LaneHere& here = lanes[i];
    here.piece = nullptr;
    if (!has_pieces) {
      here.lane = FindEntry(program, message.target, *target, header.shard);
      if (here.lane.in_edge == UINT32_MAX) return false;
      continue;
    }
    piece = FindNextPiece(program, message.target, header, piece);
    if (piece == nullptr) return false;
    here.lane = {piece->device, piece->in_edge};
    if (!has_bytes) continue;
    if (left < piece->bytes) return false;
    here.piece = piece;
    here.bytes = next;
    next += piece->bytes;
    left -= piece->bytes;
  }
  return left == 0;
}

void HostExecutor::OnLanes(HostProgram* program, const WireMessage& message,
                           Payload payload) {
  LaneHere lanes[kMaxLanes];
  // Of one that is none, nothing counts.
  if (!ReadLanes(*program, message, payload, lanes)) {
    return counters_.foreign.Add();
  }
  const auto all = absl::MakeConstSpan(lanes, message.item);
  for (const LaneHere& here : all) {
    // The sender had the credit of this slot, so nobody reads it now.
    if (here.piece != nullptr && here.piece->to.base != nullptr) {
      Place(*here.piece, message.step, here.bytes);
    }
  }
  LanesToDevices(*program, message, all);
}

void HostExecutor::LanesToDevices(const HostProgram& program,
                                  const WireMessage& message,
                                  absl::Span<const LaneHere> lanes) {
  arriving_.resize(program.cohort_sizes.size());
  for (const LaneHere& here : lanes) {
    ArrivedLanes*& arriving = arriving_[actors_.cohorts[here.lane.device]];
    if (arriving == nullptr) {
      arriving = arrived_.Take();
      arriving->Leave();
    }
    arriving->Add(here.lane);
  }
  LocalMessage tokens;
  tokens.kind = kLaneTokens;
  tokens.flags = message.flags & kPoisoned;
  tokens.program = program.program;
  tokens.incarnation = program.incarnation;
  tokens.step = message.step;
  for (ArrivedLanes*& arriving : arriving_) {
    if (arriving == nullptr) continue;
    tokens.payload = arriving;
    SendToDevice(arriving->lanes().front().device, tokens);
    arriving = nullptr;
  }
}

}  // namespace pathways
