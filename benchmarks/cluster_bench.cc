//===- cluster_bench.cc - Cost of a cluster of processes ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cluster_bench LINKS [SCALE [FIGURE]]
//
// LINKS: transport between workers: sockets, shm or tcp. Plans are made by hand
// and run no kernels. FIGURE: measures only this one, such as launch.
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
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/bench.h"
#include "runtime/base/temporary_file.h"
#include "runtime/cluster/cluster.h"
#include "runtime/node/child_processes.h"
#include "runtime/node/local_workers.h"
#include "runtime/node/remote_cluster.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"
#include "runtime/topology/topology.h"
#include "runtime/transport/socket/cluster_key.h"

namespace pathways::bench {
namespace {

constexpr int kLanes = 8;

layout::Layout Rows(int64_t rows = kLanes) {
  layout::Layout layout;
  layout.shape = {rows};
  layout.dims = {{"x"}};
  return layout;
}

// Returns a plan with an argument, a chain of gangs, and a result. Each gang is
// in the other process than the one before it, whose result it reads lane by
// lane.
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

// Returns a plan that moves an array from the devices of one process to those
// of the other in each step.
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

// Returns the plan of `dispatch_bench launch`, whose hosts are all in one
// process: two arguments, and a result that each device makes of its part of
// one of them.
proto::Plan TwoArguments() {
  PlanBuilder b("two", 4);
  const uint32_t slice = b.AddSlice("s", {{"x", kLanes}}, 0);
  const uint32_t v = b.AddBuffer("v", slice, Rows(), 2);
  const uint32_t w = b.AddBuffer("w", slice, Rows(), 2);
  const uint32_t out = b.AddBuffer("out", slice, Rows(), 2);
  b.AddFeed("v", v);
  b.AddFeed("w", w);
  b.AddGang("g", slice, {v}, {});
  b.AddMove("m", w, out);
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
  std::unique_ptr<Client> client;  // destroyed first
};

Opened Open(const std::string& topology, const ClusterOptions& options) {
  Opened opened;
  opened.cluster = Must(OpenCluster(Must(ReadTopology(topology)), options));
  opened.client = Must(opened.cluster->Connect("bench"));
  return opened;
}

double RunOnce(Client& client, ProgramHandle program,
               const LaunchArguments& arguments, int64_t steps) {
  const double begin = Seconds();
  const RunHandle run = Must(client.Launch(program, arguments, steps));
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

// Returns the processor time of this process and its children in seconds.
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
    // The second field, the name, may have spaces; those of the benchmarks have
    // none.
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
  RunOnce(client, hops, {numbers}, steps);
  std::vector<double> us;
  for (int i = 0; i < 7; ++i) {
    us.push_back(RunOnce(client, hops, {numbers}, steps) * 1e6 /
                 (steps * kHops));
  }
  Figure("process.gang8." + links + ".us", MedianOf(us), "us");
}

// Subtracts the time of few steps from that of many, so that one-time transfers
// in and out do not count.
void Reshard64M(Client& client, const std::string& links, double scale) {
  constexpr int64_t kRows = 16 << 20;
  const ArrayHandle large = Must(client.Put(Numbers(kRows)));
  const ProgramHandle reshard =
      Must(client.Load(MakePlanData(Reshard(kRows), {})));
  const int64_t more = std::max<int64_t>(4, 40 * scale);
  RunOnce(client, reshard, {large}, 4);
  std::vector<double> rates;
  for (int i = 0; i < 5; ++i) {
    const double few = RunOnce(client, reshard, {large}, 2);
    const double many = RunOnce(client, reshard, {large}, 2 + more);
    rates.push_back(more * kRows * sizeof(float) / 1e9 / (many - few));
  }
  Figure("process.reshard64M." + links + ".GBps", MedianOf(rates), "GB/s");
  Must(client.Unload(reshard));
}

// Measures launches of one step, with arguments on the devices, from the call
// to the end.
void Launches(Client& client, const std::string& name, const proto::Plan& plan,
              const LaunchArguments& arguments, double scale) {
  const ProgramHandle program = Must(client.Load(MakePlanData(plan, {})));
  std::vector<double> us;
  for (int i = 0; i < std::max(10.0, 1000 * scale); ++i) {
    us.push_back(RunOnce(client, program, arguments, 1) * 1e6);
  }
  Must(client.Unload(program));
  Figure(name + ".us", MedianOf(us), "us");
}

// Measures launches from here to the processes of all devices and back.
void Launch(Client& client, const std::string& links, double scale) {
  const LaunchArguments arguments = {Must(client.Put(Numbers())),
                                     Must(client.Put(Numbers()))};
  Launches(client, "process.launch." + links, TwoArguments(), arguments, scale);
}

// Measures launches from here to one process, from there to the other, and
// back.
void LaunchAndBack(Client& client, const std::string& links, double scale) {
  Launches(client, "process.launch_and_back." + links, Hops(2),
           {Must(client.Put(Numbers()))}, scale);
}

// A controller and two workers as processes, which communicate with this one
// and with each other over TCP with TLS.
class TcpCluster {
 public:
  TcpCluster()
      : key_(MakeFile(std::string(2 * ClusterKey::kBytes, '5'))),
        children_(Must(
            ChildProcesses::Create([](int, const std::string&, bool) {}))) {
    const TemporaryFile written = MakeFile("");
    Start({"controller", "--topology=1x2x4", "--listen=127.0.0.1:0",
           "--write-address=" + written.path(), "--workers=1"});
    ConnectOptions options;
    while (!std::getline(std::ifstream(written.path()), options.address)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    Start({"worker", "--connect=" + options.address, "--host=host0"});
    Start({"worker", "--connect=" + options.address, "--host=host1"});
    options.links.key_file = key_.path();
    cluster_ = Must(ConnectCluster(options));
  }
  Cluster& cluster() { return *cluster_; }

 private:
  static TemporaryFile MakeFile(const std::string& content) {
    TemporaryFile file;
    if (file.Create("/tmp/cluster_bench.", "", 0600) != 0 ||
        WriteAll(file.fd(), content) != 0) {
      Die("cannot write to /tmp");
    }
    return file;
  }
  void Start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), FindNodeProgram());
    arguments.push_back("--key=" + key_.path());
    Must(children_->Start(arguments));
  }

  const TemporaryFile key_;
  const std::unique_ptr<ChildProcesses> children_;
  std::shared_ptr<Cluster> cluster_;
};

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
  if (wants("launch") && links == "tcp") {
    TcpCluster remote;
    Launch(*Must(remote.cluster().Connect("bench")), links, scale);
  } else if (wants("launch")) {
    Launch(*Open("1x2x4", options).client, links, scale);
  }
  const Opened opened = Open("2x1x8", options);
  Client& client = *opened.client;
  if (wants("gang8")) Gang8(client, links, scale);
  if (wants("reshard64M")) Reshard64M(client, links, scale);
  if (wants("launch_and_back")) LaunchAndBack(client, links, scale);
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
