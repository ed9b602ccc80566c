//===- rank_test.cc -------------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-node/rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace pathways::pw_node {
namespace {

using Variables = std::map<std::string, std::string>;

// Returns the name, or the message of the error.
std::string Filled(const std::string& name, const Variables& variables) {
  absl::StatusOr<std::string> filled =
      FillRank(name, [&](const char* variable) -> const char* {
        auto it = variables.find(variable);
        return it == variables.end() ? nullptr : it->second.c_str();
      });
  if (filled.ok()) return *filled;
  EXPECT_EQ(filled.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(filled.status().message());
}

TEST(RankTest, EachLauncher) {
  EXPECT_EQ(Filled("host%r", {{"OMPI_COMM_WORLD_RANK", "0"}}), "host0");
  EXPECT_EQ(Filled("host%r", {{"SLURM_PROCID", "12"}}), "host12");
  EXPECT_EQ(Filled("%r-of-%r", {{"JOB_COMPLETION_INDEX", "3"}}), "3-of-3");
}

// In a Slurm job the tasks that start mpirun's processes have a rank too.
TEST(RankTest, TheNearerLauncher) {
  EXPECT_EQ(Filled("host%r", {{"JOB_COMPLETION_INDEX", "1"},
                              {"OMPI_COMM_WORLD_RANK", "2"},
                              {"SLURM_PROCID", "0"}}),
            "host2");
}

TEST(RankTest, NamesWithoutIt) {
  EXPECT_EQ(Filled("host1", {}), "host1");
  EXPECT_EQ(Filled("100%", {{"SLURM_PROCID", "1"}}), "100%");
  EXPECT_EQ(Filled("", {{"SLURM_PROCID", "x"}}), "");
}

TEST(RankTest, NoRank) {
  EXPECT_EQ(Filled("host%r", {}),
            "--host=host%r: no launcher has given a rank: none of "
            "OMPI_COMM_WORLD_RANK, SLURM_PROCID, JOB_COMPLETION_INDEX is set");
  for (const char* text : {"", "one", "-1", "1.0", "4294967296"}) {
    EXPECT_EQ(Filled("host%r", {{"SLURM_PROCID", text}}),
              "--host=host%r: SLURM_PROCID is '" + std::string(text) +
                  "', expected a number");
  }
}

}  // namespace
}  // namespace pathways::pw_node
