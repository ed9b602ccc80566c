//===- programs.cc - Random programs with kernels -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/programs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/layout/layout.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/testing/random_plan.h"
#include "runtime/world/mix.h"

namespace pathways::simulate {
namespace {

constexpr int kMaxKernels = 1024;

// A buffer that a kernel reads or writes, shard by shard.
struct Port {
  uint64_t elements = 0;
  proto::ElementType element = proto::F32;
  enum Use { kRead, kWritten, kUnused };
  Use use = kRead;

  uint64_t bytes() const { return elements * elementBytes(element); }
};
struct KernelShape {
  std::vector<Port> ports;
  bool fails = false;
  bool counts = false;  // reads the number of the step
};
std::array<KernelShape, kMaxKernels> shapes;

// A small number as an element, of which sums and products stay exact.
void Write(proto::ElementType element, uint64_t number, char* to) {
  const int small = static_cast<int>(number % 4);
  switch (element) {
    case proto::F64: {
      const double value = small;
      std::memcpy(to, &value, 8);
      return;
    }
    case proto::I1:
      *to = static_cast<char>(small & 1);
      return;
    case proto::BF16: {
      const float value = static_cast<float>(small);
      std::memcpy(to, reinterpret_cast<const char*>(&value) + 2, 2);
      return;
    }
    default: {
      const float value = static_cast<float>(small);
      std::memcpy(to, &value, 4);
    }
  }
}

int32_t MixAll(const KernelShape& shape, void* const* buffers, uint64_t step) {
  uint64_t hash = shape.counts ? Mix(step, 1) : 1;
  for (size_t i = 0; i < shape.ports.size(); ++i) {
    const Port& port = shape.ports[i];
    if (port.use == Port::kRead)
      hash = MixBytes(hash, buffers[i], port.bytes());
  }
  if (shape.fails && hash % 16 == 0) return 1;
  for (size_t i = 0; i < shape.ports.size(); ++i) {
    const Port& port = shape.ports[i];
    if (port.use != Port::kWritten) continue;
    const int64_t bytes = elementBytes(port.element);
    for (uint64_t k = 0; k < port.elements; ++k) {
      Write(port.element, Mix(hash, k) >> 20,
            static_cast<char*>(buffers[i]) + k * bytes);
    }
  }
  return 0;
}

template <int kNumber>
int32_t Kernel(void* const* buffers, const int32_t*, void*, uint64_t step) {
  return MixAll(shapes[kNumber], buffers, step);
}
template <int... kNumbers>
constexpr std::array<KernelFunction, sizeof...(kNumbers)> All(
    std::integer_sequence<int, kNumbers...>) {
  return {&Kernel<kNumbers>...};
}
constexpr auto kFunctions = All(std::make_integer_sequence<int, kMaxKernels>());

using Axes = std::set<std::string>;

// Axes along which shards of a buffer need not agree.
Axes CutAxes(const proto::Plan& plan, uint32_t buffer) {
  const proto::Layout& layout = plan.layouts(
      static_cast<int>(plan.buffers(static_cast<int>(buffer)).layout()));
  Axes axes(layout.partial_axes().begin(), layout.partial_axes().end());
  for (const proto::DimAxes& dim : layout.dims()) {
    axes.insert(dim.axes().begin(), dim.axes().end());
  }
  return axes;
}

bool Contains(const Axes& all, const Axes& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

// Marks a buffer whose values depend on the shard that was read, or lie after
// the last element of one.
constexpr char kNoAxis[] = "?";

bool IsEven(const proto::Plan& plan, const proto::Buffer& buffer) {
  return layout::IsEven(
      LayoutOf(plan.layouts(static_cast<int>(buffer.layout()))),
      MeshOf(plan.slices(static_cast<int>(buffer.slice()))));
}

// Returns for each buffer the axes along which its shards disagree. Kernels
// write shards that agree as they should; collectives of random plans do not,
// and moves and carries of their results read any shard.
std::vector<Axes> Disagreements(const proto::Plan& plan, bool even) {
  std::vector<Axes> found;
  for (int b = 0; b < plan.buffers_size(); ++b) {
    found.push_back(CutAxes(plan, static_cast<uint32_t>(b)));
  }
  const auto read_any = [&](uint32_t from, uint32_t to) {
    if (Contains(CutAxes(plan, from), found[from])) return false;
    return found[to].insert(kNoAxis).second;
  };
  // A carried buffer is written after it is read.
  for (bool changes = true; changes;) {
    changes = false;
    for (const proto::Action& action : plan.actions()) {
      if (action.kind() == proto::RECV) {
        const proto::Action& send =
            plan.actions(static_cast<int>(action.peer()));
        changes |= read_any(send.operands(0), action.results(0));
      }
      if (action.kind() == proto::FEED && action.operands_size() > 0) {
        changes |= read_any(action.operands(0), action.results(0));
      }
      for (const proto::GangStep& step : action.steps()) {
        if (!step.has_collective()) continue;
        const proto::Collective& collective = step.collective();
        const bool joins = collective.kind() == proto::ALL_REDUCE ||
                           collective.kind() == proto::ALL_GATHER ||
                           collective.kind() == proto::BROADCAST;
        Axes axes = found[collective.source()];
        for (const std::string& axis : collective.axes()) {
          if (joins) {
            axes.erase(axis);
          } else {
            axes.insert(axis);
          }
        }
        if (even && !IsEven(plan, plan.buffers(
                                      static_cast<int>(collective.source())))) {
          axes.insert(kNoAxis);  // padding becomes elements of the result
        }
        found[collective.result()] = std::move(axes);
      }
    }
  }
  return found;
}

// Its kernels' shapes are in their names.
void AddKernel(const std::vector<Axes>& disagreements, proto::Plan* plan,
               proto::Action* action, bool fails, const Program& program) {
  // Axes that all results may depend on.
  Axes allowed = CutAxes(*plan, action->results(0));
  for (uint32_t result : action->results()) {
    const Axes axes = CutAxes(*plan, result);
    std::erase_if(allowed, [&](const std::string& axis) {
      return axes.count(axis) == 0;
    });
  }
  proto::Kernel kernel;
  proto::Segment* segment = kernel.add_segments();
  proto::GangStep::Run run;
  std::string name =
      absl::StrCat(fails ? "fail" : "mix", program.counts() ? "-step" : "");
  for (bool written : {false, true}) {
    for (uint32_t buffer : written ? action->results() : action->operands()) {
      const proto::Buffer& what = plan->buffers(static_cast<int>(buffer));
      run.add_buffers(buffer);
      proto::KernelOperand* operand = segment->add_operands();
      operand->set_element(
          plan->layouts(static_cast<int>(what.layout())).element());
      operand->set_written(written);
      uint64_t elements = 1;
      for (int64_t size : ShardShape(*plan, what)) {
        operand->add_shape(size);
        elements *= static_cast<uint64_t>(size);
      }
      const bool counts =
          written || (Contains(allowed, disagreements[buffer]) &&
                      (!program.even() || IsEven(*plan, what)));
      absl::StrAppend(&name,
                      written  ? "_w"
                      : counts ? "_r"
                               : "_n",
                      elements, "x", static_cast<int>(operand->element()));
    }
  }
  segment->set_symbol(name);
  proto::Location* location = segment->add_locations();
  location->set_where("model.mlir:7:3");
  location->set_message("expected other values");
  kernel.set_name(name);
  kernel.set_hash(absl::StrCat(
      absl::Hex(MixBytes(7, name.data(), name.size()), absl::kZeroPad16)));
  // Shapes belong to it too, beside their sizes.
  int number = 0;
  for (; number < plan->kernels_size(); ++number) {
    if (plan->kernels(number).SerializeAsString() ==
        kernel.SerializeAsString()) {
      break;
    }
  }
  if (number == plan->kernels_size()) *plan->add_kernels() = kernel;
  action->set_kernel(static_cast<uint32_t>(number));
  *action->add_steps()->mutable_run() = run;
}

ArrayType TypeOf(const proto::Plan& plan, uint32_t buffer, bool stepped,
                 int64_t steps) {
  const proto::Layout& layout = plan.layouts(
      static_cast<int>(plan.buffers(static_cast<int>(buffer)).layout()));
  ArrayType type;
  type.element = static_cast<ElementType>(layout.element());
  if (stepped) type.shape.push_back(steps);
  type.shape.insert(type.shape.end(), layout.shape().begin(),
                    layout.shape().end());
  return type;
}

}  // namespace

proto::Plan PlanOf(const Program& program, const Topology& topology) {
  testing::RandomPlanOptions options;
  options.islands = topology.num_islands();
  options.devices_per_island = static_cast<int>(topology.num_devices(0));
  options.max_slices = static_cast<int>(program.slices());
  options.max_actions = static_cast<int>(program.actions());
  options.max_steps_in_flight = 3;
  options.max_dimension = 6;
  options.spanning = program.spanning();
  options.contributions = program.contributions();
  proto::Plan plan = testing::RandomPlan(program.plan(), options);
  bool fails = program.fails();
  const std::vector<Axes> disagreements = Disagreements(plan, program.even());
  for (proto::Action& action : *plan.mutable_actions()) {
    if (action.kind() != proto::GANG || action.steps_size() > 0) continue;
    AddKernel(disagreements, &plan, &action,
              fails && action.operands_size() > 0, program);
    fails = fails && action.operands_size() == 0;
  }
  return plan;
}

std::set<int> VagueResults(const proto::Plan& plan, bool even) {
  const std::vector<Axes> disagreements = Disagreements(plan, even);
  std::set<int> vague;
  for (int r = 0; r < plan.interface().results_size(); ++r) {
    const uint32_t action = plan.interface().results(r).action();
    const uint32_t buffer = plan.actions(static_cast<int>(action)).operands(0);
    if (!Contains(CutAxes(plan, buffer), disagreements[buffer])) {
      vague.insert(r);
    }
  }
  return vague;
}

std::set<int32_t> HostsOf(const proto::Plan& plan, const Topology& topology) {
  std::set<int32_t> hosts;
  for (const proto::Slice& slice : plan.slices()) {
    for (int64_t shard = 0; shard < NumShards(slice); ++shard) {
      const BoundDevice at = DeviceOf(slice, shard).value_or(BoundDevice());
      hosts.insert(
          topology.Locate(static_cast<int>(at.island), at.device).host);
    }
  }
  return hosts;
}

ArrayType ArgumentType(const proto::Plan& plan, int number, int64_t steps) {
  const proto::Argument& argument = plan.interface().arguments(number);
  const proto::Action& feed = plan.actions(static_cast<int>(argument.action()));
  return TypeOf(plan, feed.results(0), argument.stepped(), steps);
}

ArrayType ResultType(const proto::Plan& plan, int number, int64_t steps) {
  const proto::Result& result = plan.interface().results(number);
  const proto::Action& fetch = plan.actions(static_cast<int>(result.action()));
  return TypeOf(plan, fetch.operands(0), result.stepped(), steps);
}

HostArray DrawArray(const ArrayType& type, uint64_t seed) {
  HostArray array;
  array.element = type.element;
  array.shape = type.shape;
  const int64_t bytes = elementBytes(type.element);
  array.data.resize(static_cast<size_t>(array.numElements() * bytes));
  for (int64_t i = 0; i < array.numElements(); ++i) {
    Write(static_cast<proto::ElementType>(type.element),
          Mix(seed, static_cast<uint64_t>(i)) >> 20,
          array.data.data() + i * bytes);
  }
  return array;
}

MixKernels::MixKernels() = default;

absl::StatusOr<ResolvedKernel> MixKernels::Resolve(const proto::Kernel& kernel,
                                                   absl::Span<const uint8_t>,
                                                   const proto::Target&) {
  const auto [known, fresh] =
      known_.try_emplace(kernel.name(), static_cast<int>(known_.size()));
  if (known->second >= kMaxKernels) {
    return absl::ResourceExhaustedError("there are too many kernels");
  }
  if (fresh) {
    KernelShape shape;
    const std::vector<std::string> words = absl::StrSplit(kernel.name(), '_');
    shape.fails = absl::StartsWith(words[0], "fail");
    shape.counts = absl::EndsWith(words[0], "-step");
    for (size_t i = 1; i < words.size(); ++i) {
      const std::vector<std::string> sizes =
          absl::StrSplit(words[i].substr(1), 'x');
      Port port;
      int element = 0;
      if (sizes.size() != 2 || !absl::SimpleAtoi(sizes[0], &port.elements) ||
          !absl::SimpleAtoi(sizes[1], &element)) {
        return absl::InvalidArgumentError(
            absl::StrCat("no kernel ", kernel.name()));
      }
      port.element = static_cast<proto::ElementType>(element);
      port.use = words[i][0] == 'w'   ? Port::kWritten
                 : words[i][0] == 'r' ? Port::kRead
                                      : Port::kUnused;
      shape.ports.push_back(port);
    }
    shapes[static_cast<size_t>(known->second)] = std::move(shape);
  }
  return ResolvedKernel{std::vector<KernelFunction>(
                            static_cast<size_t>(kernel.segments_size()),
                            kFunctions[static_cast<size_t>(known->second)]),
                        nullptr};
}

}  // namespace pathways::simulate
