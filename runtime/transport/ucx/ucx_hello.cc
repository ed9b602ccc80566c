//===- ucx_hello.cc - First packet of a UCX connection --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/ucx/ucx_hello.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

// Beginning of every hello, with the version.
constexpr char kBegin[] = "pathways\x02\0\0\0\0\0\0";
constexpr size_t kBeginBytes = sizeof kBegin;  // including the last 0
static_assert(kBeginBytes + 2 * sizeof(uint64_t) == UcxHello::kBytes);

}  // namespace

void EncodeUcxHello(const UcxHello& hello, char (&bytes)[UcxHello::kBytes]) {
  std::memcpy(bytes, kBegin, kBeginBytes);
  std::memcpy(bytes + kBeginBytes, &hello.secret, sizeof hello.secret);
  std::memcpy(bytes + kBeginBytes + sizeof hello.secret, &hello.name,
              sizeof hello.name);
}

absl::Status CheckUcxHello(absl::Span<const char> bytes, const UcxHello& own) {
  if (bytes.size() != UcxHello::kBytes ||
      std::memcmp(bytes.data(), kBegin, kBeginBytes) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the first ", bytes.size(),
        " bytes of the other side are not a hello of this version"));
  }
  UcxHello hello;
  std::memcpy(&hello.secret, bytes.data() + kBeginBytes, sizeof hello.secret);
  std::memcpy(&hello.name, bytes.data() + kBeginBytes + sizeof hello.secret,
              sizeof hello.name);
  if (hello.secret != own.secret) {
    return absl::PermissionDeniedError(
        "the other side does not know the secret");
  }
  if (hello.name == own.name) {
    return absl::PermissionDeniedError(
        "the address leads back to this transport");
  }
  return absl::OkStatus();
}

}  // namespace pathways
