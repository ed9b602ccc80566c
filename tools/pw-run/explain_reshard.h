//===- explain_reshard.h - How arrays could have moved ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_EXPLAIN_RESHARD_H_
#define TOOLS_PW_RUN_EXPLAIN_RESHARD_H_

#include <cstdint>
#include <string>
#include <vector>

namespace pathways::pw_run {

// One change of layout or slice of a program.
struct ReshardText {
  // A way to do it; bytes are of one step of the program.
  struct Route {
    std::string steps;  // in words; empty: nothing moves
    int64_t ici_bytes = 0, dcn_bytes = 0;
    int64_t num_steps = 0;
    int64_t peak_bytes = 0;  // of a shard before and after one of its steps
    int64_t ns = 0;          // by the links of the topology
    bool counted = true;     // else all shards are taken to be alike
  };
  std::string title;          // where, and from what to what
  std::vector<Route> routes;  // the one that is taken first
};

// For each its title and a table of its routes.
std::string ReshardsText(const std::vector<ReshardText>& reshards);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_EXPLAIN_RESHARD_H_
