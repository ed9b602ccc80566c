//===- socket_address.h - Where sockets are ---------------------*- C++ -*-===//
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

// "unix:/PATH", or "unix:@NAME" in the system's own space of names, where
// nothing stays behind; or "tcp:HOST:PORT" where an IPv6 address is in
// brackets.
struct SocketAddress {
  bool is_unix = false;
  bool is_abstract = false;  // @NAME
  std::string path;          // or NAME
  std::string host;
  uint16_t port = 0;
};

// InvalidArgument, naming the text.
absl::StatusOr<SocketAddress> ParseSocketAddress(absl::string_view text);

struct Endpoint {
  sockaddr_storage storage = {};
  socklen_t bytes = 0;

  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  // No machine but this one reaches it.
  bool is_local() const;
  uint16_t port() const;  // 0 of a Unix socket
};

// What the system calls the address. Looks a name up, which may wait.
// Unavailable: the host is not known.
absl::StatusOr<std::vector<Endpoint>> Resolve(const SocketAddress& address,
                                              absl::string_view text);

// "cannot `what` '`text`': ", and the system's reason.
absl::Status SystemError(absl::string_view what, absl::string_view text,
                         int error);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_ADDRESS_H_
