//===- host_records.cc - Records of tokens and pieces ---------------------===//
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

void HostExecutor::ForwardRecords(RecordBatch* batch) {
  for (const TokenRecord& record : batch->records()) {
    WireMessage message = record.message;
    HostProgram* program = programs_.Find(message.program, message.incarnation);
    if (program == nullptr) continue;
    Payload payload{record.data, record.bytes};
    if (message.item == 1) {  // a single member is sent as a plain message
      MemberHeader member;
      std::memcpy(&member, record.data, sizeof member);
      message.kind =
          message.kind == kTokensMessage ? kTokenMessage : kPieceMessage;
      message.shard = member.shard;
      message.item = member.item;
      payload = {record.data + sizeof member, record.bytes - sizeof member};
      if (payload.bytes == 0) payload.data = nullptr;
    }
    outbox_.SendToHost(program, record.host, message, payload);
  }
  batch->Return();
}

// Consecutive members of a record mostly are consecutive pieces, too.
const PieceIn* HostExecutor::FindNextPiece(const HostProgram& program,
                                           uint32_t edge, MemberHeader member,
                                           const PieceIn* last) const {
  if (last != nullptr) {
    const PieceIn* next = last + 1;
    const absl::Span<const PieceIn> pieces =
        program.PiecesOf(program.plan->edges()[edge].to);
    if (next != pieces.data() + pieces.size() && next->source == member.item &&
        next->shard == member.shard) {
      return next;
    }
  }
  return FindPiece(program, edge, member.shard, member.item);
}

bool HostExecutor::ReadMembers(const HostProgram& program,
                               const WireMessage& message, Payload payload,
                               LocalMember* members) const {
  const SliceBinding* target = TargetOf(program, message.target);
  if (message.item == 0 || message.item > kMaxMembers || target == nullptr ||
      payload.data == nullptr) {
    return false;
  }
  const bool has_pieces = message.kind == kPiecesMessage;
  const bool has_bytes = has_pieces && (message.flags & kPoisoned) == 0;
  const char* next = static_cast<const char*>(payload.data);
  uint64_t left = payload.bytes;
  uint64_t least = 0;  // ensures ascending order without duplicates
  const PieceIn* piece = nullptr;
  for (uint32_t i = 0; i < message.item; ++i) {
    MemberHeader header;
    if (left < sizeof header) return false;
    std::memcpy(&header, next, sizeof header);
    if (header.order() < least) return false;
    least = header.order() + 1;
    next += sizeof header;
    left -= sizeof header;
    LocalMember& here = members[i];
    here.piece = nullptr;
    if (!has_pieces) {
      here.member = FindEntry(program, message.target, *target, header.shard);
      if (here.member.in_edge == UINT32_MAX) return false;
      continue;
    }
    piece = FindNextPiece(program, message.target, header, piece);
    if (piece == nullptr) return false;
    here.member = {piece->device, piece->in_edge};
    if (!has_bytes) continue;
    if (left < piece->bytes) return false;
    here.piece = piece;
    here.bytes = next;
    next += piece->bytes;
    left -= piece->bytes;
  }
  return left == 0;
}

void HostExecutor::OnRecord(HostProgram* program, const WireMessage& message,
                            Payload payload) {
  LocalMember members[kMaxMembers];
  // A malformed record has no effect.
  if (!ReadMembers(*program, message, payload, members)) {
    return counters_.foreign.Add();
  }
  const auto all = absl::MakeConstSpan(members, message.item);
  for (const LocalMember& here : all) {
    // The sender had the credit for this slot, so no entry reads it now.
    if (here.piece != nullptr && here.piece->to.base != nullptr) {
      Place(*here.piece, message.step, here.bytes);
    }
  }
  TokensToDevices(*program, message, all);
}

void HostExecutor::TokensToDevices(const HostProgram& program,
                                   const WireMessage& message,
                                   absl::Span<const LocalMember> members) {
  arriving_.resize(program.cohort_sizes.size());
  for (const LocalMember& here : members) {
    TokenBatch*& arriving = arriving_[actors_.cohorts[here.member.device]];
    if (arriving == nullptr) {
      arriving = arrived_.Take();
      arriving->Leave();
    }
    arriving->Add(here.member);
  }
  LocalMessage tokens;
  tokens.kind = kTokenBatch;
  tokens.flags = message.flags & kPoisoned;
  tokens.program = program.program;
  tokens.incarnation = program.incarnation;
  tokens.step = message.step;
  for (TokenBatch*& arriving : arriving_) {
    if (arriving == nullptr) continue;
    tokens.payload = arriving;
    outbox_.SendToDevice(arriving->members().front().device, tokens);
    arriving = nullptr;
  }
}

}  // namespace pathways
