//===- dump_graph.cc - A plan as a graph, for Graphviz --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/dump_graph.h"

#include "absl/strings/str_cat.h"
#include "runtime/plan/tables.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {
namespace {

// Returns a quoted DOT string; names may have any characters.
std::string Dot(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += ' ';
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

const char* ShapeOf(proto::ActionKind kind) {
  switch (kind) {
    case proto::GANG:
      return "box";
    case proto::SEND:
      return "rarrow";
    case proto::RECV:
      return "larrow";
    case proto::FEED:
      return "invhouse";
    case proto::FETCH:
      return "house";
    default:
      return "ellipse";
  }
}

const char* StyleOf(proto::EdgeKind kind) {
  switch (kind) {
    case proto::CREDIT:
      return "style=dashed, color=gray50";
    case proto::REUSE:
      return "style=dotted, color=gray50";
    case proto::CONTROL:
      return "style=bold, color=blue";
    default:
      return "style=solid";
  }
}

}  // namespace

std::string GraphText(const proto::Plan& plan) {
  std::string text = absl::StrCat("digraph ", Dot(plan.header().program()),
                                  " {\n  rankdir=TB;\n  node [fontsize=11];\n"
                                  "  edge [fontsize=9];\n");
  std::vector<std::string> nodes(plan.slices_size());
  for (int a = 0; a < plan.actions_size(); ++a) {
    const proto::Action& action = plan.actions(a);
    absl::StrAppend(&nodes[action.slice()], "    a", a,
                    " [label=", Dot(action.name()),
                    ", shape=", ShapeOf(action.kind()), ", tooltip=",
                    Dot(absl::StrCat(ActionKindName(action.kind()), " ",
                                     action.location())),
                    "];\n");
  }
  for (int s = 0; s < plan.slices_size(); ++s) {
    const proto::Slice& slice = plan.slices(s);
    absl::StrAppend(
        &text, "  subgraph cluster_", s, " {\n    label=",
        Dot(absl::StrCat("@", slice.name(), ": ", MeshText(slice),
                         NumIslands(slice) > 1 ? ", islands " : ", island ",
                         IslandsText(slice))),
        ";\n", nodes[s], "  }\n");
  }
  for (const proto::Edge& edge : plan.edges()) {
    absl::StrAppend(&text, "  a", edge.from(), " -> a", edge.to(), " [",
                    StyleOf(edge.kind()));
    if (edge.tokens() > 0) absl::StrAppend(&text, ", label=", edge.tokens());
    // Backward edges must not turn the drawing upside down.
    if (edge.from() >= edge.to()) absl::StrAppend(&text, ", constraint=false");
    absl::StrAppend(&text, ", tooltip=",
                    Dot(absl::StrCat(EdgeKindName(edge.kind()), " ",
                                     RelationName(edge.relation()))),
                    "];\n");
  }
  return text + "}\n";
}

}  // namespace pathways::pw_run
