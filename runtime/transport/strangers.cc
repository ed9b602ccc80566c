//===- strangers.cc - Choice of a stranger that gives way -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/strangers.h"

#include <map>
#include <utility>

namespace pathways {

absl::string_view StrangerAddress(absl::string_view who) {
  const size_t colon = who.rfind(':');
  return colon == absl::string_view::npos ? who : who.substr(0, colon);
}

size_t WhoGivesWay(absl::Span<const Stranger> strangers) {
  std::map<absl::string_view, size_t> has;  // number of strangers by address
  for (const Stranger& stranger : strangers) ++has[stranger.address];
  size_t chosen = 0;
  std::pair<bool, size_t> most;
  for (size_t i = 0; i < strangers.size(); ++i) {
    const std::pair<bool, size_t> rank(!strangers[i].has_spoken,
                                       has[strangers[i].address]);
    if (rank <= most) continue;
    most = rank;
    chosen = i;
  }
  return chosen;
}

}  // namespace pathways
