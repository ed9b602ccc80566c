//===- group_exchange_test.cc - Messages between the hosts of a group -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/group_exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <tuple>

namespace pathways::layout {
namespace {

// Elements are 16 bits where a contribution has them, and 32 inside: of a
// hash, which tells every order of operands from every other.
uint32_t Mix(uint32_t left, uint32_t right) {
  return (left * 2654435761u ^ (right + 0x9e3779b9u)) * 40503u + (left >> 7);
}
uint16_t Narrow(uint32_t wide) {
  return static_cast<uint16_t>(wide ^ (wide >> 16));
}

uint32_t Evaluate(const ReductionOrder& order,
                  const std::vector<uint32_t>& operands) {
  std::vector<uint32_t> stack;
  for (size_t i = 0; i < order.operands.size(); ++i) {
    stack.push_back(operands[order.operands[i]]);
    for (uint32_t c = 0; c < order.combines[i]; ++c) {
      const uint32_t right = stack.back();
      stack.pop_back();
      stack.back() = Mix(stack.back(), right);
    }
  }
  return stack[0];
}

struct Host {
  HostExchange plan;
  std::vector<char> memory;
  size_t next = 0;
};

// All hosts of a group, which take their steps in any order. A message shows
// what its payload is when it is taken, as on threads.
class Simulation {
 public:
  Simulation(const ExchangeSpec& spec, unsigned seed)
      : spec_(spec), random_(seed) {
    for (int32_t host : spec.hosts) {
      if (hosts_.count(host) == 0) {
        hosts_[host].plan = MakeExchange(spec, host);
        hosts_[host].memory.assign(hosts_[host].plan.bytes + 4, char{-1});
      }
    }
    std::vector<TreeNode> ranks;
    for (int64_t r = 0; r < size(); ++r) ranks.push_back({r, r + 1});
    order_ = spec.tree.OrderOf({0, size()}, ranks);
  }

  static uint16_t Contribution(int64_t rank, int64_t element) {
    return Narrow(Mix(static_cast<uint32_t>(rank) + 1,
                      static_cast<uint32_t>(element) + 1));
  }

  void Run() {
    for (auto& [id, host] : hosts_) Contribute(&host);
    std::vector<int32_t> ids;
    for (const auto& [id, host] : hosts_) ids.push_back(id);
    size_t idle = 0;
    while (idle < 200 * ids.size()) {
      const int32_t id = ids[random_() % ids.size()];
      idle = Step(id) ? 0 : idle + 1;
    }
    for (const auto& [id, host] : hosts_) {
      ASSERT_EQ(host.next, host.plan.steps.size()) << "host " << id;
      Check(host);
    }
    for (const auto& [key, begin] : sent_) {
      ASSERT_EQ(begin.second, 1) << "taken by " << std::get<1>(key);
    }
  }

  int64_t messages() const { return static_cast<int64_t>(sent_.size()); }
  // By one host, at most.
  int64_t most_bytes() const {
    uint64_t most = 0;
    for (const auto& [id, host] : hosts_) {
      uint64_t bytes = 0;
      for (const ExchangeMessage& m : host.plan.sends) bytes += m.bytes;
      most = std::max(most, bytes);
    }
    return static_cast<int64_t>(most);
  }
  size_t longest() const {
    size_t most = 0;
    for (const auto& [id, host] : hosts_) {
      most = std::max(most, host.plan.receives.size());
    }
    return most;
  }
  const HostExchange& plan(int32_t host) { return hosts_[host].plan; }

 private:
  int64_t size() const { return spec_.tree.size(); }
  bool HasBlocks() const {
    return spec_.kind == ExchangeKind::kReduceScatter ||
           spec_.kind == ExchangeKind::kAllToAll;
  }

  void Contribute(Host* host) {
    for (size_t own = 0; own < host->plan.ranks.size(); ++own) {
      const int64_t parts = HasBlocks() ? size() : 1;
      const int64_t block = spec_.count / parts;
      for (int64_t k = 0; k < parts; ++k) {
        char* at = host->memory.data() + host->plan.contributions.at(own, k);
        for (int64_t i = 0; i < block; ++i) {
          const uint16_t value =
              Contribution(host->plan.ranks[own], k * block + i);
          std::memcpy(at + 2 * i, &value, 2);
        }
      }
    }
  }

  bool Step(int32_t id) {
    Host& host = hosts_[id];
    if (host.next == host.plan.steps.size()) return false;
    const ExchangeStep step = host.plan.steps[host.next];
    switch (step.kind) {
      case ExchangeStep::kSend: {
        const ExchangeMessage& m = host.plan.sends[step.index];
        EXPECT_GT(m.round, last_awaited_[id]) << "host " << id;
        auto [it, fresh] = sent_.try_emplace(
            std::make_tuple(id, m.host, m.round), std::make_pair(m, 0));
        EXPECT_TRUE(fresh) << id << " to " << m.host << " in " << m.round;
        break;
      }
      case ExchangeStep::kAwait: {
        const ExchangeMessage& m = host.plan.receives[step.index];
        auto it = sent_.find(std::make_tuple(m.host, id, m.round));
        if (it == sent_.end()) return false;
        ++it->second.second;
        const ExchangeMessage& from = it->second.first;
        EXPECT_EQ(from.bytes, m.bytes);
        EXPECT_EQ(host.plan.ReceiveOf(m.host, m.round), step.index);
        last_awaited_[id] = std::max(last_awaited_[id], m.round);
        if (m.bytes == 0) break;
        std::memcpy(host.memory.data() + m.begin,
                    hosts_[m.host].memory.data() + from.begin, m.bytes);
        break;
      }
      case ExchangeStep::kCopy: {
        const ExchangeCopy& copy = host.plan.copies[step.index];
        std::memcpy(host.memory.data() + copy.to,
                    host.memory.data() + copy.from, copy.bytes);
        break;
      }
      case ExchangeStep::kReduce:
        Reduce(&host, host.plan.reductions[step.index]);
        break;
    }
    ++host.next;
    return true;
  }

  void Reduce(Host* host, const ExchangeReduction& r) {
    char* memory = host->memory.data();
    for (int64_t i = 0; i < r.count; ++i) {
      std::vector<uint32_t> operands;
      for (uint64_t at : r.operands) {
        uint32_t wide;
        uint16_t narrow;
        std::memcpy(&wide, memory + at + (r.wide_operands ? 4 * i : 0), 4);
        std::memcpy(&narrow, memory + at + 2 * i, 2);
        operands.push_back(r.wide_operands ? wide : narrow);
      }
      const uint32_t value = Evaluate(r.order, operands);
      const uint16_t narrow = Narrow(value);
      if (r.wide_result) {
        std::memcpy(memory + r.result + 4 * i, &value, 4);
      } else {
        std::memcpy(memory + r.result + 2 * i, &narrow, 2);
      }
    }
  }

  uint16_t Reduced(int64_t element) const {
    std::vector<uint32_t> values;
    for (int64_t r = 0; r < size(); ++r) {
      values.push_back(Contribution(r, element));
    }
    return Narrow(Evaluate(order_, values));
  }

  void Check(const Host& host) {
    auto at = [&](uint64_t begin, int64_t i) {
      uint16_t value;
      std::memcpy(&value, host.memory.data() + begin + 2 * i, 2);
      return value;
    };
    const int64_t block = spec_.count / size();
    for (size_t own = 0; own < host.plan.ranks.size(); ++own) {
      const int64_t rank = host.plan.ranks[own];
      switch (spec_.kind) {
        case ExchangeKind::kAllReduce:
          for (int64_t i = 0; i < spec_.count; ++i) {
            ASSERT_EQ(at(host.plan.results.at(own, 0), i), Reduced(i)) << i;
          }
          break;
        case ExchangeKind::kReduceScatter:
          for (int64_t i = 0; i < block; ++i) {
            ASSERT_EQ(at(host.plan.results.at(own, 0), i),
                      Reduced(rank * block + i));
          }
          break;
        case ExchangeKind::kAllGather:
          for (int64_t r = 0; r < size(); ++r) {
            for (int64_t i = 0; i < spec_.count; ++i) {
              ASSERT_EQ(at(host.plan.results.at(own, r), i),
                        Contribution(r, i));
            }
          }
          break;
        case ExchangeKind::kAllToAll:
          for (int64_t r = 0; r < size(); ++r) {
            for (int64_t i = 0; i < block; ++i) {
              ASSERT_EQ(at(host.plan.results.at(own, r), i),
                        Contribution(r, rank * block + i));
            }
          }
          break;
        case ExchangeKind::kPermute: {
          const int64_t from = spec_.sources[rank];
          ASSERT_EQ(from < 0, host.plan.permuted[own] < 0);
          for (int64_t i = 0; from >= 0 && i < spec_.count; ++i) {
            ASSERT_EQ(at(host.plan.permuted[own], i), Contribution(from, i));
          }
        }
      }
    }
  }

  const ExchangeSpec spec_;
  ReductionOrder order_;
  std::mt19937 random_;
  std::map<int32_t, Host> hosts_;
  // Messages by sender, receiver and round, each with how often it was taken.
  std::map<std::tuple<int32_t, int32_t, uint32_t>,
           std::pair<ExchangeMessage, int>>
      sent_;
  std::map<int32_t, uint32_t> last_awaited_;
};

constexpr ExchangeKind kKinds[] = {
    ExchangeKind::kAllReduce, ExchangeKind::kReduceScatter,
    ExchangeKind::kAllGather, ExchangeKind::kAllToAll, ExchangeKind::kPermute};

// Returns an exchange over one axis, with `block` ranks on each host.
ExchangeSpec Spec(ExchangeKind kind, int64_t hosts, int64_t block, bool strided,
                  int64_t count) {
  ExchangeSpec spec;
  spec.kind = kind;
  spec.tree = ReductionTree({hosts * block});
  for (int64_t r = 0; r < hosts * block; ++r) {
    // Numbers of hosts mean nothing.
    spec.hosts.push_back(
        static_cast<int32_t>(1000 - (strided ? r % hosts : r / block)));
    spec.sources.push_back(r == 2 ? -1 : (r + 3) % (hosts * block));
  }
  spec.count = count;
  spec.element_bytes = 2;
  spec.wide_bytes = 4;
  return spec;
}

TEST(GroupExchangeTest, EveryNumberOfHosts) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  for (int64_t hosts = 2; hosts <= 34; ++hosts) {
    for (int64_t block : {1, 2, 3}) {
      for (bool strided : {false, true}) {
        for (ExchangeKind kind : kKinds) {
          SCOPED_TRACE(::testing::Message()
                       << hosts << " hosts of " << block << " strided "
                       << strided << " kind " << static_cast<int>(kind));
          Simulation simulation(
              Spec(kind, hosts, block, strided, hosts * block), seed);
          simulation.Run();
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(GroupExchangeTest, LargeOnesAreCut) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  for (int64_t hosts : {2, 3, 5, 6, 7, 8, 13}) {
    for (bool strided : {false, true}) {
      SCOPED_TRACE(::testing::Message() << hosts << " strided " << strided);
      constexpr int64_t kCount = 9001;
      Simulation simulation(
          Spec(ExchangeKind::kAllReduce, hosts, 2, strided, kCount), seed);
      simulation.Run();
      if (::testing::Test::HasFatalFailure()) return;
      // Up a half, a quarter, ... of each vector, which is wide; then down,
      // and perhaps all of it to one that is out. Where rows of ranks do not
      // fit the tree, there are more vectors.
      if (strided && hosts != 2 && hosts != 8) continue;
      EXPECT_LE(simulation.most_bytes(),
                kCount * 4 * (strided ? 2 : 1) + kCount * 2 * 2 + 4096);
    }
  }
}

TEST(GroupExchangeTest, LargeBlocksGoFromEachToEach) {
  for (int64_t hosts : {2, 3, 7}) {
    for (bool strided : {false, true}) {
      const ExchangeSpec spec =
          Spec(ExchangeKind::kAllToAll, hosts, 2, strided, 3000 * hosts * 2);
      EXPECT_EQ(MakeExchange(spec, spec.hosts[0]).sends.size(), hosts - 1);
      Simulation simulation(spec, /*seed=*/7);
      simulation.Run();
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(GroupExchangeTest, AnyRanksAnywhere) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 300; ++i) {
    ExchangeSpec spec;
    std::vector<int64_t> axes(1 + random() % 3);
    for (int64_t& axis : axes) axis = 1 + random() % 5;
    spec.tree = ReductionTree(axes);
    const int64_t size = spec.tree.size();
    if (size == 1) continue;
    spec.kind = kKinds[random() % 5];
    const int64_t hosts = 2 + random() % size;
    for (int64_t r = 0; r < size; ++r) {
      spec.hosts.push_back(static_cast<int32_t>(random() % hosts));
      spec.sources.push_back(r);
    }
    spec.hosts[0] = 0;
    spec.hosts[1] = 1;
    std::shuffle(spec.sources.begin(), spec.sources.end(), random);
    spec.count = size * (random() % 3);
    spec.element_bytes = 2;
    spec.wide_bytes = 4;
    SCOPED_TRACE(::testing::Message()
                 << "kind " << static_cast<int>(spec.kind) << " axes "
                 << ::testing::PrintToString(axes) << " hosts "
                 << ::testing::PrintToString(spec.hosts));
    Simulation simulation(spec, seed + i);
    simulation.Run();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(GroupExchangeTest, HowMuchIsSent) {
  constexpr int64_t kHosts = 64;
  struct {
    ExchangeKind kind;
    int64_t count, messages;
    size_t rounds;
  } const expected[] = {
      {ExchangeKind::kAllReduce, 1, 6 * kHosts, 6},
      {ExchangeKind::kAllReduce, 1 << 20, 2 * 6 * kHosts, 12},
      {ExchangeKind::kReduceScatter, 1 << 10, 6 * kHosts, 6},
      {ExchangeKind::kAllGather, 1, 6 * kHosts, 6},
      {ExchangeKind::kAllToAll, 1 << 10, 6 * kHosts, 6},
      {ExchangeKind::kAllToAll, 1 << 14, (kHosts - 1) * kHosts, kHosts - 1},
  };
  for (const auto& e : expected) {
    for (bool strided : {false, true}) {
      const ExchangeSpec spec = Spec(e.kind, kHosts, 4, strided, e.count);
      int64_t messages = 0;
      for (int64_t host = 0; host < kHosts; ++host) {
        const HostExchange plan = MakeExchange(spec, 1000 - host);
        messages += plan.sends.size();
        EXPECT_EQ(plan.receives.size(), e.rounds);
      }
      EXPECT_EQ(messages, e.messages) << static_cast<int>(e.kind);
    }
  }
  // Aligned blocks are one node, and of those that take turns pairs become one
  // node for each rank: always one vector for each.
  const ExchangeSpec blocks =
      Spec(ExchangeKind::kAllReduce, kHosts, 4, /*strided=*/false, 100);
  for (const ExchangeMessage& m : MakeExchange(blocks, 1000).sends) {
    EXPECT_EQ(m.bytes, 400u);
  }
  const ExchangeSpec strided =
      Spec(ExchangeKind::kAllReduce, kHosts, 4, /*strided=*/true, 100);
  for (const ExchangeMessage& m : MakeExchange(strided, 1000).sends) {
    EXPECT_EQ(m.bytes, 4 * 400u);
  }
  // A block for each of the others' ranks from each of the own: nothing else.
  const ExchangeSpec all_to_all =
      Spec(ExchangeKind::kAllToAll, kHosts, 4, /*strided=*/false, 25600);
  for (const ExchangeMessage& m : MakeExchange(all_to_all, 1000).sends) {
    EXPECT_EQ(m.bytes, 4 * 4 * 100 * 2u);
  }
}

}  // namespace
}  // namespace pathways::layout
