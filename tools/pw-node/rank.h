//===- rank.h - Which of many a launcher has started ------------*- C++ -*-===//
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

// What a host's name has for the rank of the process that is it.
inline constexpr absl::string_view kRankMark = "%r";

// As getenv.
using Environment = absl::FunctionRef<const char*(const char* name)>;

// `name` with each %r replaced by the rank that mpirun, srun or a Kubernetes
// Job has put into the environment; with mpirun's where it is in a job of
// Slurm, since that is the nearer one. InvalidArgument: there is none, or it is
// no number.
absl::StatusOr<std::string> FillRank(const std::string& name,
                                     Environment environment);

}  // namespace pathways::pw_node

#endif  // TOOLS_PW_NODE_RANK_H_
