//===- transport_messages_test.cc - Order and wholeness -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "unittests/runtime/transport/transport_conformance.h"

namespace pathways {
namespace {

using TransportMessages = TransportPair;

TEST_P(TransportMessages, ArriveInOrderOfTheirClassAndWhole) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  constexpr size_t kMessages = 3000;
  std::vector<std::string> sent[2];  // payloads, by class
  for (size_t i = 0; i < kMessages; ++i) {
    const int bulk = random() % 2;
    // Mostly short, some around the sizes where engines change their ways.
    const size_t bytes =
        random() % 50 == 0 ? random() % 300'000 : random() % 90;
    sent[bulk].push_back(Pattern(bytes, random()));
    Send(bulk ? Urgency::kBulk : Urgency::kCritical, bulk ? "bulk" : "critical",
         sent[bulk].back());
    if (random() % 16 == 0) PollAll();
  }
  Until([&] { return b_.MessagesOf(a_of_b_) == kMessages; });
  std::vector<std::string> came[2];
  const Node::Peer peer = b_.Of(a_of_b_);
  for (size_t i = 0; i < kMessages; ++i) {
    came[peer.headers[i] == "bulk"].push_back(peer.payloads[i]);
  }
  EXPECT_TRUE(came[0] == sent[0]);
  EXPECT_TRUE(came[1] == sent[1]);
}

TEST_P(TransportMessages, MayBeEmptyInEitherPart) {
  for (Urgency urgency : {Urgency::kCritical, Urgency::kBulk}) {
    Send(urgency, "", "");
    Send(urgency, "header", "");
    Send(urgency, "", "payload");
  }
  Until([&] { return b_.MessagesOf(a_of_b_) == 6; });
  std::map<std::string, int> came;
  const Node::Peer peer = b_.Of(a_of_b_);
  for (int i = 0; i < 6; ++i) ++came[peer.headers[i] + "|" + peer.payloads[i]];
  EXPECT_EQ(came, (std::map<std::string, int>{
                      {"|", 2}, {"header|", 2}, {"|payload", 2}}));
}

TEST_P(TransportMessages, AreWholeHoweverLongInBothDirections) {
  const std::string one = Pattern(5'000'001, 1), two = Pattern(3'000'003, 2);
  const std::string header = Pattern(100'000, 3);
  Send(Urgency::kBulk, header, one);
  Send(Urgency::kCritical, header, two);
  b_.transport->Send(a_of_b_, Urgency::kBulk, header, two);
  b_.transport->Send(a_of_b_, Urgency::kCritical, header, one);
  Until([&] {
    return b_.MessagesOf(a_of_b_) == 2 && a_.MessagesOf(b_of_a_) == 2;
  });
  for (const Node::Peer& peer : {b_.Of(a_of_b_), a_.Of(b_of_a_)}) {
    EXPECT_TRUE(peer.headers[0] == header && peer.headers[1] == header);
    EXPECT_TRUE((peer.payloads[0] == one && peer.payloads[1] == two) ||
                (peer.payloads[0] == two && peer.payloads[1] == one));
  }
}

TEST_P(TransportMessages, CriticalOnesPassALongBulkOne) {
  const std::string huge(kHuge, 'x');
  WhileBReadsNothing([&] {
    Send(Urgency::kBulk, "bulk", huge);
    Send(Urgency::kCritical, "critical");
  });
  Until([&] { return b_.MessagesOf(a_of_b_) == 3; });
  EXPECT_EQ(b_.Of(a_of_b_).headers,
            (std::vector<std::string>{"now", "critical", "bulk"}));
}

TEST_P(TransportMessages, AreKeptAndCountedWhileThePeerReadsNothing) {
  const std::string huge(kHuge, 'x');
  uint64_t backlog = 0;
  WhileBReadsNothing([&] {
    Send(Urgency::kBulk, "bulk", huge);
    for (int i = 0; i < 1000; ++i) Send(Urgency::kCritical, "c", "payload");
    backlog = a_.transport->backlog(b_of_a_);
  });
  EXPECT_GT(backlog, kHuge / 2);
  Until([&] { return b_.MessagesOf(a_of_b_) == 1002; });
  Until([&] { return a_.transport->backlog(b_of_a_) == 0; });
}

TEST_P(TransportMessages, MayBeSentByHandlers) {
  const auto answer = [](Node& node, int limit) {
    node.OnEachMessage([&node, limit](PeerId peer, absl::string_view header) {
      if (header.size() < static_cast<size_t>(limit)) {
        node.transport->Send(
            peer, header.size() % 3 ? Urgency::kCritical : Urgency::kBulk,
            std::string(header.size() + 1, 'x'), {});
      }
    });
  };
  answer(a_, 1000);
  answer(b_, 1000);
  Send(Urgency::kCritical, "x");
  Until([&] { return a_.MessagesOf(b_of_a_) == 500; });
  EXPECT_EQ(a_.Of(b_of_a_).headers.back().size(), 1000);
}

TEST_P(TransportMessages, ComeOneAtATimeOfAPeerHoweverManyThreadsPoll) {
  constexpr int kEach = 2000;
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done.load()) PollAll();
    });
  }
  for (const std::string& name : {std::string("1"), std::string("2")}) {
    threads.emplace_back([&, name] {
      for (int i = 0; i < kEach; ++i) {
        const std::string number = std::to_string(i);
        a_.transport->Send(b_of_a_, i % 2 ? Urgency::kCritical : Urgency::kBulk,
                           name, number);
        b_.transport->Send(a_of_b_, i % 2 ? Urgency::kCritical : Urgency::kBulk,
                           name, number);
      }
    });
  }
  while (b_.MessagesOf(a_of_b_) < 2 * kEach ||
         a_.MessagesOf(b_of_a_) < 2 * kEach) {
    std::this_thread::yield();
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  for (const Node::Peer& peer : {b_.Of(a_of_b_), a_.Of(b_of_a_)}) {
    std::map<std::string, int> last;  // by sender and class
    for (size_t i = 0; i < peer.headers.size(); ++i) {
      const int number = std::stoi(peer.payloads[i]);
      const std::string way = peer.headers[i] + (number % 2 ? "c" : "b");
      EXPECT_EQ(number, last.contains(way) ? last[way] + 2 : number % 2);
      last[way] = number;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TransportMessages,
                         testing::ValuesIn(TransportCases()), NameOfCase);

}  // namespace
}  // namespace pathways
