//===- chaos_options_test.cc - Options of a simulated bad network ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/testing/chaos_options.h"

#include <gtest/gtest.h>

#include <string>

namespace pathways {
namespace {

TEST(ChaosOptionsTest, AreReadFromText) {
  const auto options = ParseChaosOptions(
      "delay=0.25,duplicate=0.5,reorder=1,drop=0,cut=0.125,longest-delay=2ms,"
      "retry=5ms,bytes-per-second=1e6,seed=18446744073709551615");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->delay, 0.25);
  EXPECT_EQ(options->duplicate, 0.5);
  EXPECT_EQ(options->reorder, 1);
  EXPECT_EQ(options->drop, 0);
  EXPECT_EQ(options->cut, 0.125);
  EXPECT_EQ(options->longest_delay, absl::Milliseconds(2));
  EXPECT_EQ(options->retry, absl::Milliseconds(5));
  EXPECT_EQ(options->bytes_per_second, 1e6);
  EXPECT_EQ(options->seed, UINT64_MAX);
}

TEST(ChaosOptionsTest, SayWhatIsWrong) {
  const struct {
    const char *text, *error;
  } cases[] = {
      {"delay=1.5", "delay: expected a number from 0 to 1, got '1.5'"},
      {"drop=nan", "drop: expected a number from 0 to 1, got 'nan'"},
      {"cut=-0.1", "cut: expected a number from 0 to 1, got '-0.1'"},
      {"delay", "delay: expected a number from 0 to 1, got ''"},
      {"seed=1,seed=-1", "seed: expected a number from 0, got '-1'"},
      {"retry=2h",
       "retry: expected a duration from 0 to 1h, such as 5ms, "
       "got '2h'"},
      {"longest-delay=5",
       "longest-delay: expected a duration from 0 to 1h, "
       "such as 5ms, got '5'"},
      {"bytes-per-second=0.5",
       "bytes-per-second: expected a number from 1, got '0.5'"},
      {"bytes-per-second=inf",
       "bytes-per-second: expected a number from 1, got 'inf'"},
      {"delay=0.1,",
       "unknown setting '', expected one of delay, duplicate, reorder, "
       "drop, cut, longest-delay, retry, bytes-per-second, seed"},
  };
  for (const auto& c : cases) {
    const auto options = ParseChaosOptions(c.text);
    ASSERT_FALSE(options.ok()) << c.text;
    EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(options.status().message(), std::string("chaos: ") + c.error);
  }
}

}  // namespace
}  // namespace pathways
