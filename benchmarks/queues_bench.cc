//===- queues_bench.cc - Queues of jobs on one cluster --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// queues_bench [JOBS] runs the workload of Kueue's own scheduler benchmark in a
// simulation: how long all jobs take, how busy devices are meanwhile, and how
// long jobs wait.
//
// There are five cohorts of six queues, each with 20 processors of its own that
// the others of the cohort may use; each queue gets 350 small jobs, 100 medium
// and 50 large ones at intervals (kubernetes-sigs/kueue,
// test/performance/scheduler/configs/baseline/generator.yaml). Kueue's results
// are in rangespec.yaml in the same folder: 351 s; jobs wait for 215.5 s, 76.8
// s and 6.7 s on average, by size; 58.7 % of quotas are in use.
//
// A cohort is an island of 120 devices, each with memory for one job; a queue
// is a process with only clients; a job is a client, which loads a program on
// as many free devices of the island as it requests, runs one step of it, and
// disconnects. JOBS: most jobs of each class and queue.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/bench.h"
#include "runtime/cluster/sim_cluster.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/protocol/client_id.h"
#include "unittests/runtime/simulate/fibers.h"

namespace pathways::bench {
namespace {

using simulate::Fibers;
using simulate::FiberWorld;

constexpr int kCohorts = 5, kQueues = 6, kDevices = 120;
constexpr uint64_t kMemoryBytes = 16384;
constexpr TimeNs kMs = 1'000'000;

struct JobClass {
  const char* name;
  int count;
  TimeNs every_ns, takes_ns;
  int devices;
};
constexpr JobClass kClasses[] = {{"small", 350, 100 * kMs, 200 * kMs, 1},
                                 {"medium", 100, 500 * kMs, 500 * kMs, 5},
                                 {"large", 50, 1200 * kMs, 1000 * kMs, 20}};
// Jobs of a class and queue that request devices at a time; later ones wait in
// either case.
constexpr int kAsking = 8;

std::string KindOf(int cohort) { return absl::StrCat("cohort", cohort); }

proto::Cluster Machines() {
  proto::Cluster cluster;
  for (int c = 0; c < kCohorts; ++c) {
    proto::Host* host = cluster.add_islands()->add_hosts();
    for (int d = 0; d < kDevices; ++d) {
      proto::Device* device = host->add_devices();
      device->set_kind(KindOf(c));
      device->set_memory_bytes(kMemoryBytes);
    }
  }
  return cluster;
}

proto::Plan JobPlan(const JobClass& of, int cohort) {
  PlanBuilder b(of.name, 1);
  const uint32_t slice =
      b.AddSlice("s", {{"x", of.devices}}, static_cast<uint32_t>(cohort));
  b.plan().mutable_slices(0)->set_kind(KindOf(cohort));
  layout::Layout rows;
  // More than half of a device's memory.
  rows.shape = {of.devices * static_cast<int64_t>(kMemoryBytes * 5 / 16 / 4)};
  rows.dims = {{"x"}};
  const uint32_t in = b.AddBuffer("in", slice, rows, 1);
  const uint32_t out = b.AddBuffer("out", slice, rows, 1);
  b.AddFeed("v", in);
  b.AddGang("work", slice, {in}, {out}, static_cast<uint64_t>(of.takes_ns));
  b.AddFetch("y", out);
  return b.Finish();
}

// Wakes clients that sleep until a given time.
class Alarm final : public Actor {
 public:
  explicit Alarm(World* world) : world_(*world) {
    world_.Register(this, {-1, 0, -1}, "alarm");
  }
  void Set(TimeNs delay) {
    world_.SendAfter(kNobody, local_id(), delay, LocalMessage());
  }
  void OnLocal(const LocalMessage&) override {}

 private:
  World& world_;
};

struct Tally {
  int64_t jobs = 0;
  double wait_s = 0, held_device_s = 0;
};

class Queues {
 public:
  explicit Queues(int jobs) {
    SimCluster::Parts parts;
    parts.apart = false;
    parts.clients_apart = false;
    parts.places_for_clients = kMaxProcessClients;
    ClusterOptions options;
    options.world = ClusterOptions::kSim;
    options.seed = 1;
    options.run_kernels = false;
    cluster_ = Must(SimCluster::Create(Machines(), options, std::move(parts)));
    SimWorld& world = cluster_->world();
    alarm_ = std::make_unique<Alarm>(&world);
    fibers_ = std::make_unique<Fibers>(&world, /*seed=*/1);
    for (int q = 0; q < kCohorts * kQueues; ++q) {
      processes_.push_back(Must(cluster_->OpenClients(
          static_cast<uint32_t>(q), absl::StrCat("queue", q),
          [&](std::shared_ptr<World> shared) {
            return std::make_shared<FiberWorld>(std::move(shared),
                                                fibers_.get());
          })));
      AddJobs(q, jobs);
    }
  }

  void Run() {
    fibers_->Run([] { return false; });
  }
  const Tally& tally(int of) const { return tallies_[of]; }
  double end_s() const { return Seconds(end_ns_); }

 private:
  static double Seconds(TimeNs ns) { return static_cast<double>(ns) / 1e9; }

  void AddJobs(int queue, int jobs) {
    for (int c = 0; c < static_cast<int>(std::size(kClasses)); ++c) {
      auto next = std::make_shared<int>(0);
      for (int n = 0; n < kAsking; ++n) {
        fibers_->Add([this, queue, c, next, jobs] {
          const int count = std::min(kClasses[c].count, jobs);
          while (*next < count) Job(queue, c, (*next)++);
        });
      }
    }
  }

  // Runs the n-th job of its class.
  void Job(int queue, int of, int n) {
    const JobClass& job = kClasses[of];
    World& world = cluster_->world();
    const TimeNs created = job.every_ns * (n + 1);
    if (world.Now() < created) {
      alarm_->Set(created - world.Now());
      fibers_->Wait([&] { return world.Now() >= created; });
    }
    const std::unique_ptr<Client> client = Must(processes_[queue]->Connect(
        absl::StrCat("queue", queue, ".", job.name, n)));
    LoadOptions anywhere;
    anywhere.place = LoadPlace::kAnywhere;
    const proto::Plan plan = JobPlan(job, queue / kQueues);
    const int64_t numbers = plan.layouts(0).shape(0);
    const ProgramHandle program =
        Must(client->Load(MakePlanData(plan, {}), anywhere));
    const TimeNs begun = world.Now();
    HostArray shape{ElementType::kF32, {numbers}, {}};
    const RunHandle run = Must(client->Launch(program, {std::move(shape)}));
    Must(client->Await(run));
    Must(client->ReleaseRun(run));
    Must(client->Unload(program));
    end_ns_ = world.Now();
    Tally& tally = tallies_[of];
    ++tally.jobs;
    tally.wait_s += Seconds(begun - created);
    tally.held_device_s += Seconds(end_ns_ - begun) * job.devices;
  }

  std::unique_ptr<SimCluster> cluster_;
  std::unique_ptr<Alarm> alarm_;
  std::unique_ptr<Fibers> fibers_;
  std::vector<std::unique_ptr<Cluster>> processes_;
  Tally tallies_[std::size(kClasses)];
  TimeNs end_ns_ = 0;
};

int Main(int argc, char** argv) {
  const int jobs = argc > 1 ? std::atoi(argv[1]) : 500;
  const double start = Seconds();
  Queues queues(jobs);
  queues.Run();
  double held = 0, worked = 0;
  for (size_t c = 0; c < std::size(kClasses); ++c) {
    const Tally& tally = queues.tally(static_cast<int>(c));
    Figure(absl::StrCat("queues.", kClasses[c].name, ".wait_s"),
           tally.wait_s / static_cast<double>(tally.jobs), "s");
    held += tally.held_device_s;
    worked += static_cast<double>(tally.jobs * kClasses[c].devices) *
              static_cast<double>(kClasses[c].takes_ns) / 1e9;
  }
  const double capacity = queues.end_s() * kCohorts * kDevices;
  Figure("queues.all_s", queues.end_s(), "s");
  Figure("queues.held", 100 * held / capacity, "%");
  Figure("queues.usage", 100 * worked / capacity, "%");
  Figure("queues.real_s", Seconds() - start, "s");
  return 0;
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) { return pathways::bench::Main(argc, argv); }
