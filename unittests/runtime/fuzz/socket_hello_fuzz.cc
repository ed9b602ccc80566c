//===- socket_hello_fuzz.cc - Whoever dials a socket ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "runtime/transport/socket/socket_handshake.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

using Needs = SocketHandshake::Needs;

constexpr char kBegin[] = "pathways\x01\0\0\0\0\0\0";  // frames.md
constexpr size_t kBytes = 32;
constexpr TransportName kOwn = {'o', 'w', 'n', ' ', 'n', 'a', 'm', 'e',
                                'o', 'w', 'n', ' ', 'n', 'a', 'm', 'e'};

// Brings `cut` bytes at a time, between which there are none for a while, and
// then the end.
class Stream final : public ByteStream {
 public:
  Stream(absl::string_view bytes, size_t cut) : rest_(bytes), cut_(cut) {}

  absl::StatusOr<bool> Open() override { return ++opened_ > 1; }
  ssize_t Write(absl::Span<const iovec> parts) override {
    for (const iovec& part : parts) {
      written.append(static_cast<const char*>(part.iov_base), part.iov_len);
    }
    return static_cast<ssize_t>(written.size());
  }
  ssize_t Read(absl::Span<const iovec> parts) override {
    if (!rest_.empty() && ++reads_ % 3 != 0) {
      errno = reads_ % 3 == 1 ? EAGAIN : EINTR;
      return -1;
    }
    const size_t bytes = std::min({rest_.size(), parts[0].iov_len, cut_});
    std::memcpy(parts[0].iov_base, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
    read += bytes;
    return static_cast<ssize_t>(bytes);
  }
  void EndWriting() override {}
  void Break() override {}
  int fd() const override { return -1; }

  std::string written;
  size_t read = 0;

 private:
  absl::string_view rest_;
  const size_t cut_;
  int opened_ = 0, reads_ = 0;
};

// What is to come of it.
absl::StatusCode Expected(absl::string_view bytes) {
  bytes = bytes.substr(0, kBytes);
  const size_t word = std::min<size_t>(bytes.size(), 8);
  if (bytes.substr(0, word) != absl::string_view(kBegin, word)) {
    return absl::StatusCode::kInvalidArgument;
  }
  if (bytes.size() < kBytes) return absl::StatusCode::kUnavailable;
  if (bytes.substr(0, 16) != absl::string_view(kBegin, 16)) {
    return absl::StatusCode::kInvalidArgument;
  }
  return bytes.substr(16) == absl::string_view(kOwn.data(), kOwn.size())
             ? absl::StatusCode::kPermissionDenied
             : absl::StatusCode::kOk;
}

}  // namespace

const fuzz::Budget fuzz::kBudget = {16 << 10, 4};

}  // namespace pathways

// The first byte: how the stream is cut.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  fuzz::Input input(data, size);
  const size_t cut = 1 + input.Byte() % 40;
  const std::string bytes = input.TakeRest();
  Stream stream(bytes, cut);
  SocketHandshake handshake(&stream, kOwn);
  absl::StatusOr<Needs> needs = Needs::kToRead;
  for (size_t steps = 0; needs.ok() && *needs == Needs::kToRead; ++steps) {
    FUZZ_CHECK(steps < 4 * kBytes);
    needs = handshake.Step();
  }
  FUZZ_CHECK(needs.status().code() == Expected(bytes));
  // Bytes after the hello are left to the next reader.
  FUZZ_CHECK(stream.read <= kBytes);
  FUZZ_CHECK(stream.written.size() == kBytes &&
             std::memcmp(stream.written.data(), kBegin, 16) == 0);
  return 0;
}
