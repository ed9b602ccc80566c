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

// Last numbers that were used at an address. Clients that have it one after the
// other go on counting, so that nothing late is taken for something of theirs.
struct ClientNumbers {
  uint64_t sequence = 0;  // of what was sent to the controller
  uint64_t request = 0, run = 0, object = 0;
};

// What the world delivers to: it outlives the clients that have the address,
// which is one at a time. An address is free again when its last client is gone
// and the controller has said so. Any thread; a handler runs on the actor's
// worker, and never after Detach has returned.
class ClientActor final : public ControlActor {
 public:
  using Handler = std::function<void(const proto::Control&)>;
  using Tick = std::function<void()>;

  // All outlive it.
  ClientActor(World* world, const Directory* directory, ControlPool* controls,
              uint32_t index)
      : ControlActor(world, directory, controls, directory->client(index)),
        world_(*world),
        directory_(*directory),
        index_(index) {}

  // As Control::client.
  uint32_t index() const { return index_; }

  // Gives the address to a client of that name; false: it is not free.
  bool Attach(const std::string& name);
  // Who gets what comes, and is told the time.
  void Listen(Handler handler, Tick tick = nullptr);
  // Has it told after `delay`. From the handler.
  void TickAfter(TimeNs delay);
  // Tells the actor, from any thread that is no worker, that a FileReader has
  // read something.
  std::function<void()> FileTeller();
  // No message reaches the client any more. The address is free when `request`
  // has been answered; 0: at once.
  void Detach(uint64_t request);
  // Whether a client is gone and the controller has not said so yet; of a name.
  // The world is notified when that ends.
  bool leaving() const { return leaving_.load() != 0; }
  bool leaving(const std::string& name);

  void OnWire(ActorId from, const WireMessage& message,
              Payload payload) override;
  void OnLocal(const LocalMessage& message) override;
  void OnPeerDown(int32_t host, uint32_t) override {
    transfers_.HostGone(host);
  }

  // What hosts read of clients that had the address, and the reverse.
  ClientTransfers& transfers() { return transfers_; }
  const ClientTransfers& transfers() const { return transfers_; }

  // The client's, under its lock.
  ClientNumbers numbers;

 private:
  // Of local messages; others are timers.
  static constexpr uint16_t kFilesRead = 1;

  void OnMessage(ActorId from, ControlRef control) override;

  World& world_;
  const Directory& directory_;
  const uint32_t index_;
  ClientTransfers transfers_;
  std::atomic<uint64_t> leaving_{0};  // request
  Mutex mutex_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
  std::string name_ ABSL_GUARDED_BY(mutex_);
  Handler handler_ ABSL_GUARDED_BY(mutex_);
  Tick tick_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLIENT_ACTOR_H_
