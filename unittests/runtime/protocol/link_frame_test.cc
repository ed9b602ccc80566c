//===- link_frame_test.cc - Well-formed and damaged frames ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/link_frame.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "runtime/protocol/wire_kind.h"

namespace pathways {
namespace {

std::string Bytes(const LinkFrame& frame) {
  return std::string(AsBytes(frame).data(), AsBytes(frame).size());
}

WireMessage Message() {
  WireMessage message;
  message.kind = kTokenMessage;
  message.step = 7;
  message.sequence = 9;
  return message;
}

TEST(LinkFrameTest, EachKindIsReadAsItWasWritten) {
  for (const LinkFrame& frame :
       {LinkFrame::Hot(3, 4, Message(), 5), LinkFrame::Control(3, 4, 5),
        LinkFrame::Membership(5), LinkFrame::Batch(5)}) {
    const auto read = ReadLinkFrame(Bytes(frame), 5);
    ASSERT_TRUE(read.has_value()) << frame.kind;
    EXPECT_EQ(Bytes(*read), Bytes(frame));
  }
  const auto hot = ReadLinkFrame(Bytes(LinkFrame::Hot(3, 4, Message(), 5)), 5);
  EXPECT_EQ(hot->wire.from, 3u);
  EXPECT_EQ(hot->wire.to, 4u);
  EXPECT_EQ(hot->wire.message.step, 7u);
}

// The payload of an offer is not beside it.
TEST(LinkFrameTest, FramesAboutLentPayloadsHaveATokenBesideThem) {
  for (const LinkFrame& frame :
       {LinkFrame::Offer(3, 4, Message(), uint64_t{1} << 40),
        LinkFrame::Answer(LinkFrame::kTake),
        LinkFrame::Answer(LinkFrame::kRefuse)}) {
    const auto read = ReadLinkFrame(Bytes(frame), 8);
    ASSERT_TRUE(read.has_value()) << frame.kind;
    EXPECT_EQ(Bytes(*read), Bytes(frame));
    EXPECT_FALSE(ReadLinkFrame(Bytes(frame), 7).has_value()) << frame.kind;
    LinkFrame other = frame;
    other.zero = 1;
    EXPECT_FALSE(ReadLinkFrame(Bytes(other), 8).has_value()) << frame.kind;
  }
}

TEST(LinkFrameTest, WhatIsNoFrameIsNotRead) {
  const std::string good = Bytes(LinkFrame::Control(3, 4, 5));
  EXPECT_FALSE(ReadLinkFrame(good, 4).has_value());
  EXPECT_FALSE(ReadLinkFrame(good.substr(1), 5).has_value());
  EXPECT_FALSE(ReadLinkFrame(good + "x", 5).has_value());
  EXPECT_FALSE(ReadLinkFrame("", 0).has_value());
  LinkFrame frame = LinkFrame::Control(3, 4, 5);
  for (uint32_t kind : {0u, 5u, 6u, 8u, 1u << 31}) {
    frame.kind = kind;
    EXPECT_FALSE(ReadLinkFrame(Bytes(frame), 5).has_value()) << kind;
  }
}

// Any byte that a kind does not use has to be zero.
TEST(LinkFrameTest, NothingHidesInAFrame) {
  for (const LinkFrame& frame : {LinkFrame::Membership(8), LinkFrame::Batch(8),
                                 LinkFrame::Answer(LinkFrame::kTake)}) {
    const std::string good = Bytes(frame);
    for (size_t i = 0; i < good.size(); ++i) {
      std::string changed = good;
      changed[i] ^= 0x40;
      EXPECT_FALSE(ReadLinkFrame(changed, 8).has_value()) << i;
    }
  }
  const std::string control = Bytes(LinkFrame::Control(3, 4, 5));
  for (size_t i = 16; i < control.size(); ++i) {
    std::string changed = control;
    changed[i] ^= 0x40;
    EXPECT_FALSE(ReadLinkFrame(changed, 5).has_value()) << i;
  }
}

}  // namespace
}  // namespace pathways
