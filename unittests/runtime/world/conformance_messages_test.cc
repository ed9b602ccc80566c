//===- conformance_messages_test.cc - Messages in every world -------------===//
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
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/protocol/wire_kind.h"
#include "runtime/world/fault.h"
#include "unittests/runtime/world/world_conformance.h"

namespace pathways {

TEST_P(WorldConformance, KeepsOrderOfEachPair) {
  Make();
  constexpr int kSenders = 6, kReceivers = 6, kEach = 2000;
  std::atomic<int64_t> received{0};
  std::vector<std::vector<uint64_t>> next(kReceivers,
                                          std::vector<uint64_t>(kSenders, 0));
  std::atomic<int64_t> wrong{0};
  std::vector<TestActor*> receivers;
  for (int r = 0; r < kReceivers; ++r) {
    // Every other receiver is on another host and another worker.
    TestActor& actor = Add(r % 3, r);
    auto take = [&, r](uint64_t sender, uint64_t step) {
      if (next[r][sender]++ != step) wrong.fetch_add(1);
      if (received.fetch_add(1) + 1 == kSenders * kReceivers * kEach) {
        world_->Notify();
      }
    };
    actor.on_message = [take](ActorId, const WireMessage& message) {
      take(message.target, message.step);
    };
    actor.on_control = [take](ActorId, std::string_view bytes) {
      uint64_t words[2];
      ASSERT_EQ(bytes.size(), sizeof(words));
      std::memcpy(words, bytes.data(), sizeof(words));
      take(words[0], words[1]);
    };
    receivers.push_back(&actor);
  }
  for (int s = 0; s < kSenders; ++s) {
    TestActor& actor = Add(s % 2, s + 1);
    actor.on_message = [&, s](ActorId, const WireMessage& message) {
      if (message.step == kEach) return;
      for (TestActor* receiver : receivers) {
        // Hot and control messages share one order.
        if (message.step % 7 == 3) {
          uint64_t words[2] = {static_cast<uint64_t>(s), message.step};
          world_->SendControl(
              actors_[kReceivers + s].id, receiver->id,
              std::string(reinterpret_cast<char*>(words), sizeof(words)));
        } else if (message.step % 7 == 5) {
          uint64_t words[2] = {static_cast<uint64_t>(s), message.step};
          world_->PassControl(
              actors_[kReceivers + s].id, receiver->id,
              TestBody::New(
                  std::string(reinterpret_cast<char*>(words), sizeof(words))));
        } else {
          WireMessage out = Numbered(message.step);
          out.target = s;
          world_->Send(actors_[kReceivers + s].id, receiver->id, out);
        }
      }
      ActorId self = actors_[kReceivers + s].id;
      world_->Send(self, self, Numbered(message.step + 1));
    };
  }
  for (int s = 0; s < kSenders; ++s) {
    world_->Send(kNoActor, actors_[kReceivers + s].id, Numbered(0));
  }
  EXPECT_TRUE(RunTo(received, kSenders * kReceivers * kEach));
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(TestBody::held.load(), 0);
}

// Payloads arrive where the receiver wants them, or with the message. The
// sender does not change a lent payload before it is returned.
TEST_P(WorldConformance, LentPayloadsComeWhole) {
  Make();
  constexpr uint64_t kCount = 40;
  const uint64_t sizes[] = {100, kMinLentBytes - 1, kMinLentBytes,
                            3 * kMinLentBytes + 7};
  auto byte_of = [](uint64_t step, uint64_t i) {
    return static_cast<char>(step * 31 + i * 7 + (i >> 9));
  };
  std::vector<std::vector<char>> sent(kCount), came(kCount);
  std::vector<int> times(kCount, 0);
  std::vector<bool> lent(kCount, false);
  std::atomic<int64_t> over{0}, wrong{0}, returned{0}, refused{0}, lends{0};
  TestActor& from = Add(0, 0);
  TestActor& to = Add(1, 1);
  auto check = [&](uint64_t step, const char* data, uint64_t bytes) {
    if (bytes != sizes[step % 4] || times[step]++ > 0) wrong.fetch_add(1);
    for (uint64_t i = 0; i < bytes; ++i) {
      if (data[i] != byte_of(step, i)) {
        wrong.fetch_add(1);
        break;
      }
    }
    Bump(over);
  };
  to.on_message = [&](ActorId, const WireMessage& message) {
    check(message.step, static_cast<const char*>(to.payload.data),
          to.payload.bytes);
  };
  to.on_offer = [&](const WireMessage& message, uint64_t bytes) {
    ReceiveBuffer landing;
    if (message.step % 5 == 4) {  // refused
      refused.fetch_add(1);
      Bump(over);
      return landing;
    }
    came[message.step].resize(bytes);
    landing.memory = came[message.step].data();
    landing.landed = LocalNumbered(message.step, /*kind=*/1);
    return landing;
  };
  to.on_local = [&](const LocalMessage& message) {
    if (message.flags & kNotReceived) wrong.fetch_add(1);
    check(message.step, came[message.step].data(), came[message.step].size());
  };
  from.on_local = [&](const LocalMessage& message) {
    if (message.kind == 2) {
      if (!lent[message.step]) wrong.fetch_add(1);
      lent[message.step] = false;
      std::fill(sent[message.step].begin(), sent[message.step].end(), 'x');
      returned.fetch_add(1);
      world_->Notify();
      return;
    }
    for (uint64_t step = 0; step < kCount; ++step) {
      for (uint64_t i = 0; i < sizes[step % 4]; ++i) {
        sent[step].push_back(byte_of(step, i));
      }
      lent[step] = world_->Lend(from.id, to.id, Numbered(step),
                                {sent[step].data(), sent[step].size()},
                                LocalNumbered(step, /*kind=*/2));
      if (lent[step] && sizes[step % 4] < kMinLentBytes) wrong.fetch_add(1);
      if (lent[step]) lends.fetch_add(1);
    }
    Bump(over);
  };
  world_->SendLocal(kNobody, from.local_id(), LocalNumbered(0));
  EXPECT_TRUE(RunTo(over, kCount + 1));
  EXPECT_TRUE(RunTo(returned, lends.load()));
  EXPECT_EQ(wrong.load(), 0);
  // A world lends all payloads that are long enough, or none. A receiver in the
  // same process reads them in place, without an offer.
  EXPECT_TRUE(lends.load() == 0 || lends.load() == kCount / 2);
  EXPECT_TRUE(refused.load() == 0 || refused.load() == lends.load() / 5);
}

// Messages of all kinds between two actors of a host keep one order.
TEST_P(WorldConformance, KindsOfMessagesKeepOneOrder) {
  Make();
  constexpr uint64_t kCount = 3000;
  std::atomic<int64_t> received{0};
  uint64_t next = 0, wrong = 0;
  TestActor& from = Add(0, 0);
  TestActor& to = Add(0, 1);
  auto take = [&](uint64_t step) {
    if (next++ != step) ++wrong;
    Bump(received);
  };
  to.on_message = [&](ActorId, const WireMessage& m) { take(m.step); };
  to.on_local = [&](const LocalMessage& m) { take(m.step); };
  to.on_control = [&](ActorId, std::string_view bytes) {
    take(std::stoull(std::string(bytes)));
  };
  from.on_local = [&](const LocalMessage&) {
    for (uint64_t i = 0; i < kCount; ++i) {
      switch (i * i % 11 % 4) {
        case 0:
          world_->SendLocal(from.local_id(), to.local_id(), LocalNumbered(i));
          break;
        case 1:
          world_->Send(from.id, to.id, Numbered(i));
          break;
        case 2:
          world_->PassControl(from.id, to.id, TestBody::New(std::to_string(i)));
          break;
        default:
          world_->SendControl(from.id, to.id, std::to_string(i));
      }
    }
  };
  world_->SendLocal(kNobody, from.local_id(), LocalNumbered(0));
  ASSERT_TRUE(RunTo(received, kCount));
  EXPECT_EQ(wrong, 0u);
}

// Bulk messages keep an order of their own, wherever they come from; other
// messages keep theirs.
TEST_P(WorldHookConformance, BulkMessagesKeepTheirOwnOrder) {
  // Duplicates one message of each kind that crosses hosts.
  Make([](ActorId, ActorId, const WireMessage& message) {
    return message.step == 100 ? Fault::Duplicate() : Fault::Deliver();
  });
  constexpr uint64_t kCount = 1000;
  std::atomic<int64_t> received{0}, wrong{0};
  TestActor& near = Add(0, 0);
  TestActor& far = Add(1, 1);
  struct Counts {
    uint64_t bulk = 0, other = 0;
  };
  std::vector<Counts> next(3);  // indexed by sender: far, near, outside
  const uint64_t bytes[] = {17, 23};
  near.on_message = [&](ActorId from, const WireMessage& message) {
    const bool is_bulk = IsBulk(message.kind);
    Counts& counts = next[from == far.id ? 0 : from == near.id ? 1 : 2];
    uint64_t& want = is_bulk ? counts.bulk : counts.other;
    if (is_bulk && (near.payload.bytes != sizeof(bytes) ||
                    std::memcmp(near.payload.data, bytes, sizeof(bytes)))) {
      wrong.fetch_add(1);
    }
    if (message.step == 100 && want > 100) return;  // the second copy
    if (message.step != want++) wrong.fetch_add(1);
    Bump(received);
  };
  auto send = [&](ActorId from) {
    for (uint64_t i = 0; i < kCount; ++i) {
      world_->Send(from, near.id, Numbered(i, kBlockMessage),
                   {bytes, sizeof(bytes)});
      world_->Send(from, near.id, Numbered(i, kTokenMessage));
    }
  };
  near.on_local = [&](const LocalMessage&) { send(near.id); };
  far.on_local = [&](const LocalMessage&) { send(far.id); };
  world_->SendLocal(kNobody, near.local_id(), LocalNumbered(0));
  world_->SendLocal(kNobody, far.local_id(), LocalNumbered(0));
  send(kNoActor);
  const bool all = RunTo(received, 6 * kCount);
  // Second copies are not counted, so one may still be under way.
  world_->Stop();
  ASSERT_TRUE(all);
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(WorldConformance, ControlBytesArriveWhole) {
  Make();
  std::atomic<int64_t> got{0};
  std::vector<std::string> all;
  TestActor& actor = Add(0, 0);
  actor.on_control = [&](ActorId from, std::string_view bytes) {
    EXPECT_EQ(from, kNoActor);
    all.emplace_back(bytes);
    Bump(got);
  };
  std::string large(1 << 20, 'x');
  large[77] = 'y';
  world_->SendControl(kNoActor, actor.id, "");
  world_->SendControl(kNoActor, actor.id, std::string("a\0b", 3));
  world_->SendControl(kNoActor, actor.id, large);
  ASSERT_TRUE(RunTo(got, 3));
  EXPECT_THAT(all, testing::ElementsAre("", std::string("a\0b", 3), large));
}

TEST_P(WorldConformance, MessageArrivesUnchanged) {
  Make();
  std::atomic<int64_t> got{0};
  std::vector<unsigned char> bytes(1001);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = i * 7;
  TestActor& from = Add(0, 0);
  auto expect = [&](TestActor& to) {
    return [&](ActorId sender, const WireMessage& m) {
      EXPECT_EQ(sender, from.id);
      EXPECT_EQ(m.kind, 11);
      EXPECT_EQ(m.flags, 12);
      EXPECT_EQ(m.program, 13u);
      EXPECT_EQ(m.incarnation, 14u);
      EXPECT_EQ(m.target, 15u);
      EXPECT_EQ(m.shard, 16u);
      EXPECT_EQ(m.item, 17u);
      EXPECT_EQ(m.from_epoch, 18u);
      EXPECT_EQ(m.to_epoch, 19u);
      EXPECT_EQ(m.step, uint64_t{1} << 40);
      EXPECT_EQ(m.sequence, uint64_t{1} << 41);
      ASSERT_EQ(to.payload.bytes, bytes.size());
      EXPECT_EQ(std::memcmp(to.payload.data, bytes.data(), bytes.size()), 0);
      Bump(got);
    };
  };
  TestActor& near = Add(0, 1);
  TestActor& far = Add(1, 1);
  near.on_message = expect(near);
  far.on_message = expect(far);
  int pointee = 0;
  near.on_local = [&](const LocalMessage& m) {
    EXPECT_EQ(m.kind, 21);
    EXPECT_EQ(m.flags, 22);
    EXPECT_EQ(m.program, 23u);
    EXPECT_EQ(m.incarnation, 24u);
    EXPECT_EQ(m.target, 25u);
    EXPECT_EQ(m.shard, 26u);
    EXPECT_EQ(m.item, 27u);
    EXPECT_EQ(m.step, uint64_t{1} << 43);
    EXPECT_EQ(m.payload, &pointee);
    EXPECT_EQ(m.payload_bytes, uint64_t{1} << 44);
    EXPECT_EQ(m.extra, uint64_t{1} << 45);
    Bump(got);
  };
  from.on_message = [&](ActorId, const WireMessage&) {
    const WireMessage m{11,
                        12,
                        13,
                        14,
                        15,
                        16,
                        17,
                        18,
                        19,
                        uint64_t{1} << 40,
                        uint64_t{1} << 41};
    const Payload payload{bytes.data(), bytes.size()};
    world_->Send(from.id, near.id, m, payload);
    world_->Send(from.id, far.id, m, payload);
    const LocalMessage local{21,
                             22,
                             23,
                             24,
                             25,
                             26,
                             27,
                             uint64_t{1} << 43,
                             &pointee,
                             uint64_t{1} << 44,
                             uint64_t{1} << 45};
    world_->SendLocal(from.local_id(), near.local_id(), local);
  };
  world_->Send(kNoActor, from.id, Numbered(0));
  EXPECT_TRUE(RunTo(got, 3));
}

TEST_P(WorldConformance, LongBurstAcrossWorkers) {
  Make();
#ifdef PATHWAYS_SANITIZED
  constexpr int64_t kBurst = 100'000;
#else
  constexpr int64_t kBurst = 1'000'000;
#endif
  std::atomic<int64_t> got{0};
  uint64_t next = 0;
  int64_t wrong = 0;
  TestActor& from = Add(0, 0);
  TestActor& to = Add(0, 1);
  from.on_message = [&](ActorId, const WireMessage&) {
    for (int64_t i = 0; i < kBurst; ++i) {
      world_->Send(from.id, to.id, Numbered(i));
    }
  };
  to.on_message = [&](ActorId, const WireMessage& message) {
    if (next++ != message.step) ++wrong;
    if (got.fetch_add(1) + 1 == kBurst) world_->Notify();
  };
  world_->Send(kNoActor, from.id, Numbered(0));
  EXPECT_TRUE(RunTo(got, kBurst));
  EXPECT_EQ(wrong, 0);
}

// Queues wrap repeatedly while they are neither empty nor full.
TEST_P(WorldConformance, QueuesWrap) {
  Make();
  constexpr uint64_t kUnderWay = 45, kLast = 1000 * kUnderWay;
  std::atomic<int64_t> done{0}, wrong{0};
  uint64_t next[2] = {0, 0};
  TestActor& a = Add(0, 0);
  TestActor& b = Add(0, 1);
  a.on_message = [&](ActorId, const WireMessage& message) {
    if (next[0]++ != message.step) wrong.fetch_add(1);
    world_->Send(a.id, b.id, message);
  };
  b.on_message = [&](ActorId, const WireMessage& message) {
    if (next[1]++ != message.step) wrong.fetch_add(1);
    if (next[1] == kLast) Bump(done);
    uint64_t later = message.step + kUnderWay;
    if (later < kLast) world_->Send(b.id, a.id, Numbered(later));
  };
  // All messages are sent at once, so the first does not return before the last
  // has left.
  b.on_control = [&](ActorId, std::string_view) {
    for (uint64_t i = 0; i < kUnderWay; ++i) {
      world_->Send(b.id, a.id, Numbered(i));
    }
  };
  world_->SendControl(kNoActor, b.id, "go");
  EXPECT_TRUE(RunTo(done, 1));
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace pathways
