//===- client_actor.h - The address of a client -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_CLIENT_ACTOR_H_
#define RUNTIME_CLIENT_CLIENT_ACTOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/client/client_transfers.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/directory.h"
#include "runtime/world/control_actor.h"

namespace pathways {

// Last numbers used at an address. Successive clients of the address continue
// to count from these, so that a late message is never taken for one of theirs.
struct ClientNumbers {
  uint64_t sequence = 0;  // last message to the controller
  uint64_t request = 0, run = 0, object = 0;
};

// Actor to which the world delivers a client's messages. It outlives the
// clients that have the address, which is one at a time. An address is free
// again when its last client is gone and the controller has confirmed that. Any
// thread may call it; a handler runs on the actor's worker, and never after
// Detach has returned.
class ClientActor final : public ControlActor {
 public:
  using Handler = std::function<void(const proto::Control&)>;
  using Tick = std::function<void()>;

  // All arguments outlive the actor.
  ClientActor(World* world, const Directory* directory, ControlPool* controls,
              uint32_t index)
      : ControlActor(world, directory, controls, directory->client(index)),
        world_(*world),
        directory_(*directory),
        index_(index) {}

  // Index of the address, as in Control::client.
  uint32_t index() const { return index_; }

  // Gives the address to a client of that name. Returns false if it is not
  // free.
  bool Attach(const std::string& name);
  // Sets the handlers of messages and of timers.
  void Listen(Handler handler, Tick tick = nullptr);
  // Calls the timer handler after `delay`. Must be called from a handler.
  void TickAfter(TimeNs delay);
  // Returns a function with which any thread that is no worker notifies the
  // actor that a FileReader has read something.
  std::function<void()> FileTeller();
  // Stops delivery of messages to the client. The address is free when
  // `request` has been answered; at once if it is 0.
  void Detach(uint64_t request);
  // Both return true if a client is gone and the controller has not confirmed
  // that yet; the second one only if that client has the name. The world is
  // notified when that ends.
  bool leaving() const { return leaving_.load() != 0; }
  bool leaving(const std::string& name);

  void OnWire(ActorId from, const WireMessage& message,
              Payload payload) override;
  void OnLocal(const LocalMessage& message) override;
  void OnPeer(const PeerNews& news) override {
    if (!news.is_up) transfers_.HostGone(news.host);
  }

  // Transfers between hosts and the clients of this address, in either
  // direction.
  ClientTransfers& transfers() { return transfers_; }
  const ClientTransfers& transfers() const { return transfers_; }

  // Guarded by the lock of the client.
  ClientNumbers numbers;

 private:
  // Kind of the local message that files were read; all others are timers.
  static constexpr uint16_t kFilesRead = 1;

  void OnMessage(ActorId from, ControlRef control) override;

  World& world_;
  const Directory& directory_;
  const uint32_t index_;
  ClientTransfers transfers_;
  std::atomic<uint64_t> leaving_{0};  // request to answer; 0: none
  Mutex mutex_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
  std::string name_ ABSL_GUARDED_BY(mutex_);
  Handler handler_ ABSL_GUARDED_BY(mutex_);
  Tick tick_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLIENT_ACTOR_H_
