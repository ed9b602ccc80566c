//===- peer_link.h - Messages between this host and another -----*- C++ -*-===//
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

// Numbers what goes to one other host, and says what of that which comes is to
// be handled. Invariants: (1) numbers are of a pair of lives: when one of the
// two hosts starts again they begin anew, and nothing of before counts; (2) of
// each pair each number is new once; (3) what comes is not believed about
// lives, so no message stops what a later life says. One owner calls it.
class PeerLink {
 public:
  enum Verdict {
    kNew,
    kSecondCopy,
    kOtherEpoch,  // from, or for, a life that is over or not announced
  };

  PeerLink() = default;
  // `own`: this host's epoch; `peer`: that of the other, as far as it is known.
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
  // Has the processor ask for what Accept reads of such a number.
  void Prefetch(uint64_t sequence) const { seen_.Prefetch(sequence); }
  // The peer is known to live in this epoch, or will when it comes again; an
  // older one changes nothing.
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
