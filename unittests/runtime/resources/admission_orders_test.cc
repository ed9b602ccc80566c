//===- admission_orders_test.cc - Clients that want more than there is ----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the decisions of the queue of loads with a model that tries
// everything.
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "runtime/protocol/client_id.h"
#include "runtime/resources/load_queue.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

constexpr uint64_t kStoreBytes = 16384;  // of each device and each host

// Ways to have one thing that is asked for.
using Alternatives = std::vector<DeviceBytes>;

bool Fits(const DeviceBytes& taken, const DeviceBytes& more) {
  for (const auto& [place, bytes] : more) {
    const auto found = taken.find(place);
    const uint64_t used = found == taken.end() ? 0 : found->second;
    if (used + bytes > kStoreBytes) return false;
  }
  return true;
}

// Returns true if all clients of `waiting` can get what they wait for, in some
// order and in some way, when all other clients give up what they hold and each
// of them does so once it has got that.
bool CanEnd(const std::map<uint32_t, DeviceBytes>& held,
            std::map<uint32_t, Alternatives> waiting) {
  DeviceBytes taken;
  for (const auto& [client, ways] : waiting) {
    const auto own = held.find(client);
    if (own == held.end()) continue;
    for (const auto& [place, bytes] : own->second) taken[place] += bytes;
  }
  if (waiting.empty()) return true;
  for (const auto& [client, ways] : waiting) {
    for (const DeviceBytes& way : ways) {
      if (!Fits(taken, way)) continue;
      std::map<uint32_t, Alternatives> others = waiting;
      others.erase(client);
      if (CanEnd(held, std::move(others))) return true;
    }
  }
  return false;
}

// Three hosts with a device each. Clients that take up to three things, of more
// than half a device or host each: a program, two in one act, a program or a
// slice anywhere, a program that takes of its host too, or an array; and give
// up all when they have what they want, or are refused something.
class AdmissionOrdersTest : public ::testing::Test {
 protected:
  static Topology Small() {
    proto::Cluster cluster;
    for (int i = 0; i < 3; ++i) {
      proto::Host* host = cluster.add_islands()->add_hosts();
      host->set_memory_bytes(kStoreBytes);
      host->add_devices()->set_memory_bytes(kStoreBytes);
    }
    absl::StatusOr<Topology> topology = Topology::Create(cluster);
    EXPECT_TRUE(topology.ok()) << topology.status();
    return *std::move(topology);
  }
  static std::string Name(uint32_t client) { return absl::StrCat("c", client); }

  struct State {
    uint32_t wants = 0;
    std::vector<uint64_t> has;                         // holders
    std::vector<std::pair<uint64_t, int32_t>> arrays;  // and hosts
    bool waits = false;
  };
  uint32_t Pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  std::map<uint32_t, DeviceBytes> Held() const {
    return admission_.HeldByClients();
  }
  // Returns the ways to satisfy a load that waits, or would wait.
  Alternatives WaysOf(const LoadQueue::Load& load) const {
    if (load.demands.empty()) return {load.need};
    Alternatives ways;
    for (int64_t device = 0; device < 3; ++device) {
      ways.push_back(
          {{device, std::min(kStoreBytes, bytes_.at(load.request.id))}});
    }
    return ways;
  }
  LoadQueue::Load Make(uint32_t client) {
    LoadQueue::Load load{{client, ++last_}, {}};
    auto add = [&](int64_t device) {
      const std::string name = absl::StrCat("p", last_);
      LoadQueue::Program program{
          {},
          Prepare(MovePlan(name, 1, static_cast<uint32_t>(device),
                           static_cast<uint32_t>(device), 0, 257 + Pick(250)),
                  wide_)};
      for (const auto& [place, bytes] : Admission::NeedOf(*program.plan)) {
        load.need[place] += bytes;
      }
      load.programs.push_back(std::move(program));
    };
    const int64_t device = Pick(3);
    switch (Pick(5)) {
      case 0:
        add(device);
        add((device + 1 + Pick(2)) % 3);
        break;
      case 1: {
        const uint64_t bytes =
            Pick(2) == 0 ? kWholeDevice
                         : kStoreBytes / 2 + 1 + Pick(kStoreBytes / 2);
        bytes_[last_] = bytes;
        load.demands.push_back({{}, {{{{bytes, 0}}}}});
        load.whats.push_back(absl::StrCat("slice '", last_, "'"));
        load.need = admission_.Reach(load.demands[0]);
        break;
      }
      case 2: {
        add(device);
        const uint64_t bytes = kStoreBytes / 2 + 1 + Pick(kStoreBytes / 2);
        const int32_t host = static_cast<int32_t>(Pick(3));
        load.programs[0].on_hosts[host] = bytes;
        load.need[admission_.MemoryPoolOf(host)] = bytes;
        break;
      }
      default:
        add(device);
    }
    return load;
  }
  absl::Status Grant(const LoadQueue::Load& load) {
    const uint32_t client = load.request.client;
    std::vector<uint64_t> ids;
    absl::Status status;
    for (const LoadQueue::Program& program : load.programs) {
      ids.push_back(++last_holder_);
      status = admission_.Admit(ids.back(), *program.plan, client, Name(client),
                                0, program.on_hosts);
      if (!status.ok()) break;
    }
    for (size_t i = 0; i < load.demands.size(); ++i) {
      ids.push_back(++last_holder_);
      status = admission_
                   .Reserve(client, Name(client),
                            {{ids.back(), load.whats[i], &load.demands[i]}},
                            [](uint64_t) { return 0; })
                   .status();
    }
    if (!status.ok()) {
      for (uint64_t id : ids) admission_.Release(id);
      return status;
    }
    State& state = clients_[client];
    state.waits = false;
    --state.wants;
    state.has.insert(state.has.end(), ids.begin(), ids.end());
    return absl::OkStatus();
  }
  std::map<uint32_t, Alternatives> Waiting() const {
    std::map<uint32_t, Alternatives> waiting;
    for (const LoadQueue::Load& load : queue_.loads()) {
      waiting[load.request.client] = WaysOf(load);
    }
    return waiting;
  }
  bool FitsNow(const LoadQueue::Load& load) {
    DeviceBytes taken;
    for (const auto& [client, bytes] : Held()) {
      for (const auto& [place, count] : bytes) taken[place] += count;
    }
    // Memory that a host has not reported as free.
    for (int32_t host = 0; host < 3; ++host) {
      taken[admission_.MemoryPoolOf(host)] +=
          admission_.host_memory().leaving(host);
    }
    for (const DeviceBytes& way : WaysOf(load)) {
      if (Fits(taken, way)) return true;
    }
    return false;
  }
  void Retry() {
    queue_.Retry([this](const LoadQueue::Load& load) { return Grant(load); });
    EXPECT_TRUE(queue_.TakeStuck(Name).empty());
    for (const LoadQueue::Load& load : queue_.loads()) {
      EXPECT_FALSE(FitsNow(load)) << load.why;
    }
    EXPECT_TRUE(CanEnd(Held(), Waiting()));
  }
  void GiveBack(uint32_t client) {
    State state = std::move(clients_[client]);
    clients_.erase(client);
    for (uint64_t id : state.has) {
      admission_.Release(id);
      Retry();
    }
    for (const auto& [object, host] : state.arrays) {
      std::vector<Drop> drops;
      arrays_.ReleaseHeld({object}, &drops);
      for (const Drop& drop : drops) {
        admission_.host_memory().Discharge(drop.host, drop.bytes, ++sequence_);
      }
      Retry();  // it is not free yet
      admission_.host_memory().Settled(host, sequence_);
      Retry();
    }
  }
  // Keeps an array on a host, if that has room: nobody waits for that.
  void KeepArray(uint32_t client) {
    const int32_t host = static_cast<int32_t>(Pick(3));
    const uint64_t bytes = kStoreBytes / 2 + 1 + Pick(kStoreBytes / 2);
    if (bytes > admission_.FreeAt(admission_.MemoryPoolOf(host))) return;
    const uint64_t object = ClientId(client, ++last_);
    const uint32_t hosts[] = {static_cast<uint32_t>(host)};
    arrays_.Add(object, hosts, {bytes}, /*held=*/true, /*filling=*/0,
                /*arriving=*/false);
    admission_.host_memory().Charge(hosts, {bytes});
    clients_[client].arrays.emplace_back(object, host);
  }

  Topology topology_ = Small();
  Topology wide_ = MakeTopology("3x1x1");  // any of the plans fits here
  ObjectTable arrays_;
  Admission admission_{topology_, &arrays_};
  LoadQueue queue_{&admission_};
  std::mt19937 random_;
  std::map<uint32_t, State> clients_;
  std::map<uint64_t, uint64_t> bytes_;  // of slices, by request
  uint64_t last_ = 0, last_holder_ = 0, sequence_ = 0;
};

TEST_F(AdmissionOrdersTest, AllEndAsTheModelSays) {
  int granted = 0, waited = 0, refused = 0, circles = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    random_.seed(seed);
    for (uint32_t c = 0; c < 4; ++c) clients_[c].wants = 1 + Pick(3);
    for (int i = 0; i < 1000 && !clients_.empty(); ++i) {
      auto at = std::next(clients_.begin(),
                          Pick(static_cast<uint32_t>(clients_.size())));
      const uint32_t client = at->first;
      if (at->second.waits) continue;
      if (at->second.wants == 0) {
        GiveBack(client);
        continue;
      }
      if (Pick(4) == 0) KeepArray(client);
      const LoadQueue::Load load = Make(client);
      const bool fits = FitsNow(load);
      std::map<uint32_t, Alternatives> waiting = Waiting();
      waiting[client] = WaysOf(load);
      const bool can_end = CanEnd(Held(), std::move(waiting));
      const bool is_granted = queue_.MayPass(load) && Grant(load).ok();
      EXPECT_EQ(is_granted, fits);
      if (is_granted) {
        ++granted;
        queue_.Passed(load);
        continue;
      }
      std::string why;
      const absl::Status waits = queue_.Add(load, Name, &why);
      EXPECT_EQ(waits.ok(), can_end) << waits;
      if (waits.ok()) {
        ++waited;
        clients_[client].waits = true;
        continue;
      }
      ++refused;
      circles += std::string(waits.message()).find("for each other") !=
                 std::string::npos;
      GiveBack(client);
    }
    EXPECT_TRUE(clients_.empty()) << queue_.loads().size() << " wait";
    EXPECT_TRUE(queue_.empty());
    for (const auto& [client, bytes] : Held()) {
      for (const auto& [place, count] : bytes) EXPECT_EQ(count, 0u) << place;
    }
    for (int64_t place = 0; place < 6; ++place) {
      EXPECT_EQ(admission_.FreeAt(place), kStoreBytes) << place;
    }
  }
  EXPECT_GT(granted, 1000);
  EXPECT_GT(waited, 300);
  EXPECT_GT(refused, 300);
  EXPECT_GT(circles, 100);
}

// A load that waits for any of some devices is refused when those are away that
// could do, and nobody waits in vain.
TEST_F(AdmissionOrdersTest, WhatDevicesThatGoLeaveToNobodyIsRefused) {
  std::string why;
  clients_[1].wants = clients_[2].wants = 9;
  LoadQueue::Load all{{1, ++last_}, {}};
  all.demands.push_back({{}, {{{{kWholeDevice, 0}}}}});
  all.whats.push_back("slice 'all'");
  all.need = admission_.Reach(all.demands[0]);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Grant(all).ok());
  LoadQueue::Load waits = all;
  waits.request = {2, ++last_};
  bytes_[last_] = kWholeDevice;
  EXPECT_TRUE(queue_.Add(waits, Name, &why).ok());
  Retry();
  admission_.Lose(0, "it hangs");
  admission_.HostGone(1, /*epoch=*/1);
  Retry();
  EXPECT_EQ(queue_.loads().size(), 1u);
  admission_.Drain(2, true);
  const auto stuck = queue_.TakeStuck(Name);
  ASSERT_EQ(stuck.size(), 1u);
  EXPECT_EQ(stuck[0].first.request.id, waits.request.id);
  EXPECT_THAT(std::string(stuck[0].second.message()),
              ::testing::HasSubstr("; the cluster has too few devices"));
  EXPECT_TRUE(queue_.empty());
}

// Two clients that want two devices each, in opposite orders: one by one they
// meet in a circle, in one act they do not.
TEST_F(AdmissionOrdersTest, OneActMeetsNoCircle) {
  auto program = [&](int64_t device) {
    return LoadQueue::Program{
        {},
        Prepare(MovePlan("p", 1, static_cast<uint32_t>(device),
                         static_cast<uint32_t>(device), 0, 300),
                wide_)};
  };
  auto load = [&](uint32_t client, std::vector<int64_t> devices) {
    LoadQueue::Load made{{client, ++last_}, {}};
    for (int64_t device : devices) {
      made.programs.push_back(program(device));
      for (const auto& [place, bytes] :
           Admission::NeedOf(*made.programs.back().plan)) {
        made.need[place] += bytes;
      }
    }
    return made;
  };
  clients_[1].wants = clients_[2].wants = 9;
  std::string why;
  EXPECT_TRUE(Grant(load(1, {0})).ok());
  EXPECT_TRUE(Grant(load(2, {1})).ok());
  EXPECT_TRUE(queue_.Add(load(1, {1}), Name, &why).ok());
  EXPECT_THAT(std::string(queue_.Add(load(2, {0}), Name, &why).message()),
              ::testing::HasSubstr("; the wait would deadlock, because these "
                                   "clients wait for each other: 'c2' "
                                   "for program 'p', 'c1' for program 'p'"));
  queue_.RemoveAll(1);
  for (uint32_t client : {1, 2}) {
    for (uint64_t id : clients_[client].has) admission_.Release(id);
    clients_[client] = {9, {}, {}, false};
  }
  EXPECT_TRUE(Grant(load(1, {0, 1})).ok());
  const LoadQueue::Load other = load(2, {1, 0});
  EXPECT_TRUE(absl::IsResourceExhausted(Grant(other)));
  EXPECT_TRUE(queue_.Add(other, Name, &why).ok());
  EXPECT_THAT(queue_.loads().front().What(), "program 'p' and program 'p'");
  GiveBack(1);
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(clients_[2].has.size(), 2u);
}

// A client that waits for two things is not given one that another must have
// before it gives back the other.
TEST_F(AdmissionOrdersTest, WhatWouldCloseACircleIsNotGranted) {
  auto load = [&](uint32_t client, int64_t device) {
    LoadQueue::Load made{{client, ++last_}, {}};
    made.programs.push_back(
        {{},
         Prepare(MovePlan("p", 1, static_cast<uint32_t>(device),
                          static_cast<uint32_t>(device), 0, 300),
                 wide_)});
    made.need = Admission::NeedOf(*made.programs[0].plan);
    return made;
  };
  for (uint32_t client : {1, 2, 3}) clients_[client].wants = 9;
  std::string why;
  EXPECT_TRUE(Grant(load(1, 0)).ok());
  EXPECT_TRUE(Grant(load(2, 1)).ok());
  // Both of these are of one client; the second one waits for the other.
  EXPECT_TRUE(queue_.Add(load(3, 0), Name, &why).ok());
  EXPECT_TRUE(queue_.Add(load(3, 1), Name, &why).ok());
  EXPECT_TRUE(queue_.Add(load(2, 0), Name, &why).ok());
  admission_.Release(clients_[1].has[0]);
  queue_.Retry([this](const LoadQueue::Load& one) { return Grant(one); });
  EXPECT_TRUE(clients_[3].has.empty());
  EXPECT_EQ(clients_[2].has.size(), 2u);
  GiveBack(2);
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(clients_[3].has.size(), 2u);
}

}  // namespace
}  // namespace pathways::testing
