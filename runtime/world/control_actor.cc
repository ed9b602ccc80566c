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

void ControlActor::Take(ActorId from, ControlRef message) {
  if (!IsQuick(*message)) world_.TakesLong();
  OnMessage(from, std::move(message));
}

void ControlActor::OnControl(ActorId from, std::string_view bytes) {
  ControlRef message = NewControl();
  if (!ReadControl(directory_, from, self_, bytes, &*message)) {
    return OnForeign();
  }
  Take(from, std::move(message));
}

void ControlActor::OnControlBody(ActorId from, ControlBody* body) {
  ControlRef message(ControlMessage::Of(body));
  if (!CheckControl(directory_, from, self_, *message)) return OnForeign();
  Take(from, std::move(message));
}

}  // namespace pathways
