//===- peer_link_test.cc - Each message counts once, in its life ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/peer_link.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

WireMessage Stamped(PeerLink* link) {
  WireMessage message;
  link->Stamp(&message);
  return message;
}

TEST(PeerLinkTest, NumbersFromOneAndTakesEachOnce) {
  PeerLink a(1, 1), b(1, 1);
  const WireMessage first = Stamped(&a), second = Stamped(&a);
  EXPECT_EQ(first.sequence, 1u);
  EXPECT_EQ(second.sequence, 2u);
  EXPECT_EQ(b.Accept(second), PeerLink::kNew);
  EXPECT_EQ(b.Accept(first), PeerLink::kNew);
  EXPECT_EQ(b.Accept(second), PeerLink::kSecondCopy);
  EXPECT_EQ(b.Accept(WireMessage()), PeerLink::kOtherEpoch);
}

// The first messages of a host that started again are not second copies, and
// what is left of its life before counts no more.
TEST(PeerLinkTest, ASenderThatStartsAgainBeginsAnew) {
  PeerLink before(1, 1), b(1, 1);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(b.Accept(Stamped(&before)), PeerLink::kNew);
  }
  const WireMessage late = Stamped(&before);
  PeerLink again(2, 1);
  const WireMessage first = Stamped(&again);
  EXPECT_EQ(first.sequence, 1u);
  b.Advance(2);
  EXPECT_EQ(b.Accept(first), PeerLink::kNew);
  EXPECT_EQ(b.Accept(first), PeerLink::kSecondCopy);
  EXPECT_EQ(b.Accept(late), PeerLink::kOtherEpoch);
  EXPECT_EQ(b.peer_epoch(), 2u);
}

// A host that started again takes nothing that was for its life before, also
// when the numbers would be new to it; and its peer, when it has heard of the
// new life, numbers from 1 again.
TEST(PeerLinkTest, AReceiverThatStartsAgainTakesNothingOld) {
  PeerLink a(1, 1);
  for (int i = 0; i < 20'000; ++i) Stamped(&a);
  PeerLink again(2, 1);
  EXPECT_EQ(again.Accept(Stamped(&a)), PeerLink::kOtherEpoch);
  a.Advance(2);
  EXPECT_EQ(a.Accept(Stamped(&again)), PeerLink::kNew);
  const WireMessage renewed = Stamped(&a);
  EXPECT_EQ(renewed.sequence, 1u);
  EXPECT_EQ(renewed.to_epoch, 2u);
  EXPECT_EQ(again.Accept(renewed), PeerLink::kNew);
}

// Nor does what it says keep out a life that is announced later.
TEST(PeerLinkTest, AMessageAnnouncesNoLife) {
  PeerLink b(1, 1), early(7, 1), late(2, 1);
  EXPECT_EQ(b.Accept(Stamped(&early)), PeerLink::kOtherEpoch);
  EXPECT_EQ(b.peer_epoch(), 1u);
  b.Advance(2);
  EXPECT_EQ(b.Accept(Stamped(&late)), PeerLink::kNew);
}

TEST(PeerLinkTest, NewsOfTheSameOrAnOlderLifeChangeNothing) {
  PeerLink a(1, 3);
  Stamped(&a);
  a.Advance(3);
  a.Advance(1);
  EXPECT_EQ(Stamped(&a).sequence, 2u);
  EXPECT_EQ(a.peer_epoch(), 3u);
  a.Advance(4);
  EXPECT_EQ(Stamped(&a).sequence, 1u);
}

}  // namespace
}  // namespace pathways
