//===- make_stream.cc - Choice between TLS and plain streams ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/make_stream.h"

#include <utility>

#include "runtime/transport/socket/plain_stream.h"
#include "runtime/transport/socket/tls_stream.h"

namespace pathways {

std::unique_ptr<ByteStream> MakeStream(Descriptor socket, const TlsContext* tls,
                                       bool dialed) {
  if (tls == nullptr) return std::make_unique<PlainStream>(std::move(socket));
  return std::make_unique<TlsStream>(tls, std::move(socket), dialed);
}

}  // namespace pathways
