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

void ControlActor::OnControl(ActorId from, std::string_view bytes) {
  ControlRef message = NewControl();
  if (!ReadControl(directory_, from, self_, bytes, &*message)) {
    return OnForeign();
  }
  OnMessage(from, std::move(message));
}

void ControlActor::OnControlBody(ActorId from, ControlBody* body) {
  ControlRef message(ControlMessage::Of(body));
  if (!CheckControl(directory_, from, self_, *message)) return OnForeign();
  OnMessage(from, std::move(message));
}

}  // namespace pathways
