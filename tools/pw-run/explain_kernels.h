//===- explain_kernels.h - What the code of a plan cost ---------*- C++ -*-===//
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

// How this process came to the code of a kernel.
struct CodeOrigin {
  bool is_cached = false;  // else compiled
  double seconds = 0;
  struct Path {
    std::string place, op, path;
  };
  std::vector<Path> paths;  // by which way each op is computed
};

// A table with a row for each kernel of the plan and one for all: the gangs of
// a step that call it, its segments, targets, bytes of object code, where the
// code comes from ("compiled", "cache", or "plan" when it was in the file) and
// the time that took. Behind it, of what is not from the file, a table with a
// row for each op, and the number of those that are left to plain loops.
std::string KernelsText(const proto::Plan& plan,
                        const std::map<std::string, CodeOrigin>& origins);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_EXPLAIN_KERNELS_H_
