//===- random_kernel_test.cc - Random kernels against plain C++ -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PATHWAYS_TEST_SEED and PATHWAYS_TEST_KERNELS choose others than the usual
// ones: the kernel with seed S is the first of a run that starts at S.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "random_kernel.h"

#include "gtest/gtest.h"
#include <cstdlib>
#include <memory>

using namespace kernel_test;

namespace {

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Runs `random`, which is segment `segment`, and compares.
void check(Kernel &kernel, unsigned segment, const RandomKernel &random) {
  std::vector<std::unique_ptr<Buffer>> memory;
  std::vector<Buffer *> buffers;
  for (const Tensor &operand : random.operands) {
    memory.push_back(std::make_unique<Buffer>(Buffer::of(operand.bytes())));
    buffers.push_back(memory.back().get());
  }
  size_t numOperands = buffers.size();
  std::vector<bool> isShared(numOperands);
  for (auto [r, result] : llvm::enumerate(random.results)) {
    memory.push_back(std::make_unique<Buffer>(result.bytes().size()));
    buffers.push_back(memory.back().get());
    for (auto [operand, other] : random.shared)
      if (static_cast<size_t>(other) == r) {
        buffers.back() = buffers[operand];
        isShared[operand] = true;
      }
  }
  ASSERT_EQ(kernel.run(segment, buffers, random.coordinates), 0);
  for (auto [r, result] : llvm::enumerate(random.results))
    EXPECT_EQ(difference(result, buffers[numOperands + r]->as<uint8_t>()), "")
        << "in result " << r;
  for (auto [i, operand] : llvm::enumerate(random.operands))
    if (!isShared[i]) {
      EXPECT_EQ(buffers[i]->as<uint8_t>(), operand.bytes())
          << "operand " << i << " was written to";
    }
}

/// Compiles, runs and compares `count` kernels, whose seeds are printed.
void checkMany(Mix mix, uint64_t usual) {
  const uint64_t seed = fromEnvironment("PATHWAYS_TEST_SEED", 20260701);
  const uint64_t count = fromEnvironment("PATHWAYS_TEST_KERNELS", usual);
  constexpr uint64_t kTogether = 10; // as segments of one kernel
  std::printf("seeds %llu to %llu\n", (unsigned long long)seed,
              (unsigned long long)(seed + count - 1));
  for (uint64_t first = 0; first < count; first += kTogether) {
    std::vector<RandomKernel> randoms;
    std::string text;
    for (uint64_t i = first; i < std::min(first + kTogether, count); ++i) {
      randoms.push_back(makeRandomKernel("k" + std::to_string(i - first),
                                         seed + i, View::Local, mix));
      text += randoms.back().text;
    }
    Kernel together;
    bool areGood = together.compile(text);
    for (auto [i, random] : llvm::enumerate(randoms)) {
      SCOPED_TRACE(testing::Message() << "seed " << seed + first + i << "\n"
                                      << random.text);
      Kernel alone;
      if (!areGood && !alone.compile(random.text)) {
        ADD_FAILURE() << alone.errors();
        continue;
      }
      check(areGood ? together : alone, areGood ? i : 0, random);
    }
  }
}

TEST(RandomKernels, AgreeWithPlainCode) { checkMany(Mix::Usual, 1000); }

TEST(RandomKernels, LayersAgreeWithPlainCode) { checkMany(Mix::Layers, 2000); }

TEST(RandomKernels, EqualSeedsGiveEqualKernels) {
  RandomKernel one = makeRandomKernel("k", 7), other = makeRandomKernel("k", 7);
  EXPECT_EQ(one.text, other.text);
  EXPECT_NE(one.text, makeRandomKernel("k", 8).text);
  ASSERT_EQ(one.results.size(), other.results.size());
  for (auto [a, b] : llvm::zip_equal(one.results, other.results)) {
    EXPECT_EQ(a.bytes(), b.bytes());
    EXPECT_EQ(difference(a, b.bytes()), "");
  }
}

/// A wrong element is found: the comparison is not one that always agrees.
TEST(RandomKernels, DifferencesAreSeen) {
  for (Element element :
       {Element::I1, Element::I8, Element::I32, Element::I64, Element::F16,
        Element::BF16, Element::F32, Element::F64}) {
    Tensor tensor{element, {2, 2}, std::vector<Cell>(4, {1, 1e-7L, 1})};
    std::vector<uint8_t> bytes = tensor.bytes();
    EXPECT_EQ(difference(tensor, bytes), "");
    bytes[bytes.size() - 1] ^= 1; // of the exponent or the number itself
    EXPECT_EQ(difference(tensor, bytes).find("element 3 of tensor<2x2x"), 0u);
  }
}

} // namespace
