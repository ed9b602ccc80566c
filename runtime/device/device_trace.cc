//===- device_trace.cc - Trace hooks of a device --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/device_trace.h"

#include <algorithm>

namespace pathways {
namespace {

// Returns the edge of the last token of `count` entries, or no edge if they
// waited for no token.
uint32_t LastEdge(const DeviceProgram& program, uint32_t entry, uint32_t count,
                  uint64_t firing) {
  DeviceProgram::LastToken last;
  for (uint32_t i = entry; i < entry + count; ++i) {
    if (program.entries[i].need == 0) continue;
    const DeviceProgram::LastToken& token =
        program.last_tokens[program.EntryAt(i, firing)];
    if (token.order > last.order) last = token;
  }
  return last.edge;
}

void AddTime(const TraceEvent& event, Counter* to) {
  to->Add(event.value - static_cast<uint64_t>(event.time));
}

}  // namespace

TraceEvent DeviceTrace::New(TraceKind kind, const DeviceProgram& program,
                            uint32_t action, uint64_t firing,
                            TimeNs begin) const {
  TraceEvent event = NewTraceEvent(kind, device_, begin);
  event.program = program.incarnation;
  event.target = action;
  event.firing = firing;
  event.value = static_cast<uint64_t>(ring_->Now());
  event.other = kNoTraceEdge;
  return event;
}

void DeviceTrace::MakeLastTokens(DeviceProgram* program) {
  program->last_tokens.resize(program->entries.size() * program->window);
}

void DeviceTrace::RecordSubmitted(const DeviceProgram& program,
                                  const HostLaunch& launch) {
  TraceEvent event =
      NewTraceEvent(TraceKind::kSubmitted, device_, ring_->Now());
  event.program = program.incarnation;
  event.firing = launch.first;
  event.value = launch.end;
  SetFirstStep(launch.first_step, &event);
  event.other = TraceLaunch(launch.id);
  ring_->Record(event);
}

void DeviceTrace::RecordDrained(const DeviceProgram& program, uint64_t launch) {
  TraceEvent event = NewTraceEvent(TraceKind::kDrained, device_, ring_->Now());
  event.program = program.incarnation;
  event.other = TraceLaunch(launch);
  ring_->Record(event);
}

void DeviceTrace::KeepLastToken(DeviceProgram* program, uint64_t at,
                                uint32_t in_edge) {
  program->last_tokens[at] = {++last_order_, program->in_edges[in_edge].edge};
}

void DeviceTrace::KeepLastEnqueued(DeviceProgram* program, uint64_t at) {
  program->last_tokens[at] = {++last_order_, kNoTraceEdge};
}

void DeviceTrace::BeginWait() {
  if (wait_begin_ == kNever) wait_begin_ = ring_->Now();
}

void DeviceTrace::BeginHead(const DeviceProgram& program, const Gang& gang,
                            uint64_t firing) {
  last_edge_ = LastEdge(program, gang.first_entry, gang.shards, firing);
  if (wait_begin_ == kNever) {
    head_begin_ = ring_->Now();
    return;
  }
  TraceEvent event =
      New(TraceKind::kWait, program, gang.action, firing, wait_begin_);
  event.other = last_edge_;
  ring_->Record(event);
  AddTime(event, &times_.heads);
  head_begin_ = static_cast<TimeNs>(event.value);
  wait_begin_ = kNever;
}

void DeviceTrace::RecordHead(const DeviceProgram& program, const Gang& gang,
                             uint64_t firing, const uint8_t* poison) {
  TraceEvent event =
      New(TraceKind::kGang, program, gang.action, firing, head_begin_);
  event.other = last_edge_;
  event.poisoned =
      std::find(poison, poison + gang.shards, 1) != poison + gang.shards;
  ring_->Record(event);
  AddTime(event, &times_.gangs);
  if (times_.last_end.get() == 0) {
    first_firing_ = firing;
    times_.first_begin.Set(static_cast<uint64_t>(event.time));
  }
  if (firing == first_firing_) times_.first_end.Set(event.value);
  times_.last_end.Set(event.value);
}

void DeviceTrace::RecordStep(TraceKind kind, const DeviceProgram& program,
                             const Gang& gang, uint64_t firing, uint32_t step) {
  TraceEvent event = New(kind, program, gang.action, firing, step_begin_);
  event.item = step;
  ring_->Record(event);
  if (kind == TraceKind::kMeet) AddTime(event, &times_.meets);
}

void DeviceTrace::RecordMove(const DeviceProgram& program, uint32_t entry,
                             uint64_t firing, bool poisoned) {
  const Entry& e = program.entries[entry];
  TraceEvent event =
      New(TraceKind::kMove, program, e.action, firing, move_begin_);
  event.item = e.shard;
  event.other = LastEdge(program, entry, 1, firing);
  event.poisoned = poisoned;
  ring_->Record(event);
  AddTime(event, &times_.moves);
}

}  // namespace pathways
