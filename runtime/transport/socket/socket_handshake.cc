//===- socket_handshake.cc - Handshake before the first frame ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/socket_handshake.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

// Beginning of every hello, with the version. The transport's name follows.
constexpr char kBegin[] = "pathways\x01\0\0\0\0\0\0";
constexpr size_t kBeginBytes = sizeof kBegin;  // including the last 0
constexpr size_t kWordBytes = 8;

}  // namespace

TransportName NewTransportName() {
  TransportName name;
  for (size_t have = 0; have < name.size();) {
    const ssize_t got = getrandom(name.data() + have, name.size() - have, 0);
    if (got > 0) have += got;
  }
  return name;
}

SocketHandshake::SocketHandshake(ByteStream* stream, const TransportName& own)
    : stream_(stream) {
  static_assert(kBeginBytes + sizeof(TransportName) == kHelloBytes);
  std::memcpy(own_, kBegin, kBeginBytes);
  std::memcpy(own_ + kBeginBytes, own.data(), own.size());
}

absl::StatusOr<SocketHandshake::Needs> SocketHandshake::Step() {
  const auto failed = [](absl::string_view why) {
    return absl::UnavailableError(
        absl::StrCat("the other side sent no hello: ", why));
  };
  if (!open_) {
    absl::StatusOr<bool> open = stream_->Open();
    if (!open.ok()) return open.status();
    if (!*open) return Needs::kToRead;
    open_ = true;
  }
  if (!sent_) {
    // A new connection always has room for a hello.
    const iovec part = {own_, kHelloBytes};
    const ssize_t sent = stream_->Write(absl::MakeConstSpan(&part, 1));
    if (sent != kHelloBytes) {
      return failed(sent < 0 ? std::generic_category().message(errno)
                             : "the send buffer of the socket is full");
    }
    sent_ = true;
  }
  while (came_ < kHelloBytes) {
    const iovec part = {hello_ + came_, kHelloBytes - came_};
    const ssize_t came = stream_->Read(absl::MakeConstSpan(&part, 1));
    if (came < 0 && errno == EINTR) continue;
    if (came < 0 && errno == EAGAIN) return Needs::kToRead;
    if (came < 0) return failed(std::generic_category().message(errno));
    if (came == 0) return failed("the other side closed the connection");
    came_ += came;
    // The check comes early because a peer with another protocol may never send
    // a whole hello.
    if (std::memcmp(hello_, kBegin, std::min(came_, kWordBytes)) != 0) {
      return absl::InvalidArgumentError(
          "the other side does not speak the protocol of this transport");
    }
  }
  if (std::memcmp(hello_, kBegin, kBeginBytes) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the other side speaks version ", static_cast<uint8_t>(hello_[8]),
        " of the frame format, expected ", static_cast<uint8_t>(kBegin[8])));
  }
  if (std::memcmp(hello_, own_, kHelloBytes) == 0) {
    return absl::PermissionDeniedError(
        "the address leads back to this transport");
  }
  return Needs::kNothing;
}

absl::Status CheckSameUser(int fd) {
  ucred credentials = {};
  socklen_t bytes = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("the user of the other side cannot be determined: ",
                     std::generic_category().message(errno)));
  }
  if (credentials.uid == geteuid()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("the other side runs as user ", credentials.uid,
                   ", expected ", geteuid()));
}

}  // namespace pathways
