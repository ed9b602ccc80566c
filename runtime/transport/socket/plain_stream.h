//===- plain_stream.h - Stream of a socket without TLS ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_PLAIN_STREAM_H_
#define RUNTIME_TRANSPORT_SOCKET_PLAIN_STREAM_H_

#include <sys/socket.h>

#include <utility>

#include "runtime/transport/descriptor.h"
#include "runtime/transport/socket/byte_stream.h"

namespace pathways {

// Passes bytes on unchanged.
class PlainStream : public ByteStream {
 public:
  explicit PlainStream(Descriptor socket) : socket_(std::move(socket)) {}

  absl::StatusOr<bool> Open() override { return true; }
  ssize_t Write(absl::Span<const iovec> parts) override {
    msghdr message = {};
    message.msg_iov = const_cast<iovec*>(parts.data());
    message.msg_iovlen = parts.size();
    return sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  ssize_t Read(absl::Span<const iovec> parts) override {
    msghdr message = {};
    message.msg_iov = const_cast<iovec*>(parts.data());
    message.msg_iovlen = parts.size();
    return recvmsg(fd(), &message, MSG_DONTWAIT);
  }
  void EndWriting() override { shutdown(fd(), SHUT_WR); }
  void Break() override { shutdown(fd(), SHUT_RDWR); }
  int fd() const override { return socket_.get(); }

 private:
  const Descriptor socket_;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_PLAIN_STREAM_H_
