//===- socket_bind.h - Listening sockets ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_SOCKET_BIND_H_
#define RUNTIME_TRANSPORT_SOCKET_SOCKET_BIND_H_

#include <sys/types.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/transport/descriptor.h"
#include "runtime/transport/socket_address.h"

namespace pathways {

// A socket that listens. Its destructor removes the file of a Unix socket,
// unless another socket has replaced it.
class BoundSocket {
 public:
  // Binds a socket and listens. A file of a Unix socket on which no process
  // listens any more is replaced; a new file can be used by this user only.
  // Returns errors, with `text`, as Transport::Listen.
  static absl::StatusOr<BoundSocket> Bind(const SocketAddress& address,
                                          const Endpoint& endpoint,
                                          absl::string_view text);
  BoundSocket(BoundSocket&& other) noexcept
      : socket_(std::move(other.socket_)),
        path_(std::exchange(other.path_, "")),
        device_(other.device_),
        inode_(other.inode_) {}
  BoundSocket& operator=(BoundSocket&&) = delete;
  ~BoundSocket();

  int fd() const { return socket_.get(); }
  uint16_t port() const;

 private:
  BoundSocket() = default;

  Descriptor socket_;
  std::string path_;  // file of the Unix socket
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_SOCKET_BIND_H_
