//===- world_bench.cc - Cost of a message ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints nanoseconds for each message on one worker, for each message and each
// round trip between two, and for each event of a simulation. Each number is
// the best of five runs.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/world/sim_world.h"
#include "runtime/world/thread_world.h"

namespace pathways {
namespace {

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Report(const char* what, int64_t count,
            const std::function<double()>& run) {
  double best = run();
  for (int i = 1; i < 5; ++i) best = std::min(best, run());
  std::printf("%-44s %9.1f ns\n", what, best * 1e9 / count);
}

// Passes messages on until it has handled `left` of them.
struct Relay : Actor {
  World* world = nullptr;
  LocalId next = kNobody;  // next actor if on the same host
  // Otherwise, its address.
  ActorId address = kNoActor, next_address = kNoActor;
  int64_t left = 0;
  std::atomic<bool>* done = nullptr;

  void OnLocal(const LocalMessage&) override { PassOn(); }
  void OnWire(ActorId, const WireMessage&, Payload) override { PassOn(); }
  void PassOn() {
    if (--left <= 0) {
      if (left == 0) {
        done->store(true);
        world->Notify();
      }
      return;
    }
    if (next != kNobody) {
      world->SendLocal(local_id(), next, LocalMessage());
    } else {
      world->Send(address, next_address, WireMessage());
    }
  }
};

// Measures two actors, on workers 0 and `worker`, with `under_way` messages in
// flight.
double PingPong(int worker, int64_t count, int under_way, TimeNs spin_ns) {
  ThreadOptions options;
  options.workers = 2;
  options.spin_ns = spin_ns;
  auto world = ThreadWorld::Create(std::move(options));
  if (!world.ok()) return 0;
  std::atomic<bool> done{false};
  Relay relays[2];
  for (int i = 0; i < 2; ++i) {
    relays[i].world = world->get();
    (*world)->Register(&relays[i], {0, i * worker, 0}, "relay");
    // The second actor never ends the run.
    relays[i].left = i == 0 ? count / 2 : INT64_MAX;
    relays[i].done = &done;
    (*world)->Reserve(relays[i].local_id(), under_way);
  }
  relays[0].next = relays[1].local_id();
  relays[1].next = relays[0].local_id();
  double start = Seconds();
  for (int i = 0; i < under_way; ++i) {
    (*world)->SendLocal(kNobody, relays[0].local_id(), LocalMessage());
  }
  (*world)->RunUntil([&] { return done.load(); });
  double seconds = Seconds() - start;
  (*world)->Stop();
  return seconds;
}

double Simulate(int actors, int hosts, int64_t count, int under_way) {
  auto world = SimWorld::Create({});
  if (!world.ok()) return 0;
  std::atomic<bool> done{false};
  std::deque<Relay> relays(actors);
  for (int i = 0; i < actors; ++i) {
    int host = static_cast<int>(int64_t{i} * hosts / actors);
    relays[i].world = world->get();
    relays[i].address = static_cast<ActorId>(i);
    relays[i].next_address = static_cast<ActorId>((i + 1) % actors);
    (*world)->Register(&relays[i], {host, 0, 0}, "relay", relays[i].address);
    relays[i].left = count / under_way;
    relays[i].done = &done;
  }
  double start = Seconds();
  for (int i = 0; i < under_way; ++i) {
    (*world)->Send(kNoActor, relays[i % actors].address, WireMessage());
  }
  (*world)->RunUntil(
      [&] { return (*world)->events() >= static_cast<uint64_t>(count); });
  return (Seconds() - start) * count / (*world)->events();
}

int Main() {
  constexpr int64_t kMessages = 4'000'000;
  Report("message, same worker", kMessages,
         [] { return PingPong(0, kMessages, 1, -1); });
  Report("message, same worker, 1000 under way", kMessages,
         [] { return PingPong(0, kMessages, 1000, -1); });
  Report("message, two workers, 1000 under way", kMessages,
         [] { return PingPong(1, kMessages, 1000, -1); });
  constexpr int64_t kTrips = 400'000;
  Report("round trip, two workers, both spin", kTrips,
         [] { return PingPong(1, 2 * kTrips, 1, 1'000'000); });
  Report("round trip, two workers, both sleep", kTrips / 20,
         [] { return PingPong(1, kTrips / 10, 1, 0); });
  Report("event, 8 actors on one host", kMessages,
         [] { return Simulate(8, 1, kMessages, 8); });
  Report("event, 4096 actors on 512 hosts", kMessages,
         [] { return Simulate(4096, 512, kMessages, 4096); });
  Report("event, 4096 actors, each on a host", kMessages,
         [] { return Simulate(4096, 4096, kMessages, 4096); });
  return 0;
}

}  // namespace
}  // namespace pathways

int main() { return pathways::Main(); }
