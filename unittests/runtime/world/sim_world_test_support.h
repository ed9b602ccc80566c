//===- sim_world_test_support.h - Simulations with free links ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_WORLD_SIM_WORLD_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_WORLD_SIM_WORLD_TEST_SUPPORT_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "runtime/world/sim_world.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {

inline std::unique_ptr<SimWorld> MakeSim(SimOptions options) {
  auto world = SimWorld::Create(std::move(options));
  EXPECT_TRUE(world.ok()) << world.status();
  return *std::move(world);
}

// Options with links that cost nothing; tests change them as needed.
inline SimOptions FreeLinks() {
  SimOptions options;
  options.local = options.ici = options.dcn = options.control = {};
  return options;
}

inline bool Never() { return false; }

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_WORLD_SIM_WORLD_TEST_SUPPORT_H_
