//===- control_actor.h - An actor of the control protocol -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_CONTROL_ACTOR_H_
#define RUNTIME_WORLD_CONTROL_ACTOR_H_

#include <utility>

#include "runtime/protocol/control_message.h"
#include "runtime/protocol/directory.h"
#include "runtime/world/world.h"

namespace pathways {

// An actor that receives control messages in one form, whether they come as
// bytes or are handed over. Messages that break the protocol are dropped here
// (runtime/protocol/control_check.h).
class ControlActor : public Actor {
 public:
  void OnControl(ActorId from, ReceivedControl message) final;

 protected:
  // All arguments must outlive the actor. `self` is its address.
  ControlActor(World* world, const Directory* directory, ControlPool* controls,
               ActorId self)
      : world_(*world),
        directory_(*directory),
        controls_(*controls),
        self_(self) {}

  // Handles a message. The handler owns it and may change or keep it.
  virtual void OnMessage(ActorId from, ControlRef message) = 0;
  // Called for each message that was dropped.
  virtual void OnForeign() {}

  ActorId self() const { return self_; }
  ControlRef NewControl() const { return controls_.New(); }
  ControlRef NewControl(ControlMessage::Kind kind) const {
    return controls_.New(kind);
  }
  void SendControl(ActorId to, ControlRef message) {
    world_.PassControl(self_, to, std::move(message).Hand());
  }

 private:
  World& world_;
  const Directory& directory_;
  ControlPool& controls_;
  const ActorId self_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_CONTROL_ACTOR_H_
