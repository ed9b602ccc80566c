//===- random_kernel_test.cc - Random kernels against plain C++ -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PATHWAYS_TEST_SEED and PATHWAYS_TEST_KERNELS choose other kernels than the
// usual ones: the kernel with seed S is the first of a run that starts at S.
// Half of them are compiled for this machine, the others for older ones whose
// code this machine can run. PATHWAYS_TEST_CPU, such as x86-64-v3, names one
// target for all.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "lib/Codegen/Prepare/RowGroup.h"
#include "random_kernel.h"

#include "runtime/kernel/target.h"
#include "unittests/random_cases.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <memory>

using namespace kernel_test;
namespace kernel = mlir::pathways::kernel;
using pathways::FromEnvironment;
using pathways::SampleSize;
using pathways::TestSeed;
using pathways::proto::Target;

namespace {

/// Runs `random`, which is segment `segment`. Returns its results.
std::vector<std::vector<uint8_t>> run(Kernel &kernel, unsigned segment,
                                      const RandomKernel &random) {
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
  EXPECT_EQ(kernel.run(segment, buffers, random.coordinates), 0);
  for (auto [i, operand] : llvm::enumerate(random.operands))
    if (!isShared[i]) {
      EXPECT_EQ(buffers[i]->as<uint8_t>(), operand.bytes())
          << "operand " << i << " was written to";
    }
  std::vector<std::vector<uint8_t>> results;
  for (Buffer *buffer : llvm::ArrayRef(buffers).drop_front(numOperands))
    results.push_back(buffer->as<uint8_t>());
  return results;
}

/// Runs `random` and compares its results.
void check(Kernel &kernel, unsigned segment, const RandomKernel &random) {
  for (auto [r, result, bytes] :
       llvm::enumerate(random.results, run(kernel, segment, random)))
    EXPECT_EQ(difference(result, bytes), "") << "in result " << r;
}

/// Returns older machines whose code runs here, one for each width of vectors.
std::vector<Target> olderTargets() {
  std::vector<Target> targets;
  for (const char *cpu :
       {"x86-64", "x86-64-v2", "sandybridge", "x86-64-v3", "x86-64-v4"}) {
    Target target;
    target.set_triple("x86_64-unknown-linux-gnu");
    target.set_cpu(cpu);
    if (auto complete = pathways::CompleteTarget(target);
        complete.ok() && pathways::CheckTarget(*complete).ok())
      targets.push_back(*complete);
  }
  return targets;
}

/// Returns the target of a group of kernels.
Target targetOf(uint64_t group) {
  static const std::vector<Target> older = olderTargets();
  Target target = pathways::HostTarget();
  if (const char *cpu = std::getenv("PATHWAYS_TEST_CPU")) {
    target.clear_features();
    target.set_cpu(cpu);
  } else if (group % 2 == 1 && !older.empty()) {
    target = older[group / 2 % older.size()];
  }
  return target;
}

/// Returns the limits of a group. Half of the groups are cut into few rows,
/// however small the kernels are.
kernel::RowLimits limitsOf(uint64_t group) {
  if (group / 2 % 2 == 0)
    return {};
  const int64_t rows = 3 + group % 4;
  return {
      .leastBytes = 1, .leastBlock = rows, .mostBlock = rows, .fewRows = rows};
}

mlir::pathways::Rounding roundingOf(Accuracy accuracy) {
  switch (accuracy) {
  case Accuracy::EachOp:
    return mlir::pathways::Rounding::EachOp;
  case Accuracy::Strict:
    return mlir::pathways::Rounding::Strict;
  case Accuracy::Excess:
    return mlir::pathways::Rounding::Excess;
  }
}

/// Compiles, runs and compares `count` kernels and prints their seeds.
void checkMany(Mix mix, uint64_t usual, Accuracy accuracy = Accuracy::EachOp) {
  const uint64_t seed = TestSeed(20260701);
  const uint64_t count = FromEnvironment("PATHWAYS_TEST_KERNELS", usual);
  constexpr uint64_t kTogether = 10; // segments of one kernel
  std::printf("seeds %llu to %llu\n", (unsigned long long)seed,
              (unsigned long long)(seed + count - 1));
  for (uint64_t first = 0; first < count; first += kTogether) {
    std::vector<RandomKernel> randoms;
    std::string text;
    for (uint64_t i = first; i < std::min(first + kTogether, count); ++i) {
      randoms.push_back(makeRandomKernel("k" + std::to_string(i - first),
                                         seed + i, View::Local, mix, accuracy));
      text += randoms.back().text;
    }
    const Target target = targetOf(first / kTogether);
    kernel::rowLimits() = limitsOf(first / kTogether);
    Kernel together;
    together.setRounding(roundingOf(accuracy));
    bool areGood = together.compile(text, {target}) && together.load(target);
    for (auto [i, random] : llvm::enumerate(randoms)) {
      SCOPED_TRACE(testing::Message() << "seed " << seed + first + i << " for "
                                      << target.cpu() << "\n"
                                      << random.text);
      Kernel alone;
      alone.setRounding(roundingOf(accuracy));
      if (!areGood &&
          !(alone.compile(random.text, {target}) && alone.load(target))) {
        ADD_FAILURE() << alone.errors();
        continue;
      }
      check(areGood ? together : alone, areGood ? i : 0, random);
    }
  }
  kernel::rowLimits() = {};
}

/// Makes all NaN of a format equal; `infinity` has the bits of its infinity.
template <typename Bits>
void makeOneNaN(std::vector<uint8_t> &bytes, Bits infinity) {
  constexpr Bits kSize = static_cast<Bits>(~Bits(0)) >> 1;
  for (size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, &bytes[i], sizeof(Bits));
    if ((bits & kSize) > infinity)
      std::memcpy(&bytes[i], &kSize, sizeof(Bits));
  }
}

std::vector<uint8_t> withOneNaN(Element element, std::vector<uint8_t> bytes) {
  switch (element) {
  case Element::F16:
    makeOneNaN<uint16_t>(bytes, 0x7c00);
    break;
  case Element::BF16:
    makeOneNaN<uint16_t>(bytes, 0x7f80);
    break;
  case Element::F32:
    makeOneNaN<uint32_t>(bytes, 0x7f800000);
    break;
  case Element::F64:
    makeOneNaN<uint64_t>(bytes, 0x7ff0000000000000);
    break;
  default:
    break;
  }
  return bytes;
}

TEST(RandomKernels, AgreeWithPlainCode) {
  checkMany(Mix::Usual, SampleSize(120, 400));
}

TEST(RandomKernels, LayersAgreeWithPlainCode) {
  checkMany(Mix::Layers, SampleSize(120, 500));
}

/// Sums of exact terms are compared bit by bit.
TEST(RandomKernels, StrictRoundingAgreesWithPlainCode) {
  checkMany(Mix::Usual, SampleSize(60, 300), Accuracy::Strict);
  checkMany(Mix::Layers, SampleSize(60, 300), Accuracy::Strict);
}

TEST(RandomKernels, ExcessPrecisionAgreesWithPlainCode) {
  checkMany(Mix::Usual, SampleSize(40, 200), Accuracy::Excess);
  checkMany(Mix::Layers, SampleSize(40, 200), Accuracy::Excess);
}

/// Runs each kernel without row loops, and with everything cut into rows that
/// can be.
TEST(RandomKernels, RowLoopsChangeNoBit) {
  const uint64_t seed = TestSeed(20260901);
  const uint64_t count =
      FromEnvironment("PATHWAYS_TEST_KERNELS", SampleSize(60, 200));
  std::printf("seeds %llu to %llu\n", (unsigned long long)seed,
              (unsigned long long)(seed + count - 1));
  for (uint64_t i = 0; i < count; ++i) {
    RandomKernel random = makeRandomKernel("k", seed + i, View::Local,
                                           i % 2 ? Mix::Layers : Mix::Usual);
    const Target target = targetOf(i / 2);
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed + i << " for " << target.cpu() << "\n"
                 << random.text);
    std::vector<std::vector<uint8_t>> results;
    const int64_t rows = 2 + i % 5;
    for (const kernel::RowLimits &limits : {kernel::RowLimits{},
                                            {.leastBytes = 1,
                                             .leastBlock = rows,
                                             .mostBlock = rows,
                                             .fewRows = rows}}) {
      kernel::rowLimits() = limits;
      Kernel kernel;
      ASSERT_TRUE(kernel.compile(random.text, {target}) && kernel.load(target))
          << kernel.errors();
      auto each = run(kernel, 0, random);
      for (size_t r = 0; r < each.size(); ++r)
        each[r] = withOneNaN(random.results[r].element, each[r]);
      if (results.empty())
        results = each;
      EXPECT_EQ(each, results);
    }
  }
  kernel::rowLimits() = {};
}

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

/// The comparison detects a wrong element.
TEST(RandomKernels, DifferencesAreSeen) {
  for (Element element :
       {Element::I1, Element::I8, Element::I16, Element::I32, Element::I64,
        Element::F16, Element::BF16, Element::F32, Element::F64}) {
    Tensor tensor{element, {2, 2}, std::vector<Cell>(4, {1, 1e-7L, 1})};
    std::vector<uint8_t> bytes = tensor.bytes();
    EXPECT_EQ(difference(tensor, bytes), "");
    // a bit of the exponent or of the number itself
    bytes[bytes.size() - 1] ^= 1;
    EXPECT_EQ(difference(tensor, bytes).find("element 3 of tensor<2x2x"), 0u);
  }
}

} // namespace
