//===- make_stream.h - Choice between TLS and plain streams -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_MAKE_STREAM_H_
#define RUNTIME_TRANSPORT_SOCKET_MAKE_STREAM_H_

#include <memory>

#include "runtime/transport/descriptor.h"
#include "runtime/transport/socket/byte_stream.h"
#include "runtime/transport/socket/tls_context.h"

namespace pathways {

// Returns the stream of a connected socket, without TLS if `tls` is null.
// `dialed`: this side dialed.
std::unique_ptr<ByteStream> MakeStream(Descriptor socket, const TlsContext* tls,
                                       bool dialed);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_MAKE_STREAM_H_
