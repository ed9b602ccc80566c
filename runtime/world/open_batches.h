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

// What one thread has to say to peers, a batch for each. Invariants: (1) what
// is added for a peer is sent once, in the order added; (2) memory is taken for
// the most peers that ever had a batch at one time, kMaxPeers of them. One
// thread at a time. What is not sent when it is destroyed is dropped.
class OpenBatches {
 public:
  static constexpr size_t kMaxPeers = 16;
  // Called inside the calls that take it; the batch is empty after.
  using Send = absl::FunctionRef<void(PeerId peer, const BatchWriter& batch)>;

  // Of kind kHot or kControl. Sends what is in the way first. False: it fits no
  // batch; all that was added for the peer has been sent.
  bool Add(PeerId peer, const LinkFrame& frame, absl::Span<const char> bytes,
           Send send);
  void Flush(PeerId peer, Send send);
  // To all, in the order in which their batches were begun.
  void FlushAll(Send send);
  bool empty() const { return size_ == 0; }

 private:
  struct Batch {
    PeerId peer{};
    std::unique_ptr<BatchWriter> frames;  // null: never used
  };

  // The peer's, perhaps size_: it has none.
  size_t Find(PeerId peer) const;

  size_t size_ = 0;  // those in use are first, and none of them is empty
  std::array<Batch, kMaxPeers> batches_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_OPEN_BATCHES_H_
