//===- socket_handshake.h - Before the first frame --------------*- C++ -*-===//
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

// What a transport is known by: random, and no secret.
using TransportName = std::array<char, 16>;
TransportName NewTransportName();

// Opens a stream and exchanges hellos over it (frames.md). Never waits: Step
// says what it needs. One thread at a time; `stream` outlives it.
class SocketHandshake {
 public:
  enum class Needs { kNothing, kToRead };

  // A stream that leads back to `own` is refused: what knows a key by what the
  // other side can do with it must not be answered by its own listener.
  SocketHandshake(ByteStream* stream, const TransportName& own);

  // InvalidArgument: the other side speaks something else; PermissionDenied: it
  // does not know the key, or is this transport; Unavailable: it went.
  absl::StatusOr<Needs> Step();

 private:
  static constexpr size_t kHelloBytes = 32;

  ByteStream* const stream_;
  bool open_ = false, sent_ = false;
  size_t came_ = 0;
  char own_[kHelloBytes], hello_[kHelloBytes];
};

// PermissionDenied: the process at the other end of a Unix socket is of another
// user.
absl::Status CheckSameUser(int fd);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_SOCKET_HANDSHAKE_H_
