//===- test_plans.cc - Short descriptions of plans for tests --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/testing/test_plans.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/tables.h"

namespace pathways::testing {
namespace {

layout::Mesh MeshOf(const TestSlice& options) {
  if (!options.mesh.empty()) return options.mesh;
  return {{"x", options.shards}};
}

layout::Layout OneElementForEachShard(const layout::Mesh& mesh) {
  std::vector<std::string> axes;
  for (const layout::Axis& axis : mesh) axes.push_back(axis.name);
  return Split({layout::NumShards(mesh)}, {axes});
}

// Returns the index of the kernel, or nullopt if the plan lacks it.
std::optional<uint32_t> FindKernel(const proto::Plan& plan,
                                   const std::string& name) {
  for (int k = 0; k < plan.kernels_size(); ++k) {
    if (plan.kernels(k).name() == name) return k;
  }
  return std::nullopt;
}

proto::Segment* AddTestKernel(proto::Plan& plan, const std::string& name) {
  proto::Kernel* kernel = plan.add_kernels();
  kernel->set_name(name);
  kernel->set_hash(
      absl::StrCat("ab", absl::Hex(std::hash<std::string>()(name))));
  proto::Segment* segment = kernel->add_segments();
  segment->set_symbol(name);
  proto::Location* location = segment->add_locations();
  location->set_where("model.mlir:7:3");
  location->set_message("expected no negative element");
  return segment;
}

}  // namespace

layout::Layout Split(std::vector<int64_t> shape,
                     std::vector<std::vector<std::string>> dims) {
  layout::Layout layout;
  layout.shape = std::move(shape);
  layout.dims = std::move(dims);
  return layout;
}

layout::Layout Rows(std::vector<int64_t> shape) {
  layout::Layout layout = Whole(std::move(shape));
  if (!layout.dims.empty()) layout.dims[0] = {"x"};
  return layout;
}

layout::Layout Whole(std::vector<int64_t> shape) {
  const size_t rank = shape.size();
  return Split(std::move(shape), std::vector<std::vector<std::string>>(rank));
}

void AddRun(PlanBuilder& b, uint32_t gang, const std::string& name) {
  proto::Plan& plan = b.plan();
  proto::Action* action = plan.mutable_actions(gang);
  proto::GangStep::Run* run = action->add_steps()->mutable_run();
  const std::optional<uint32_t> known = FindKernel(plan, name);
  action->set_kernel(known.value_or(plan.kernels_size()));
  proto::Segment* segment = known ? nullptr : AddTestKernel(plan, name);
  for (bool written : {false, true}) {
    for (uint32_t buffer : written ? action->results() : action->operands()) {
      run->add_buffers(buffer);
      if (segment == nullptr) continue;
      proto::KernelOperand* operand = segment->add_operands();
      operand->set_element(
          plan.layouts(plan.buffers(buffer).layout()).element());
      operand->set_written(written);
      for (int64_t size : ShardShape(plan, plan.buffers(buffer))) {
        operand->add_shape(size);
      }
    }
  }
}

proto::Collective* AddCollective(PlanBuilder& b, uint32_t gang,
                                 proto::CollectiveKind kind,
                                 const std::string& axis) {
  proto::Action* action = b.plan().mutable_actions(gang);
  proto::Collective* c = action->add_steps()->mutable_collective();
  c->set_kind(kind);
  if (kind == proto::ALL_REDUCE || kind == proto::REDUCE_SCATTER) {
    c->set_reduction(proto::ADD);
  }
  c->add_axes(axis);
  c->set_source(action->operands(0));
  c->set_result(action->results(0));
  return c;
}

ChainBuilder::ChainBuilder(const ChainOptions& options)
    : PlanBuilder(options.name, options.steps_in_flight),
      credits_(options.credits),
      element_(options.element),
      argument_layout_(options.layout.value_or(
          OneElementForEachShard(MeshOf(options.slice)))),
      slice_(AddSliceOf(options.slice)) {}

ChainBuilder& ChainBuilder::Feed(const std::string& name, bool stepped,
                                 const std::optional<layout::Layout>& layout) {
  waiting_.push_back(AddArray(name, layout.value_or(argument_layout_)));
  const uint32_t feed = AddFeed(name, last(), stepped);
  if (!first_feed_) first_feed_ = feed;
  return *this;
}

ChainBuilder& ChainBuilder::Gang(const std::string& name,
                                 const GangOptions& options) {
  const layout::Layout layout = options.layout.value_or(
      waiting_.empty() ? argument_layout_ : LayoutOfArray(waiting_.front()));
  const uint32_t result = AddArray(name, layout);
  AddGang(name, slice_, waiting_, {result}, options.cost_ns);
  waiting_ = {result};
  return *this;
}

ChainBuilder& ChainBuilder::Run(const std::string& name,
                                const std::string& kernel,
                                const GangOptions& options) {
  Gang(name, options);
  AddRun(*this, last_action(), kernel);
  return *this;
}

ChainBuilder& ChainBuilder::Collective(const std::string& name,
                                       proto::CollectiveKind kind,
                                       const GangOptions& options) {
  Gang(name, options);
  AddCollective(*this, last_action(), kind, "x");
  return *this;
}

ChainBuilder& ChainBuilder::Move(const std::string& name, const TestSlice& to,
                                 const std::optional<layout::Layout>& layout) {
  return MoveTo(name, AddSliceOf(to), layout);
}

ChainBuilder& ChainBuilder::MoveTo(
    const std::string& name, uint32_t slice,
    const std::optional<layout::Layout>& layout) {
  const uint32_t source = last();
  slice_ = slice;
  const uint32_t destination =
      AddArray(name, layout.value_or(LayoutOfArray(source)));
  AddMove(name, source, destination);
  waiting_ = {destination};
  return *this;
}

ChainBuilder& ChainBuilder::Fetch(const std::string& name, bool stepped) {
  const uint32_t fetch = AddFetch(name, last(), stepped);
  if (!first_fetch_) first_fetch_ = fetch;
  return *this;
}

ChainBuilder& ChainBuilder::CarryResult() {
  Carry(first_feed_.value(), first_fetch_.value());
  return *this;
}

ChainBuilder& ChainBuilder::Begin(const TestSlice& slice) {
  slice_ = AddSliceOf(slice);
  waiting_.clear();
  first_feed_.reset();
  first_fetch_.reset();
  return *this;
}

uint32_t ChainBuilder::AddSliceOf(const TestSlice& options) {
  const int known = plan().slices_size();
  const uint32_t slice =
      AddSlice(known == 0 ? "s" : absl::StrCat("s", known), MeshOf(options),
               options.island, options.base, options.span);
  if (!options.devices.empty()) {
    auto* list =
        plan().mutable_slices(slice)->mutable_binding()->mutable_list();
    for (int64_t device : options.devices) list->add_devices(device);
  }
  return slice;
}

uint32_t ChainBuilder::AddArray(const std::string& name,
                                const layout::Layout& layout) {
  return AddBuffer(name, slice_, layout, credits_, element_);
}

layout::Layout ChainBuilder::LayoutOfArray(uint32_t buffer) const {
  return LayoutOf(plan().layouts(plan().buffers(buffer).layout()));
}

proto::Plan IdentityPlan(const ChainOptions& options, bool stepped) {
  return ChainBuilder(options).Feed("u", stepped).Fetch("u", stepped).Finish();
}

proto::Plan KernelPlan(const ChainOptions& options, const std::string& kernel,
                       uint64_t cost_ns) {
  return ChainBuilder(options)
      .Feed("u")
      .Run(kernel, kernel, {.cost_ns = cost_ns})
      .Fetch("v")
      .Finish();
}

proto::Plan AllReducePlan(const ChainOptions& options,
                          const GangOptions& gang) {
  return ChainBuilder(options)
      .Feed("u")
      .Collective("sum", proto::ALL_REDUCE, gang)
      .Fetch("v")
      .Finish();
}

proto::Plan TransferPlan(const ChainOptions& options, const TestSlice& to,
                         const std::optional<layout::Layout>& layout) {
  return ChainBuilder(options)
      .Feed("u")
      .Move("m", to, layout)
      .Fetch("v")
      .Finish();
}

}  // namespace pathways::testing
