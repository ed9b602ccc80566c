//===- test_actor.h - Actors made of functions ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_WORLD_TEST_ACTOR_H_
#define UNITTESTS_RUNTIME_WORLD_TEST_ACTOR_H_

#include <functional>
#include <string_view>

#include "runtime/world/world.h"

namespace pathways {

struct TestActor : Actor {
  std::function<void(ActorId, const Message&)> on_message;
  std::function<void(ActorId, std::string_view)> on_control;
  ActorId id = kNoActor;

  void OnMessage(ActorId from, const Message& message) override {
    if (on_message) on_message(from, message);
  }
  void OnControl(ActorId from, std::string_view bytes) override {
    if (on_control) on_control(from, bytes);
  }
  ActorId Join(World& world, int host, int worker, int island = 0) {
    return id = world.Register(this, {host, worker, island}, "test");
  }
};

inline Message Numbered(uint64_t step, uint16_t kind = 0) {
  Message message;
  message.kind = kind;
  message.step = step;
  return message;
}

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_WORLD_TEST_ACTOR_H_
