//===- values_bench.cc - What arguments and results cost --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// values_bench first_step [LAUNCHES]   the first step of a program that was
// just
//                                      loaded, over its later ones
//
// Two workers, each bound to a core, and kernels that copy. Values are checked.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/bench.h"
#include "benchmarks/session.h"
#include "runtime/executor/kernel_resolver.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/testing/plan_builder.h"

namespace pathways::bench {
namespace {

using testing::PlanBuilder;

constexpr int64_t kFloats = int64_t{1} << 20;  // of a shard

int32_t Copy(void* const* buffers, const int32_t*, void*) {
  std::memcpy(buffers[1], buffers[0], kFloats * sizeof(float));
  return 0;
}

class Kernels final : public KernelResolver {
 public:
  absl::StatusOr<ResolvedKernel> Resolve(const proto::Kernel&,
                                         absl::Span<const uint8_t>,
                                         const proto::Target&) override {
    return ResolvedKernel{{Copy}, nullptr};
  }
};

// An argument of 4 MiB per device on two devices, copied by `gangs` gangs one
// after the other; the last result has one number of it.
proto::Plan CopyChain(int gangs) {
  PlanBuilder b("copies", 1);
  const uint32_t slice = b.AddSlice("s", {{"x", 2}}, 0);
  layout::Layout rows;
  rows.shape = {2 * kFloats};
  rows.dims = {{"x"}};
  uint32_t last = b.AddBuffer("b0", slice, rows, 1);
  b.AddFeed("v", last);
  proto::Kernel* kernel = b.plan().add_kernels();
  kernel->set_name("copy");
  kernel->set_hash("ab");
  proto::Segment* segment = kernel->add_segments();
  segment->set_symbol("copy");
  for (bool written : {false, true}) {
    proto::KernelOperand* operand = segment->add_operands();
    operand->set_element(proto::F32);
    operand->set_written(written);
    operand->add_shape(kFloats);
  }
  for (int i = 1; i <= gangs; ++i) {
    const uint32_t next = b.AddBuffer(absl::StrCat("b", i), slice, rows, 1);
    const uint32_t gang =
        b.AddGang(absl::StrCat("g", i), slice, {last}, {next});
    proto::Action* action = b.plan().mutable_actions(gang);
    action->set_kernel(0);
    proto::GangStep::Run* run = action->add_steps()->mutable_run();
    run->add_buffers(last);
    run->add_buffers(next);
    last = next;
  }
  b.AddFetch("out", last);
  return b.Finish();
}

void FirstStep(int launches) {
  Kernels kernels;
  ClusterOptions options;
  options.workers = 2;
  options.bind_workers = true;
  options.kernels = &kernels;
  Session runtime("1x1x2", options);
  HostArray values;
  values.element = ElementType::kF32;
  values.shape = {2 * kFloats};
  values.data.resize(2 * kFloats * sizeof(float), 1);
  const ArrayHandle array = Must(runtime->Put(values));
  auto load = [&] {
    return Must(runtime->Load(MakePlanData(CopyChain(8), {})));
  };
  auto launch = [&](ProgramHandle program) {
    const double start = Seconds();
    const RunHandle run = Must(runtime->Launch(program, {array}));
    Must(runtime->Await(run));
    const double seconds = Seconds() - start;
    if (Must(runtime->Fetch(run, 0)).data != values.data) Die("other values");
    Must(runtime->ReleaseRun(run));
    return seconds;
  };
  launch(load());  // brings the array to the devices
  std::vector<double> first, later;
  for (int i = 0; i < launches; ++i) {
    const ProgramHandle program = load();
    first.push_back(launch(program));
    for (int k = 0; k < 3; ++k) later.push_back(launch(program));
    Must(runtime->Unload(program));
  }
  auto median = [](std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  };
  Figure("values.first_step", median(first) / median(later), "x");
  Figure("values.later_step.us", median(later) * 1e6, "us");
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) {
  using namespace pathways::bench;
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode != "first_step") Die("usage: values_bench first_step [LAUNCHES]");
  FirstStep(argc > 2 ? std::atoi(argv[2]) : 15);
}
