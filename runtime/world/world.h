//===- world.h - Everything that is not deterministic -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clock, timers, randomness, mailboxes and links are passed in as a World, so
// that the scheduler, executor, store and protocol run unchanged on threads and
// in a deterministic simulation. No component may see a clock, a thread, a
// socket or a random source that did not come from its World, and none may
// block in a handler.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_WORLD_H_
#define RUNTIME_WORLD_WORLD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pathways {

// Nanoseconds since the world began (virtual or real).
using TimeNs = int64_t;

// Dense index of an actor in its world.
using ActorId = uint32_t;
inline constexpr ActorId kNoActor = UINT32_MAX;

// The one bit of Message::flags that belongs to the world: this message (say, a
// heartbeat or a stall timer) is not by itself a reason to go on. A simulation
// with nothing but background messages under way is over.
inline constexpr uint16_t kBackground = 0x8000;

// A hot message: 64 bytes, copied, never allocated. `payload` is not owned; the
// sender keeps it unchanged until the protocol says that it was consumed, and a
// handler must copy what it wants to keep before it returns. The meaning of the
// fields belongs to runtime/executor/protocol.h; the world only reads
// kBackground and payload_bytes, to charge the link. No field but `payload` may
// hold an address: a simulation hashes the others, and hands out a copy of a
// payload that crossed hosts. `payload` with payload_bytes == 0 is passed on
// untouched, payload_bytes without `payload` is a cost alone.
struct Message {
  uint16_t kind = 0;
  uint16_t flags = 0;
  uint32_t program = 0;      // loaded program, dense per controller
  uint32_t incarnation = 0;  // of that program; older ones are dropped
  uint32_t target = 0;       // action or edge, by kind
  uint64_t step = 0;         // firing
  uint64_t sequence = 0;     // per sender and receiver host; 0: inside a host
  uint32_t shard = 0;        // of the receiving action
  uint32_t item = 0;         // which of the expected items of an edge
  const void* payload = nullptr;
  uint64_t payload_bytes = 0;
  uint64_t extra = 0;
};
static_assert(sizeof(Message) == 64);

// One addressee: a device, a host executor, an island scheduler, the
// controller. All handlers of an actor run on its worker, one at a time, so an
// actor needs no lock. Handlers must not block.
class Actor {
 public:
  virtual ~Actor() = default;
  // A hot message. May be delivered twice when it crossed hosts.
  virtual void OnMessage(ActorId from, const Message& message) = 0;
  // A rare message: a serialized protocol buffer, valid during the call.
  virtual void OnControl(ActorId from, std::string_view bytes) = 0;
};

// Where an actor lives. Messages between actors of one host are reliable and in
// order; between hosts they cross a link, which costs time and may be faulty.
struct Placement {
  int32_t host = 0;    // host number in the cluster; -1: the controller's own
  int32_t worker = 0;  // taken modulo num_workers()
  int32_t island = 0;  // -1: the controller's
};

class World {
 public:
  virtual ~World() = default;

  // Adds an actor, owned by the caller, which must outlive the world's last
  // event for it (see Stop). Before Start, or from a handler.
  virtual ActorId Register(Actor* actor, Placement placement,
                           std::string name) = 0;
  // Says that at most `messages` hot messages may be under way to `to` at one
  // time beyond those already reserved, so that Send never allocates. Called
  // when a plan is loaded; a negative number gives back.
  virtual void Reserve(ActorId to, int64_t messages) = 0;

  virtual TimeNs Now() = 0;
  // From a handler: the world's randomness, repeatable where the world is.
  virtual uint64_t Random() = 0;
  virtual int num_workers() const = 0;

  // Queues a message. Call from a handler of `from` only, or with from ==
  // kNoActor from any thread that is not a worker. Never blocks and never runs
  // the receiver inside the call. Order is kept from one sender to one
  // receiver, over hot and control messages together, unless they are on
  // different hosts and the link has faults. After Stop: dropped.
  virtual void Send(ActorId from, ActorId to, const Message& message) = 0;
  virtual void SendControl(ActorId from, ActorId to, std::string bytes) = 0;
  // Delivers to `to`, on the same host as `from`, after `delay` ns of the
  // world's time (a negative delay is zero); timers and completions of
  // simulated work. In order of time, then of sending; no order with Send.
  virtual void SendAfter(ActorId from, ActorId to, TimeNs delay,
                         const Message& message) = 0;

  // Whether kernels cost virtual time (their estimate) rather than real time.
  virtual bool simulated() const = 0;

  // Drives the world from a thread that is not a worker until `done` returns
  // true; `done` is called on that thread. On threads this waits; in a
  // simulation it runs events, and returns false when none is left and `done`
  // is still false (nothing can ever happen again).
  virtual bool RunUntil(const std::function<bool()>& done) = 0;
  // Wakes RunUntil to look at its condition again. Any thread.
  virtual void Notify() = 0;

  // No handler runs after Stop returns; queued messages are dropped.
  virtual void Stop() = 0;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_WORLD_H_
