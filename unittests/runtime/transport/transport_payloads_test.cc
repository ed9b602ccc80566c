//===- transport_payloads_test.cc - Payloads ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "unittests/runtime/transport/transport_conformance.h"

namespace pathways {
namespace {

using ::testing::UnorderedElementsAre;
using TransportPayloads = TransportPair;

TEST_P(TransportPayloads, ArriveInTheMemoryThatWasNamed) {
  const std::vector<size_t> sizes = {0, 1, 100'000, 3'000'001, 64, 0};
  std::vector<std::string> sent, memory;
  for (size_t bytes : sizes) {
    sent.push_back(Pattern(bytes, sent.size()));
    memory.emplace_back(bytes + 1, '.');
  }
  std::atomic<int> given_back{0};
  for (size_t i = 0; i < sizes.size(); ++i) {
    b_.transport->Expect(a_of_b_, 100 + i, memory[i].data(), sizes[i]);
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    a_.transport->Put(b_of_a_, 100 + i, sent[i], [&] { ++given_back; });
    Send(Urgency::kBulk, "between", Pattern(1000, i));
    Send(Urgency::kCritical, "between", Pattern(1000, i));
  }
  Until([&] {
    return b_.TokensOf(a_of_b_) == sizes.size() &&
           b_.MessagesOf(a_of_b_) == 2 * sizes.size() &&
           given_back.load() == static_cast<int>(sizes.size());
  });
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_TRUE(memory[i] == sent[i] + ".") << i;
  }
  // The thread that wrote the payload may not have removed it from the backlog
  // yet.
  Until([&] { return a_.transport->backlog(b_of_a_) == 0; });
}

TEST_P(TransportPayloads, UseATokenAgainOnceItsPayloadCame) {
  for (int i = 0; i < 3; ++i) {
    const std::string sent = Pattern(1000 + i, i);
    std::string memory(sent.size(), '.');
    std::atomic<bool> given_back{false};
    b_.transport->Expect(a_of_b_, 7, memory.data(), memory.size());
    a_.transport->Put(b_of_a_, 7, sent, [&] { given_back.store(true); });
    Until([&] {
      return b_.TokensOf(a_of_b_) == size_t(i) + 1 && given_back.load();
    });
    EXPECT_TRUE(memory == sent);
  }
}

TEST_P(TransportPayloads, LetMessagesOfBothClassesPass) {
  static const std::string& huge = *new std::string(Pattern(kHuge, 1));
  std::string memory(kHuge, '.');
  std::atomic<int> given_back{0};
  b_.transport->Expect(a_of_b_, 1, memory.data(), memory.size());
  WhileBReadsNothing([&] {
    a_.transport->Put(b_of_a_, 1, huge, [&] { ++given_back; });
    Send(Urgency::kBulk, "bulk");
    Send(Urgency::kCritical, "critical");
  });
  Until([&] {
    return b_.TokensOf(a_of_b_) == 1 && given_back.load() == 1 &&
           b_.MessagesOf(a_of_b_) == 3;
  });
  // The order of the two is not guaranteed.
  const std::vector<std::string> log = b_.Of(a_of_b_).log;
  EXPECT_THAT(log, UnorderedElementsAre("now", "critical", "bulk", "payload"));
  EXPECT_EQ(log.front(), "now");
  EXPECT_EQ(log.back(), "payload");
  EXPECT_TRUE(memory == huge);
}

TEST_P(TransportPayloads, ThatNobodyExpectsEndTheConnection) {
  const std::string bytes(10, 'x');
  std::atomic<int> given_back{0};
  a_.transport->Put(b_of_a_, 5, bytes, [&] { ++given_back; });
  Until([&] { return a_.IsDown(b_of_a_) && b_.IsDown(a_of_b_); });
  EXPECT_EQ(b_.Of(a_of_b_).why.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(testing::IsSubstring("", "", "received payload",
                                   std::string(b_.Of(a_of_b_).why.message())))
      << b_.Of(a_of_b_).why;
  EXPECT_FALSE(a_.Of(b_of_a_).why.ok());
  EXPECT_EQ(given_back.load(), 1);
}

TEST_P(TransportPayloads, OfAnotherSizeThanExpectedEndTheConnection) {
  for (size_t bytes : {0, 9, 11, 3'000'000}) {
    Node& from = Add();
    Node& to = Add();
    PeerId to_of_from, from_of_to;
    Connect(from, to, &to_of_from, &from_of_to);
    const std::string sent = Pattern(bytes, 1);
    std::string memory(20, '.');
    std::atomic<int> given_back{0};
    to.transport->Expect(from_of_to, 5, memory.data(), 10);
    from.transport->Put(to_of_from, 5, sent, [&] { ++given_back; });
    Until([&] { return from.IsDown(to_of_from) && to.IsDown(from_of_to); });
    EXPECT_EQ(to.Of(from_of_to).why.code(), absl::StatusCode::kInvalidArgument)
        << to.Of(from_of_to).why;
    EXPECT_EQ(given_back.load(), 1);
    EXPECT_TRUE(to.Of(from_of_to).tokens.empty());
    EXPECT_EQ(memory.substr(10), "..........");
  }
}

TEST_P(TransportPayloads, GiveTheirBytesBackWhenThePeerIsDown) {
  std::atomic<int> given_back{0};
  b_.transport->Stop();
  Until([&] { return a_.IsDown(b_of_a_); });
  const std::string bytes(10, 'x');
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> inside{true};
  const auto sent = [&] {
    EXPECT_FALSE(inside.load() && std::this_thread::get_id() == caller);
    ++given_back;
  };
  a_.transport->Put(b_of_a_, 5, bytes, sent);
  a_.transport->Put(PeerId{12345}, 5, bytes, sent);
  inside.store(false);
  Until([&] { return given_back.load() == 2; });
}

INSTANTIATE_TEST_SUITE_P(All, TransportPayloads,
                         testing::ValuesIn(TransportCases()), NameOfCase);

}  // namespace
}  // namespace pathways
