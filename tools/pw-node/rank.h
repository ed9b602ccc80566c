//===- rank.h - Rank of a process that a launcher started -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_NODE_RANK_H_
#define TOOLS_PW_NODE_RANK_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pathways::pw_node {

// Stands for the rank of the process in a host's name.
inline constexpr absl::string_view kRankMark = "%r";

// Function with the interface of getenv.
using Environment = absl::FunctionRef<const char*(const char* name)>;

// Returns `name` with each %r replaced by the rank that mpirun, srun or a
// Kubernetes Job has put into the environment. Under mpirun in a Slurm job,
// mpirun's rank counts, since it is the inner launcher. Returns InvalidArgument
// if there is no rank, or if it is not a number.
absl::StatusOr<std::string> FillRank(const std::string& name,
                                     Environment environment);

}  // namespace pathways::pw_node

#endif  // TOOLS_PW_NODE_RANK_H_
