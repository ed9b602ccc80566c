//===- entry_runner.h - Tokens and firings of entries -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each entry of a device counts the tokens that its next firings need. A gang
// takes its turn in the device's queue, which calls Fire. Sends, receives,
// feeds and fetches are not queued: they run once their tokens have come and
// their firing is granted. The firing then passes its own tokens on: within the
// cohort by a call, and elsewhere by a message or a record.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_ENTRY_RUNNER_H_
#define RUNTIME_DEVICE_ENTRY_RUNNER_H_

#include <cstddef>
#include <cstdint>

#include "runtime/base/ring.h"
#include "runtime/device/cohort.h"
#include "runtime/device/counters.h"
#include "runtime/device/device_sender.h"
#include "runtime/device/device_trace.h"
#include "runtime/device/device_work.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/host_program.h"

namespace pathways {

// Owned by a device, and used by it and its cohort.
class EntryRunner {
 public:
  // Makes the runner of device `index` of its host. Does not own what the
  // pointers point to, which are the cohort and other objects of the device.
  EntryRunner(uint32_t index, const HostActors* actors, Cohort* cohort,
              DeviceWork* work, DeviceSender* sender, DeviceTrace* trace,
              DeviceCounters* counters)
      : index_(index),
        cohort_(*cohort),
        work_(*work),
        sender_(*sender),
        trace_(*trace),
        counters_(*counters),
        actors_(*actors) {}

  // Makes room for as many entries as all programs have together.
  void Reserve(size_t entries) { ready_.Reserve(entries); }
  // Forgets the entries of a program that is being detached.
  void Remove(const DeviceProgram* program) {
    ready_.RemoveIf([&](Ready ready) { return ready.program == program; });
  }

  // Delivers one token for firing `firing` of an entry.
  void Deliver(DeviceProgram* program, uint32_t in_edge, uint64_t firing,
               bool poison);
  // Handles kTokenBatch, for all devices that it concerns.
  void DeliverRecord(const LocalMessage& message);
  // Handles kEnqueue: delivers the host's token to each shard of an action.
  void Enqueue(DeviceProgram* program, const LocalMessage& message);
  // Queues an entry that may fire. Does nothing for a gang, whose turn is its
  // place in the device's queue.
  void PushIfReady(DeviceProgram* program, uint32_t index) {
    const Entry& entry = program->entries[index];
    if (entry.queued || entry.next >= program->granted) return;
    PushIfFree(program, index);
  }
  // Runs the entry that has been ready for longest. Returns false if there is
  // none.
  bool RunNext() {
    if (ready_.empty()) return false;
    const Ready ready = ready_.front();
    ready_.Pop();
    Run(ready.program, ready.entry);
    return true;
  }
  // Ends the work of an entry: it fires.
  void Finish(DeviceProgram* program, uint32_t index);
  // Handles the return of a piece that was read in place.
  void PieceReturned(DeviceProgram* program, uint32_t index, uint64_t firing);
  // Fires an entry: frees its slot and passes its tokens.
  void Fire(DeviceProgram* program, uint32_t index, uint64_t firing,
            bool poison);
  // Counts `count` firings of entries, and ends the grant here after the last
  // of them.
  void CountFirings(DeviceProgram* program, uint64_t firing, uint64_t count);
  // Ends a grant on this device.
  void EndGrant(const DeviceProgram& program, HostGrant* grant);
  // Sends the cohort's records to the executor.
  void SendRecords(RecordBatch* batch);

 private:
  struct Ready {
    DeviceProgram* program;
    uint32_t entry;
  };

  // Queues a granted entry if no token is missing.
  void PushIfFree(DeviceProgram* program, uint32_t index);
  void Run(DeviceProgram* program, uint32_t index);
  void PassTokens(DeviceProgram* program, uint32_t index, uint64_t firing,
                  bool poison);
  // Returns true if the piece is copied from its source directly into a record.
  bool IsLane(const PieceOut& piece) const {
    return piece.member_offset >= 0 && work_.cpu() != nullptr;
  }
  void MovePieces(const DeviceProgram& program, const SendOp& op,
                  uint64_t firing);
  // Sends the pieces of a firing. Returns how many of them are read in place.
  uint32_t SendPieces(DeviceProgram* program, const Entry& entry,
                      uint64_t firing, bool poison);
  // Returns true if the piece is read in place.
  bool ForwardPiece(const DeviceProgram& program, const PieceOut& piece,
                    uint32_t source, uint64_t firing, bool poison,
                    bool skipped);
  // Adds a token or a piece for another process to a record; `kind` is that of
  // the record.
  void AddLane(const DeviceProgram& program, const OutToken& token,
               WireKind kind, uint32_t source, uint64_t firing, bool poison,
               const void* data, uint64_t bytes);

  // Sends, receives, feeds and fetches that wait for nothing more, in the order
  // in which they became ready. No entry is in it twice, so that it never grows
  // beyond what was reserved.
  Ring<Ready> ready_;
  const uint32_t index_;
  Cohort& cohort_;
  DeviceWork& work_;
  DeviceSender& sender_;
  DeviceTrace& trace_;
  DeviceCounters& counters_;
  const HostActors& actors_;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_ENTRY_RUNNER_H_
