//===- node_transport.h - Transports of a cluster's processes ---*- C++ -*-===//
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
#include "pathways/Options.h"
#include "runtime/node/process.h"

namespace pathways {

// Options that processes which link to each other share.
struct LinkOptions {
  // A file with the cluster's key, in the format of ClusterKey::Read. Empty: no
  // key; then "tcp:" addresses cannot be used, unless trust_loopback is set.
  std::string key_file;
  // Trusts every process of this machine.
  bool trust_loopback = false;
  // For workers that listen on "ucx:" addresses or dial them: what UCX uses,
  // "shm" or "tcp". Empty: no UCX.
  std::string ucx;
  // Faults of the network that are simulated for what this process sends, in
  // the format of ParseChaosOptions; Membership messages still arrive once and
  // in order. Empty: none.
  std::string chaos;
  // Called for each peer that was refused, as in SocketOptions.
  std::function<void(absl::string_view from, const absl::Status& why)> refused;
};

// Returns a factory of socket transports, with UCX if options.ucx is set.
// Returns InvalidArgument if UCX cannot use what options.ucx names, or the
// errors of ClusterKey::Read and ParseChaosOptions.
absl::StatusOr<TransportFactory> MakeLinks(const LinkOptions& options);

// Completes "HOST:PORT" to "tcp:HOST:PORT", and returns any other text
// unchanged.
std::string MakeNodeAddress(absl::string_view text);

// Returns the reason why a controller could not be dialed. If nobody listens
// there, adds the command that starts a controller.
absl::Status NobodyThere(absl::string_view address, absl::Status status);

// Returns an address of this process, with a free port or name, at which
// processes that this one can dial can dial it; it is of the kind of
// `controller`. Returns InvalidArgument or Unavailable if `controller` is no
// address, or is unknown.
absl::StatusOr<std::string> AddressTowards(const std::string& controller);

// Returns true if an address is one of UCX, which only workers can dial.
bool IsUcxAddress(absl::string_view address);

// Returns the arguments of a worker of this machine for its links.
// `own_socket`: an address for this worker alone.
std::vector<std::string> WorkerLinkArguments(RunOptions::WorkerLinks links,
                                             absl::string_view own_socket);

}  // namespace pathways

#endif  // RUNTIME_NODE_NODE_TRANSPORT_H_
