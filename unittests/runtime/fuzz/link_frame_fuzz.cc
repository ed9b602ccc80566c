//===- link_frame_fuzz.cc - Frames and batches on links -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <string>

#include "runtime/protocol/link_batch.h"
#include "runtime/protocol/link_frame.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

bool IsSame(absl::Span<const char> bytes, absl::string_view text) {
  return absl::string_view(bytes.data(), bytes.size()) == text;
}

void CheckHeader(const std::string& bytes, size_t payload_bytes) {
  const auto frame = ReadLinkFrame(bytes, payload_bytes);
  if (!frame.has_value()) return;
  FUZZ_CHECK(IsSame(AsBytes(*frame), bytes));
  FUZZ_CHECK(frame->kind >= LinkFrame::kHot &&
             frame->kind <= LinkFrame::kRefuse);
  // An offer comes with its token alone.
  const bool has_token = frame->kind > LinkFrame::kBatch;
  FUZZ_CHECK(!has_token || payload_bytes == LinkFrame::kTokenBytes);
  FUZZ_CHECK(frame->kind == LinkFrame::kOffer ||
             frame->wire.payload_bytes == payload_bytes);
}

void CheckBatch(const std::string& payload) {
  const bool is_batch = BatchReader::IsBatch(payload);
  BatchReader reader(payload);
  BatchWriter writer;
  size_t read = 0;
  bool fits = true;
  while (const auto entry = reader.Next()) {
    const LinkFrame& frame = entry->frame;
    FUZZ_CHECK(frame.kind == LinkFrame::kHot ||
               frame.kind == LinkFrame::kControl);
    // Entries stand one behind the other, within the batch.
    FUZZ_CHECK(entry->payload.data() ==
               payload.data() + read + sizeof(LinkFrame));
    FUZZ_CHECK(entry->payload.size() == frame.wire.payload_bytes);
    read += sizeof(LinkFrame) + entry->payload.size();
    FUZZ_CHECK(read <= payload.size());
    fits = fits && writer.Add(frame, entry->payload);
  }
  FUZZ_CHECK(is_batch == (read > 0 && read == payload.size()));
  if (!is_batch) return;
  // The frame that would be sent for it is the same frame.
  FUZZ_CHECK(fits == (payload.size() <= kMaxBatchBytes - sizeof(LinkFrame)));
  if (!fits) return;
  const std::string sent =
      writer.count() == 1
          ? std::string(writer.header().data(), writer.header().size())
          : "";
  FUZZ_CHECK(
      sent + std::string(writer.payload().data(), writer.payload().size()) ==
      payload);
  FUZZ_CHECK(
      ReadLinkFrame(writer.header(), writer.payload().size()).has_value());
}

}  // namespace

const fuzz::Budget fuzz::kBudget = {32 << 10, 8};

}  // namespace pathways

// A header of any length, whose payload is as long as it says or has as many
// bytes as the next number; and all of it as a batch.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  CheckBatch(fuzz::Input(data, size).TakeRest());
  fuzz::Input input(data, size);
  const std::string header = input.Take(sizeof(LinkFrame));
  CheckHeader(header, input.Number(2));
  if (header.size() == sizeof(LinkFrame)) {
    LinkFrame frame;
    std::memcpy(&frame, header.data(), sizeof(frame));
    CheckHeader(header, frame.wire.payload_bytes);
  }
  return 0;
}
