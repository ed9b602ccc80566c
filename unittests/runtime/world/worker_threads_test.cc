//===- worker_threads_test.cc - Threads of the workers --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/worker_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

struct WorkerThreadsTest : ::testing::Test {
  ~WorkerThreadsTest() override {
    Stop();
    workers->DropAll();
  }
  void Make(WatchOptions watch, StageOpener open_stage = nullptr) {
    workers.emplace(2, /*seed=*/1, open_stage);
    router.emplace(&actors, &*workers, &calls, &stopping);
    loop.emplace(WorkerLoop::Times{}, &clock, &actors, &*workers, &*router,
                 &uplink, &notifier, nullptr, &stopping);
    threads.emplace([this](int worker) { started[worker].fetch_add(1); },
                    std::move(watch), &clock, &actors, &*workers, &*loop);
  }
  void Stop() {
    stopping = true;
    workers->WakeAll();
    threads->Join();
  }

  TestActor actor;
  std::shared_ptr<ManualClock> source = std::make_shared<ManualClock>();
  WorldClock clock{source};
  ActorTable actors;
  OpenCalls calls;
  std::atomic<bool> stopping{false};
  Uplink uplink{RemoteChannel()};
  Notifier notifier;
  std::optional<WorkerSet> workers;
  std::optional<Router> router;
  std::optional<WorkerLoop> loop;
  std::optional<WorkerThreads> threads;
  std::atomic<int> started[2] = {};
};

TEST_F(WorkerThreadsTest, EachWorkerHasAThreadUntilJoin) {
  Make({});
  Placement place;
  place.worker = 1;
  const LocalId to = actors.Add(&actor, place, "actor", kNoActor);
  std::atomic<bool> handled{false}, is_worker{false};
  actor.on_local = [&](const LocalMessage&) {
    is_worker = workers->Self() == &(*workers)[1];
    handled = true;
  };
  ASSERT_TRUE(threads->Start().ok());
  EXPECT_EQ(threads->watchdog(), nullptr);
  threads->ExpectKernels(1);  // no effect without a watchdog
  router->Post(-1,
               Envelope::Of(Envelope::kLocal, LocalMessage(), kNoActor, to));
  while (!handled.load()) std::this_thread::yield();
  EXPECT_TRUE(is_worker.load());
  Stop();
  for (int worker : {0, 1}) {
    EXPECT_EQ(started[worker].load(), 1);
    EXPECT_EQ((*workers)[worker].ended.load(), 1u);
    EXPECT_FALSE((*workers)[worker].thread.joinable());
  }
  EXPECT_EQ(threads->lost(), 0u);
}

TEST_F(WorkerThreadsTest, KernelsAreReportedWhileTheyAreExpected) {
  std::atomic<int> reports{0};
  WatchOptions watch;
  watch.report_ns = 1000;
  watch.on_long = [&](const KernelCall& call, TimeNs) {
    EXPECT_EQ(call.gang, 7u);
    reports.fetch_add(1);
  };
  Make(watch);
  ASSERT_TRUE(threads->Start().ok());
  ASSERT_NE(threads->watchdog(), nullptr);
  KernelGate* const* gate = threads->kernel_gate(3);
  EXPECT_EQ(gate, threads->kernel_gate(1));
  EXPECT_NE(gate, threads->kernel_gate(0));
  threads->ExpectKernels(2);
  (*gate)->Enter(7, 0);
  while (reports.load() == 0) {
    source->Advance(1'000'000);
    std::this_thread::yield();
  }
  (*gate)->Leave();
  threads->ExpectKernels(-2);
}

TEST_F(WorkerThreadsTest, StagedMessagesDoNotWaitForAKernel) {
  struct Stage final : UplinkStage {
    explicit Stage(int* flushes) : flushes(*flushes) {}
    bool Send(ActorId, ActorId, const WireMessage&, Payload) override {
      return true;
    }
    bool SendControl(ActorId, ActorId, std::string) override { return true; }
    void Flush() override { ++flushes; }
    int& flushes;
  };
  int flushes = 0;
  Make({}, [&] { return std::make_unique<Stage>(&flushes); });
  (*workers)[1].staged = true;
  (*threads->kernel_gate(1))->Announce(KernelGate::Place(0, 0), 1, 1);
  EXPECT_EQ(flushes, 1);
  EXPECT_FALSE((*workers)[1].staged);
}

}  // namespace
}  // namespace pathways
