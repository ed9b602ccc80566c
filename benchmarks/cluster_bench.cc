//===- cluster_bench.cc - What a cluster of processes costs ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cluster_bench LINKS [SCALE [FIGURE]]
//
// LINKS: what workers speak with each other, sockets, shm or tcp. Plans are
// made by hand and run no kernels. FIGURE: that one alone, say launch.
//
//===----------------------------------------------------------------------===//

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/bench.h"
#include "runtime/client/cluster.h"
#include "runtime/node/local_workers.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/testing/plan_builder.h"
#include "runtime/topology/topology.h"

namespace pathways::bench {
namespace {

using testing::PlanBuilder;

constexpr int kLanes = 8;

layout::Layout Rows(int64_t rows = kLanes) {
  layout::Layout layout;
  layout.shape = {rows};
  layout.dims = {{"x"}};
  return layout;
}

// An argument, gangs of which every other one is in the other process and reads
// what the one before wrote, lane by lane, and a result.
proto::Plan Hops(int hops) {
  PlanBuilder b("hops", 4);
  const uint32_t slices[] = {b.AddSlice("s0", {{"x", kLanes}}, 0),
                             b.AddSlice("s1", {{"x", kLanes}}, 1)};
  uint32_t last = b.AddBuffer("b0", slices[0], Rows(), 2);
  b.AddFeed("v", last);
  for (int i = 1; i <= hops; ++i) {
    const uint32_t next =
        b.AddBuffer(absl::StrCat("b", i), slices[i % 2], Rows(), 2);
    b.AddMove(absl::StrCat("m", i), last, next);
    last = next;
  }
  b.AddFetch("out", last);
  return b.Finish();
}

// An array that goes from the devices of one process to those of the other, at
// each step.
proto::Plan Reshard(int64_t rows) {
  PlanBuilder b("reshard", 4);
  const uint32_t from = b.AddSlice("from", {{"x", kLanes}}, 0);
  const uint32_t to = b.AddSlice("to", {{"x", kLanes}}, 1);
  const uint32_t v = b.AddBuffer("v", from, Rows(rows), 2);
  const uint32_t out = b.AddBuffer("out", to, Rows(rows), 2);
  b.AddFeed("v", v);
  b.AddMove("move", v, out);
  b.AddFetch("out", out);
  return b.Finish();
}

HostArray Numbers(int64_t rows = kLanes) {
  HostArray array;
  array.element = ElementType::kF32;
  array.shape = {rows};
  array.data.resize(rows * sizeof(float));
  for (int64_t i = 0; i < rows; ++i) {
    const float value = i % 1000;
    std::memcpy(&array.data[i * sizeof value], &value, sizeof value);
  }
  return array;
}

struct Opened {
  std::shared_ptr<Cluster> cluster;
  std::unique_ptr<Client> client;  // goes first
};

Opened Open(const std::string& topology, const ClusterOptions& options) {
  Opened opened;
  opened.cluster = Must(OpenCluster(Must(ReadTopology(topology)), options));
  opened.client = Must(opened.cluster->Connect("bench"));
  return opened;
}

double RunOnce(Client& client, ProgramHandle program, ArrayHandle argument,
               int64_t steps) {
  const double begin = Seconds();
  const RunHandle run = Must(client.Launch(program, {argument}, steps));
  Must(client.Await(run));
  const double seconds = Seconds() - begin;
  const HostArray out = Must(client.Fetch(run, "out"));
  if (out.data != Numbers(out.shape[0]).data) Die("other numbers came back");
  Must(client.ReleaseRun(run));
  return seconds;
}

double MedianOf(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Seconds that this process and its children have worked.
double WorkedSeconds() {
  std::vector<std::string> pids = {"self"};
  if (DIR* tasks = opendir("/proc/self/task")) {
    while (const dirent* task = readdir(tasks)) {
      std::ifstream children(
          absl::StrCat("/proc/self/task/", task->d_name, "/children"));
      for (std::string pid; children >> pid;) pids.push_back(pid);
    }
    closedir(tasks);
  }
  double ticks = 0;
  for (const std::string& pid : pids) {
    std::ifstream stat(absl::StrCat("/proc/", pid, "/stat"));
    std::string field;
    // The name, which is second, may have spaces; all of ours have none.
    for (int i = 1; i <= 15 && stat >> field; ++i) {
      if (i == 14 || i == 15) ticks += std::atof(field.c_str());
    }
  }
  return ticks / sysconf(_SC_CLK_TCK);
}

void Start(const std::string& links, ClusterOptions options) {
  options.processes = 0;
  double begin = Seconds();
  {
    const Opened here = Open("1x4x1", options);
  }
  const double in_one = Seconds() - begin;
  options.processes = 4;
  begin = Seconds();
  const Opened opened = Open("1x4x1", options);
  Figure("process.start." + links + ".s", Seconds() - begin - in_one, "s");
}

void Gang8(Client& client, const std::string& links, double scale) {
  constexpr int kHops = 100;
  const ArrayHandle numbers = Must(client.Put(Numbers()));
  const ProgramHandle hops = Must(client.Load(MakePlanData(Hops(kHops), {})));
  const int64_t steps = std::max<int64_t>(1, 100 * scale);
  RunOnce(client, hops, numbers, steps);
  std::vector<double> us;
  for (int i = 0; i < 7; ++i) {
    us.push_back(RunOnce(client, hops, numbers, steps) * 1e6 / (steps * kHops));
  }
  Figure("process.gang8." + links + ".us", MedianOf(us), "us");
}

// Of many steps less few: what comes once, in and out, does not count.
void Reshard64M(Client& client, const std::string& links, double scale) {
  constexpr int64_t kRows = 16 << 20;
  const ArrayHandle large = Must(client.Put(Numbers(kRows)));
  const ProgramHandle reshard =
      Must(client.Load(MakePlanData(Reshard(kRows), {})));
  const int64_t more = std::max<int64_t>(4, 40 * scale);
  RunOnce(client, reshard, large, 4);
  std::vector<double> rates;
  for (int i = 0; i < 5; ++i) {
    const double few = RunOnce(client, reshard, large, 2);
    const double many = RunOnce(client, reshard, large, 2 + more);
    rates.push_back(more * kRows * sizeof(float) / 1e9 / (many - few));
  }
  Figure("process.reshard64M." + links + ".GBps", MedianOf(rates), "GB/s");
  Must(client.Unload(reshard));
}

// One step there and back, of what lies on the host.
void Launch(Client& client, const std::string& links, double scale) {
  const ArrayHandle numbers = Must(client.Put(Numbers()));
  const ProgramHandle small = Must(client.Load(MakePlanData(Hops(2), {})));
  std::vector<double> us;
  for (int i = 0; i < std::max(10.0, 300 * scale); ++i) {
    us.push_back(RunOnce(client, small, numbers, 1) * 1e6);
  }
  Figure("process.launch." + links + ".us", MedianOf(us), "us");
}

void IdleCpu(const std::string& links, double scale) {
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double worked = WorkedSeconds(), begin = Seconds();
  std::this_thread::sleep_for(
      std::chrono::milliseconds(static_cast<int>(1000 * scale) + 50));
  Figure("process.idle_cpu." + links,
         (WorkedSeconds() - worked) / (Seconds() - begin), "cores");
}

void Main(const std::string& links, double scale, std::string_view only) {
  const auto wants = [&](std::string_view figure) {
    return only.empty() || only == figure;
  };
  ClusterOptions options;
  options.workers = 1;
  options.worker_links = links == "shm"   ? ClusterOptions::kSharedMemory
                         : links == "tcp" ? ClusterOptions::kTcp
                                          : ClusterOptions::kSockets;
  options.stall_timeout_ns = 60'000'000'000;
  if (wants("start")) Start(links, options);
  options.processes = 2;
  const Opened opened = Open("2x1x8", options);
  Client& client = *opened.client;
  if (wants("gang8")) Gang8(client, links, scale);
  if (wants("reshard64M")) Reshard64M(client, links, scale);
  if (wants("launch")) Launch(client, links, scale);
  if (wants("idle_cpu")) IdleCpu(links, scale);
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    pathways::bench::Die(
        "usage: cluster_bench sockets|shm|tcp [SCALE [FIGURE]]");
  }
  pathways::bench::Main(argv[1], argc > 2 ? std::atof(argv[2]) : 1,
                        argc > 3 ? argv[3] : "");
  return 0;
}
