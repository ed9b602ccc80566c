//===- socket_handshake.h - Handshake before the first frame ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_SOCKET_HANDSHAKE_H_
#define RUNTIME_TRANSPORT_SOCKET_SOCKET_HANDSHAKE_H_

#include <array>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/transport/socket/byte_stream.h"

namespace pathways {

// Name of a transport: random, and not secret.
using TransportName = std::array<char, 16>;
TransportName NewTransportName();

// Opens a stream and exchanges hellos over it (frames.md). Never blocks: Step
// returns what it waits for. One thread at a time. `stream` must outlive it.
class SocketHandshake {
 public:
  enum class Needs { kNothing, kToRead };

  // Refuses a stream that leads back to the transport `own`: a process that
  // proves its key by what the other side can do with it must not be answered
  // by its own listener.
  SocketHandshake(ByteStream* stream, const TransportName& own);

  // Advances the handshake. Returns InvalidArgument if the other side speaks
  // another protocol, PermissionDenied if it does not know the key or is this
  // transport, and Unavailable if it is gone.
  absl::StatusOr<Needs> Step();

 private:
  static constexpr size_t kHelloBytes = 32;

  ByteStream* const stream_;
  bool open_ = false, sent_ = false;
  size_t came_ = 0;
  char own_[kHelloBytes], hello_[kHelloBytes];
};

// Returns PermissionDenied if the process at the other end of a Unix socket
// belongs to another user.
absl::Status CheckSameUser(int fd);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_SOCKET_HANDSHAKE_H_
