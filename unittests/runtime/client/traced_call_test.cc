//===- traced_call_test.cc - Calls of a client, in the trace --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/traced_call.h"

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using nlohmann::json;

class TracedCallTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {};
INSTANTIATE_TEST_SUITE_P(Worlds, TracedCallTest, BothWorlds(), WorldName);

// Returns how often each call was traced, by its name and that of its object.
std::map<std::string, int> CallsOf(Client& client) {
  std::ostringstream text;
  EXPECT_TRUE(client.WriteTrace(&text).ok());
  std::map<std::string, int> calls;
  const json trace = json::parse(text.str());
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] != "X" || e["cat"] != "client") continue;
    EXPECT_GE(e["dur"].get<double>(), 0);
    ++calls[e["name"]];
  }
  return calls;
}

TEST_P(TracedCallTest, EachIsThereOnceWithItsRun) {
  ClusterOptions options;
  options.world = GetParam();
  options.trace_events = 1000;
  auto runtime = Start("2x2x2", options);
  const ProgramHandle program = LoadPlan(*runtime, GoldenPlan(kThreeHosts));
  EXPECT_FALSE(runtime->Launch(program, {}).ok());  // of no run
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({2}, {1, 2})});
  EXPECT_TRUE(runtime->Await(run).ok());
  EXPECT_TRUE(runtime->Fetch(run, "y").ok());
  EXPECT_TRUE(runtime->Fetch(run, "z").ok());
  const std::map<std::string, int> expected = {{"load", 1},
                                               {"launch", 1},
                                               {"launch golden", 1},
                                               {"await golden", 1},
                                               {"fetch golden", 2}};
  EXPECT_EQ(CallsOf(*runtime), expected);
  // These other calls do not change the counts.
  EXPECT_TRUE(runtime->ReleaseRun(run).ok());
  EXPECT_TRUE(runtime->Unload(program).ok());
  EXPECT_EQ(CallsOf(*runtime), expected);
}

}  // namespace
}  // namespace pathways::testing
