//===- peer_link.h - Messages between two hosts -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_PEER_LINK_H_
#define RUNTIME_PROTOCOL_PEER_LINK_H_

#include <cstdint>

#include "runtime/protocol/sequence_window.h"
#include "runtime/protocol/wire_message.h"

namespace pathways {

// Numbers the messages to one other host, and decides which messages from it
// are handled. Invariants: (1) numbers belong to a pair of epochs: when either
// host is replaced they start again, and older messages do not count; (2) for
// each pair of epochs each number is new once; (3) epochs in messages are not
// trusted, so no message can block those of a later epoch. One owner calls it.
class PeerLink {
 public:
  enum Verdict {
    kNew,
    kSecondCopy,
    // The message is from or for an epoch that has ended or was not announced.
    kOtherEpoch,
  };

  PeerLink() = default;
  // `own`: epoch of this host; `peer`: known epoch of the other host.
  PeerLink(uint32_t own, uint32_t peer) : own_(own), peer_(peer) {}

  uint32_t peer_epoch() const { return peer_; }

  void Stamp(WireMessage* message) {
    message->from_epoch = own_;
    message->to_epoch = peer_;
    message->sequence = ++sent_;
  }
  Verdict Accept(const WireMessage& message) {
    if (message.to_epoch != own_ || message.from_epoch != peer_) {
      return kOtherEpoch;
    }
    return seen_.Accept(message.sequence) ? kNew : kSecondCopy;
  }
  // Announces that the peer is, or will come up, in `epoch`. Older epochs are
  // ignored.
  void Advance(uint32_t epoch) {
    if (epoch <= peer_) return;
    peer_ = epoch;
    sent_ = 0;
    seen_ = SequenceWindow();
  }

 private:
  uint32_t own_ = 0, peer_ = 0;
  uint64_t sent_ = 0;
  SequenceWindow seen_;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_PEER_LINK_H_
