//===- trace.h - What happened when, in bounded memory ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Actors record events in the ring of their worker, with the time of their
// world, so that a simulation's trace is a function of its seed. An event holds
// numbers only; names come from the plans when a trace is read
// (chrome_trace.h, summary.h). Who does not trace has no ring: a null pointer
// is all that a hook looks at, and no time is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRACE_TRACE_H_
#define RUNTIME_TRACE_TRACE_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/protocol/client_id.h"
#include "runtime/trace/process_clock.h"
#include "runtime/world/world.h"

namespace pathways {

// What the fields of a TraceEvent mean, by kind; those not named are 0, numbers
// that do not fit are the largest that does. Of events with a duration, `time`
// is the beginning and `value` the end, and they are recorded at the end.
enum class TraceKind : uint8_t {
  kNone,
  // Of a device. program, target (an action) and firing are always there.
  kGang,        // a gang on all its shards there; other: edge of its last token
  kWait,        // the head of the queue waited; other: edge of its last token
  kKernel,      // one run of a gang with several steps; item: step
  kCollective,  // from a collective's arrival to its results; item: step
  kMeet,        // of that, until all had arrived; item: step
  kMove,        // send, recv, feed, fetch; item: shard; other: as of kGang
  // Without an action.
  kSubmitted,  // a launch reached the queue; firing: first; value: end;
               // target, item: low and high bits of the number of its first
               // step; other: launch
  kDrained,    // it is over on this device; other: launch
  // Of a host's executor.
  kSent,         // program, target, firing, item: WireKind; value: sequence;
                 // other: receiving host
  kReceived,     // firing: bytes; value: sequence; other: sending host
  kHostBytes,    // value: bytes in use
  kDeviceBytes,  // the same of the device whose actor is `other`
  // Of a scheduler. program, value: launch.
  kJoined,   // the launch is known; firing: first; other: steps
  kGranted,  // likewise
  kDone,     // all hosts are done with it
  // Of clients. target: TraceCall; other: launch, if any.
  kCall,
  kRunEnded,  // other: launch
  // Of the sender of a message between hosts, where the world knows its way.
  kCrossed,  // time: sent; value: the wire takes it; target: ns of the wire;
             // firing: ns from sending to arrival; item: bytes; program: low
             // bits of the sequence, 0: a control message; other: receiver
};

enum class TraceCall : uint32_t { kLoad, kLaunch, kAwait, kFetch };

inline constexpr uint32_t kNoTraceEdge = UINT32_MAX;
inline constexpr uint32_t kNoTraceActor = UINT32_MAX;

struct TraceEvent {
  TimeNs time = 0;
  uint64_t value = 0;
  uint64_t firing : 40 = 0;
  uint64_t item : 24 = 0;
  uint32_t program = 0;  // incarnation
  uint32_t target = 0;
  uint32_t actor : 24 = 0;  // whose event it is
  uint32_t kind : 7 = 0;
  uint32_t poisoned : 1 = 0;
  uint32_t other = 0;

  TraceKind Kind() const { return static_cast<TraceKind>(kind); }
  bool HasDuration() const {
    switch (Kind()) {
      case TraceKind::kGang:
      case TraceKind::kWait:
      case TraceKind::kKernel:
      case TraceKind::kCollective:
      case TraceKind::kMeet:
      case TraceKind::kMove:
      case TraceKind::kCall:
        return true;
      default:
        return false;
    }
  }
  // When it was recorded.
  TimeNs end() const {
    return HasDuration() ? static_cast<TimeNs>(value) : time;
  }
};
static_assert(sizeof(TraceEvent) == 40);

// The number of a launch's first step in a kSubmitted.
inline uint64_t FirstStepOf(const TraceEvent& submitted) {
  return uint64_t{submitted.target} | uint64_t{submitted.item} << 32;
}
inline void SetFirstStep(uint64_t first_step, TraceEvent* submitted) {
  submitted->target = static_cast<uint32_t>(first_step);
  submitted->item = first_step >> 32;
}

// A new event of `kind`; `actor` is IndexOf the actor's LocalId.
inline TraceEvent NewTraceEvent(TraceKind kind, uint32_t actor, TimeNs time) {
  TraceEvent event;
  event.kind = static_cast<uint32_t>(kind);
  event.actor = actor;
  event.time = time;
  return event;
}

// The last events of one worker. One thread records, at most one at a time; any
// thread may read meanwhile. Recording takes no lock and allocates nothing; a
// new event replaces the oldest.
class TraceRing {
 public:
  // Null when the system has no memory for `capacity` events, a power of two.
  static std::unique_ptr<TraceRing> Create(World* world, uint64_t capacity);

  TimeNs Now() const { return world_->Now(); }

  void Record(const TraceEvent& event) {
    const uint64_t number = end_.load(std::memory_order_relaxed);
    // Readers see that the old event goes before any word of it changes.
    begun_.store(number + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    const Words words = std::bit_cast<Words>(event);
    uint64_t* to = &slots_[(number & mask_) * kWords];
    for (int i = 0; i < kWords; ++i) {
      std::atomic_ref(to[i]).store(words[i], std::memory_order_relaxed);
    }
    end_.store(number + 1, std::memory_order_release);
  }

  // Appends what is held, oldest first; returns how many older events are gone.
  uint64_t Read(std::vector<TraceEvent>* events) const;

 private:
  static constexpr int kWords = sizeof(TraceEvent) / sizeof(uint64_t);
  using Words = std::array<uint64_t, kWords>;
  struct Free {
    void operator()(uint64_t* slots) const { std::free(slots); }
  };

  TraceRing(World* world, uint64_t capacity, uint64_t* slots)
      : world_(world), mask_(capacity - 1), slots_(slots) {}

  World* const world_;
  const uint64_t mask_;
  const std::unique_ptr<uint64_t[], Free> slots_;
  alignas(64) std::atomic<uint64_t> begun_{0};  // events that were begun
  std::atomic<uint64_t> end_{0};                // events that are complete
};

// What events say of a launch: its number there is not as wide. Launches of
// the first client have their own numbers.
inline uint32_t TraceLaunch(uint64_t launch) {
  return static_cast<uint32_t>(launch) ^ ClientOf(launch) << 24;
}

// Who an actor is, for names and tracks.
struct TraceActor {
  enum Role : uint8_t { kController, kScheduler, kExecutor, kDevice };
  Role role = kController;
  int island = -1;
  int host = -1;        // of the cluster; -1: the controller's own
  int64_t device = -1;  // in its island
  std::string name;     // "island0/host0/device1"
  uint32_t process = 0;
};

// A copy of what was recorded: of all workers, everything since `begin`.
struct TraceLog {
  std::vector<TraceEvent> events;  // by time; ties as recorded, by worker
  uint64_t dropped = 0;            // older ones that are not there
  TimeNs begin = 0, end = 0;       // of the recording
  // By the events' numbers: of one process, IndexOf their LocalId.
  std::vector<TraceActor> actors;
  // By incarnation; of all programs ever loaded.
  std::map<uint32_t, std::shared_ptr<const proto::Plan>> programs;
  // Of several processes: the clock of each, which was set by that. Times of
  // two of them may seem to be in the wrong order by the sum of their errors.
  std::vector<ProcessClock> clocks;

  // How much earlier than a cause with `actor` its effect with `other` may
  // seem.
  TimeNs ClockError(uint32_t actor, uint32_t other) const;
};

// The rings of a world. Memory that was never recorded to is not used.
class Trace {
 public:
  static constexpr int64_t kMaxEvents = int64_t{1} << 28;

  // Keeps at least the last `events` of each worker. InvalidArgument: not 1 to
  // kMaxEvents; ResourceExhausted: no memory.
  static absl::StatusOr<std::unique_ptr<Trace>> Create(World* world,
                                                       int64_t events);

  // The ring of the worker on which an actor lives (Placement::worker).
  TraceRing* ring(int worker) const {
    return rings_[worker % rings_.size()].get();
  }
  TimeNs Now() const { return world_->Now(); }
  // Before the first event.
  void AddActor(LocalId id, TraceActor actor);
  // Keeps `plan`, for names. Any thread; a second time does nothing.
  void AddProgram(uint32_t incarnation,
                  std::shared_ptr<const proto::Plan> plan);
  // For threads that are no workers: takes a lock.
  void RecordOutside(const TraceEvent& event);

  // Any thread, also while others record.
  TraceLog Read() const;

 private:
  explicit Trace(World* world) : world_(world) {}

  World* const world_;
  std::vector<std::unique_ptr<TraceRing>> rings_;  // by worker
  std::vector<TraceActor> actors_;
  mutable Mutex mutex_;
  std::unique_ptr<TraceRing> outside_ ABSL_PT_GUARDED_BY(mutex_);
  std::map<uint32_t, std::shared_ptr<const proto::Plan>> programs_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRACE_TRACE_H_
