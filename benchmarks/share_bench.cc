//===- share_bench.cc - Cost of sharing devices ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// share_bench switch [LAUNCHES]     launches of two programs in turns, over as
//                                   many of one
// share_bench aggregate [LAUNCHES]  one-step launches of about 0.33 ms of 1, 4,
//                                   8 and 16 clients, all together over one's
// share_bench admit [LOADS]         loads of a program, while others wait for
//                                   memory of other devices
// share_bench priority [LAUNCHES]   the 99th percentile of launches of a client
//                                   of high priority beside three that always
//                                   have work, less that of it alone; of that,
//                                   until their kernels begin, and from their
//                                   end to where the client goes on; and the
//                                   same where no thread waits for a core, if
//                                   the system lets threads be of real time
// share_bench rebind [TIMES]        a loaded program of 1,000 gangs, nothing of
//                                   which runs, goes to two other devices
// share_bench cuts [STEPS]          a run of steps of 1 ms with a cut of 4 MiB
//                                   behind each, each 10 and each 100 of them,
//                                   over one launch
//
// Two workers, each bound to a core.
//
//===----------------------------------------------------------------------===//

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/bench.h"
#include "runtime/binding/kernel_resolver.h"
#include "runtime/cluster/cluster.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/topology/topology.h"

namespace pathways::bench {
namespace {

int64_t turns = 0;  // iterations of Work

// Takes the same time in each call.
int32_t Work(void* const*, const int32_t*, void*, uint64_t) {
  volatile int64_t sink = 0;
  for (int64_t i = 0; i < turns; ++i) sink = sink + i;
  return 0;
}
int32_t Nothing(void* const*, const int32_t*, void*, uint64_t) { return 0; }

// Begin and end of the last call of TimedWork.
std::atomic<double> began{0}, ended{0};

int32_t TimedWork(void* const* buffers, const int32_t* shards, void* scratch,
                  uint64_t firing) {
  began.store(Seconds());
  const int32_t result = Work(buffers, shards, scratch, firing);
  ended.store(Seconds());
  return result;
}

// Sets `turns` so that a call of Work takes that long.
void Calibrate(double seconds) {
  turns = 100'000;
  double best = 1;
  for (int i = 0; i < 10; ++i) {
    const double start = Seconds();
    Work(nullptr, nullptr, nullptr, 0);
    best = std::min(best, Seconds() - start);
  }
  turns = static_cast<int64_t>(100'000 * seconds / best);
}

class Kernels final : public KernelResolver {
 public:
  explicit Kernels(KernelFunction function) : function_(function) {}
  absl::StatusOr<ResolvedKernel> Resolve(const proto::Kernel& kernel,
                                         absl::Span<const uint8_t>,
                                         const proto::Target&) override {
    return ResolvedKernel{{kernel.name() == "timed" ? TimedWork : function_},
                          nullptr};
  }

 private:
  const KernelFunction function_;
};

// Returns one gang on `devices` devices from `base` on; its result stays there,
// or is carried into the next step.
proto::Plan OneGang(const std::string& name, int64_t devices, int64_t base = 0,
                    int64_t floats = 1, bool carried = false) {
  PlanBuilder b(name, 1);
  const uint32_t slice = b.AddSlice("s", {{"x", devices}}, 0, base);
  layout::Layout rows;
  rows.shape = {devices * floats};
  rows.dims = {{"x"}};
  const uint32_t in = b.AddBuffer("in", slice, rows, 1);
  const uint32_t out = b.AddBuffer("out", slice, rows, 1);
  const uint32_t feed = b.AddFeed("v", in);
  const uint32_t gang = b.AddGang("g", slice, {in}, {out});
  proto::Kernel* kernel = b.plan().add_kernels();
  kernel->set_name("k");
  kernel->set_hash("ab");
  proto::Segment* segment = kernel->add_segments();
  segment->set_symbol("k");
  proto::GangStep::Run* run =
      b.plan().mutable_actions(gang)->add_steps()->mutable_run();
  b.plan().mutable_actions(gang)->set_kernel(0);
  for (bool written : {false, true}) {
    run->add_buffers(written ? out : in);
    proto::KernelOperand* operand = segment->add_operands();
    operand->set_element(proto::F32);
    operand->set_written(written);
    operand->add_shape(floats);
  }
  const uint32_t fetch = b.AddFetch("out", out);
  if (carried) b.Carry(feed, fetch);
  return b.Finish();
}

std::unique_ptr<Cluster> Open(const std::string& topology,
                              KernelResolver* kernels) {
  ClusterOptions options;
  options.workers = 2;
  options.bind_workers = true;
  options.kernels = kernels;
  return Must(Cluster::Create(Must(ReadTopology(topology)), options));
}

// A client with a program and an argument on devices, which keeps several
// launches open.
class Tenant {
 public:
  Tenant(Cluster& cluster, const std::string& name, const ClientOptions& how,
         std::vector<proto::Plan> plans)
      : client_(Must(cluster.Connect(name, how))) {
    HostArray value;
    value.element = ElementType::kF32;
    for (proto::Plan& plan : plans) {
      value.shape = {plan.layouts(0).dims_size() > 0 ? plan.layouts(0).shape(0)
                                                     : 1};
      programs_.push_back(
          Must(client_->Load(MakePlanData(std::move(plan), {}))));
    }
    value.data.resize(static_cast<size_t>(value.shape[0]) * 4);
    array_ = Must(client_->Put(value));
  }
  void Launch(size_t program, int64_t steps = 1) {
    open_.push_back(Must(client_->Launch(programs_[program], {array_}, steps)));
  }
  void Finish() {
    Must(client_->Await(open_.front()));
    Must(client_->ReleaseRun(open_.front()));
    open_.pop_front();
  }
  size_t open() const { return open_.size(); }
  Client& client() { return *client_; }

 private:
  std::unique_ptr<Client> client_;
  std::vector<ProgramHandle> programs_;
  ArrayHandle array_;
  std::deque<RunHandle> open_;
};

void Switch(int launches) {
  Kernels kernels(Nothing);
  const auto cluster = Open("1x1x8", &kernels);
  Tenant tenant(*cluster, "bench", {}, {OneGang("a", 8), OneGang("b", 8)});
  auto seconds = [&](size_t programs) {
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      const double start = Seconds();
      for (int i = 0; i < launches; ++i) {
        tenant.Launch(static_cast<size_t>(i) % programs);
        if (tenant.open() == 32) tenant.Finish();
      }
      while (tenant.open() > 0) tenant.Finish();
      best = std::min(best, (Seconds() - start) / launches);
    }
    return best;
  };
  seconds(2);
  const double one = seconds(1), two = seconds(2);
  Figure("share.launch_us", one * 1e6, "us");
  Figure("share.switch_us", (two - one) * 1e6, "us");
}

// Returns the launches of `count` clients per second.
double Rate(int count, int launches) {
  Kernels kernels(Work);
  const auto cluster = Open("1x1x2", &kernels);
  std::vector<std::unique_ptr<Tenant>> tenants;
  for (int c = 0; c < count; ++c) {
    tenants.push_back(std::make_unique<Tenant>(
        *cluster, absl::StrCat("c", c), ClientOptions(),
        std::vector<proto::Plan>{OneGang(absl::StrCat("p", c), 2)}));
    for (int k = 0; k < 4; ++k) tenants.back()->Launch(0);
    while (tenants.back()->open() > 0) tenants.back()->Finish();
  }
  const double start = Seconds();
  for (int i = 0; i < launches / count; ++i) {
    for (const auto& tenant : tenants) {
      // Keeps enough launches open that some always wait.
      if (tenant->open() == static_cast<size_t>(count == 1 ? 16 : 4)) {
        tenant->Finish();
      }
      tenant->Launch(0);
    }
  }
  for (const auto& tenant : tenants) {
    while (tenant->open() > 0) tenant->Finish();
  }
  return launches / count * count / (Seconds() - start);
}

void Aggregate(int launches) {
  Calibrate(0.33e-3);
  const double alone = Rate(1, launches);
  for (int count : {1, 4, 8, 16}) {
    Figure(absl::StrCat("share.aggregate.", count),
           Rate(count, launches) / alone, "x");
  }
}

void Admit(int loads) {
  constexpr int kWaiting = 100;
  Kernels kernels(Nothing);
  const auto cluster = Open("1x1x2", &kernels);
  // More than half of a device's memory of 1 GiB, each.
  constexpr int64_t kFloats = int64_t{5} << 25;
  const auto holder = Must(cluster->Connect("holder"));
  const ProgramHandle held =
      Must(holder->Load(MakePlanData(OneGang("held", 1, 0, kFloats / 2), {})));
  const auto client = Must(cluster->Connect("bench"));
  auto us = [&](int i) {
    const double start = Seconds();
    const ProgramHandle program = Must(client->Load(
        MakePlanData(OneGang(absl::StrCat("small", i), 1, 1), {})));
    const double seconds = Seconds() - start;
    Must(client->Unload(program));
    return seconds * 1e6;
  };
  auto median = [&] {
    std::vector<double> all;
    for (int i = 0; i < loads; ++i) all.push_back(us(i));
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  };
  us(0);
  Figure("share.admit_alone.us", median(), "us");
  std::atomic<int> waiting{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kWaiting; ++i) {
    threads.emplace_back([&, i] {
      const auto other = Must(cluster->Connect(absl::StrCat("waits", i)));
      std::atomic<bool> told{false};
      Must(other->Load(
          MakePlanData(OneGang(absl::StrCat("w", i), 1, 0, kFloats / 2), {}),
          {.on_waiting = [&](const std::string&) {
            if (!told.exchange(true)) ++waiting;
          }}));
    });
  }
  while (waiting < kWaiting) std::this_thread::yield();
  Figure("share.admit.us", median(), "us");
  Must(holder->Unload(held));
  for (std::thread& thread : threads) thread.join();
}

// The 99th percentile of many consecutive launches, in microseconds.
struct LaunchTimes {
  double all = 0;
  double begin = 0;  // until the last kernel has begun
  double hear = 0;   // time from its end until the client resumes
};

LaunchTimes MeasureLaunches(Tenant& tenant, int launches) {
  std::vector<double> all, begin, hear;
  for (int i = 0; i < launches; ++i) {
    const double start = Seconds();
    tenant.Launch(0);
    tenant.Finish();
    const double end = Seconds();
    all.push_back(end - start);
    begin.push_back(began.load() - start);
    hear.push_back(end - ended.load());
  }
  auto p99 = [](std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    return times[times.size() * 99 / 100] * 1e6;
  };
  return {p99(all), p99(begin), p99(hear)};
}

// Gives this thread, and threads that it starts later, real-time priority over
// all others; 0: normal priority. Returns false if that is not permitted.
bool SetRealTime(int priority) {
  sched_param param{};
  param.sched_priority = priority;
  return pthread_setschedparam(pthread_self(),
                               priority > 0 ? SCHED_FIFO : SCHED_OTHER,
                               &param) == 0;
}

// `name`: prefix of the figures. `real_time`: the system gives workers and the
// client's thread a core whenever they want one.
void Compete(const std::string& name, int launches, bool real_time) {
  if (real_time && !SetRealTime(1)) return;
  Kernels kernels(Work);
  const auto cluster = Open("1x1x2", &kernels);
  if (real_time) SetRealTime(2);
  proto::Plan plan = OneGang("fast", 2);
  plan.mutable_kernels(0)->set_name("timed");
  Tenant fast(*cluster, "fast", {.priority = 10}, {std::move(plan)});
  MeasureLaunches(fast, launches);
  const LaunchTimes alone = MeasureLaunches(fast, launches);
  std::vector<std::unique_ptr<Tenant>> others;
  for (int c = 0; c < 3; ++c) {
    others.push_back(std::make_unique<Tenant>(
        *cluster, absl::StrCat("c", c), ClientOptions(),
        std::vector<proto::Plan>{OneGang(absl::StrCat("p", c), 2)}));
    others.back()->Launch(0, int64_t{1} << 40);
  }
  const LaunchTimes shared = MeasureLaunches(fast, launches);
  Figure(absl::StrCat(name, "_alone_p99.us"), alone.all, "us");
  Figure(absl::StrCat(name, "_p99_more.us"), shared.all - alone.all, "us");
  Figure(absl::StrCat(name, "_begin_p99_more.us"), shared.begin - alone.begin,
         "us");
  Figure(absl::StrCat(name, "_hear_p99_more.us"), shared.hear - alone.hear,
         "us");
  SetRealTime(0);
}

void Priority(int launches) {
  Calibrate(0.1e-3);
  Compete("share.priority", launches, /*real_time=*/false);
  Compete("share.priority_realtime", launches, /*real_time=*/true);
}

void Rebind(int times) {
  Kernels kernels(Nothing);
  const auto cluster = Open("1x2x2", &kernels);
  const auto client = Must(cluster->Connect("bench"));
  PlanBuilder b("many", 1);
  const uint32_t slice = b.AddSlice("s", {{"x", 2}}, 0);
  layout::Layout rows;
  rows.shape = {2};
  rows.dims = {{"x"}};
  proto::Kernel* kernel = b.plan().add_kernels();
  kernel->set_name("k");
  kernel->set_hash("ab");
  kernel->add_segments()->set_symbol("k");
  for (bool written : {false, true}) {
    proto::KernelOperand* operand = kernel->mutable_segments(0)->add_operands();
    operand->set_element(proto::F32);
    operand->set_written(written);
    operand->add_shape(1);
  }
  uint32_t last = b.AddBuffer("v", slice, rows, 1);
  b.AddFeed("v", last);
  for (int g = 0; g < 1000; ++g) {
    const uint32_t next = b.AddBuffer(absl::StrCat("v", g), slice, rows, 1);
    const uint32_t gang =
        b.AddGang(absl::StrCat("g", g), slice, {last}, {next});
    proto::Action* action = b.plan().mutable_actions(static_cast<int>(gang));
    action->set_kernel(0);
    action->add_steps()->mutable_run()->add_buffers(last);
    action->mutable_steps(0)->mutable_run()->add_buffers(next);
    last = next;
  }
  b.AddFetch("out", last);
  double start = Seconds();
  const ProgramHandle program =
      Must(client->Load(MakePlanData(b.Finish(), {})));
  Figure("share.load1000.us", (Seconds() - start) * 1e6, "us");
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    RebindOptions options;
    if (i % 2 == 0) options.avoid = {"host0"};
    start = Seconds();
    Must(client->Rebind(program, options));
    all.push_back(Seconds() - start);
  }
  std::sort(all.begin(), all.end());
  Figure("share.rebind1000.us", all[all.size() / 2] * 1e6, "us");
}

void Cuts(int steps) {
  Calibrate(1e-3);
  Kernels kernels(Work);
  const auto cluster = Open("1x1x2", &kernels);
  const auto client = Must(cluster->Connect("bench"));
  constexpr int64_t kFloats = 1 << 20;
  const ProgramHandle program =
      Must(client->Load(MakePlanData(OneGang("cuts", 2, /*base=*/0, kFloats / 2,
                                             /*carried=*/true),
                                     {})));
  HostArray w{ElementType::kF32, {kFloats}, {}};
  w.data.resize(kFloats * sizeof(float));
  const auto run = [&](int64_t every) {
    RecoveryOptions options;
    options.mode = RecoveryOptions::kRetry;
    options.checkpoint_every = every;
    const double start = Seconds();
    for (ArrayHandle array :
         Must(client->RunToEnd(program, {w}, steps, options)).arrays) {
      Must(client->Release(array));
    }
    return Seconds() - start;
  };
  run(0);
  const double alone = run(0);
  for (int64_t every : {1, 10, 100}) {
    Figure(absl::StrCat("share.checkpoint_every", every, ".over_none"),
           run(every) / alone, "x");
  }
}

int Main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 0;
  auto or_else = [&](int usual) { return count > 0 ? count : usual; };
  if (what == "switch") {
    Switch(or_else(20'000));
  } else if (what == "aggregate") {
    Aggregate(or_else(3000));
  } else if (what == "admit") {
    Admit(or_else(200));
  } else if (what == "priority") {
    Priority(or_else(1000));
  } else if (what == "rebind") {
    Rebind(or_else(50));
  } else if (what == "cuts") {
    Cuts(or_else(400));
  } else {
    Die("share_bench switch|aggregate|admit|priority|rebind|cuts [COUNT]");
  }
  return 0;
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) { return pathways::bench::Main(argc, argv); }
