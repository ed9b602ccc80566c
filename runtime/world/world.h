//===- world.h - The interface to everything nondeterministic ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A World provides the clock, timers, randomness, mailboxes and links, so that
// the scheduler, executor, store and protocol run unchanged on threads and in a
// deterministic simulation. No component may use a clock, a thread, a socket or
// a random source that did not come from its World, and no handler may block.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_WORLD_H_
#define RUNTIME_WORLD_WORLD_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "runtime/protocol/address.h"
#include "runtime/protocol/control_body.h"
#include "runtime/protocol/wire_message.h"
#include "runtime/world/actor.h"
#include "runtime/world/world_parts.h"

namespace pathways {

// Properties of a world that never change.
struct WorldTraits {
  int num_workers = 1;
  // Workers have cores of their own, so a handler may poll for some
  // microseconds for what another worker is about to do.
  bool spins = false;
  // Kernels cost virtual time (their estimate) rather than real time.
  bool simulated = false;
};

class World {
 public:
  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Adds an actor. The caller owns it and keeps it alive until the world's last
  // event for it (see Stop). Other hosts know the actor by `address`, which no
  // other live actor has; with kNoActor they cannot address it. Call before the
  // first message, or from a handler. Returns kNobody if the world is full.
  virtual LocalId Register(Actor* actor, Placement placement, std::string name,
                           ActorId address = kNoActor) = 0;
  // Reserves memory for `messages` more hot messages that may be under way to
  // `to` at one time, so that sending never allocates. Called when a plan is
  // loaded; a negative number gives a reservation back.
  virtual void Reserve(LocalId to, int64_t messages) = 0;
  // Ends an actor: no handler of it runs again, and messages to it are dropped.
  // Call from a handler on its worker; if that handler is its own, it is the
  // last one.
  virtual void Retire(LocalId actor) = 0;

  virtual WorldTraits traits() const = 0;
  int num_workers() const { return traits().num_workers; }
  bool spins() const { return traits().spins; }
  bool simulated() const { return traits().simulated; }

  virtual TimeNs Now() = 0;
  // Returns a random number, which is repeatable if the world is. Call from a
  // handler.
  virtual uint64_t Random() = 0;

  // The following functions queue a message. Call them from a handler of
  // `from`, or with kNoActor or kNobody from any thread that is not a worker.
  // They never block and never run the receiver inside the call. Messages from
  // one sender to one receiver stay in order, whatever their kinds, unless they
  // cross hosts and the link has faults. Bulk messages (IsBulk of wire_kind.h)
  // are the exception: they stay in order only among themselves and may come
  // later than messages that were sent after them. Inside a host, the order
  // also holds from one sender to all receivers of one worker. After Stop,
  // messages are dropped.
  //
  // The world reads only kBackground and the payload size of a hot message, to
  // charge the link. A message to a receiver that is not in this process goes
  // through the world's RemoteChannel (remote_channel.h); without one it is
  // dropped and counted in undelivered().
  virtual void Send(ActorId from, ActorId to, const WireMessage& message,
                    Payload payload) = 0;
  void Send(ActorId from, ActorId to, const WireMessage& message) {
    Send(from, to, message, Payload());
  }
  virtual void SendControl(ActorId from, ActorId to, std::string bytes) = 0;
  // Sends the message that `body` holds, like SendControl; takes over one
  // reference. A world may hand `body` over as it is to a receiver in this
  // process.
  virtual void PassControl(ActorId from, ActorId to, ControlBody* body) {
    std::string bytes = body->Serialize();
    body->Release();
    SendControl(from, to, std::move(bytes));
  }
  // Sends a message to an actor of the same host.
  virtual void SendLocal(LocalId from, LocalId to,
                         const LocalMessage& message) = 0;
  // Delivers `message` after `delay` ns of the world's time; a negative delay
  // counts as zero. Used for timers and completions of simulated work. Timers
  // arrive in order of time, then of sending; they have no order with
  // SendLocal.
  virtual void SendAfter(LocalId from, LocalId to, TimeNs delay,
                         const LocalMessage& message) = 0;

  // Returns true if large payloads for `to`, which this process may not know
  // yet, are lent.
  bool Lends(ActorId to) const {
    return parts_.loans != nullptr && parts_.loans->LendsTo(to);
  }
  // Sends like Send, but the world may leave the payload in the sender's memory
  // until the receiver has read it there in OnWire or, in another process, has
  // said in OnOffer where the payload goes. Returns true if the payload is
  // lent: nobody may change or free it until the sender gets `returned` through
  // OnLocal, once, whatever happens to the receiver. A lent message keeps no
  // order with other messages. Call from a handler of `from`.
  bool Lend(ActorId from, ActorId to, const WireMessage& message,
            Payload payload, const LocalMessage& returned) {
    if (parts_.loans != nullptr) {
      return parts_.loans->LendTo(from, to, message, payload, returned);
    }
    Send(from, to, message, payload);
    return false;
  }

  // Returns the number of messages, hot and control, whose receiver did not
  // exist.
  virtual uint64_t undelivered() const = 0;

  // Drives the world from a thread that is not a worker until `done`, which is
  // called on that thread, returns true. On threads this waits, and may run
  // handlers meanwhile; it returns false once `limit_ns` nanoseconds have
  // passed, if that is not negative. In a simulation it runs events, whatever
  // the limit; it returns false if none is left and `done` is still false
  // (nothing can ever happen again).
  virtual bool RunUntil(absl::FunctionRef<bool()> done, TimeNs limit_ns) = 0;
  bool RunUntil(absl::FunctionRef<bool()> done) {
    return RunUntil(done, /*limit_ns=*/-1);
  }
  // Makes RunUntil evaluate its condition again. Any thread.
  virtual void Notify() = 0;
  // Stops the world: no handler runs after Stop returns, and queued messages
  // are dropped.
  virtual void Stop() = 0;

  PeerEvents& peers() const { return *parts_.peers; }
  KernelSupervisor& kernels() const { return *parts_.kernels; }
  SendBatching& batching() const { return *parts_.batching; }
  // Returns null if no other process can reach this world.
  RemoteArrivals* arrivals() const { return parts_.arrivals; }

 protected:
  // The interfaces of world_parts.h, which live as long as the world.
  struct Parts {
    PeerEvents* peers = nullptr;
    KernelSupervisor* kernels = nullptr;
    SendBatching* batching = &no_batching;
    PayloadLoans* loans = nullptr;  // null: no payload is lent
    RemoteArrivals* arrivals = nullptr;
  };

  explicit World(Parts parts) : parts_(parts) {}

  static void SetLocalId(Actor* actor, LocalId id) { actor->local_id_ = id; }
  // Returns the parts of another world, for a world that adds to it.
  static const Parts& PartsOf(const World& world) { return world.parts_; }

 private:
  static inline SendBatching no_batching;

  const Parts parts_;
};

// Scope of a user's call into a world: BeginCall when constructed, EndCall when
// destroyed.
class WorldCall {
 public:
  explicit WorldCall(World* world) : batching_(world->batching()) {
    batching_.BeginCall();
  }
  ~WorldCall() { batching_.EndCall(); }
  WorldCall(const WorldCall&) = delete;
  WorldCall& operator=(const WorldCall&) = delete;

 private:
  SendBatching& batching_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_WORLD_H_
