//===- host_tokens.cc - Tokens and pieces between hosts -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_tokens.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pathways {

void HostTokens::Forward(HostProgram* program, const LocalMessage& message) {
  WireMessage out;
  out.kind = message.kind == kForwardToken ? kTokenMessage : kPieceMessage;
  out.flags = message.flags & kPoisoned;
  out.program = message.program;
  out.incarnation = message.incarnation;
  out.target = message.target;
  out.shard = message.shard;
  out.item = message.item;
  out.step = message.step;
  const int host = static_cast<int>(message.extra);
  const Payload payload = {message.payload, message.payload_bytes};
  if (message.flags & kInPlace) {
    LendPiece(program, host, out, payload);
  } else {
    outbox_.SendToHost(program, host, out, payload);
  }
}

const SliceBinding* HostTokens::TargetOf(const HostProgram& program,
                                         uint32_t edge) {
  const PreparedPlan& plan = *program.plan;
  if (edge >= plan.edges().size()) return nullptr;
  return &plan.bound(plan.plan().actions(plan.edges()[edge].to).slice());
}

TokenBatch::Member HostTokens::FindEntry(const HostProgram& program,
                                         uint32_t edge,
                                         const SliceBinding& target,
                                         uint32_t shard) const {
  constexpr TokenBatch::Member kNone{0, UINT32_MAX};
  if (shard >= target.device_of.size()) return kNone;
  const auto device =  // wraps, or is too large, for a device of another host
      static_cast<uint64_t>(target.device_of[shard] - first_device_);
  if (device >= program.devices.size()) return kNone;
  const uint32_t base =
      program.edge_bases.At(edge, static_cast<uint32_t>(device));
  if (base == kNoEntry) return kNone;
  return {static_cast<uint32_t>(device),
          base + static_cast<uint32_t>(target.index_of[shard])};
}

const PieceIn* HostTokens::FindPiece(const HostProgram& program, uint32_t edge,
                                     uint32_t shard, uint32_t source) {
  const PreparedPlan& plan = *program.plan;
  if (edge >= plan.edges().size()) return nullptr;
  const absl::Span<const PieceIn> pieces =
      program.PiecesOf(plan.edges()[edge].to);
  const auto wanted = std::make_pair(source, shard);
  const auto piece = std::lower_bound(
      pieces.begin(), pieces.end(), wanted,
      [](const PieceIn& a, const auto& order) { return a.order() < order; });
  return piece != pieces.end() && piece->order() == wanted ? &*piece : nullptr;
}

void HostTokens::OnToken(HostProgram* program, const WireMessage& message) {
  const SliceBinding* target = TargetOf(*program, message.target);
  if (target == nullptr) return;
  const TokenBatch::Member here =
      FindEntry(*program, message.target, *target, message.shard);
  if (here.in_edge == UINT32_MAX) return;
  outbox_.SendToken(*program, here.device, here.in_edge, message.step,
                    message.flags & kPoisoned);
}

void HostTokens::OnPiece(HostProgram* program, const WireMessage& message,
                         Payload payload) {
  const PieceIn* piece =
      FindPiece(*program, message.target, message.shard, message.item);
  if (piece == nullptr) return;
  const bool poison = message.flags & kPoisoned;
  // The sender had the credit for this slot, so no entry reads it now.
  if (!poison && payload.data != nullptr && piece->to.base != nullptr &&
      payload.bytes == piece->bytes &&
      payload.data != piece->PlaceAt(message.step)) {
    Place(*piece, message.step, payload.data);
  }
  outbox_.SendToken(*program, piece->device, piece->in_edge, message.step,
                    poison);
}

void HostTokens::Place(const PieceIn& piece, uint64_t firing,
                       const void* bytes) {
  if (char* const dense = piece.PlaceAt(firing)) {
    std::memcpy(dense, bytes, piece.bytes);
  } else {
    layout::CopyBox(bytes, piece.extent, piece.zeros, piece.to.at(firing),
                    piece.destination->shape, piece.destination_offset,
                    piece.extent, piece.destination->element_bytes);
  }
  counters_.placed_bytes.Add(piece.bytes);
}

void HostTokens::OnAllFired(HostProgram* program, const LocalMessage& message) {
  const int32_t index = message.target < program->all_of_edge.size()
                            ? program->all_of_edge[message.target]
                            : -1;
  if (index < 0) return;
  HostAllEdge& all = program->all_edges[index];
  const uint64_t slot = message.step % program->plan->window();
  all.left_poison[slot] |= (message.flags & kPoisoned) != 0;
  if (--all.left[slot] != 0) return;
  const bool poison = all.left_poison[slot];
  all.left[slot] = all.own_sources;
  all.left_poison[slot] = 0;
  WireMessage out;
  out.kind = kBroadcastMessage;
  out.flags = poison ? kPoisoned : 0;
  out.program = program->program;
  out.incarnation = program->incarnation;
  out.target = message.target;
  out.step = message.step;
  out.item = all.own_sources;
  for (int32_t host : all.target_hosts) outbox_.SendToHost(program, host, out);
  OnBroadcast(program, message.target, message.step, all.own_sources, poison);
}

void HostTokens::OnBroadcast(HostProgram* program, uint32_t edge,
                             uint64_t firing, uint32_t count, bool poison) {
  const int32_t index =
      edge < program->all_of_edge.size() ? program->all_of_edge[edge] : -1;
  if (index < 0) return;
  HostAllEdge& all = program->all_edges[index];
  if (all.targets.empty()) return;
  const uint64_t slot = firing % program->plan->window();
  all.arrived[slot] += count;
  all.arrived_poison[slot] |= poison;
  if (all.arrived[slot] < all.all_sources) return;
  poison = all.arrived_poison[slot];
  all.arrived[slot] = 0;
  all.arrived_poison[slot] = 0;
  const uint32_t tokens = program->plan->edges()[edge].tokens;
  for (const HostAllEdge::Target& target : all.targets) {
    outbox_.SendToken(*program, target.device, target.in_edge, firing + tokens,
                      poison);
  }
}

void HostTokens::LendPiece(HostProgram* program, int host,
                           const WireMessage& message, Payload payload) {
  const PreparedPlan& plan = *program->plan;
  const uint32_t send = plan.edges()[message.target].from;
  const uint32_t slice = plan.plan().actions(send).slice();
  LocalMessage returned;
  returned.item = static_cast<uint32_t>(
      topology_.LocateGlobal(plan.bound(slice).device_of[message.item]).device);
  const DeviceProgram& device = *program->devices[returned.item];
  returned.target =
      device.first_entry[send] + device.LocalIndex(slice, message.item);
  returned.step = message.step;
  if (!outbox_.Lend(program, host, message, payload, returned)) {
    // No route leads to that host, so nothing reads the piece.
    ReturnPiece(*program, returned);
  }
}

void HostTokens::ReturnPiece(const HostProgram& program,
                             const LocalMessage& returned) {
  LocalMessage message = returned;
  message.kind = kPayloadReturned;
  message.program = program.program;
  message.incarnation = program.incarnation;
  outbox_.SendToDevice(returned.item, message);
}

void HostTokens::ForwardRecords(RecordBatch* batch) {
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
const PieceIn* HostTokens::FindNextPiece(const HostProgram& program,
                                         uint32_t edge, MemberHeader member,
                                         const PieceIn* last) {
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

bool HostTokens::ReadMembers(const HostProgram& program,
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

void HostTokens::OnRecord(HostProgram* program, const WireMessage& message,
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

void HostTokens::TokensToDevices(const HostProgram& program,
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
