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
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify.h"

namespace pathways {
namespace {

constexpr uint32_t kMaxActors = 1 << 24;  // limit of TraceEvent::actor
constexpr uint32_t kMostUntraced = 1 << 12;

// Code is not sent, so references to blobs are not checked.
constexpr uint64_t kAnyBlobs = std::numeric_limits<int64_t>::max();

// Limit of times, so that sums and differences of a few of them do not
// overflow.
constexpr TimeNs kMostTime = TimeNs{1} << 60;

bool IsTime(TimeNs ns) { return ns >= -kMostTime && ns <= kMostTime; }

// Returns true if an event of an action refers to one of its program, and to
// one of its steps or shards. Any event of an unknown program is accepted.
bool IsOfItsProgram(const TraceEvent& event, const TraceLog& log) {
  const auto found = log.programs.find(event.program);
  if (found == log.programs.end()) return true;
  const proto::Plan& plan = *found->second;
  if (event.target >= static_cast<uint32_t>(plan.actions_size())) return false;
  const proto::Action& action = plan.actions(static_cast<int>(event.target));
  switch (event.Kind()) {
    case TraceKind::kKernel:
    case TraceKind::kCollective:
    case TraceKind::kMeet:
      return event.item < static_cast<uint64_t>(action.steps_size());
    case TraceKind::kMove:
      return static_cast<int64_t>(event.item) <
             NumShards(plan.slices(static_cast<int>(action.slice())));
    default:
      return true;
  }
}

// Returns true if a process could have recorded the event.
bool IsEvent(const TraceEvent& event, const TraceLog& log) {
  if (!IsTime(event.time) || !IsTime(event.end()) || event.end() < event.time) {
    return false;
  }
  switch (event.Kind()) {
    case TraceKind::kGang:
    case TraceKind::kWait:
    case TraceKind::kKernel:
    case TraceKind::kCollective:
    case TraceKind::kMeet:
    case TraceKind::kMove:
      return IsOfItsProgram(event, log);
    case TraceKind::kCrossed:
      return IsTime(static_cast<TimeNs>(event.value)) &&
             static_cast<TimeNs>(event.value) >= event.time;
    case TraceKind::kHostBytes:
    case TraceKind::kDeviceBytes:
      return event.value <= kMaxBytes;
    default:
      return true;
  }
}

// Subtracts with wraparound: a process may report any time.
TimeNs Minus(TimeNs a, TimeNs b) {
  return static_cast<TimeNs>(static_cast<uint64_t>(a) -
                             static_cast<uint64_t>(b));
}

// Moves the times of an event back by `ns`.
void MoveBack(TraceEvent* event, TimeNs ns) {
  event->time = Minus(event->time, ns);
  if (event->HasDuration() || event->Kind() == TraceKind::kCrossed) {
    event->value -= static_cast<uint64_t>(ns);
  }
}

// Joins several logs into one.
class Joiner {
 public:
  Joiner(TraceLog* all, TimeNs since) : all_(*all), since_(since) {
    all_.actors.emplace_back();  // actor number 0 is nobody
  }

  absl::Status Add(ProcessLog* process) {
    TraceLog& log = process->log;
    const ProcessClock& clock = process->clock;
    // New numbers of its actors.
    std::vector<uint32_t> numbers(log.actors.size(), kNobodyTraced);
    for (size_t id = 0; id < log.actors.size(); ++id) {
      if (log.actors[id].name.empty()) continue;
      if (all_.actors.size() == kMaxActors) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the trace has more than ", kMaxActors - 1, " actors"));
      }
      numbers[id] = static_cast<uint32_t>(all_.actors.size());
      all_.actors.push_back(std::move(log.actors[id]));
      all_.actors.back().process = clock.process;
    }
    const auto number = [&](uint32_t id) {
      return id < numbers.size() ? numbers[id] : kNobodyTraced;
    };
    for (TraceEvent& event : log.events) {
      event.actor = number(event.actor);
      if (event.Kind() == TraceKind::kDeviceBytes ||
          event.Kind() == TraceKind::kCrossed) {
        event.other = number(event.other);
      }
      MoveBack(&event, clock.offset_ns);
      if (event.end() >= since_) all_.events.push_back(event);
    }
    const TimeNs begin = Minus(log.begin, clock.offset_ns);
    if (log.dropped > 0 && begin > since_) {
      begin_ = std::max(begin_, begin);
      all_.dropped += log.dropped;
    }
    all_.end = std::max(all_.end, Minus(log.end, clock.offset_ns));
    all_.programs.merge(log.programs);
    all_.clocks.push_back(clock);
    return absl::OkStatus();
  }

  absl::Status Finish(bool with_clocks) {
    absl::Status checked = Check();
    if (!checked.ok()) return checked;
    StartAtZero();
    if (!with_clocks) all_.clocks.clear();
    const auto kept = std::remove_if(
        all_.events.begin(), all_.events.end(),
        [&](const TraceEvent& event) { return event.end() < all_.begin; });
    all_.dropped += all_.events.end() - kept;
    all_.events.erase(kept, all_.events.end());
    std::stable_sort(all_.events.begin(), all_.events.end(),
                     [](const TraceEvent& a, const TraceEvent& b) {
                       return a.time < b.time;
                     });
    return absl::OkStatus();
  }

 private:
  // number of actors without names
  static constexpr uint32_t kNobodyTraced = 0;

  // Checks all events, after all programs were added: programs of one process
  // are those of all.
  absl::Status Check() const {
    uint64_t all_ns = 0;  // bounded, so that any sum of durations is a time
    bool is_fine = IsTime(all_.end) && (all_.dropped == 0 || IsBegin());
    for (const TraceEvent& event : all_.events) {
      is_fine = is_fine && IsEvent(event, all_);
      if (!is_fine) break;
      all_ns += static_cast<uint64_t>(event.end() - event.time);
      is_fine = all_ns <= uint64_t{1} << 62;
    }
    if (is_fine) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "a process sent a trace with impossible times or events");
  }
  bool IsBegin() const {
    return IsTime(begin_) || begin_ == std::numeric_limits<TimeNs>::min();
  }

  // Shifts times so that none is negative: other processes may have begun
  // before the local clock was 0.
  void StartAtZero() {
    TimeNs first = 0;
    for (const TraceEvent& event : all_.events) {
      first = std::min(first, event.time);
    }
    if (all_.dropped > 0)
      all_.begin = std::max<TimeNs>(0, Minus(begin_, first));
    if (first == 0) return;
    for (TraceEvent& event : all_.events) MoveBack(&event, first);
    all_.end = Minus(all_.end, first);
    for (ProcessClock& clock : all_.clocks) {
      clock.offset_ns = Minus(clock.offset_ns, Minus(0, first));
    }
  }

  TraceLog& all_;
  const TimeNs since_;
  // Time from which on all logs are complete; the minimum if no events are
  // missing.
  TimeNs begin_ = std::numeric_limits<TimeNs>::min();
};

}  // namespace

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
  absl::Status none = absl::InvalidArgumentError(
      "a process sent messages that are not a trace");
  if (messages.empty()) return none;
  TraceLog log;
  const proto::ProcessTrace& first = *messages.front();
  // An actor's number alone must not take memory: only a few actors of a
  // process may be untraced.
  const uint32_t most_actors = std::min<uint32_t>(
      kMaxActors, static_cast<uint32_t>(first.actors_size()) + kMostUntraced);
  log.dropped = first.dropped();
  log.begin = first.begin_ns();
  log.end = first.end_ns();
  for (const proto::TracedActor& actor : first.actors()) {
    if (actor.id() >= most_actors || actor.role() > TraceActor::kDevice) {
      return none;
    }
    if (actor.id() >= log.actors.size()) log.actors.resize(actor.id() + 1);
    log.actors[actor.id()] = {static_cast<TraceActor::Role>(actor.role()),
                              actor.island(),
                              actor.host(),
                              actor.device(),
                              actor.name(),
                              /*process=*/0};
  }
  for (const proto::TracedProgram& program : first.programs()) {
    if (!VerifyPlan(program.plan(), kAnyBlobs, {.max_issues = 1}).empty()) {
      return none;
    }
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

absl::StatusOr<TraceLog> JoinTraceLogs(std::vector<ProcessLog> logs,
                                       TimeNs since) {
  TraceLog all;
  Joiner joiner(&all, since);
  for (ProcessLog& log : logs) {
    absl::Status added = joiner.Add(&log);
    if (!added.ok()) return added;
  }
  absl::Status finished = joiner.Finish(/*with_clocks=*/logs.size() > 1);
  if (!finished.ok()) return finished;
  return all;
}

}  // namespace pathways
