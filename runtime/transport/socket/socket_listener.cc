//===- socket_listener.cc - Acceptor of connections -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/socket_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

constexpr int kAtATime = 16;
// If the system has no free descriptors, trying again at once is useless.
constexpr std::chrono::milliseconds kPause{100};

std::string NameOf(const Endpoint& endpoint) {
  char text[INET6_ADDRSTRLEN] = "";
  if (endpoint.storage.ss_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&endpoint.storage);
    inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
    return absl::StrCat("tcp:", text, ":", endpoint.port());
  }
  if (endpoint.storage.ss_family == AF_INET6) {
    const auto* in = reinterpret_cast<const sockaddr_in6*>(&endpoint.storage);
    inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text);
    return absl::StrCat("tcp:[", text, "]:", endpoint.port());
  }
  return "a process of this machine";
}

}  // namespace

SocketListener::SocketListener(asio::io_context* context, BoundSocket socket,
                               bool is_unix,
                               std::shared_ptr<SocketGreeter> greeter)
    : is_unix_(is_unix),
      greeter_(std::move(greeter)),
      socket_(std::move(socket)),
      watch_(*context),
      pause_(*context) {}

SocketListener::~SocketListener() {
  MutexLock lock(&mutex_);
  if (watch_.is_open()) watch_.release();  // the socket owns the descriptor
}

bool SocketListener::Start() {
  MutexLock lock(&mutex_);
  asio::error_code error;
  watch_.assign(socket_->fd(), error);
  if (error) return false;
  Wait();
  return true;
}

void SocketListener::Close() {
  MutexLock lock(&mutex_);
  if (watch_.is_open()) watch_.release();
  pause_.cancel();
  socket_.reset();
}

void SocketListener::Wait() {
  watch_.async_wait(asio::posix::stream_descriptor::wait_read,
                    [self = shared_from_this()](const asio::error_code& error) {
                      if (!error) self->Accept();
                    });
}

void SocketListener::Accept() {
  std::vector<std::pair<Descriptor, std::string>> accepted;
  {
    MutexLock lock(&mutex_);
    if (!socket_) return;
    int error = 0;
    for (int i = 0; i < kAtATime && error == 0; ++i) {
      Endpoint from;
      from.bytes = sizeof from.storage;
      Descriptor socket(accept4(socket_->fd(),
                                reinterpret_cast<sockaddr*>(&from.storage),
                                &from.bytes, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket.get() < 0) {
        error = errno;
      } else {
        accepted.emplace_back(std::move(socket), NameOf(from));
      }
    }
    if (error == EMFILE || error == ENFILE || error == ENOBUFS ||
        error == ENOMEM) {
      pause_.expires_after(kPause);
      pause_.async_wait(
          [self = shared_from_this()](const asio::error_code& cancelled) {
            if (!cancelled) self->Accept();
          });
    } else {
      Wait();
    }
  }
  for (auto& [socket, who] : accepted) {
    greeter_->Greet(std::move(socket), is_unix_, std::move(who));
  }
}

}  // namespace pathways
