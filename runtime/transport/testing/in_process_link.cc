//===- in_process_link.cc - One connection inside a process -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/testing/in_process_link.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "runtime/base/steady_time.h"

namespace pathways {

void InProcessLink::Send(Side side, Urgency urgency,
                         absl::Span<const char> header,
                         absl::Span<const char> payload) {
  MutexLock lock(&mutex_);
  End& self = ends_[side];
  if (self.ended || self.why || self.closing) return;
  const uint64_t bytes = header.size() + payload.size();
  const uint64_t most = std::min(self.limits.max_message_bytes,
                                 ends_[Other(side)].limits.max_message_bytes);
  if (bytes > most) {
    return Break(side, absl::InvalidArgumentError(absl::StrCat(
                           "a message of ", bytes,
                           " bytes was sent, expected at most ", most)));
  }
  (urgency == Urgency::kCritical ? self.critical : self.bulk)
      .push_back({std::string(header.data(), header.size()),
                  std::string(payload.data(), payload.size())});
  self.bytes += bytes;
}

void InProcessLink::Expect(Side side, uint64_t token, void* memory,
                           uint64_t bytes) {
  MutexLock lock(&mutex_);
  End& self = ends_[side];
  if (self.ended || self.why) return;
  self.expected[token] = absl::MakeSpan(static_cast<char*>(memory), bytes);
}

bool InProcessLink::Put(Side side, uint64_t token, absl::Span<const char> bytes,
                        std::function<void()>* sent) {
  MutexLock lock(&mutex_);
  End& self = ends_[side];
  if (self.ended) return false;
  if (self.why || self.closing) {
    self.sent.push_back(std::move(*sent));
    return true;
  }
  self.lent.push_back({token, bytes, std::move(*sent)});
  self.bytes += bytes.size();
  return true;
}

uint64_t InProcessLink::backlog(Side side) const {
  MutexLock lock(&mutex_);
  return ends_[side].bytes;
}

bool InProcessLink::has_ended(Side side) const {
  MutexLock lock(&mutex_);
  return ends_[side].ended;
}

void InProcessLink::Close(Side side) {
  MutexLock lock(&mutex_);
  End& self = ends_[side];
  if (self.closing) return;
  self.closing = true;
  self.progress = SteadyTime::Now();
}

void InProcessLink::Leave(Side side) {
  MutexLock lock(&mutex_);
  End& self = ends_[side];
  if (self.ended) return;
  TakeDown(&self, absl::OkStatus());
  self.sent.clear();
  self.ended = true;
  TakeDown(&ends_[Other(side)],
           absl::UnavailableError("the other side stopped"));
}

bool InProcessLink::Deliver(Side side, PeerId peer, TransportEvents* events) {
  Call call;
  bool moved = false;
  {
    MutexLock lock(&mutex_);
    End& self = ends_[side];
    if (self.calling || self.ended) return false;
    call = Next(side, &moved);
    if (!call) return moved;
    self.calling = true;
  }
  call(peer, events);
  call = nullptr;  // its captures are the user's, and may call back
  MutexLock lock(&mutex_);
  ends_[side].calling = false;
  return true;
}

InProcessLink::Call InProcessLink::Next(Side side, bool* moved) {
  End& self = ends_[side];
  if (self.announce) {
    self.announce = false;
    return [](PeerId peer, TransportEvents* events) { events->OnPeerUp(peer); };
  }
  FinishClosing(side);
  if (!self.sent.empty()) {
    auto sent = std::move(self.sent.front());
    self.sent.pop_front();
    return [sent = std::move(sent)](PeerId, TransportEvents*) { sent(); };
  }
  if (Call call = NextArrival(side, moved)) return call;
  if (!self.why) return nullptr;
  self.ended = true;
  return [why = *self.why](PeerId peer, TransportEvents* events) {
    events->OnPeerDown(peer, why);
  };
}

InProcessLink::Call InProcessLink::NextArrival(Side side, bool* moved) {
  End& from = ends_[Other(side)];
  if (!from.critical.empty()) return TakeMessage(&from.critical, &from);
  if (!from.bulk.empty() && (from.bulk_next || from.lent.empty())) {
    from.bulk_next = false;
    return TakeMessage(&from.bulk, &from);
  }
  if (from.lent.empty()) return nullptr;
  from.bulk_next = true;
  *moved = true;
  return NextPiece(side);
}

InProcessLink::Call InProcessLink::TakeMessage(std::deque<Message>* queue,
                                               End* from) {
  auto message = std::make_shared<Message>(std::move(queue->front()));
  queue->pop_front();
  from->bytes -= message->header.size() + message->payload.size();
  from->progress = SteadyTime::Now();
  return [message](PeerId peer, TransportEvents* events) {
    events->OnMessage(peer, message->header, message->payload);
  };
}

InProcessLink::Call InProcessLink::NextPiece(Side side) {
  End& self = ends_[side];
  End& from = ends_[Other(side)];
  Lent& lent = from.lent.front();
  const auto memory = self.expected.find(lent.token);
  if (memory == self.expected.end() ||
      memory->second.size() != lent.bytes.size()) {
    const std::string want =
        memory == self.expected.end()
            ? "nothing"
            : absl::StrCat(memory->second.size(), " bytes");
    Break(Other(side), absl::InvalidArgumentError(absl::StrCat(
                           "received payload ", lent.token, " of ",
                           lent.bytes.size(), " bytes, expected ", want)));
    return nullptr;
  }
  const uint64_t piece = std::min<uint64_t>(lent.bytes.size() - lent.moved,
                                            from.limits.piece_bytes);
  if (piece > 0) {
    std::memcpy(memory->second.data() + lent.moved,
                lent.bytes.data() + lent.moved, piece);
  }
  lent.moved += piece;
  from.bytes -= piece;
  from.progress = SteadyTime::Now();
  if (lent.moved < lent.bytes.size()) return nullptr;
  const uint64_t token = lent.token;
  self.expected.erase(memory);
  from.sent.push_back(std::move(lent.sent));
  from.lent.pop_front();
  return [token](PeerId peer, TransportEvents* events) {
    events->OnPayload(peer, token);
  };
}

void InProcessLink::FinishClosing(Side side) {
  End& self = ends_[side];
  if (!self.closing || self.why) return;
  if (!IsEmpty(self) &&
      SteadyTime::Now() - self.progress < self.limits.close_timeout) {
    return;
  }
  TakeDown(&self, absl::OkStatus());
  TakeDown(&ends_[Other(side)],
           absl::UnavailableError("the other side closed the connection"));
}

void InProcessLink::Break(Side side, const absl::Status& why) {
  TakeDown(&ends_[side], why);
  TakeDown(&ends_[Other(side)], why);
}

void InProcessLink::TakeDown(End* end, const absl::Status& why) {
  if (end->ended || end->why) return;
  end->why = why;
  end->critical.clear();
  end->bulk.clear();
  for (Lent& lent : end->lent) end->sent.push_back(std::move(lent.sent));
  end->lent.clear();
  end->bytes = 0;
  end->expected.clear();
}

}  // namespace pathways
