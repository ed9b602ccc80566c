//===- sim_bench.cc - Cost of a simulation --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sim_bench events [STEPS]     deliveries per second of a pipeline over eight
//                              hosts, an all-reduce in each of its stages
// sim_bench host [DEVICES]     memory that one host with so many devices takes
// sim_bench devices [N]        a step of a training pipeline of 16 stages and
// 64
//                              micro-batches on N devices, from the start of
//                              the cluster to the end of the step
//
// Kernels do not run, so that only the simulation is measured.
//
//===----------------------------------------------------------------------===//

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/bench.h"
#include "benchmarks/session.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"

namespace pathways::bench {
namespace {

Session Start(const std::string& topology) {
  ClusterOptions options;
  options.world = ClusterOptions::kSim;
  options.seed = 1;
  options.run_kernels = false;
  return Session(topology, options);
}

layout::Layout Rows(int64_t size) {
  layout::Layout layout;
  layout.shape = {size};
  layout.dims = {{"x"}};
  return layout;
}

// Returns `stages` slices of `devices` devices, one per island if `apart`, each
// with a gang on one number per device, which is an all-reduce if `reduces`.
proto::Plan Pipeline(int stages, int64_t devices, bool apart, bool reduces) {
  PlanBuilder b("pipeline", 2);
  uint32_t last = 0;
  for (int i = 0; i < stages; ++i) {
    const uint32_t slice = b.AddSlice(absl::StrCat("s", i), {{"x", devices}},
                                      apart ? static_cast<uint32_t>(i) : 0);
    auto buffer = [&](const char* name) {
      return b.AddBuffer(absl::StrCat(name, i), slice, Rows(devices), 2);
    };
    const uint32_t in = buffer("in"), out = buffer("out");
    if (i == 0) {
      b.AddFeed("v", in);
    } else {
      b.AddMove(absl::StrCat("to", i), last, in);
    }
    const uint32_t gang = b.AddGang(absl::StrCat("g", i), slice, {in}, {out},
                                    /*cost_ns=*/1000);
    last = out;
    if (!reduces) continue;
    proto::Collective* c =
        b.plan().mutable_actions(gang)->add_steps()->mutable_collective();
    c->set_kind(proto::ALL_REDUCE);
    c->set_reduction(proto::ADD);
    c->add_axes("x");
    c->set_source(in);
    c->set_result(out);
  }
  b.AddFetch("y", last);
  return b.Finish();
}

HostArray Shape(int64_t count) {
  HostArray array;
  array.element = ElementType::kF32;
  array.shape = {count};
  return array;
}

void Launch(Client& runtime, proto::Plan plan, int64_t size, int64_t steps) {
  const ProgramHandle program =
      Must(runtime.Load(MakePlanData(std::move(plan), {})));
  const RunHandle run = Must(runtime.Launch(program, {Shape(size)}, steps));
  Must(runtime.Await(run));
}

void Events(int64_t steps) {
  auto runtime = Start("4x2x4");
  const double start = Seconds();
  Launch(*runtime, Pipeline(4, 8, /*apart=*/true, /*reduces=*/true), 8, steps);
  const double seconds = Seconds() - start;
  Figure("sim.events_per_s", Must(runtime->Stats()).events / seconds, "1/s");
}

double PeakMiB() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024.0;
}

void Host(int64_t devices) {
  const double before = PeakMiB();
  auto runtime = Start(absl::StrCat("1x1x", devices));
  Launch(*runtime, Pipeline(1, devices, /*apart=*/false, /*reduces=*/false),
         devices, 2);
  Figure(absl::StrCat("sim.host", devices, ".MiB"), PeakMiB() - before, "MiB");
}

// Returns `stages` islands of `devices` devices each: each stage's result goes
// forward to the next one, and the last one's comes back through all of them.
// Each device has one number.
proto::Plan TrainingPipeline(int stages, int64_t devices) {
  PlanBuilder b("training", 2 * stages);
  std::vector<uint32_t> slices;
  for (int i = 0; i < stages; ++i) {
    slices.push_back(b.AddSlice(absl::StrCat("s", i), {{"x", devices}}, i));
  }
  uint32_t last = 0;
  auto compute = [&](int stage, const char* pass, TimeNs cost_ns) {
    auto buffer = [&](const char* what) {
      return b.AddBuffer(absl::StrCat(pass, what, stage), slices[stage],
                         Rows(devices), 2 * stages);
    };
    const uint32_t in = buffer("in"), out = buffer("out");
    const std::string name = absl::StrCat(pass, stage);
    if (stage == 0 && pass[0] == 'f') {
      b.AddFeed("v", in);
    } else {
      b.AddMove(absl::StrCat("to_", name), last, in);
    }
    b.AddGang(name, slices[stage], {in}, {out}, cost_ns);
    last = out;
  };
  for (int i = 0; i < stages; ++i) compute(i, "f", 1'000'000);
  for (int i = stages; i-- > 0;) compute(i, "b", 2'000'000);
  b.AddFetch("y", last);
  return b.Finish();
}

void Devices(int64_t devices) {
  constexpr int kStages = 16, kMicroBatches = 64, kPerHost = 8;
  const int64_t per_stage = devices / kStages;
  if (per_stage % kPerHost != 0 || per_stage == 0) {
    Die("sim_bench: devices come in 128s");
  }
  const double start = Seconds();
  auto runtime =
      Start(absl::StrCat(kStages, "x", per_stage / kPerHost, "x", kPerHost));
  Launch(*runtime, TrainingPipeline(kStages, per_stage), per_stage,
         kMicroBatches);
  const double seconds = Seconds() - start;
  const std::string name = absl::StrCat("sim.devices", devices);
  Figure(name + ".s", seconds, "s");
  Figure(name + ".events_per_s", Must(runtime->Stats()).events / seconds,
         "1/s");
  Figure(name + ".MiB", PeakMiB(), "MiB");
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) {
  using namespace pathways::bench;
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "events") {
    Events(argc > 2 ? std::atoll(argv[2]) : 3000);
  } else if (mode == "host") {
    Host(argc > 2 ? std::atoll(argv[2]) : 40000);
  } else if (mode == "devices") {
    Devices(argc > 2 ? std::atoll(argv[2]) : 65536);
  } else {
    Die("usage: sim_bench events|host|devices [N]");
  }
}
