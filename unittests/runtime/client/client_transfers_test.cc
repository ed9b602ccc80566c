//===- client_transfers_test.cc - Values between a client and hosts -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/client_transfers.h"

#include <cstring>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/checkpoint/array_writer.h"
#include "runtime/protocol/wire_kind.h"
#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/placement_test_support.h"

namespace pathways {
namespace {

using testing::CopiesOn;
using testing::RowsOn;

constexpr int32_t kHost = 2;
constexpr uint64_t kRequest = 11, kObject = 12, kLaunch = 13;

struct Sent {
  int32_t host;
  WireMessage message;
  Payload payload;
};

WireMessage Message(WireKind kind, uint64_t transfer, uint32_t piece = 0,
                    uint32_t slot = 0) {
  WireMessage message;
  message.kind = kind;
  message.step = transfer;
  message.item = piece;
  message.target = slot;
  return message;
}

class ClientTransfersTest : public ::testing::Test {
 protected:
  // Returns the messages that this message causes.
  std::vector<Sent> On(const WireMessage& message, Payload payload = {},
                       int32_t host = kHost) {
    std::vector<Sent> sent;
    transfers_.OnWire(
        host, message, payload,
        [&](int32_t to, const WireMessage& answer, Payload values) {
          sent.push_back({to, answer, values});
        });
    return sent;
  }
  // Adds a fetch of `floats` numbers on kHost.
  void AddFetch(int64_t floats) {
    auto fetch = std::make_shared<ArrayFetch>(FetchAssembly(
        *CopiesOn({floats}, {kHost}), ElementType::kF32, {floats}));
    fetch->on_end = [this](const absl::Status& status) {
      ended_.push_back(status);
    };
    transfers_.AddFetch(kRequest, std::move(fetch));
  }

  ClientTransfers transfers_;
  std::vector<absl::Status> ended_;
};

TEST_F(ClientTransfersTest, HostsAreGivenWhatTheyAskFor) {
  auto values = std::make_shared<std::string>("abcdefgh");
  transfers_.AddUpload(kObject, kLaunch, {values->data(), values},
                       RowsOn({2}, 2, {kHost, 5}), 1);
  const std::vector<Sent> sent =
      On(Message(kPullMessage, kObject, 0, 3), {}, 5);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].host, 5);
  EXPECT_EQ(sent[0].message.kind, kBlockMessage);
  EXPECT_EQ(sent[0].message.target, 3u);
  EXPECT_EQ(sent[0].message.flags, 0);
  EXPECT_EQ(sent[0].payload.data, values->data() + 4);
  EXPECT_TRUE(On(Message(kTransferDoneMessage, kObject)).empty());
  EXPECT_EQ(values.use_count(), 2);
  EXPECT_TRUE(On(Message(kTransferDoneMessage, kObject), {}, 5).empty());
  EXPECT_EQ(values.use_count(), 1);
  EXPECT_EQ(transfers_.size(), 0u);
}

TEST_F(ClientTransfersTest, WhatIsNotThereIsSaid) {
  auto values = std::make_shared<std::string>("abcd");
  transfers_.AddUpload(kObject, kLaunch, {values->data(), values},
                       CopiesOn({1}, {kHost}), 1);
  EXPECT_TRUE(transfers_.EndLaunch(kLaunch).ok());
  EXPECT_EQ(values.use_count(), 1);
  const std::vector<Sent> sent = On(Message(kPullMessage, kObject, 0, 1));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].message.flags, kPoisoned);
  EXPECT_EQ(sent[0].payload.data, nullptr);
}

// Two floats, on two hosts, in files.
class SavedTransfersTest : public ClientTransfersTest {
 protected:
  void SetUp() override {
    auto folder = SaveFolder::Create(folder_ / "a");
    auto writer = ArrayWriter::Create(folder->get(), "", ElementType::kF32,
                                      {{2}, {{}}, {}, {}}, {});
    ASSERT_TRUE(writer->Write("abcdefgh").ok() && writer->Finish().ok() &&
                (*folder)->Commit().ok());
    saved_ = *SavedArray::Open(folder_ / "a");
    transfers_.AddUpload(kObject, kLaunch, {nullptr, saved_, saved_.get()},
                         RowsOn({2}, 2, {kHost, 5}), 1);
  }
  static void ExpectBlock(const Sent& sent, const std::string& values) {
    EXPECT_EQ(sent.message.kind, kBlockMessage);
    EXPECT_EQ(sent.message.step, kObject);
    ASSERT_EQ(sent.payload.bytes, values.size());
    EXPECT_EQ(std::string(static_cast<const char*>(sent.payload.data),
                          sent.payload.bytes),
              values);
  }

  testing::TestFolder folder_;
  std::shared_ptr<const SavedArray> saved_;
};

TEST_F(SavedTransfersTest, AreReadAtOnceWithoutAReader) {
  const std::vector<Sent> sent =
      On(Message(kPullMessage, kObject, 0, 3), {}, 5);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].host, 5);
  EXPECT_EQ(sent[0].message.target, 3u);
  ExpectBlock(sent[0], "efgh");
  On(Message(kTransferDoneMessage, kObject));
  EXPECT_EQ(saved_.use_count(), 2);
  On(Message(kTransferDoneMessage, kObject), {}, 5);
  EXPECT_EQ(saved_.use_count(), 1);
}

TEST_F(SavedTransfersTest, AReaderReadsThemElsewhere) {
  std::promise<void> read;
  FileReader reader([&] { read.set_value(); });
  transfers_.ReadWith(&reader);
  // It may have read them by then.
  std::vector<Sent> sent = On(Message(kPullMessage, kObject, 0, 1));
  read.get_future().wait();
  const auto send = [&](int32_t to, const WireMessage& answer, Payload values) {
    sent.push_back({to, answer, values});
  };
  transfers_.OnRead(send);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].host, kHost);
  EXPECT_EQ(sent[0].message.target, 1u);
  ExpectBlock(sent[0], "abcd");
  transfers_.OnRead(send);
  EXPECT_EQ(sent.size(), 1u);
  // Another client's may have taken its place.
  FileReader other([] {});
  transfers_.ReadWith(&other);
  transfers_.StopReading(&reader);
  EXPECT_LE(On(Message(kPullMessage, kObject, 0, 1), {}, 5).size(), 1u);
  transfers_.StopReading(&other);
  EXPECT_EQ(On(Message(kPullMessage, kObject, 0, 1), {}, 5).size(), 1u);
}

TEST_F(SavedTransfersTest, WhatCannotBeReadIsSaidWhenTheLaunchEnds) {
  std::filesystem::remove(folder_ / "a/block-0.npy");
  const std::vector<Sent> sent = On(Message(kPullMessage, kObject));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].message.flags, kPoisoned);
  // Hosts that give up say that they are done.
  On(Message(kTransferDoneMessage, kObject));
  On(Message(kTransferDoneMessage, kObject), {}, 5);
  const absl::Status status = transfers_.EndLaunch(kLaunch);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_TRUE(transfers_.EndLaunch(kLaunch).ok());
}

TEST_F(ClientTransfersTest, FetchesPieceByPiece) {
  constexpr uint64_t kPieces = 2 * kPullWindow;
  AddFetch(static_cast<int64_t>(kPieces * kPieceBytes) / 4);
  const std::string piece(kPieceBytes, 'p');
  std::vector<Sent> asked =
      On(Message(kBlockMessage, kRequest), {piece.data(), piece.size()});
  EXPECT_EQ(asked.size(), kPullWindow);
  size_t pieces = 1;
  while (!asked.empty()) {
    const WireMessage pull = asked.front().message;
    ASSERT_EQ(pull.kind, kPullMessage);
    asked.erase(asked.begin());
    EXPECT_TRUE(ended_.empty());
    for (const Sent& next :
         On(Message(kBlockMessage, kRequest, pull.item, pull.target),
            {piece.data(), piece.size()})) {
      asked.push_back(next);
    }
    ++pieces;
  }
  EXPECT_EQ(pieces, kPieces);
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_TRUE(ended_[0].ok());
  EXPECT_EQ(transfers_.bytes_fetched(), kPieces * kPieceBytes);
  EXPECT_EQ(transfers_.size(), 0u);
}

TEST_F(ClientTransfersTest, AsksAgainWhenAHostBeginsAgain) {
  AddFetch(2 * static_cast<int64_t>(kPieceBytes) / 4);
  const std::string piece(kPieceBytes, 'p');
  const Payload payload{piece.data(), piece.size()};
  const std::vector<Sent> asked = On(Message(kBlockMessage, kRequest), payload);
  ASSERT_EQ(asked.size(), 1u);
  const std::vector<Sent> again = On(Message(kBlockMessage, kRequest), payload);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].message.item, asked[0].message.item);
  EXPECT_EQ(again[0].message.target, asked[0].message.target);
  // Both answers come.
  const WireMessage last = Message(
      kBlockMessage, kRequest, asked[0].message.item, asked[0].message.target);
  EXPECT_TRUE(On(last, payload).empty());
  EXPECT_TRUE(On(last, payload).empty());
  EXPECT_EQ(ended_.size(), 1u);
}

TEST_F(ClientTransfersTest, AFetchOfWhatWasReleasedFails) {
  AddFetch(4);
  WireMessage none = Message(kBlockMessage, kRequest);
  none.flags = kPoisoned;
  EXPECT_TRUE(On(none).empty());
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].code(), absl::StatusCode::kNotFound);
}

TEST_F(ClientTransfersTest, WhatNobodyWaitsForIsNotRead) {
  AddFetch(4);
  transfers_.EndFetch(kRequest);
  EXPECT_TRUE(On(Message(kBlockMessage, kRequest),
                 {reinterpret_cast<const char*>(8), 16})  // it may be gone
                  .empty());
  EXPECT_TRUE(ended_.empty());
}

}  // namespace
}  // namespace pathways
