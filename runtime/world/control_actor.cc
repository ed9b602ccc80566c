//===- control_actor.cc - An actor of the control protocol ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/control_actor.h"

#include <utility>

#include "runtime/protocol/control_check.h"

namespace pathways {
namespace {

// Returns true for the messages of a launch, whose handlers are short. Handlers
// of messages about programs and plans may run for long.
bool IsQuick(const proto::Control& control) {
  switch (control.kind_case()) {
    case proto::Control::kLaunchRequest:
    case proto::Control::kStart:
    case proto::Control::kGrant:
    case proto::Control::kGrantDone:
    case proto::Control::kLaunchEnded:
    case proto::Control::kReleaseRequest:
    case proto::Control::kDropObjects:
    case proto::Control::kObjectsDropped:
      return true;
    default:
      return false;
  }
}

}  // namespace

void ControlActor::OnControl(ActorId from, ReceivedControl message) {
  ControlRef control = message.body != nullptr
                           ? ControlRef(ControlMessage::Of(message.body))
                           : NewControl();
  const bool is_valid =
      message.body != nullptr
          ? CheckControl(directory_, from, self_, *control)
          : ReadControl(directory_, from, self_, message.bytes, &*control);
  if (!is_valid) return OnForeign();
  if (!IsQuick(*control)) world_.batching().TakesLong();
  OnMessage(from, std::move(control));
}

}  // namespace pathways
