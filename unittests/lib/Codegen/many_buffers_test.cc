//===- many_buffers_test.cc - Kernels that take a table of buffers --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace kernel_test;

namespace {

constexpr int kCount = 70; // number of inputs and of results

/// Returns a function of kCount inputs. `line(i)` makes %r<i> from them.
template <typename Line>
std::string function(const std::string &type, const std::string &before,
                     const Line &line, const std::string &attributes = "") {
  std::string arguments, types, body, results;
  for (int i = 0; i < kCount; ++i) {
    const std::string comma = i > 0 ? ", " : "";
    arguments += comma + "%a" + std::to_string(i) + ": " + type;
    types += comma + type;
    body += line(i) + "\n";
    results += comma + "%r" + std::to_string(i);
  }
  return "func.func @f(" + arguments + ") -> (" + types + ") " + attributes +
         "{\n" + before + body + "return " + results + " : " + types + "\n}";
}

std::string at(int i) { return std::to_string((i + kCount) % kCount); }

/// Runs the kernel on inputs {i, i + 1, i + 2, i + 3} and returns its results.
template <typename T>
std::vector<std::vector<T>> runOn(Kernel &kernel, int32_t expected = 0,
                                  std::vector<int32_t> coordinates = {},
                                  uint64_t step = 0) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < kCount; ++i)
    buffers.push_back(
        Buffer::of(std::vector<T>{T(i), T(i + 1), T(i + 2), T(i + 3)}));
  for (int i = 0; i < kCount; ++i)
    buffers.emplace_back(4 * sizeof(T));
  std::vector<Buffer *> pointers;
  for (Buffer &buffer : buffers)
    pointers.push_back(&buffer);
  EXPECT_EQ(kernel.run(0, pointers, coordinates, step), expected);
  std::vector<std::vector<T>> results;
  for (int i = 0; i < kCount; ++i)
    results.push_back(buffers[kCount + i].as<T>());
  return results;
}

TEST(ManyBuffers, EachIsItsOwn) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(function("tensor<4xf32>", "", [](int i) {
    return "%r" + at(i) + " = arith.addf %a" + at(i) + ", %a" + at(i + 1) +
           " : tensor<4xf32>";
  }))) << kernel.errors();
  auto results = runOn<float>(kernel);
  for (int i = 0; i < kCount; ++i)
    for (int e = 0; e < 4; ++e)
      EXPECT_EQ(results[i][e], (i + e) + ((i + 1) % kCount + e)) << i;
}

/// Tests checks, which are in no part, and temporaries, which are scratch
/// memory.
TEST(ManyBuffers, ChecksAndTemporaries) {
  const std::string text = function("tensor<4xi32>", "", [](int i) {
    return "%t" + at(i) + " = arith.addi %a" + at(i) + ", %a" + at(i + 2) +
           " : tensor<4xi32>\n%r" + at(i) + " = arith.divsi %t" + at(i) +
           ", %a" + at(i + 1) + " : tensor<4xi32>";
  });
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
  // %a0 has a 0, and the last division divides by it. Each division has two
  // checks; the first one is for zero.
  runOn<int32_t>(kernel, /*expected=*/2 * kCount - 1);
}

/// One loop uses all buffers, and one uses few of them.
TEST(ManyBuffers, Loops) {
  std::string carried, types, sums, sources;
  for (int i = 0; i < kCount; ++i) {
    const std::string comma = i > 0 ? ", " : "";
    carried += comma + "%c" + at(i) + " = %a" + at(i);
    types += comma + "tensor<4xf32>";
    sums += "%s" + at(i) + " = arith.addf %c" + at(i) + ", %a" + at(i + 1) +
            " : tensor<4xf32>\n";
    sources += comma + "%s" + at(i);
  }
  const std::string before =
      "%0 = arith.constant 0 : index\n%1 = arith.constant 1 : index\n"
      "%3 = arith.constant 3 : index\n%l:" +
      std::to_string(kCount) + " = scf.for %k = %0 to %3 step %1 iter_args(" +
      carried + ") -> (" + types + ") {\n" + sums + "scf.yield " + sources +
      " : " + types +
      "\n}\n%m = scf.for %k = %0 to %3 step %1 iter_args(%n = %a5) -> "
      "(tensor<4xf32>) {\n%o = arith.addf %n, %a7 : tensor<4xf32>\n"
      "scf.yield %o : tensor<4xf32>\n}\n";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(function("tensor<4xf32>", before, [](int i) {
    return "%r" + at(i) + " = arith.addf %l#" + at(i) + ", %m : tensor<4xf32>";
  }))) << kernel.errors();
  auto results = runOn<float>(kernel);
  for (int i = 0; i < kCount; ++i)
    for (int e = 0; e < 4; ++e)
      EXPECT_EQ(results[i][e],
                (i + e) + 3 * ((i + 1) % kCount + e) + (5 + e) + 3 * (7 + e))
          << i;
}

/// Buffers between which branches choose stay buffers until the conversion to
/// LLVM.
TEST(ManyBuffers, Branches) {
  const std::string before = R"(
    %0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %first = tensor.extract %a0[%0] : tensor<4xf32>
    %is = arith.cmpf oeq, %first, %zero : f32
    %chosen = scf.if %is -> (tensor<4xf32>) {
      scf.yield %a9 : tensor<4xf32>
    } else {
      scf.yield %a3 : tensor<4xf32>
    }
    %two = arith.constant 2 : index
    %while:2 = scf.while (%w = %a4, %n = %0) : (tensor<4xf32>, index)
        -> (tensor<4xf32>, index) {
      %more = arith.cmpi ult, %n, %two : index
      scf.condition(%more) %w, %n : tensor<4xf32>, index
    } do {
    ^bb0(%w: tensor<4xf32>, %n: index):
      %one = arith.constant 1 : index
      %next = arith.addi %n, %one : index
      %sum = arith.addf %w, %a6 : tensor<4xf32>
      scf.yield %sum, %next : tensor<4xf32>, index
    }
)";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(function("tensor<4xf32>", before, [](int i) {
    return "%q" + at(i) + " = arith.addf %chosen, %a" + at(i) +
           " : tensor<4xf32>\n%r" + at(i) + " = arith.addf %q" + at(i) +
           ", %while#0 : tensor<4xf32>";
  }))) << kernel.errors();
  auto results = runOn<float>(kernel);
  for (int i = 0; i < kCount; ++i)
    for (int e = 0; e < 4; ++e)
      EXPECT_EQ(results[i][e], (9 + e) + (i + e) + (4 + e) + 2 * (6 + e)) << i;
}

/// The coordinates and the step follow the buffers.
TEST(ManyBuffers, CoordinatesAndStep) {
  const std::string before = R"(
    %x = pw.shard_index "x" : index
    %step = pw.step_index : index
    %ten = arith.constant 10 : index
    %t = arith.muli %step, %ten : index
    %u = arith.addi %x, %t : index
    %i = arith.index_cast %u : index to i32
    %s = tensor.splat %i : tensor<4xi32>
)";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(function(
      "tensor<4xi32>", before,
      [](int i) {
        return "%r" + at(i) + " = arith.addi %s, %a" + at(i) +
               " : tensor<4xi32>";
      },
      "attributes {pw.local_view, segment_mesh = #pw.mesh<\"x\" = 4>} ")))
      << kernel.errors();
  auto results = runOn<int32_t>(kernel, 0, /*coordinates=*/{3}, /*step=*/2);
  for (int i = 0; i < kCount; ++i)
    EXPECT_THAT(results[i],
                ::testing::ElementsAre(23 + i, 24 + i, 25 + i, 26 + i));
}

} // namespace
