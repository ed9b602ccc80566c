//===- ucx_hello.h - The first packet of a connection -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ucx.md has the layout.
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
  uint64_t name = 0;  // of the transport: random
};

void EncodeUcxHello(const UcxHello& hello, char (&bytes)[UcxHello::kBytes]);
// InvalidArgument: this is none. PermissionDenied: it has not the secret of
// `own`, or is its own.
absl::Status CheckUcxHello(absl::Span<const char> bytes, const UcxHello& own);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_HELLO_H_
