//===- socket_transport.h - Between processes by sockets --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_SOCKET_TRANSPORT_H_
#define RUNTIME_TRANSPORT_SOCKET_SOCKET_TRANSPORT_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/transport/socket/cluster_key.h"
#include "runtime/transport/transport.h"

namespace pathways {

struct SocketOptions {
  TransportLimits limits;
  // By which both sides of "tcp:" know each other, under TLS 1.3. Null: "tcp:"
  // is not for use, but for:
  std::shared_ptr<const ClusterKey> key;
  // Lets "tcp:" addresses be used without a key, on loopback alone. Every
  // process of the machine is then taken for a friend.
  bool trust_loopback = false;
  // Strangers have dialed and are not peers yet. When there are so many, a
  // newcomer takes the place of one of them (strangers.h).
  size_t max_strangers = 256;
  absl::Duration stranger_timeout = absl::Seconds(5);
  // Told of each that was refused: where it dialed from, as far as it is known,
  // and why. On any thread; must not block, nor call the transport.
  std::function<void(absl::string_view from, const absl::Status& why)> refused;
};

// Addresses are "unix:/PATH" and "unix:@NAME", for processes of one user, and
// "tcp:HOST:PORT", where port 0 is one that is free, and an IPv6 address is in
// brackets. A Unix socket whose process is gone is replaced; one with a name
// leaves nothing behind. A critical message is written by
// the thread that sends it, where nothing waits; all else by threads that poll,
// or by the transport's own, which sleeps while nothing is there. What goes
// over a socket is in frames.md. `events` outlives Stop.
std::unique_ptr<Transport> MakeSocketTransport(const SocketOptions& options,
                                               TransportEvents* events);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_SOCKET_TRANSPORT_H_
