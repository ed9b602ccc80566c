//===- collective_bench.cc - Cost of collectives --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// collective_bench allreduce [ROUNDS]   a large one on 4 devices of 2 workers,
//                                       over a memcpy of one contribution by
//                                       one thread
// collective_bench hosts                messages of one over 64 hosts, in the
//                                       simulation
// collective_bench load [ROUNDS]        what loading one over 4,096 devices of
//                                       a host takes for each, and over 512
//
// Plans have nothing but collectives. Values are checked.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/bench.h"
#include "benchmarks/session.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"

namespace pathways::bench {
namespace {

// Returns a chain of sums over all `devices`, with `floats` numbers from each.
proto::Plan Chain(int64_t devices, int64_t floats, int gangs) {
  PlanBuilder b("chain", 2);
  const uint32_t slice = b.AddSlice("s", {{"x", devices}}, 0);
  layout::Layout rows;
  rows.shape = {devices * floats};
  rows.dims = {{"x"}};
  uint32_t last = b.AddBuffer("b0", slice, rows, 1);
  b.AddFeed("v", last);
  std::vector<uint32_t> places[2];  // buffers that alternate
  for (int i = 1; i <= gangs; ++i) {
    const uint32_t next = b.AddBuffer(absl::StrCat("b", i), slice, rows, 1);
    const uint32_t gang =
        b.AddGang(absl::StrCat("g", i), slice, {last}, {next});
    proto::Collective* c =
        b.plan().mutable_actions(gang)->add_steps()->mutable_collective();
    c->set_kind(proto::ALL_REDUCE);
    c->set_reduction(proto::ADD);
    c->add_axes("x");
    c->set_source(last);
    c->set_result(next);
    if (i < gangs) places[i % 2].push_back(next);
    last = next;
  }
  b.AddFetch("out", last);
  for (const std::vector<uint32_t>& place : places) {
    if (place.size() > 1) b.ShareMemory(place);
  }
  return b.Finish();
}

HostArray Values(int64_t devices, int64_t floats) {
  HostArray array;
  array.element = ElementType::kF32;
  array.shape = {devices * floats};
  array.data.resize(devices * floats * 4);
  for (int64_t i = 0; i < devices * floats; ++i) {
    const float value = static_cast<float>(i % floats % 97);
    std::memcpy(&array.data[4 * i], &value, 4);
  }
  return array;
}

double Median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

void AllReduce(int64_t rounds) {
  constexpr int64_t kDevices = 4, kFloats = int64_t{4} << 20;
  constexpr int kGangs = 4;
  constexpr int64_t kSteps = 4;
  ClusterOptions options;
  options.workers = 2;
  options.bind_workers = true;
  Session runtime("1x1x4", options);
  const ProgramHandle program =
      Must(runtime->Load(MakePlanData(Chain(kDevices, kFloats, kGangs), {})));
  const ArrayHandle array = Must(runtime->Put(Values(kDevices, kFloats)));
  auto launch = [&](int64_t steps) {
    const double start = Seconds();
    const RunHandle run = Must(runtime->Launch(program, {array}, steps));
    Must(runtime->Await(run));
    const double seconds = Seconds() - start;
    if (steps == 1) {
      const HostArray out = Must(runtime->Fetch(run, "out"));
      double factor = 1;
      for (int i = 0; i < kGangs; ++i) factor *= kDevices;
      for (int64_t i = 0; i < kDevices * kFloats; i += 1009) {
        float value;
        std::memcpy(&value, &out.data[4 * i], 4);
        if (value != factor * (i % kFloats % 97)) Die("a sum is wrong");
      }
    }
    Must(runtime->ReleaseRun(run));
    return seconds;
  };
  launch(1);
  std::vector<char> from(4 * kFloats, 1), to(4 * kFloats, 2);
  std::vector<double> copies, sums;
  for (int64_t i = 0; i < rounds; ++i) {
    for (int k = 0; k < 8; ++k) {
      const double start = Seconds();
      std::memcpy(to.data(), from.data(), from.size());
      // Makes the copy observable.
      asm volatile("" : : "r"(to.data()) : "memory");
      copies.push_back(Seconds() - start);
    }
    // Transfers in and out, once per launch, cancel out.
    const double one = launch(1);
    sums.push_back((launch(1 + kSteps) - one) / (kSteps * kGangs));
  }
  Figure("collective.allreduce16M.ms", Median(sums) * 1e3, "ms");
  Figure("collective.allreduce16M.memcpy_ms", Median(copies) * 1e3, "ms");
  Figure("collective.allreduce16M.vs_memcpy", Median(sums) / Median(copies),
         "x");
}

// Returns the number of messages between hosts in one step.
double Messages(int64_t floats) {
  constexpr int64_t kHosts = 64;
  ClusterOptions options;
  options.world = ClusterOptions::kSim;
  options.run_kernels = false;
  Session runtime(absl::StrCat("1x", kHosts, "x1"), options);
  const ProgramHandle program =
      Must(runtime->Load(MakePlanData(Chain(kHosts, floats, 1), {})));
  auto messages = [&] {
    uint64_t count = 0;
    const ClusterStats stats = Must(runtime->Stats());
    for (const auto& host : stats.hosts) count += host.messages_sent;
    return static_cast<double>(count);
  };
  auto launch = [&](int64_t steps) {
    const double before = messages();
    const RunHandle run =
        Must(runtime->Launch(program, {Values(kHosts, floats)}, steps));
    Must(runtime->Await(run));
    Must(runtime->ReleaseRun(run));
    return messages() - before;
  };
  const double one = launch(1);
  return (launch(5) - one) / 4;
}

void Hosts() {
  Figure("collective.hosts64.messages", Messages(1), "messages");
  Figure("collective.hosts64.large.messages", Messages(1 << 16), "messages");
}

// Returns the seconds of a load for each device; the best of `rounds`, since
// other processes can only add to it.
double LoadSeconds(int64_t devices, int64_t rounds) {
  ClusterOptions options;
  options.workers = 2;
  Session runtime(absl::StrCat("1x1x", devices), options);
  const proto::Plan plan = Chain(devices, 1, 4);
  double best = 0;
  for (int64_t i = 0; i < rounds; ++i) {
    const double start = Seconds();
    const ProgramHandle program = Must(runtime->Load(MakePlanData(plan, {})));
    const double seconds = (Seconds() - start) / static_cast<double>(devices);
    best = i == 0 ? seconds : std::min(best, seconds);
    Must(runtime->Unload(program));
  }
  return best;
}

void Load(int64_t rounds) {
  const double few = LoadSeconds(512, rounds);
  const double many = LoadSeconds(4096, rounds);
  Figure("collective.load4096.us_per_device", many * 1e6, "us");
  Figure("collective.load4096.vs_512", many / few, "x");
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "allreduce") {
    pathways::bench::AllReduce(argc > 2 ? std::atoll(argv[2]) : 15);
  } else if (what == "hosts") {
    pathways::bench::Hosts();
  } else if (what == "load") {
    pathways::bench::Load(argc > 2 ? std::atoll(argv[2]) : 10);
  } else {
    pathways::bench::Die(
        "usage: collective_bench allreduce [ROUNDS] | hosts | load [ROUNDS]");
  }
  return 0;
}
