//===- conformance_faults_test.cc - Faults of every world -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/world/fault.h"
#include "unittests/runtime/world/world_conformance.h"

namespace pathways {

// Drops hot message 2, duplicates 4, and delays 6 past the end; drops control
// message "b" and duplicates "c". Faults apply only to messages that cross
// hosts.
TEST_P(WorldHookConformance, PlantedFaultsAreExact) {
  std::atomic<int64_t> asked{0};
  Make(
      [&](ActorId, ActorId, const WireMessage& message) {
        asked.fetch_add(1);
        switch (message.step) {
          case 2:
            return Fault::Drop();
          case 4:
            return Fault::Duplicate(1'000'000'000);
          case 6:
            return Fault::Delay(2'000'000'000);
          default:
            return Fault::Deliver();
        }
      },
      [&](ActorId, ActorId, std::string_view bytes) {
        if (bytes == "b") return Fault::Drop();
        if (bytes == "c") return Fault::Duplicate(3'000'000'000);
        if (bytes == "d") return Fault::Delay(4'000'000'000);
        return Fault::Deliver();
      });
  std::atomic<int64_t> got{0};
  std::vector<uint64_t> near_steps, far_steps;
  std::string far_control;
  TestActor& from = Add(0, 0);
  TestActor& near = Add(0, 1);
  TestActor& far = Add(1, 1);
  std::vector<char> buffer(64);
  std::vector<char> content;
  near.on_message = [&](ActorId, const WireMessage& message) {
    near_steps.push_back(message.step);
    Bump(got);
  };
  far.on_message = [&](ActorId, const WireMessage& message) {
    far_steps.push_back(message.step);
    content.push_back(*static_cast<const char*>(far.payload.data));
    Bump(got);
  };
  far.on_control = [&](ActorId, std::string_view bytes) {
    far_control += bytes;
    Bump(got);
  };
  std::atomic<int64_t> rewritten{0};
  from.on_message = [&](ActorId, const WireMessage& message) {
    if (message.kind == 1) {
      // The sender considers its messages consumed and reuses the memory.
      std::fill(buffer.begin(), buffer.end(), '?');
      return Bump(rewritten);
    }
    for (int i = 0; i < 8; ++i) {
      buffer[i] = 'A' + i;
      world_->Send(from.id, near.id, Numbered(i));
      world_->Send(from.id, far.id, Numbered(i), {&buffer[i], 1});
    }
    for (const char* bytes : {"a", "b", "c", "d", "e"}) {
      world_->SendControl(from.id, far.id, bytes);
    }
  };
  world_->Send(kNoActor, from.id, Numbered(0));
  // In order: 8 messages to near, then 0 1 3 4 5 7 and a c e.
  auto count = [&] { return got.load() >= 8 + 6 + 3; };
  ASSERT_TRUE(world_->RunUntil(count));
  world_->Send(kNoActor, from.id, Numbered(0, /*kind=*/1));
  ASSERT_TRUE(RunTo(rewritten, 1));
  advance_(5'000'000'000);
  ASSERT_TRUE(RunTo(got, 8 + 6 + 3 + 2 + 2));
  EXPECT_THAT(near_steps, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(far_steps, testing::ElementsAre(0, 1, 3, 4, 5, 7, 4, 6));
  // Late copies carry the sent bytes, not the present contents of the memory.
  EXPECT_EQ(std::string(content.begin(), content.end()), "ABDEFHEG");
  EXPECT_EQ(far_control, "acecd");
  EXPECT_EQ(asked.load(), 8);
}

// Messages that a fault still holds are freed when the world ends.
TEST_P(WorldHookConformance, StopsWithDelayedMessages) {
  Make([](ActorId, ActorId,
          const WireMessage&) { return Fault::Delay(1'000'000'000); },
       [](ActorId, ActorId, std::string_view) {
         return Fault::Duplicate(1'000'000'000);
       });
  std::atomic<int64_t> got{0};
  TestActor& from = Add(0, 0);
  TestActor& far = Add(1, 1);
  char byte = 1;
  from.on_message = [&](ActorId, const WireMessage&) {
    world_->Send(from.id, far.id, WireMessage(), {&byte, 1});
    world_->SendControl(from.id, far.id, std::string(1000, 'z'));
  };
  far.on_control = [&](ActorId, std::string_view) { Bump(got); };
  world_->Send(kNoActor, from.id, Numbered(0));
  ASSERT_TRUE(RunTo(got, 1));
}

}  // namespace pathways
