//===- local_kind.h - Hot messages inside a host ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the fields of a LocalMessage mean, by kind; runtime/protocol/wire_kind.h
// has those of messages between hosts. All carry `program` and `incarnation`;
// those of an incarnation that is not loaded are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_LOCAL_KIND_H_
#define RUNTIME_PROGRAM_LOCAL_KIND_H_

#include <cstdint>

#include "runtime/protocol/wire_kind.h"

namespace pathways {

// Behind the numbers of WireKind, so that statistics count both in one table.
enum LocalKind : uint16_t {
  // Inside a host: between devices, or between a device and its executor.
  kLocalToken =
      kNumWireKinds,  // step: firing of the target; target: in-edge entry
  kForwardToken,      // kTokenMessage for host `extra`
  kForwardPiece,      // kPieceMessage for host `extra`; item: source shard
  kForwardRecords,    // from a cohort; payload: the RecordBatch, for its hosts
  kTokenBatch,        // step; payload: the TokenBatch; to one device of a
                      // cohort
  kAllFired,          // step: firing of the source; target: edge
  kArrive,      // step; target: group, with members elsewhere: from the last
                // device of the host
  kGroupDone,   // step; target: group: all have arrived, or have done their
                // share; to one device of a cohort, item: which of the group's
  kDeviceDone,  // extra: place of the grant; from a cohort's last device
  kAttach,      // payload: the DeviceProgram
  kAttached,    // item: device
  kDetach,
  kDetached,        // item: device
  kGrantDevice,     // payload: the HostGrant; to one device of a cohort
  kArgumentFilled,  // to one device of a cohort
  // From the world, to the executor about a payload of a message for another
  // host, or from one (world.h, Lend and OnOffer). Of a piece that was lent
  // where a device has it (kInPlace) also to that device: target: its entry;
  // step; item: the device.
  kPayloadReturned,
  // target, shard, item, step: as the message; payload, payload_bytes: where it
  // is; extra: the host, and above it the message's kind.
  kPayloadLanded,
  kInspect,      // payload: the DeviceReport to fill
  kInspected,    // item: device
  kEnqueue,      // step; target: action, which is prepared
  kActionFired,  // step; target: action; one shard of it
  kLongKernel,  // step: of the launch; target: action; shard; extra: ns that it
                // has taken; in virtual time
  // One that outlived its limit, with its cohort. step: of the launch; item:
  // device; target: gang, in the order of its queue; shard: of the gang's there
  kWorkerLost,
  // To the controller.
  kClientsGone,  // target: the first one; item: how many
  kDescribe,     // payload: the StatusQuery, which it takes over

  // An actor to itself.
  kWorkDone,       // target: entry, whose work is done; UINT32_MAX: the head's,
                   // step: which
  kCostDone,       // a gang's virtual time is over
  kLongCost,       // it takes longer than it should
  kCostLimit,      // it takes longer than it may
  kContinue,       // go on, after others had their turn
  kStallTick,      // the controller's timer
  kLoadDeadline,   // its other one, for loads that wait for memory
  kHostWorkDone,   // target: item of the program's DispatchTable
  kLongHostWork,   // likewise; it takes longer than it should; extra: which
  kHostWorkLimit,  // likewise; it takes longer than it may
  kSpillDone,      // what was to be written to files, or read, is
  kStoredDue,      // the controller is to be told how far the store is
  kNumMessageKinds
};

// A flag of kForwardPiece: the payload is the buffer itself, which the sender's
// firing keeps until kPayloadReturned.
inline constexpr uint16_t kInPlace = 2;

// For statistics, also of a WireKind: "token", "piece", ...
const char* MessageKindName(int kind);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_LOCAL_KIND_H_
