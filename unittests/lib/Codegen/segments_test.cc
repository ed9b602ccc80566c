//===- segments_test.cc ---------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts bodies, compiles all their segments, and runs them on a few shards. The
// test performs the collectives itself.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "pathways/Codegen/Segments.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace kernel_test;
using namespace mlir;
using namespace mlir::pathways;
using testing::HasSubstr;

namespace {

using Kind = SegmentValue::Kind;

/// A body on a mesh of one axis "x".
class Cut {
public:
  explicit Cut(const std::string &text, int64_t shards = 2,
               std::vector<std::string> types = {}) {
    if (!kernel.parse(text))
      return;
    MLIRContext *context = &kernel.context();
    auto mesh =
        MeshAttr::get(context, {StringAttr::get(context, "x")}, {shards});
    SmallVector<ArrayType> operands;
    for (const std::string &type : types)
      operands.push_back(cast<ArrayType>(parseType(type, context)));
    auto body = kernel.module().lookupSymbol<func::FuncOp>("body");
    OpBuilder builder(context);
    builder.setInsertionPointToEnd(kernel.module().getBody());
    auto result = splitAtCollectives(body, mesh, operands, builder, "part");
    if (succeeded(result)) {
      cut.emplace(std::move(*result));
      for (func::FuncOp segment : cut->segments)
        EXPECT_TRUE(succeeded(verify(segment)));
    }
  }

  bool ok() const { return cut.has_value(); }
  SegmentedBody &body() { return *cut; }

  /// Returns the steps in short, e.g. "part.0(A0)->T0; all_reduce T0->R0".
  std::string steps() {
    auto name = [](SegmentValue value) {
      return std::string(value.kind == Kind::Argument ? "A"
                         : value.kind == Kind::Result ? "R"
                                                      : "T") +
             std::to_string(value.index);
    };
    std::string text;
    for (const SegmentStep &step : cut->steps) {
      if (!text.empty())
        text += "; ";
      if (step.isCollective()) {
        text += step.collective->getName().stripDialect().str() + " " +
                name(step.source) + "->" + name(step.result);
        continue;
      }
      text += step.segment + "(";
      for (SegmentValue value : step.inputs)
        text += name(value);
      text += ")->";
      for (SegmentValue value : step.outputs)
        text += name(value);
    }
    return text;
  }

  /// Runs all shards of f32 arrays. The only collective is all_reduce add.
  std::vector<std::vector<std::vector<float>>>
  run(std::vector<std::vector<std::vector<float>>> arguments,
      std::vector<size_t> resultSizes) {
    EXPECT_TRUE(kernel.compile(cut->segments)) << kernel.errors();
    size_t shards = arguments.size();
    std::vector<std::vector<Buffer>> values[3];
    for (size_t s = 0; s < shards; ++s) {
      for (auto &array : values)
        array.emplace_back();
      for (auto &argument : arguments[s])
        values[0][s].push_back(Buffer::of(argument));
      for (size_t size : resultSizes)
        values[1][s].emplace_back(size * 4);
      for (RankedTensorType temp : cut->temps)
        values[2][s].emplace_back(temp.getNumElements() * 8);
    }
    auto at = [&](size_t s, SegmentValue value) {
      return &values[static_cast<int>(value.kind)][s][value.index];
    };
    unsigned segment = 0;
    for (const SegmentStep &step : cut->steps) {
      if (!step.isCollective()) {
        for (size_t s = 0; s < shards; ++s) {
          std::vector<Buffer *> buffers;
          for (SegmentValue value : step.inputs)
            buffers.push_back(at(s, value));
          for (SegmentValue value : step.outputs)
            buffers.push_back(at(s, value));
          EXPECT_EQ(kernel.run(segment, buffers, {int32_t(s)}), 0);
        }
        ++segment;
        continue;
      }
      std::vector<float> sum;
      for (size_t s = 0; s < shards; ++s) {
        auto part = at(s, step.source)->as<float>();
        sum.resize(part.size());
        for (size_t i = 0; i < part.size(); ++i)
          sum[i] += part[i];
      }
      for (size_t s = 0; s < shards; ++s)
        std::memcpy(
            at(s, step.result)->get(), sum.data(),
            std::min(sum.size(), at(s, step.result)->as<float>().size()) * 4);
    }
    std::vector<std::vector<std::vector<float>>> results(shards);
    for (size_t s = 0; s < shards; ++s)
      for (Buffer &buffer : values[1][s])
        results[s].push_back(buffer.as<float>());
    return results;
  }

  Kernel kernel;

private:
  std::optional<SegmentedBody> cut;
};

TEST(Segments, WithoutCollectives) {
  Cut cut(R"(
    func.func private @double(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = arith.addf %x, %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func @body(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = func.call @double(%x) : (tensor<2xf32>) -> tensor<2xf32>
      %1 = func.call @double(%0) : (tensor<2xf32>) -> tensor<2xf32>
      return %1 : tensor<2xf32>
    })");
  ASSERT_TRUE(cut.ok()) << cut.kernel.errors();
  EXPECT_EQ(cut.steps(), "part(A0)->R0");
  auto results = cut.run({{{1, 2}}, {{3, 4}}}, {2});
  EXPECT_EQ(results[0][0], (std::vector<float>{4, 8}));
  EXPECT_EQ(results[1][0], (std::vector<float>{12, 16}));
}

TEST(Segments, ValuesCrossCuts) {
  Cut cut(R"(
    func.func @body(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) attributes {pw.local_view} {
      %c0 = arith.constant 0 : index
      %c = arith.constant dense<10.0> : tensor<2xf32>
      %s = tensor.extract %x[%c0] : tensor<2xf32>
      %i = pw.shard_index "x" : index
      %a = arith.addf %x, %c : tensor<2xf32>
      %b = pw.all_reduce %a add over ["x"] : tensor<2xf32>
      %d = arith.addf %b, %a : tensor<2xf32>
      %e = arith.addf %d, %c : tensor<2xf32>
      %f = pw.all_reduce %e add over ["x"] : tensor<2xf32>
      %k = arith.index_cast %i : index to i32
      %m = arith.sitofp %k : i32 to f32
      %n = arith.addf %s, %m : f32
      %g = tensor.insert %n into %f[%c0] : tensor<2xf32>
      return %g, %d : tensor<2xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(cut.ok()) << cut.kernel.errors();
  EXPECT_EQ(cut.steps(),
            "part.0(A0)->T3T0; all_reduce T0->T1; part.1(T1T0)->R1T2; "
            "all_reduce T2->T4; part.2(T3T4)->R0");
  auto results = cut.run({{{1, 2}}, {{3, 4}}}, {2, 2});
  // a = {11,12} {13,14}; b = {24,26}; d = {35,38} {37,40}; e = {45,48} {47,50}.
  EXPECT_EQ(results[0][1], (std::vector<float>{35, 38}));
  EXPECT_EQ(results[1][1], (std::vector<float>{37, 40}));
  EXPECT_EQ(results[0][0], (std::vector<float>{1, 98}));
  EXPECT_EQ(results[1][0], (std::vector<float>{4, 98}));
}

/// Collectives that do not depend on each other have no segment between them:
/// the operand of the second one is computed before both, and the result of the
/// first one is used after both.
TEST(Segments, CollectivesFollowEachOther) {
  Cut cut(R"(
    func.func @body(%x: tensor<2xf32>, %y: tensor<2xf32>)
        -> (tensor<2xf32>, tensor<2xf32>) attributes {pw.local_view} {
      %a = arith.addf %x, %x : tensor<2xf32>
      %b = pw.all_reduce %a add over ["x"] : tensor<2xf32>
      %c = arith.subf %y, %b : tensor<2xf32>
      %d = arith.mulf %y, %y : tensor<2xf32>
      %e = pw.all_reduce %d add over ["x"] : tensor<2xf32>
      %f = arith.subf %x, %e : tensor<2xf32>
      return %c, %f : tensor<2xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(cut.ok()) << cut.kernel.errors();
  EXPECT_EQ(cut.steps(), "part.0(A0A1)->T0T2; all_reduce T0->T1; "
                         "all_reduce T2->T3; part.1(A1T1A0T3)->R0R1");
  // It may be written over %y: nothing reads that after the first result.
  EXPECT_TRUE(SegmentAliases(cut.body()).canAlias(1, 0));
  auto results = cut.run({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, {2, 2});
  // b = {12,16}; e = {58,80}.
  EXPECT_EQ(results[0][0], (std::vector<float>{-9, -12}));
  EXPECT_EQ(results[1][0], (std::vector<float>{-5, -8}));
  EXPECT_EQ(results[0][1], (std::vector<float>{-57, -78}));
  EXPECT_EQ(results[1][1], (std::vector<float>{-53, -74}));
}

/// A collective that depends on another one comes after a separate segment, and
/// so do those after it, in their order in the body.
TEST(Segments, CollectivesOfWhatOthersGave) {
  Cut cut(R"(
    func.func @body(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
        attributes {pw.local_view} {
      %b = pw.all_reduce %x add over ["x"] : tensor<2xf32>
      %c = arith.addf %b, %x : tensor<2xf32>
      %d = pw.all_reduce %c add over ["x"] : tensor<2xf32>
      %e = arith.addf %x, %x : tensor<2xf32>
      %f = pw.all_reduce %e add over ["x"] : tensor<2xf32>
      %g = pw.all_reduce %f add over ["x"] : tensor<2xf32>
      %h = arith.addf %d, %g : tensor<2xf32>
      return %h, %e : tensor<2xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(cut.ok()) << cut.kernel.errors();
  EXPECT_EQ(cut.steps(), "all_reduce A0->T0; part.0(T0A0)->T1R1; "
                         "all_reduce T1->T3; all_reduce R1->T2; "
                         "all_reduce T2->T4; part.1(T3T4)->R0");
}

TEST(Segments, CollectiveOfAnArgumentReturned) {
  Cut cut(R"(
    func.func @body(%x: tensor<2xf32>) -> tensor<2xf32> attributes {pw.local_view} {
      %b = pw.all_reduce %x add over ["x"] : tensor<2xf32>
      return %b : tensor<2xf32>
    })");
  ASSERT_TRUE(cut.ok()) << cut.kernel.errors();
  EXPECT_EQ(cut.steps(), "all_reduce A0->R0");
  EXPECT_TRUE(cut.body().segments.empty());
  EXPECT_FALSE(SegmentAliases(cut.body()).canAlias(0, 0));
}

TEST(Segments, ResultsThatAreTheSame) {
  Cut cut(R"(
    func.func @body(%x: tensor<2xf32>)
        -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
        attributes {pw.local_view} {
      %a = arith.addf %x, %x : tensor<2xf32>
      %b = pw.all_reduce %a add over ["x"] : tensor<2xf32>
      return %a, %a, %b, %b, %x
        : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(cut.ok()) << cut.kernel.errors();
  EXPECT_EQ(cut.steps(),
            "part.0(A0)->R0R1; all_reduce R0->R2; part.1(R2A0)->R3R4");
  auto results = cut.run({{{1, 2}}, {{3, 4}}}, {2, 2, 2, 2, 2});
  for (int s : {0, 1}) {
    EXPECT_EQ(results[s][0], (std::vector<float>{2.f + 4 * s, 4.f + 4 * s}));
    EXPECT_EQ(results[s][1], results[s][0]);
    EXPECT_EQ(results[s][2], (std::vector<float>{8, 12}));
    EXPECT_EQ(results[s][3], results[s][2]);
    EXPECT_EQ(results[s][4], (std::vector<float>{1.f + 2 * s, 2.f + 2 * s}));
  }
  // The argument is read after result 0 was written; result 4 is written last.
  EXPECT_FALSE(SegmentAliases(cut.body()).canAlias(0, 0));
  EXPECT_TRUE(SegmentAliases(cut.body()).canAlias(0, 4));
}

TEST(Segments, AliasIsRecordedWhereItMatters) {
  Cut cut(R"(
    func.func @body(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> attributes {pw.local_view} {
      %a = arith.addf %x, %y : tensor<2xf32>
      %b = pw.all_reduce %a add over ["x"] : tensor<2xf32>
      %c = arith.addf %b, %y : tensor<2xf32>
      return %c : tensor<2xf32>
    })");
  ASSERT_TRUE(cut.ok()) << cut.kernel.errors();
  EXPECT_TRUE(SegmentAliases(cut.body()).canAlias(0, 0));
  ASSERT_TRUE(SegmentAliases(cut.body()).canAlias(1, 0));
  addAliases(cut.body(), {{1, 0}, {1, 0}});
  EXPECT_FALSE(cut.body().segments[0]->hasAttr(kSegmentAliasAttrName));
  auto pairs = cut.body().segments[1]->getAttrOfType<DenseI64ArrayAttr>(
      kSegmentAliasAttrName);
  ASSERT_TRUE(pairs);
  EXPECT_EQ(pairs.size(), 2);
  EXPECT_EQ(pairs[0], 1);
  EXPECT_EQ(pairs[1], 0);
}

TEST(Segments, ValidExtentFollowsTheLayout) {
  // 5 elements over 4 shards: 2, 2, 1, 0.
  Cut cut(R"(
    func.func @body(%x: tensor<2xf32>) -> tensor<f32> attributes {pw.local_view} {
      %n = pw.valid_extent %x, 0 : tensor<2xf32>
      %i = arith.index_cast %n : index to i32
      %f = arith.sitofp %i : i32 to f32
      %t = tensor.from_elements %f : tensor<f32>
      return %t : tensor<f32>
    })",
          4, {R"(!pw.array<5xf32, @s, [{"x"}]>)"});
  ASSERT_TRUE(cut.ok()) << cut.kernel.errors();
  auto results = cut.run({{{0, 0}}, {{0, 0}}, {{0, 0}}, {{0, 0}}}, {1});
  EXPECT_EQ(results[0][0][0], 2);
  EXPECT_EQ(results[1][0][0], 2);
  EXPECT_EQ(results[2][0][0], 1);
  EXPECT_EQ(results[3][0][0], 0);
}

/// Loops and branches around collectives are unrolled or resolved; all others
/// stay.
TEST(Segments, LoopsAroundCollectives) {
  Cut cut(R"(
    func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> tensor<4xf32> {
        %last = arith.cmpi eq, %i, %c1 : index
        %w = scf.if %last -> tensor<4xf32> {
          scf.yield %v : tensor<4xf32>
        } else {
          %s = pw.all_reduce %v add over ["x"] : tensor<4xf32>
          scf.yield %s : tensor<4xf32>
        }
        %d = scf.for %j = %c0 to %c3 step %c1 iter_args(%u = %w) -> tensor<4xf32> {
          %e = arith.addf %u, %x : tensor<4xf32>
          scf.yield %e : tensor<4xf32>
        }
        scf.yield %d : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    })");
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut.steps(), "all_reduce A0->T0; part.0(A0T0)->T1; "
                         "all_reduce T1->T2; part.1(A0T2)->R0");
}

TEST(Segments, LoopsAroundCollectivesThatRunNever) {
  Cut cut(R"(
    func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c1 to %c0 step %c1 iter_args(%v = %x) -> tensor<4xf32> {
        %s = pw.all_reduce %v add over ["x"] : tensor<4xf32>
        scf.yield %s : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    })");
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut.steps(), "part(A0)->R0");
}

TEST(Segments, Refusals) {
  struct Case {
    std::string text, error;
  };
  // Each function calls the previous one twice.
  std::string many =
      "func.func private @f0(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : "
      "tensor<2xf32> }\n";
  for (int i = 1; i <= 60; ++i) {
    std::string last = std::to_string(i - 1);
    many +=
        "func.func private @f" + std::to_string(i) +
        "(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = func.call @f" + last +
        "(%x) : (tensor<2xf32>) -> tensor<2xf32>\n  %1 = func.call @f" + last +
        "(%0) : (tensor<2xf32>) -> tensor<2xf32>\n  return %1 : "
        "tensor<2xf32>\n}\n";
  }
  many += "func.func @body(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = "
          "func.call @f60(%x) : "
          "(tensor<2xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n";
  auto loop = [](const std::string &end, const std::string &step) {
    return "func.func @body(%x: tensor<2xf32>) -> tensor<2xf32> attributes "
           "{pw.local_view} {\n %c0 = arith.constant 0 : i64\n %n = "
           "arith.constant " +
           end + " : i64\n %s = arith.constant " + step +
           " : i64\n %r = scf.for %i = %c0 to %n step %s iter_args(%v = %x) -> "
           "tensor<2xf32> : i64 {\n %a = pw.all_reduce %v add over [\"x\"] : "
           "tensor<2xf32>\n scf.yield %a : tensor<2xf32>\n }\n return %r : "
           "tensor<2xf32>\n}\n";
  };
  const Case cases[] = {
      {loop("1025", "1"), "'scf.for' op has collectives inside and runs 1025 "
                          "times, expected at most 1024"},
      {loop("9223372036854775807", "1"), "runs 9223372036854775807 times"},
      {loop("3", "-1"), "has a step of -1, expected at least 1"},
      {R"(func.func @body(%x: tensor<2xf32>) -> tensor<2xf32> {
            %0 = func.call @other(%x) : (tensor<2xf32>) -> tensor<2xf32>
            return %0 : tensor<2xf32>
          }
          func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
            %0 = func.call @body(%x) : (tensor<2xf32>) -> tensor<2xf32>
            return %0 : tensor<2xf32>
          })",
       "calls 'body', which is recursive; kernels cannot contain recursion"},
      {R"(func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32>
          func.func @body(%x: tensor<2xf32>) -> tensor<2xf32> {
            %0 = func.call @other(%x) : (tensor<2xf32>) -> tensor<2xf32>
            return %0 : tensor<2xf32>
          })",
       "calls 'other', which has no body"},
      {many, "expected a body of at most 262144 operations after inlining"},
  };
  for (const Case &c : cases) {
    Cut cut(c.text);
    EXPECT_FALSE(cut.ok());
    EXPECT_THAT(cut.kernel.errors(), HasSubstr(c.error));
  }
}

} // namespace
