//===- open_batches.h - Frames that are not sent yet ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_OPEN_BATCHES_H_
#define RUNTIME_WORLD_OPEN_BATCHES_H_

#include <array>
#include <cstddef>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "runtime/protocol/link_batch.h"
#include "runtime/transport/transport.h"

namespace pathways {

// The frames that one thread has added for peers and not sent yet, in one batch
// for each peer. Invariants: (1) frames for a peer are sent once, in the order
// added; (2) memory is taken for the largest number of peers that had a batch
// at one time, at most kMaxPeers. Used by one thread at a time. Frames that are
// not sent are dropped with the object.
class OpenBatches {
 public:
  static constexpr size_t kMaxPeers = 16;
  // Sends a batch. Called inside the functions that take it, which clear the
  // batch afterwards.
  using Send = absl::FunctionRef<void(PeerId peer, const BatchWriter& batch)>;

  // Adds a frame of kind kHot or kControl. Sends full batches first, if there
  // is no room. Returns false if the frame is too large for a batch; then all
  // frames added for the peer have been sent, and this one has not.
  bool Add(PeerId peer, const LinkFrame& frame, absl::Span<const char> bytes,
           Send send);
  void Flush(PeerId peer, Send send);
  // Sends all batches in the order in which they were begun.
  void FlushAll(Send send);
  bool empty() const { return size_ == 0; }

 private:
  struct Batch {
    PeerId peer{};
    std::unique_ptr<BatchWriter> frames;  // null: never used
  };

  // Returns the index of the peer's batch, or size_ if it has none.
  size_t Find(PeerId peer) const;

  size_t size_ = 0;  // batches in use, which come first; none of them is empty
  std::array<Batch, kMaxPeers> batches_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_OPEN_BATCHES_H_
