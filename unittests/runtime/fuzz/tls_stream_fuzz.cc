//===- tls_stream_fuzz.cc - Whoever has no key ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "runtime/base/temporary_file.h"
#include "runtime/transport/socket/cluster_key.h"
#include "runtime/transport/socket/make_stream.h"
#include "runtime/transport/socket/tls_context.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

constexpr size_t kMostOfStrangers = 4 << 10;  // frames.md

std::unique_ptr<const TlsContext> MakeContext() {
  TemporaryFile file;
  FUZZ_CHECK(file.Create(std::filesystem::temp_directory_path() / "key.", "",
                         0600) == 0);
  const std::string digits(2 * ClusterKey::kBytes, '5');
  FUZZ_CHECK(WriteAll(file.fd(), {digits.data(), digits.size()}) == 0);
  auto key = ClusterKey::Read(file.path());
  FUZZ_CHECK(key.ok());
  return TlsContext::Make(*std::move(key));
}

}  // namespace

// Memory that OpenSSL takes for itself does not count.
const fuzz::Budget fuzz::kBudget = {64 << 10, 4};

}  // namespace pathways

// The first byte: who dialed, and how the rest is cut, which comes from the
// other side. It opens nothing, and little of it is read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  static const TlsContext* const context = MakeContext().release();
  FUZZ_CHECK(context != nullptr);
  fuzz::Input input(data, std::min<size_t>(size, 32 << 10));
  const uint8_t mode = input.Byte();
  const std::string bytes = input.TakeRest();
  int ends[2];
  FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const Descriptor far(ends[1]);
  const std::unique_ptr<ByteStream> stream =
      MakeStream(Descriptor(ends[0]), context, /*dialed=*/mode % 2 != 0);
  absl::string_view rest = bytes;
  const size_t cut = mode < 128 ? bytes.size() : 1 + bytes.size() / 3;
  size_t sent = 0;
  absl::StatusOr<bool> open = stream->Open();
  FUZZ_CHECK(open.ok() && !*open);
  while (open.ok() && !rest.empty()) {
    const ssize_t some =
        write(far.get(), rest.data(), std::min(cut, rest.size()));
    FUZZ_CHECK(some > 0);
    sent += some;
    rest.remove_prefix(some);
    open = stream->Open();
    FUZZ_CHECK(!open.ok() || !*open);
  }
  FUZZ_CHECK(open.ok() || absl::IsPermissionDenied(open.status()));
  int left = 0;
  FUZZ_CHECK(ioctl(stream->fd(), FIONREAD, &left) == 0);
  FUZZ_CHECK(sent - left <= kMostOfStrangers + 1);
  return 0;
}
