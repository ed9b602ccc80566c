//===- local_kind.cc - Names of hot messages inside a host ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/local_kind.h"

namespace pathways {

const char* MessageKindName(int kind) {
  switch (kind) {
    case kLocalToken:
      return "local-token";
    case kForwardToken:
      return "forward-token";
    case kForwardPiece:
      return "forward-piece";
    case kForwardRecords:
      return "forward-members";
    case kTokenBatch:
      return "member-tokens";
    case kAllFired:
      return "all-fired";
    case kArrive:
      return "arrive";
    case kGroupDone:
      return "group-done";
    case kDeviceDone:
      return "device-done";
    case kAttach:
      return "attach";
    case kAttached:
      return "attached";
    case kDetach:
      return "detach";
    case kDetached:
      return "detached";
    case kGrantDevice:
      return "grant-device";
    case kArgumentFilled:
      return "argument-filled";
    case kPayloadReturned:
      return "payload-returned";
    case kPayloadLanded:
      return "payload-landed";
    case kInspect:
      return "inspect";
    case kInspected:
      return "inspected";
    case kEnqueue:
      return "enqueue";
    case kActionFired:
      return "action-fired";
    case kLongKernel:
      return "long-kernel";
    case kWorkerLost:
      return "worker-lost";
    case kClientsGone:
      return "clients-gone";
    case kDescribe:
      return "describe";
    case kWorkDone:
      return "work-done";
    case kCostDone:
      return "cost-done";
    case kLongCost:
      return "long-cost";
    case kCostLimit:
      return "cost-limit";
    case kContinue:
      return "continue";
    case kStallTick:
      return "stall-tick";
    case kLoadDeadline:
      return "load-deadline";
    case kHostWorkDone:
      return "host-work-done";
    case kLongHostWork:
      return "long-host-work";
    case kHostWorkLimit:
      return "host-work-limit";
    case kStoredDue:
      return "stored-due";
    case kSpillDone:
      return "spill-done";
    default:
      return WireKindName(kind);
  }
}

}  // namespace pathways
