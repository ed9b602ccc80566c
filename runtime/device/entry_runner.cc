//===- entry_runner.cc - Tokens and firings of entries --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/entry_runner.h"

#include "runtime/device/device.h"  // Cohort::Deliver
#include "runtime/device/value_moves.h"

namespace pathways {
namespace {

// Returns true if the argument that a feed reads at its next, granted firing
// is filled.
bool CanFeed(const DeviceProgram& program, const Entry& entry) {
  auto active = program.active.begin();
  while (entry.next >= active->grant->end) ++active;
  return IsFilled(program.feeds[entry.op], entry.next, *active->grant->launch);
}

// Returns the launch of a firing that is not over on this device.
HostLaunch* LaunchAt(const DeviceProgram& program, uint64_t firing) {
  HostLaunch* launch = nullptr;
  for (const DeviceProgram::Active& active : program.active) {
    launch = active.grant->launch;
    if (firing < active.grant->end) break;
  }
  return launch;
}

// Returns the grant of a firing.
DeviceProgram::Active& ActiveAt(DeviceProgram* program, uint64_t firing) {
  size_t i = 0;
  while (firing >= program->active[i].grant->end) ++i;
  return program->active[i];
}

// Returns true if the firing of an entry is poisoned, by its tokens or by the
// argument that it reads.
bool IsPoisoned(const DeviceProgram& program, uint32_t index) {
  const Entry& entry = program.entries[index];
  const uint64_t firing = entry.next;
  return program.poison[program.EntryAt(index, firing)] ||
         (entry.kind == proto::FEED &&
          ReadsPoison(program.feeds[entry.op], firing,
                      *LaunchAt(program, firing)));
}

// Returns true if the guard of a send, which is not poisoned, says no.
bool IsSkipped(const DeviceBackend& backend, const SendOp& op,
               uint64_t firing) {
  return op.is_guarded && backend.ReadGuard(op.guard.at(firing)) == op.unless;
}

// Frees the slot of a firing, before anyone can observe that firing.
void FreeSlot(DeviceProgram* program, uint32_t index, uint64_t firing) {
  const uint32_t need = program->entries[index].need;
  const uint64_t at = program->EntryAt(index, firing);
  if (need != 0) program->counts[at] = need;
  program->ClearPoison(at);
}

}  // namespace

void EntryRunner::PushIfFree(DeviceProgram* program, uint32_t index) {
  Entry& entry = program->entries[index];
  if (program->counts[program->EntryAt(index, entry.next)] != 0 ||
      (entry.kind == proto::FEED && !CanFeed(*program, entry))) {
    return;
  }
  entry.queued = true;
  ready_.Push() = {program, index};
}

void EntryRunner::Deliver(DeviceProgram* program, uint32_t in_edge,
                          uint64_t firing, bool poison) {
  const uint32_t index = program->in_edges[in_edge].entry;
  const uint64_t at = program->EntryAt(index, firing);
  if (program->counts[at] == 0) return;  // no such token is expected
  ++program->arrived[program->InEdgeAt(in_edge, firing)];
  if (poison) program->MarkPoison(at);
  if (--program->counts[at] != 0) return;
  trace_.LastToken(program, at, in_edge);
  PushIfReady(program, index);
}

void EntryRunner::Enqueue(DeviceProgram* program, const LocalMessage& message) {
  for (uint32_t i = program->first_entry[message.target];
       i < program->entries.size() &&
       program->entries[i].action == message.target;
       ++i) {
    const uint64_t at = program->EntryAt(i, message.step);
    if (program->counts[at] == 0) continue;  // no token is expected
    if (--program->counts[at] != 0) continue;
    trace_.LastEnqueued(program, at);
    PushIfReady(program, i);
  }
}

void EntryRunner::Run(DeviceProgram* program, uint32_t index) {
  const Entry& entry = program->entries[index];
  const uint64_t firing = entry.next;
  trace_.MoveBegins();
  if (!IsPoisoned(*program, index)) {
    switch (entry.kind) {
      case proto::SEND:
        if (!IsSkipped(*work_.backend(), program->sends[entry.op], firing)) {
          MovePieces(*program, program->sends[entry.op], firing);
        }
        break;
      case proto::RECV:
        FillReceived(work_.backend(), program->recvs[entry.op], firing);
        break;
      case proto::FEED:
        counters_.fed_bytes.Add(FeedBuffer(work_.backend(),
                                           &program->feeds[entry.op], firing,
                                           *LaunchAt(*program, firing)));
        break;
      case proto::FETCH:
        counters_.fetched_bytes.Add(
            FetchBuffer(work_.backend(), program->fetches[entry.op], firing,
                        *LaunchAt(*program, firing)));
        break;
      default:
        break;
    }
  }
  if (work_.IsEntryDone(program, index)) Finish(program, index);
}

void EntryRunner::Finish(DeviceProgram* program, uint32_t index) {
  Entry& entry = program->entries[index];
  const uint64_t firing = entry.next;
  const bool poison = IsPoisoned(*program, index);
  uint32_t away = 0;
  if (entry.kind == proto::SEND) {
    away = SendPieces(program, entry, firing, poison);
  } else if (entry.kind == proto::FETCH && poison) {
    const FetchOp& op = program->fetches[entry.op];
    HostLaunch* launch = LaunchAt(*program, firing);
    if (IsFetched(op, firing, *launch)) {
      launch->values.results[op.result].poisoned.store(
          true, std::memory_order_relaxed);
    }
  }
  trace_.MoveEnds(*program, index, firing, poison);
  entry.queued = false;
  ++entry.next;
  counters_.firings.Add();
  if (away > 0) {
    program->sends[entry.op].away[SlotOf(firing, program->window)] = away;
    FreeSlot(program, index, firing);
  } else {
    Fire(program, index, firing, poison);
  }
  CountFirings(program, firing, 1);
  PushIfReady(program, index);
}

void EntryRunner::PieceReturned(DeviceProgram* program, uint32_t index,
                                uint64_t firing) {
  if (index >= program->entries.size() ||
      program->entries[index].kind != proto::SEND) {
    return;
  }
  uint32_t& away = program->sends[program->entries[index].op]
                       .away[SlotOf(firing, program->window)];
  if (away == 0) return;
  --away;
  if (away == 0) PassTokens(program, index, firing, /*poison=*/false);
}

void EntryRunner::Fire(DeviceProgram* program, uint32_t index, uint64_t firing,
                       bool poison) {
  FreeSlot(program, index, firing);
  PassTokens(program, index, firing, poison);
}

void EntryRunner::PassTokens(DeviceProgram* program, uint32_t index,
                             uint64_t firing, bool poison) {
  const Entry& entry = program->entries[index];
  // Poison does not pass the end of the launch, since a later launch carries
  // its own values.
  const uint64_t end =
      poison ? ActiveAt(program, firing).grant->launch->end.load() : 0;
  for (uint32_t i = entry.out_begin; i < entry.out_end; ++i) {
    const OutToken& token = program->out[i];
    const bool poisons = poison && token.poisons && firing + token.tokens < end;
    switch (token.type) {
      case OutToken::kSameDevice:
        Deliver(program, token.target, firing + token.tokens, poisons);
        break;
      case OutToken::kSameWorker:
        cohort_.Deliver(token.where, program->program, program->incarnation,
                        token.target, firing + token.tokens, poisons);
        break;
      case OutToken::kSameHost: {
        LocalMessage message = DeviceSender::New(kLocalToken, *program);
        message.flags = poisons ? kPoisoned : 0;
        message.target = token.target;
        message.step = firing + token.tokens;
        sender_.Send(LocalId{token.where}, message);
        break;
      }
      case OutToken::kOtherHost: {
        LocalMessage message = DeviceSender::New(kForwardToken, *program);
        message.flags = poisons ? kPoisoned : 0;
        message.target = token.target;
        message.shard = token.shard;
        message.item = entry.shard;
        message.step = firing + token.tokens;
        message.extra = token.where;
        sender_.SendExecutor(message);
        break;
      }
      case OutToken::kOtherProcess:
        AddLane(*program, token, kTokensMessage, entry.shard,
                firing + token.tokens, poisons, nullptr, 0);
        break;
      case OutToken::kHostAction: {
        LocalMessage message = DeviceSender::New(kActionFired, *program);
        message.target = token.target;
        message.step = firing;
        sender_.SendExecutor(message);
        break;
      }
      case OutToken::kBroadcast: {
        LocalMessage message = DeviceSender::New(kAllFired, *program);
        message.flags = poisons ? kPoisoned : 0;
        message.target = token.target;
        message.step = firing;
        sender_.SendExecutor(message);
        break;
      }
    }
  }
  if (!poison) return;
  for (uint32_t i = entry.out_end; i < entry.poison_end; ++i) {
    // The target is later in the queue, in the same firing.
    program->MarkPoison(program->EntryAt(program->out[i].target, firing));
  }
}

void EntryRunner::CountFirings(DeviceProgram* program, uint64_t firing,
                               uint64_t count) {
  program->fired += count;
  DeviceProgram::Active& active = ActiveAt(program, firing);
  active.remaining -= count;
  if (active.remaining > 0) return;
  // Grants end in order, because each entry fires in order.
  HostGrant* grant = active.grant;
  program->active.Pop();
  EndGrant(*program, grant);
}

void EntryRunner::EndGrant(const DeviceProgram& program, HostGrant* grant) {
  if (grant->end == grant->launch->end) {
    trace_.Drained(program, grant->launch->id);
  }
  if (--grant->cohorts[actors_.cohorts[index_]].left > 0) return;
  LocalMessage message = DeviceSender::New(kDeviceDone, program);
  message.extra = grant->position;
  sender_.SendExecutor(message);
}

void EntryRunner::MovePieces(const DeviceProgram& program, const SendOp& op,
                             uint64_t firing) {
  for (uint32_t i = op.begin; i < op.end; ++i) {
    const PieceOut& piece = program.pieces[i];
    if (piece.lent_offset >= 0 || IsLane(piece)) continue;
    MovePiece(work_.backend(), piece, firing);
    counters_.moved_bytes.Add(piece.bytes);
  }
}

uint32_t EntryRunner::SendPieces(DeviceProgram* program, const Entry& entry,
                                 uint64_t firing, bool poison) {
  const SendOp& op = program->sends[entry.op];
  // No piece is moved. The receiver ignores a piece without bytes, except that
  // its token arrives.
  const bool skipped = !poison && IsSkipped(*work_.backend(), op, firing);
  if (skipped) counters_.skipped.Add();
  uint32_t away = 0;
  for (uint32_t i = op.begin; i < op.end; ++i) {
    const PieceOut& piece = program->pieces[i];
    LocalMessage message;
    switch (piece.token.type) {
      case OutToken::kSameWorker:
        cohort_.Deliver(piece.token.where, program->program,
                        program->incarnation, piece.token.target, firing,
                        poison);
        break;
      case OutToken::kSameHost:
        message = DeviceSender::New(kLocalToken, *program);
        message.flags = poison ? kPoisoned : 0;
        message.target = piece.token.target;
        message.step = firing;
        sender_.Send(LocalId{piece.token.where}, message);
        break;
      case OutToken::kOtherProcess:
        if (skipped) {
          ForwardPiece(*program, piece, entry.shard, firing, poison, skipped);
        } else if (poison) {
          AddLane(*program, piece.token, kPiecesMessage, entry.shard, firing,
                  poison, nullptr, 0);
        } else if (IsLane(piece)) {
          AddLane(*program, piece.token, kPiecesMessage, entry.shard, firing,
                  poison, piece.from.at(firing) + piece.member_offset,
                  piece.bytes);
          counters_.moved_bytes.Add(piece.bytes);
        } else if (piece.bytes <= kMaxMemberBytes) {
          AddLane(*program, piece.token, kPiecesMessage, entry.shard, firing,
                  poison, PlaceOf(piece, firing), piece.bytes);
        } else {
          away += ForwardPiece(*program, piece, entry.shard, firing, poison,
                               skipped);
        }
        break;
      case OutToken::kOtherHost:
        away +=
            ForwardPiece(*program, piece, entry.shard, firing, poison, skipped);
        break;
      default:
        Deliver(program, piece.token.target, firing, poison);
    }
  }
  return away;
}

bool EntryRunner::ForwardPiece(const DeviceProgram& program,
                               const PieceOut& piece, uint32_t source,
                               uint64_t firing, bool poison, bool skipped) {
  const bool is_empty = poison || skipped;
  const bool in_place = !is_empty && piece.lent_offset >= 0;
  LocalMessage message = DeviceSender::New(kForwardPiece, program);
  message.flags = poison ? kPoisoned : in_place ? kInPlace : 0;
  message.target = piece.token.target;
  message.shard = piece.token.shard;
  message.item = source;
  message.step = firing;
  message.extra = piece.token.where;
  message.payload = is_empty ? nullptr : PlaceOf(piece, firing);
  message.payload_bytes = is_empty ? 0 : piece.bytes;
  sender_.SendExecutor(message);
  return in_place;
}

void EntryRunner::AddLane(const DeviceProgram& program, const OutToken& token,
                          WireKind kind, uint32_t source, uint64_t firing,
                          bool poison, const void* data, uint64_t bytes) {
  WireMessage like;
  like.kind = kind;
  like.flags = poison ? kPoisoned : 0;
  like.program = program.program;
  like.incarnation = program.incarnation;
  like.target = token.target;
  like.step = firing;
  cohort_.AddLane(static_cast<int>(token.where), like, {token.shard, source},
                  data, bytes);
}

void EntryRunner::SendRecords(RecordBatch* batch) {
  batch->Leave();
  LocalMessage message;
  message.kind = kForwardRecords;
  message.payload = batch;
  sender_.SendExecutor(message);
}

void EntryRunner::DeliverRecord(const LocalMessage& message) {
  auto* const arrived = static_cast<TokenBatch*>(message.payload);
  for (const TokenBatch::Member& member : arrived->members()) {
    cohort_.Deliver(member.device, message.program, message.incarnation,
                    member.in_edge, message.step, message.flags & kPoisoned);
  }
  arrived->Return();
}

}  // namespace pathways
