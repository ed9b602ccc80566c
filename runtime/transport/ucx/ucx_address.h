//===- ucx_address.h - Addresses of UCX listeners ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_UCX_UCX_ADDRESS_H_
#define RUNTIME_TRANSPORT_UCX_UCX_ADDRESS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/transport/socket_address.h"

namespace pathways {

struct UcxAddress {
  std::string shown;  // text without the secret
  uint64_t secret = 0;
  Endpoint endpoint;
};

// Parses "ucx:HOST:PORT", perhaps with "/SECRET" of 16 hexadecimal digits, and
// resolves the host. Returns InvalidArgument or Unavailable as
// ParseSocketAddress and Resolve do; the error has the address without the
// secret.
absl::StatusOr<UcxAddress> ResolveUcx(absl::string_view text);
// Returns `shown` with the secret appended.
std::string WithSecret(absl::string_view shown, uint64_t secret);

// Returns "ucx:HOST:PORT" with a numeric host.
std::string DescribeUcx(const Endpoint& endpoint);

// Returns the network device through which this machine reaches the endpoint,
// or on which it listens there. Empty if that is unknown.
std::string DeviceTowards(const Endpoint& endpoint);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_ADDRESS_H_
