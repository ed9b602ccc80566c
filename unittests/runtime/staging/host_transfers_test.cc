//===- host_transfers_test.cc - Values to and from a host, piece by piece -===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/staging/host_transfers.h"

#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/protocol/wire_kind.h"

namespace pathways {
namespace {

constexpr uint32_t kClient = 3;
constexpr uint64_t kObject = 77;

struct Sent {
  uint32_t client;
  WireMessage message;
  Payload payload;
};

class HostTransfersTest : public ::testing::Test {
 protected:
  std::vector<Sent> Take() { return std::exchange(sent_, {}); }

  WireMessage Block(PulledPiece piece, uint64_t transfer = kObject) {
    WireMessage message;
    message.kind = kBlockMessage;
    message.step = transfer;
    message.item = piece.number;
    message.target = piece.slot;
    return message;
  }
  bool Deliver(const WireMessage& message, const std::string& bytes,
               uint32_t client = kClient) {
    return transfers_.OnBlock(client, message, {bytes.data(), bytes.size()},
                              Send());
  }

  const HostTransfers::Sender& Send() { return sender_; }

  Arena arena_{"host", 1 << 26, /*backed=*/true};
  HostStore store_{&arena_};
  HostTransfers transfers_;
  std::vector<Sent> sent_;
  HostTransfers::Sender sender_ =
      [this](uint32_t client, const WireMessage& message, Payload payload) {
        sent_.push_back({client, message, payload});
      };
};

TEST_F(HostTransfersTest, PullsAnObjectAWindowAtATime) {
  const uint64_t bytes = 10 * kPieceBytes + 5;
  auto object = store_.Expect(kObject, bytes, "x");
  std::string values(bytes, '\0');
  for (size_t i = 0; i < values.size(); ++i) values[i] = char(i * 7 + i / 256);
  transfers_.Pull(kClient, object, Send());
  std::deque<Sent> asked;
  bool settled = false;
  size_t pulls = 0;
  while (true) {
    for (Sent& sent : Take()) asked.push_back(sent);
    ASSERT_LE(asked.size(), kPullWindow);
    ASSERT_FALSE(asked.empty());
    // The last one first: pieces come in any order.
    const WireMessage pull = asked.back().message;
    asked.pop_back();
    EXPECT_EQ(pull.step, kObject);
    if (pull.kind == kTransferDoneMessage) break;
    ASSERT_EQ(pull.kind, kPullMessage);
    ++pulls;
    EXPECT_FALSE(settled);
    const uint64_t offset = pull.item * kPieceBytes;
    settled = Deliver(Block({pull.item, pull.target}),
                      values.substr(offset, kPieceBytes));
  }
  EXPECT_TRUE(settled);
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(pulls, 11u);
  EXPECT_TRUE(object->complete());
  EXPECT_EQ(std::memcmp(object->data(), values.data(), bytes), 0);
  EXPECT_EQ(transfers_.bytes_stored(), bytes);
  EXPECT_EQ(transfers_.num_pulls(), 0u);
}

TEST_F(HostTransfersTest, TakesNothingThatWasNotAskedFor) {
  auto object = store_.Expect(kObject, 8, "x");
  transfers_.Pull(kClient, object, Send());
  const PulledPiece piece{0, Take()[0].message.target};
  EXPECT_FALSE(Deliver(Block(piece), "foreign!", kClient + 1));
  EXPECT_FALSE(Deliver(Block(piece, kObject + 1), "foreign!"));
  EXPECT_FALSE(Deliver(Block({1, piece.slot}), "foreign!"));
  EXPECT_EQ(object->received, 0u);
  EXPECT_TRUE(Deliver(Block(piece), "expected"));
  EXPECT_FALSE(Deliver(Block(piece), "again!!!"));
  EXPECT_EQ(std::string(object->data(), 8), "expected");
}

TEST_F(HostTransfersTest, APieceOfAnotherSizeFailsTheObject) {
  auto object = store_.Expect(kObject, 8, "x");
  transfers_.Pull(kClient, object, Send());
  EXPECT_TRUE(Deliver(Block({0, Take()[0].message.target}), "short"));
  EXPECT_EQ(object->status.message(),
            "a piece of an array has 5 bytes, expected 8");
  EXPECT_EQ(Take().back().message.kind, kTransferDoneMessage);
}

TEST_F(HostTransfersTest, AClientThatIsGoneFailsTheObject) {
  auto object = store_.Expect(kObject, 9 * kPieceBytes, "x");
  transfers_.Pull(kClient, object, Send());
  const std::vector<Sent> asked = Take();
  ASSERT_EQ(asked.size(), kPullWindow);
  for (size_t i = 0; i < asked.size(); ++i) {
    WireMessage none = Block({asked[i].message.item, asked[i].message.target});
    none.flags = kPoisoned;
    EXPECT_EQ(Deliver(none, ""), i == 0);
  }
  EXPECT_EQ(object->status.code(), absl::StatusCode::kUnavailable);
  const std::vector<Sent> last = Take();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].message.kind, kTransferDoneMessage);
}

TEST_F(HostTransfersTest, WithoutRoomTheClientIsToldAtOnce) {
  auto object = store_.Expect(kObject, uint64_t{1} << 40, "x");
  transfers_.Pull(kClient, object, Send());
  const std::vector<Sent> sent = Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].message.kind, kTransferDoneMessage);
  EXPECT_EQ(transfers_.num_pulls(), 0u);
}

TEST_F(HostTransfersTest, WhatIsStoppedReadsNothingMore) {
  transfers_.Pull(kClient, store_.Expect(kObject, 9 * kPieceBytes, "x"),
                  Send());
  const std::vector<Sent> asked = Take();
  store_.Drop(kObject);
  transfers_.Stop(kObject, Send());
  EXPECT_EQ(arena_.used(), 0u);
  EXPECT_EQ(Take().back().message.kind, kTransferDoneMessage);
  // The client's memory may be gone.
  WireMessage late = Block({asked[0].message.item, asked[0].message.target});
  EXPECT_FALSE(transfers_.OnBlock(
      kClient, late, {reinterpret_cast<const char*>(8), kPieceBytes}, Send()));
  transfers_.Stop(kObject, Send());
  EXPECT_TRUE(Take().empty());
}

TEST_F(HostTransfersTest, AsksAgainForWhatHasNotCome) {
  transfers_.Pull(kClient, store_.Expect(kObject, 2 * kPieceBytes, "x"),
                  Send());
  const std::vector<Sent> asked = Take();
  Deliver(Block({asked[0].message.item, asked[0].message.target}),
          std::string(kPieceBytes, 'a'));
  transfers_.PullAgain(kObject, Send());
  const std::vector<Sent> again = Take();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].message.item, asked[1].message.item);
  EXPECT_EQ(again[0].message.target, asked[1].message.target);
  transfers_.PullAgain(kObject + 1, Send());
  EXPECT_TRUE(Take().empty());
}

// Somebody may ask at a constant rate for hours. What is sent again must not
// grow as fast, or a slow link never catches up.
TEST_F(HostTransfersTest, SendsAgainMoreAndMoreSeldomUntilSomethingComes) {
  transfers_.Pull(kClient, store_.Expect(kObject, 2 * kPieceBytes, "x"),
                  Send());
  const std::vector<Sent> asked = Take();
  ASSERT_EQ(asked.size(), 2u);
  size_t sent = 0;
  for (int i = 0; i < 1000; ++i) {
    transfers_.PullAgain(kObject, Send());
    sent += Take().size();
  }
  EXPECT_EQ(sent, 2u * 10);  // calls 1, 2, 4, ..., 512
  Deliver(Block({asked[0].message.item, asked[0].message.target}),
          std::string(kPieceBytes, 'a'));
  transfers_.PullAgain(kObject, Send());
  EXPECT_EQ(Take().size(), 1u);

  auto object = store_.Create(kObject + 1, 3 * kPieceBytes, "y");
  transfers_.Lend(kClient, /*request=*/5, object, absl::OkStatus(), /*first=*/0,
                  Send());
  Take();
  sent = 0;
  for (int i = 0; i < 1000; ++i) {
    transfers_.LendAgain(kClient, 5, 0, Send());
    sent += Take().size();
  }
  EXPECT_EQ(sent, 10u);
  WireMessage pull = Block({1, 2}, 5);
  pull.kind = kPullMessage;
  transfers_.OnPull(kClient, pull, Send());
  Take();
  transfers_.LendAgain(kClient, 5, 0, Send());
  EXPECT_EQ(Take().size(), 1u);
  transfers_.EndLend(kClient, 5);
}

TEST_F(HostTransfersTest, LendsUntilTheRequestIsOver) {
  const uint64_t bytes = kPieceBytes + 3;
  auto object = store_.Create(kObject, bytes, "y");
  for (uint64_t i = 0; i < bytes; ++i) object->data()[i] = char(i * 5);
  transfers_.Lend(kClient, /*request=*/5, object, absl::OkStatus(), /*first=*/0,
                  Send());
  store_.Drop(kObject);
  WireMessage pull = Block({1, 2}, 5);
  pull.kind = kPullMessage;
  transfers_.OnPull(kClient, pull, Send());
  transfers_.OnPull(kClient + 1, pull, Send());  // nobody lent it to that one
  pull.item = 2;
  transfers_.OnPull(kClient, pull, Send());  // there is no such piece
  const std::vector<Sent> sent = Take();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].payload.bytes, kPieceBytes);
  EXPECT_EQ(sent[0].payload.data, object->data());  // not copied
  EXPECT_EQ(sent[1].message.item, 1u);
  EXPECT_EQ(sent[1].message.target, 2u);
  EXPECT_EQ(sent[1].payload.bytes, 3u);
  EXPECT_EQ(transfers_.Sent(kClient, 5), 2u);
  object = nullptr;
  EXPECT_GT(arena_.used(), 0u);
  transfers_.EndLend(kClient, 6);
  EXPECT_GT(arena_.used(), 0u);
  transfers_.LendAgain(kClient, 5, 0, Send());
  transfers_.LendAgain(kClient, 5, 9, Send());  // there is no such piece
  EXPECT_EQ(Take().size(), 1u);
  transfers_.EndLend(kClient, 5);
  transfers_.LendAgain(kClient, 5, 0, Send());
  EXPECT_TRUE(Take().empty());
  EXPECT_EQ(arena_.used(), 0u);
  EXPECT_EQ(transfers_.num_lent(), 0u);
}

TEST_F(HostTransfersTest, WhatIsNotHereIsNotLent) {
  transfers_.Lend(kClient, 5, nullptr, absl::OkStatus(), 0, Send());
  transfers_.Lend(kClient, 6, store_.Create(kObject, 8, "y"), absl::OkStatus(),
                  1, Send());
  for (const Sent& sent : Take()) {
    EXPECT_EQ(sent.message.kind, kBlockMessage);
    EXPECT_EQ(sent.message.flags, kPoisoned);
    EXPECT_EQ(sent.payload.data, nullptr);
  }
  EXPECT_EQ(transfers_.num_lent(), 0u);
}

}  // namespace
}  // namespace pathways
