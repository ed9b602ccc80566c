//===- socket_address.h - Addresses of sockets ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_ADDRESS_H_
#define RUNTIME_TRANSPORT_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pathways {

// Address of a socket: "unix:/PATH", "unix:@NAME" in the system's abstract
// namespace, which leaves no file behind, or "tcp:HOST:PORT", where an IPv6
// address is in brackets.
struct SocketAddress {
  bool is_unix = false;
  bool is_abstract = false;  // true: unix:@NAME
  std::string path;          // PATH or NAME
  std::string host;
  uint16_t port = 0;
};

// Returns InvalidArgument, with the text, if it is no address.
absl::StatusOr<SocketAddress> ParseSocketAddress(absl::string_view text);

struct Endpoint {
  sockaddr_storage storage = {};
  socklen_t bytes = 0;

  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  // Returns true if only this machine can reach the endpoint.
  bool is_local() const;
  uint16_t port() const;  // 0 for a Unix socket
};

// Returns the system's addresses for `address`. Looks up the host's name, which
// may block. Returns Unavailable if the host is unknown.
absl::StatusOr<std::vector<Endpoint>> Resolve(const SocketAddress& address,
                                              absl::string_view text);

// Returns the error "cannot `what` '`text`': " with the system's reason.
absl::Status SystemError(absl::string_view what, absl::string_view text,
                         int error);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_ADDRESS_H_
