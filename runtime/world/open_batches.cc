//===- open_batches.cc - Frames that are not sent yet ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/open_batches.h"

#include <algorithm>

namespace pathways {

size_t OpenBatches::Find(PeerId peer) const {
  size_t i = 0;
  while (i < size_ && batches_[i].peer != peer) ++i;
  return i;
}

bool OpenBatches::Add(PeerId peer, const LinkFrame& frame,
                      absl::Span<const char> bytes, Send send) {
  if (!BatchWriter::Fits(bytes.size())) {
    Flush(peer, send);
    return false;
  }
  size_t i = Find(peer);
  if (i == kMaxPeers) {
    FlushAll(send);
    i = 0;
  }
  if (i == size_) {
    if (batches_[i].frames == nullptr) {
      batches_[i].frames = std::make_unique<BatchWriter>();
    }
    batches_[i].peer = peer;
    ++size_;
  }
  BatchWriter& frames = *batches_[i].frames;
  if (frames.Add(frame, bytes)) return true;
  send(peer, frames);
  frames.Clear();
  frames.Add(frame, bytes);
  return true;
}

void OpenBatches::Flush(PeerId peer, Send send) {
  const size_t i = Find(peer);
  if (i == size_) return;
  send(peer, *batches_[i].frames);
  batches_[i].frames->Clear();
  std::rotate(batches_.begin() + i, batches_.begin() + i + 1,
              batches_.begin() + size_);
  --size_;
}

void OpenBatches::FlushAll(Send send) {
  for (size_t i = 0; i < size_; ++i) {
    send(batches_[i].peer, *batches_[i].frames);
    batches_[i].frames->Clear();
  }
  size_ = 0;
}

}  // namespace pathways
