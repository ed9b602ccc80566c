//===- trace_message.cc - A trace as messages, and back -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/trace_message.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pathways {

std::vector<proto::ProcessTrace> WriteTraceMessages(const TraceLog& log,
                                                    uint64_t most_bytes) {
  std::vector<proto::ProcessTrace> messages(1);
  proto::ProcessTrace& first = messages.front();
  first.set_dropped(log.dropped);
  first.set_begin_ns(log.begin);
  first.set_end_ns(log.end);
  for (uint32_t id = 0; id < log.actors.size(); ++id) {
    const TraceActor& actor = log.actors[id];
    if (actor.name.empty()) continue;
    proto::TracedActor* out = first.add_actors();
    out->set_id(id);
    out->set_role(actor.role);
    out->set_island(actor.island);
    out->set_host(actor.host);
    out->set_device(actor.device);
    out->set_name(actor.name);
  }
  for (const auto& [incarnation, plan] : log.programs) {
    proto::TracedProgram* out = first.add_programs();
    out->set_incarnation(incarnation);
    *out->mutable_plan() = *plan;
  }
  const size_t most = std::max<uint64_t>(1, most_bytes / sizeof(TraceEvent));
  for (size_t at = 0; at < log.events.size(); at += most) {
    if (at > 0) messages.emplace_back();
    const size_t count = std::min(most, log.events.size() - at);
    messages.back().set_events(&log.events[at], count * sizeof(TraceEvent));
  }
  return messages;
}

absl::StatusOr<TraceLog> ReadTraceMessages(
    const std::vector<const proto::ProcessTrace*>& messages) {
  constexpr uint32_t kMaxActors = 1 << 24;  // as TraceEvent::actor
  absl::Status none =
      absl::InvalidArgumentError("what a process sent is no trace");
  if (messages.empty()) return none;
  TraceLog log;
  const proto::ProcessTrace& first = *messages.front();
  log.dropped = first.dropped();
  log.begin = first.begin_ns();
  log.end = first.end_ns();
  for (const proto::TracedActor& actor : first.actors()) {
    if (actor.id() >= kMaxActors || actor.role() > TraceActor::kDevice) {
      return none;
    }
    if (actor.id() >= log.actors.size()) log.actors.resize(actor.id() + 1);
    log.actors[actor.id()] = {static_cast<TraceActor::Role>(actor.role()),
                              actor.island(), actor.host(), actor.device(),
                              actor.name()};
  }
  for (const proto::TracedProgram& program : first.programs()) {
    log.programs[program.incarnation()] =
        std::make_shared<const proto::Plan>(program.plan());
  }
  for (const proto::ProcessTrace* message : messages) {
    const std::string& bytes = message->events();
    if (bytes.size() % sizeof(TraceEvent) != 0) return none;
    const size_t at = log.events.size();
    log.events.resize(at + bytes.size() / sizeof(TraceEvent));
    if (!bytes.empty()) {
      std::memcpy(&log.events[at], bytes.data(), bytes.size());
    }
  }
  return log;
}

TraceLog JoinTraceLogs(std::vector<TraceLog> logs) {
  if (logs.empty()) return TraceLog();
  TraceLog all = std::move(logs.front());
  if (logs.size() == 1) return all;
  for (size_t i = 1; i < logs.size(); ++i) {
    TraceLog& log = logs[i];
    all.begin = std::max(all.begin, log.begin);
    all.end = std::max(all.end, log.end);
    all.dropped += log.dropped;
    all.events.insert(all.events.end(), log.events.begin(), log.events.end());
    all.programs.merge(log.programs);
    if (log.actors.size() > all.actors.size()) {
      all.actors.resize(log.actors.size());
    }
    for (size_t id = 0; id < log.actors.size(); ++id) {
      if (all.actors[id].name.empty()) {
        all.actors[id] = std::move(log.actors[id]);
      }
    }
  }
  const auto kept = std::remove_if(
      all.events.begin(), all.events.end(),
      [&](const TraceEvent& event) { return event.end() < all.begin; });
  all.dropped += all.events.end() - kept;
  all.events.erase(kept, all.events.end());
  std::stable_sort(
      all.events.begin(), all.events.end(),
      [](const TraceEvent& a, const TraceEvent& b) { return a.time < b.time; });
  return all;
}

}  // namespace pathways
