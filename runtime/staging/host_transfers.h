//===- host_transfers.h - Values between a host and clients -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_STAGING_HOST_TRANSFERS_H_
#define RUNTIME_STAGING_HOST_TRANSFERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/protocol/block_pull.h"
#include "runtime/protocol/resend_gate.h"
#include "runtime/protocol/wire_message.h"
#include "runtime/store/store.h"

namespace pathways {

// The transfers of one host: objects that it requests from clients, piece by
// piece, and objects that clients request from it. Invariants: (1) an object
// that this host requests is held until the transfer is over; (2) an object
// that a client requests is held until the request is over; (3) a client is
// notified once when its values are no longer read. Not thread-safe.
class HostTransfers {
 public:
  // Sends a message to a client. The payload may be read until the client
  // requests more or reports that it has everything.
  using Sender =
      std::function<void(uint32_t client, const WireMessage&, Payload)>;
  using Send = const Sender&;

  // Requests all bytes of `object` from `client`. The store must expect them
  // and have room for them; if it has no room, only notifies the client. At
  // most one transfer per object.
  void Pull(uint32_t client, HostStore::Ref object, Send send);
  // Repeats the requests that are in flight. Backs off: the more often it is
  // called without progress, the fewer calls send anything.
  void PullAgain(uint64_t object, Send send);
  // Cancels the transfer of an object that is no longer needed: requests no
  // more pieces, and ignores those that still arrive.
  void Stop(uint64_t object, Send send);
  // Handles a piece from a client or, if poisoned, the notice that the client
  // has none. Returns true if the object is now complete, or if its status says
  // why it never will be.
  bool OnBlock(uint32_t client, const WireMessage& message, Payload payload,
               Send send);

  // Lends an object to a client under the number of its request, and sends
  // piece `first`. If `object` is null or `status` is not OK, notifies the
  // client that there is no such piece, and why.
  void Lend(uint32_t client, uint64_t request, HostStore::Ref object,
            const absl::Status& status, uint32_t first, Send send);
  // Sends piece `first` again unless the request is over. Backs off: the more
  // often it is called while the client requests nothing, the fewer calls send
  // anything.
  void LendAgain(uint32_t client, uint64_t request, uint32_t first, Send send);
  // Sends a piece of an object that is lent to `client`.
  void OnPull(uint32_t client, const WireMessage& message, Send send);
  // Ends a request.
  void EndLend(uint32_t client, uint64_t request) {
    lent_.erase({client, request});
  }
  // Returns the number of the last piece that was sent for a request, plus 1; 0
  // if the request is over or does not exist. Resending does not count.
  uint64_t Sent(uint32_t client, uint64_t request) const;

  size_t num_pulls() const { return pulls_.size(); }
  size_t num_lent() const { return lent_.size(); }
  // Bytes written into objects.
  uint64_t bytes_stored() const { return bytes_stored_; }

 private:
  struct Pulling {
    uint32_t client;
    HostStore::Ref object;
    BlockPull pull;
    ResendGate again;
  };
  struct Lent {
    HostStore::Ref object;
    uint64_t sent = 0;  // number of the last piece sent, plus 1
    // Reason why there is no object; sent to the client.
    absl::Status why;
    ResendGate again;
  };
  using Pulls = std::map<uint64_t, Pulling>;  // by object

  // Requests pieces until the window is full.
  static void Ask(Pulling* pulling, Send send);
  void SendPiece(uint32_t client, uint64_t request, Lent* lent,
                 PulledPiece piece, Send send);
  static void SendNone(uint32_t client, uint64_t request, uint32_t first,
                       const absl::Status& why, Send send);
  void End(Pulls::iterator pulling, Send send);

  Pulls pulls_;
  std::map<std::pair<uint32_t, uint64_t>, Lent> lent_;  // by client and request
  uint64_t bytes_stored_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_STAGING_HOST_TRANSFERS_H_
