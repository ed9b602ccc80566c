//===- protocol.h - Hot messages of the runtime -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the fields of a Message mean, by kind. docs/protocol.md says who sends
// each one, and why every handler may be called twice. All carry `program` and
// `incarnation`; those of an incarnation that is not loaded are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_PROTOCOL_H_
#define RUNTIME_EXECUTOR_PROTOCOL_H_

#include <cstdint>
#include <vector>

#include "runtime/world/world.h"

namespace pathways {

enum MessageKind : uint16_t {
  // Executor to executor, over a link; `sequence` numbers them per direction.
  kTokenMessage = 1,  // step: firing of the target; target: edge; shard
  kPieceMessage,      // the same of a send's data edge, with item: source
                      // shard, and the piece, dense, as payload
  kAllMessage,        // step: firing of the source; target: edge; item: how
                      // many of its shards have fired
  kPartMessage,       // step; target: action; item: its step; shard: rank 0 of
                      // the group; payload: the host's contributions
  kEnqueuedMessage,   // step: firing of a send that was enqueued; target: its
                      // data edge

  // Inside a host: between devices, or between a device and its executor.
  kLocalToken,    // step: firing of the target; target: in-edge entry
  kForwardToken,  // kTokenMessage for host `extra`
  kForwardPiece,  // kPieceMessage for host `extra`
  kAllFired,      // step: firing of the source; target: edge
  kArrive,        // step; target: group, with members elsewhere; item: device
  kGroupDone,     // step; target: group; to one device of a cohort, item:
                  // which of the group's
  kFailed,        // step; target: action; shard; item: gang step; extra: code
  kDeviceDone,    // extra: launch; from the last device of a cohort
  kAttach,        // payload: the DeviceProgram
  kAttached,      // item: device
  kDetach,
  kDetached,     // item: device
  kGrantDevice,  // payload: the HostLaunch; to one device of a cohort
  kInspect,      // payload: the DeviceReport to fill
  kInspected,    // item: device
  kEnqueue,      // step; target: action, which is prepared
  kActionFired,  // step; target: action; one shard of it

  // An actor to itself.
  kCostDone,      // a gang's virtual time is over
  kContinue,      // go on, after others had their turn
  kStallTick,     // the controller's timer
  kHostWorkDone,  // target: item of the program's DispatchTable
  kNumMessageKinds
};

// Flags of a message; those of the world (world.h) are in the high bits.
inline constexpr uint16_t kPoisoned = 1;

// For messages and statistics: "token", "piece", ...
const char* MessageKindName(int kind);

// Who is where. Filled before the world starts, never changed.
struct Directory {
  ActorId controller = kNoActor;
  std::vector<ActorId> schedulers;            // per island
  std::vector<ActorId> executors;             // per host of the cluster
  std::vector<std::vector<ActorId>> devices;  // per host, per device
  std::vector<int32_t> host_of;               // per actor; -1: none
  // Per host, per device: devices of one number share a worker (cohort.h).
  std::vector<std::vector<uint32_t>> cohorts;
};

// Numbers of the messages seen from one sender, to drop second copies. Numbers
// start at 1 and may come in any order; one that is kWindow behind the largest
// counts as seen.
class SequenceWindow {
 public:
  static constexpr uint64_t kWindow = 8192;
  // Whether `sequence` is new; remembers it.
  bool Accept(uint64_t sequence) {
    if (bits_.empty()) bits_.resize(kWindow / 64);
    if (sequence == 0) return false;
    if (sequence > top_) {
      const uint64_t gap = sequence - top_;
      if (gap >= kWindow) {
        bits_.assign(kWindow / 64, 0);
      } else {
        for (uint64_t s = top_ + 1; s <= sequence; ++s) {
          bits_[(s % kWindow) / 64] &= ~(uint64_t{1} << (s % 64));
        }
      }
      top_ = sequence;
    } else if (top_ - sequence >= kWindow) {
      return false;
    }
    uint64_t& word = bits_[(sequence % kWindow) / 64];
    const uint64_t bit = uint64_t{1} << (sequence % 64);
    if (word & bit) return false;
    word |= bit;
    return true;
  }

 private:
  uint64_t top_ = 0;
  std::vector<uint64_t> bits_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_PROTOCOL_H_
