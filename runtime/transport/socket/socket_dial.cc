//===- socket_dial.cc - Dialing of sockets ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/socket_dial.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/steady_time.h"
#include "runtime/transport/descriptor.h"
#include "runtime/transport/socket/make_stream.h"

namespace pathways {
namespace {

constexpr int kRoomBytes = 256 << 10;
// A machine that acknowledges nothing for kSilenceMs is gone. After
// kIdleSeconds without traffic it is probed every kProbeSeconds.
constexpr int kSilenceMs = 10'000, kIdleSeconds = 5, kProbeSeconds = 1;

bool IsItself(int fd) {
  Endpoint own, other;
  own.bytes = other.bytes = sizeof own.storage;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&own.storage),
                     &own.bytes) == 0 &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&other.storage),
                     &other.bytes) == 0 &&
         own.port() != 0 && own.bytes == other.bytes &&
         std::memcmp(&own.storage, &other.storage, own.bytes) == 0;
}

class Dialer {
 public:
  Dialer(absl::string_view text, SteadyTime deadline, int cancel_fd,
         const TransportName& own, const TlsContext* tls)
      : text_(text),
        deadline_(deadline),
        cancel_fd_(cancel_fd),
        own_(own),
        tls_(tls) {}

  absl::StatusOr<std::unique_ptr<ByteStream>> Dial(const Endpoint& endpoint) {
    absl::StatusOr<Descriptor> socket = Connect(endpoint);
    if (!socket.ok()) return socket.status();
    if (endpoint.storage.ss_family == AF_UNIX) {
      absl::Status status = CheckSameUser(socket->get());
      if (!status.ok()) return Named(status);
    }
    PrepareSocket(socket->get());
    std::unique_ptr<ByteStream> stream =
        MakeStream(*std::move(socket),
                   endpoint.storage.ss_family == AF_UNIX ? nullptr : tls_,
                   /*dialed=*/true);
    SocketHandshake handshake(stream.get(), own_);
    for (;;) {
      absl::StatusOr<SocketHandshake::Needs> needs = handshake.Step();
      if (!needs.ok()) return Named(needs.status());
      if (*needs == SocketHandshake::Needs::kNothing) return stream;
      absl::Status status = Wait(stream->fd(), POLLIN);
      if (!status.ok()) return status;
    }
  }

 private:
  absl::StatusOr<Descriptor> Connect(const Endpoint& endpoint) {
    Descriptor socket(::socket(endpoint.storage.ss_family,
                               SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.get() < 0) return SystemError("dial", text_, errno);
    int error = 0;
    // If a Unix socket has no room for a further connection, connect fails with
    // EAGAIN, and nothing signals when there is room.
    while (connect(socket.get(), endpoint.get(), endpoint.bytes) != 0) {
      error = errno;
      if (error != EAGAIN && error != EINTR) break;
      absl::Status status = Wait(-1, 0);
      if (!status.ok()) return status;
      error = 0;
    }
    if (error == EINPROGRESS) {
      absl::Status status = Wait(socket.get(), POLLOUT);
      if (!status.ok()) return status;
      socklen_t bytes = sizeof error;
      getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    }
    // If the port is in the range of ephemeral ports, the system may give it to
    // this socket, which is then connected to itself.
    if (error == 0 && IsItself(socket.get())) error = ECONNREFUSED;
    if (error != 0) return SystemError("dial", text_, error);
    return socket;
  }

  // Waits until the descriptor is ready, or a moment if there is none.
  absl::Status Wait(int fd, short events) {
    constexpr int kMomentMs = 1;
    for (;;) {
      const absl::Duration left = deadline_ - SteadyTime::Now();
      if (left <= absl::ZeroDuration()) {
        return absl::DeadlineExceededError(
            absl::StrCat("cannot dial '", text_, "': no answer came in time",
                         Tag(ErrorId::kCannotReach)));
      }
      pollfd waits[] = {{cancel_fd_, POLLIN, 0}, {fd, events, 0}};
      constexpr int64_t kLongestMs = 1'000'000;
      const int64_t ms =
          std::min(absl::ToInt64Milliseconds(left), kLongestMs) + 1;
      const int ready = poll(waits, fd < 0 ? 1 : 2,
                             fd < 0 ? kMomentMs : static_cast<int>(ms));
      if (waits[0].revents != 0) {
        return absl::CancelledError("the transport has stopped");
      }
      if (ready > 0 || (ready == 0 && fd < 0)) return absl::OkStatus();
    }
  }

  absl::Status Named(const absl::Status& why) const {
    return Coded(ErrorId::kCannotReach,
                 absl::Status(why.code(), absl::StrCat("cannot dial '", text_,
                                                       "': ", why.message())));
  }

  const absl::string_view text_;
  const SteadyTime deadline_;
  const int cancel_fd_;
  const TransportName own_;
  const TlsContext* const tls_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> DialSocket(
    absl::string_view text, const std::vector<Endpoint>& endpoints,
    absl::Duration timeout, int cancel_fd, const TransportName& own,
    const TlsContext* tls) {
  Dialer dialer(text, SteadyTime::Now() + timeout, cancel_fd, own, tls);
  absl::Status first;
  for (const Endpoint& endpoint : endpoints) {
    absl::StatusOr<std::unique_ptr<ByteStream>> stream = dialer.Dial(endpoint);
    if (stream.ok() || absl::IsCancelled(stream.status())) return stream;
    if (first.ok()) first = stream.status();
  }
  return first;
}

void PrepareSocket(int fd) {
  Endpoint other;
  other.bytes = sizeof other.storage;
  getpeername(fd, reinterpret_cast<sockaddr*>(&other.storage), &other.bytes);
  // Inside a machine a larger buffer is not faster, and urgent messages wait
  // for its contents. TCP's buffer is the receiver's: a sender without room
  // waits for an acknowledgement, which may be delayed by 40 ms.
  const int room = kRoomBytes;
  if (other.storage.ss_family == AF_UNIX) {
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    return;
  }
  const int yes = 1;
  if (other.is_local()) {
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  } else {
    // The system's default is to give up after a quarter of an hour, and never
    // while nothing is in flight.
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kSilenceMs,
               sizeof kSilenceMs);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds,
               sizeof kIdleSeconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kProbeSeconds,
               sizeof kProbeSeconds);
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // Bytes that the network does not take yet are better kept in the queue,
  // where urgent messages can overtake them.
  const int unsent = kRoomBytes;
  setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

}  // namespace pathways
