//===- host_records_test.cc - Tokens and pieces that go together ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kLanes = 4;

// A number from each of four devices of the first host to one of the second,
// which is of another process.
class HostRecordsTest : public ::testing::Test {
 protected:
  void Load(int own, std::vector<uint32_t> cohorts = {}) {
    host_ = std::make_unique<RecordedHost>("2x1x4", own, DispatchOptions{},
                                           /*has_values=*/true, /*epoch=*/1,
                                           std::move(cohorts));
    host_->context.directory = DirectoryOf(host_->topology(), {{0, 1}, {1, 1}});
    host_->context.process = own;
    ASSERT_THAT(ControlsOf(host_->Load(MovePlan("p", kLanes, 0, 1)),
                           proto::Control::kLoadReply),
                SizeIs(1));
  }
  uint32_t EdgeOf(proto::EdgeKind kind) const {
    const auto& edges = host_->plan().edges();
    for (uint32_t e = 0; e < edges.size(); ++e) {
      if (edges[e].kind == kind && edges[e].relation == proto::PIECES) return e;
    }
    ADD_FAILURE();
    return 0;
  }
  WireMessage Record(WireKind kind, uint32_t members, uint64_t step = 0) {
    WireMessage message;
    message.kind = kind;
    message.incarnation = 1;
    message.target =
        EdgeOf(kind == kPiecesMessage ? proto::DATA : proto::CREDIT);
    message.item = members;
    message.step = step;
    message.from_epoch = message.to_epoch = 1;
    message.sequence = ++sequence_;
    return message;
  }
  static std::string Bytes(const std::vector<MemberHeader>& members,
                           const std::string& each) {
    std::string bytes;
    for (const MemberHeader& member : members) {
      bytes.append(reinterpret_cast<const char*>(&member), sizeof member);
      bytes += each;
    }
    return bytes;
  }
  // Tokens that devices get at once; the messages that follow from them do not
  // count.
  struct Told {
    uint32_t tokens = 0;
    bool poisoned = false;
    bool operator==(const Told&) const = default;
  };
  std::vector<Told> Notify(const WireMessage& message,
                           const std::string& bytes) {
    host_->executor->OnWire(
        host_->directory().executor(message.kind == kTokensMessage), message,
        {bytes.data(), bytes.size()});
    std::vector<Told> told;
    for (const Sent& one : host_->world.Take()) {
      if (one.kind != Sent::kLocal || one.local.kind != kTokenBatch) continue;
      const auto* members = static_cast<const TokenBatch*>(one.local.payload);
      EXPECT_TRUE(members->in_flight());
      told.push_back({static_cast<uint32_t>(members->members().size()),
                      (one.local.flags & kPoisoned) != 0});
      host_->world.Deliver(one);
      EXPECT_FALSE(members->in_flight());
    }
    host_->world.DeliverAll();
    return told;
  }
  uint64_t foreign() const { return host_->executor->counters().foreign.get(); }
  std::unique_ptr<RecordedHost> host_;
  uint64_t sequence_ = 0;
};

const std::vector<MemberHeader> kAll = {{0, 0}, {1, 1}, {2, 2}, {3, 3}};

TEST_F(HostRecordsTest, AllDevicesOfACohortAreToldAtOnce) {
  Load(1);
  EXPECT_THAT(Notify(Record(kPiecesMessage, kLanes), Bytes(kAll, "1234")),
              ElementsAre(Told{kLanes, false}));
  EXPECT_EQ(host_->executor->counters().placed_bytes.get(), 4u * kLanes);
  Load(1, /*cohorts=*/{0, 1, 0, 1});
  EXPECT_THAT(Notify(Record(kPiecesMessage, kLanes), Bytes(kAll, "1234")),
              ElementsAre(Told{2, false}, Told{2, false}));
  EXPECT_EQ(foreign(), 0u);
}

TEST_F(HostRecordsTest, TokensHaveNoBytes) {
  Load(0);
  EXPECT_THAT(Notify(Record(kTokensMessage, kLanes, 2), Bytes(kAll, "")),
              ElementsAre(Told{kLanes, false}));
  EXPECT_THAT(Notify(Record(kTokensMessage, kLanes, 3), Bytes(kAll, "1234")),
              IsEmpty());
  EXPECT_EQ(foreign(), 1u);
}

TEST_F(HostRecordsTest, APoisonedRecordHasNoBytes) {
  Load(1);
  WireMessage poisoned = Record(kPiecesMessage, kLanes);
  poisoned.flags = kPoisoned;
  EXPECT_THAT(Notify(poisoned, Bytes(kAll, "")),
              ElementsAre(Told{kLanes, true}));
  EXPECT_EQ(host_->executor->counters().placed_bytes.get(), 0u);
  poisoned = Record(kPiecesMessage, kLanes, 1);
  poisoned.flags = kPoisoned;
  EXPECT_THAT(Notify(poisoned, Bytes(kAll, "1234")), IsEmpty());
  EXPECT_EQ(foreign(), 1u);
}

TEST_F(HostRecordsTest, ASecondCopyIsDropped) {
  Load(1);
  const WireMessage record = Record(kPiecesMessage, kLanes);
  EXPECT_THAT(Notify(record, Bytes(kAll, "1234")), SizeIs(1));
  EXPECT_THAT(Notify(record, Bytes(kAll, "1234")), IsEmpty());
  EXPECT_EQ(host_->executor->counters().duplicates.get(), 1u);
}

// A record with one bad member is dropped as a whole.
TEST_F(HostRecordsTest, WhatIsNoRecordIsDroppedWhole) {
  Load(1);
  uint64_t dropped = 0;
  const auto expect_dropped = [&](uint32_t members, const std::string& bytes) {
    EXPECT_THAT(Notify(Record(kPiecesMessage, members), bytes), IsEmpty());
    EXPECT_EQ(foreign(), ++dropped);
  };
  const std::string whole = Bytes(kAll, "1234");
  for (size_t torn = 0; torn < whole.size(); ++torn) {
    expect_dropped(kLanes, whole.substr(0, torn));
  }
  expect_dropped(kLanes, whole + "1");
  expect_dropped(0, whole);
  expect_dropped(kLanes - 1, whole);
  expect_dropped(kLanes + 1, whole);
  expect_dropped(UINT32_MAX, whole);
  // Twice, or in no order.
  expect_dropped(2, Bytes({{1, 1}, {1, 1}}, "1234"));
  expect_dropped(2, Bytes({{1, 1}, {0, 0}}, "1234"));
  // No pieces that come here.
  expect_dropped(2, Bytes({{0, 0}, {1, 2}}, "1234"));
  expect_dropped(2, Bytes({{0, 0}, {kLanes, kLanes}}, "1234"));
  expect_dropped(2, Bytes({{0, 0}, {UINT32_MAX, UINT32_MAX}}, "1234"));
  // Pieces of another size.
  expect_dropped(2, Bytes({{0, 0}, {1, 1}}, "12345"));
  // An edge that there is not, and one that does not end here.
  for (const uint32_t edge : {UINT32_MAX, EdgeOf(proto::CREDIT)}) {
    WireMessage record = Record(kPiecesMessage, kLanes);
    record.target = edge;
    EXPECT_THAT(Notify(record, whole), IsEmpty());
    EXPECT_EQ(foreign(), ++dropped);
  }
  EXPECT_THAT(Notify(Record(kPiecesMessage, kLanes), whole), SizeIs(1));
}

TEST_F(HostRecordsTest, MoreThanTheMostIsDropped) {
  Load(0);
  std::vector<MemberHeader> members;
  for (uint32_t i = 0; i <= kMaxMembers; ++i) members.push_back({0, i});
  EXPECT_THAT(
      Notify(Record(kTokensMessage, kMaxMembers + 1, 2), Bytes(members, "")),
      IsEmpty());
  EXPECT_EQ(foreign(), 1u);
  members.pop_back();
  EXPECT_THAT(
      Notify(Record(kTokensMessage, kMaxMembers, 2), Bytes(members, "")),
      ElementsAre(Told{kMaxMembers, false}));
}

// The records that the cohort of the sending devices has for the other host.
TEST_F(HostRecordsTest, RecordsGoOutAsTheyAre) {
  Load(0);
  host_->world.copies_payloads = true;
  RecordBatch batch;
  WireMessage pieces = Record(kPiecesMessage, 0, 6);
  pieces.from_epoch = pieces.to_epoch = 0;
  pieces.sequence = 0;
  for (const MemberHeader& member : kAll)
    batch.Add(1, pieces, member, "abcd", 4);
  WireMessage alone = pieces;
  alone.step = 7;
  batch.Add(1, alone, {2, 3}, "efgh", 4);
  WireMessage stale = pieces;
  stale.incarnation = 2;
  batch.Add(1, stale, {2, 3}, "efgh", 4);
  batch.Leave();
  LocalMessage forward;
  forward.kind = kForwardRecords;
  forward.payload = &batch;
  host_->executor->OnLocal(forward);
  EXPECT_FALSE(batch.in_flight());
  const std::vector<Sent> sent = host_->world.Take();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].wire.kind, kPiecesMessage);
  EXPECT_EQ(sent[0].wire.item, 4u);
  EXPECT_EQ(sent[0].wire.sequence, 1u);
  EXPECT_EQ(std::string(sent[0].copy->begin(), sent[0].copy->end()),
            Bytes(kAll, "abcd"));
  // One that is alone is no record.
  EXPECT_EQ(sent[1].wire.kind, kPieceMessage);
  EXPECT_EQ(sent[1].wire.shard, 2u);
  EXPECT_EQ(sent[1].wire.item, 3u);
  EXPECT_EQ(sent[1].wire.sequence, 2u);
  EXPECT_EQ(std::string(sent[1].copy->begin(), sent[1].copy->end()), "efgh");
}

}  // namespace
}  // namespace pathways::testing
