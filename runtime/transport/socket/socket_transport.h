//===- socket_transport.h - Transport over sockets --------------*- C++ -*-===//
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
  // Key by which both sides of "tcp:" recognize each other, under TLS 1.3.
  // Null: "tcp:" cannot be used, except with `trust_loopback`.
  std::shared_ptr<const ClusterKey> key;
  // Allows "tcp:" addresses without a key, on loopback only. Every process of
  // the machine is then trusted.
  bool trust_loopback = false;
  // Largest number of strangers, which are processes that have dialed and are
  // no peers yet. Beyond it, a newcomer replaces one of them (strangers.h).
  size_t max_strangers = 256;
  absl::Duration stranger_timeout = absl::Seconds(5);
  // Called for each stranger that was refused, with its address, as far as it
  // is known, and the reason. Runs on any thread; must not block, nor call the
  // transport.
  std::function<void(absl::string_view from, const absl::Status& why)> refused;
};

// Makes a transport over sockets. Addresses are "unix:/PATH" and "unix:@NAME",
// for processes of one user, and "tcp:HOST:PORT", where port 0 means any free
// port and an IPv6 address is in brackets. A Unix socket whose process is gone
// is replaced; one with a name leaves no file behind. A critical message is
// written by the thread that sends it, if nothing else waits; everything else
// is written by threads that poll, or by the transport's own thread, which
// sleeps while there is nothing to do. frames.md describes the bytes. `events`
// must outlive Stop.
std::unique_ptr<Transport> MakeSocketTransport(const SocketOptions& options,
                                               TransportEvents* events);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_SOCKET_TRANSPORT_H_
