//===- host_names.h - Names of hosts for messages ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_HOST_NAMES_H_
#define RUNTIME_NODE_HOST_NAMES_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Returns, for example, "'host0', 'host1' and 5 more"; at most four names.
std::string HostNames(const Topology& topology,
                      absl::Span<const uint32_t> hosts);

}  // namespace pathways

#endif  // RUNTIME_NODE_HOST_NAMES_H_
