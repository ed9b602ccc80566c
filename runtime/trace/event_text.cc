//===- event_text.cc - Texts for events -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/event_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/tables.h"
#include "runtime/protocol/wire_kind.h"

namespace pathways::trace {

Slice SliceOf(const TraceEvent& event, const char* category, std::string name,
              const Args& args) {
  return {event.time, event.end(), category, std::move(name), args.text(), {}};
}

std::string ActionName(const LogIndex& index, const TraceEvent& event) {
  const proto::Action* action = index.action(event);
  return action != nullptr ? action->name()
                           : absl::StrCat("action ", event.target);
}

void AddStepIndex(const LogIndex& index, const TraceEvent& event, Args* args) {
  if (const auto step = index.StepIndexOf(event))
    args->Add("step_index", *step);
}

Args ActionArgs(LogIndex* index, const TraceEvent& event) {
  Args args;
  args.Add("program", index->ProgramName(event.program));
  args.Add("firing", event.firing);
  AddStepIndex(*index, event, &args);
  const proto::Action* action = index->action(event);
  if (action == nullptr) return args;
  const std::string shards =
      event.Kind() == TraceKind::kMove
          ? absl::StrCat(uint64_t{event.item})
          : absl::StrJoin(
                index->ShardsOn(event.program, action->slice(), event.actor),
                ",");
  args.AddRaw("shards", absl::StrCat("[", shards, "]"));
  if (!action->location().empty()) args.Add("location", action->location());
  if (event.other != kNoTraceEdge &&
      (event.Kind() == TraceKind::kGang || event.Kind() == TraceKind::kWait ||
       event.Kind() == TraceKind::kMove)) {
    args.Add("last token", EdgeText(*index, event.program, event.other));
  }
  if (event.poisoned) args.AddRaw("poisoned", "true");
  return args;
}

const proto::Kernel* KernelOf(const LogIndex& index, const TraceEvent& event) {
  const proto::Action* action = index.action(event);
  if (action == nullptr) return nullptr;
  for (const proto::GangStep& step : action->steps()) {
    if (!step.has_run()) continue;
    return &index.plan(event.program)
                ->kernels(static_cast<int>(action->kernel()));
  }
  return nullptr;
}

std::string StepName(const LogIndex& index, const TraceEvent& event) {
  const proto::Action* action = index.action(event);
  if (action == nullptr ||
      event.item >= static_cast<uint64_t>(action->steps_size())) {
    return "step";
  }
  const proto::GangStep& step = action->steps(static_cast<int>(event.item));
  if (step.has_collective()) {
    return CollectiveKindName(step.collective().kind());
  }
  const proto::Kernel* kernel = KernelOf(index, event);
  return kernel != nullptr
             ? kernel->segments(static_cast<int>(step.run().segment())).symbol()
             : "step";
}

std::string EdgeText(const LogIndex& index, uint32_t program, uint32_t number) {
  const proto::Edge* edge = index.edge(program, number);
  if (edge == nullptr) return absl::StrCat("edge ", number);
  return absl::StrCat("edge ", number, " (", EdgeKindName(edge->kind()),
                      "): ", index.action(program, edge->from())->name(),
                      " -> ", index.action(program, edge->to())->name());
}

std::string LaunchName(const LogIndex& index, const TraceEvent& event) {
  return absl::StrCat(index.ProgramName(event.program), ", ", event.other,
                      event.other == 1 ? " step" : " steps", " from ",
                      uint64_t{event.firing});
}

std::string MessageName(const LogIndex& index, const TraceEvent& sent,
                        Args* args) {
  const char* kind = WireKindName(static_cast<int>(sent.item));
  args->Add("program", index.ProgramName(sent.program));
  args->Add("firing", sent.firing);
  if (sent.item == kContributionMessage) {
    const proto::Action* action = index.action(sent);
    return absl::StrCat(kind, " ", action != nullptr ? action->name() : "");
  }
  const proto::Edge* edge = index.edge(sent.program, sent.target);
  if (edge == nullptr) return kind;
  args->Add("edge", EdgeText(index, sent.program, sent.target));
  return absl::StrCat(kind, " ",
                      index.action(sent.program, edge->from())->name());
}

std::string HostName(const TraceLog& log, const TraceActor& actor) {
  if (actor.host < 0) return "controller";
  for (const TraceActor& other : log.actors) {
    if (other.role == TraceActor::kExecutor && other.host == actor.host) {
      return other.name;
    }
  }
  return absl::StrCat("host", actor.host);
}

}  // namespace pathways::trace
