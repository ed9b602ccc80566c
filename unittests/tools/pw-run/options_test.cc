//===- options_test.cc ----------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways::pw_run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<ParsedOptions> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "pw-run");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data());
}

std::string ErrorOf(std::vector<const char*> arguments) {
  absl::StatusOr<ParsedOptions> parsed = Parse(std::move(arguments));
  if (parsed.ok()) return "";
  return std::string(parsed.status().message());
}

TEST(OptionsTest, Defaults) {
  absl::StatusOr<ParsedOptions> parsed = Parse({"f.mlir"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const Options& o = parsed->options;
  EXPECT_EQ(o.file, "f.mlir");
  EXPECT_EQ(o.steps, 1);
  EXPECT_EQ(o.run.world, ClusterOptions::kThreads);
  EXPECT_EQ(o.run.stall_timeout_ns, 10'000'000'000);
  EXPECT_EQ(o.run.kernel_timeout_ns, 0);
  EXPECT_EQ(o.stats, "");
  EXPECT_EQ(o.run.dispatch, ClusterOptions::kParallel);
  EXPECT_FALSE(o.run.link_costs);
  EXPECT_FALSE(Parse({"f", "--links=free"})->options.run.link_costs);
  EXPECT_EQ(o.run.host_work_ns, 0);
  EXPECT_TRUE(o.run.bind_workers);
  EXPECT_FALSE(Parse({"f", "--no-bind-workers"})->options.run.bind_workers);
}

TEST(OptionsTest, EverythingGiven) {
  absl::StatusOr<ParsedOptions> parsed = Parse({"--input=x=[[1,2],[3,4]]",
                                                "--input",
                                                "w=-1",
                                                "--output=y=@y.npy",
                                                "--expected=y=1",
                                                "--rtol=0",
                                                "--atol=0.5",
                                                "--steps=3",
                                                "--world=sim",
                                                "--seed=18446744073709551615",
                                                "--workers=2",
                                                "--stall-timeout=250ms",
                                                "--kernel-timeout=3s",
                                                "--topology=2x1x4",
                                                "--oversubscribe",
                                                "--mesh=s:x=2,y=3",
                                                "--mesh=t:z=4",
                                                "--program=f",
                                                "--stats",
                                                "-",
                                                "--dispatch=sequential",
                                                "--host-work=100us",
                                                "--links=cost"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const Options& o = parsed->options;
  EXPECT_EQ(o.file, "-");
  ASSERT_EQ(o.inputs.size(), 2);
  EXPECT_EQ(o.inputs[0].spec, "[[1,2],[3,4]]");
  EXPECT_EQ(o.inputs[1].spec, "-1");
  EXPECT_EQ(o.tolerance.atol, 0.5);
  EXPECT_EQ(o.mesh, (std::vector<std::string>{"s:x=2,y=3", "t:z=4"}));
  EXPECT_EQ(o.run.world, ClusterOptions::kSim);
  EXPECT_EQ(o.run.seed, 18446744073709551615u);
  EXPECT_EQ(o.run.stall_timeout_ns, 250'000'000);
  EXPECT_EQ(o.run.kernel_timeout_ns, 3'000'000'000);
  EXPECT_EQ(o.stats, "table");
  EXPECT_EQ(o.run.dispatch, ClusterOptions::kSequential);
  EXPECT_TRUE(o.run.link_costs);
  EXPECT_EQ(o.run.host_work_ns, 100'000);
  EXPECT_EQ(Parse({"f", "--stats=json"})->options.stats, "json");
  EXPECT_EQ(Parse({"f", "--trace=t.json"})->options.trace, "t.json");
  EXPECT_EQ(Parse({"f", "--trace-events=9"})->options.run.trace_events, 0);
  EXPECT_EQ(Parse({"f", "--profile=p"})->options.profile, "p");
  EXPECT_EQ(Parse({"f", "--profile-out=p"})->options.profile_out, "p");
  for (const char* shown : {"--trace=t.json", "--stats", "--profile-out=p"}) {
    EXPECT_EQ(Parse({"f", shown})->options.run.trace_events, 1 << 18);
    EXPECT_EQ(Parse({"f", "--trace-events=9", shown})->options.run.trace_events,
              9);
  }
}

TEST(OptionsTest, HelpAndVersion) {
  std::string help = Parse({"--help"})->print;
  EXPECT_THAT(help, HasSubstr("Exit codes: 0 success"));
  EXPECT_THAT(help, HasSubstr("Examples:"));
  EXPECT_THAT(help, HasSubstr("--expected"));
  EXPECT_THAT(Parse({"--version"})->print, HasSubstr("pw-run (Pathways) "));
}

TEST(OptionsTest, ErrorsAreExplained) {
  EXPECT_THAT(Parse({"--explain", "PW3101"})->print,
              HasSubstr("PW3101: A program does not fit"));
  EXPECT_EQ(Parse({"--explain=PW3101"})->print, ExplainError("PW3101"));
  EXPECT_EQ(Parse({"--explain=all"})->print, ListErrors());
  for (const char* code : {"PW9999", "PW310", "pw3101", "everything"}) {
    EXPECT_EQ(ErrorOf({"--explain", code}),
              absl::StrCat("--explain: there is no error code '", code,
                           "'; --explain=all lists all"));
  }
}

TEST(OptionsTest, Mistakes) {
  EXPECT_EQ(ErrorOf({}), "no FILE is given; - is standard input");
  EXPECT_THAT(ErrorOf({"f", "--inptu=x=1"}),
              HasSubstr("did you mean '--input'?"));
  EXPECT_THAT(ErrorOf({"f", "g"}), HasSubstr("g"));
  // The name is right, so there is no suggestion.
  EXPECT_THAT(ErrorOf({"f", "--steps=0"}),
              AllOf(HasSubstr("--steps"), Not(HasSubstr("did you mean"))));
  EXPECT_EQ(ErrorOf({"f", "--topology=", "--dry-run"}),
            "--topology: expected a value after '='");
  EXPECT_EQ(ErrorOf({"f", "--stats="}), "--stats: expected a value after '='");
  EXPECT_THAT(ErrorOf({"f", "--steps=99999999999999999999"}),
              HasSubstr("--steps"));
  EXPECT_THAT(ErrorOf({"f", "--workers=-1"}), HasSubstr("--workers"));
  EXPECT_EQ(ErrorOf({"f", "--seed=-1"}),
            "--seed: expected a number from 0 to 2^64 - 1, got '-1'");
  EXPECT_THAT(ErrorOf({"f", "--world=mars"}), HasSubstr("--world"));
  EXPECT_THAT(ErrorOf({"f", "--steps-in-flight=0"}),
              HasSubstr("--steps-in-flight"));
  EXPECT_THAT(ErrorOf({"f", "--input=x"}), HasSubstr("expected NAME=VALUE"));
  EXPECT_EQ(ErrorOf({"f", "--expected=@x.npy"}),
            "--expected: expected NAME=VALUE or @FILE.npz, got '@x.npy'");
  EXPECT_EQ(ErrorOf({"f", "--output=@x.npz", "--output=@y.npz"}),
            "--output: all results are stored twice, in '@x.npz' and in "
            "'@y.npz'");
  EXPECT_EQ(ErrorOf({"f", "--world=sim", "--costs-only", "--input=@x.npz"}),
            "--input: a run with --costs-only has no values; leave it out");
  EXPECT_EQ(ErrorOf({"f", "--output=y=y.npy"}),
            "--output=y: expected @FILE or -, got 'y.npy'");
  EXPECT_EQ(ErrorOf({"f", "--output=y=@"}),
            "--output=y: expected @FILE or -, got '@'");
  EXPECT_EQ(ErrorOf({"f", "--rtol=-1"}),
            "--rtol: expected a finite number of at least 0, got -1");
  EXPECT_THAT(ErrorOf({"f", "--atol=nan"}), HasSubstr("--atol"));
  EXPECT_EQ(ErrorOf({"f", "--stats=xml"}),
            "--stats: expected table, json or @FILE, got 'xml'");
  EXPECT_THAT(ErrorOf({"f", "--emit-plan=-"}), HasSubstr("binary"));
  for (const char* bad :
       {"--stall-timeout=0s", "--stall-timeout=-1s", "--stall-timeout=inf",
        "--stall-timeout=10", "--stall-timeout=soon"}) {
    EXPECT_THAT(ErrorOf({"f", bad}), HasSubstr("--stall-timeout: expected"));
  }
  for (const char* bad : {"--kernel-timeout=0s", "--kernel-timeout=-1s",
                          "--kernel-timeout=inf", "--kernel-timeout=10"}) {
    EXPECT_THAT(ErrorOf({"f", bad}), HasSubstr("--kernel-timeout: expected"));
  }
  EXPECT_EQ(ErrorOf({"f", "--kernel-timeout="}),
            "--kernel-timeout: expected a value after '='");
  EXPECT_THAT(ErrorOf({"f", "--dispatch=both"}), HasSubstr("--dispatch"));
  EXPECT_THAT(ErrorOf({"f", "--links=slow"}), HasSubstr("--links"));
  EXPECT_EQ(ErrorOf({"f", "--links=free", "--world=sim"}),
            "--links=free: links of a simulation always cost time; leave it "
            "out");
  for (const char* bad :
       {"--host-work=100", "--host-work=-1us", "--host-work=-0",
        "--host-work=inf", "--host-work=61m", "--host-work=fast"}) {
    EXPECT_EQ(
        ErrorOf({"f", bad}),
        absl::StrCat("--host-work: expected a duration from 0 to 1h, such "
                     "as 100us, 2ms or 500ns, got '",
                     bad + std::string("--host-work=").size(), "'"));
  }
}

TEST(OptionsTest, UnitsOfHostWork) {
  for (const auto& [text, ns] : {std::pair{"--host-work=0", 0},
                                 {"--host-work=7ns", 7},
                                 {"--host-work=1.5us", 1500},
                                 {"--host-work=2ms", 2'000'000},
                                 {"--host-work=1s", 1'000'000'000}}) {
    absl::StatusOr<ParsedOptions> parsed = Parse({"f", text});
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->options.run.host_work_ns, ns) << text;
  }
}

}  // namespace
}  // namespace pathways::pw_run
