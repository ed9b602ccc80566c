//===- verify_flow.cc - Order, data, credits and bounds -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <string>

#include "runtime/layout/liveness.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify_internal.h"

namespace pathways::verify_internal {
namespace {

constexpr int kOrder = 2;
constexpr int kData = 3;
constexpr int kCredit = 4;
constexpr int kBounded = 5;
// Messages cut longer cycles.
constexpr size_t kMaxShownEdges = 16;

void CheckOrder(Context* context) {
  std::vector<layout::TokenEdge> edges;
  edges.reserve(context->plan.edges_size());
  for (const proto::Edge& edge : context->plan.edges())
    edges.push_back({edge.from(), edge.to(), edge.tokens()});
  layout::Liveness liveness =
      layout::CheckLiveness(context->plan.actions_size(), edges);
  if (liveness.live) return;
  uint32_t bad = static_cast<uint32_t>(liveness.bad_edge);
  const proto::Edge& edge = context->edge(bad);
  if (liveness.cycle.empty()) {
    context
        ->Add(kOrder, Subject::kEdge, bad, context->EdgeText(bad),
              " goes backward in the table: ", context->ActionText(edge.from()),
              " at ", edge.from(), " and ", context->ActionText(edge.to()),
              " at ", edge.to(), " must be in the other order")
        .notes = {{{Subject::kAction, edge.from()}, "from here"},
                  {{Subject::kAction, edge.to()}, "to here"}};
    return;
  }
  std::string text = Quoted(context->action(edge.from()).name());
  PlanIssue& issue = context->Add(kOrder, Subject::kEdge, bad, "");
  for (size_t i = 0; i < liveness.cycle.size(); ++i) {
    uint32_t index = static_cast<uint32_t>(liveness.cycle[i]);
    if (i == kMaxShownEdges) {
      absl::StrAppend(&text, " -> ... ", liveness.cycle.size() - i,
                      " more edges -> ",
                      Quoted(context->action(edge.from()).name()));
      break;
    }
    const proto::Edge& next = context->edge(index);
    absl::StrAppend(&text, " -> ", Quoted(context->action(next.to()).name()),
                    " (", EdgeKindName(next.kind()), ", 0 tokens)");
    issue.notes.push_back(
        {{Subject::kAction, next.from()},
         absl::StrCat(context->ActionText(next.from()), " comes before ",
                      context->ActionText(next.to()), " by a ",
                      EdgeKindName(next.kind()), " edge")});
  }
  issue.message = "edges without tokens form a cycle: " + text;
}

void FindAccesses(Context* context) {
  const proto::Plan& plan = context->plan;
  context->access.assign(plan.buffers_size(), {});
  for (int a = 0; a < plan.actions_size() && !context->full(); ++a) {
    uint32_t action = static_cast<uint32_t>(a);
    for (uint32_t b : plan.actions(a).results()) {
      uint32_t& writer = context->access[b].writer;
      if (writer == kNone) {
        writer = action;
        continue;
      }
      context
          ->Add(kData, Subject::kBuffer, b, context->BufferText(b),
                " is written by ", context->ActionText(writer), " and by ",
                context->ActionText(action), ", expected one writer")
          .notes = {{{Subject::kAction, writer}, "written here"},
                    {{Subject::kAction, action}, "and here"}};
    }
  }
  for (int b = 0; b < plan.buffers_size() && !context->full(); ++b) {
    if (context->access[b].writer == kNone)
      context->Add(kData, Subject::kBuffer, b, context->BufferText(b),
                   " is written by no action, expected one writer");
  }
  for (int a = 0; a < plan.actions_size(); ++a) {
    uint32_t action = static_cast<uint32_t>(a);
    for (uint32_t b : plan.actions(a).operands()) {
      Access& access = context->access[b];
      if (access.writer == action)
        access.reads_itself = true;
      else if (access.readers.empty() || access.readers.back() != action)
        access.readers.push_back(action);
    }
  }
}

// Looks for the one edge with these fields and marks it as used; reports it as
// missing if there is none.
bool Expect(Context* context, int rule, uint32_t buffer, uint32_t from,
            uint32_t to, uint32_t tokens, proto::EdgeKind kind,
            proto::Relation relation, std::vector<bool>* used) {
  uint32_t found = context->edges.Find(from, to, tokens, kind, relation);
  if (found != kNone) {
    (*used)[found] = true;
    return true;
  }
  uint32_t near = context->edges.FindAny(from, to, kind);
  PlanIssue& issue = context->Add(
      rule, Subject::kBuffer, buffer, context->BufferText(buffer), " needs a ",
      EdgeKindName(kind), " edge from ", context->ActionText(from), " to ",
      context->ActionText(to), ", relation ", RelationName(relation), ", with ",
      tokens, tokens == 1 ? " token" : " tokens", "; ",
      near == kNone ? "there is none"
                    : absl::StrCat("there is ", context->EdgeText(near)));
  issue.notes = {{{Subject::kAction, from}, "from here"},
                 {{Subject::kAction, to}, "to here"}};
  if (near != kNone)
    issue.notes.push_back({{Subject::kEdge, near}, "the edge is here"});
  return false;
}

void CheckData(Context* context) {
  const proto::Plan& plan = context->plan;
  std::vector<bool> used(plan.edges_size());
  for (int i = 0; i < plan.buffers_size() && !context->full(); ++i) {
    uint32_t b = static_cast<uint32_t>(i);
    const Access& access = context->access[b];
    if (context->action(access.writer).kind() == proto::RECV)
      Expect(context, kData, b, context->action(access.writer).peer(),
             access.writer, 0, proto::DATA, proto::PIECES, &used);
    for (uint32_t reader : access.readers) {
      if (context->full()) return;
      Expect(context, kData, b, access.writer, reader, context->Lag(reader),
             proto::DATA, proto::SAME, &used);
    }
    // For an argument that is carried unchanged the feed's own order suffices,
    // but an explicit edge is accepted.
    if (access.reads_itself && context->Lag(access.writer) > 0) {
      uint32_t own = context->edges.Find(access.writer, access.writer,
                                         context->Lag(access.writer),
                                         proto::DATA, proto::SAME);
      if (own != kNone) used[own] = true;
    }
  }
  for (int i = 0; i < plan.edges_size() && !context->full(); ++i) {
    const proto::Edge& edge = plan.edges(i);
    if (edge.kind() != proto::DATA || used[i]) continue;
    context
        ->Add(kData, Subject::kEdge, i, context->EdgeText(i),
              " carries no data: ", context->ActionText(edge.to()),
              " reads nothing in this way that ",
              context->ActionText(edge.from()), " writes")
        .notes = {{{Subject::kAction, edge.from()}, "from here"},
                  {{Subject::kAction, edge.to()}, "to here"}};
  }
}

void CheckCreditCounts(Context* context) {
  const proto::Plan& plan = context->plan;
  uint32_t most = plan.header().steps_in_flight();
  for (int b = 0; b < plan.buffers_size() && !context->full(); ++b) {
    uint32_t credits = plan.buffers(b).credits();
    if (credits < 1 || credits > most)
      context->Add(kBounded, Subject::kBuffer, b, context->BufferText(b),
                   " has ", credits, " credits, expected 1 to ", most,
                   ", the steps in flight");
  }
}

void CheckCredits(Context* context) {
  const proto::Plan& plan = context->plan;
  std::vector<bool> used(plan.edges_size());
  for (int i = 0; i < plan.buffers_size() && !context->full(); ++i) {
    uint32_t b = static_cast<uint32_t>(i);
    const Access& access = context->access[b];
    uint32_t credits = plan.buffers(i).credits();
    bool moved = context->action(access.writer).kind() == proto::RECV;
    uint32_t entry = EntryOf(plan, access.writer);
    proto::Relation relation = moved ? proto::PIECES : proto::SAME;
    for (uint32_t reader : access.readers) {
      if (context->full()) return;
      Expect(context, kCredit, b, reader, entry, credits - context->Lag(reader),
             proto::CREDIT, relation, &used);
    }
    if (moved && access.readers.empty())
      Expect(context, kCredit, b, access.writer, entry, credits, proto::CREDIT,
             relation, &used);
    if (access.reads_itself && context->Lag(access.writer) > 0) {
      uint32_t own = context->edges.Find(access.writer, access.writer,
                                         credits - context->Lag(access.writer),
                                         proto::CREDIT, proto::SAME);
      if (own != kNone) used[own] = true;
    }
  }
  for (int i = 0; i < plan.edges_size() && !context->full(); ++i) {
    const proto::Edge& edge = plan.edges(i);
    // A credit of relation all is the way back of another edge (rule 5).
    if (edge.kind() != proto::CREDIT || edge.relation() == proto::ALL ||
        used[i])
      continue;
    context
        ->Add(kCredit, Subject::kEdge, i, context->EdgeText(i),
              " returns no credit: ", context->ActionText(edge.from()),
              " reads no buffer with such credits that ",
              context->ActionText(edge.to()), " fills")
        .notes = {{{Subject::kAction, edge.from()}, "from here"},
                  {{Subject::kAction, edge.to()}, "to here"}};
  }
}

// Fewest tokens of the edges of relation all between two actions.
class AllEdges {
 public:
  explicit AllEdges(const proto::Plan& plan) {
    for (const proto::Edge& edge : plan.edges()) {
      if (edge.relation() != proto::ALL) continue;
      auto [it, added] =
          tokens_.try_emplace(Key(edge.from(), edge.to()), edge.tokens());
      if (!added) it->second = std::min(it->second, edge.tokens());
    }
  }
  // Returns null if there is no such edge.
  const uint32_t* Find(uint32_t from, uint32_t to) const {
    auto it = tokens_.find(Key(from, to));
    return it == tokens_.end() ? nullptr : &it->second;
  }

 private:
  static uint64_t Key(uint32_t from, uint32_t to) {
    return uint64_t{from} << 32 | to;
  }
  // only looked up, never iterated
  absl::flat_hash_map<uint64_t, uint32_t> tokens_;
};

void CheckClosed(Context* context, const PathIndex& paths) {
  const proto::Plan& plan = context->plan;
  uint64_t most = plan.header().steps_in_flight();
  AllEdges all(plan);
  for (int i = 0; i < plan.edges_size() && !context->full(); ++i) {
    const proto::Edge& edge = plan.edges(i);
    uint64_t enough = edge.tokens() <= most ? most - edge.tokens() : 0;
    uint64_t back = 0;
    const char* what = nullptr;
    if (edge.relation() == proto::ALL) {
      const uint32_t* tokens = all.Find(edge.to(), edge.from());
      back = tokens == nullptr ? PathIndex::kNoPath : *tokens;
      what = "edge of relation all";
    } else if (edge.relation() == proto::SAME) {
      back = paths.Tokens(edge.to(), edge.from(), enough);
      what = "path";
    } else if (edge.kind() == proto::REUSE) {
      // The source of this edge is the last user of the memory that the send
      // overwrites.
      back =
          paths.Tokens(context->action(edge.to()).peer(), edge.from(), enough);
      what = "path from its recv";
    } else {
      continue;
    }
    if (back != PathIndex::kNoPath && back + edge.tokens() <= most) continue;
    context
        ->Add(kBounded, Subject::kEdge, i, context->EdgeText(i),
              back == PathIndex::kNoPath
                  ? absl::StrCat(" is not bounded: there is no ", what, " back")
                  : absl::StrCat(" and the ", what, " back have ",
                                 back + edge.tokens(), " tokens, at most ",
                                 most, " are accepted, the steps in flight"))
        .notes = {{{Subject::kAction, edge.from()}, "from here"},
                  {{Subject::kAction, edge.to()}, "to here"}};
  }
}

}  // namespace

void CheckFlow(Context* context) {
  CheckOrder(context);
  CheckCreditCounts(context);
  FindAccesses(context);
  if (context->issues.empty()) CheckData(context);
}

void CheckBounds(Context* context, const PathIndex& paths) {
  CheckCredits(context);
  CheckClosed(context, paths);
}

}  // namespace pathways::verify_internal
