//===- explain_kernels.h - Cost of a plan's kernels -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_EXPLAIN_KERNELS_H_
#define TOOLS_PW_RUN_EXPLAIN_KERNELS_H_

#include <map>
#include <string>
#include <vector>

#include "runtime/proto/plan.pb.h"

namespace pathways::pw_run {

// Origin of a kernel's code in this process.
struct CodeOrigin {
  bool is_cached = false;  // otherwise compiled
  double seconds = 0;
  struct Path {
    std::string place, op, path;
  };
  std::vector<Path> paths;  // how each op is computed
};

// Returns a table with a row for each kernel of the plan and one for the total:
// the gangs of a step that call it, its segments, targets, bytes of object
// code, the origin of the code ("compiled", "cache", or "plan" if it was in the
// file) and the time that this took. For kernels that were not in the file a
// table follows with a row for each op, and the number of ops that are left to
// plain loops.
std::string KernelsText(const proto::Plan& plan,
                        const std::map<std::string, CodeOrigin>& origins);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_EXPLAIN_KERNELS_H_
