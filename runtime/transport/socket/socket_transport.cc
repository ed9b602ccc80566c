//===- socket_transport.cc - Transport over sockets -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/socket_transport.h"

#include <sys/eventfd.h>

#include <asio/post.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/transport/socket/polled_context.h"
#include "runtime/transport/socket/socket_connection.h"
#include "runtime/transport/socket/socket_dial.h"
#include "runtime/transport/socket/socket_greeter.h"
#include "runtime/transport/socket/socket_listener.h"

namespace pathways {
namespace {

class SocketTransport : public Transport {
 public:
  SocketTransport(const SocketOptions& options, TransportEvents* events)
      : options_(options),
        stop_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        tls_(options.key == nullptr ? nullptr : TlsContext::Make(options.key)),
        home_{&polled_, events, options.limits,
              [this](PeerId peer) { Forget(peer); }},
        greeter_(std::make_shared<SocketGreeter>(
            &polled_.context(),
            SocketGreeter::Options{
                options.max_strangers, options.stranger_timeout, own_,
                tls_.get(),
                [this](std::unique_ptr<ByteStream> stream) {
                  Add(std::move(stream), /*announce=*/true).IgnoreError();
                },
                options.refused})) {}
  // NOLINTNEXTLINE(bugprone-exception-escape): cancelling a timer never fails.
  ~SocketTransport() override { SocketTransport::Stop(); }

  absl::StatusOr<std::string> Listen(absl::string_view address) override;
  absl::StatusOr<PeerId> Dial(absl::string_view address,
                              absl::Duration timeout) override;

  void Send(PeerId peer, Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload) override {
    if (auto to = Find(peer)) to->Send(urgency, header, payload);
  }
  void Expect(PeerId peer, uint64_t token, void* memory,
              uint64_t bytes) override {
    if (auto from = Find(peer)) from->Expect(token, memory, bytes);
  }
  void Put(PeerId peer, uint64_t token, absl::Span<const char> bytes,
           std::function<void()> sent) override {
    auto to = Find(peer);
    if (to == nullptr || !to->Put(token, bytes, &sent)) {
      asio::post(polled_.context(), std::move(sent));
    }
  }
  uint64_t backlog(PeerId peer) const override {
    auto of = Find(peer);
    return of == nullptr ? 0 : of->backlog();
  }
  void Close(PeerId peer) override {
    if (auto connection = Find(peer)) connection->Close();
  }
  bool Poll() override { return polled_.Poll(); }
  void OnIdle() override { polled_.OnIdle(); }
  void Stop() override;

 private:
  using Connection = std::shared_ptr<SocketConnection>;

  // Returns the system's addresses for `address`, if the options permit its
  // use.
  absl::StatusOr<std::vector<Endpoint>> FindEndpoints(
      const SocketAddress& address, absl::string_view text) const;
  absl::StatusOr<PeerId> Add(std::unique_ptr<ByteStream> stream, bool announce);
  Connection Find(PeerId peer) const;
  void Forget(PeerId peer);

  const SocketOptions options_;
  const Descriptor stop_fd_;  // wakes threads in Dial
  const TransportName own_ = NewTransportName();
  const std::unique_ptr<const TlsContext> tls_;  // outlives its streams
  PolledContext polled_;  // outlives everything that waits in it
  const SocketConnection::Home home_;
  const std::shared_ptr<SocketGreeter> greeter_;
  mutable Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  uint32_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<PeerId, Connection> peers_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<SocketListener>> listeners_
      ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::vector<Endpoint>> SocketTransport::FindEndpoints(
    const SocketAddress& address, absl::string_view text) const {
  absl::StatusOr<std::vector<Endpoint>> endpoints = Resolve(address, text);
  if (!endpoints.ok() || address.is_unix) return endpoints;
  if (options_.key != nullptr) {
    if (tls_ != nullptr) return endpoints;
    return absl::InternalError(
        absl::StrCat("'", text, "' needs TLS 1.3, which OpenSSL lacks"));
  }
  for (const Endpoint& endpoint : *endpoints) {
    if (options_.trust_loopback && endpoint.is_local()) continue;
    return absl::PermissionDeniedError(
        absl::StrCat("'", text, "' needs a key",
                     endpoint.is_local() ? ", or an option that trusts loopback"
                                         : ": it is not loopback",
                     Tag(ErrorId::kKeyNeeded)));
  }
  return endpoints;
}

absl::StatusOr<std::string> SocketTransport::Listen(absl::string_view address) {
  absl::StatusOr<SocketAddress> parsed = ParseSocketAddress(address);
  if (!parsed.ok()) return parsed.status();
  absl::StatusOr<std::vector<Endpoint>> endpoints =
      FindEndpoints(*parsed, address);
  if (!endpoints.ok()) return endpoints.status();
  absl::StatusOr<BoundSocket> socket =
      BoundSocket::Bind(*parsed, endpoints->front(), address);
  if (!socket.ok()) return socket.status();
  const uint16_t port = socket->port();
  auto listener = std::make_shared<SocketListener>(
      &polled_.context(), *std::move(socket), parsed->is_unix, greeter_);
  MutexLock lock(&mutex_);
  if (stopped_ || !listener->Start()) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on '", address,
                     stopped_ ? "': the transport has stopped"
                              : "': the system cannot watch the socket"));
  }
  listeners_.push_back(std::move(listener));
  if (parsed->is_unix) return std::string(address);
  return absl::StrCat(address.substr(0, address.rfind(':') + 1), port);
}

absl::StatusOr<PeerId> SocketTransport::Dial(absl::string_view address,
                                             absl::Duration timeout) {
  absl::StatusOr<SocketAddress> parsed = ParseSocketAddress(address);
  if (!parsed.ok()) return parsed.status();
  absl::StatusOr<std::vector<Endpoint>> endpoints =
      FindEndpoints(*parsed, address);
  if (!endpoints.ok()) return endpoints.status();
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = DialSocket(
      address, *endpoints, timeout, stop_fd_.get(), own_, tls_.get());
  if (absl::IsCancelled(stream.status())) {
    return absl::UnavailableError(absl::StrCat(
        "cannot dial '", address, "': ", stream.status().message()));
  }
  if (!stream.ok()) return stream.status();
  return Add(*std::move(stream), /*announce=*/false);
}

absl::StatusOr<PeerId> SocketTransport::Add(std::unique_ptr<ByteStream> stream,
                                            bool announce) {
  PrepareSocket(stream->fd());
  Connection connection;
  PeerId peer;
  {
    MutexLock lock(&mutex_);
    if (stopped_) return absl::UnavailableError("the transport has stopped");
    peer = PeerId{++last_};
    connection = std::make_shared<SocketConnection>(
        &home_, peer, std::move(stream), announce);
    peers_.emplace(peer, connection);
  }
  connection->Start();
  return peer;
}

SocketTransport::Connection SocketTransport::Find(PeerId peer) const {
  MutexLock lock(&mutex_);
  const auto found = peers_.find(peer);
  return found == peers_.end() ? nullptr : found->second;
}

void SocketTransport::Forget(PeerId peer) {
  MutexLock lock(&mutex_);
  peers_.erase(peer);
}

void SocketTransport::Stop() {
  std::unordered_map<PeerId, Connection> peers;
  std::vector<std::shared_ptr<SocketListener>> listeners;
  {
    MutexLock lock(&mutex_);
    stopped_ = true;
    peers.swap(peers_);
    listeners.swap(listeners_);
  }
  eventfd_write(stop_fd_.get(), 1);
  for (auto& listener : listeners) listener->Close();
  polled_.Stop();
  // Connections may be abandoned in any order.
  for (auto& [peer, connection] : peers) connection->Abandon();
}

}  // namespace

std::unique_ptr<Transport> MakeSocketTransport(const SocketOptions& options,
                                               TransportEvents* events) {
  return std::make_unique<SocketTransport>(options, events);
}

}  // namespace pathways
