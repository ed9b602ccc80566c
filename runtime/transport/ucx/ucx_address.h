//===- ucx_address.h - Names of UCX listeners -------------------*- C++ -*-===//
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
  std::string shown;  // without the secret
  uint64_t secret = 0;
  Endpoint endpoint;
};

// "ucx:HOST:PORT", perhaps with "/SECRET" in 16 hexadecimal digits.
// InvalidArgument, Unavailable: as ParseSocketAddress and Resolve, naming it
// without the secret.
absl::StatusOr<UcxAddress> ResolveUcx(absl::string_view text);
// `shown` with the secret.
std::string WithSecret(absl::string_view shown, uint64_t secret);

// "ucx:HOST:PORT" in numbers.
std::string DescribeUcx(const Endpoint& endpoint);

// The network device by which this machine reaches it, or on which it listens
// there; empty: that is not known.
std::string DeviceTowards(const Endpoint& endpoint);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_ADDRESS_H_
