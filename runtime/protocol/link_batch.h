//===- link_batch.h - Batch of frames ---------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_LINK_BATCH_H_
#define RUNTIME_PROTOCOL_LINK_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "runtime/protocol/link_frame.h"

namespace pathways {

// Capacity of a batch written here, including header and entries. A received
// batch may be longer.
inline constexpr size_t kMaxBatchBytes = 8 << 10;

// Collects frames for one peer that go as one, in the format of wire.md.
// Invariants: (1) the reader gets them in the order added; (2) Add does not
// allocate. One thread at a time.
class BatchWriter {
 public:
  BatchWriter() { Clear(); }
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  // Returns true if a frame with `bytes` bytes of payload fits in an empty
  // batch.
  static constexpr bool Fits(uint64_t bytes) {
    return bytes <= kMaxBatchBytes - 2 * sizeof(LinkFrame);
  }
  // Adds a frame of kind kHot or kControl with its payload. Returns false and
  // changes nothing if there is no room.
  bool Add(const LinkFrame& frame, absl::Span<const char> bytes);
  void Clear();

  uint32_t count() const { return count_; }
  // Header and payload to send; count() must not be 0. A single frame is sent
  // without a batch around it.
  absl::Span<const char> header() const;
  absl::Span<const char> payload() const;

 private:
  // Offset in data_ of the frame to send.
  size_t begin() const { return count_ == 1 ? sizeof(LinkFrame) : 0; }

  uint32_t count_ = 0;
  size_t bytes_ = 0;                      // includes the header
  alignas(8) char data_[kMaxBatchBytes];  // the header, then entries
};

// Reads the entries of a batch's payload in order. Never reads beyond the
// payload, whatever the bytes are.
class BatchReader {
 public:
  struct Entry {
    LinkFrame frame;
    absl::Span<const char> payload;  // payload of the frame, in the batch
  };
  explicit BatchReader(absl::Span<const char> payload) : rest_(payload) {}

  // Returns true if the payload is that of a batch: one or more frames of kind
  // kHot or kControl, and nothing else.
  static bool IsBatch(absl::Span<const char> payload);
  // Returns the next entry, or nullopt if there is none or the bytes are no
  // entry.
  std::optional<Entry> Next();

 private:
  absl::Span<const char> rest_;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_LINK_BATCH_H_
