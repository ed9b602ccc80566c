//===- socket_dial.h - Dialing of sockets -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_SOCKET_DIAL_H_
#define RUNTIME_TRANSPORT_SOCKET_SOCKET_DIAL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/transport/socket/byte_stream.h"
#include "runtime/transport/socket/socket_handshake.h"
#include "runtime/transport/socket/tls_context.h"
#include "runtime/transport/socket_address.h"

namespace pathways {

// Tries the endpoints one after the other, and shakes hands with the first that
// accepts, on this thread. Returns Cancelled early when `cancel_fd` becomes
// readable. Other errors are as for Transport::Dial, and contain `text`.
absl::StatusOr<std::unique_ptr<ByteStream>> DialSocket(
    absl::string_view text, const std::vector<Endpoint>& endpoints,
    absl::Duration timeout, int cancel_fd, const TransportName& own,
    const TlsContext* tls);

// Sets the options of a connection's socket, whichever side dialed.
void PrepareSocket(int fd);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_SOCKET_DIAL_H_
