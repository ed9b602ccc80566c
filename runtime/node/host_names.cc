//===- host_names.cc - Names of hosts for messages ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/host_names.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace pathways {

std::string HostNames(const Topology& topology,
                      absl::Span<const uint32_t> hosts) {
  constexpr size_t kMost = 4;
  std::string text = absl::StrJoin(
      hosts.subspan(0, kMost), ", ", [&](std::string* out, uint32_t host) {
        absl::StrAppend(out, "'", topology.HostName(static_cast<int>(host)),
                        "'");
      });
  if (hosts.size() > kMost) {
    absl::StrAppend(&text, " and ", hosts.size() - kMost, " more");
  }
  return text;
}

}  // namespace pathways
