//===- transport_mux.cc - Choice of the engine by the address -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/transport_mux.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

// The lowest bit of a peer's number names its engine.
constexpr uint32_t kSpecial = 1;
// Polls of the special engine for each poll of the other one, which costs a
// system call. After as many polls of the special engine that moved nothing,
// the other one is polled every time, too.
constexpr uint32_t kPollsOfSpecial = 16;

PeerId Outer(PeerId inner, uint32_t engine) {
  return PeerId{static_cast<uint32_t>(inner) * 2 + engine};
}

}  // namespace

class TransportMux::Events : public TransportEvents {
 public:
  Events(TransportEvents* events, uint32_t engine)
      : events_(events), engine_(engine) {}

  void OnPeerUp(PeerId peer) override {
    events_->OnPeerUp(Outer(peer, engine_));
  }
  void OnMessage(PeerId peer, absl::Span<const char> header,
                 absl::Span<const char> payload) override {
    events_->OnMessage(Outer(peer, engine_), header, payload);
  }
  void OnPayload(PeerId peer, uint64_t token) override {
    events_->OnPayload(Outer(peer, engine_), token);
  }
  void OnPeerDown(PeerId peer, const absl::Status& why) override {
    events_->OnPeerDown(Outer(peer, engine_), why);
  }

 private:
  TransportEvents* const events_;
  const uint32_t engine_;
};

TransportMux::TransportMux(std::string prefix, Make make_special,
                           Make make_other, TransportEvents* events)
    : prefix_(std::move(prefix)),
      make_special_(std::move(make_special)),
      special_events_(std::make_unique<Events>(events, kSpecial)),
      other_events_(std::make_unique<Events>(events, 0)),
      other_(make_other(other_events_.get())) {}

TransportMux::~TransportMux() { TransportMux::Stop(); }

absl::StatusOr<Transport*> TransportMux::For(absl::string_view address) {
  if (!absl::StartsWith(address, prefix_)) {
    if (!other_.ok()) return other_.status();
    return other_->get();
  }
  MutexLock lock(&mutex_);
  if (stopped_) {
    return absl::UnavailableError(absl::StrCat(
        "cannot use '", prefix_, "' addresses: the transport has stopped"));
  }
  if (made_ == nullptr) {
    absl::StatusOr<std::unique_ptr<Transport>> made =
        make_special_(special_events_.get());
    if (!made.ok()) return made.status();
    made_ = *std::move(made);
    special_.store(made_.get());
  }
  return made_.get();
}

absl::StatusOr<std::string> TransportMux::Listen(absl::string_view address) {
  absl::StatusOr<Transport*> transport = For(address);
  if (!transport.ok()) return transport.status();
  return (*transport)->Listen(address);
}

absl::StatusOr<PeerId> TransportMux::Dial(absl::string_view address,
                                          absl::Duration timeout) {
  absl::StatusOr<Transport*> transport = For(address);
  if (!transport.ok()) return transport.status();
  absl::StatusOr<PeerId> peer = (*transport)->Dial(address, timeout);
  if (!peer.ok()) return peer;
  return Outer(*peer, absl::StartsWith(address, prefix_) ? kSpecial : 0);
}

Transport* TransportMux::Of(PeerId peer) const {
  if (static_cast<uint32_t>(peer) & kSpecial) return special_.load();
  return other_.ok() ? other_->get() : nullptr;
}

PeerId TransportMux::Inner(PeerId peer) {
  return PeerId{static_cast<uint32_t>(peer) / 2};
}

void TransportMux::Send(PeerId peer, Urgency urgency,
                        absl::Span<const char> header,
                        absl::Span<const char> payload) {
  if (Transport* of = Of(peer)) of->Send(Inner(peer), urgency, header, payload);
}

void TransportMux::Expect(PeerId peer, uint64_t token, void* memory,
                          uint64_t bytes) {
  if (Transport* of = Of(peer)) of->Expect(Inner(peer), token, memory, bytes);
}

void TransportMux::Put(PeerId peer, uint64_t token,
                       absl::Span<const char> bytes,
                       std::function<void()> sent) {
  // A peer that no engine has is down. Any engine calls `sent` for it.
  Transport* of = Of(peer);
  if (of == nullptr) of = other_.ok() ? other_->get() : special_.load();
  if (of != nullptr) of->Put(Inner(peer), token, bytes, std::move(sent));
}

uint64_t TransportMux::backlog(PeerId peer) const {
  Transport* of = Of(peer);
  return of == nullptr ? 0 : of->backlog(Inner(peer));
}

void TransportMux::Close(PeerId peer) {
  if (Transport* of = Of(peer)) of->Close(Inner(peer));
}

bool TransportMux::Poll() {
  Transport* special = special_.load(std::memory_order_acquire);
  if (!other_.ok()) return special != nullptr && special->Poll();
  if (special == nullptr) return (*other_)->Poll();
  // Polls of several threads at a time may be counted once. That does no harm.
  bool moved = special->Poll();
  const uint32_t turn = polls_.load(std::memory_order_relaxed);
  polls_.store(turn + 1, std::memory_order_relaxed);
  const uint32_t fruitless =
      moved ? 0 : fruitless_.load(std::memory_order_relaxed) + 1;
  fruitless_.store(fruitless, std::memory_order_relaxed);
  if (turn % kPollsOfSpecial == 0 || fruitless > kPollsOfSpecial) {
    moved |= (*other_)->Poll();
  }
  return moved;
}

void TransportMux::OnIdle() {
  if (Transport* special = special_.load()) special->OnIdle();
  if (other_.ok()) (*other_)->OnIdle();
}

void TransportMux::Stop() {
  {
    MutexLock lock(&mutex_);
    stopped_ = true;
  }
  if (Transport* special = special_.load()) special->Stop();
  if (other_.ok()) (*other_)->Stop();
}

}  // namespace pathways
