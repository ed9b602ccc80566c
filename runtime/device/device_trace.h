//===- device_trace.h - Trace hooks of a device -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each hook costs one branch if there is no trace ring.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_DEVICE_TRACE_H_
#define RUNTIME_DEVICE_DEVICE_TRACE_H_

#include <cstdint>
#include <utility>

#include "runtime/device/counters.h"
#include "runtime/program/host_program.h"
#include "runtime/trace/trace.h"

namespace pathways {

// Owned by a device, and used by it alone. Calls follow the events of its
// queue.
class DeviceTrace {
 public:
  // Must be called before the world starts.
  void Start(TraceRing* ring, LocalId device) {
    ring_ = ring;
    device_ = IndexOf(device);
  }
  bool is_on() const { return ring_ != nullptr; }
  // All zero if tracing is off. Any thread may read it.
  const DeviceTimes& times() const { return times_; }

  void Attach(DeviceProgram* program) {
    if (is_on()) [[unlikely]]
      MakeLastTokens(program);
  }
  // The head of the queue was removed.
  void DetachHead() {
    wait_begin_ = kNever;
    meeting_waits_ = false;
  }

  void Submitted(const DeviceProgram& program, const HostLaunch& launch) {
    if (is_on()) [[unlikely]]
      RecordSubmitted(program, launch);
  }
  void Drained(const DeviceProgram& program, uint64_t launch) {
    if (is_on()) [[unlikely]]
      RecordDrained(program, launch);
  }

  // The last token of an entry's firing, counted at `at`, came along an edge.
  void LastToken(DeviceProgram* program, uint64_t at, uint32_t in_edge) {
    if (is_on()) [[unlikely]]
      KeepLastToken(program, at, in_edge);
  }

  // The last token of an entry's firing was the host's own.
  void LastEnqueued(DeviceProgram* program, uint64_t at) {
    if (is_on()) [[unlikely]]
      KeepLastEnqueued(program, at);
  }

  // The head of the queue waits for tokens, begins, or ends. `poison`: by its
  // shards.
  void HeadWaits() {
    if (is_on()) [[unlikely]]
      BeginWait();
  }
  void HeadBegins(const DeviceProgram& program, const Gang& gang,
                  uint64_t firing) {
    if (is_on()) [[unlikely]]
      BeginHead(program, gang, firing);
  }
  void HeadEnds(const DeviceProgram& program, const Gang& gang, uint64_t firing,
                const uint8_t* poison) {
    if (is_on()) [[unlikely]]
      RecordHead(program, gang, firing, poison);
  }

  // Called around a run step of the head, only if is_on().
  void KernelBegins() { step_begin_ = ring_->Now(); }
  void KernelEnds(const DeviceProgram& program, const Gang& gang,
                  uint64_t firing, uint32_t step) {
    RecordStep(TraceKind::kKernel, program, gang, firing, step);
  }

  // Phases of a collective of the head: the device's shards arrive; some other
  // members have not arrived; all have arrived; results are there.
  void MeetingBegins() {
    if (is_on()) [[unlikely]]
      step_begin_ = ring_->Now();
  }
  void MeetingWaits() { meeting_waits_ = true; }
  void MeetingEnds(const DeviceProgram& program, const Gang& gang,
                   uint64_t firing, uint32_t step) {
    const bool waited = std::exchange(meeting_waits_, false);
    if (waited && is_on()) [[unlikely]] {
      RecordStep(TraceKind::kMeet, program, gang, firing, step);
    }
  }
  void CollectiveEnds(const DeviceProgram& program, const Gang& gang,
                      uint64_t firing, uint32_t step) {
    if (is_on()) [[unlikely]] {
      RecordStep(TraceKind::kCollective, program, gang, firing, step);
    }
  }

  // A send, recv, feed or fetch begins or ends.
  void MoveBegins() {
    if (is_on()) [[unlikely]]
      move_begin_ = ring_->Now();
  }
  void MoveEnds(const DeviceProgram& program, uint32_t entry, uint64_t firing,
                bool poisoned) {
    if (is_on()) [[unlikely]]
      RecordMove(program, entry, firing, poisoned);
  }

 private:
  static constexpr TimeNs kNever = -1;

  // These require a ring.
  void MakeLastTokens(DeviceProgram* program);
  void RecordSubmitted(const DeviceProgram& program, const HostLaunch& launch);
  void RecordDrained(const DeviceProgram& program, uint64_t launch);
  void KeepLastToken(DeviceProgram* program, uint64_t at, uint32_t in_edge);
  void KeepLastEnqueued(DeviceProgram* program, uint64_t at);
  void BeginWait();
  void BeginHead(const DeviceProgram& program, const Gang& gang,
                 uint64_t firing);
  void RecordHead(const DeviceProgram& program, const Gang& gang,
                  uint64_t firing, const uint8_t* poison);
  void RecordStep(TraceKind kind, const DeviceProgram& program,
                  const Gang& gang, uint64_t firing, uint32_t step);
  void RecordMove(const DeviceProgram& program, uint32_t entry, uint64_t firing,
                  bool poisoned);
  // Returns an event from `begin` to now.
  TraceEvent New(TraceKind kind, const DeviceProgram& program, uint32_t action,
                 uint64_t firing, TimeNs begin) const;

  TraceRing* ring_ = nullptr;
  DeviceTimes times_;
  uint32_t device_ = kNoTraceActor;
  uint32_t last_edge_ = kNoTraceEdge;  // edge of the head's last token
  bool meeting_waits_ = false;
  uint64_t last_order_ = 0;    // number of the last token
  uint64_t first_firing_ = 0;  // of the first gang
  TimeNs wait_begin_ = kNever, head_begin_ = 0, step_begin_ = 0,
         move_begin_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_DEVICE_TRACE_H_
