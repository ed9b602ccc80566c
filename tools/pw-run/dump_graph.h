//===- dump_graph.h - A plan as a graph, for Graphviz -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_DUMP_GRAPH_H_
#define TOOLS_PW_RUN_DUMP_GRAPH_H_

#include <string>

#include "runtime/proto/plan.pb.h"

namespace pathways::pw_run {

// Returns the actions, boxed by slice, and the edges in the DOT language.
// `plan` passed the verifier. Data edges are solid, credits dashed, reuse
// dotted, control bold; edges with initial tokens show their number.
std::string GraphText(const proto::Plan& plan);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_DUMP_GRAPH_H_
