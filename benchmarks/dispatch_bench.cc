//===- dispatch_bench.cc - Cost of running empty programs -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dispatch_bench gang8 [GANGS STEPS]      a chain of empty gangs on 8 devices
// dispatch_bench unit KIND DEVICES [SECONDS]
//                                         an all-reduce of a scalar, an
//                                         addition
// dispatch_bench launch [LAUNCHES]        one small step, from call to result
// dispatch_bench host_work [LAUNCHES]     16 slow hosts, one after the other or
//                                         all at once
// dispatch_bench trace [ROUNDS]           a chain of gangs of 10 us, traced and
//                                         not
//
// Plans are made by hand and kernels are C++ functions, so that only the
// runtime is measured. There are two workers, each bound to a core, whatever
// the devices: if the system put both on one core, they would wait for it and
// not for each other. Values are checked. A figure of launches is their median.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/bench.h"
#include "benchmarks/session.h"
#include "runtime/binding/kernel_resolver.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"

namespace {

std::atomic<uint64_t> allocations{0};

}  // namespace

// Counts all allocations in this process.
void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const std::size_t align = static_cast<std::size_t>(alignment);
  void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (memory != nullptr) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace pathways::bench {
namespace {

int32_t Nothing(void* const*, const int32_t*, void*, uint64_t) { return 0; }
// Takes 10 us of wall-clock time.
constexpr int64_t kKernelNs = 10'000;
int32_t Spin(void* const*, const int32_t*, void*, uint64_t) {
  const double end = Seconds() + kKernelNs * 1e-9;
  while (Seconds() < end) {
  }
  return 0;
}
int32_t AddOne(void* const* buffers, const int32_t*, void*, uint64_t) {
  *static_cast<float*>(buffers[1]) = *static_cast<float*>(buffers[0]) + 1;
  return 0;
}

class Kernels final : public KernelResolver {
 public:
  absl::StatusOr<ResolvedKernel> Resolve(const proto::Kernel& kernel,
                                         absl::Span<const uint8_t>,
                                         const proto::Target&) override {
    const KernelFunction function = kernel.name() == "nothing" ? Nothing
                                    : kernel.name() == "spin"  ? Spin
                                                               : AddOne;
    return ResolvedKernel{{function}, nullptr};
  }
};

layout::Layout Rows(int64_t size) {
  layout::Layout layout;
  layout.shape = {size};
  layout.dims = {{"x"}};
  return layout;
}

// Appends a run of the only kernel, which reads `from` and writes `to`.
void AddRun(PlanBuilder& b, uint32_t gang, const std::string& name,
            uint32_t from, uint32_t to) {
  proto::Plan& plan = b.plan();
  if (plan.kernels_size() == 0) {
    proto::Kernel* kernel = plan.add_kernels();
    kernel->set_name(name);
    kernel->set_hash("ab");
    proto::Segment* segment = kernel->add_segments();
    segment->set_symbol(name);
    for (bool written : {false, true}) {
      proto::KernelOperand* operand = segment->add_operands();
      operand->set_element(proto::F32);
      operand->set_written(written);
      operand->add_shape(1);
    }
  }
  proto::Action* action = plan.mutable_actions(gang);
  action->set_kernel(0);
  proto::GangStep::Run* run = action->add_steps()->mutable_run();
  run->add_buffers(from);
  run->add_buffers(to);
}

void AddAllReduce(PlanBuilder& b, uint32_t gang, uint32_t from, uint32_t to) {
  proto::Collective* c =
      b.plan().mutable_actions(gang)->add_steps()->mutable_collective();
  c->set_kind(proto::ALL_REDUCE);
  c->set_reduction(proto::ADD);
  c->add_axes("x");
  c->set_source(from);
  c->set_result(to);
}

HostArray Zeros(int64_t count) {
  HostArray array;
  array.element = ElementType::kF32;
  array.shape = {count};
  array.data.resize(count * 4, 0);
  return array;
}

Session Start(int64_t devices, int64_t trace_events = 0) {
  static Kernels kernels;
  ClusterOptions options;
  options.trace_events = trace_events;
  options.workers = 2;
  options.bind_workers = true;
  options.kernels = &kernels;
  options.stall_timeout_ns = 600'000'000'000;
  return Session(absl::StrCat("1x1x", devices), options);
}

// Returns an argument, a chain of `gangs` gangs, and a result. Each gang reads
// the result of the previous one lane by lane.
proto::Plan GangChain(int64_t gangs, const std::string& kernel = "nothing") {
  PlanBuilder b("chain", 4);
  const uint32_t slice = b.AddSlice("s", {{"x", 8}}, 0);
  uint32_t last = b.AddBuffer("b0", slice, Rows(8), 2);
  b.AddFeed("v", last);
  for (int64_t i = 1; i <= gangs; ++i) {
    const uint32_t next = b.AddBuffer(absl::StrCat("b", i), slice, Rows(8), 2);
    const uint32_t gang =
        b.AddGang(absl::StrCat("g", i), slice, {last}, {next});
    AddRun(b, gang, kernel, last, next);
    last = next;
  }
  b.AddFetch("out", last);
  return b.Finish();
}

void Gang8(int64_t gangs, int64_t steps) {
  auto runtime = Start(8);
  const ProgramHandle program =
      Must(runtime->Load(MakePlanData(GangChain(gangs), {})));
  auto launch = [&](int64_t n) {
    const double start = Seconds();
    const RunHandle run = Must(runtime->Launch(program, {Zeros(8)}, n));
    Must(runtime->Await(run));
    const double seconds = Seconds() - start;
    Must(runtime->ReleaseRun(run));
    return seconds;
  };
  launch(std::max<int64_t>(1, steps / 10));
  const ClusterStats before = Must(runtime->Stats());
  const std::clock_t cpu = std::clock();
  const double seconds = launch(steps);
  const double cpu_seconds = double(std::clock() - cpu) / CLOCKS_PER_SEC;
  const ClusterStats after = Must(runtime->Stats());
  const uint64_t run =
      after.devices[0].kernels_run - before.devices[0].kernels_run;
  if (run != uint64_t(gangs * steps)) Die(absl::StrCat(run, " kernels ran"));
  Figure("dispatch.gang8.us", seconds * 1e6 / (gangs * steps), "us");
  // Time of all threads, which does not depend on other users of the
  // processors.
  Figure("dispatch.gang8.cpu_us", cpu_seconds * 1e6 / (gangs * steps), "us");
  Figure("dispatch.gang8.wakeups_per_step",
         double(after.worker_wakeups - before.worker_wakeups) / steps,
         "wake-ups");
  // Messages to the controller grow with time, by its grants, not with steps.
  const uint64_t heard = after.controller_messages - before.controller_messages;
  Figure("dispatch.messages_per_step", double(heard) / steps, "messages");
}

// Computes `computations` times the sum of a scalar over all devices, and adds
// one: each computation is a gang, or all are steps of one gang. Buffers are
// reused when they are no longer needed, as the compiler would do.
proto::Plan UnitPlan(int64_t devices, int computations, bool fused) {
  PlanBuilder b("unit", 2);
  const uint32_t slice = b.AddSlice("s", {{"x", devices}}, 0);
  uint32_t last = b.AddBuffer("b0", slice, Rows(devices), 2);
  b.AddFeed("v", last);
  uint32_t gang = 0, sum = 0, next = 0;
  std::vector<uint32_t> sums, values[2];  // buffers that share one place
  for (int i = 1; i <= computations; ++i) {
    if (i == 1 || !fused) {
      sum = b.AddBuffer(absl::StrCat("s", i), slice, Rows(devices), 2);
      next = b.AddBuffer(absl::StrCat("b", i), slice, Rows(devices), 2);
      gang = b.AddGang(absl::StrCat("g", i), slice, {last}, {sum, next});
      sums.push_back(sum);
      if (i < computations && !fused) values[i % 2].push_back(next);
    }
    AddAllReduce(b, gang, last, sum);
    AddRun(b, gang, "add_one", sum, next);
    last = next;
  }
  b.AddFetch("out", last);
  for (const std::vector<uint32_t>& place : {sums, values[0], values[1]}) {
    if (place.size() > 1) b.ShareMemory(place);
  }
  return b.Finish();
}

// `kind`: o: one computation per launch; c: 128 gangs; f: 128 computations in
// one gang. The result of a launch is the argument of the next one, which does
// not wait for it. A sample is a chain of launches and the wait for its end.
void Unit(const std::string& kind, int64_t devices, double at_least) {
  const int computations = kind == "o" ? 1 : 128;
  auto runtime = Start(devices);
  const ProgramHandle program = Must(runtime->Load(
      MakePlanData(UnitPlan(devices, computations, kind == "f"), {})));
  auto next = [&](LaunchArgument argument) {
    const RunHandle run = Must(runtime->Launch(program, {argument}));
    const ArrayHandle out = Must(runtime->Keep(run, 0));
    Must(runtime->ReleaseRun(run));
    return out;
  };
  // Sums grow without bound, so only the first launch is checked.
  ArrayHandle array = next(Zeros(devices));
  double expected = 0;
  for (int i = 0; i < computations; ++i) {
    expected = float(expected * devices) + 1;
  }
  const HostArray first = Must(runtime->Get(array));
  for (int64_t i = 0; i < devices; ++i) {
    float value;
    std::memcpy(&value, first.data.data() + 4 * i, 4);
    if (value != float(expected)) {
      Die(absl::StrCat("shard ", i, " is ", value, ", expected ", expected));
    }
  }
  std::vector<double> samples;
  const int chain = kind == "o" ? 128 : 16;
  auto sample = [&] {
    const double start = Seconds();
    for (int64_t i = 0; i < chain; ++i) {
      const ArrayHandle result = next(array);
      Must(runtime->Release(array));
      array = result;
    }
    Must(runtime->Get(array));
    samples.push_back((Seconds() - start) / chain);
  };
  sample();
  samples.clear();
  const double end = Seconds() + at_least;
  while (Seconds() < end || samples.size() < 5) sample();
  const std::string name = absl::StrCat("dispatch.unit.", kind, ".", devices);
  std::sort(samples.begin(), samples.end());
  const double us = samples[samples.size() / 2] * 1e6 / computations;
  Figure(name + ".us", us, "us");
  Figure(name + ".us_per_device", us / devices, "us");
  // Cost while no other process wants the processors.
  Figure(name + ".us_best_tenth",
         samples[samples.size() / 10] * 1e6 / computations, "us");
}

// Returns two arguments, a gang that reads one of them, and a result.
proto::Plan TwoArguments() {
  PlanBuilder b("two", 4);
  const uint32_t slice = b.AddSlice("s", {{"x", 8}}, 0);
  const uint32_t v = b.AddBuffer("v", slice, Rows(8), 2);
  const uint32_t w = b.AddBuffer("w", slice, Rows(8), 2);
  b.AddFeed("v", v);
  b.AddFeed("w", w);
  const uint32_t out = b.AddBuffer("out", slice, Rows(8), 2);
  AddRun(b, b.AddGang("g", slice, {v, w}, {out}), "add_one", w, out);
  b.AddFetch("out", out);
  return b.Finish();
}

// Measures launches with arguments on the devices, and a result that is kept
// there.
void Launch(int64_t launches) {
  auto runtime = Start(8);
  const ProgramHandle program =
      Must(runtime->Load(MakePlanData(TwoArguments(), {})));
  const ArrayHandle v = Must(runtime->Put(Zeros(8)));
  const ArrayHandle w = Must(runtime->Put(Zeros(8)));
  auto one = [&] {
    const double start = Seconds();
    const RunHandle run = Must(runtime->Launch(program, {v, w}));
    Must(runtime->Await(run));
    const double seconds = Seconds() - start;
    const ArrayHandle out = Must(runtime->Keep(run, 0));
    Must(runtime->ReleaseRun(run));
    Must(runtime->Release(out));
    return seconds;
  };
  for (int64_t i = 0; i < launches / 10 + 1; ++i) one();
  // Workers still spin between these launches.
  std::vector<double> warm, cold;
  warm.reserve(launches);
  const uint64_t before = Must(runtime->Stats()).worker_wakeups;
  const uint64_t allocated = allocations.load();
  for (int64_t i = 0; i < launches; ++i) warm.push_back(one());
  const uint64_t taken = allocations.load() - allocated;
  Figure("dispatch.launch.allocations", double(taken) / launches,
         "allocations");
  Figure("dispatch.launch.wakeups",
         double(Must(runtime->Stats()).worker_wakeups - before) / launches,
         "wake-ups");
  std::sort(warm.begin(), warm.end());
  Figure("dispatch.launch.us", warm[warm.size() / 2] * 1e6, "us");
  Figure("dispatch.launch.us_best_tenth", warm[warm.size() / 10] * 1e6, "us");
  // All workers sleep before each of these launches.
  for (int64_t i = 0; i < launches / 100 + 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    cold.push_back(one());
  }
  std::nth_element(cold.begin(), cold.begin() + cold.size() / 2, cold.end());
  Figure("dispatch.launch_cold.us", cold[cold.size() / 2] * 1e6, "us");
}

// Returns `stages` islands of one host with one device, each with a gang that
// reads the result of the previous one.
proto::Plan StagePlan(int stages) {
  PlanBuilder b("stages", 64);
  uint32_t last = 0;
  for (int i = 0; i < stages; ++i) {
    const uint32_t slice = b.AddSlice(absl::StrCat("s", i), {{"x", 1}}, i);
    const uint32_t in = b.AddBuffer(absl::StrCat("i", i), slice, Rows(1), 2);
    const uint32_t out = b.AddBuffer(absl::StrCat("o", i), slice, Rows(1), 2);
    if (i == 0) {
      b.AddFeed("v", in);
    } else {
      b.AddMove(absl::StrCat("m", i), last, in);
    }
    const uint32_t gang =
        b.AddGang(absl::StrCat("g", i), slice, {in}, {out}, kKernelNs);
    AddRun(b, gang, "spin", in, out);
    last = out;
  }
  b.AddFetch("out", last);
  return b.Finish();
}

// Returns the median time from the call of a launch to its end, in the world's
// time.
double StageSeconds(ClusterOptions::WorldKind world,
                    ClusterOptions::Dispatch dispatch, int64_t steps,
                    int64_t launches) {
  constexpr int kStages = 16;
  static Kernels kernels;
  ClusterOptions options;
  options.world = world;
  options.workers = 2;
  options.bind_workers = true;
  options.kernels = &kernels;
  options.run_kernels = world == ClusterOptions::kThreads;
  options.dispatch = dispatch;
  options.host_work_ns = 100'000;
  Session runtime(absl::StrCat(kStages, "x1x1"), options);
  const ProgramHandle program =
      Must(runtime->Load(MakePlanData(StagePlan(kStages), {})));
  std::vector<double> samples;
  for (int64_t i = 0; i <= launches; ++i) {
    const TimeNs start = Must(runtime->Stats()).now_ns;
    const RunHandle run = Must(runtime->Launch(program, {Zeros(1)}, steps));
    Must(runtime->Await(run));
    if (i > 0)
      samples.push_back((Must(runtime->Stats()).now_ns - start) * 1e-9);
    Must(runtime->ReleaseRun(run));
  }
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

void HostWork(int64_t launches) {
  for (int64_t steps : {1, 64}) {
    for (auto world : {ClusterOptions::kSim, ClusterOptions::kThreads}) {
      const double sequential =
          StageSeconds(world, ClusterOptions::kSequential, steps, launches);
      const double parallel =
          StageSeconds(world, ClusterOptions::kParallel, steps, launches);
      const std::string name =
          absl::StrCat("dispatch.parallel_vs_sequential",
                       steps > 1 ? absl::StrCat(".steps", steps) : "",
                       world == ClusterOptions::kSim ? "" : ".threads");
      Figure(name, sequential / parallel, "x");
      Figure(name + ".sequential.us", sequential * 1e6, "us");
      Figure(name + ".parallel.us", parallel * 1e6, "us");
    }
  }
}

// Alternates rounds of a traced and an untraced runtime, and prints figures of
// the median round.
void TraceCost(int64_t rounds) {
  constexpr int64_t kGangs = 100, kSteps = 5, kDevices = 8;
  struct Side {
    Session session;
    ProgramHandle program;
    std::vector<double> seconds, cpu;
  } sides[2] = {{Start(kDevices), {}, {}, {}},
                {Start(kDevices, 1 << 16), {}, {}, {}}};
  for (Side& side : sides) {
    side.program =
        Must(side.session->Load(MakePlanData(GangChain(kGangs, "spin"), {})));
  }
  for (int64_t round = 0; round <= rounds; ++round) {
    for (int i : {0, 1}) {
      Side& side = sides[(round + i) % 2];
      const double start = Seconds();
      const std::clock_t cpu = std::clock();
      const RunHandle run =
          Must(side.session->Launch(side.program, {Zeros(kDevices)}, kSteps));
      Must(side.session->Await(run));
      const double seconds = Seconds() - start;
      const double cpu_seconds = double(std::clock() - cpu) / CLOCKS_PER_SEC;
      Must(side.session->ReleaseRun(run));
      if (round == 0) continue;  // warm-up
      side.seconds.push_back(seconds);
      side.cpu.push_back(cpu_seconds);
    }
  }
  const TraceSummary summary = Must(sides[1].session->Summarize());
  if (summary.devices.size() != kDevices) Die("not all devices were traced");
  auto median = [](std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
  };
  const double off = median(sides[0].seconds), on = median(sides[1].seconds);
  // Two workers share the devices.
  Figure("trace.firing.us", off * 1e6 * 2 / (kGangs * kSteps * kDevices), "us");
  Figure("trace.overhead", on / off, "x");
  Figure("trace.overhead_cpu", median(sides[1].cpu) / median(sides[0].cpu),
         "x");
}

int64_t Number(int argc, char** argv, int i, int64_t otherwise) {
  if (i >= argc) return otherwise;
  const int64_t value = std::atoll(argv[i]);
  if (value < 1) Die(absl::StrCat("'", argv[i], "' is no number above 0"));
  return value;
}

int Main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "gang8") {
    Gang8(Number(argc, argv, 2, 1000), Number(argc, argv, 3, 5000));
  } else if (what == "unit" && argc > 3) {
    const std::string kind = argv[2];
    if (kind != "o" && kind != "c" && kind != "f") Die("kinds are o, c, f");
    Unit(kind, Number(argc, argv, 3, 1), argc > 4 ? std::atof(argv[4]) : 0.3);
  } else if (what == "launch") {
    Launch(Number(argc, argv, 2, 20000));
  } else if (what == "host_work") {
    HostWork(Number(argc, argv, 2, 25));
  } else if (what == "trace") {
    TraceCost(Number(argc, argv, 2, 51));
  } else {
    Die("usage: dispatch_bench gang8 [GANGS STEPS] | unit o|c|f DEVICES "
        "[SECONDS] | launch [LAUNCHES] | host_work [LAUNCHES] | trace "
        "[ROUNDS]");
  }
  return 0;
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) { return pathways::bench::Main(argc, argv); }
