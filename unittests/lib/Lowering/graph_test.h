//===- graph_test.h - Graphs for tests --------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph on two slices, built without a program.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_LOWERING_GRAPH_TEST_H
#define UNITTESTS_LIB_LOWERING_GRAPH_TEST_H

#include "lib/Lowering/PlanSteps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "runtime/plan/derive_edges.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mlir::pathways {

/// An edge of a plan, to compare.
struct PlanEdge {
  uint32_t from, to;
  uint32_t tokens;
  ::pathways::proto::EdgeKind kind;
  ::pathways::proto::Relation relation;

  bool operator==(const PlanEdge &) const = default;

  friend void PrintTo(const PlanEdge &edge, std::ostream *os) {
    *os << edge.from << " -> " << edge.to << " tokens " << edge.tokens << ' '
        << ::pathways::proto::EdgeKind_Name(edge.kind) << ' '
        << ::pathways::proto::Relation_Name(edge.relation);
  }
};

struct GraphTest : public ::testing::Test {
  using Kind = ActionGraph::Kind;
  using Numbers = std::vector<uint32_t>;

  GraphTest() : graph("program", UnknownLoc::get(&context)) {
    context.loadDialect<PathwaysDialect>();
    module = parseSourceString<ModuleOp>(R"(
      pw.slice @s mesh <"d" = 2>
      pw.slice @t mesh <"d" = 4> apart_from [@s]
      pw.bind @s to island 0 devices base 0 strides [1]
      pw.bind @t to island 1 devices [3, 1, 2, 0]
    )",
                                         &context);
    auto slices = llvm::to_vector(module->getOps<SliceOp>());
    auto binds = llvm::to_vector(module->getOps<BindOp>());
    graph.slices = {{slices[0], binds[0]}, {slices[1], binds[1]}};
  }

  /// Returns the type of an array of `elements` f32 in all, cut over the
  /// devices of `slice`.
  ArrayType arrayOf(int64_t elements, uint32_t slice = 0) {
    Builder b(&context);
    SliceOp op = graph.slices[slice].slice;
    ArrayAttr cut = b.getArrayAttr(b.getStringAttr("d"));
    return ArrayType::get(elements, b.getF32Type(),
                          FlatSymbolRefAttr::get(op.getSymNameAttr()),
                          ShardingAttr::get(&context, cut));
  }

  uint32_t add(Kind kind, uint32_t slice = 0) {
    graph.addAction(kind, "action", slice, /*costNs=*/1, graph.loc);
    return graph.lastAction();
  }
  /// Adds a buffer that `action` writes, on its slice.
  uint32_t write(uint32_t action, int64_t elements = 64) {
    uint32_t slice = graph.actions[action].slice;
    uint32_t buffer =
        graph.addBuffer("buffer", slice, arrayOf(elements, slice));
    graph.addWrite(action, buffer);
    return buffer;
  }
  /// Adds a gang that reads `operands`.
  uint32_t gang(ArrayRef<uint32_t> operands) {
    uint32_t action = add(Kind::Gang);
    for (uint32_t operand : operands)
      graph.addRead(action, operand);
    return action;
  }
  uint32_t fetch(uint32_t buffer) {
    uint32_t action = add(Kind::Fetch);
    graph.addRead(action, buffer);
    return action;
  }
  /// Adds a send of `buffer` to the other slice, and its recv.
  std::pair<uint32_t, uint32_t> move(uint32_t buffer) {
    uint32_t send = add(Kind::Send), recv = add(Kind::Recv, 1);
    graph.actions[send].peer = recv;
    graph.actions[recv].peer = send;
    graph.addRead(send, buffer);
    return {send, recv};
  }

  /// Returns the plan of the graph.
  ::pathways::proto::Plan emit(uint32_t credits, uint32_t stepsInFlight) {
    std::vector<uint32_t> slots = assignCredits(graph, credits);
    return *emitPlan(graph, /*kernels=*/{}, slots, *placeMemory(graph, slots),
                     stepsInFlight);
  }
  std::vector<PlanEdge> derive(uint32_t credits = 2) {
    ::pathways::proto::Plan plan = emit(credits, /*stepsInFlight=*/credits);
    std::vector<PlanEdge> edges;
    for (const ::pathways::proto::Edge &edge : plan.edges())
      edges.push_back({edge.from(), edge.to(), edge.tokens(), edge.kind(),
                       edge.relation()});
    return edges;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ActionGraph graph;
};

} // namespace mlir::pathways

#endif // UNITTESTS_LIB_LOWERING_GRAPH_TEST_H
