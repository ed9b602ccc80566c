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
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "runtime/protocol/address.h"
#include "runtime/protocol/control_body.h"
#include "runtime/protocol/wire_message.h"
#include "runtime/world/kernel_gate.h"

namespace pathways {

// Nanoseconds since the world began (virtual or real time).
using TimeNs = int64_t;

// Number of an actor in its process, dense, in the order of Register. Only
// actors of the same host may address each other by it; an actor that has no
// ActorId besides cannot be addressed from another host.
enum class LocalId : uint32_t {};
inline constexpr LocalId kNobody{UINT32_MAX};
constexpr uint32_t IndexOf(LocalId id) { return static_cast<uint32_t>(id); }

// The world owns the following bits of `flags`.
//
// A background message (a heartbeat or a stall timer, for example) does not
// keep a simulation running: the simulation ends when only background messages
// are under way.
inline constexpr uint16_t kBackground = 0x8000;

// Flag of a local message that an actor which may run for long sends to itself
// to begin another turn. After it has handled such a message, a worker handles
// everything that has come from other workers and threads before it handles the
// next one.
inline constexpr uint16_t kTurn = 0x2000;

// The world sets this flag in ReceiveBuffer::landed if the payload did not
// come.
inline constexpr uint16_t kNotReceived = 0x4000;

// Smallest payload, in bytes, that may be lent. A copy of a smaller payload
// costs less than asking the receiver where it wants the payload.
inline constexpr uint64_t kMinLentBytes = 128 << 10;

// A message between two actors of one host. It is copied and never allocated,
// and no other host sees it, so it may hold an address. A simulation hashes all
// fields but `payload`.
struct LocalMessage {
  uint16_t kind = 0;
  uint16_t flags = 0;
  uint32_t program = 0;  // number of the loaded program, dense per controller
  // Load of that program; messages of older loads are dropped.
  uint32_t incarnation = 0;
  uint32_t target = 0;      // action, edge, group or entry, by kind
  uint32_t shard = 0;       // of the receiving action
  uint32_t item = 0;        // index whose meaning depends on the kind
  uint64_t step = 0;        // firing
  void* payload = nullptr;  // not owned; its type depends on the kind
  uint64_t payload_bytes = 0;
  uint64_t extra = 0;
};
static_assert(sizeof(LocalMessage) == 56);

// The memory into which a receiver wants a payload.
struct ReceiveBuffer {
  // No other thread touches it until `landed` has come.
  void* memory = nullptr;
  // Message that the receiver gets once, when the payload is in `memory`. If
  // the payload no longer comes, `landed` has kNotReceived in its flags and the
  // contents of `memory` are undefined.
  LocalMessage landed;
};

// A receiver of messages: a device, a host executor, an island scheduler or the
// controller. All handlers of an actor run on its worker, one at a time, so an
// actor needs no lock. Handlers must not block. The default handlers drop the
// message.
class Actor {
 public:
  virtual ~Actor() = default;

  // Handles a hot message from an actor that may be on another host; such a
  // message may be delivered twice. `payload` is valid only during the call.
  virtual void OnWire(ActorId from, const WireMessage& message,
                      Payload payload) {
    (void)from, (void)message, (void)payload;
  }
  // Handles the offer of a payload of `bytes` bytes, which is still with its
  // sender, an actor of another process; otherwise as OnWire. Returns where the
  // payload goes and the message that this actor gets through OnLocal when it
  // is there. Null memory in the result refuses the payload.
  virtual ReceiveBuffer OnOffer(ActorId from, const WireMessage& message,
                                uint64_t bytes) {
    (void)from, (void)message, (void)bytes;
    return {};
  }
  // Handles a hot message from an actor of this host, or a timer.
  virtual void OnLocal(const LocalMessage& message) { (void)message; }
  // Handles a rare message: a serialized protocol buffer, valid only during the
  // call. A message that crossed hosts may be delivered twice. `from` is
  // kNoActor if a thread of this process that is not a worker sent it.
  virtual void OnControl(ActorId from, std::string_view bytes) {
    (void)from, (void)bytes;
  }
  // Like OnControl, for a message that has not left the process. Takes over one
  // reference to `body`.
  virtual void OnControlBody(ActorId from, ControlBody* body) {
    const std::string bytes = body->Serialize();
    body->Release();
    OnControl(from, bytes);
  }
  // Handles the news that `host` is gone, with all actors that it had in this
  // epoch or an older one. Called once for each epoch (see World::WatchPeers).
  virtual void OnPeerDown(int32_t host, uint32_t epoch) {
    (void)host, (void)epoch;
  }
  // Handles the news that `host` is up again in this epoch. Called once for
  // each epoch, after OnPeerDown for the epoch before.
  virtual void OnPeerUp(int32_t host, uint32_t epoch) {
    (void)host, (void)epoch;
  }

  // Returns kNobody before World::Register.
  LocalId local_id() const { return local_id_; }

 private:
  friend class World;
  LocalId local_id_ = kNobody;
};

// The place of an actor. Messages between actors of one host are reliable and
// in order; between hosts they cross a link, which costs time and may be
// faulty.
struct Placement {
  // Number of the host in the cluster; -1 is the controller's host. In a
  // simulation, smaller numbers are the hosts of clients.
  int32_t host = 0;
  int32_t worker = 0;  // taken modulo num_workers()
  int32_t island = 0;  // -1 for the controller
  uint32_t epoch = 1;  // epoch of the host
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

  virtual TimeNs Now() = 0;
  // Returns a random number, which is repeatable if the world is. Call from a
  // handler.
  virtual uint64_t Random() = 0;
  virtual int num_workers() const = 0;
  // Returns true if workers have cores of their own. A handler may then poll
  // for some microseconds for what another worker is about to do.
  virtual bool spins() const { return false; }

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
  // Returns true if large payloads for `to`, which this process may not know
  // yet, are lent.
  virtual bool Lends(ActorId to) const {
    (void)to;
    return false;
  }
  // Sends like Send, but the world may leave the payload in the sender's memory
  // until the receiver has read it there in OnWire or, in another process, has
  // said in OnOffer where the payload goes. Returns true if the payload is
  // lent: nobody may change or free it until the sender gets `returned` through
  // OnLocal, once, whatever happens to the receiver. A lent message keeps no
  // order with other messages. Call from a handler of `from`.
  virtual bool Lend(ActorId from, ActorId to, const WireMessage& message,
                    Payload payload, const LocalMessage& returned) {
    (void)returned;
    Send(from, to, message, payload);
    return false;
  }
  // Brings an offer from another process; `offer` is its number in this
  // process's links. Returns false if the receiver does not exist.
  virtual bool Offer(ActorId from, ActorId to, const WireMessage& message,
                     uint64_t bytes, uint64_t offer) {
    (void)from, (void)to, (void)message, (void)bytes, (void)offer;
    return false;
  }
  // Sends each message in order, like Send. A world may bring messages to the
  // worker of their receivers together, so that the worker handles none before
  // all are there.
  virtual void SendAll(absl::Span<const Arrival> arrivals) {
    for (const Arrival& one : arrivals) {
      Send(one.from, one.to, one.message, one.payload);
    }
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

  // Returns the number of messages, hot and control, whose receiver did not
  // exist.
  virtual uint64_t undelivered() const = 0;

  // Notifies `actor` through OnPeerDown and OnPeerUp of each host that goes or
  // comes again, once for each of its epochs. For hosts that changed before
  // this call, the actor gets the last state. It gets no news of its own host.
  // The epochs of a host count up from 1.
  virtual void WatchPeers(LocalId actor) = 0;
  // Reports that a host is gone in `epoch` and all earlier ones. No watcher is
  // notified if that is known already, or if the host is up in a newer epoch.
  // Called by the transport between processes (on any thread that is not a
  // worker), and by a simulation.
  virtual void ReportPeerDown(int32_t host, uint32_t epoch) = 0;
  // Reports that a host is up in `epoch`, which implies that it is gone in the
  // epoch before; watchers are notified of that first if it was not reported.
  // Messages of the host may come before this report, and also after it is
  // reported down. Same callers as ReportPeerDown.
  virtual void ReportPeerUp(int32_t host, uint32_t epoch) = 0;

  // Returns the place where the handlers of `worker` (taken modulo
  // num_workers()) find the gate through which they enter kernels. The returned
  // pointer is valid as long as the world; the gate that it points to may
  // differ from one handler to the next.
  virtual KernelGate* const* kernel_gate(int worker) = 0;
  // Adds `by` (negative to subtract) to the number of launches that may run
  // kernels. While the number is positive, a world that can do so looks for
  // kernels that do not return. Any thread.
  virtual void ExpectKernels(int by) = 0;
  // Hint: the handler is about to run for long. Flushes messages batched so
  // far.
  virtual void TakesLong() {}
  // Ends an actor: no handler of it runs again, and messages to it are dropped.
  // Call from a handler on its worker; if that handler is its own, it is the
  // last one.
  virtual void Retire(LocalId actor) = 0;

  // Returns the virtual time that `actor` now takes for work of nominal time
  // `cost`.
  virtual TimeNs CostNow(LocalId actor, TimeNs cost) {
    (void)actor;
    return cost;
  }
  // Returns true if kernels cost virtual time (their estimate) rather than real
  // time.
  virtual bool simulated() const = 0;

  // Drives the world from a thread that is not a worker until `done`, which is
  // called on that thread, returns true. On threads this waits, and may run
  // handlers meanwhile. In a simulation it runs events; it returns false if
  // none is left and `done` is still false (nothing can ever happen again).
  virtual bool RunUntil(absl::FunctionRef<bool()> done) = 0;
  // Does what RunUntil does, but on threads also returns false once `limit_ns`
  // nanoseconds have passed, if that is not negative. A simulation, in which no
  // time passes, takes no account of the limit.
  virtual bool RunUntilLimit(absl::FunctionRef<bool()> done, TimeNs limit_ns) {
    (void)limit_ns;
    return RunUntil(done);
  }
  // Makes RunUntil evaluate its condition again. Any thread.
  virtual void Notify() = 0;
  // Messages that a thread which is not a worker sends between BeginCall and
  // EndCall may be delayed until EndCall, and this thread may then handle them
  // inside EndCall. The thread must not hold a lock there that a handler takes.
  // Calls may be nested.
  virtual void BeginCall() {}
  virtual void EndCall() {}

  // Stops the world: no handler runs after Stop returns, and queued messages
  // are dropped.
  virtual void Stop() = 0;

 protected:
  static void SetLocalId(Actor* actor, LocalId id) { actor->local_id_ = id; }
};

// Scope of a user's call into a world: BeginCall when constructed, EndCall when
// destroyed.
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
