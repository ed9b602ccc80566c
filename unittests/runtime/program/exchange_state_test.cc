//===- exchange_state_test.cc - An exchange between hosts, under way ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/exchange_state.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>

namespace pathways {
namespace {

constexpr uint64_t kFirings = 12;

CollectiveShape Shape(proto::CollectiveKind kind, int64_t size, int64_t count) {
  CollectiveShape shape;
  shape.kind = kind;
  shape.element = proto::I32;
  shape.size = size;
  for (int64_t rank = 0; rank < size; ++rank) {
    shape.sources.push_back((rank + size - 1) % size);
  }
  shape.source = shape.result = {count};
  if (kind == proto::REDUCE_SCATTER) shape.result = {count / size};
  if (kind == proto::ALL_GATHER) shape.result = {count * size};
  shape.Complete(layout::ReductionTree({size}));
  return shape;
}

int32_t Contribution(int64_t rank, uint64_t firing, int64_t element) {
  return static_cast<int32_t>(1000 * rank + 100 * firing + element);
}

// Hosts that fire as often as they can. A message stays under way as long as it
// likes, and what its payload is shows when it comes.
class Hosts {
 public:
  Hosts(proto::CollectiveKind kind, const std::vector<int32_t>& host_of,
        int64_t count, unsigned seed)
      : random_(seed),
        shape_(Shape(kind, static_cast<int64_t>(host_of.size()), count)) {
    layout::ExchangeSpec spec;
    const std::map<proto::CollectiveKind, layout::ExchangeKind> kinds = {
        {proto::ALL_REDUCE, layout::ExchangeKind::kAllReduce},
        {proto::REDUCE_SCATTER, layout::ExchangeKind::kReduceScatter},
        {proto::ALL_GATHER, layout::ExchangeKind::kAllGather},
        {proto::ALL_TO_ALL, layout::ExchangeKind::kAllToAll},
        {proto::PERMUTE, layout::ExchangeKind::kPermute}};
    spec.kind = kinds.at(kind);
    spec.tree = layout::ReductionTree({shape_.size});
    spec.hosts = host_of;
    spec.count = count;
    spec.element_bytes = spec.wide_bytes = 4;
    spec.sources = shape_.sources;
    for (int32_t id : host_of) {
      if (hosts_.count(id) != 0) continue;
      Host& host = hosts_[id];
      host.state = std::make_unique<ExchangeState>(
          std::make_shared<layout::HostExchange>(
              layout::MakeExchange(spec, id)),
          Reducer(proto::ADD, proto::I32));
      host.memory.resize(2 * host.state->slot_bytes());
      host.state->SetMemory(host.memory.data(), host.state->slot_bytes());
    }
  }

  // (host, firing): a member of it is poisoned then.
  void Poison(int32_t host, uint64_t firing) { poison_[{host, firing}] = true; }

  void Run() {
    while (true) {
      std::vector<int32_t> ready;
      for (const auto& [id, host] : hosts_) {
        if (!host.busy && host.firing < kFirings) ready.push_back(id);
      }
      if (ready.empty() && flying_.empty()) break;
      const size_t pick = random_() % (ready.size() + flying_.size());
      if (pick < ready.size()) {
        Begin(ready[pick]);
      } else {
        Deliver(pick - ready.size());
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
    for (const auto& [id, host] : hosts_) {
      ASSERT_EQ(host.firing, kFirings) << "host " << id;
      ASSERT_EQ(host.state->Awaited(kFirings), nullptr);
    }
  }

 private:
  struct Host {
    std::unique_ptr<ExchangeState> state;
    std::vector<char> memory;
    uint64_t firing = 0;
    bool busy = false;
  };
  struct Flying {
    int32_t from, to;
    uint64_t firing;
    ExchangeState::Outgoing message;
  };

  void Begin(int32_t id) {
    Host& host = hosts_[id];
    host.busy = true;
    const bool poison = poison_.count({id, host.firing}) != 0;
    for (uint32_t own = 0; own < host.state->plan().ranks.size(); ++own) {
      std::vector<int32_t> source;
      for (int64_t i = 0; i < shape_.source[0]; ++i) {
        source.push_back(
            Contribution(host.state->plan().ranks[own], host.firing, i));
      }
      if (poison) continue;
      host.state->Contribute(shape_, own, host.firing,
                             reinterpret_cast<const char*>(source.data()));
    }
    host.state->Arrive(host.firing, poison);
    Advance(id, host.firing);
  }

  void Deliver(size_t index) {
    const Flying flying = flying_[index];
    flying_.erase(flying_.begin() + index);
    Host& host = hosts_[flying.to];
    ASSERT_LE(host.firing, flying.firing);
    ASSERT_LE(flying.firing, host.firing + 1);
    const ExchangeState::Outgoing& message = flying.message;
    char* const place = host.state->PlaceOf(flying.firing, flying.from,
                                            message.round, message.bytes);
    ASSERT_TRUE(place != nullptr || message.poison);
    ASSERT_EQ(host.state->PlaceOf(flying.firing, flying.from, message.round,
                                  message.bytes + 1),
              nullptr);
    ASSERT_EQ(host.state->PlaceOf(flying.firing + 2, flying.from, message.round,
                                  message.bytes),
              nullptr);
    // Some are where they belong before they are received.
    const char* payload = message.payload;
    if (!message.poison && message.bytes > 0 && random_() % 2 == 0) {
      std::memcpy(place, payload, message.bytes);
      payload = place;
    }
    ASSERT_TRUE(host.state->Receive(flying.firing, flying.from, message.round,
                                    message.poison, payload, message.bytes));
    ASSERT_EQ(host.state->PlaceOf(flying.firing, flying.from, message.round,
                                  message.bytes),
              nullptr);
    Advance(flying.to, flying.firing);
  }

  void Advance(int32_t id, uint64_t firing) {
    Host& host = hosts_[id];
    const std::optional<bool> done =
        host.state->Advance(firing, [&](const ExchangeState::Outgoing& out) {
          flying_.push_back({id, out.host, firing, out});
        });
    if (!done.has_value()) {
      if (host.state->HasArrived(firing)) {
        ASSERT_NE(host.state->Awaited(firing), nullptr);
      }
      return;
    }
    ASSERT_EQ(firing, host.firing);
    bool poisoned = false;
    for (const auto& [other, unused] : hosts_) {
      poisoned |= poison_.count({other, firing}) != 0;
    }
    ASSERT_EQ(*done, poisoned) << "host " << id << " firing " << firing;
    for (uint32_t own = 0; !poisoned && own < host.state->plan().ranks.size();
         ++own) {
      Check(host, own);
    }
    ++host.firing;
    host.busy = false;
  }

  void Check(const Host& host, uint32_t own) {
    std::vector<int32_t> result(shape_.result[0], -1);
    host.state->TakeResult(shape_, own, host.firing,
                           reinterpret_cast<char*>(result.data()));
    const int64_t rank = host.state->plan().ranks[own];
    const int64_t size = shape_.size, count = shape_.source[0];
    const int64_t block = count / size;
    auto sum = [&](int64_t i) {
      int32_t total = 0;
      for (int64_t r = 0; r < size; ++r) {
        total += Contribution(r, host.firing, i);
      }
      return total;
    };
    for (int64_t i = 0; i < shape_.result[0]; ++i) {
      int32_t expected;
      switch (shape_.kind) {
        case proto::ALL_REDUCE:
          expected = sum(i);
          break;
        case proto::REDUCE_SCATTER:
          expected = sum(rank * block + i);
          break;
        case proto::ALL_GATHER:
          expected = Contribution(i / count, host.firing, i % count);
          break;
        case proto::ALL_TO_ALL:
          expected =
              Contribution(i / block, host.firing, rank * block + i % block);
          break;
        default:
          expected = Contribution((rank + size - 1) % size, host.firing, i);
      }
      ASSERT_EQ(result[i], expected)
          << "rank " << rank << " firing " << host.firing << " element " << i;
    }
  }

  std::mt19937 random_;
  const CollectiveShape shape_;
  std::map<int32_t, Host> hosts_;
  std::map<std::pair<int32_t, uint64_t>, bool> poison_;
  std::vector<Flying> flying_;
};

constexpr proto::CollectiveKind kKinds[] = {
    proto::ALL_REDUCE, proto::ALL_GATHER, proto::REDUCE_SCATTER,
    proto::ALL_TO_ALL, proto::PERMUTE};

TEST(ExchangeStateTest, TwoSlotsDoHoweverLateMessagesAre) {
#ifdef PATHWAYS_SANITIZED
  constexpr int kRuns = 100;
#else
  constexpr int kRuns = 400;
#endif
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < kRuns; ++i) {
    const int64_t hosts = 2 + random() % 7;
    const int64_t block = 1 + random() % 3;
    std::vector<int32_t> host_of;
    for (int64_t r = 0; r < hosts * block; ++r) {
      host_of.push_back(
          static_cast<int32_t>(random() % 2 ? r / block : r % hosts));
    }
    for (int64_t h = 0; h < hosts; ++h) host_of[h * block] = h;
    // Now and then so much that vectors are cut.
    const int64_t count = hosts * block * (i % 20 == 0 ? 600 : 1 + i % 2);
    const proto::CollectiveKind kind = kKinds[random() % 5];
    SCOPED_TRACE(::testing::Message()
                 << "kind " << kind << " count " << count << " hosts "
                 << ::testing::PrintToString(host_of));
    Hosts all(kind, host_of, count, seed + i);
    for (uint64_t firing = 0; firing < kFirings; ++firing) {
      if (random() % 3 == 0) {
        all.Poison(static_cast<int32_t>(random() % hosts), firing);
      }
    }
    all.Run();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(ExchangeStateTest, WhatIsNotExpectedIsRefused) {
  layout::ExchangeSpec spec;
  spec.tree = layout::ReductionTree({2});
  spec.hosts = {4, 7};
  spec.count = 3;
  spec.element_bytes = spec.wide_bytes = 4;
  ExchangeState state(
      std::make_shared<layout::HostExchange>(layout::MakeExchange(spec, 4)),
      Reducer(proto::ADD, proto::I32));
  const layout::ExchangeMessage expected = state.plan().receives[0];
  EXPECT_EQ(expected.host, 7);
  EXPECT_FALSE(state.Receive(0, 5, expected.round, false, nullptr, 12));
  EXPECT_FALSE(state.Receive(0, 7, expected.round + 1, false, nullptr, 12));
  EXPECT_FALSE(state.Receive(0, 7, expected.round, false, nullptr, 8));
  EXPECT_FALSE(state.Receive(2, 7, expected.round, false, nullptr, 12));
  EXPECT_FALSE(state.Receive(UINT64_MAX, 7, expected.round, true, nullptr, 0));
  int sent = 0;
  auto send = [&](const ExchangeState::Outgoing& out) {
    EXPECT_EQ(out.host, 7);
    EXPECT_EQ(out.bytes, 12u);
    ++sent;
  };
  EXPECT_FALSE(state.Advance(0, send).has_value());
  EXPECT_EQ(state.Awaited(0), nullptr);
  state.Arrive(0, /*poison=*/false);
  EXPECT_FALSE(state.Advance(0, send).has_value());
  EXPECT_EQ(sent, 1);
  ASSERT_NE(state.Awaited(0), nullptr);
  EXPECT_EQ(state.Awaited(0)->host, 7);
  EXPECT_TRUE(state.Receive(0, 7, expected.round, false, nullptr, 12));
  EXPECT_FALSE(state.Receive(0, 7, expected.round, true, nullptr, 0));
  EXPECT_EQ(state.Advance(0, send), std::optional<bool>(false));
  EXPECT_EQ(sent, 1);
  EXPECT_FALSE(state.Receive(0, 7, expected.round, false, nullptr, 12));
  EXPECT_TRUE(state.Receive(1, 7, expected.round, false, nullptr, 12));
}

}  // namespace
}  // namespace pathways
