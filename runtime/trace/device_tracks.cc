//===- device_tracks.cc - Tracks of a device ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/device_tracks.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/layout/layout.h"
#include "runtime/plan/tables.h"
#include "runtime/trace/chrome_json.h"
#include "runtime/trace/event_text.h"

namespace pathways::trace {
namespace {

// Returns the slice of one step of a gang.
Slice StepSlice(const LogIndex& index, const TraceEvent& step) {
  Args args;
  args.Add("firing", step.firing);
  AddStepIndex(index, step, &args);
  args.Add("step", step.item);
  switch (step.Kind()) {
    case TraceKind::kMeet:
      return SliceOf(step, "wait", "wait: others", args);
    case TraceKind::kCollective:
      return SliceOf(step, "collective", StepName(index, step), args);
    default:
      return SliceOf(step, "kernel", StepName(index, step), args);
  }
}

// Returns launches from their submission to their end, or to the end of the
// log.
TrackRows Submitted(const LogIndex& index,
                    const std::vector<const TraceEvent*>& events) {
  std::map<std::pair<uint32_t, uint32_t>, TimeNs> drained;
  for (const TraceEvent* e : events) {
    if (e->Kind() != TraceKind::kDrained) continue;
    drained[{e->program, e->other}] = e->time;
  }
  TrackRows rows;
  for (const TraceEvent* e : events) {
    if (e->Kind() != TraceKind::kSubmitted) continue;
    auto end = drained.find({e->program, e->other});
    Args args;
    args.Add("launch", e->other);
    rows.Add(
        {Span(e->time, end == drained.end() ? index.log().end : end->second,
              "submit",
              absl::StrCat(index.ProgramName(e->program), ", steps ",
                           FirstStepOf(*e), " to ",
                           FirstStepOf(*e) + (e->value - e->firing) - 1),
              args.text()),
         {}});
  }
  return rows;
}

}  // namespace

void DeviceTracks::Add(const std::string& name,
                       const std::vector<const TraceEvent*>& events,
                       TrackGroup* group) {
  Track queue{name, {}}, moves{name + " transfers", {}};
  for (const TraceEvent* e : events) {
    switch (e->Kind()) {
      case TraceKind::kGang:
        queue.slices.push_back(GangSlice(*e));
        break;
      case TraceKind::kWait:
        queue.slices.push_back(
            SliceOf(*e, "wait", absl::StrCat("wait: ", ActionName(index_, *e)),
                    ActionArgs(&index_, *e)));
        break;
      case TraceKind::kKernel:
      case TraceKind::kCollective:
      case TraceKind::kMeet:
        queue.slices.push_back(StepSlice(index_, *e));
        break;
      case TraceKind::kMove:
        moves.slices.push_back(MoveSlice(*e));
        break;
      default:
        break;
    }
  }
  group->Add(std::move(queue));
  group->Add(std::move(moves));
  Submitted(index_, events).Place(name + " submitted", &group->tracks);
}

Slice DeviceTracks::GangSlice(const TraceEvent& gang) {
  Args args = ActionArgs(&index_, gang);
  if (const proto::Kernel* kernel = KernelOf(index_, gang); kernel != nullptr) {
    args.Add("kernel", kernel->name());
  }
  Slice slice = SliceOf(gang, "kernel", ActionName(index_, gang), args);
  if (const std::optional<uint64_t> flow = flows_.To(gang); flow.has_value()) {
    slice.flows.push_back({*flow, "grant", false});
  }
  return slice;
}

// Returns the slice of a send, recv, feed or fetch.
Slice DeviceTracks::MoveSlice(const TraceEvent& move) {
  const proto::Action* action = index_.action(move);
  Slice slice =
      SliceOf(move, action != nullptr ? ActionKindName(action->kind()) : "move",
              ActionName(index_, move), ActionArgs(&index_, move));
  if (action != nullptr) slice.flows = PieceFlows(move, *action);
  return slice;
}

std::vector<FlowEnd> DeviceTracks::PieceFlows(const TraceEvent& move,
                                              const proto::Action& action) {
  const bool is_send = action.kind() == proto::SEND;
  if (!is_send && action.kind() != proto::RECV) return {};
  const uint32_t send = is_send ? move.target : action.peer();
  const layout::Movement* movement = index_.movement(move.program, send);
  if (movement == nullptr) return {};
  const int64_t shard = static_cast<int64_t>(move.item);
  const proto::Action* peer = index_.action(move.program, action.peer());
  std::vector<FlowEnd> flows;
  int64_t last = -1;  // a shard may send several pieces to one other
  for (const layout::Piece& piece :
       is_send ? movement->PiecesFrom(shard) : movement->PiecesInto(shard)) {
    const int64_t other = is_send ? piece.destination : piece.source;
    if (other == last) continue;
    last = other;
    if (index_.DeviceOfShard(move.program, peer->slice(), other) ==
        move.actor) {
      continue;
    }
    uint64_t& flow =
        pieces_[{move.program, send, move.firing, is_send ? shard : other,
                 is_send ? other : shard}];
    if (flow == 0) flow = flows_.New();
    flows.push_back({flow, "piece", is_send});
  }
  return flows;
}

}  // namespace pathways::trace
