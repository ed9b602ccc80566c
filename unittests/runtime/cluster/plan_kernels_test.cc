//===- plan_kernels_test.cc - Code that a plan brings ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/plan_kernels.h"

#include <gtest/gtest.h>

#include <vector>

namespace pathways {
namespace {

TEST(PlanKernelsTest, RefusesAKernelWithoutCode) {
  PlanKernels kernels;
  proto::Kernel kernel;
  kernel.set_name("k");
  kernel.add_segments()->set_symbol("k");
  const std::vector<uint8_t> blobs(16);
  EXPECT_FALSE(kernels.Resolve(kernel, blobs, proto::Target()).ok());
}

}  // namespace
}  // namespace pathways
