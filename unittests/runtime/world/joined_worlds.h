//===- joined_worlds.h - Several processes as one World ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_WORLD_JOINED_WORLDS_H_
#define UNITTESTS_RUNTIME_WORLD_JOINED_WORLDS_H_

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/functional/function_ref.h"
#include "runtime/base/mutex.h"
#include "runtime/world/process_links.h"
#include "runtime/world/thread_world.h"
#include "unittests/runtime/transport/polled_transport.h"

namespace pathways {

// A World made of `processes` ThreadWorlds that are linked with each other.
// Host h is in world h modulo `processes`, and the controller's host in the
// first one. Tests call the World interface of this object as if it were one
// world.
class JoinedWorlds final : public World,
                           private PeerEvents,
                           private KernelSupervisor,
                           private PayloadLoans {
 public:
  JoinedWorlds(int processes, const std::function<ThreadOptions()>& options)
      : World({.peers = this, .kernels = this, .loans = this}) {
    auto network = std::make_shared<InProcessNetwork>();
    for (int p = 0; p < processes; ++p) {
      Process& process = processes_.emplace_back();
      process.links = std::make_unique<ProcessLinks>(ProcessLinks::Listeners{
          [this, p](PeerId peer, std::string_view from) {
            ProcessLinks& links = *processes_[p].links;
            EXPECT_TRUE(links.Link(std::stoi(std::string(from)), peer).ok());
            linked_.fetch_add(1);
          },
          [](PeerId, std::optional<uint32_t>, const absl::Status&) {}});
      process.transport = std::make_unique<PolledTransport>(
          MakeInProcessTransport(network, {}, process.links.get()));
      process.links->Open(process.transport.get());
      ThreadOptions mine = options();
      mine.remote_channel = process.links->remote_channel();
      // In every second process, only the transport's own thread polls.
      if (p % 2 == 1) mine.remote_channel.poll = nullptr;
      auto world = ThreadWorld::Create(std::move(mine));
      EXPECT_TRUE(world.ok()) << world.status();
      process.world = *std::move(world);
      process.links->Place(p, process.world.get(), [this](ActorId actor) {
        MutexLock lock(&mutex_);
        auto found = process_of_.find(actor);
        return found == process_of_.end() ? -1 : int64_t{found->second};
      });
    }
    for (int p = 0; p < processes; ++p) Link(p);
  }
  ~JoinedWorlds() override { Stop(); }

  LocalId Register(Actor* actor, Placement placement, std::string name,
                   ActorId address) override {
    const int count = static_cast<int>(processes_.size());
    const int process = placement.host < 0 ? 0 : placement.host % count;
    {
      MutexLock lock(&mutex_);
      process_of_[address] = process;
    }
    const LocalId local = processes_[process].world->Register(
        actor, placement, std::move(name), address);
    const LocalId joined{IndexOf(local) * count + process};
    SetLocalId(actor, joined);
    return joined;
  }
  void Reserve(LocalId to, int64_t messages) override {
    Of(to).Reserve(Local(to), messages);
  }
  TimeNs Now() override { return First().Now(); }
  uint64_t Random() override { return First().Random(); }
  WorldTraits traits() const override { return First().traits(); }
  using World::Send;
  void Send(ActorId from, ActorId to, const WireMessage& message,
            Payload payload) override {
    From(from, to).Send(from, to, message, payload);
  }
  void SendControl(ActorId from, ActorId to, std::string bytes) override {
    From(from, to).SendControl(from, to, std::move(bytes));
  }
  void PassControl(ActorId from, ActorId to, ControlBody* body) override {
    From(from, to).PassControl(from, to, body);
  }
  void SendLocal(LocalId from, LocalId to,
                 const LocalMessage& message) override {
    Of(to).SendLocal(Local(from), Local(to), message);
  }
  void SendAfter(LocalId from, LocalId to, TimeNs delay,
                 const LocalMessage& message) override {
    Of(to).SendAfter(Local(from), Local(to), delay, message);
  }
  uint64_t undelivered() const override {
    uint64_t all = 0;
    for (const Process& process : processes_) {
      all += process.world->undelivered() + process.links->stats().unlinked;
    }
    return all;
  }
  void Retire(LocalId actor) override { Of(actor).Retire(Local(actor)); }
  using World::RunUntil;
  bool RunUntil(absl::FunctionRef<bool()> done, TimeNs limit_ns) override {
    return First().RunUntil(done, limit_ns);
  }
  void Notify() override { First().Notify(); }
  void Stop() override {
    for (Process& process : processes_) process.world->Stop();
    // A handler stops only the worlds, since threads of transports may wait for
    // it.
    if (stopping_.exchange(true)) return;
    for (Process& process : processes_) process.transport->Stop();
  }

 private:
  void WatchPeers(LocalId actor) override {
    Of(actor).peers().WatchPeers(Local(actor));
  }
  void ReportPeerDown(int32_t host, uint32_t epoch) override {
    for (Process& process : processes_) {
      process.world->peers().ReportPeerDown(host, epoch);
    }
  }
  void ReportPeerUp(int32_t host, uint32_t epoch) override {
    for (Process& process : processes_) {
      process.world->peers().ReportPeerUp(host, epoch);
    }
  }
  KernelGate* const* kernel_gate(int worker) override {
    return First().kernels().kernel_gate(worker);
  }
  void ExpectKernels(int by) override { First().kernels().ExpectKernels(by); }
  bool LendsTo(ActorId to) const override { return First().Lends(to); }
  bool LendTo(ActorId from, ActorId to, const WireMessage& message,
              Payload payload, const LocalMessage& returned) override {
    return From(from, to).Lend(from, to, message, payload, returned);
  }

  struct Process {
    std::unique_ptr<ProcessLinks> links;
    std::unique_ptr<ThreadWorld> world;
    std::unique_ptr<PolledTransport> transport;  // destroyed first
  };

  // Links a process with those before it. The other end learns the number of
  // the process from a membership message.
  void Link(int p) {
    Process& process = processes_[p];
    EXPECT_TRUE(process.transport->Listen(AddressOf(p)).ok());
    for (int q = 0; q < p; ++q) {
      auto peer = process.links->Dial(AddressOf(q), absl::InfiniteDuration());
      EXPECT_TRUE(peer.ok()) << peer.status();
      EXPECT_TRUE(process.links->Link(q, *peer).ok());
      process.links->SendMembership(*peer, std::to_string(p));
      ++wanted_;
    }
    while (linked_.load() != wanted_) std::this_thread::yield();
  }
  static std::string AddressOf(int process) {
    return "local:" + std::to_string(process);
  }
  ThreadWorld& First() const { return *processes_.front().world; }
  ThreadWorld& Of(LocalId joined) {
    return *processes_[IndexOf(joined) % processes_.size()].world;
  }
  LocalId Local(LocalId joined) const {
    if (joined == kNobody) return kNobody;
    return LocalId{IndexOf(joined) / static_cast<uint32_t>(processes_.size())};
  }
  // Returns the world of the sender; a thread of a test sends from the
  // receiver's world.
  ThreadWorld& From(ActorId from, ActorId to) {
    MutexLock lock(&mutex_);
    auto found = process_of_.find(from);
    if (found == process_of_.end()) found = process_of_.find(to);
    return found == process_of_.end() ? First()
                                      : *processes_[found->second].world;
  }

  std::deque<Process> processes_;
  int wanted_ = 0;
  std::atomic<int> linked_{0};
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  std::map<ActorId, int> process_of_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_WORLD_JOINED_WORLDS_H_
