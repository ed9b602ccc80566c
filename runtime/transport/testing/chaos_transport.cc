//===- chaos_transport.cc - Transport with a network's faults ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/testing/chaos_transport.h"

#include <algorithm>

#include "runtime/base/steady_time.h"

namespace pathways {

ChaosTransport::ChaosTransport(ChaosOptions options, TransportEvents* events,
                               const MakeInner& make_inner)
    : options_(std::move(options)),
      events_(events),
      random_(options_.seed),
      inner_(make_inner(this)) {
  if (options_.now == nullptr) watch_ = std::thread([this] { Watch(); });
}

ChaosTransport::~ChaosTransport() { ChaosTransport::Stop(); }

absl::StatusOr<std::string> ChaosTransport::Listen(absl::string_view address) {
  return inner_->Listen(address);
}

absl::StatusOr<PeerId> ChaosTransport::Dial(absl::string_view address,
                                            absl::Duration timeout) {
  return inner_->Dial(address, timeout);
}

void ChaosTransport::Send(PeerId peer, Urgency urgency,
                          absl::Span<const char> header,
                          absl::Span<const char> payload) {
  Late late;
  late.header.assign(header.data(), header.size());
  late.payload.assign(payload.data(), payload.size());
  late.keeps_order = options_.keeps_order && options_.keeps_order(header);
  MutexLock lock(&mutex_);
  Add(peer, urgency == Urgency::kCritical ? kCritical : kBulk, std::move(late));
}

void ChaosTransport::Expect(PeerId peer, uint64_t token, void* memory,
                            uint64_t bytes) {
  inner_->Expect(peer, token, memory, bytes);
}

void ChaosTransport::Put(PeerId peer, uint64_t token,
                         absl::Span<const char> bytes,
                         std::function<void()> sent) {
  Late late;
  late.token = token;
  late.lent = bytes;
  late.sent = std::move(sent);
  MutexLock lock(&mutex_);
  Add(peer, kPayload, std::move(late));
}

uint64_t ChaosTransport::backlog(PeerId peer) const {
  MutexLock lock(&mutex_);
  const auto line = lines_.find(peer);
  return (line == lines_.end() ? 0 : line->second.bytes) +
         inner_->backlog(peer);
}

void ChaosTransport::Close(PeerId peer) {
  MutexLock lock(&mutex_);
  if (stopped_) return;
  lines_[peer].closing = true;
  SteadyTime next;
  Release(&next);
}

void ChaosTransport::Cut(PeerId peer) {
  MutexLock lock(&mutex_);
  if (!stopped_) CutLine(peer);
}

bool ChaosTransport::Poll() {
  bool moved;
  {
    MutexLock lock(&mutex_);
    SteadyTime next;
    moved = !stopped_ && Release(&next);
  }
  return inner_->Poll() || moved;
}

void ChaosTransport::Stop() {
  {
    MutexLock lock(&mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  inner_->Stop();
  if (watch_.joinable()) watch_.join();
  MutexLock lock(&mutex_);
  lines_.clear();
}

void ChaosTransport::OnPeerUp(PeerId peer) { events_->OnPeerUp(peer); }

void ChaosTransport::OnMessage(PeerId peer, absl::Span<const char> header,
                               absl::Span<const char> payload) {
  events_->OnMessage(peer, header, payload);
}

void ChaosTransport::OnPayload(PeerId peer, uint64_t token) {
  events_->OnPayload(peer, token);
}

void ChaosTransport::OnPeerDown(PeerId peer, const absl::Status& why) {
  Line line;
  {
    MutexLock lock(&mutex_);
    const auto found = lines_.find(peer);
    if (found != lines_.end()) {
      line = std::move(found->second);
      lines_.erase(found);
    }
  }
  for (auto& [when, late] : line.late[kPayload]) late.sent();
  events_->OnPeerDown(
      peer, line.cut ? absl::UnavailableError("the connection broke") : why);
}

void ChaosTransport::Add(PeerId peer, MessageClass message_class, Late late) {
  // If the peer is down, the inner transport says so.
  const SteadyTime now = Now();
  Line& line = lines_[peer];
  if (stopped_ || line.closing || line.cut) {
    if (late.sent) inner_->Put(peer, late.token, late.lent, late.sent);
    return;
  }
  if (Chance(options_.cut)) CutLine(peer);
  SteadyTime due = now;
  if (Chance(options_.delay)) due += SomeDelay();
  due = line.in_order[message_class] =
      std::max(due, line.in_order[message_class]);
  line.bytes += late.bytes();
  if (late.keeps_order) {
    for (SteadyTime& in_order : line.in_order) {
      in_order = std::max(due, in_order);
    }
  } else {
    if (Chance(options_.reorder)) due += SomeDelay();
    if (Chance(options_.drop)) due += options_.retry;
    if (message_class != kPayload && Chance(options_.duplicate)) {
      line.bytes += late.bytes();
      line.late[message_class].emplace(std::pair(due + SomeDelay(), ++sent_),
                                       late);
    }
  }
  line.late[message_class].emplace(std::pair(due, ++sent_), std::move(late));
  SteadyTime next;
  Release(&next);
  changed_.notify_all();
}

void ChaosTransport::CutLine(PeerId peer) {
  Line& line = lines_[peer];
  if (line.cut) return;
  line.cut = true;
  // Lent payloads are returned when the peer goes down.
  line.late[kCritical].clear();
  line.late[kBulk].clear();
  line.bytes = 0;
  inner_->Close(peer);
}

bool ChaosTransport::Chance(double share) {
  return share > 0 && std::bernoulli_distribution(share)(random_);
}

absl::Duration ChaosTransport::SomeDelay() {
  return options_.longest_delay *
         std::uniform_real_distribution<double>(0, 1)(random_);
}

bool ChaosTransport::Release(SteadyTime* next) {
  const SteadyTime now = Now();
  bool moved = false;
  *next = SteadyTime::Never();
  for (auto line = lines_.begin(); line != lines_.end();) {
    auto& [peer, of_peer] = *line;
    moved |= ReleaseLine(peer, &of_peer, now, next);
    // A line without any further effect is forgotten.
    const bool idle =
        of_peer.empty() && !of_peer.closing && !of_peer.cut &&
        of_peer.free <= now &&
        *std::max_element(of_peer.in_order,
                          of_peer.in_order + kMessageClasses) <= now;
    line = idle ? lines_.erase(line) : std::next(line);
  }
  return moved;
}

bool ChaosTransport::ReleaseLine(PeerId peer, Line* line, SteadyTime now,
                                 SteadyTime* next) {
  bool moved = false;
  if (line->cut) return moved;
  for (int message_class = 0; message_class < kMessageClasses;) {
    auto& late = line->late[message_class];
    const SteadyTime due =
        late.empty() ? SteadyTime::Never()
                     : std::max(late.begin()->first.first, line->free);
    if (due > now) {
      *next = std::min(*next, due);
      ++message_class;
      continue;
    }
    Late first = std::move(late.begin()->second);
    late.erase(late.begin());
    line->bytes -= first.bytes();
    if (options_.bytes_per_second > 0) {
      line->free =
          now + absl::Seconds(first.bytes() / options_.bytes_per_second);
    }
    SendNow(peer, static_cast<MessageClass>(message_class), std::move(first));
    moved = true;
    message_class =
        // Start again: critical messages come first, and the wire may be busy.
        0;
  }
  if (line->closing && line->empty()) {
    line->closing = false;
    inner_->Close(peer);
    moved = true;
  }
  return moved;
}

void ChaosTransport::SendNow(PeerId peer, MessageClass message_class,
                             Late late) {
  if (message_class == kPayload) {
    inner_->Put(peer, late.token, late.lent, std::move(late.sent));
  } else {
    inner_->Send(
        peer, message_class == kCritical ? Urgency::kCritical : Urgency::kBulk,
        late.header, late.payload);
  }
}

SteadyTime ChaosTransport::Now() const {
  return options_.now != nullptr ? options_.now() : SteadyTime::Now();
}

void ChaosTransport::Watch() {
  MutexLock lock(&mutex_);
  while (!stopped_) {
    SteadyTime next;
    Release(&next);
    WaitUntil(&changed_, &mutex_, next);
  }
}

}  // namespace pathways
