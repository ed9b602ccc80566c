//===- protocol_state.cc - Protocol state of a cluster --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/protocol_state.h"

#include "runtime/proto/control.pb.h"

namespace pathways::simulate {

std::string StateOf(const std::string& control) {
  if (control.empty()) return "idle";
  proto::Control message;
  if (!message.ParseFromString(control)) return "other";
  switch (message.kind_case()) {
    case proto::Control::kLoadRequest:
    case proto::Control::kLoadProgram:
    case proto::Control::kLoadReply:
    case proto::Control::kPlanWanted:
    case proto::Control::kPlanArrived:
    case proto::Control::kPlanRequest:
    case proto::Control::kPlanPart:
      return "loading";
    case proto::Control::kLaunchRequest:
    case proto::Control::kPrepareLaunch:
    case proto::Control::kLaunchReady:
      return "staging";
    case proto::Control::kStart:
    case proto::Control::kGrant:
    case proto::Control::kGrantDone:
    case proto::Control::kLaunchEnded:
    case proto::Control::kQuery:
    case proto::Control::kReport:
      return "running";
    case proto::Control::kFetchRequest:
    case proto::Control::kFetchBegin:
    case proto::Control::kFetchReport:
    case proto::Control::kFetchEnd:
      return "fetching";
    case proto::Control::kReleaseRequest:
    case proto::Control::kSettleRequest:
    case proto::Control::kDropObjects:
    case proto::Control::kObjectsDropped:
      return "releasing";
    case proto::Control::kUnloadRequest:
    case proto::Control::kStopProgram:
    case proto::Control::kStopReply:
    case proto::Control::kFreeProgram:
    case proto::Control::kFreeReply:
      return "unloading";
    default:
      return "other";
  }
}

}  // namespace pathways::simulate
