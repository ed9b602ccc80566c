//===- link_batch.cc - Batch of frames ------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/link_batch.h"

#include <cstring>

namespace pathways {

bool BatchWriter::Add(const LinkFrame& frame, absl::Span<const char> bytes) {
  if (sizeof(frame) + bytes.size() > sizeof(data_) - bytes_) return false;
  std::memcpy(data_ + bytes_, &frame, sizeof(frame));
  bytes_ += sizeof(frame);
  if (!bytes.empty()) std::memcpy(data_ + bytes_, bytes.data(), bytes.size());
  bytes_ += bytes.size();
  ++count_;
  const LinkFrame header = LinkFrame::Batch(bytes_ - sizeof(header));
  std::memcpy(data_, &header, sizeof(header));
  return true;
}

void BatchWriter::Clear() {
  count_ = 0;
  bytes_ = sizeof(LinkFrame);
}

absl::Span<const char> BatchWriter::header() const {
  return absl::MakeConstSpan(data_ + begin(), sizeof(LinkFrame));
}

absl::Span<const char> BatchWriter::payload() const {
  const size_t first = begin() + sizeof(LinkFrame);
  return absl::MakeConstSpan(data_ + first, bytes_ - first);
}

bool BatchReader::IsBatch(absl::Span<const char> payload) {
  BatchReader reader(payload);
  while (reader.Next().has_value()) {
  }
  return reader.rest_.empty() && !payload.empty();
}

std::optional<BatchReader::Entry> BatchReader::Next() {
  LinkFrame header;
  if (rest_.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, rest_.data(), sizeof(header));
  const uint64_t bytes = header.wire.payload_bytes;
  if (bytes > rest_.size() - sizeof(header) ||
      (header.kind != LinkFrame::kHot && header.kind != LinkFrame::kControl)) {
    return std::nullopt;
  }
  const std::optional<LinkFrame> frame =
      ReadLinkFrame(rest_.first(sizeof(header)), bytes);
  if (!frame.has_value()) return std::nullopt;
  const Entry entry = {*frame, rest_.subspan(sizeof(header), bytes)};
  rest_.remove_prefix(sizeof(header) + bytes);
  return entry;
}

}  // namespace pathways
