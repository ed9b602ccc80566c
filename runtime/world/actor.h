//===- actor.h - Receivers of messages --------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface that a World calls, and the messages that it brings.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_ACTOR_H_
#define RUNTIME_WORLD_ACTOR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/protocol/address.h"
#include "runtime/protocol/control_body.h"
#include "runtime/protocol/wire_message.h"

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

// A control message that has come.
struct ReceivedControl {
  // A message that crossed processes or hosts, as a serialized protocol buffer.
  ReceivedControl(std::string_view bytes)  // NOLINT: implicit
      : bytes(bytes) {}
  ReceivedControl(const std::string& bytes)  // NOLINT: implicit
      : bytes(bytes) {}
  ReceivedControl(const char* bytes)  // NOLINT: implicit
      : bytes(bytes) {}
  // A message that has not left the process.
  explicit ReceivedControl(ControlBody* body) : body(body) {}

  std::string_view bytes;       // valid only during the call
  ControlBody* body = nullptr;  // the receiver takes over one reference
};

// News of a host. The epochs of a host count up from 1.
struct PeerNews {
  int32_t host = 0;
  uint32_t epoch = 0;
  // False: the host is gone, with all actors that it had in this epoch or an
  // older one. True: it is up again in this epoch.
  bool is_up = false;
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
  // Handles a rare message. A message that crossed hosts may be delivered
  // twice. `from` is kNoActor if a thread of this process that is not a worker
  // sent it.
  virtual void OnControl(ActorId from, ReceivedControl message) {
    (void)from;
    if (message.body != nullptr) message.body->Release();
  }
  // Handles news of another host, once for each of its epochs and in their
  // order (PeerEvents::WatchPeers).
  virtual void OnPeer(const PeerNews& news) { (void)news; }

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

}  // namespace pathways

#endif  // RUNTIME_WORLD_ACTOR_H_
