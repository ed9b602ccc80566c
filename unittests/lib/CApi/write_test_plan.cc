//===- write_test_plan.cc - A plan for builds without compiler ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdio>

#include "runtime/plan/plan_file.h"
#include "runtime/plan/testing/test_plans.h"

// Writes a plan that returns eight numbers, divided over four devices. (The
// library has the types of plans' messages, too, so tests of it cannot make
// plans themselves.)
int main(int argc, char **argv) {
  using namespace pathways;
  using namespace pathways::testing;
  if (argc != 2)
    return 2;
  const proto::Plan plan =
      ChainBuilder(
          {.name = "identity", .slice = {.shards = 4}, .layout = Rows({8})})
          .Feed("v")
          .Fetch("out")
          .Finish();
  const absl::Status written = WritePlanFile(argv[1], plan, {});
  if (!written.ok())
    std::fprintf(stderr, "%s\n", std::string(written.message()).c_str());
  return !written.ok();
}
