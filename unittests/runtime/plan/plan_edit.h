//===- plan_edit.h - Change a plan by name -------------------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_PLAN_PLAN_EDIT_H_
#define UNITTESTS_RUNTIME_PLAN_PLAN_EDIT_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/proto/plan.pb.h"

namespace pathways::testing {

// Entries of a plan by name.
class Edit {
 public:
  explicit Edit(proto::Plan* plan) : plan(plan) {}

  proto::Slice* Slice(const char* name) {
    return Find(plan->mutable_slices(), name);
  }
  proto::Buffer* Buffer(const char* name) {
    return Find(plan->mutable_buffers(), name);
  }
  proto::Action* Action(const char* name) {
    return Find(plan->mutable_actions(), name);
  }
  proto::Layout* LayoutOf(const char* buffer) {
    return plan->mutable_layouts(Buffer(buffer)->layout());
  }
  uint32_t B(const char* name) { return Index(plan->buffers(), name); }
  uint32_t A(const char* name) { return Index(plan->actions(), name); }
  proto::Edge* Edge(const char* from, const char* to, proto::EdgeKind kind) {
    return plan->mutable_edges(EdgeIndex(from, to, kind));
  }
  void RemoveEdge(const char* from, const char* to, proto::EdgeKind kind) {
    plan->mutable_edges()->DeleteSubrange(EdgeIndex(from, to, kind), 1);
  }
  void AddEdge(const char* from, const char* to, uint32_t tokens,
               proto::EdgeKind kind, proto::Relation relation) {
    proto::Edge* edge = plan->add_edges();
    edge->set_from(A(from));
    edge->set_to(A(to));
    edge->set_tokens(tokens);
    edge->set_kind(kind);
    edge->set_relation(relation);
  }
  proto::Collective* Reduce() {
    return Action("reduce")->mutable_steps(0)->mutable_collective();
  }
  proto::Argument* Argument(int i) {
    return plan->mutable_interface()->mutable_arguments(i);
  }
  proto::Result* Result(int i) {
    return plan->mutable_interface()->mutable_results(i);
  }

  proto::Plan* plan;

 private:
  template <typename Table>
  static uint32_t Index(const Table& table, const char* name) {
    for (int i = 0; i < table.size(); ++i) {
      if (table.Get(i).name() == name) return i;
    }
    ADD_FAILURE() << "no entry '" << name << "'";
    return 0;
  }
  template <typename Entry>
  static Entry* Find(google::protobuf::RepeatedPtrField<Entry>* table,
                     const char* name) {
    return table->Mutable(Index(*table, name));
  }
  int EdgeIndex(const char* from, const char* to, proto::EdgeKind kind) {
    for (int i = 0; i < plan->edges_size(); ++i) {
      const proto::Edge& edge = plan->edges(i);
      if (edge.from() == A(from) && edge.to() == A(to) && edge.kind() == kind)
        return i;
    }
    ADD_FAILURE() << "no edge '" << from << "' -> '" << to << "'";
    return 0;
  }
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_PLAN_PLAN_EDIT_H_
