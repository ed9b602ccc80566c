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

// The transfers of one host: objects that it asks a client for, piece by piece,
// and objects that a client asks it for. Invariants: (1) an object that is
// asked for here is held until the transfer is over; (2) so is what a client
// asks for, until the request is over; (3) a client is told once
// that its values are read no more. One owner calls it.
class HostTransfers {
 public:
  // Sends to a client; the payload is read until the client asks for more, or
  // says that it has all.
  using Sender =
      std::function<void(uint32_t client, const WireMessage&, Payload)>;
  using Send = const Sender&;

  // Asks `client` for all bytes of an object that the store expects, and has
  // room for; for no room it only tells the client. Once for each object.
  void Pull(uint32_t client, HostStore::Ref object, Send send);
  // Asks again for what has not come. The more often it is called while nothing
  // comes, the fewer of the calls do so.
  void PullAgain(uint64_t object, Send send);
  // Nobody wants the object: asks for no more of it, and reads nothing that
  // still comes.
  void Stop(uint64_t object, Send send);
  // A piece from a client, or (poisoned) that it has none. True: the object is
  // complete now, or its status says why it will not be.
  bool OnBlock(uint32_t client, const WireMessage& message, Payload payload,
               Send send);

  // Lends an object to a client, whose request names it, and sends the piece
  // `first` of it. Null, or `status` is not OK: the client is told that there
  // is none, and why.
  void Lend(uint32_t client, uint64_t request, HostStore::Ref object,
            const absl::Status& status, uint32_t first, Send send);
  // Sends the piece `first` again, if that request is not over. The more often
  // it is called while the client asks for nothing, the fewer of the calls do.
  void LendAgain(uint32_t client, uint64_t request, uint32_t first, Send send);
  // A client asks for a piece of what it was lent.
  void OnPull(uint32_t client, const WireMessage& message, Send send);
  // The request is over.
  void EndLend(uint32_t client, uint64_t request) {
    lent_.erase({client, request});
  }
  // How far what was sent for a request has come: up to this piece; 0: it is
  // over, or there was none. What is sent again does not count.
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
    uint64_t sent = 0;  // up to this piece
    absl::Status why;   // there is no object; the client reads its text
    ResendGate again;
  };
  using Pulls = std::map<uint64_t, Pulling>;  // by object

  // Asks for what the window has room for.
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
