//===- transport_conformance.h - Requirements of all transports -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The transport_*_test.cc say it, of all engines in TransportCases(). None of
// them sleeps or measures time: a case polls until what it waits for is there.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_TRANSPORT_TRANSPORT_CONFORMANCE_H_
#define UNITTESTS_RUNTIME_TRANSPORT_TRANSPORT_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/transport.h"

namespace pathways {

// Transports that can dial one another. It outlives them.
class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual std::unique_ptr<Transport> Make(const TransportLimits& limits,
                                          TransportEvents* events) = 0;
  // Returns an address to listen on; a new one each time.
  virtual std::string NewAddress() = 0;
  // An address that nobody listens on.
  virtual std::string NobodysAddress() = 0;
  // Returns texts that are no addresses of the engine.
  virtual std::vector<std::string> BadAddresses() = 0;
};

struct TransportCase {
  std::string name;
  std::function<std::unique_ptr<Fabric>()> make;
  friend void PrintTo(const TransportCase& c, std::ostream* out) {
    *out << c.name;
  }
};

std::vector<TransportCase> TransportCases();

inline std::string NameOfCase(
    const testing::TestParamInfo<TransportCase>& info) {
  return info.param.name;
}

// A transport and what it told. Checks what holds for every handler: calls of
// one peer come one at a time, none after OnPeerDown.
class Node : public TransportEvents {
 public:
  // Called in OnMessage, before the message counts.
  using Hook = std::function<void(PeerId, absl::string_view header)>;
  struct Peer {
    bool up = false;
    std::vector<std::string> headers, payloads;  // of the messages
    std::vector<uint64_t> tokens;                // of payloads
    std::vector<std::string> log;  // headers, and "payload", as they came
    int downs = 0;
    absl::Status why;
  };

  void OnPeerUp(PeerId peer) override {
    Call call(this, peer);
    MutexLock lock(&mutex_);
    peers_[peer].up = true;
    order_.push_back(peer);
  }
  void OnMessage(PeerId peer, absl::Span<const char> header,
                 absl::Span<const char> payload) override {
    Call call(this, peer);
    const std::string text(header.data(), header.size());
    Hook hook;
    {
      MutexLock lock(&mutex_);
      hook = hook_;
    }
    if (hook) hook(peer, text);
    MutexLock lock(&mutex_);
    peers_[peer].log.push_back(text);
    peers_[peer].headers.push_back(text);
    peers_[peer].payloads.emplace_back(payload.data(), payload.size());
  }
  void OnPayload(PeerId peer, uint64_t token) override {
    Call call(this, peer);
    MutexLock lock(&mutex_);
    peers_[peer].log.push_back("payload");
    peers_[peer].tokens.push_back(token);
  }
  void OnPeerDown(PeerId peer, const absl::Status& why) override {
    Call call(this, peer);
    MutexLock lock(&mutex_);
    ++peers_[peer].downs;
    peers_[peer].why = why;
  }

  void OnEachMessage(Hook hook) {
    MutexLock lock(&mutex_);
    hook_ = std::move(hook);
  }
  Peer Of(PeerId peer) {
    MutexLock lock(&mutex_);
    return peers_[peer];
  }
  size_t MessagesOf(PeerId peer) {
    MutexLock lock(&mutex_);
    return peers_[peer].headers.size();
  }
  size_t TokensOf(PeerId peer) {
    MutexLock lock(&mutex_);
    return peers_[peer].tokens.size();
  }
  bool IsDown(PeerId peer) {
    MutexLock lock(&mutex_);
    return peers_[peer].downs > 0;
  }
  // Returns the peers that dialed, in the order of their events.
  std::vector<PeerId> dialers() {
    MutexLock lock(&mutex_);
    return order_;
  }

 private:
  class Call {
   public:
    Call(Node* node, PeerId peer) : node_(node), peer_(peer) {
      MutexLock lock(&node_->mutex_);
      EXPECT_FALSE(node_->calling_[peer_]) << "two calls of a peer at a time";
      EXPECT_EQ(node_->peers_[peer_].downs, 0) << "a call after OnPeerDown";
      node_->calling_[peer_] = true;
    }
    ~Call() {
      MutexLock lock(&node_->mutex_);
      node_->calling_[peer_] = false;
    }

   private:
    Node* const node_;
    const PeerId peer_;
  };

  Mutex mutex_;
  Hook hook_ ABSL_GUARDED_BY(mutex_);
  std::map<PeerId, Peer> peers_ ABSL_GUARDED_BY(mutex_);
  std::map<PeerId, bool> calling_ ABSL_GUARDED_BY(mutex_);
  std::vector<PeerId> order_ ABSL_GUARDED_BY(mutex_);

 public:
  std::unique_ptr<Transport> transport;  // last: it tells until it is gone
};

class TransportConformance : public testing::TestWithParam<TransportCase> {
 protected:
  TransportConformance() : fabric_(GetParam().make()) {}
  ~TransportConformance() override {
    for (Node& node : nodes_) node.transport->Stop();
  }

  Node& Add(const TransportLimits& limits = {}) {
    Node& node = nodes_.emplace_back();
    node.transport = fabric_->Make(limits, &node);
    return node;
  }
  // Dials as a user does whose other threads poll.
  PeerId Dial(Node& from, const std::string& address) {
    std::atomic<bool> done{false};
    std::thread others([&] {
      while (!done.load()) PollAll();
    });
    absl::StatusOr<PeerId> peer =
        from.transport->Dial(address, absl::Seconds(60));
    done.store(true);
    others.join();
    EXPECT_TRUE(peer.ok()) << peer.status();
    return peer.ok() ? *peer : PeerId{};
  }
  // Two transports that are connected: each one's name for the other.
  void Connect(Node& from, Node& to, PeerId* from_knows, PeerId* to_knows) {
    absl::StatusOr<std::string> address =
        to.transport->Listen(fabric_->NewAddress());
    ASSERT_TRUE(address.ok()) << address.status();
    const size_t before = to.dialers().size();
    *from_knows = Dial(from, *address);
    Until([&] { return to.dialers().size() > before; });
    *to_knows = to.dialers().back();
  }
  bool PollAll() {
    bool moved = false;
    for (Node& node : nodes_) moved |= node.transport->Poll();
    if (!moved) std::this_thread::yield();
    return moved;
  }
  template <typename Condition>
  void Until(Condition is_there) {
    while (!is_there()) PollAll();
  }

  std::unique_ptr<Fabric> fabric_;
  std::deque<Node> nodes_;
};

// More bytes than any system keeps for a connection.
inline constexpr size_t kHuge = size_t{48} << 20;

// A pair that is connected, which most cases are about.
class TransportPair : public TransportConformance {
 protected:
  void SetUp() override { Connect(a_, b_, &b_of_a_, &a_of_b_); }

  void Send(Urgency urgency, const std::string& header,
            const std::string& payload = "") {
    a_.transport->Send(b_of_a_, urgency, header, payload);
  }
  // Runs `calls` while b reads nothing: in its handler.
  void WhileBReadsNothing(const std::function<void()>& calls) {
    b_.OnEachMessage([&](PeerId, absl::string_view header) {
      if (header == "now") calls();
    });
    Send(Urgency::kCritical, "now");
    Until([&] { return b_.MessagesOf(a_of_b_) > 0; });
    b_.OnEachMessage(nullptr);
  }

  Node& a_ = Add();
  Node& b_ = Add();
  PeerId b_of_a_{};  // a's name of b
  PeerId a_of_b_{};
};

// Bytes that differ from place to place, and by `seed`.
inline std::string Pattern(size_t bytes, uint32_t seed) {
  std::string text(bytes, '\0');
  uint32_t x = seed * 2654435761U + 1;
  for (char& c : text) {
    x = x * 1664525U + 1013904223U;
    c = static_cast<char>(x >> 24);
  }
  return text;
}

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_TRANSPORT_TRANSPORT_CONFORMANCE_H_
