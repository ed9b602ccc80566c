//===- process_links.cc - A world's links to other processes --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/process_links.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/protocol/link_batch.h"
#include "runtime/protocol/wire_kind.h"
#include "runtime/world/open_batches.h"

namespace pathways {
namespace {

// Most hot messages that the world gets together: all messages of a batch that
// this code wrote.
constexpr size_t kMaxArrivals = kMaxBatchBytes / sizeof(LinkFrame);

// Returns true if messages that are sent later may overtake this one.
bool LetsOthersPass(const LinkFrame& frame) {
  return frame.kind == LinkFrame::kHot &&
         (IsBulk(frame.wire.message.kind) ||
          frame.wire.payload_bytes > kMaxCriticalBytes);
}

LinkFrame FrameOf(ActorId from, ActorId to, const WireMessage& message,
                  Payload payload) {
  return LinkFrame::Hot(from, to, message, payload.bytes);
}

absl::Span<const char> BytesOf(Payload payload) {
  return absl::MakeConstSpan(static_cast<const char*>(payload.data),
                             payload.bytes);
}

// The token in the payload of frames about lent payloads.
absl::Span<const char> BytesOf(const uint64_t& token) {
  static_assert(sizeof token == LinkFrame::kTokenBytes);
  return absl::MakeConstSpan(reinterpret_cast<const char*>(&token),
                             sizeof token);
}
uint64_t TokenIn(absl::Span<const char> bytes) {
  uint64_t token = 0;
  std::memcpy(&token, bytes.data(), sizeof token);
  return token;
}

}  // namespace

// Batches messages that others must not overtake. A message that others may
// overtake is sent at once, after the batch: so the stage makes no message
// later than messages sent after it.
class ProcessLinks::Stage final : public UplinkStage {
 public:
  explicit Stage(ProcessLinks* links) : links_(*links) {}

  bool Send(ActorId from, ActorId to, const WireMessage& message,
            Payload payload) override {
    return Add(FrameOf(from, to, message, payload), BytesOf(payload));
  }
  bool SendControl(ActorId from, ActorId to, std::string bytes) override {
    return Add(LinkFrame::Control(from, to, bytes.size()), bytes);
  }
  void Flush() override {
    batches_.FlushAll([this](PeerId peer, const BatchWriter& batch) {
      SendBatch(peer, batch);
    });
  }

 private:
  bool Add(const LinkFrame& frame, absl::Span<const char> bytes) {
    const std::optional<PeerId> peer = links_.PeerOf(frame.wire.to);
    if (!peer.has_value()) return !batches_.empty();
    const auto send = [this](PeerId to, const BatchWriter& batch) {
      SendBatch(to, batch);
    };
    if (LetsOthersPass(frame)) {
      batches_.Flush(*peer, send);
      links_.Send(*peer, frame, bytes);
    } else if (!batches_.Add(*peer, frame, bytes, send)) {
      links_.Send(*peer, frame, bytes);
    }
    return !batches_.empty();
  }
  void SendBatch(PeerId peer, const BatchWriter& batch) {
    links_.SendFrame(peer, Urgency::kCritical, batch.header(), batch.payload(),
                     batch.count());
  }

  ProcessLinks& links_;
  OpenBatches batches_;
};

ProcessLinks::ProcessLinks(Listeners listeners)
    : listeners_(std::move(listeners)),
      peer_of_(std::make_unique<std::atomic<uint32_t>[]>(kMaxProcesses)) {
  for (uint32_t i = 0; i < kMaxProcesses; ++i) peer_of_[i] = kNoPeer;
}

void ProcessLinks::Place(uint32_t self, World* world,
                         std::function<int64_t(ActorId)> process_of) {
  self_ = self;
  world_ = world;
  process_of_ = std::move(process_of);
}

RemoteChannel ProcessLinks::remote_channel() {
  RemoteChannel remote_channel;
  remote_channel.send = [this](ActorId from, ActorId to,
                               const WireMessage& message, Payload payload) {
    if (const std::optional<PeerId> peer = PeerOf(to)) {
      Send(*peer, FrameOf(from, to, message, payload), BytesOf(payload));
    }
  };
  remote_channel.send_control = [this](ActorId from, ActorId to,
                                       std::string bytes) {
    if (const std::optional<PeerId> peer = PeerOf(to)) {
      Send(*peer, LinkFrame::Control(from, to, bytes.size()), bytes);
    }
  };
  remote_channel.lend = [this](ActorId from, ActorId to,
                               const WireMessage& message, Payload payload,
                               LocalId owner, const LocalMessage& returned) {
    return Lend(from, to, message, {payload, owner, returned});
  };
  remote_channel.take = [this](uint64_t offer, LocalId owner,
                               const ReceiveBuffer& landing) {
    TakeOffer(offer, owner, landing);
  };
  remote_channel.refuse = [this](uint64_t offer) { RefuseOffer(offer); };
  remote_channel.open_stage = [this] { return std::make_unique<Stage>(this); };
  remote_channel.poll = [this] { return transport_->Poll(); };
  remote_channel.on_idle = [this] { transport_->OnIdle(); };
  remote_channel.stats = [this] { return stats(); };
  return remote_channel;
}

std::optional<uint32_t> ProcessLinks::ProcessOf(ActorId actor) const {
  const int64_t process = process_of_(actor);
  if (process < 0 || process >= int64_t{kMaxProcesses} ||
      process == int64_t{self_}) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(process);
}

std::optional<PeerId> ProcessLinks::PeerOf(ActorId actor) {
  if (process_of_ != nullptr) {
    const std::optional<uint32_t> process = ProcessOf(actor);
    const uint32_t peer =
        process.has_value() ? peer_of_[*process].load() : kNoPeer;
    if (peer != kNoPeer) return PeerId{peer};
  }
  counters_.CountUnlinked();
  return std::nullopt;
}

void ProcessLinks::Send(PeerId peer, const LinkFrame& frame,
                        absl::Span<const char> bytes) {
  SendFrame(peer, LetsOthersPass(frame) ? Urgency::kBulk : Urgency::kCritical,
            AsBytes(frame), bytes, /*messages=*/1);
}

void ProcessLinks::SendFrame(PeerId peer, Urgency urgency,
                             absl::Span<const char> header,
                             absl::Span<const char> payload,
                             uint64_t messages) {
  counters_.CountSent(messages, header.size() + payload.size(), /*frames=*/1);
  transport_->Send(peer, urgency, header, payload);
}

absl::StatusOr<PeerId> ProcessLinks::Dial(absl::string_view address,
                                          absl::Duration timeout) {
  {
    MutexLock lock(&mutex_);
    ++dialing_;
  }
  absl::StatusOr<PeerId> peer = transport_->Dial(address, timeout);
  MutexLock lock(&mutex_);
  if (peer.ok() && early_.erase(*peer) > 0) {
    peer = absl::UnavailableError(
        absl::StrCat("the connection to '", address,
                     "' ended as soon as it was established"));
  }
  if (peer.ok()) peers_[*peer];
  if (--dialing_ == 0) early_.clear();
  return peer;
}

absl::Status ProcessLinks::Link(uint32_t process, PeerId peer) {
  if (process >= kMaxProcesses || process == self_) {
    return absl::OutOfRangeError(
        absl::StrCat("cannot link process ", process, ": expected 0 to ",
                     kMaxProcesses - 1, " other than this process, ", self_));
  }
  MutexLock lock(&mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end()) {
    return absl::UnavailableError(
        absl::StrCat("the connection to process ", process, " is gone"));
  }
  if (found->second.has_value() || peer_of_[process].load() != kNoPeer) {
    return absl::FailedPreconditionError(
        absl::StrCat("process ", process, " already has a link"));
  }
  found->second = process;
  lent_.AddPeer(peer);
  peer_of_[process].store(static_cast<uint32_t>(peer));
  return absl::OkStatus();
}

void ProcessLinks::Unlink(uint32_t process) {
  if (process >= kMaxProcesses) return;
  PeerId peer{};
  {
    MutexLock lock(&mutex_);
    const uint32_t linked = peer_of_[process].exchange(kNoPeer);
    if (linked == kNoPeer) return;
    peer = PeerId{linked};
    peers_[peer].reset();
    looked_up_[linked % looked_up_.size()] = 0;
  }
  transport_->Close(peer);
}

void ProcessLinks::SendMembership(PeerId peer, std::string_view bytes) {
  const LinkFrame frame = LinkFrame::Membership(bytes.size());
  transport_->Send(peer, Urgency::kCritical, AsBytes(frame), bytes);
}

void ProcessLinks::OnPeerUp(PeerId peer) {
  MutexLock lock(&mutex_);
  peers_[peer];
}

std::optional<uint32_t> ProcessLinks::ProcessOfPeer(PeerId peer) {
  const auto number = static_cast<uint32_t>(peer);
  std::atomic<uint64_t>& slot = looked_up_[number % looked_up_.size()];
  const uint64_t seen = slot.load(std::memory_order_acquire);
  const auto process_and_one = static_cast<uint32_t>(seen);
  if (seen >> 32 == number && process_and_one > 0) return process_and_one - 1;
  MutexLock lock(&mutex_);
  const auto found = peers_.find(peer);
  if (found == peers_.end() || !found->second.has_value()) return std::nullopt;
  slot.store(uint64_t{number} << 32 | (*found->second + 1),
             std::memory_order_release);
  return found->second;
}

void ProcessLinks::OnMessage(PeerId peer, absl::Span<const char> header,
                             absl::Span<const char> payload) {
  const std::optional<LinkFrame> frame = ReadLinkFrame(header, payload.size());
  if (!frame.has_value()) return counters_.CountForeign();
  if (frame->kind == LinkFrame::kMembership) {
    return listeners_.on_membership(peer, {payload.data(), payload.size()});
  }
  const std::optional<uint32_t> process = ProcessOfPeer(peer);
  // None of the messages of a malformed batch is counted.
  if (!process.has_value() ||
      (frame->kind == LinkFrame::kBatch && !BatchReader::IsBatch(payload))) {
    return counters_.CountForeign();
  }
  counters_.CountReceived(/*messages=*/0, header.size() + payload.size(),
                          /*frames=*/1);
  if (frame->kind == LinkFrame::kBatch) return DeliverBatch(*process, payload);
  if (frame->kind == LinkFrame::kTake || frame->kind == LinkFrame::kRefuse) {
    return OnAnswer(peer, static_cast<LinkFrame::Kind>(frame->kind),
                    TokenIn(payload));
  }
  const WireFrame& wire = frame->wire;
  if (!IsAllowed(*process, wire)) return;
  if (frame->kind == LinkFrame::kOffer) {
    return OnOffer(peer, wire, TokenIn(payload));
  }
  if (frame->kind == LinkFrame::kHot) {
    world_->Send(wire.from, wire.to, wire.message,
                 Payload{payload.data(), payload.size()});
  } else {
    world_->SendControl(wire.from, wire.to,
                        std::string(payload.data(), payload.size()));
  }
}

void ProcessLinks::DeliverBatch(uint32_t process,
                                absl::Span<const char> payload) {
  Arrival arrivals[kMaxArrivals];
  size_t count = 0;
  BatchReader batch(payload);
  while (const std::optional<BatchReader::Entry> entry = batch.Next()) {
    const WireFrame& wire = entry->frame.wire;
    if (!IsAllowed(process, wire)) continue;
    const bool is_hot = entry->frame.kind == LinkFrame::kHot;
    if (!is_hot || count == kMaxArrivals) {
      world_->arrivals()->SendAll(absl::MakeConstSpan(arrivals, count));
      count = 0;
    }
    if (is_hot) {
      arrivals[count++] = {wire.from,
                           wire.to,
                           wire.message,
                           {entry->payload.data(), entry->payload.size()}};
    } else {
      world_->SendControl(
          wire.from, wire.to,
          std::string(entry->payload.data(), entry->payload.size()));
    }
  }
  world_->arrivals()->SendAll(absl::MakeConstSpan(arrivals, count));
}

bool ProcessLinks::IsAllowed(uint32_t process, const WireFrame& wire) {
  if (ProcessOf(wire.from) != process ||
      process_of_(wire.to) != int64_t{self_}) {
    counters_.CountForeign();
    return false;
  }
  counters_.CountReceived(/*messages=*/1, /*bytes=*/0, /*frames=*/0);
  return true;
}

bool ProcessLinks::Lend(ActorId from, ActorId to, const WireMessage& message,
                        const LentPayloads::Lent& lent) {
  const std::optional<PeerId> peer = PeerOf(to);
  if (!peer.has_value()) return false;
  const std::optional<uint64_t> token = lent_.Lend(*peer, lent);
  if (!token.has_value()) {
    counters_.CountUnlinked();
    return false;
  }
  const LinkFrame frame =
      LinkFrame::Offer(from, to, message, lent.payload.bytes);
  SendFrame(*peer, Urgency::kCritical, AsBytes(frame), BytesOf(*token),
            /*messages=*/1);
  return true;
}

void ProcessLinks::OnOffer(PeerId peer, const WireFrame& wire, uint64_t token) {
  const std::optional<uint64_t> number =
      lent_.AddOffer({peer, token, wire.payload_bytes});
  if (number.has_value() &&
      !world_->arrivals()->Offer(wire.from, wire.to, wire.message,
                                 wire.payload_bytes, *number)) {
    RefuseOffer(*number);
  }
}

void ProcessLinks::TakeOffer(uint64_t number, LocalId owner,
                             const ReceiveBuffer& landing) {
  const std::optional<LentPayloads::Offer> offer = lent_.TakeOffer(number);
  if (!offer.has_value() ||
      !lent_.Await(offer->peer, offer->token,
                   {owner, landing.landed, offer->bytes})) {
    return NotLanded(owner, landing.landed);
  }
  // Expect and Answer have no effect if the peer has gone meanwhile.
  transport_->Expect(offer->peer, offer->token, landing.memory, offer->bytes);
  Answer(offer->peer, LinkFrame::kTake, offer->token);
}

void ProcessLinks::RefuseOffer(uint64_t number) {
  if (const auto offer = lent_.TakeOffer(number)) {
    Answer(offer->peer, LinkFrame::kRefuse, offer->token);
  }
}

void ProcessLinks::Answer(PeerId peer, LinkFrame::Kind kind, uint64_t token) {
  const LinkFrame frame = LinkFrame::Answer(kind);
  SendFrame(peer, Urgency::kCritical, AsBytes(frame), BytesOf(token),
            /*messages=*/0);
}

void ProcessLinks::OnAnswer(PeerId peer, LinkFrame::Kind kind, uint64_t token) {
  const std::optional<LentPayloads::Lent> lent = lent_.TakeLent(peer, token);
  if (!lent.has_value()) return;  // second copy of the answer
  const auto give_back = [this, owner = lent->owner,
                          returned = lent->returned] {
    world_->SendLocal(kNobody, owner, returned);
  };
  if (kind == LinkFrame::kRefuse) return give_back();
  counters_.CountSent(/*messages=*/0, lent->payload.bytes, /*frames=*/0);
  transport_->Put(peer, token, BytesOf(lent->payload), give_back);
}

void ProcessLinks::OnPayload(PeerId peer, uint64_t token) {
  const std::optional<LentPayloads::Awaited> awaited =
      lent_.TakeAwaited(peer, token);
  if (!awaited.has_value()) return;
  counters_.CountReceived(/*messages=*/0, awaited->bytes, /*frames=*/0);
  world_->SendLocal(kNobody, awaited->owner, awaited->landed);
}

void ProcessLinks::NotLanded(LocalId owner, LocalMessage landed) {
  landed.flags |= kNotReceived;
  world_->SendLocal(kNobody, owner, landed);
}

void ProcessLinks::OnPeerDown(PeerId peer, const absl::Status& why) {
  const LentPayloads::Left left = lent_.RemovePeer(peer);
  for (const LentPayloads::Lent& lent : left.lent) {
    world_->SendLocal(kNobody, lent.owner, lent.returned);
  }
  for (const LentPayloads::Awaited& awaited : left.awaited) {
    NotLanded(awaited.owner, awaited.landed);
  }
  std::optional<uint32_t> process;
  {
    MutexLock lock(&mutex_);
    auto found = peers_.find(peer);
    if (found == peers_.end()) {
      if (dialing_ > 0) early_.insert(peer);
      return;
    }
    process = found->second;
    peers_.erase(found);
    if (process.has_value()) peer_of_[*process].store(kNoPeer);
  }
  listeners_.on_down(peer, process, why);
}

}  // namespace pathways
