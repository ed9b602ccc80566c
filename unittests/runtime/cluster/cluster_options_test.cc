//===- cluster_options_test.cc - Options of a cluster ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/cluster_options.h"

#include <gtest/gtest.h>

#include <string>

namespace pathways {
namespace {

std::string Error(const ClusterOptions& options) {
  return std::string(CheckOptions(options).message());
}

TEST(ClusterOptionsTest, DefaultsAreInRange) {
  EXPECT_TRUE(CheckOptions({}).ok());
}

TEST(ClusterOptionsTest, WhatIsOutOfRangeIsNamed) {
  ClusterOptions options;
  options.workers = 257;
  EXPECT_EQ(Error(options), "the number of workers is 257, expected 0 to 256");
  options = {};
  options.trace_events = -1;
  EXPECT_EQ(Error(options), "trace_events is -1, expected at least 0");
  options = {};
  options.stall_timeout_ns = 0;
  EXPECT_EQ(Error(options), "the stall timeout is 0 ns, expected at least 1");
  options = {};
  options.kernel_timeout_ns = -1;
  EXPECT_EQ(Error(options), "the kernel timeout is -1 ns, expected at least 0");
  options = {};
  options.host_work_ns = -1;
  EXPECT_EQ(Error(options),
            "the host work is -1 ns, expected 0 to "
            "3600000000000");
}

TEST(ClusterOptionsTest, SomeNeedASimulation) {
  for (bool kernels : {false, true}) {
    ClusterOptions options;
    options.run_kernels = kernels;
    if (kernels) options.reorder_probability = 0.1;
    EXPECT_EQ(Error(options),
              "runs without kernels, and links with faults, need a simulation");
    options.world = ClusterOptions::kSim;
    EXPECT_TRUE(CheckOptions(options).ok());
  }
}

}  // namespace
}  // namespace pathways
