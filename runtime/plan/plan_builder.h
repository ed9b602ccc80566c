//===- plan_builder.h - Builder of plans by hand ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The caller adds actions in table order; Finish() adds what follows from them:
// data and credit edges, memory, first and last actions. Whatever Finish() adds
// obeys the rules of docs/plan-format.md; the caller answers for its own
// additions.
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

  // Each Add function below returns the index of the added entry, unless it
  // says otherwise.

  // Adds a slice whose shards are, in row-major order, on devices from `base`
  // on. After `span` devices they start again at `base`; 0 for no wrap-around.
  uint32_t AddSlice(const std::string& name, const layout::Mesh& mesh,
                    uint32_t island, int64_t base = 0, int64_t span = 0);
  // Adds a layout. Equal layouts become one entry.
  uint32_t AddLayout(const layout::Layout& layout, proto::ElementType element);
  uint32_t AddBuffer(const std::string& name, uint32_t slice,
                     const layout::Layout& layout, uint32_t credits = 1,
                     proto::ElementType element = proto::F32);
  uint32_t AddGang(const std::string& name, uint32_t slice,
                   const std::vector<uint32_t>& operands,
                   const std::vector<uint32_t>& results, uint64_t cost_ns = 0);
  // Adds a send "name.send" and a recv "name.recv", and returns both in this
  // order.
  std::pair<uint32_t, uint32_t> AddMove(const std::string& name,
                                        uint32_t source, uint32_t destination);
  // Add an argument `name` with its action "name.feed", or a result with its
  // action "name.fetch". They return the index of the action.
  uint32_t AddFeed(const std::string& name, uint32_t buffer,
                   bool stepped = false);
  uint32_t AddFetch(const std::string& name, uint32_t buffer,
                    bool stepped = false);

  // Makes the argument of `feed` take the result of `fetch` after the first
  // step of a launch. Both are indices of actions.
  void Carry(uint32_t feed, uint32_t fetch);
  // Adds the user's after(from): an edge of relation all, and its way back.
  void AddControl(uint32_t from, uint32_t to);
  void AddEdge(uint32_t from, uint32_t to, uint32_t tokens,
               proto::EdgeKind kind, proto::Relation relation);
  // Puts the buffers at one offset. They must be of one slice and have equal
  // credits; each may be in one group at most. Adds no edges.
  void ShareMemory(const std::vector<uint32_t>& buffers);
  void AddAlias(uint32_t gang, uint32_t operand, uint32_t result);

  // Lets a gang or send work only where `buffer`, an i1 of its slice, is true,
  // or with `unless` only where it is false.
  void AddGuard(uint32_t action, uint32_t buffer, bool unless = false);

  // Returns the plan so far, for changes that have no function here.
  proto::Plan& plan() { return plan_; }
  const proto::Plan& plan() const { return plan_; }

  // Completes and returns the plan. Call it once.
  proto::Plan Finish();

 private:
  void AddFlow();
  void PlaceBuffers();

  proto::Plan plan_;
  std::vector<std::vector<uint32_t>> groups_;
};

}  // namespace pathways

#endif  // RUNTIME_PLAN_PLAN_BUILDER_H_
