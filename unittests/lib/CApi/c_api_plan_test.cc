//===- c_api_plan_test.cc - Plans tell what they are and cost -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstring>

#include "unittests/lib/CApi/c_api_test_support.h"

namespace pathways::capi_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class CApiPlanTest : public ::testing::Test {
protected:
  void SetUp() override {
    pw_compile_options options{};
    options.struct_size = sizeof options;
    options.topology = "1x1x4";
    options.explain = PW_EXPLAIN_SHARDINGS | PW_EXPLAIN_RESHARDS |
                      PW_EXPLAIN_KERNELS | PW_EXPLAIN_IMPORT;
    ExpectOk(
        pw_compile(kTwice, sizeof kTwice - 1, &options, Into(plan_), nullptr));
    ASSERT_NE(plan_, nullptr);
  }
  json Ask(pw_error *(*ask)(const pw_plan *, pw_text **)) {
    Owned<pw_text> text;
    ExpectOk(ask(plan_.get(), Into(text)));
    return json::parse(pw_text_data(text.get(), nullptr));
  }

  Owned<pw_plan> plan_;
};

TEST_F(CApiPlanTest, DescribesArgumentsAndResults) {
  const json plan = Ask(pw_plan_describe);
  EXPECT_EQ(plan["program"], "doubling");
  const json &v = plan["arguments"].at(0);
  EXPECT_EQ(v["name"], "v");
  EXPECT_EQ(v["element"], "f32");
  EXPECT_EQ(v["shape"], json({8}));
  EXPECT_EQ(v["stepped"], false);
  EXPECT_EQ(v["carried_from"], nullptr);
  EXPECT_EQ(v["sharding"]["mesh"], json::parse(R"([["x", 4]])"));
  EXPECT_EQ(v["sharding"]["dims"], json::parse(R"([["x"]])"));
  EXPECT_EQ(plan["results"].at(0)["name"], "out");
}

TEST_F(CApiPlanTest, ReportsWhatTheCompilerSaid) {
  const json report = Ask(pw_plan_report);
  EXPECT_EQ(report["donated"]["count"], 0);
  EXPECT_EQ(report["kernels"].size(), 1u);
  EXPECT_FALSE(report["kernels"][0]["paths"].empty());
  EXPECT_TRUE(report["imported"].empty());
  const void *bytes;
  size_t size;
  ExpectOk(pw_plan_bytes(plan_.get(), &bytes, &size));
  Owned<pw_plan> parsed;
  ExpectOk(pw_plan_parse(bytes, size, Into(parsed)));
  plan_ = std::move(parsed);
  EXPECT_EQ(Ask(pw_plan_report), json::object());
}

// A loop with one label "0F" and one label "0B".
constexpr char kLoop[] = R"mlir(
pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s, [{}]>
!xs = !pw.array<2x4xf32, @s, [{}, {}]>
func.func private @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @p(%xs: !xs, %z: !x) -> !x {
  %0 = pw.for 2 (%x = %xs stepped : !xs -> !x, %a = %z carried : !x) -> (!x carried) {
    %1 = pw.call @add(%x, %x) label "0F" : (!x, !x) -> !x
    %2 = pw.call @add(%1, %a) label "0B" : (!x, !x) -> !x
    pw.yield %2 : !x
  }
  pw.return %0 : !x
}
)mlir";

TEST_F(CApiPlanTest, TakesASchedule) {
  pw_compile_options options{};
  options.struct_size = sizeof options;
  options.topology = "1x1x1";
  options.schedule = "gpipe";
  options.label_costs = "*=1ms,*F=40ms,0B=2ms";
  ExpectOk(pw_compile(kLoop, sizeof kLoop - 1, &options, Into(plan_), nullptr));
  const json orders = Ask(pw_plan_report)["orders"];
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0]["place"], "program.mlir:10:8");
  EXPECT_EQ(orders[0]["schedule"], "gpipe");
  EXPECT_EQ(orders[0]["order"], "0F0,0F1,0B0,0B1\n");
  pw_costs costs{};
  costs.struct_size = sizeof costs;
  ExpectOk(pw_plan_costs(plan_.get(), "1x1x1", 1, &costs, nullptr));
  EXPECT_GE(costs.step_ns, 84'000'000);
  EXPECT_LT(costs.step_ns, 85'000'000);
}

TEST_F(CApiPlanTest, ExplainsSchedulesAndTakesTheFastest) {
  pw_compile_options options{};
  options.struct_size = sizeof options;
  options.topology = "1x1x1";
  options.label_costs = "*F=40ms,*B=2ms";
  Owned<pw_text> text;
  ExpectOk(pw_explain_schedules(kLoop, sizeof kLoop - 1, &options, Into(text)));
  size_t size;
  const char *data = pw_text_data(text.get(), &size);
  const json rows = json::parse(std::string(data, size));
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows[0]["schedule"], "gpipe");
  EXPECT_TRUE(rows[0]["misfit"].is_null());
  EXPECT_GE(rows[0]["step_ns"], 84'000'000);
  EXPECT_LT(rows[0]["step_ns"], 85'000'000);
  EXPECT_LT(rows[0]["bubble"], 0.01);
  EXPECT_EQ(rows[0]["devices"].size(), 1u);
  EXPECT_GT(rows[0]["devices"][0]["peak_bytes"], 0);
  EXPECT_EQ(rows[6]["schedule"], "zbv");
  EXPECT_EQ(rows[6]["misfit"],
            "schedule 'zbv' is for 2 stages on 1 slices, got 1");
  options.schedule = "auto";
  ExpectOk(pw_compile(kLoop, sizeof kLoop - 1, &options, Into(plan_), nullptr));
  const json report = Ask(pw_plan_report);
  EXPECT_THAT(report["remarks"].dump(), HasSubstr("schedule 'auto' is '"));
  EXPECT_NE(report["orders"][0]["schedule"], "auto");
  pw_text *none = nullptr;
  Owned<pw_error> error(
      pw_explain_schedules(kLoop, sizeof kLoop - 1, &options, &none));
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(pw_error_code(error.get()), PW_INVALID_ARGUMENT);
  EXPECT_THAT(pw_error_message(error.get()),
              HasSubstr("all schedules are explained"));
}

TEST_F(CApiPlanTest, RefusesAScheduleThatIsNone) {
  pw_compile_options options{};
  options.struct_size = sizeof options;
  options.topology = "1x1x1";
  options.schedule = "fastest";
  pw_plan *plan = nullptr;
  Owned<pw_error> error(
      pw_compile(kLoop, sizeof kLoop - 1, &options, &plan, nullptr));
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(pw_error_code(error.get()), PW_INVALID_PROGRAM);
  EXPECT_THAT(pw_error_message(error.get()),
              HasSubstr("there is no schedule 'fastest'"));
}

TEST_F(CApiPlanTest, PrintsAPlanThatCompiles) {
  Owned<pw_text> text;
  ExpectOk(pw_plan_print(plan_.get(), Into(text)));
  size_t size;
  const char *printed = pw_text_data(text.get(), &size);
  EXPECT_THAT(printed, HasSubstr("plan.program"));
  Owned<pw_plan> again;
  ExpectOk(pw_compile(printed, size, nullptr, Into(again), nullptr));
  EXPECT_STREQ(pw_plan_program(again.get()), "doubling");
}

TEST_F(CApiPlanTest, CostsWithoutMachines) {
  pw_costs costs{};
  costs.struct_size = sizeof costs;
  Owned<pw_text> details;
  ExpectOk(pw_plan_costs(plan_.get(), "1x1x4", 10, &costs, Into(details)));
  EXPECT_GT(costs.peak_bytes, 0u);
  EXPECT_EQ(costs.total_bytes, 4 * costs.peak_bytes);
  EXPECT_GT(costs.step_ns, 0);
  EXPECT_EQ(costs.ici_bytes, 0u);
  const json all = json::parse(pw_text_data(details.get(), nullptr));
  ASSERT_EQ(all["devices"].size(), 4u);
  const json &device = all["devices"][3];
  EXPECT_EQ(device["device"], "island0/host0/device3");
  EXPECT_EQ(device["peak_bytes"], costs.peak_bytes);
  uint64_t sum = 0;
  for (const auto &[part, bytes] : device["memory"].items())
    sum += bytes.get<uint64_t>();
  EXPECT_EQ(sum, costs.peak_bytes);
  EXPECT_EQ(all["step_ns"], costs.step_ns);

  ExpectOk(pw_plan_costs(plan_.get(), "1x1x4", 0, &costs, nullptr));
  EXPECT_EQ(costs.step_ns, 0);
}

TEST_F(CApiPlanTest, SaysWhyItHasNoCosts) {
  pw_costs costs{};
  costs.struct_size = sizeof costs;
  EXPECT_THAT(Expect(PW_REFUSED,
                     pw_plan_costs(plan_.get(), "1x1x3", 1, &costs, nullptr)),
              HasSubstr("has 3 devices"));
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT,
                     pw_plan_costs(plan_.get(), "1x1", 1, &costs, nullptr)),
              HasSubstr("1x1"));
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT,
                     pw_plan_costs(plan_.get(), "1x1x4", -1, &costs, nullptr)),
              HasSubstr("-1"));
  costs.struct_size = 2;
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT,
                     pw_plan_costs(plan_.get(), "1x1x4", 1, &costs, nullptr)),
              HasSubstr("struct_size is 2"));
}

// A client that is older or newer than the library.
TEST_F(CApiPlanTest, FillsStructuresOfOtherVersions) {
  struct {
    pw_costs costs;
    uint64_t later;
  } larger{};
  larger.costs.struct_size = sizeof larger;
  larger.later = 17;
  ExpectOk(pw_plan_costs(plan_.get(), "1x1x4", 0, &larger.costs, nullptr));
  EXPECT_EQ(larger.costs.struct_size, sizeof larger);
  EXPECT_GT(larger.costs.peak_bytes, 0u);
  EXPECT_EQ(larger.later, 0u);
  pw_costs smaller{};
  smaller.struct_size = offsetof(pw_costs, total_bytes);
  smaller.total_bytes = 17; // beyond the structure
  ExpectOk(pw_plan_costs(plan_.get(), "1x1x4", 0, &smaller, nullptr));
  EXPECT_EQ(smaller.peak_bytes, larger.costs.peak_bytes);
  EXPECT_EQ(smaller.total_bytes, 17u);
}

} // namespace
} // namespace pathways::capi_test
