//===- device_entries_test.cc - Tokens, and what fires by them ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <string>

#include "unittests/runtime/device/device_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeviceEntriesTest : public DeviceTest {
 protected:
  explicit DeviceEntriesTest(const DeviceBackends& backends = NoBackends())
      : DeviceTest(/*simulated=*/false, backends) {}

  // The in-edge by which the other host says that it has room.
  uint32_t CreditOfSend() const {
    const PreparedPlan& plan = *program_->plan;
    for (uint32_t e : plan.in_edges(ActionOf(plan, "m.send"))) {
      if (plan.edges()[e].kind == proto::CREDIT) {
        return program_->edge_bases.At(e, /*device=*/0);
      }
    }
    ADD_FAILURE() << "there is no credit";
    return 0;
  }
};

// The receiver on the other host gives no credit back.
TEST_F(DeviceEntriesTest, AFiringWaitsForATokenAndTakesItOnce) {
  Build(MovePlan("p", 1, 0, /*to=*/1));
  Attach();
  EXPECT_THAT(Grant(0, 4, 4), ElementsAre(kForwardPiece, kForwardPiece));
  const uint32_t credit = CreditOfSend();
  EXPECT_THAT(Notify(kLocalToken, nullptr, credit, /*step=*/2),
              ElementsAre(kForwardPiece));
  EXPECT_EQ(executor_.last.step, 2u);
  // A second token like this is for no firing that waits.
  EXPECT_THAT(Notify(kLocalToken, nullptr, credit, /*step=*/3),
              ElementsAre(kForwardPiece, kDeviceDone));
  EXPECT_THAT(Notify(kLocalToken, nullptr, UINT32_MAX), IsEmpty());
}

// A send whose piece is read where it lies gives nothing of its buffer back.
TEST_F(DeviceEntriesTest, ABufferIsWrittenAgainWhenNobodyReadsIt) {
  for (const int64_t bytes : {kMinLentBytes - 4, kMinLentBytes}) {
    lends_ = true;
    Build(MovePlan("p", 1, 0, /*to=*/1, 0, /*elements=*/bytes / 4));
    Attach();
    const uint32_t credit = CreditOfSend();
    EXPECT_THAT(Grant(0, 8, 8), ElementsAre(kForwardPiece, kForwardPiece));
    if (bytes < static_cast<int64_t>(kMinLentBytes)) {
      EXPECT_EQ(executor_.last.flags, 0u);
      EXPECT_THAT(Notify(kLocalToken, nullptr, credit, /*step=*/2),
                  ElementsAre(kForwardPiece));
      Notify(kDetach);
      continue;
    }
    EXPECT_EQ(executor_.last.flags, kInPlace);
    // The other host has room, but this one has nothing new to send.
    for (uint64_t step : {2, 3}) {
      EXPECT_THAT(Notify(kLocalToken, nullptr, credit, step), IsEmpty());
    }
    const uint32_t entry =
        program_->devices[0]->first_entry[ActionOf(*program_->plan, "m.send")];
    EXPECT_THAT(Notify(kPayloadReturned, nullptr, entry, /*step=*/0),
                ElementsAre(kForwardPiece));
    EXPECT_EQ(executor_.last.step, 2u);
    // Nobody has it any more, or ever had.
    EXPECT_THAT(Notify(kPayloadReturned, nullptr, entry, /*step=*/0),
                IsEmpty());
    EXPECT_THAT(Notify(kPayloadReturned, nullptr, entry - 1, 0), IsEmpty());
    EXPECT_THAT(Notify(kPayloadReturned, nullptr, UINT32_MAX, 0), IsEmpty());
    EXPECT_THAT(Notify(kLocalToken, nullptr, credit, /*step=*/4), IsEmpty());
    // In any order.
    EXPECT_THAT(Notify(kPayloadReturned, nullptr, entry, /*step=*/2),
                IsEmpty());
    EXPECT_THAT(Notify(kPayloadReturned, nullptr, entry, /*step=*/1),
                ElementsAre(kForwardPiece, kForwardPiece));
    EXPECT_EQ(executor_.last.step, 4u);
  }
}

class DeviceRecordsTest : public DeviceEntriesTest {
 protected:
  DeviceRecordsTest() : DeviceEntriesTest(CpuBackends()) { is_far_ = true; }
};

// A piece for another process goes with what others have for it, from where it
// lies if it is small.
TEST_F(DeviceRecordsTest, SmallPiecesForAnotherProcessGoTogether) {
  for (const uint64_t bytes : {kMaxMemberBytes, kMaxMemberBytes + 4}) {
    Build(MovePlan("p", 1, 0, /*to=*/1, 0, static_cast<int64_t>(bytes / 4)));
    // Nobody writes what is sent.
    const SlotRef& from = program_->devices[0]->pieces[0].from;
    std::memset(from.at(0), 'a', bytes);
    std::memset(from.at(1), 'b', bytes);
    Attach();
    if (bytes > kMaxMemberBytes) {
      EXPECT_THAT(Grant(0, 4, 4), ElementsAre(kForwardPiece, kForwardPiece));
      EXPECT_EQ(*static_cast<const char*>(executor_.last.payload), 'b');
      break;
    }
    EXPECT_THAT(Grant(0, 4, 4), ElementsAre(kForwardRecords));
    auto* batch = static_cast<RecordBatch*>(executor_.last.payload);
    EXPECT_TRUE(batch->in_flight());
    ASSERT_THAT(batch->records(), ::testing::SizeIs(2));
    for (int i : {0, 1}) {
      const TokenRecord& record = batch->records()[i];
      EXPECT_EQ(record.host, 1);
      EXPECT_EQ(record.message.kind, kPiecesMessage);
      EXPECT_EQ(record.message.step, static_cast<uint64_t>(i));
      EXPECT_EQ(record.message.item, 1u);
      EXPECT_EQ(std::string(record.data, record.bytes),
                std::string(sizeof(MemberHeader), '\0') +
                    std::string(bytes, "ab"[i]));
    }
    // It is not there yet when the device has more to say.
    EXPECT_THAT(Notify(kLocalToken, nullptr, CreditOfSend(), /*step=*/2),
                ElementsAre(kForwardRecords));
    EXPECT_NE(executor_.last.payload, batch);
    batch->Return();
    EXPECT_THAT(Notify(kLocalToken, nullptr, CreditOfSend(), /*step=*/3),
                ElementsAre(kDeviceDone, kForwardRecords));
    EXPECT_EQ(executor_.last.payload, batch);
    Notify(kDetach);
  }
}

}  // namespace
}  // namespace pathways::testing
