//===- flag_table_test.cc - Command lines as tables of flags --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/flags/flag_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace pathways::flags {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A tool with one flag of each kind. Parses once.
struct Tool {
  Tool() : line("tool", "tool 1.0", "A tool.", "The end.") { AddAll(); }

  void AddAll() {
    line.Add("", {{"FILE", "", "A file", Text{&file}}});
    line.Add("Numbers",
             {{"--steps", "N", "Steps", Whole<int64_t>{&steps, 1, 10}},
              {"--seed", "N", "Seed", Unsigned{&seed}},
              {"--rate", "NUMBER", "Rate", Real{&rate}},
              {"--bind,!--no-bind", "", "Bind", Switch{&bind}},
              {"--stats{table}", "", "Statistics", SwitchText{&stats}},
              {"--world", "a|b", "World", Text{&world, {"a", "b"}}},
              {"--any", "[NAME]", "Any", OptionalText{&any}},
              {"--input", "NAME=VALUE", "Input", Texts{&inputs}},
              {.name = "--avoid",
               .type = "NAME",
               .help = "Avoid",
               .to = Texts{&avoid, ','},
               .environment = "PATHWAYS_TEST_AVOID",
               .excludes = "--any"},
              {"--wait", "TIME", "Wait",
               Duration{&wait_ns, absl::ZeroDuration(), absl::Hours(1),
                        "from 0 to 1h, such as 30s", /*has_default=*/false}},
              {"--timeout", "TIME", "Timeout",
               Duration{&timeout, absl::Milliseconds(10), absl::Hours(1),
                        "from 10ms to 1h"}}});
  }
  absl::StatusOr<std::string> Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "tool");
    return line.Parse(static_cast<int>(arguments.size()), arguments.data());
  }

  CommandLine line;
  std::string file, stats, world = "a", any;
  int64_t steps = 1, wait_ns = -1;
  uint64_t seed = 0;
  double rate = 0.5;
  bool bind = true;
  std::vector<std::string> inputs, avoid;
  absl::Duration timeout = absl::Seconds(10);
};

std::string ErrorOf(std::vector<const char*> arguments) {
  return std::string(Tool().Parse(std::move(arguments)).status().message());
}

TEST(FlagTableTest, FlagsReachTheirVariables) {
  Tool tool;
  const absl::StatusOr<std::string> print = tool.Parse(
      {"f", "--steps=3", "--seed=18446744073709551615", "--rate=0.25",
       "--no-bind", "--stats", "--world=b", "--any", "island1", "--input=x=1",
       "--input", "y=2", "--wait=2m", "--timeout=1s"});
  ASSERT_TRUE(print.ok()) << print.status();
  EXPECT_EQ(*print, "");
  EXPECT_EQ(tool.file, "f");
  EXPECT_EQ(tool.steps, 3);
  EXPECT_EQ(tool.seed, UINT64_MAX);
  EXPECT_EQ(tool.rate, 0.25);
  EXPECT_FALSE(tool.bind);
  EXPECT_EQ(tool.stats, "table");
  EXPECT_EQ(tool.world, "b");
  EXPECT_EQ(tool.any, "island1");
  EXPECT_THAT(tool.inputs, ElementsAre("x=1", "y=2"));
  EXPECT_EQ(tool.wait_ns, 120'000'000'000);
  EXPECT_EQ(tool.timeout, absl::Seconds(1));
  EXPECT_TRUE(tool.line.IsGiven("--steps"));
  EXPECT_FALSE(tool.line.IsGiven("--avoid"));
}

TEST(FlagTableTest, DefaultsStay) {
  Tool tool;
  ASSERT_TRUE(tool.Parse({}).ok());
  EXPECT_EQ(tool.wait_ns, -1);
  EXPECT_EQ(tool.timeout, absl::Seconds(10));
  EXPECT_TRUE(tool.bind);
}

TEST(FlagTableTest, AnEnvironmentVariableStandsForAFlag) {
  Tool tool;
  ASSERT_EQ(setenv("PATHWAYS_TEST_AVOID", "host1,host2", 1), 0);
  const absl::StatusOr<std::string> print = tool.Parse({"f"});
  unsetenv("PATHWAYS_TEST_AVOID");
  ASSERT_TRUE(print.ok()) << print.status();
  EXPECT_THAT(tool.avoid, ElementsAre("host1", "host2"));
  EXPECT_TRUE(tool.line.IsGiven("--avoid"));
}

TEST(FlagTableTest, ErrorsNameTheFlagAndTheValue) {
  EXPECT_EQ(ErrorOf({"--stpes=3"}),
            "unknown flag '--stpes'; did you mean '--steps'?");
  EXPECT_EQ(ErrorOf({"f", "--frobnicate"}), "unknown flag '--frobnicate'");
  EXPECT_EQ(ErrorOf({"--steps=", "3"}), "--steps: expected a value after '='");
  EXPECT_THAT(ErrorOf({"--steps=11"}),
              AllOf(HasSubstr("--steps"), HasSubstr("11"), HasSubstr("10")));
  EXPECT_EQ(ErrorOf({"--seed=-1"}),
            "--seed: expected a number from 0 to 2^64 - 1, got '-1'");
  EXPECT_EQ(ErrorOf({"--wait=-0"}),
            "--wait: expected a duration from 0 to 1h, such as 30s, got '-0'");
  EXPECT_EQ(ErrorOf({"--timeout=1us"}),
            "--timeout: expected a duration from 10ms to 1h, got '1us'");
  EXPECT_THAT(ErrorOf({"--world=c"}),
              AllOf(HasSubstr("--world"), HasSubstr("c"), HasSubstr("a,b")));
  EXPECT_THAT(ErrorOf({"--avoid=x", "--any"}),
              AllOf(HasSubstr("--avoid"), HasSubstr("--any")));
  EXPECT_THAT(ErrorOf({"f", "g"}), HasSubstr("g"));
}

TEST(FlagTableTest, HelpShowsTypesDefaultsAndHeadings) {
  EXPECT_THAT(*Tool().Parse({"--help"}),
              AllOf(HasSubstr("A tool."), HasSubstr("Numbers:"),
                    HasSubstr("--steps N=1"), HasSubstr("--timeout TIME=10s"),
                    Not(HasSubstr("--wait TIME=")), HasSubstr("The end.")));
  EXPECT_EQ(*Tool().Parse({"--version"}), "tool 1.0\n");
}

// A tool with commands. Parses once.
struct ToolWithCommands : Tool {
  ToolWithCommands() {
    line.AddCommand("status", "Print the status",
                    {{"--watch", "", "Again", Switch{&watch}},
                     {.name = "--secret",
                      .type = "",
                      .help = "Hidden",
                      .to = Switch{&bind},
                      .is_hidden = true}});
    line.AddCommand("stop", "Stop",
                    {{.name = "--connect",
                      .type = "ADDRESS",
                      .help = "Address",
                      .to = Text{&address},
                      .is_required = true}});
  }

  bool watch = false;
  std::string address;
};

TEST(FlagTableTest, CommandsHaveFlagsOfTheirOwn) {
  const auto error_of = [](std::vector<const char*> arguments) {
    return std::string(
        ToolWithCommands().Parse(std::move(arguments)).status().message());
  };
  EXPECT_EQ(error_of({}), "no command is given, expected one of status, stop");
  EXPECT_EQ(error_of({"statsu"}),
            "unknown command 'statsu'; did you mean 'status'?");
  EXPECT_EQ(error_of({"begin"}),
            "unknown command 'begin', expected one of status, stop");
  EXPECT_EQ(error_of({"stop", "--conect=a"}),
            "unknown flag '--conect'; did you mean '--connect'?");
  EXPECT_EQ(error_of({"status", "--connect=a"}), "unknown flag '--connect'");
  EXPECT_THAT(error_of({"stop"}), HasSubstr("--connect is required"));
  EXPECT_THAT(*ToolWithCommands().Parse({"status", "--help"}),
              AllOf(HasSubstr("--watch"), Not(HasSubstr("--secret"))));
  ToolWithCommands tool;
  ASSERT_TRUE(tool.Parse({"status", "--watch"}).ok());
  EXPECT_EQ(tool.line.command(), "status");
  EXPECT_TRUE(tool.watch);
}

}  // namespace
}  // namespace pathways::flags
