//===- ucx_hello.h - First packet of a UCX connection -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout is in ucx.md.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_UCX_UCX_HELLO_H_
#define RUNTIME_TRANSPORT_UCX_UCX_HELLO_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace pathways {

enum class UcxPacket : unsigned {
  kHello = 1,
  kBytes = 2,
  kTaken = 3,
  kEnd = 4,
};

struct UcxHello {
  static constexpr size_t kBytes = 32;

  uint64_t secret = 0;
  uint64_t name = 0;  // random, of the transport
};

void EncodeUcxHello(const UcxHello& hello, char (&bytes)[UcxHello::kBytes]);
// Returns InvalidArgument if `bytes` are no hello, and PermissionDenied if it
// lacks the secret of `own`, or comes from the same transport.
absl::Status CheckUcxHello(absl::Span<const char> bytes, const UcxHello& own);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_HELLO_H_
