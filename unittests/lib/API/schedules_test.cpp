//===- schedules_test.cpp - Schedules by the public API -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/lib/API/api_test_support.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace pathways {
namespace {

using ::testing::HasSubstr;

// The beginning of a program that adds arrays. What follows is in line 8.
const std::string kAdd = R"mlir(
pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s, [{}]>
func.func private @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
)mlir";

TEST(SchedulesTest, OrdersOfLoopsAreReported) {
  const Program program{kAdd + R"mlir(pw.program @p(%x: !x) -> !x {
  %0 = pw.for 2 schedule "gpipe" (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.call @add(%x, %x) label "0F" : (!x, !x) -> !x
    %2 = pw.call @add(%1, %a) label "0B" : (!x, !x) -> !x
    pw.yield %2 : !x
  }
  %3 = pw.for 3 (%a = %0 carried : !x) -> (!x carried) {
    %4 = pw.call @add(%a, %x) : (!x, !x) -> !x
    pw.yield %4 : !x
  }
  %5 = pw.for 2 schedule "1f1b" (%a = %3 carried : !x) -> (!x carried) {
    %6 = pw.call @add(%x, %0) label "0F" : (!x, !x) -> !x
    %7 = pw.call @add(%6, %a) label "0B" : (!x, !x) -> !x
    pw.yield %7 : !x
  }
  pw.return %5 : !x
}
)mlir",
                        "loops.mlir"};
  const std::string path = ::testing::TempDir() + "/schedules_test_order";
  Compiled compiled =
      take(compile(program, {.topology = "1x1x1", .emit_order = path}));
  ASSERT_EQ(compiled.orders.size(), 2);
  EXPECT_THAT(compiled.orders[0].place, HasSubstr("loops.mlir:9:"));
  EXPECT_EQ(compiled.orders[0].schedule, "gpipe");
  EXPECT_EQ(compiled.orders[0].order, "0F0,0F1,0B0,0B1\n");
  EXPECT_THAT(compiled.orders[1].place, HasSubstr("loops.mlir:18:"));
  EXPECT_EQ(compiled.orders[1].schedule, "1f1b");
  EXPECT_EQ(compiled.orders[1].order, "0F0,0B0,0F1,0B1\n");
  std::ifstream file(path);
  std::stringstream written;
  written << file.rdbuf();
  EXPECT_EQ(written.str(), "0F0,0F1,0B0,0B1\n0F0,0B0,0F1,0B1\n");
  std::filesystem::remove(path);
}

TEST(SchedulesTest, SchedulesAreExplainedAndChosen) {
  const Program program{kAdd + R"mlir(pw.program @p(%x: !x) -> !x {
  %0 = pw.for 4 schedule "auto" (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.call @add(%x, %x) label "0F" : (!x, !x) -> !x
    %2 = pw.call @add(%1, %a) label "0B" : (!x, !x) -> !x
    pw.yield %2 : !x
  }
  pw.return %0 : !x
}
)mlir",
                        "auto.mlir"};
  CompileOptions options = {.topology = "1x1x1",
                            .label_costs = {"*F=1ms", "*B=2ms", "*W=2ms"}};
  const auto rows = take(explainSchedules(program, options));
  ASSERT_EQ(rows.size(), 8);
  EXPECT_EQ(rows[0].schedule, "gpipe");
  for (const ScheduleCosts &row : rows) {
    if (!row.fits()) {
      EXPECT_THAT(row.misfit, HasSubstr("is for 2 stages on 1 slices, got 1"));
      EXPECT_EQ(row.largest(), nullptr);
      continue;
    }
    EXPECT_GE(row.step_ns, 12'000'000) << row.schedule;
    EXPECT_LT(row.step_ns, 12'100'000) << row.schedule;
    EXPECT_LT(row.bubble, 0.01) << row.schedule;
    ASSERT_EQ(row.devices.size(), 1) << row.schedule;
    EXPECT_EQ(row.devices[0].device, "island0/host0/device0");
    EXPECT_EQ(row.largest(), &row.devices[0]);
    EXPECT_EQ(row.overfull(), nullptr);
    options.schedule = row.schedule;
    options.label_costs = {"*F=1ms", "*[BW]=2ms"};
    const PlanCosts costs =
        take(take(compile(program, options))
                 .plan.costs({.topology = "1x1x1", .steps = 0}));
    EXPECT_EQ(row.devices[0].peak_bytes, costs.peak_bytes) << row.schedule;
  }
  // The text asks for the fastest one; ties take the first.
  options.schedule = "";
  const Compiled compiled = take(compile(program, options));
  const ScheduleCosts *best = nullptr;
  for (const ScheduleCosts &row : rows)
    if (row.fits() && (!best || row.step_ns < best->step_ns))
      best = &row;
  ASSERT_EQ(compiled.orders.size(), 1);
  EXPECT_EQ(compiled.orders[0].schedule, best->schedule);
  EXPECT_THAT(compiled.remarks.back(),
              HasSubstr("auto.mlir:9:8: remark: schedule 'auto' is '" +
                        best->schedule + "'"));
  EXPECT_EQ(take(compile(program, options)).plan.bytes(),
            compiled.plan.bytes());
  // An order of a file comes last; a name is refused.
  const std::string path = ::testing::TempDir() + "/schedules_test_auto.csv";
  std::ofstream(path) << compiled.orders[0].order;
  options.schedule = "@" + path;
  options.label_costs = {"*F=1ms", "*B=2ms", "*W=2ms"};
  const auto more = take(explainSchedules(program, options));
  ASSERT_EQ(more.size(), 9);
  EXPECT_EQ(more[8].schedule, options.schedule);
  EXPECT_EQ(more[8].step_ns, best->step_ns);
  std::filesystem::remove(path);
  options.schedule = "gpipe";
  EXPECT_EQ(explainSchedules(program, options).error().code,
            ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace pathways
