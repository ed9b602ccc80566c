//===- slices_test.cc - Slices of all sizes and steps ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels extract and insert slices, with sizes from 0 and steps from 1 on, at
// offsets that are constant or computed, with or without dropping dimensions of
// one element. They are compared with plain C++. PATHWAYS_TEST_SEED and
// PATHWAYS_TEST_SLICES choose other slices than the usual ones.
//
//===----------------------------------------------------------------------===//

#include "cells.h"
#include "codegen_harness.h"

#include "unittests/random_cases.h"
#include "gtest/gtest.h"
#include <memory>
#include <random>

using namespace kernel_test;

namespace {

/// A function that extracts a slice of its first argument and adds its second
/// one, or inserts the second one into the first and adds the result to itself.
class RandomSlice {
public:
  RandomSlice(const std::string &name, std::mt19937_64 &random)
      : random(random) {
    isInsert = below(2);
    const int rank = 1 + below(4);
    for (int d = 0; d < rank; ++d) {
      // Many dimensions have one element, because it matters which of them are
      // dropped.
      large.push_back(below(2) ? 1 : 1 + below(6));
      const int64_t offset = below(large[d]);
      int64_t step = 1 + below(3), size = 1;
      if (below(3) == 0)
        size = 1 + below((large[d] - 1 - offset) / step + 1);
      if (below(40) == 0)
        size = 0;
      // A step that is never taken may have any size.
      if (size <= 1 && below(8) == 0)
        step = below(2) ? INT64_MAX : 1000000007;
      offsets.push_back(offset), sizes.push_back(size), steps.push_back(step);
      isDropped.push_back(size == 1 && below(2));
      if (!isDropped[d])
        small.push_back(size);
      isComputed.push_back(below(4) == 0);
    }
    write(name);
  }

  /// Compares the results of `kernel` with plain C++.
  void check(Kernel &kernel, unsigned segment) {
    std::vector<int32_t> whole(countOf(large)), part(countOf(small));
    for (int32_t &value : whole)
      value = below(1000);
    for (int32_t &value : part)
      value = below(1000);
    std::vector<int32_t> expected = isInsert ? whole : part;
    int64_t next = 0;
    forEach(sizes, [&](const Shape &index) {
      Shape at = offsets;
      for (size_t d = 0; d < at.size(); ++d)
        at[d] += index[d] == 0 ? 0 : index[d] * steps[d];
      if (isInsert)
        expected[offsetOf(large, at)] = part[next++];
      else
        expected[next++] += whole[offsetOf(large, at)];
    });
    if (isInsert)
      for (int32_t &value : expected)
        value *= 2;
    Buffer x = Buffer::of(whole), y = Buffer::of(part),
           at = Buffer::of(offsets), z(expected.size() * 4);
    ASSERT_EQ(kernel.run(segment, {&x, &y, &at, &z}), 0) << text;
    EXPECT_EQ(z.as<int32_t>(), expected) << text;
    EXPECT_EQ(x.as<int32_t>(), whole) << text;
    EXPECT_EQ(y.as<int32_t>(), part) << text;
  }

  std::string text;

private:
  int64_t below(int64_t n) { return random() % n; }

  void write(const std::string &name) {
    const std::string whole = typeText(Element::I32, large),
                      part = typeText(Element::I32, small),
                      &result = isInsert ? whole : part;
    text = "func.func @" + name + "(%x: " + whole + ", %y: " + part +
           ", %at: tensor<" + std::to_string(large.size()) + "xi64>) -> " +
           result + " {\n";
    std::string places;
    for (size_t d = 0; d < large.size(); ++d) {
      const std::string n = std::to_string(d);
      places += d ? ", " : "";
      if (!isComputed[d]) {
        places += std::to_string(offsets[d]);
        continue;
      }
      places += "%k" + n;
      text += "  %c" + n + " = arith.constant " + n + " : index\n  %i" + n +
              " = tensor.extract %at[%c" + n + "] : tensor<" +
              std::to_string(large.size()) + "xi64>\n  %k" + n +
              " = arith.index_cast %i" + n + " : i64 to index\n";
    }
    const std::string where =
        "[" + places + "] [" + list(sizes) + "] [" + list(steps) + "] : ";
    if (isInsert)
      text += "  %s = tensor.insert_slice %y into %x" + where + part +
              " into " + whole + "\n  %r = arith.addi %s, %s : " + whole + "\n";
    else
      text += "  %s = tensor.extract_slice %x" + where + whole + " to " + part +
              "\n  %r = arith.addi %s, %y : " + part + "\n";
    text += "  return %r : " + result + "\n}\n";
  }

  std::mt19937_64 &random;
  bool isInsert;
  Shape large, small;
  std::vector<int64_t> offsets, sizes, steps;
  std::vector<bool> isDropped, isComputed;
};

TEST(SlicesTest, AgreeWithPlainCode) {
  const uint64_t seed = pathways::TestSeed(20261128);
  const uint64_t count = pathways::FromEnvironment(
      "PATHWAYS_TEST_SLICES", pathways::SampleSize(300, 1000));
  std::printf("seed %llu\n", (unsigned long long)seed);
  std::mt19937_64 random(seed);
  constexpr uint64_t kTogether = 25; // segments of one kernel
  for (uint64_t first = 0; first < count; first += kTogether) {
    std::vector<std::unique_ptr<RandomSlice>> slices;
    std::string text;
    for (uint64_t i = 0; i < kTogether; ++i) {
      slices.push_back(
          std::make_unique<RandomSlice>("f" + std::to_string(i), random));
      text += slices.back()->text;
    }
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(text) && kernel.load())
        << kernel.errors() << text;
    for (uint64_t i = 0; i < kTogether; ++i)
      slices[i]->check(kernel, i);
  }
}

/// A step that is never taken may be the largest number: times the stride of
/// its dimension it would exceed any valid stride.
TEST(SlicesTest, StepsThatAreNotTaken) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @out(%x: tensor<5x2xi32>, %y: tensor<1x1xi32>, %at: tensor<i64>) -> tensor<1x1xi32> {
      %k = tensor.extract %at[] : tensor<i64>
      %i = arith.index_cast %k : i64 to index
      %s = tensor.extract_slice %x[%i, 1] [1, 1] [4611686018427387904, 1] : tensor<5x2xi32> to tensor<1x1xi32>
      %r = arith.addi %s, %y : tensor<1x1xi32>
      return %r : tensor<1x1xi32>
    })") && kernel.load())
      << kernel.errors();
  Buffer x = Buffer::of(std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
         y = Buffer::of(std::vector<int32_t>{10}),
         at = Buffer::of(std::vector<int64_t>{2}), z(4);
  ASSERT_EQ(kernel.run(0, {&x, &y, &at, &z}), 0);
  EXPECT_EQ(z.as<int32_t>(), (std::vector<int32_t>{15}));
}

/// Some of several dimensions of one element are dropped, while the steps of
/// other dimensions change their strides.
TEST(SlicesTest, StepsBesideDimensionsOfOneElement) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @out(%x: tensor<4x1x1xi32>, %y: tensor<2x1xi32>) -> tensor<2x1xi32> {
      %s = tensor.extract_slice %x[1, 0, 0] [2, 1, 1] [2, 1, 1] : tensor<4x1x1xi32> to tensor<2x1xi32>
      %r = arith.addi %s, %y : tensor<2x1xi32>
      return %r : tensor<2x1xi32>
    }
    func.func @in(%x: tensor<1x4x1xi32>, %y: tensor<1x2xi32>) -> tensor<1x4x1xi32> {
      %s = tensor.insert_slice %y into %x[0, 0, 0] [1, 2, 1] [1, 3, 1] : tensor<1x2xi32> into tensor<1x4x1xi32>
      return %s : tensor<1x4x1xi32>
    }
    func.func @one(%x: tensor<5x1xi32>, %y: tensor<1xi32>) -> tensor<1xi32> {
      %s = tensor.extract_slice %x[3, 0] [1, 1] [2, 1] : tensor<5x1xi32> to tensor<1xi32>
      %r = arith.addi %s, %y : tensor<1xi32>
      return %r : tensor<1xi32>
    })") && kernel.load())
      << kernel.errors();
  Buffer x = Buffer::of(std::vector<int32_t>{1, 2, 3, 4, 5}),
         y = Buffer::of(std::vector<int32_t>{10, 20}), out(8), in(16), one(4);
  ASSERT_EQ(kernel.run(0, {&x, &y, &out}), 0);
  EXPECT_EQ(out.as<int32_t>(), (std::vector<int32_t>{12, 24}));
  ASSERT_EQ(kernel.run(1, {&x, &y, &in}), 0);
  EXPECT_EQ(in.as<int32_t>(), (std::vector<int32_t>{10, 2, 3, 20}));
  ASSERT_EQ(kernel.run(2, {&x, &y, &one}), 0);
  EXPECT_EQ(one.as<int32_t>(), (std::vector<int32_t>{14}));
}

} // namespace
