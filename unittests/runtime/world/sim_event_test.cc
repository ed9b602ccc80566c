//===- sim_event_test.cc - The hash of a history ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_event.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pathways {
namespace {

SimEvent At(TimeNs time) {
  SimEvent event;
  event.time = time;
  event.from = LocalId{3};
  event.to = LocalId{4};
  return event;
}

// Messages of each kind, in which no two fields have equal values.
class HashEventTest : public ::testing::Test {
 protected:
  HashEventTest() {
    wire_.kind = 1;
    wire_.flags = 2;
    wire_.program = 3;
    wire_.incarnation = 4;
    wire_.target = 5;
    wire_.shard = 6;
    wire_.item = 7;
    wire_.from_epoch = 8;
    wire_.to_epoch = 9;
    wire_.step = 10;
    wire_.sequence = 11;
    local_.kind = 1;
    local_.flags = 2;
    local_.program = 3;
    local_.incarnation = 4;
    local_.target = 5;
    local_.shard = 6;
    local_.item = 7;
    local_.step = 8;
    local_.payload = &wire_;
    local_.payload_bytes = 9;
    local_.extra = 10;
  }
  SimEvent Wire(const std::string& payload) const {
    SimEvent event = At(100);
    event.wire = &wire_;
    event.payload = {payload.data(), payload.size()};
    return event;
  }
  SimEvent Local() const {
    SimEvent event = At(100);
    event.local = &local_;
    return event;
  }
  static SimEvent Control(const std::string& bytes) {
    SimEvent event = At(100);
    event.control = &bytes;
    return event;
  }
  static SimEvent Peer(const PeerWatch::News& news) {
    SimEvent event = At(100);
    event.peer = &news;
    return event;
  }

  WireMessage wire_;
  LocalMessage local_;
  const std::string bytes_ = "eleven bytes";
  const PeerWatch::News down_{{5, 2}, /*is_up=*/false};
  const PeerWatch::News up_{{5, 2}, /*is_up=*/true};
};

// Hashes are compared between builds and machines, so these numbers must not
// change by accident.
TEST_F(HashEventTest, IsTheSameEverywhere) {
  EXPECT_EQ(HashEvent(0, Wire(bytes_)), 0x060afcefc517a41bu);
  EXPECT_EQ(HashEvent(0, Local()), 0x490351e782824352u);
  EXPECT_EQ(HashEvent(0, Control(bytes_)), 0x1c68275a9fa3b2d0u);
  EXPECT_EQ(HashEvent(0, Peer(down_)), 0xcf3cdf957fa8fdcau);
  EXPECT_EQ(HashEvent(0, Peer(up_)), 0x077d8bcd15837ca5u);
}

TEST_F(HashEventTest, CoversWhenAndWho) {
  std::set<uint64_t> hashes;
  const SimEvent plain = Local();
  std::vector<SimEvent> events(5, plain);
  events[1].time = 101;
  events[2].from = kNobody;
  events[3].to = LocalId{5};
  std::swap(events[4].from, events[4].to);
  for (const SimEvent& event : events) hashes.insert(HashEvent(0, event));
  EXPECT_EQ(hashes.size(), events.size());
  SimEvent later = plain;
  later.number = 1;
  EXPECT_EQ(HashEvent(0, later), HashEvent(0, plain));
}

TEST_F(HashEventTest, CoversTheContentOfPayloadsAndNoAddress) {
  const std::string copy = bytes_, other = "eleven bytez";
  EXPECT_EQ(HashEvent(0, Wire(copy)), HashEvent(0, Wire(bytes_)));
  EXPECT_NE(HashEvent(0, Wire(other)), HashEvent(0, Wire(bytes_)));
  EXPECT_EQ(HashEvent(0, Control(copy)), HashEvent(0, Control(bytes_)));
  EXPECT_NE(HashEvent(0, Control(other)), HashEvent(0, Control(bytes_)));
  const uint64_t local = HashEvent(0, Local());
  local_.payload = nullptr;
  EXPECT_EQ(HashEvent(0, Local()), local);
}

// A payload without bytes counts only by its size.
TEST_F(HashEventTest, TakesPayloadsWithoutBytes) {
  SimEvent none = Wire(""), sized = none;
  sized.payload = {nullptr, 12};
  EXPECT_NE(HashEvent(0, sized), HashEvent(0, none));
}

TEST_F(HashEventTest, DependsOnTheOrder) {
  EXPECT_NE(HashEvent(HashEvent(0, Local()), Peer(up_)),
            HashEvent(HashEvent(0, Peer(up_)), Local()));
}

}  // namespace
}  // namespace pathways
