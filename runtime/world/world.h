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
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "runtime/protocol/address.h"
#include "runtime/protocol/control_body.h"
#include "runtime/protocol/wire_message.h"
#include "runtime/world/kernel_gate.h"

namespace pathways {

// Nanoseconds since the world began (virtual or real).
using TimeNs = int64_t;

// Number of an actor in its own process, dense, in the order of Register. Only
// actors of one host may speak to each other by it: what has no ActorId besides
// cannot be addressed from another host.
enum class LocalId : uint32_t {};
inline constexpr LocalId kNobody{UINT32_MAX};
constexpr uint32_t IndexOf(LocalId id) { return static_cast<uint32_t>(id); }

// Bits of `flags` that belong to the world. This message (say, a
// heartbeat or a stall timer) is not by itself a reason to go on. A simulation
// with nothing but background messages under way is over.
inline constexpr uint16_t kBackground = 0x8000;

// Of a local message: it begins another turn of an actor that may be at work
// for long. A thread that has handled it handles all that has come from
// elsewhere before the next one.
inline constexpr uint16_t kTurn = 0x2000;

// One that the world sets in ReceiveBuffer::landed.
inline constexpr uint16_t kNotReceived = 0x4000;

// Payloads of so many bytes may be lent: for fewer, a copy costs less than to
// ask where they are wanted.
inline constexpr uint64_t kMinLentBytes = 128 << 10;

// What actors of one host tell each other: copied, never allocated, and never
// seen by another host, so it may hold an address. A simulation hashes all
// fields but `payload`.
struct LocalMessage {
  uint16_t kind = 0;
  uint16_t flags = 0;
  uint32_t program = 0;      // loaded program, dense per controller
  uint32_t incarnation = 0;  // of that program; older ones are dropped
  uint32_t target = 0;       // action, edge, group or entry, by kind
  uint32_t shard = 0;        // of the receiving action
  uint32_t item = 0;         // which of several, by kind
  uint64_t step = 0;         // firing
  void* payload = nullptr;   // not owned; what it is goes by the kind
  uint64_t payload_bytes = 0;
  uint64_t extra = 0;
};
static_assert(sizeof(LocalMessage) == 56);

// Where an actor wants a payload.
struct ReceiveBuffer {
  // Nobody else touches it until `landed` has come.
  void* memory = nullptr;
  // Comes once; with kNotReceived in its flags when the payload does not come
  // any more: then the memory holds whatever has come.
  LocalMessage landed;
};

// One that is spoken to: a device, a host executor, an island scheduler, the
// controller. All handlers of an actor run on its worker, one at a time, so an
// actor needs no lock. Handlers must not block. What an actor does not handle
// is dropped.
class Actor {
 public:
  virtual ~Actor() = default;

  // A hot message of an actor that may be on another host, and then may be
  // delivered twice. The payload is there during the call.
  virtual void OnWire(ActorId from, const WireMessage& message,
                      Payload payload) {
    (void)from, (void)message, (void)payload;
  }
  // A hot message of an actor of another process, as OnWire, that has `bytes`
  // beside it which are still there. Where they are to be put, and what the
  // actor gets, as OnLocal, when they are; no memory: nobody wants them.
  virtual ReceiveBuffer OnOffer(ActorId from, const WireMessage& message,
                                uint64_t bytes) {
    (void)from, (void)message, (void)bytes;
    return {};
  }
  // A hot message of an actor of this host, or a timer.
  virtual void OnLocal(const LocalMessage& message) { (void)message; }
  // A rare message: a serialized protocol buffer, valid during the call. May be
  // delivered twice when it crossed hosts. kNoActor: a thread of this process
  // that is no worker.
  virtual void OnControl(ActorId from, std::string_view bytes) {
    (void)from, (void)bytes;
  }
  // As OnControl, of a message that has not left the process. Takes over a
  // reference.
  virtual void OnControlBody(ActorId from, ControlBody* body) {
    const std::string bytes = body->Serialize();
    body->Release();
    OnControl(from, bytes);
  }
  // What may come to this soon, as OnLocal or OnWire. Has the processor ask for
  // memory that the handler will read, and does nothing else. Called in
  // kPrefetchSteps steps, other handlers between, so that each may read what
  // the one before it asked for; steps may be left out. On the actor's worker.
  virtual void PrefetchLocal(const LocalMessage& message, int step) const {
    (void)message, (void)step;
  }
  virtual void PrefetchWire(ActorId from, const WireMessage& message,
                            int step) const {
    (void)from, (void)message, (void)step;
  }
  static constexpr int kPrefetchSteps = 5;
  // A host is gone, with all that had this epoch there, or an older one. Once
  // for each (see World::WatchPeers).
  virtual void OnPeerDown(int32_t host, uint32_t epoch) {
    (void)host, (void)epoch;
  }
  // A host lives again, in this epoch. Once for each, after it was down in the
  // one before.
  virtual void OnPeerUp(int32_t host, uint32_t epoch) {
    (void)host, (void)epoch;
  }

  // kNobody before World::Register.
  LocalId local_id() const { return local_id_; }

 private:
  friend class World;
  LocalId local_id_ = kNobody;
};

// Where an actor lives. Messages between actors of one host are reliable and in
// order; between hosts they cross a link, which costs time and may be faulty.
struct Placement {
  // Host number in the cluster; -1: the controller's own; below, in a
  // simulation: a client's own.
  int32_t host = 0;
  int32_t worker = 0;  // taken modulo num_workers()
  int32_t island = 0;  // -1: the controller's
  uint32_t epoch = 1;  // of the host
};

// A hot message that came from another process.
struct Arrival {
  ActorId from = kNoActor;
  ActorId to = kNoActor;
  WireMessage message;
  Payload payload;
};

class World {
 public:
  virtual ~World() = default;

  // Adds an actor, owned by the caller, which must outlive the world's last
  // event for it (see Stop). `address`: the number by which other hosts know
  // it, which no other actor that lives has; kNoActor: they do not. Before the
  // first message, or from a handler. kNobody: the world is full.
  virtual LocalId Register(Actor* actor, Placement placement, std::string name,
                           ActorId address = kNoActor) = 0;
  // Says that at most `messages` hot messages may be under way to `to` at one
  // time beyond those already reserved, so that sending never allocates. Called
  // when a plan is loaded; a negative number gives back.
  virtual void Reserve(LocalId to, int64_t messages) = 0;

  virtual TimeNs Now() = 0;
  // From a handler: the world's randomness, repeatable where the world is.
  virtual uint64_t Random() = 0;
  virtual int num_workers() const = 0;
  // Whether workers have cores of their own, so that a handler may look, for
  // not more than some microseconds, for what another worker is about to do.
  virtual bool spins() const { return false; }

  // These queue a message. Call from a handler of `from` only, or with kNoActor
  // or kNobody from any thread that is not a worker. They never block and never
  // run the receiver inside the call. Order is kept from one sender to one
  // receiver, over all kinds of messages together but bulk ones (IsBulk of
  // wire_kind.h), unless they are on different hosts and the link has faults.
  // Bulk ones keep an order of their own, and may come later than what was sent
  // after them. Inside a host order is kept from one sender to all receivers of
  // one worker, too. After Stop: dropped.
  //
  // Of a hot message the world reads kBackground and the size of the payload,
  // to charge the link. A receiver that is not of this process is spoken to
  // through the world's RemoteChannel (remote_channel.h); without one the
  // message is dropped, and counted in undelivered().
  virtual void Send(ActorId from, ActorId to, const WireMessage& message,
                    Payload payload) = 0;
  void Send(ActorId from, ActorId to, const WireMessage& message) {
    Send(from, to, message, Payload());
  }
  // Whether large payloads for this actor, which may not be known yet, are
  // lent.
  virtual bool Lends(ActorId to) const {
    (void)to;
    return false;
  }
  // As Send; a world may leave the payload where it lies until the receiver has
  // read it there, in a handler (OnWire), or, in another process, has said
  // where it is to be put (OnOffer). True: it does, so nobody changes or frees
  // it until the sender, as OnLocal, gets `returned`, once, whatever becomes of
  // the receiver. Such a message keeps no
  // order with others. From a handler of `from`.
  virtual bool Lend(ActorId from, ActorId to, const WireMessage& message,
                    Payload payload, const LocalMessage& returned) {
    (void)returned;
    Send(from, to, message, payload);
    return false;
  }
  // Brings an offer of another process, which this one knows by a number of its
  // links. False: nobody is there.
  virtual bool Offer(ActorId from, ActorId to, const WireMessage& message,
                     uint64_t bytes, uint64_t offer) {
    (void)from, (void)to, (void)message, (void)bytes, (void)offer;
    return false;
  }
  // As Send of each, in order; a world may bring them to their receivers'
  // workers together, so that none is handled before the others are there.
  virtual void SendAll(absl::Span<const Arrival> arrivals) {
    for (const Arrival& one : arrivals) {
      Send(one.from, one.to, one.message, one.payload);
    }
  }
  virtual void SendControl(ActorId from, ActorId to, std::string bytes) = 0;
  // As SendControl, of what the body says; takes over a reference. A world may
  // hand it over as it is to a receiver of this process.
  virtual void PassControl(ActorId from, ActorId to, ControlBody* body) {
    std::string bytes = body->Serialize();
    body->Release();
    SendControl(from, to, std::move(bytes));
  }
  // Between actors of one host.
  virtual void SendLocal(LocalId from, LocalId to,
                         const LocalMessage& message) = 0;
  // Delivers after `delay` ns of the world's time (a negative delay is zero);
  // timers and completions of simulated work. In order of time, then of
  // sending; no order with SendLocal.
  virtual void SendAfter(LocalId from, LocalId to, TimeNs delay,
                         const LocalMessage& message) = 0;

  // Messages, hot and control, whose receiver was nowhere.
  virtual uint64_t undelivered() const = 0;

  // Has `actor` told, by OnPeerDown and OnPeerUp, of each host that goes or
  // comes again, once for each of its epochs; of what was before, the last. Not
  // of its own host. Epochs of a host grow by one, from 1.
  virtual void WatchPeers(LocalId actor) = 0;
  // Says that a host has gone, in this epoch and those before. Nobody is told
  // if that is known, or if the host is up in a newer one. From whatever
  // carries messages between processes (any thread that is not a worker), and
  // from a simulation.
  virtual void ReportPeerDown(int32_t host, uint32_t epoch) = 0;
  // Likewise, that it lives again, in this epoch; so it is gone in the one
  // before, of which who watches is told first if that was not said. Messages
  // of the host may come before, and after that it is down.
  virtual void ReportPeerUp(int32_t host, uint32_t epoch) = 0;

  // Where the handlers of `worker` (taken modulo num_workers()) enter kernels.
  // What this points to is there as long as the world; the gate itself may be
  // another one in each handler.
  virtual KernelGate* const* kernel_gate(int worker) = 0;
  // Kernels may run for as many launches more (negative: fewer) as `by` says.
  // While there are any, a world that can looks for kernels that do not return.
  // Any thread.
  virtual void ExpectKernels(int by) = 0;
  // From a handler: what follows takes long, so what was sent before is not to
  // wait for more.
  virtual void TakesLong() {}
  // No handler of `actor` runs any more; what is sent to it is dropped. From a
  // handler on its worker, perhaps its own, which is then its last.
  virtual void Retire(LocalId actor) = 0;

  // What `actor` takes now for what costs so much virtual time.
  virtual TimeNs CostNow(LocalId actor, TimeNs cost) {
    (void)actor;
    return cost;
  }
  // Whether kernels cost virtual time (their estimate) rather than real time.
  virtual bool simulated() const = 0;

  // Drives the world from a thread that is not a worker until `done` returns
  // true; `done` is called on that thread. On threads this waits, and may run
  // handlers meanwhile; in a simulation it runs events, and returns false when
  // none is left and `done` is still false (nothing can ever happen again).
  virtual bool RunUntil(absl::FunctionRef<bool()> done) = 0;
  // Wakes RunUntil to look at its condition again. Any thread.
  virtual void Notify() = 0;
  // What a thread that is no worker sends between the two may be handled as
  // late as at the end, and then perhaps by this thread, inside EndCall: it
  // holds no lock there that a handler takes. They may be nested.
  virtual void BeginCall() {}
  virtual void EndCall() {}

  // No handler runs after Stop returns; queued messages are dropped.
  virtual void Stop() = 0;

 protected:
  static void SetLocalId(Actor* actor, LocalId id) { actor->local_id_ = id; }
};

// A call of a world's user, from BeginCall to EndCall.
class WorldCall {
 public:
  explicit WorldCall(World* world) : world_(*world) { world_.BeginCall(); }
  ~WorldCall() { world_.EndCall(); }
  WorldCall(const WorldCall&) = delete;
  WorldCall& operator=(const WorldCall&) = delete;

 private:
  World& world_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_WORLD_H_
