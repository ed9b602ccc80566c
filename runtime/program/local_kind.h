//===- local_kind.h - Hot messages inside a host ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Meanings of the fields of a LocalMessage, by kind;
// runtime/protocol/wire_kind.h has those of messages between hosts. All carry
// `program` and `incarnation`. Messages of an incarnation that is not loaded
// are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_LOCAL_KIND_H_
#define RUNTIME_PROGRAM_LOCAL_KIND_H_

#include <cstdint>

#include "runtime/protocol/wire_kind.h"

namespace pathways {

// Numbered after WireKind, so that statistics count both in one table.
enum LocalKind : uint16_t {
  // Inside a host: between devices, or between a device and its executor.
  kLocalToken =
      kNumWireKinds,  // step: firing of the target; target: in-edge entry
  kForwardToken,      // kTokenMessage for host `extra`
  kForwardPiece,      // kPieceMessage for host `extra`; item: source shard
  // From a cohort; payload: the RecordBatch, for its hosts.
  kForwardRecords,
  // step; payload: the TokenBatch; to one device of a cohort.
  kTokenBatch,
  kAllFired,  // step: firing of the source; target: edge
  // step; target: group with members on other hosts; from the last device of
  // this host.
  kArrive,
  // step; target: group, whose members have all arrived or have done their
  // share; item: index of the cohort in the group; to one device of that
  // cohort.
  kGroupDone,
  // extra: position of the grant; from a cohort's last device.
  kDeviceDone,
  kAttach,    // payload: the DeviceProgram
  kAttached,  // item: device
  kDetach,
  kDetached,        // item: device
  kGrantDevice,     // payload: the HostGrant; to one device of a cohort
  kArgumentFilled,  // sent to one device of a cohort
  // From the world to the executor, when the world has finished with the
  // payload of a message to another host (kPayloadReturned) or from one
  // (kPayloadLanded); see Lend and OnOffer in world.h. For a piece that a
  // device lent in place (kInPlace), kPayloadReturned also goes to that device.
  // target: its entry; step; item: the device.
  kPayloadReturned,
  // target, shard, item, step: those of the message; payload, payload_bytes:
  // where it was placed; extra: the host, and in the bits above it the
  // message's kind.
  kPayloadLanded,
  kInspect,      // payload: the DeviceReport to fill
  kInspected,    // item: device
  kEnqueue,      // step; target: action, which is prepared
  kActionFired,  // step; target: action; one shard of it
  // step: of the launch; target: action; shard; extra: virtual ns that it has
  // taken.
  kLongKernel,
  // A kernel outlived its limit; its cohort is lost. step: of the launch; item:
  // device; target: gang, in the order of its queue; shard: index among the
  // gang's shards there.
  kWorkerLost,
  // To the controller.
  kClientsGone,  // target: the first client; item: how many
  kDescribe,     // payload: the StatusQuery, which the controller takes over

  // From an actor to itself.
  kWorkDone,   // target: entry; UINT32_MAX: the head, and step: which
  kCostDone,   // a gang's virtual time is over
  kLongCost,   // a gang exceeds the time after which it is reported
  kCostLimit,  // a gang exceeds the time after which it is an error
  // Resumes the cohort after other actors had a turn.
  kContinue,
  kStallTick,  // the controller's timer
  // The controller's timer for loads that wait for memory.
  kLoadDeadline,
  kHostWorkDone,  // target: item of the program's DispatchTable
  // Like kHostWorkDone: it exceeds the time after which it is reported; extra:
  // which turn.
  kLongHostWork,
  // Like kHostWorkDone: it exceeds the time after which it is an error.
  kHostWorkLimit,
  kSpillDone,  // reads or writes of spilled arrays are done
  // The controller is due a message about the progress of the store.
  kStoredDue,
  kNumMessageKinds
};

// A flag of kForwardPiece: the payload is the buffer itself, which the sender's
// firing keeps until kPayloadReturned.
inline constexpr uint16_t kInPlace = 2;

// Returns the name of a LocalKind or a WireKind for statistics: "token",
// "piece", ...
const char* MessageKindName(int kind);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_LOCAL_KIND_H_
