//===- frame_decoder_fuzz.cc - Frames out of any stream -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/transport/frame_decoder.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

// More than the decoder's own buffer.
constexpr uint64_t kMost = 100'000;

// Keeps what it is told.
class Sink : public FrameSink {
 public:
  absl::Status OnWholeMessage(absl::Span<const char> header,
                              absl::Span<const char> payload) override {
    bytes += header.size() + payload.size();
    told.push_back(
        absl::StrCat("m", header.size(), " ",
                     absl::string_view(header.data(), header.size()),
                     absl::string_view(payload.data(), payload.size())));
    return absl::OkStatus();
  }
  absl::StatusOr<absl::Span<char>> FindPayload(uint64_t token) override {
    constexpr size_t kBytes[] = {0, 5, 300, 70'000};
    if (token >= std::size(kBytes)) {
      return absl::InvalidArgumentError("not expected");
    }
    memory_[token].assign(kBytes[token], '.');
    memory_[token].shrink_to_fit();
    return absl::MakeSpan(memory_[token]);
  }
  absl::Status OnWholePayload(uint64_t token) override {
    const std::vector<char>& memory = memory_.at(token);
    bytes += memory.size();
    told.push_back(absl::StrCat(
        "p", token, " ", absl::string_view(memory.data(), memory.size())));
    return absl::OkStatus();
  }

  std::vector<std::string> told;
  size_t bytes = 0;

 private:
  std::map<uint64_t, std::vector<char>> memory_;
};

// Feeds `stream` as if a socket brought `cut` bytes at a time, 0: all.
absl::Status Feed(FrameDecoder* decoder, absl::string_view stream, size_t cut) {
  while (!stream.empty()) {
    size_t came = 0, room = cut == 0 ? stream.size() : cut;
    const auto buffers = decoder->Buffers();
    FUZZ_CHECK(!buffers[0].empty());
    for (absl::Span<char> buffer : buffers) {
      const size_t bytes = std::min({buffer.size(), stream.size(), room});
      if (bytes > 0) std::memcpy(buffer.data(), stream.data(), bytes);
      stream.remove_prefix(bytes);
      room -= bytes;
      came += bytes;
    }
    absl::Status status = decoder->Advance(came);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void CheckFrame(absl::string_view stream) {
  if (stream.size() < kFrameBytes) return;
  const absl::StatusOr<Frame> frame = DecodeFrame(stream.data());
  if (!frame.ok()) return;
  char again[kFrameBytes];
  EncodeFrame(*frame, again);
  FUZZ_CHECK(std::memcmp(again, stream.data(), kFrameBytes) == 0);
}

}  // namespace

// The decoder with its buffer, twice, and two messages in pieces.
const fuzz::Budget fuzz::kBudget = {2 * (64 << 10) + 4 * kMost + (512 << 10),
                                    16};

}  // namespace pathways

// The first byte: how the stream is cut. What comes in pieces is the same as
// what comes whole, and no more is told than came.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  fuzz::Input input(data, size);
  const size_t cut = 1 + input.Byte();
  const std::string stream = input.TakeRest();
  CheckFrame(stream);

  Sink whole, cut_up;
  FrameDecoder one(kMost, &whole), other(kMost, &cut_up);
  const absl::Status status = Feed(&one, stream, 0);
  FUZZ_CHECK(Feed(&other, stream, cut) == status);
  FUZZ_CHECK(whole.told == cut_up.told);
  FUZZ_CHECK(whole.bytes <= stream.size());
  FUZZ_CHECK(status.ok() || absl::IsInvalidArgument(status));
  if (status.ok()) {
    FUZZ_CHECK(one.is_between_frames() == other.is_between_frames());
  }
  return 0;
}
