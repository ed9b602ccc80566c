//===- host_payloads.cc - Payloads that are placed in memory --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "runtime/executor/host_executor.h"
#include "runtime/protocol/wire_kind.h"

namespace pathways {
namespace {

// Fields of LocalMessage::extra of kPayloadLanded: the kind, then the host,
// then the sequence number, which traces use.
constexpr int kKindBits = 4, kHostBits = 20;
static_assert(kNumWireKinds <= 1 << kKindBits);

}  // namespace

ReceiveBuffer HostExecutor::OnOffer(ActorId from, const WireMessage& message,
                                    uint64_t bytes) {
  HostProgram* program = AcceptWire(from, message);
  if (program == nullptr) return {};
  const int host = context_.directory.HostOfExecutor(from);
  char* memory = nullptr;
  if (message.kind == kPieceMessage) {
    const PieceIn* piece = HostTokens::FindPiece(*program, message.target,
                                                 message.shard, message.item);
    if (piece == nullptr) return {};
    if (piece->bytes == bytes && piece->to.base != nullptr) {
      memory = piece->PlaceAt(message.step);
      if (memory == nullptr) memory = program->landings.Take(bytes);
    }
  } else if (message.kind == kContributionMessage) {
    const HostGroup* group = HostExchanges::Find(program, message);
    if (group == nullptr) return {};
    memory = group->exchange->PlaceOf(
        message.step, host, message.item % kContributionRounds, bytes);
  } else {
    counters_.foreign.Add();
    return {};
  }
  ReceiveBuffer landing;
  if (memory == nullptr) {
    // Continue with poison, as there is no memory for the payload.
    WireMessage poisoned = message;
    poisoned.flags |= kPoisoned;
    HandleWire(host, program, poisoned, {});
    return landing;
  }
  ++program->payloads_away;
  landing.memory = memory;
  landing.landed.kind = kPayloadLanded;
  landing.landed.program = message.program;
  landing.landed.incarnation = message.incarnation;
  landing.landed.target = message.target;
  landing.landed.shard = message.shard;
  landing.landed.item = message.item;
  landing.landed.step = message.step;
  landing.landed.payload = memory;
  landing.landed.payload_bytes = bytes;
  landing.landed.extra =
      (message.sequence << kHostBits | host) << kKindBits | message.kind;
  return landing;
}

void HostExecutor::OnPayloadLanded(const LocalMessage& landed) {
  HostProgram* program = EndPayload(landed);
  if (program == nullptr) return;
  // If the payload was not received, its host has failed, and the end of that
  // host covers the rest.
  if (!program->stopping && (landed.flags & kNotReceived) == 0) {
    WireMessage message;
    message.kind = landed.extra & ((1 << kKindBits) - 1);
    message.program = landed.program;
    message.incarnation = landed.incarnation;
    message.target = landed.target;
    message.shard = landed.shard;
    message.item = landed.item;
    message.step = landed.step;
    message.sequence = landed.extra >> (kKindBits + kHostBits);
    const uint64_t host = landed.extra >> kKindBits & ((1 << kHostBits) - 1);
    HandleWire(static_cast<int>(host), program, message,
               {landed.payload, landed.payload_bytes});
  }
  program->landings.Give(landed.payload);
  loads_.TryFinishStop(program);
}

void HostExecutor::OnPayloadReturned(const LocalMessage& returned) {
  HostProgram* program = EndPayload(returned);
  if (program == nullptr) return;
  if (!program->stopping && returned.item < program->devices.size()) {
    tokens_.ReturnPiece(*program, returned);
  }
  loads_.TryFinishStop(program);
}

HostProgram* HostExecutor::EndPayload(const LocalMessage& about) {
  HostProgram* program = programs_.FindAny(about.program, about.incarnation);
  if (program != nullptr) --program->payloads_away;
  return program;
}

}  // namespace pathways
