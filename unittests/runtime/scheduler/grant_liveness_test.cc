//===- grant_liveness_test.cc - Programs never wait in a circle -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model of devices beside the real order of grants: programs over several
// islands with gangs, carried values and credits, launches that fill each
// other's arguments, any policy, grants of any length. A device runs its queue
// in order; a gang needs all its devices at once. By the rules of
// docs/protocol.md, "Launching", all runs to its end; without one of them, some
// do not.
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/scheduler/grant_order.h"

namespace pathways {
namespace {

enum class Rules {
  kAll,
  kArrival,  // islands take grants as they come, not by ticket
  kEarly,    // a launch begins before what fills its arguments is granted
};

struct Edge {
  uint32_t from, to;
  int64_t tokens;
};
struct ModelProgram {
  std::vector<int32_t> islands;
  std::vector<std::vector<int64_t>> gangs;  // by action, its devices
  std::vector<Edge> edges;
  int64_t firings = 1;
  int filled_by = -1;  // another program, whose launch fills an argument
  uint64_t launch = 0;
};

constexpr int64_t kIslandDevices = 2;
int32_t IslandOf(int64_t device) {
  return static_cast<int32_t>(device / kIslandDevices);
}

class Model {
 public:
  Model(uint32_t seed, Rules rules) : random_(seed), rules_(rules) {
    const uint32_t islands = 2 + Pick(3);
    const uint32_t count = 2 + Pick(4);
    for (uint32_t p = 0; p < count; ++p) {
      programs_.push_back(MakeProgram(islands));
      if (p > 0 && Pick(2) == 0) {
        programs_.back().filled_by = static_cast<int>(Pick(p));
      }
    }
    order_ = std::make_unique<GrantOrder>(*MakePolicy(kPolicyNames[Pick(4)]),
                                          /*horizon_ns=*/1 + Pick(8),
                                          /*chunk_ns=*/1 + Pick(4));
    for (uint32_t p = 0; p < count; ++p) {
      std::set<int64_t> devices;
      for (const auto& gang : programs_[p].gangs) {
        devices.insert(gang.begin(), gang.end());
      }
      std::vector<DeviceGroupTable::Device> on;
      for (int64_t device : devices) on.push_back({IslandOf(device), device});
      order_->Load(p, /*client=*/p % 3, {1.0 + Pick(3), 1, 1.0 * Pick(2)}, on);
    }
  }

  // Returns true if every launch ran to its end.
  bool Run() {
    while (true) {
      const bool steps[] = {BeginSome(), TakeGrants(), Deliver(), Fire()};
      const bool any = std::find(std::begin(steps), std::end(steps), true) !=
                       std::end(steps);
      if (!any && !Drain()) break;
    }
    size_t all = 0;
    for (const ModelProgram& program : programs_) {
      all += program.gangs.size() * static_cast<size_t>(program.firings);
    }
    return done_.size() == all;
  }

 private:
  struct Entry {
    uint32_t program;
    int64_t firing;
    uint32_t action;
    auto operator<=>(const Entry&) const = default;
  };
  struct Pending {
    uint64_t ticket;
    uint32_t program;
    int64_t first, end;
  };

  uint32_t Pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  ModelProgram MakeProgram(uint32_t islands) {
    ModelProgram program;
    std::vector<int32_t> all(islands);
    for (uint32_t i = 0; i < islands; ++i) all[i] = static_cast<int32_t>(i);
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(Pick(5) < 3 ? 2 + Pick(std::min(2u, islands - 1)) : 1);
    program.islands = all;
    std::sort(program.islands.begin(), program.islands.end());
    auto some = [&](int32_t island) {
      std::vector<int64_t> devices;
      const auto first = static_cast<int64_t>(island) * kIslandDevices;
      const uint32_t which = 1 + Pick(3);
      for (int64_t d = 0; d < kIslandDevices; ++d) {
        if ((which >> d) & 1) devices.push_back(first + d);
      }
      return devices;
    };
    for (int32_t island : all) program.gangs.push_back(some(island));
    for (uint32_t i = Pick(4); i > 0; --i) {
      program.gangs.push_back(some(all[Pick(uint32_t(all.size()))]));
    }
    if (all.size() > 1 && Pick(3) == 0) {
      // One over all its islands.
      program.gangs.emplace_back();
      for (int32_t island : program.islands) {
        for (int64_t device : some(island)) {
          program.gangs.back().push_back(device);
        }
      }
    }
    std::shuffle(program.gangs.begin(), program.gangs.end(), random_);
    const auto count = static_cast<uint32_t>(program.gangs.size());
    for (uint32_t v = 1; v < count; ++v) {
      program.edges.push_back({Pick(v), v, 0});
      program.edges.push_back({Pick(v), v, 0});
    }
    const std::vector<Edge> data = program.edges;
    for (const Edge& edge : data) {
      program.edges.push_back({edge.to, edge.from, 1 + Pick(2)});
    }
    if (Pick(2) == 0) program.edges.push_back({count - 1, 0, 1});
    program.firings = 1 + Pick(4);
    return program;
  }

  bool IsGranted(int program) const {
    return order_->next_firing(static_cast<uint32_t>(program)) ==
           static_cast<uint64_t>(programs_[program].firings);
  }
  bool IsOver(int program) const {
    for (uint32_t a = 0; a < programs_[program].gangs.size(); ++a) {
      if (done_.count({static_cast<uint32_t>(program),
                       programs_[program].firings - 1, a}) == 0) {
        return false;
      }
    }
    return true;
  }

  bool BeginSome() {
    bool any = false;
    for (uint32_t p = 0; p < programs_.size(); ++p) {
      ModelProgram& program = programs_[p];
      if (program.launch != 0 || Pick(2) == 0) continue;
      if (program.filled_by >= 0 && rules_ != Rules::kEarly &&
          !IsGranted(program.filled_by)) {
        continue;
      }
      program.launch = ++launches_;
      order_->Begin(program.launch, p, static_cast<uint64_t>(program.firings),
                    program.islands,
                    {1.0 + Pick(2), static_cast<int32_t>(Pick(2)), Pick(9)},
                    now_++);
      any = true;
    }
    return any;
  }
  bool TakeGrants() {
    const Grant* grant = Pick(2) == 0 ? order_->Next(now_++) : nullptr;
    if (grant == nullptr) return false;
    for (const auto& [island, previous] : grant->previous) {
      pending_[island].push_back({grant->ticket, grant->program,
                                  static_cast<int64_t>(grant->first),
                                  static_cast<int64_t>(grant->end)});
      left_[{grant->ticket, island}] = 0;
    }
    return true;
  }
  // One grant joins the queues of an island.
  bool Deliver() {
    for (auto& [island, pending] : pending_) {
      if (pending.empty() || Pick(2) == 0) continue;
      const size_t at = rules_ == Rules::kArrival
                            ? Pick(static_cast<uint32_t>(pending.size()))
                            : 0;
      Join(island, pending[at]);
      pending.erase(pending.begin() + static_cast<ptrdiff_t>(at));
      return true;
    }
    return false;
  }
  void Join(int32_t island, const Pending& grant) {
    const ModelProgram& program = programs_[grant.program];
    for (int64_t firing = grant.first; firing < grant.end; ++firing) {
      for (uint32_t a = 0; a < program.gangs.size(); ++a) {
        bool here = false;
        for (int64_t device : program.gangs[a]) {
          if (IslandOf(device) != island) continue;
          queues_[device].push_back({grant.program, firing, a});
          here = true;
        }
        if (!here) continue;
        ++left_[{grant.ticket, island}];
        of_[{grant.program, firing, a}].emplace_back(grant.ticket, island);
      }
    }
    End(grant.ticket, island);
  }
  void End(uint64_t ticket, int32_t island) {
    if (left_[{ticket, island}] == 0) order_->Done(ticket, island, Pick(5));
  }

  bool CanFire(const Entry& entry) const {
    const ModelProgram& program = programs_[entry.program];
    for (int64_t device : program.gangs[entry.action]) {
      const auto queue = queues_.find(device);
      if (queue == queues_.end() || queue->second.empty() ||
          queue->second.front() != entry) {
        return false;
      }
    }
    for (const Edge& edge : program.edges) {
      const int64_t firing = entry.firing - edge.tokens;
      if (edge.to == entry.action && firing >= 0 &&
          done_.count({entry.program, firing, edge.from}) == 0) {
        return false;
      }
    }
    return entry.firing > 0 || program.filled_by < 0 ||
           IsOver(program.filled_by);
  }
  bool Fire() {
    for (auto& [device, queue] : queues_) {
      if (queue.empty() || Pick(2) == 0 || !CanFire(queue.front())) continue;
      Fire(queue.front());
      return true;
    }
    return false;
  }
  void Fire(const Entry entry) {
    for (int64_t device : programs_[entry.program].gangs[entry.action]) {
      queues_[device].pop_front();
    }
    done_.insert(entry);
    for (const auto& [ticket, island] : of_[entry]) {
      --left_[{ticket, island}];
      End(ticket, island);
    }
  }
  // Nothing happened by chance: does what can happen. False: nothing can.
  bool Drain() {
    for (auto& [device, queue] : queues_) {
      if (!queue.empty() && CanFire(queue.front())) {
        Fire(queue.front());
        return true;
      }
    }
    for (auto& [island, pending] : pending_) {
      if (pending.empty()) continue;
      Join(island, pending.front());
      pending.erase(pending.begin());
      return true;
    }
    for (uint32_t p = 0; p < programs_.size(); ++p) {
      if (programs_[p].launch == 0 &&
          (programs_[p].filled_by < 0 || IsGranted(programs_[p].filled_by))) {
        return true;
      }
    }
    const Grant* grant = order_->Next(now_++);
    if (grant == nullptr) return false;
    for (const auto& [island, previous] : grant->previous) {
      pending_[island].push_back({grant->ticket, grant->program,
                                  static_cast<int64_t>(grant->first),
                                  static_cast<int64_t>(grant->end)});
    }
    return true;
  }

  std::mt19937 random_;
  const Rules rules_;
  std::vector<ModelProgram> programs_;
  std::unique_ptr<GrantOrder> order_;
  TimeNs now_ = 0;
  uint64_t launches_ = 0;
  std::map<int32_t, std::vector<Pending>> pending_;  // by island
  std::map<int64_t, std::deque<Entry>> queues_;      // by device
  std::set<Entry> done_;
  // For each grant on an island, the gangs that have joined and not fired; for
  // each gang, its grants.
  std::map<std::pair<uint64_t, int32_t>, int> left_;
  std::map<Entry, std::vector<std::pair<uint64_t, int32_t>>> of_;
};

int CountStuck(Rules rules, uint32_t systems) {
  int stuck = 0;
  for (uint32_t seed = 0; seed < systems; ++seed) {
    const bool ended = Model(seed, rules).Run();
    stuck += !ended;
    if (rules == Rules::kAll) EXPECT_TRUE(ended) << "seed " << seed;
  }
  return stuck;
}

TEST(GrantLivenessTest, NothingIsEverStuck) {
  EXPECT_EQ(CountStuck(Rules::kAll, 10'000), 0);
}

TEST(GrantLivenessTest, IslandsThatIgnoreTicketsGetStuck) {
  EXPECT_GT(CountStuck(Rules::kArrival, 1000), 10);
}

TEST(GrantLivenessTest, LaunchesThatBeginEarlyGetStuck) {
  EXPECT_GT(CountStuck(Rules::kEarly, 1000), 10);
}

}  // namespace
}  // namespace pathways
