//===- transport_peers_test.cc - Arrival and loss of peers ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "unittests/runtime/transport/transport_conformance.h"

namespace pathways {
namespace {

using testing::HasSubstr;
using TransportAddresses = TransportConformance;
using TransportPeers = TransportPair;

TEST_P(TransportAddresses, ThatAreNoneAreRefusedByName) {
  Node& node = Add();
  for (const std::string& address : fabric_->BadAddresses()) {
    const absl::Status listened = node.transport->Listen(address).status();
    const absl::Status dialed =
        node.transport->Dial(address, absl::Seconds(60)).status();
    for (const absl::Status& status : {listened, dialed}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
      EXPECT_THAT(status.message(), HasSubstr(address));
    }
  }
}

TEST_P(TransportAddresses, AreListenedOnByOne) {
  Node& one = Add();
  Node& two = Add();
  absl::StatusOr<std::string> address =
      one.transport->Listen(fabric_->NewAddress());
  ASSERT_TRUE(address.ok()) << address.status();
  const absl::Status again = two.transport->Listen(*address).status();
  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists) << again;
  // The message leaves out the part that only the dialing process may know.
  const bool has_secret = address->rfind("ucx:", 0) == 0;
  EXPECT_THAT(again.message(), HasSubstr(address->substr(
                                   0, has_secret ? address->find('/') : -1)));
  one.transport->Stop();
  EXPECT_TRUE(two.transport->Listen(*address).ok()) << "it is free again";
}

TEST_P(TransportAddresses, ThatNobodyListensOnAreUnavailable) {
  Node& node = Add();
  const std::string address = fabric_->NobodysAddress();
  const absl::Status status =
      node.transport->Dial(address, absl::Seconds(60)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(status.message(), HasSubstr(address));
}

TEST_P(TransportAddresses, MayBeSeveralOfOneTransport) {
  Node& node = Add();
  Node& other = Add();
  PeerId unused;
  Connect(other, node, &unused, &unused);
  Connect(other, node, &unused, &unused);
  EXPECT_EQ(node.dialers().size(), 2);
}

TEST_P(TransportPeers, AreToldToWhoeverWasDialed) {
  EXPECT_TRUE(b_.Of(a_of_b_).up);
  EXPECT_TRUE(a_.dialers().empty());
}

TEST_P(TransportPeers, HaveANumberOfTheirOwnEachTime) {
  std::set<PeerId> seen = {a_of_b_};
  std::vector<PeerId> on_a = {b_of_a_};
  absl::StatusOr<std::string> address =
      b_.transport->Listen(fabric_->NewAddress());
  ASSERT_TRUE(address.ok());
  for (int i = 0; i < 20; ++i) {
    on_a.push_back(Dial(a_, *address));
    EXPECT_GT(on_a.back(), on_a[i]);
    a_.transport->Close(on_a.back());
    Until([&] { return a_.IsDown(on_a.back()); });
  }
  Until([&] { return b_.dialers().size() == 21; });
  for (PeerId peer : b_.dialers()) seen.insert(peer);
  EXPECT_EQ(seen.size(), 21);
}

TEST_P(TransportPeers, ManyAreServedAndGoOneByOne) {
  constexpr int kPeers = 24;
  absl::StatusOr<std::string> address =
      b_.transport->Listen(fabric_->NewAddress());
  ASSERT_TRUE(address.ok());
  b_.OnEachMessage([&](PeerId peer, absl::string_view header) {
    b_.transport->Send(peer, Urgency::kCritical, header, {});
  });
  std::vector<std::pair<Node*, PeerId>> others;
  for (int i = 0; i < kPeers; ++i) {
    Node& node = Add();
    others.emplace_back(&node, Dial(node, *address));
  }
  for (int gone = 0; gone < kPeers; gone += 8) {
    for (int i = gone; i < kPeers; ++i) {
      auto& [node, peer] = others[i];
      node->transport->Send(peer, Urgency::kBulk, std::to_string(i), {});
    }
    for (int i = gone; i < kPeers; ++i) {
      auto& [node, peer] = others[i];
      const size_t want = gone / 8 + 1;
      Until([&] { return node->MessagesOf(peer) == want; });
      EXPECT_EQ(node->Of(peer).headers.back(), std::to_string(i));
    }
    for (int i = gone; i < gone + 8; ++i) others[i].first->transport->Stop();
  }
  Until([&] {
    int down = 0;
    for (PeerId peer : b_.dialers()) down += b_.IsDown(peer);
    return down == kPeers;
  });
  EXPECT_FALSE(b_.IsDown(a_of_b_));
}

TEST_P(TransportPeers, GoDownOnceWhenTheyStopWhileTheyAreSentTo) {
  const std::string bytes(1 << 20, 'x');
  std::string memory = bytes;
  // A Put to a peer that is down already may be told when the case is over.
  const auto given_back = std::make_shared<std::atomic<int>>(0);
  b_.transport->Expect(a_of_b_, 1, memory.data(), memory.size());
  Send(Urgency::kBulk, "first");
  Until([&] { return b_.MessagesOf(a_of_b_) == 1; });
  std::thread stopping([&] { b_.transport->Stop(); });
  for (int i = 0; !a_.IsDown(b_of_a_); ++i) {
    if (i < 32) {
      Send(Urgency::kBulk, "bulk", bytes);
      Send(Urgency::kCritical, "critical", bytes);
    }
    if (i == 10) {
      a_.transport->Put(b_of_a_, 1, bytes, [given_back] { ++*given_back; });
    }
    a_.transport->Poll();
  }
  stopping.join();
  EXPECT_EQ(a_.Of(b_of_a_).why.code(), absl::StatusCode::kUnavailable)
      << a_.Of(b_of_a_).why;
  EXPECT_LE(given_back->load(), 1);
  EXPECT_EQ(a_.transport->backlog(b_of_a_), 0);
  Send(Urgency::kCritical, "nobody reads this");
  EXPECT_EQ(a_.transport->backlog(b_of_a_), 0);
  EXPECT_EQ(a_.Of(b_of_a_).downs, 1);
}

TEST_P(TransportPeers, AreSentAllThatIsKeptWhenTheyAreClosed) {
  const std::string long_one = Pattern(8'000'000, 1);
  std::string memory(long_one.size(), '.');
  std::atomic<int> given_back{0};
  b_.transport->Expect(a_of_b_, 1, memory.data(), memory.size());
  WhileBReadsNothing([&] {
    Send(Urgency::kBulk, "bulk", long_one);
    Send(Urgency::kCritical, "critical", long_one);
    a_.transport->Put(b_of_a_, 1, long_one, [&] { ++given_back; });
    a_.transport->Close(b_of_a_);
    a_.transport->Close(b_of_a_);
    Send(Urgency::kCritical, "too late");
  });
  Until([&] { return a_.IsDown(b_of_a_) && b_.IsDown(a_of_b_); });
  const Node::Peer peer = b_.Of(a_of_b_);
  ASSERT_EQ(peer.headers.size(), 3);
  EXPECT_TRUE(peer.payloads[1] == long_one && peer.payloads[2] == long_one);
  EXPECT_EQ(peer.tokens, std::vector<uint64_t>{1});
  EXPECT_TRUE(memory == long_one);
  EXPECT_EQ(given_back.load(), 1);
  EXPECT_EQ(peer.why.code(), absl::StatusCode::kUnavailable) << peer.why;
  EXPECT_TRUE(a_.Of(b_of_a_).why.ok()) << a_.Of(b_of_a_).why;
}

TEST_P(TransportPeers, MayBeClosedByBothAtOnceAndByHandlers) {
  b_.OnEachMessage(
      [&](PeerId peer, absl::string_view) { b_.transport->Close(peer); });
  Send(Urgency::kCritical, "close");
  a_.transport->Close(b_of_a_);
  Until([&] { return a_.IsDown(b_of_a_) && b_.IsDown(a_of_b_); });
  EXPECT_EQ(b_.MessagesOf(a_of_b_), 1);
}

TEST_P(TransportPeers, AreLostByAMessageThatIsTooLong) {
  TransportLimits limits;
  limits.max_message_bytes = 1000;
  for (Urgency urgency : {Urgency::kCritical, Urgency::kBulk}) {
    Node& from = Add();
    Node& to = Add(limits);
    PeerId to_of_from, from_of_to;
    Connect(from, to, &to_of_from, &from_of_to);
    from.transport->Send(to_of_from, urgency, std::string(600, 'x'),
                         std::string(400, 'x'));
    Until([&] { return to.MessagesOf(from_of_to) == 1; });
    from.transport->Send(to_of_from, urgency, std::string(600, 'x'),
                         std::string(401, 'x'));
    Until([&] { return from.IsDown(to_of_from) && to.IsDown(from_of_to); });
    EXPECT_EQ(to.Of(from_of_to).why.code(), absl::StatusCode::kInvalidArgument)
        << to.Of(from_of_to).why;
    EXPECT_THAT(to.Of(from_of_to).why.message(), HasSubstr("1001"));
    EXPECT_FALSE(from.Of(to_of_from).why.ok());
    EXPECT_EQ(to.MessagesOf(from_of_to), 1);
  }
}

TEST_P(TransportPeers, AreLostByOwnMessageThatIsTooLong) {
  TransportLimits limits;
  limits.max_message_bytes = 1000;
  Node& from = Add(limits);
  PeerId b_of_from, from_of_b;
  Connect(from, b_, &b_of_from, &from_of_b);
  from.transport->Send(b_of_from, Urgency::kBulk, {}, std::string(1001, 'x'));
  Until([&] { return from.IsDown(b_of_from) && b_.IsDown(from_of_b); });
  EXPECT_EQ(from.Of(b_of_from).why.code(), absl::StatusCode::kInvalidArgument)
      << from.Of(b_of_from).why;
}

TEST_P(TransportPeers, SayNothingAfterStop) {
  const std::string bytes(1 << 20, 'x');
  std::atomic<bool> stopped{false};
  b_.OnEachMessage(
      [&](PeerId, absl::string_view) { EXPECT_FALSE(stopped.load()); });
  for (int i = 0; i < 20; ++i) Send(Urgency::kBulk, "bulk", bytes);
  std::thread polling([&] {
    while (!stopped.load()) b_.transport->Poll();
  });
  Until([&] { return b_.MessagesOf(a_of_b_) > 0; });
  b_.transport->Stop();
  stopped.store(true);
  polling.join();
  const Node::Peer before = b_.Of(a_of_b_);
  EXPECT_FALSE(b_.transport->Poll());
  b_.transport->Stop();
  b_.transport->Send(a_of_b_, Urgency::kCritical, {}, {});
  b_.transport->Close(a_of_b_);
  EXPECT_EQ(b_.transport->backlog(a_of_b_), 0);
  EXPECT_FALSE(
      b_.transport->Dial(fabric_->NobodysAddress(), absl::Seconds(60)).ok());
  EXPECT_FALSE(b_.transport->Listen(fabric_->NewAddress()).ok());
  Until([&] { return a_.IsDown(b_of_a_); });
  EXPECT_EQ(b_.Of(a_of_b_).headers.size(), before.headers.size());
  EXPECT_EQ(b_.Of(a_of_b_).downs, 0);
}

INSTANTIATE_TEST_SUITE_P(All, TransportAddresses,
                         testing::ValuesIn(TransportCases()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(All, TransportPeers,
                         testing::ValuesIn(TransportCases()), NameOfCase);

}  // namespace
}  // namespace pathways
