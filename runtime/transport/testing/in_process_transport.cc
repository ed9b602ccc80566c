//===- in_process_transport.cc - Transports inside one process --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/testing/in_process_transport.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/transport/run_guard.h"
#include "runtime/transport/testing/in_process_link.h"

namespace pathways {
namespace {

constexpr int kCallsOfAPeer = 16;  // limit of one Poll

}  // namespace

// The connections of one transport. Thread-safe. Its owners are the transport
// and, while other transports may dial it, the network.
class InProcessStation {
 public:
  struct Connection {
    std::shared_ptr<InProcessLink> link;
    InProcessLink::Side side;
  };

  explicit InProcessStation(const TransportLimits& limits) : limits_(limits) {}

  const TransportLimits& limits() const { return limits_; }

  // Returns Unavailable, and leaves the link, if the transport has stopped.
  absl::StatusOr<PeerId> Add(Connection connection) {
    MutexLock lock(&mutex_);
    if (stopped_) {
      connection.link->Leave(connection.side);
      return absl::UnavailableError("the transport has stopped");
    }
    const PeerId peer{++last_};
    connections_.emplace(peer, std::move(connection));
    return peer;
  }
  Connection Find(PeerId peer) const {
    MutexLock lock(&mutex_);
    const auto found = connections_.find(peer);
    return found == connections_.end() ? Connection() : found->second;
  }
  std::vector<std::pair<PeerId, Connection>> all() const {
    MutexLock lock(&mutex_);
    return {connections_.begin(), connections_.end()};
  }
  void Forget(PeerId peer) {
    MutexLock lock(&mutex_);
    connections_.erase(peer);
  }
  void Stop() {
    std::map<PeerId, Connection> left;
    {
      MutexLock lock(&mutex_);
      stopped_ = true;
      left.swap(connections_);
    }
    for (auto& [peer, connection] : left) {
      connection.link->Leave(connection.side);
    }
  }

 private:
  const TransportLimits limits_;
  mutable Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  uint32_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<PeerId, Connection> connections_ ABSL_GUARDED_BY(mutex_);
};

bool InProcessNetwork::Add(absl::string_view name,
                           std::shared_ptr<InProcessStation> station) {
  MutexLock lock(&mutex_);
  return names_.emplace(std::string(name), std::move(station)).second;
}

void InProcessNetwork::Remove(const InProcessStation* station) {
  MutexLock lock(&mutex_);
  std::erase_if(names_, [station](const auto& name) {
    return name.second.get() == station;
  });
}

std::shared_ptr<InProcessStation> InProcessNetwork::Find(
    absl::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

namespace {

absl::StatusOr<absl::string_view> NameIn(absl::string_view address) {
  absl::string_view name = address;
  if (!absl::ConsumePrefix(&name, "local:") || name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", address, "' is not an address, expected local:NAME"));
  }
  return name;
}

class InProcessTransport : public Transport {
 public:
  InProcessTransport(std::shared_ptr<InProcessNetwork> network,
                     const TransportLimits& limits, TransportEvents* events)
      : network_(std::move(network)),
        station_(std::make_shared<InProcessStation>(limits)),
        events_(events) {}
  ~InProcessTransport() override { InProcessTransport::Stop(); }

  absl::StatusOr<std::string> Listen(absl::string_view address) override {
    absl::StatusOr<absl::string_view> name = NameIn(address);
    if (!name.ok()) return name.status();
    if (!network_->Add(*name, station_)) {
      return absl::AlreadyExistsError(
          absl::StrCat("cannot listen on '", address, "': it is in use"));
    }
    if (gate_.is_shut()) {
      network_->Remove(station_.get());
      return absl::UnavailableError("the transport has stopped");
    }
    return std::string(address);
  }

  absl::StatusOr<PeerId> Dial(absl::string_view address,
                              absl::Duration /*timeout*/) override {
    absl::StatusOr<absl::string_view> name = NameIn(address);
    if (!name.ok()) return name.status();
    std::shared_ptr<InProcessStation> other = network_->Find(*name);
    if (other == nullptr) {
      return absl::UnavailableError(
          absl::StrCat("cannot dial '", address, "': nobody listens there"));
    }
    auto link =
        std::make_shared<InProcessLink>(station_->limits(), other->limits());
    absl::StatusOr<PeerId> peer = station_->Add({link, InProcessLink::kDialed});
    // If the other transport stops just now, it leaves the link, and this side
    // is notified.
    if (peer.ok()) {
      other->Add({link, InProcessLink::kListened}).IgnoreError();
    }
    return peer;
  }

  void Send(PeerId peer, Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload) override {
    auto [link, side] = station_->Find(peer);
    if (link != nullptr) link->Send(side, urgency, header, payload);
  }
  void Expect(PeerId peer, uint64_t token, void* memory,
              uint64_t bytes) override {
    auto [link, side] = station_->Find(peer);
    if (link != nullptr) link->Expect(side, token, memory, bytes);
  }
  void Put(PeerId peer, uint64_t token, absl::Span<const char> bytes,
           std::function<void()> sent) override {
    auto [link, side] = station_->Find(peer);
    if (link != nullptr && link->Put(side, token, bytes, &sent)) {
      return;
    }
    MutexLock lock(&mutex_);
    refused_.push_back(std::move(sent));
  }
  uint64_t backlog(PeerId peer) const override {
    auto [link, side] = station_->Find(peer);
    return link == nullptr ? 0 : link->backlog(side);
  }
  void Close(PeerId peer) override {
    auto [link, side] = station_->Find(peer);
    if (link != nullptr) link->Close(side);
  }

  bool Poll() override {
    if (!gate_.Enter()) return false;
    const bool moved = Move();
    gate_.Leave();
    return moved;
  }

  void Stop() override {
    gate_.Shut();
    network_->Remove(station_.get());
    station_->Stop();
  }

 private:
  bool Move() {
    bool moved = CallRefused();
    for (auto& [peer, connection] : station_->all()) {
      auto& [link, side] = connection;
      for (int i = 0; i < kCallsOfAPeer && !gate_.is_shut() &&
                      link->Deliver(side, peer, events_);
           ++i) {
        moved = true;
      }
      if (link->has_ended(side)) station_->Forget(peer);
    }
    return moved;
  }
  // Calls the callbacks of payloads for peers that were down.
  bool CallRefused() {
    std::vector<std::function<void()>> refused;
    {
      MutexLock lock(&mutex_);
      refused.swap(refused_);
    }
    for (auto& sent : refused) sent();
    return !refused.empty();
  }

  const std::shared_ptr<InProcessNetwork> network_;
  const std::shared_ptr<InProcessStation> station_;
  TransportEvents* const events_;
  RunGuard gate_;
  Mutex mutex_;
  std::vector<std::function<void()>> refused_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Transport> MakeInProcessTransport(
    std::shared_ptr<InProcessNetwork> network, const TransportLimits& limits,
    TransportEvents* events) {
  return std::make_unique<InProcessTransport>(std::move(network), limits,
                                              events);
}

}  // namespace pathways
