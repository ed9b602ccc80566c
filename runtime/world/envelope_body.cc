//===- envelope_body.cc - Bodies of messages under way --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/envelope_body.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

namespace pathways {
namespace {

constexpr std::align_val_t kPayloadAlign{128};
// Payloads up to this size are not aligned: an allocator has memory of default
// alignment at hand, and must search for any other.
constexpr uint64_t kShortPayload = 1 << 10;

// A handler of a message with a larger payload or body may run for long.
constexpr uint64_t kQuickBytes = 4 << 10;

void* NewPayload(uint64_t bytes) {
  return bytes <= kShortPayload ? ::operator new(bytes)
                                : ::operator new(bytes, kPayloadAlign);
}

void DeletePayload(const Payload& payload) {
  void* data = const_cast<void*>(payload.data);
  if (payload.bytes <= kShortPayload) {
    ::operator delete(data);
  } else {
    ::operator delete(data, kPayloadAlign);
  }
}

}  // namespace

MailboxQueue QueueOf(const Envelope& envelope) {
  if (envelope.kind == Envelope::kLocal) {
    return QueueOf(envelope.As<LocalMessage>());
  }
  const bool is_wire =
      envelope.kind == Envelope::kWire || envelope.kind == Envelope::kOwned;
  return is_wire ? QueueOf(envelope.As<WireBody>().message) : kDirectQueue;
}

Envelope KeepEnvelope(const Envelope& envelope) {
  Envelope kept = envelope;
  if (envelope.kind == Envelope::kControl) {
    kept.As<std::string*>() = new std::string(*envelope.As<std::string*>());
  } else if (envelope.kind == Envelope::kWire) {
    Payload& payload = kept.As<WireBody>().payload;
    if (payload.data == nullptr || payload.bytes == 0) return kept;
    void* copy = NewPayload(payload.bytes);
    std::memcpy(copy, payload.data, payload.bytes);
    payload.data = copy;
    kept.kind = Envelope::kOwned;
  }
  return kept;
}

void DropEnvelope(const Envelope& envelope) {
  if (envelope.kind == Envelope::kControl) {
    delete envelope.As<std::string*>();
  } else if (envelope.kind == Envelope::kBody) {
    envelope.As<ControlBody*>()->Release();
  } else if (envelope.kind == Envelope::kLent) {
    delete envelope.As<LentBody*>();
  } else if (envelope.kind == Envelope::kOwned) {
    DeletePayload(envelope.As<WireBody>().payload);
  } else if (envelope.kind == Envelope::kLater) {
    const Posted* posted = envelope.As<Posted*>();
    DropEnvelope(posted->envelope);
    delete posted;
  }
}

bool MayTakeLong(const Envelope& envelope) {
  switch (envelope.kind) {
    case Envelope::kLocal:
    case Envelope::kOffer:
      return false;
    case Envelope::kWire:
    case Envelope::kOwned:
      return envelope.As<WireBody>().payload.bytes > kQuickBytes;
    case Envelope::kLent:
      return true;
    case Envelope::kBody:
      return false;  // the handler calls SendBatching::TakesLong
    case Envelope::kControl:
      return envelope.As<std::string*>()->size() > kQuickBytes;
    default:
      return true;
  }
}

}  // namespace pathways
