//===- plan_builder.h - Make plans by hand -------------------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Say which actions there are, in table order, and Finish() adds what follows
// from them: data and credit edges, memory, first and last actions. What is
// added obeys the rules of docs/plan-format.md; what the caller adds is the
// caller's.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_PLAN_BUILDER_H_
#define RUNTIME_PLAN_PLAN_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/layout/layout.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

class PlanBuilder {
 public:
  PlanBuilder(const std::string& program, uint32_t steps_in_flight);

  // Each returns the index of the entry it adds.

  // Shards in row-major order on devices from `base` on, and around again
  // after `span` of them (0: no wrap-around).
  uint32_t AddSlice(const std::string& name, const layout::Mesh& mesh,
                    uint32_t island, int64_t base = 0, int64_t span = 0);
  // Equal layouts become one entry.
  uint32_t AddLayout(const layout::Layout& layout, proto::ElementType element);
  uint32_t AddBuffer(const std::string& name, uint32_t slice,
                     const layout::Layout& layout, uint32_t credits = 1,
                     proto::ElementType element = proto::F32);
  uint32_t AddGang(const std::string& name, uint32_t slice,
                   const std::vector<uint32_t>& operands,
                   const std::vector<uint32_t>& results, uint64_t cost_ns = 0);
  // "name.send" and "name.recv", in this order.
  std::pair<uint32_t, uint32_t> AddMove(const std::string& name,
                                        uint32_t source, uint32_t destination);
  // An argument `name` with its action "name.feed"; a result with its action
  // "name.fetch". These return the action.
  uint32_t AddFeed(const std::string& name, uint32_t buffer,
                   bool stepped = false);
  uint32_t AddFetch(const std::string& name, uint32_t buffer,
                    bool stepped = false);

  // After the first step of a launch, argument takes result. Indices are those
  // of actions.
  void Carry(uint32_t feed, uint32_t fetch);
  // The user's after(from): an edge of relation all and its way back.
  void AddControl(uint32_t from, uint32_t to);
  void AddEdge(uint32_t from, uint32_t to, uint32_t tokens,
               proto::EdgeKind kind, proto::Relation relation);
  // The buffers lie at one offset. They must be of one slice and have equal
  // credits; each is in one group at most. Adds no edges.
  void ShareMemory(const std::vector<uint32_t>& buffers);
  void AddAlias(uint32_t gang, uint32_t operand, uint32_t result);

  // The plan so far, for what has no function here.
  proto::Plan& plan() { return plan_; }
  const proto::Plan& plan() const { return plan_; }

  // Completes and returns the plan. Call once.
  proto::Plan Finish();

 private:
  void AddFlow();
  void PlaceBuffers();

  proto::Plan plan_;
  std::vector<std::vector<uint32_t>> groups_;
};

}  // namespace pathways

#endif  // RUNTIME_PLAN_PLAN_BUILDER_H_
