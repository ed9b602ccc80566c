//===- fibers.h - Several callers of one simulation -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_FIBERS_H_
#define UNITTESTS_RUNTIME_SIMULATE_FIBERS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/world/mix.h"
#include "runtime/world/sim_world.h"

namespace pathways::simulate {

// Threads of which one runs at a time: a fiber until it waits, then the one
// that drives the simulation until what a fiber waits for is there. So calls of
// several clients that wait go on side by side, and what happens is a function
// of the seed. One thread makes, runs and destroys it.
class Fibers {
 public:
  Fibers(SimWorld* world, uint64_t seed) : world_(*world), random_(seed) {}
  ~Fibers();

  void Add(std::function<void()> body);
  // Until all have ended; false: `is_over` said so before, and the ones that
  // are left wait.
  bool Run(const std::function<bool()>& is_over);
  // Waits as World::RunUntil does, on a fiber.
  bool Wait(absl::FunctionRef<bool()> done);
  bool IsFiber() const;

 private:
  struct Fiber {
    std::function<void()> body;
    const absl::FunctionRef<bool()>* done = nullptr;  // null: it has not begun
    bool reached = true;
    bool ended = false;
    std::binary_semaphore turn{0};
    std::thread thread;
  };

  // Gives the turn to a fiber and takes it back.
  void Resume(size_t fiber, bool reached);
  void Enter(size_t fiber);
  bool IsReady(const Fiber& fiber) const {
    return !fiber.ended && (fiber.done == nullptr || (*fiber.done)());
  }

  SimWorld& world_;
  SplitMix random_;
  std::deque<Fiber> fibers_;
  std::binary_semaphore turn_{0};  // turn of the driving thread
};

// A simulation for a process whose clients are fibers. When it is ended nothing
// comes from them any more.
class FiberWorld final : public World {
 public:
  FiberWorld(std::shared_ptr<World> world, Fibers* fibers)
      : World(PartsOf(*world)), world_(std::move(world)), fibers_(*fibers) {}

  LocalId Register(Actor* actor, Placement placement, std::string name,
                   ActorId address) override {
    actors_.push_back(
        world_->Register(actor, placement, std::move(name), address));
    return actors_.back();
  }
  void Reserve(LocalId to, int64_t n) override { world_->Reserve(to, n); }
  TimeNs Now() override { return world_->Now(); }
  uint64_t Random() override { return world_->Random(); }
  WorldTraits traits() const override { return world_->traits(); }
  using World::Send;
  void Send(ActorId from, ActorId to, const WireMessage& message,
            Payload payload) override {
    if (!ended_) world_->Send(from, to, message, payload);
  }
  void SendControl(ActorId from, ActorId to, std::string bytes) override {
    if (!ended_) world_->SendControl(from, to, std::move(bytes));
  }
  void SendLocal(LocalId from, LocalId to, const LocalMessage& m) override {
    if (!ended_) world_->SendLocal(from, to, m);
  }
  void SendAfter(LocalId from, LocalId to, TimeNs delay,
                 const LocalMessage& m) override {
    if (!ended_) world_->SendAfter(from, to, delay, m);
  }
  uint64_t undelivered() const override { return world_->undelivered(); }
  void Retire(LocalId actor) override { world_->Retire(actor); }
  using World::RunUntil;
  bool RunUntil(absl::FunctionRef<bool()> done, TimeNs limit_ns) override {
    return fibers_.IsFiber() ? fibers_.Wait(done)
                             : world_->RunUntil(done, limit_ns);
  }
  void Notify() override {}
  void Stop() override { ended_ = true; }

  // Nothing reaches its actors any more either. In a handler.
  void RetireAll() {
    for (LocalId actor : actors_) world_->Retire(actor);
  }

 private:
  const std::shared_ptr<World> world_;
  Fibers& fibers_;
  std::vector<LocalId> actors_;
  bool ended_ = false;
};

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_FIBERS_H_
