//===- trace.h - Events in bounded memory -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Actors record events in the ring of their worker, with the time of their
// world, so the trace of a simulation is a function of its seed. An event
// contains only numbers; names come from the plans when a trace is read
// (chrome_trace.h, summary.h). Without tracing there is no ring: each hook then
// checks a null pointer and does not read the clock.
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

// Kinds of events. The comments say what the fields of a TraceEvent mean; other
// fields are 0, and numbers that do not fit saturate. Events with a duration
// have its beginning in `time` and its end in `value`, and are recorded at the
// end.
enum class TraceKind : uint8_t {
  kNone,

  // Events of a device, which always have program, target (an action) and
  // firing.

  // A gang on all its shards on the device; other: edge of its last token.
  kGang,
  // The head of the queue waited; other: edge of its last token.
  kWait,
  kKernel,  // one run of a gang with several steps; item: step
  // The time from a collective's arrival to its results; item: step.
  kCollective,
  // The part of kCollective until all members had arrived; item: step.
  kMeet,
  kMove,  // send, recv, feed, fetch; item: shard; other: as kGang

  // Events of a device without an action.

  // A launch reached the queue; firing: its first; value: end of its firings;
  // target, item: low and high bits of the number of its first step; other:
  // launch.
  kSubmitted,
  kDrained,  // the launch has ended on this device; other: launch

  // Events of a host's executor.

  // program, target, firing, item: WireKind; value: sequence; other: receiving
  // host.
  kSent,
  kReceived,     // firing: bytes; value: sequence; other: sending host
  kHostBytes,    // value: bytes in use
  kDeviceBytes,  // value: bytes in use of the device with actor `other`

  // Events of a scheduler, with program; value: launch.

  kJoined,   // the launch is known; firing: first; other: steps
  kGranted,  // the launch is granted; fields as for kJoined
  kDone,     // all hosts have ended the launch

  // Events of clients.

  kCall,      // target: TraceCall; other: launch, if any
  kRunEnded,  // other: launch

  // Event of the sender of a message between hosts, if the world knows its way.
  // time: sent; value: start on the wire; target: ns on the wire; firing: ns
  // from sending to arrival; item: bytes; program: low bits of the sequence, 0
  // for a control message; other: receiver.
  kCrossed,
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
  uint32_t actor : 24 = 0;  // actor of the event
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
  // Returns the time of recording.
  TimeNs end() const {
    return HasDuration() ? static_cast<TimeNs>(value) : time;
  }
};
static_assert(sizeof(TraceEvent) == 40);

// Returns the number of a launch's first step from a kSubmitted event.
inline uint64_t FirstStepOf(const TraceEvent& submitted) {
  return uint64_t{submitted.target} | uint64_t{submitted.item} << 32;
}
inline void SetFirstStep(uint64_t first_step, TraceEvent* submitted) {
  submitted->target = static_cast<uint32_t>(first_step);
  submitted->item = first_step >> 32;
}

// Returns a new event of `kind`; `actor` is IndexOf the actor's LocalId.
inline TraceEvent NewTraceEvent(TraceKind kind, uint32_t actor, TimeNs time) {
  TraceEvent event;
  event.kind = static_cast<uint32_t>(kind);
  event.actor = actor;
  event.time = time;
  return event;
}

// Ring of the last events of one worker. One thread records at a time; any
// thread may read meanwhile. Recording takes no lock and allocates nothing; a
// new event replaces the oldest.
class TraceRing {
 public:
  // Returns null if the system lacks memory for `capacity` events. `capacity`
  // must be a power of two.
  static std::unique_ptr<TraceRing> Create(World* world, uint64_t capacity);

  TimeNs Now() const { return world_->Now(); }

  void Record(const TraceEvent& event) {
    const uint64_t number = end_.load(std::memory_order_relaxed);
    // Readers must see that the old event is replaced before any of its words
    // change.
    begun_.store(number + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    const Words words = std::bit_cast<Words>(event);
    uint64_t* to = &slots_[(number & mask_) * kWords];
    for (int i = 0; i < kWords; ++i) {
      std::atomic_ref(to[i]).store(words[i], std::memory_order_relaxed);
    }
    end_.store(number + 1, std::memory_order_release);
  }

  // Appends the events in the ring, the oldest first. Returns the number of
  // older events that are lost.
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
  alignas(64) std::atomic<uint64_t> begun_{0};  // events whose write has begun
  std::atomic<uint64_t> end_{0};                // events that are complete
};

// Returns the number of a launch in events, where it has fewer bits. Launches
// of the first client keep their numbers.
inline uint32_t TraceLaunch(uint64_t launch) {
  return static_cast<uint32_t>(launch) ^ ClientOf(launch) << 24;
}

// Description of an actor, for names and tracks.
struct TraceActor {
  enum Role : uint8_t { kController, kScheduler, kExecutor, kDevice };
  Role role = kController;
  int island = -1;
  // Host of the cluster; -1 for the controller's place.
  int host = -1;
  int64_t device = -1;  // number in its island
  std::string name;     // "island0/host0/device1"
  uint32_t process = 0;
};

// Copy of the recorded events of all workers, complete from `begin` on.
struct TraceLog {
  std::vector<TraceEvent>
      events;            // sorted by time; ties by worker, then as recorded
  uint64_t dropped = 0;  // older events that are missing
  TimeNs begin = 0, end = 0;  // of the recording
  // Indexed by the events' actor numbers: IndexOf their LocalId in the log of
  // one process.
  std::vector<TraceActor> actors;
  // All programs ever loaded, by incarnation.
  std::map<uint32_t, std::shared_ptr<const proto::Plan>> programs;
  // Clocks by which the times of several processes were adjusted. The order of
  // events in two processes may be wrong by the sum of their errors.
  std::vector<ProcessClock> clocks;

  // Returns by how much an effect on `other` may seem earlier than its cause on
  // `actor`.
  TimeNs ClockError(uint32_t actor, uint32_t other) const;
};

// The rings of a world. Parts of rings that were never written use no memory.
class Trace {
 public:
  static constexpr int64_t kMaxEvents = int64_t{1} << 28;

  // Creates rings for at least the last `events` events of each worker. Returns
  // InvalidArgument unless `events` is 1 to kMaxEvents, and ResourceExhausted
  // if there is no memory.
  static absl::StatusOr<std::unique_ptr<Trace>> Create(World* world,
                                                       int64_t events);

  // Returns the ring of the worker on which an actor lives (Placement::worker).
  TraceRing* ring(int worker) const {
    return rings_[worker % rings_.size()].get();
  }
  TimeNs Now() const { return world_->Now(); }
  // Describes an actor. Call it before the first event.
  void AddActor(LocalId id, TraceActor actor);
  // Keeps `plan` for names. Any thread may call it; repeated calls do nothing.
  void AddProgram(uint32_t incarnation,
                  std::shared_ptr<const proto::Plan> plan);
  // Records an event of a thread that is no worker; takes a lock.
  void RecordOutside(const TraceEvent& event);

  // Returns a copy of all events. Any thread may call it while others record.
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
