//===- verify.cc - Verifier of plans --------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/verify.h"

#include <algorithm>

#include "runtime/base/error_codes.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify_internal.h"

namespace pathways {
namespace verify_internal {

uint32_t EdgeIndex::Add(const proto::Edge& edge, uint32_t index) {
  uint64_t ends = Ends(edge.from(), edge.to());
  uint64_t kind = static_cast<uint64_t>(edge.kind());
  uint64_t rest = uint64_t{edge.tokens()} << 8 | kind << 4 |
                  static_cast<uint64_t>(edge.relation());
  auto [it, added] = edges_.try_emplace(Key{ends, rest}, index);
  if (!added) return it->second;
  first_.try_emplace(Key{ends, kind}, index);
  return kNone;
}

uint32_t EdgeIndex::Find(uint32_t from, uint32_t to, uint32_t tokens,
                         proto::EdgeKind kind, proto::Relation relation) const {
  uint64_t rest = uint64_t{tokens} << 8 | static_cast<uint64_t>(kind) << 4 |
                  static_cast<uint64_t>(relation);
  auto it = edges_.find(Key{Ends(from, to), rest});
  return it == edges_.end() ? kNone : it->second;
}

uint32_t EdgeIndex::FindAny(uint32_t from, uint32_t to,
                            proto::EdgeKind kind) const {
  auto it = first_.find(Key{Ends(from, to), static_cast<uint64_t>(kind)});
  return it == first_.end() ? kNone : it->second;
}

std::vector<int64_t> Context::ShardShape(uint32_t buffer_index) const {
  const proto::Buffer& b = buffer(buffer_index);
  return layout::ShardShape(layouts[b.layout()], meshes[b.slice()]);
}

std::string Context::ActionText(uint32_t i) const {
  return absl::StrCat(ActionKindName(action(i).kind()), " ",
                      Quoted(action(i).name()));
}

std::string Context::BufferText(uint32_t i) const {
  return absl::StrCat("buffer ", Quoted(buffer(i).name()));
}

std::string Context::SliceText(uint32_t i) const {
  return absl::StrCat("slice ",
                      Quoted(plan.slices(static_cast<int>(i)).name()));
}

std::string Context::EdgeText(uint32_t i) const {
  const proto::Edge& e = edge(i);
  return absl::StrCat(
      EdgeKindName(e.kind()), " edge ", Quoted(action(e.from()).name()), " -> ",
      Quoted(action(e.to()).name()), " (", RelationName(e.relation()), ", ",
      e.tokens(), e.tokens() == 1 ? " token)" : " tokens)");
}

}  // namespace verify_internal

std::vector<PlanIssue> VerifyPlan(const proto::Plan& plan, uint64_t blob_bytes,
                                  const VerifyOptions& options) {
  using namespace verify_internal;
  Context context(plan, blob_bytes, options);
  CheckEntries(&context);
  if (context.issues.empty()) CheckLoops(&context);
  if (context.issues.empty() && !plan.loops().empty())
    return VerifyExpanded(&context);
  if (context.issues.empty()) {
    CheckActions(&context);
    CheckInterface(&context);
  }
  if (context.issues.empty()) CheckFlow(&context);
  if (context.issues.empty()) {
    PathIndex paths(context);
    CheckBounds(&context, paths);
    CheckMemory(&context, paths);
  }
  // The last check may have added a few more issues than allowed.
  if (context.full()) context.issues.resize(context.options.max_issues);
  return std::move(context.issues);
}

absl::Status IssuesToStatus(const proto::Plan& plan,
                            const std::vector<PlanIssue>& issues) {
  if (issues.empty()) return absl::OkStatus();
  std::string text =
      absl::StrCat("plan ", Quoted(plan.header().program()), " cannot run");
  for (const PlanIssue& issue : issues) {
    absl::StrAppend(&text, "\n  rule ", issue.rule, " (", RuleName(issue.rule),
                    "): ", issue.message);
    for (const PlanNote& note : issue.notes)
      absl::StrAppend(&text, "\n    note: ", note.text);
  }
  return Coded(ErrorId::kPlanRefused, absl::InvalidArgumentError(text));
}

absl::Status CheckPlan(const proto::Plan& plan, uint64_t blob_bytes) {
  return IssuesToStatus(plan, VerifyPlan(plan, blob_bytes));
}

const char* RuleName(int rule) {
  static constexpr const char* kNames[] = {
      "references", "order",     "data",   "credit", "bounded", "memory",
      "actions",    "interface", "limits", "ends",   "loops"};
  return rule >= 1 && rule <= 11 ? kNames[rule - 1] : "";
}

}  // namespace pathways
