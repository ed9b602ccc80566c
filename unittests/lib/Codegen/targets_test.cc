//===- targets_test.cc - Code selection for all targets -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generates code for other machines without running it. PATHWAYS_TEST_SEED and
// PATHWAYS_TEST_KERNELS choose other random kernels than the usual ones.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "random_kernel.h"

#include "runtime/kernel/target.h"
#include "unittests/random_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <thread>

using namespace kernel_test;
using testing::HasSubstr;

namespace {

pathways::proto::Target target(const std::string &arch, const std::string &cpu,
                               const std::vector<std::string> &features = {}) {
  pathways::proto::Target target;
  target.set_triple(arch + "-unknown-linux-gnu");
  target.set_cpu(cpu);
  for (const std::string &feature : features)
    target.add_features(feature);
  return target;
}

/// Returns one target for each width of vectors, with and without f16 and bf16.
std::vector<pathways::proto::Target> targets() {
  return {pathways::HostTarget(),
          target("x86_64", "x86-64"),         // 128 bits, SSE2
          target("x86_64", "nehalem"),        // SSE4.2
          target("x86_64", "sandybridge"),    // 256 bits, no integers
          target("x86_64", "haswell"),        // AVX2, F16C
          target("x86_64", "skylake-avx512"), // 512 bits
          target("x86_64", "znver4"),         // bf16
          target("x86_64", "sapphirerapids"), // bf16 and f16
          target("aarch64", "generic"),
          target("aarch64", "neoverse-v1"), // vectors of any length, bf16
          target("aarch64", "apple-m1")};
}

std::string transposes(const std::string &type) {
  std::string text;
  int number = 0;
  for (auto [m, n] : std::vector<std::pair<int, int>>{
           {17, 2}, {2, 17}, {17, 7}, {3, 5}, {16, 16}, {33, 9}}) {
    auto dims = [&](int a, int b) {
      return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "x" +
             type + ">";
    };
    text += "func.func @f" + std::to_string(number++) + "(%x: " + dims(m, n) +
            ") -> " + dims(n, m) + " {\n  %e = tensor.empty() : " + dims(n, m) +
            "\n  %r = linalg.transpose ins(%x : " + dims(m, n) +
            ") outs(%e : " + dims(n, m) +
            ") permutation = [1, 0]\n  return %r : " + dims(n, m) + "\n}\n";
  }
  return text;
}

TEST(Targets, EveryTypeCanBeTransposed) {
  for (const char *type :
       {"bf16", "f16", "i1", "i8", "i32", "f32", "i64", "f64"}) {
    SCOPED_TRACE(type);
    Kernel kernel;
    EXPECT_TRUE(kernel.compile(transposes(type), targets())) << kernel.errors();
  }
}

/// Moved elements keep all their bits, also those of NaNs.
TEST(Targets, TransposesKeepBits) {
  for (const char *type : {"bf16", "f16"}) {
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(transposes(type))) << kernel.errors();
    std::vector<uint16_t> x(34);
    for (int i = 0; i < 34; ++i)
      x[i] = 0x7f81 + i * 977;
    Buffer in = Buffer::of(x), out(68);
    ASSERT_EQ(kernel.run(0, {&in, &out}), 0);
    auto y = out.as<uint16_t>();
    for (int m = 0; m < 17; ++m)
      for (int n = 0; n < 2; ++n)
        EXPECT_EQ(y[n * 17 + m], x[m * 2 + n]) << type << " " << m << " " << n;
  }
}

TEST(Targets, RandomKernelsCanBeSelected) {
  const uint64_t seed = pathways::TestSeed(1);
  const uint64_t count = pathways::FromEnvironment("PATHWAYS_TEST_KERNELS", 10);
  std::printf("seeds %llu to %llu\n", (unsigned long long)seed,
              (unsigned long long)(seed + count - 1));
  for (uint64_t i = 0; i < count; ++i) {
    RandomKernel random = makeRandomKernel("k", seed + i);
    SCOPED_TRACE(testing::Message() << "seed " << seed + i << "\n"
                                    << random.text);
    Kernel kernel;
    EXPECT_TRUE(kernel.compile(random.text, targets())) << kernel.errors();
  }
}

constexpr char kLargest[] = R"(
func.func @largest(%x: tensor<7xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %r = arith.maximumf %x, %y : tensor<7xf32>
  return %r : tensor<7xf32>
})";

/// Returns a target for which LLVM's code generator is incomplete.
pathways::proto::Target unfinished(const char *triple) {
  pathways::proto::Target target;
  target.set_triple(triple);
  return target;
}

TEST(Targets, WhatCannotBeSelectedIsAnErrorOfTheBody) {
  for (int i = 0; i < 3; ++i) {
    Kernel fatal, wrong, good;
    EXPECT_FALSE(fatal.compile(kLargest, {unfinished("amdgcn-amd-amdhsa")}));
    EXPECT_THAT(fatal.errors(),
                HasSubstr("code generation failed: Cannot select: "));
    EXPECT_FALSE(wrong.compile(kLargest, {unfinished("m68k")}));
    EXPECT_THAT(wrong.errors(),
                HasSubstr("code generation failed: segmentation fault"));
    EXPECT_TRUE(good.compile(kLargest)) << good.errors();
  }
}

TEST(Targets, ThreadsSurviveWhatOthersCannotSelect) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 10; ++i) {
        bool isGood = (t + i) % 2 == 0;
        Kernel kernel;
        EXPECT_EQ(kernel.compile(kLargest,
                                 {isGood ? pathways::HostTarget()
                                         : unfinished("amdgcn-amd-amdhsa")}),
                  isGood);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
