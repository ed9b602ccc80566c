//===- link_batch.h - Several frames as one ---------------------*- C++ -*-===//
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

// What a batch that is written here has room for, header and entries. One that
// is read may be longer.
inline constexpr size_t kMaxBatchBytes = 8 << 10;

// Frames for one peer that are to go as one, byte by byte as in wire.md.
// Invariants: (1) they are read in the order added; (2) to add takes no memory.
// One thread at a time.
class BatchWriter {
 public:
  BatchWriter() { Clear(); }
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  // Whether one with so many bytes behind it has room in an empty one.
  static constexpr bool Fits(uint64_t bytes) {
    return bytes <= kMaxBatchBytes - 2 * sizeof(LinkFrame);
  }
  // Of kind kHot or kControl. False: it has no room here, nothing changed.
  bool Add(const LinkFrame& frame, absl::Span<const char> bytes);
  void Clear();

  uint32_t count() const { return count_; }
  // What is to be sent, when there is something. One frame goes as it is.
  absl::Span<const char> header() const;
  absl::Span<const char> payload() const;

 private:
  // Where the frame that is sent begins.
  size_t begin() const { return count_ == 1 ? sizeof(LinkFrame) : 0; }

  uint32_t count_ = 0;
  size_t bytes_ = 0;                      // with the header
  alignas(8) char data_[kMaxBatchBytes];  // the header, then entries
};

// Reads the entries of a batch's payload, in order. Reads nothing beyond it,
// whatever stands there.
class BatchReader {
 public:
  struct Entry {
    LinkFrame frame;
    absl::Span<const char> payload;  // of the frame, in the batch
  };
  explicit BatchReader(absl::Span<const char> payload) : rest_(payload) {}

  // Whether the payload is that of a batch: one entry or more, each a frame of
  // kind kHot or kControl, and nothing else.
  static bool IsBatch(absl::Span<const char> payload);
  // Nullopt: there is no further one, or what stands there is none.
  std::optional<Entry> Next();

 private:
  absl::Span<const char> rest_;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_LINK_BATCH_H_
