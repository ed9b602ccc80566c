//===- trace.cc - Events in bounded memory --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {

std::unique_ptr<TraceRing> TraceRing::Create(World* world, uint64_t capacity) {
  // The system provides zeroed pages when they are first written.
  void* slots = std::calloc(capacity, sizeof(TraceEvent));
  if (slots == nullptr) return nullptr;
  return std::unique_ptr<TraceRing>(
      new TraceRing(world, capacity, static_cast<uint64_t*>(slots)));
}

uint64_t TraceRing::Read(std::vector<TraceEvent>* events) const {
  const uint64_t capacity = mask_ + 1;
  const uint64_t end = end_.load(std::memory_order_acquire);
  uint64_t first = end > capacity ? end - capacity : 0;
  const size_t at = events->size();
  for (uint64_t number = first; number < end; ++number) {
    uint64_t* from = &slots_[(number & mask_) * kWords];
    Words words;
    for (int i = 0; i < kWords; ++i) {
      words[i] = std::atomic_ref(from[i]).load(std::memory_order_relaxed);
    }
    events->push_back(std::bit_cast<TraceEvent>(words));
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  // Events whose write began meanwhile replaced the oldest ones, perhaps while
  // these were read; drop those.
  const uint64_t begun = begun_.load(std::memory_order_relaxed);
  const uint64_t intact = begun > capacity ? begun - capacity : 0;
  if (intact > first) {
    const uint64_t torn = std::min(intact, end) - first;
    events->erase(events->begin() + at, events->begin() + at + torn);
    first += torn;
  }
  return first;
}

absl::StatusOr<std::unique_ptr<Trace>> Trace::Create(World* world,
                                                     int64_t events) {
  if (events < 1 || events > kMaxEvents) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the trace keeps ", events, " events, expected 1 to ", kMaxEvents));
  }
  const uint64_t capacity = std::bit_ceil(static_cast<uint64_t>(events));
  std::unique_ptr<Trace> trace(new Trace(world));
  for (int i = 0; i <= world->num_workers(); ++i) {
    std::unique_ptr<TraceRing> ring = TraceRing::Create(world, capacity);
    if (ring == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the system has no memory for a trace of ", capacity,
          " events for each of ", world->num_workers(), " workers"));
    }
    if (i < world->num_workers()) {
      trace->rings_.push_back(std::move(ring));
    } else {
      trace->outside_ = std::move(ring);
    }
  }
  return trace;
}

TimeNs TraceLog::ClockError(uint32_t actor, uint32_t other) const {
  if (clocks.empty() || actor >= actors.size() || other >= actors.size() ||
      actors[actor].process == actors[other].process) {
    return 0;
  }
  TimeNs error = 0;
  for (const ProcessClock& clock : clocks) {
    if (clock.process == actors[actor].process ||
        clock.process == actors[other].process) {
      error += clock.error_ns;
    }
  }
  return error;
}

void Trace::AddActor(LocalId id, TraceActor actor) {
  if (IndexOf(id) >= actors_.size()) actors_.resize(IndexOf(id) + 1);
  actors_[IndexOf(id)] = std::move(actor);
}

void Trace::AddProgram(uint32_t incarnation,
                       std::shared_ptr<const proto::Plan> plan) {
  MutexLock lock(&mutex_);
  programs_.try_emplace(incarnation, std::move(plan));
}

void Trace::RecordOutside(const TraceEvent& event) {
  MutexLock lock(&mutex_);
  outside_->Record(event);
}

TraceLog Trace::Read() const {
  TraceLog log;
  log.actors = actors_;
  log.end = world_->Now();
  auto add = [&](const TraceRing& ring) {
    const size_t first = log.events.size();
    const uint64_t dropped = ring.Read(&log.events);
    log.dropped += dropped;
    if (dropped > 0 && first < log.events.size()) {
      log.begin = std::max(log.begin, log.events[first].end());
    }
  };
  for (const auto& ring : rings_) add(*ring);
  {
    MutexLock lock(&mutex_);
    add(*outside_);
    log.programs = programs_;
  }
  // Before `begin` the events of some worker are missing, so the log is
  // incomplete.
  const auto kept = std::remove_if(
      log.events.begin(), log.events.end(),
      [&](const TraceEvent& event) { return event.end() < log.begin; });
  log.dropped += log.events.end() - kept;
  log.events.erase(kept, log.events.end());
  std::stable_sort(
      log.events.begin(), log.events.end(),
      [](const TraceEvent& a, const TraceEvent& b) { return a.time < b.time; });
  return log;
}

}  // namespace pathways
