//===- explain_reshard.h - Routes of changes of layout ----------*- C++ -*-===//
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

// One change of the layout or the slice of an array in a program.
struct ReshardText {
  // A way to do it; bytes are per step of the program.
  struct Route {
    std::string steps;  // text; empty: nothing moves
    int64_t ici_bytes = 0, dcn_bytes = 0;
    int64_t num_steps = 0;
    // Peak of a shard, which holds both sides of a step.
    int64_t peak_bytes = 0;
    int64_t ns = 0;       // time on the links of the topology
    bool counted = true;  // false: estimated, as if all shards were alike
  };
  std::string title;          // location, and from what to what
  std::vector<Route> routes;  // the chosen one first
};

// Returns the title and a table of the routes of each.
std::string ReshardsText(const std::vector<ReshardText>& reshards);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_EXPLAIN_RESHARD_H_
