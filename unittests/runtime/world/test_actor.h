//===- test_actor.h - Actors made of functions ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_WORLD_TEST_ACTOR_H_
#define UNITTESTS_RUNTIME_WORLD_TEST_ACTOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/world/world.h"

namespace pathways {

struct TestActor : Actor {
  std::function<void(ActorId, const WireMessage&)> on_message;
  std::function<ReceiveBuffer(const WireMessage&, uint64_t)> on_offer;
  std::function<void(const LocalMessage&)> on_local;
  std::function<void(ActorId, std::string_view)> on_control;
  std::function<void(int32_t, uint32_t)> on_peer_down;
  std::function<void(int32_t, uint32_t)> on_peer_up;
  ActorId id = kNoActor;
  Payload payload;  // payload of the message being handled

  void OnWire(ActorId from, const WireMessage& message,
              Payload beside) override {
    payload = beside;
    if (on_message) on_message(from, message);
  }
  ReceiveBuffer OnOffer(ActorId, const WireMessage& message,
                        uint64_t bytes) override {
    return on_offer ? on_offer(message, bytes) : ReceiveBuffer();
  }
  void OnLocal(const LocalMessage& message) override {
    if (on_local) on_local(message);
  }
  void OnControl(ActorId from, ReceivedControl message) override {
    std::string held;
    if (message.body != nullptr) {
      held = message.body->Serialize();
      message.body->Release();
      message.bytes = held;
    }
    if (on_control) on_control(from, message.bytes);
  }
  void OnPeer(const PeerNews& news) override {
    const auto& on_peer = news.is_up ? on_peer_up : on_peer_down;
    if (on_peer) on_peer(news.host, news.epoch);
  }
  ActorId Join(World& world, int host, int worker, int island = 0) {
    return Join(world, Placement{host, worker, island});
  }
  // Registers the actor at an address that no other actor of the test has.
  ActorId Join(World& world, Placement placement) {
    static std::atomic<ActorId> last{0};
    id = last.fetch_add(1);
    world.Register(this, placement, "test", id);
    return id;
  }
};

// A control message that is handed over. Counts the messages not released yet.
class TestBody final : public ControlBody {
 public:
  static TestBody* New(std::string bytes) {
    held.fetch_add(1);
    return new TestBody(std::move(bytes));
  }
  std::string Serialize() const override { return bytes_; }
  static inline std::atomic<int64_t> held{0};

 private:
  explicit TestBody(std::string bytes) : bytes_(std::move(bytes)) {}
  void Recycle() override {
    held.fetch_sub(1);
    delete this;
  }

  const std::string bytes_;
};

inline WireMessage Numbered(uint64_t step, uint16_t kind = 0) {
  WireMessage message;
  message.kind = kind;
  message.step = step;
  return message;
}

inline LocalMessage LocalNumbered(uint64_t step, uint16_t kind = 0) {
  LocalMessage message;
  message.kind = kind;
  message.step = step;
  return message;
}

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_WORLD_TEST_ACTOR_H_
