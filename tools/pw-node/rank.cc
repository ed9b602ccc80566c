//===- rank.cc - Rank of a process that a launcher started ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-node/rank.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace pathways::pw_node {
namespace {

// Variables with the rank, inner launchers first: one may run in another's job.
constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_RANK", "SLURM_PROCID",
                                      "JOB_COMPLETION_INDEX"};

}  // namespace

absl::StatusOr<std::string> FillRank(const std::string& name,
                                     Environment environment) {
  if (!absl::StrContains(name, kRankMark)) return name;
  for (const char* variable : kVariables) {
    const char* text = environment(variable);
    if (text == nullptr) continue;
    uint32_t rank = 0;
    if (!absl::SimpleAtoi(text, &rank)) {
      return absl::InvalidArgumentError(absl::StrCat("--host=", name, ": ",
                                                     variable, " is '", text,
                                                     "', expected a number"));
    }
    return absl::StrReplaceAll(name, {{kRankMark, absl::StrCat(rank)}});
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--host=", name, ": no launcher has given a rank: none of ",
                   absl::StrJoin(kVariables, ", "), " is set"));
}

}  // namespace pathways::pw_node
