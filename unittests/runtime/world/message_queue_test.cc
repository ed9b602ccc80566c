//===- message_queue_test.cc - Blocks, chains and the pool ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/message_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "runtime/world/peer_watch.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

constexpr int kSlots = MessageBlock::kSlots;

// Fills and empties a queue with every length around the size of a block.
template <typename Queue>
void FillAndDrain() {
  BlockPool pool;
  Queue queue;
  uint64_t in = 0, out = 0;
  for (int round = 0; round < 20; ++round) {
    for (int length = 0; length <= 3 * kSlots + 1; ++length) {
      for (int i = 0; i < length; ++i) {
        queue.Push(pool, Envelope::kLocal, LocalNumbered(in),
                   static_cast<ActorId>(in % 97),
                   LocalId{static_cast<uint32_t>(in % 89)});
        ++in;
      }
      // Odd rounds leave some messages in the queue.
      uint64_t keep = round % 2 ? std::min<uint64_t>(length, 5) : 0;
      while (out + keep < in) {
        Envelope* envelope = queue.Front(pool);
        ASSERT_NE(envelope, nullptr);
        ASSERT_EQ(envelope->As<LocalMessage>().step, out);
        ASSERT_EQ(envelope->from, out % 97);
        ASSERT_EQ(envelope->to, out % 89);
        queue.Pop();
        ++out;
      }
      ASSERT_EQ(queue.empty(), keep == 0 && in == out);
      if (keep == 0) {
        ASSERT_EQ(queue.Front(pool), nullptr);
      }
    }
  }
  EXPECT_EQ(pool.size(), 64);  // at most four blocks were in use
}

TEST(MessageQueueTest, LocalFillAndDrain) { FillAndDrain<LocalQueue>(); }
TEST(MessageQueueTest, RemoteFillAndDrain) { FillAndDrain<RemoteQueue>(); }

// A handler reads its message in place while it sends other messages.
TEST(MessageQueueTest, FrontStaysWhilePushed) {
  BlockPool pool;
  LocalQueue queue;
  for (int i = 0; i < kSlots; ++i) {
    queue.Push(pool, Envelope::kLocal, LocalNumbered(i), 1, LocalId{2});
  }
  for (int i = 0; i + 1 < kSlots; ++i) {
    queue.Front(pool);
    queue.Pop();
  }
  Envelope* last = queue.Front(pool);
  ASSERT_EQ(last->As<LocalMessage>().step, uint64_t{kSlots - 1});
  for (int i = 0; i < 3 * kSlots; ++i) {
    queue.Push(pool, Envelope::kLocal, LocalNumbered(100 + i), 1, LocalId{2});
  }
  EXPECT_EQ(last->As<LocalMessage>().step, uint64_t{kSlots - 1});
  queue.Pop();
  for (int i = 0; i < 3 * kSlots; ++i) {
    ASSERT_EQ(queue.Front(pool)->As<LocalMessage>().step, uint64_t(100 + i));
    queue.Pop();
  }
  EXPECT_TRUE(queue.empty());
}

// Only the kind tells the type of a body.
TEST(MessageQueueTest, BodiesOfAllKinds) {
  BlockPool pool;
  LocalQueue queue;
  const char byte = 'x';
  queue.Push(pool, Envelope::kWire, WireBody{Numbered(7), {&byte, 1}}, 3,
             LocalId{4});
  queue.Push(pool, Envelope::kPeer, PeerWatch::News{{5, 6}, true}, kNoActor,
             LocalId{7});
  const Envelope wire = *queue.Front(pool);
  EXPECT_EQ(wire.kind, Envelope::kWire);
  EXPECT_EQ(wire.As<WireBody>().message.step, 7u);
  EXPECT_EQ(wire.As<WireBody>().payload.data, &byte);
  EXPECT_EQ(wire.from, 3u);
  EXPECT_EQ(wire.to, 4u);
  queue.Pop();
  EXPECT_EQ(queue.Front(pool)->As<PeerWatch::News>().peer, (Peer{5, 6}));
  EXPECT_TRUE(queue.Front(pool)->As<PeerWatch::News>().is_up);
  EXPECT_EQ(queue.Front(pool)->to, 7u);
}

TEST(MessageQueueTest, TwoThreads) {
  constexpr uint64_t kCount = 300'000;
  BlockPool pool;
  RemoteQueue queue;
  std::thread sender([&] {
    for (uint64_t i = 0; i < kCount; ++i) {
      queue.Push(pool, Envelope::kLocal, LocalNumbered(i), 1, LocalId{2});
    }
  });
  uint64_t next = 0, wrong = 0;
  while (next < kCount) {
    Envelope* envelope = queue.Front(pool);
    if (envelope == nullptr) {
      std::this_thread::yield();
      continue;
    }
    if (envelope->As<LocalMessage>().step != next++) ++wrong;
    queue.Pop();
  }
  sender.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_TRUE(queue.empty());
}

// No block is given to two threads at one time, and no block is lost.
TEST(MessageQueueTest, PoolIsSharedByThreads) {
  constexpr int kThreads = 4, kRounds = 20'000, kHeld = 5;
  BlockPool pool;
  pool.Provision(1);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      MessageBlock* held[kHeld];
      for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < kHeld; ++i) {
          held[i] = pool.Take();
          if (held[i]->next != nullptr) wrong.fetch_add(1);
          held[i]->Write(0)->Fill(Envelope::kLocal, LocalNumbered(t * 1000 + i),
                                  0, LocalId{0});
        }
        for (int i = 0; i < kHeld; ++i) {
          if (held[i]->slot(0)->As<LocalMessage>().step !=
              uint64_t(t * 1000 + i)) {
            wrong.fetch_add(1);
          }
          pool.Give(held[i]);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(pool.size(), 64);
}

TEST(MessageQueueTest, ProvisionGrowsOnce) {
  BlockPool pool;
  EXPECT_EQ(pool.size(), 0);
  pool.Provision(-3);
  EXPECT_EQ(pool.size(), 0);
  pool.Provision(65);
  EXPECT_EQ(pool.size(), 128);
  pool.Provision(128);
  EXPECT_EQ(pool.size(), 128);
}

}  // namespace
}  // namespace pathways
