//===- lost_worker_test.cc - Workers that are given up --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/world/mix.h"
#include "runtime/world/thread_world.h"
#include "unittests/runtime/world/await.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

constexpr TimeNs kMs = 1'000'000;

// State that an abandoned thread may touch; it is never destroyed.
struct Kernel {
  std::atomic<bool> entered{false}, held{true}, left{false};
  // Runs like a kernel. Code after Leave must not run on a thread that was
  // given up.
  void Call(KernelGate& gate, uint32_t device = 0) {
    gate.Announce(KernelGate::Place(0, device), 1, 0);
    gate.Enter(7, 0);
    entered = true;
    while (held.load()) std::this_thread::yield();
    gate.Leave();
    left = true;
  }
};
Kernel& NewKernel() {
  static auto* kernels = new std::deque<Kernel>;
  return kernels->emplace_back();
}

// A world whose kernels may take 40 ms on a clock that the test advances.
// Device d of a kernel is actor d; it dies with its kernel.
class LostWorkerTest : public ::testing::Test {
 protected:
  void Make(int workers) {
    ThreadOptions options;
    options.workers = workers;
    options.clock = clock;
    options.watch.limit_ns = 40 * kMs;
    options.watch.victims = [](const KernelCall& call) {
      return std::vector<LocalId>{LocalId{call.device}};
    };
    options.watch.on_lost = [this](const KernelCall& call) {
      EXPECT_EQ(call.gang, 7u);
      ++lost;
    };
    auto made = ThreadWorld::Create(std::move(options));
    ASSERT_TRUE(made.ok()) << made.status();
    world = *std::move(made);
    world->kernels().ExpectKernels(1);
  }
  // Actors that live as long as the process, for handlers that never return.
  TestActor& NewActor(int worker, int host = 0) {
    static auto* actors = new std::deque<TestActor>;
    TestActor& actor = actors->emplace_back();
    actor.Join(*world, host, worker);
    return actor;
  }
  void TurnUntil(const std::function<bool()>& state) {
    while (!state()) {
      clock->Advance(10 * kMs);
      std::this_thread::yield();
    }
  }
  // Returns an actor that calls a kernel when it gets its first message.
  TestActor& NewDevice(int worker, Kernel& kernel) {
    TestActor& actor = NewActor(worker);
    KernelGate* const* gate = world->kernels().kernel_gate(worker);
    auto run = [&kernel, gate, &actor] {
      kernel.Call(**gate, IndexOf(actor.local_id()));
    };
    actor.on_message = [run](ActorId, const WireMessage&) { run(); };
    actor.on_local = [run](const LocalMessage&) { run(); };
    actor.on_control = [run](ActorId, std::string_view) { run(); };
    return actor;
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::atomic<int> lost{0};
  std::unique_ptr<ThreadWorld> world;
};

// Source of the message whose handler does not return.
enum Source {
  kOwn,  // an actor of the worker
  kOwnWire,
  kOwnControl,
  kOther,  // an actor of another worker
  kOtherControl,
  kOutside,
  kOutsideControl,
  kTimer,
};

class LostHandlerTest : public LostWorkerTest,
                        public ::testing::WithParamInterface<Source> {};
INSTANTIATE_TEST_SUITE_P(Sources, LostHandlerTest,
                         ::testing::Values(kOwn, kOwnWire, kOwnControl, kOther,
                                           kOtherControl, kOutside,
                                           kOutsideControl, kTimer));

// The other messages of each queue are handled once, whatever queue held the
// message that does not return; messages to the dead actor are dropped.
TEST_P(LostHandlerTest, OthersOfTheWorkerGoOn) {
  const Source source = GetParam();
  Make(2);
  Kernel& kernel = NewKernel();
  TestActor& device = NewDevice(0, kernel);
  TestActor& other = NewActor(0);
  TestActor& far = NewActor(1);
  std::vector<uint64_t> seen;  // steps that the other actor got
  std::atomic<size_t> count{0};
  other.on_local = [&](const LocalMessage& message) {
    seen.push_back(message.step);
    count = seen.size();
    world->Notify();
  };
  other.on_message = [&](ActorId, const WireMessage& message) {
    if (message.step == 0) {
      if (source == kOwn) {
        world->SendLocal(other.local_id(), device.local_id(), {});
      }
      if (source == kOwnWire) world->Send(other.id, device.id, {});
      if (source == kOwnControl) world->SendControl(other.id, device.id, "run");
      // One message after it in the queue, and a timer far in the future.
      world->Send(other.id, other.id, Numbered(1));
      world->SendAfter(other.local_id(), other.local_id(), 3'600'000 * kMs,
                       LocalNumbered(9));
      return;
    }
    seen.push_back(message.step);
    count = seen.size();
    world->Notify();
  };
  far.on_message = [&](ActorId, const WireMessage& message) {
    if (source == kOther) world->Send(far.id, device.id, {});
    if (source == kOtherControl) world->SendControl(far.id, device.id, "run");
    world->Send(far.id, other.id, Numbered(message.step));
  };
  world->Send(kNoActor, other.id, Numbered(0));
  if (source == kTimer) {
    world->SendAfter(kNobody, device.local_id(), 0, LocalMessage());
  }
  world->Send(kNoActor, far.id, Numbered(2));
  if (source == kOutside) world->Send(kNoActor, device.id, {});
  if (source == kOutsideControl) {
    world->SendControl(kNoActor, device.id, "run");
  }
  Await([&] { return kernel.entered.load(); });
  world->Send(kNoActor, device.id, {});
  world->Send(kNoActor, other.id, Numbered(3));
  world->Send(kNoActor, far.id, Numbered(4));
  TurnUntil([&] { return lost.load() == 1; });
  // The worker is another thread now, and handles new messages.
  world->Send(kNoActor, device.id, {});
  world->Send(kNoActor, other.id, Numbered(5));
  EXPECT_TRUE(world->RunUntil([&] { return count.load() == 5; }));
  // The worker also keeps its timers.
  clock->Advance(3'600'000 * kMs);
  EXPECT_TRUE(world->RunUntil([&] { return count.load() == 6; }));
  // The kernel returns, but the old thread does not continue.
  kernel.held = false;
  world->Send(kNoActor, other.id, Numbered(6));
  EXPECT_TRUE(world->RunUntil([&] { return count.load() == 7; }));
  world->kernels().ExpectKernels(-1);
  world->Stop();
  EXPECT_FALSE(kernel.left.load());
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre(1, 2, 3, 4, 5, 9, 6));
}

TEST_F(LostWorkerTest, StopDoesNotWaitForIt) {
  Make(2);
  Kernel& kernel = NewKernel();
  TestActor& device = NewDevice(1, kernel);
  world->Send(kNoActor, device.id, {});
  Await([&] { return kernel.entered.load(); });
  // The thread is not lost yet, and no launch expects kernels any more.
  world->kernels().ExpectKernels(-1);
  std::atomic<bool> stopped{false};
  std::thread stopper([&] {
    world->Stop();
    stopped = true;
  });
  TurnUntil([&] { return stopped.load(); });
  stopper.join();
  EXPECT_EQ(lost.load(), 1);
  world.reset();
  kernel.held = false;
}

TEST_F(LostWorkerTest, AllWorkersAtOnceAndAgain) {
  Make(3);
  TestActor* devices[6];
  Kernel* kernels[6];
  for (int i = 0; i < 6; ++i) {
    kernels[i] = &NewKernel();
    devices[i] = &NewDevice(i, *kernels[i]);
  }
  TestActor& last = NewActor(2);
  std::atomic<int> heard{0};
  last.on_message = [&](ActorId, const WireMessage&) { ++heard; };
  // Each worker gets two kernels; the second runs when the first is lost.
  for (TestActor* device : devices) world->Send(kNoActor, device->id, {});
  TurnUntil([&] { return lost.load() == 6; });
  world->Send(kNoActor, last.id, {});
  Await([&] { return heard.load() == 1; });
  for (Kernel* kernel : kernels) kernel->held = false;
  world->kernels().ExpectKernels(-1);
  world->Stop();
  for (Kernel* kernel : kernels) EXPECT_FALSE(kernel->left.load());
}

// Kernels return at about their limit. Each one is either lost and never
// returns, or continues as usual.
TEST_F(LostWorkerTest, ComingBackRacesWithBeingGivenUp) {
  constexpr int kRounds = 100;
  uint64_t seed = 5;
  SCOPED_TRACE(seed);
  SplitMix random(seed);
  Make(2);
  int came_back = 0;
  for (int round = 0; round < kRounds; ++round) {
    Kernel& kernel = NewKernel();
    TestActor& device = NewDevice(0, kernel);
    TestActor& other = NewActor(0);
    std::atomic<bool> heard{false};
    other.on_message = [&](ActorId, const WireMessage&) { heard = true; };
    const int before = lost.load();
    world->Send(kNoActor, device.id, {});
    Await([&] { return kernel.entered.load(); });
    for (int i = 0; i < 4; ++i) {
      clock->Advance(10 * kMs);
      std::this_thread::yield();
    }
    for (uint64_t i = random.UpTo(2000); i > 0; --i) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    kernel.held = false;
    TurnUntil([&] { return kernel.left.load() || lost.load() > before; });
    world->Send(kNoActor, other.id, {});
    Await([&] { return heard.load(); });
    EXPECT_NE(kernel.left.load(), lost.load() > before);
    came_back += kernel.left.load();
    other.on_message = nullptr;
  }
  EXPECT_EQ(came_back + lost.load(), kRounds);
  EXPECT_EQ(world->lost(), static_cast<uint64_t>(lost.load()));
  world->kernels().ExpectKernels(-1);
  world->Stop();
}

}  // namespace
}  // namespace pathways
