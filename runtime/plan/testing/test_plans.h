//===- test_plans.h - Short descriptions of plans for tests -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most plans of tests are chains: an argument, gangs and moves that read the
// array before them, and a result. ChainBuilder describes such a plan in the
// order of its actions:
//
//   // v = twice(u), on two shards. v moves to island 1, where it is returned.
//   ChainBuilder({.name = "double"})
//       .Feed("u")
//       .Run("twice", "twice1")
//       .Move("m", {.island = 1})
//       .Fetch("v")
//       .Finish();
//
// A test may mix these functions with those of PlanBuilder. A plan that
// branches, shares memory or breaks a rule is written with PlanBuilder alone.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_TESTING_TEST_PLANS_H_
#define RUNTIME_PLAN_TESTING_TEST_PLANS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/layout/layout.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/proto/plan.pb.h"

namespace pathways::testing {

// Return the layout of an array of `shape`. Split divides dimension d over the
// axes dims[d], Rows divides the first dimension, if there is one, over the
// axis x, and Whole gives each shard a copy.
layout::Layout Split(std::vector<int64_t> shape,
                     std::vector<std::vector<std::string>> dims);
layout::Layout Rows(std::vector<int64_t> shape);
layout::Layout Whole(std::vector<int64_t> shape);

// Adds a run step of kernel `name` to a gang; the kernel reads the gang's
// operands, then writes its results, in order. The plan has one kernel of each
// name, with one segment.
void AddRun(PlanBuilder& b, uint32_t gang, const std::string& name);

// Adds a collective step to `gang`, from its first operand to its first result,
// over `axis`, and returns it. Reductions add.
proto::Collective* AddCollective(PlanBuilder& b, uint32_t gang,
                                 proto::CollectiveKind kind,
                                 const std::string& axis);

// A slice of devices, and the mesh of its shards.
struct TestSlice {
  int64_t shards = 2;
  // If the mesh is empty, it is <"x" = shards>; otherwise `shards` is unused.
  layout::Mesh mesh = {};
  uint32_t island = 0;
  // Devices of the island, as for PlanBuilder::AddSlice: the shards are on
  // devices from `base` on. After `span` devices they start again at `base`; 0
  // for no wrap-around.
  int64_t base = 0;
  int64_t span = 0;
  // If not empty, the device of each shard. `base` and `span` are then unused.
  std::vector<int64_t> devices = {};
};

struct ChainOptions {
  std::string name = "p";  // of the program
  uint32_t steps_in_flight = 2;
  TestSlice slice = {};  // where the chain begins
  // The layout of arguments. By default an array has one element for each
  // shard of the first slice, and is split over all axes of its mesh.
  std::optional<layout::Layout> layout = {};
  uint32_t credits = 2;  // of each buffer
  proto::ElementType element = proto::F32;
};

struct GangOptions {
  uint64_t cost_ns = 0;
  // The layout of the result. By default it is that of the first operand.
  std::optional<layout::Layout> layout = {};
};

// Builds a plan action by action. Each function that appends actions returns
// the builder. A buffer has the name of the argument, gang or move that writes
// it. Slices are named s, s1, s2, ...
class ChainBuilder : public PlanBuilder {
 public:
  explicit ChainBuilder(const ChainOptions& options);

  // Adds an argument on the current slice. The next gang reads it, after the
  // arrays before it. `layout` defaults to ChainOptions::layout.
  ChainBuilder& Feed(const std::string& name, bool stepped = false,
                     const std::optional<layout::Layout>& layout = {});
  // Add a gang on the current slice. It reads the result of the gang or move
  // before it and then the arguments fed since, and writes one result. Gang
  // adds no step, Run adds a step of `kernel`, and Collective adds a step of
  // `kind` over the axis x.
  ChainBuilder& Gang(const std::string& name, const GangOptions& options = {});
  ChainBuilder& Run(const std::string& name, const std::string& kernel,
                    const GangOptions& options = {});
  ChainBuilder& Collective(const std::string& name, proto::CollectiveKind kind,
                           const GangOptions& options = {});
  // Move the last array. Its new slice becomes the current slice: Move adds
  // one, MoveTo takes the slice of that index, 0 for the first. By default the
  // layout stays.
  ChainBuilder& Move(const std::string& name, const TestSlice& to,
                     const std::optional<layout::Layout>& layout = {});
  ChainBuilder& MoveTo(const std::string& name, uint32_t slice,
                       const std::optional<layout::Layout>& layout = {});
  // Makes the last array a result. The chain goes on with the same array.
  ChainBuilder& Fetch(const std::string& name, bool stepped = false);
  // Makes the first argument of the chain take the chain's first result after
  // each step.
  ChainBuilder& CarryResult();
  // Begins another chain of the same plan, on a new slice.
  ChainBuilder& Begin(const TestSlice& slice);

  // Returns the index of the last array's buffer.
  uint32_t last() const { return waiting_.back(); }
  // Returns the index of the action that was added last.
  uint32_t last_action() const { return plan().actions_size() - 1; }

 private:
  uint32_t AddSliceOf(const TestSlice& options);
  uint32_t AddArray(const std::string& name, const layout::Layout& layout);
  layout::Layout LayoutOfArray(uint32_t buffer) const;

  const uint32_t credits_;
  const proto::ElementType element_;
  layout::Layout argument_layout_;
  uint32_t slice_;                 // the current one
  std::vector<uint32_t> waiting_;  // operands of the next gang
  std::optional<uint32_t> first_feed_, first_fetch_;  // of the chain
};

// Plans of one or two slices with an argument u. IdentityPlan returns u itself.
// The result of the other plans is v: KernelPlan has one gang, named `kernel`,
// that runs `kernel` on u; AllReducePlan adds the shards of u over the axis x;
// TransferPlan moves u to the slice `to`, where v has the layout of u unless
// `layout` is given.
proto::Plan IdentityPlan(const ChainOptions& options, bool stepped = false);
proto::Plan KernelPlan(const ChainOptions& options, const std::string& kernel,
                       uint64_t cost_ns = 0);
proto::Plan AllReducePlan(const ChainOptions& options,
                          const GangOptions& gang = {});
proto::Plan TransferPlan(const ChainOptions& options, const TestSlice& to,
                         const std::optional<layout::Layout>& layout = {});

}  // namespace pathways::testing

#endif  // RUNTIME_PLAN_TESTING_TEST_PLANS_H_
