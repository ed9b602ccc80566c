//===- node_transport.h - How processes of a cluster speak ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_NODE_TRANSPORT_H_
#define RUNTIME_NODE_NODE_TRANSPORT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/run_options.h"
#include "runtime/node/process.h"

namespace pathways {

// What processes that link to each other have in common.
struct LinkOptions {
  // A file with the cluster's key, as ClusterKey::Read wants it; empty: none,
  // and then no address "tcp:" is for use, but for:
  std::string key_file;
  // Takes every process of this machine for a friend.
  bool trust_loopback = false;
  // Of workers: what UCX goes over, "shm" or "tcp", for who listens on "ucx:"
  // addresses or dials them; empty: there are none.
  std::string ucx;
  // What a bad network would do to what this process sends, as
  // ParseChaosOptions reads it, but Membership comes once and in order; empty:
  // nothing.
  std::string chaos;
  // Told of each who was refused, as SocketOptions says.
  std::function<void(absl::string_view from, const absl::Status& why)> refused;
};

// Makes sockets, and UCX when an address wants it. As ClusterKey::Read;
// InvalidArgument: UCX goes over nothing else, or as ParseChaosOptions.
absl::StatusOr<TransportFactory> MakeLinks(const LinkOptions& options);

// "HOST:PORT" is short for "tcp:HOST:PORT"; anything else stays as it is.
std::string MakeNodeAddress(absl::string_view text);

// Why a controller could not be dialed, and, where nobody listens, how to have
// one there.
absl::Status NobodyThere(absl::string_view address, absl::Status status);

// An address of this process, at any free port or name, that those who can be
// dialed from here can dial: of the kind of `controller`. InvalidArgument,
// Unavailable: it is none, or is unknown.
absl::StatusOr<std::string> AddressTowards(const std::string& controller);

// Whether an address is one of UCX, which workers alone can dial.
bool IsUcxAddress(absl::string_view address);

// What a worker of this machine is to listen on, and is told besides.
// `own_socket`: of the worker alone.
std::vector<std::string> WorkerLinkArguments(RunOptions::WorkerLinks links,
                                             absl::string_view own_socket);

}  // namespace pathways

#endif  // RUNTIME_NODE_NODE_TRANSPORT_H_
