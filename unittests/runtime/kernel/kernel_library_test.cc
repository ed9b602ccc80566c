//===- kernel_library_test.cc ---------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/kernel/kernel_library.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/kernel/kernel_imports.h"
#include "runtime/kernel/object_check.h"
#include "unittests/random_cases.h"

namespace pathways {
namespace {

using testing::HasSubstr;

std::string ReadObject(const std::string& name) {
  std::ifstream file(PATHWAYS_KERNEL_OBJECTS + name + ".o", std::ios::binary);
  EXPECT_TRUE(file) << name;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

absl::Span<const uint8_t> Bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// A kernel of one object for this machine, with a hash that fits.
proto::Kernel MakeKernel(const std::string& object,
                         const std::vector<std::string>& segments) {
  proto::Kernel kernel;
  kernel.set_name("k");
  for (const std::string& segment : segments) {
    kernel.add_segments()->set_symbol(segment);
  }
  kernel.add_objects()->set_blob_bytes(object.size());
  kernel.set_hash(KernelHash(kernel, Bytes(object)).value());
  return kernel;
}

std::string ErrorOf(const absl::Status& status) {
  return std::string(status.message());
}

TEST(KernelLibraryTest, LoadsAndRuns) {
  const std::string object = ReadObject("good");
  const proto::Kernel kernel = MakeKernel(object, {"scale", "fail"});
  auto library = KernelLibrary::Load(kernel, Bytes(object), {});
  ASSERT_TRUE(library.ok()) << library.status();
  ASSERT_EQ((*library)->num_segments(), 2);
  EXPECT_EQ((*library)->Lookup(2), nullptr);
  std::vector<double> in(512, 0.5), out(4), scratch(512);
  void* buffers[] = {in.data(), out.data()};
  const int32_t coordinates[] = {2};
  EXPECT_EQ(
      (*library)->Lookup(0)(buffers, coordinates, scratch.data(), /*step=*/0),
      0);
  EXPECT_THAT(out, testing::Each(testing::DoubleEq(300 * std::exp(0.5))));
  EXPECT_EQ(
      (*library)->Lookup(1)(buffers, coordinates, scratch.data(), /*step=*/0),
      2);
}

TEST(KernelLibraryTest, EqualKernelsAreShared) {
  const std::string object = ReadObject("good");
  const proto::Kernel kernel = MakeKernel(object, {"scale"});
  std::vector<std::shared_ptr<const KernelLibrary>> libraries(4);
  std::vector<std::thread> threads;
  for (auto& library : libraries) {
    threads.emplace_back([&] {
      library = KernelLibrary::Load(kernel, Bytes(object), {}).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& library : libraries) EXPECT_EQ(library, libraries[0]);
  const proto::Kernel other = MakeKernel(object, {"fail"});
  EXPECT_NE(KernelLibrary::Load(other, Bytes(object), {}).value(),
            libraries[0]);
  // Loading again after the last one went is a new start.
  libraries.clear();
  EXPECT_TRUE(KernelLibrary::Load(kernel, Bytes(object), {}).ok());
}

TEST(KernelLibraryTest, RefusesOtherImports) {
  const std::string object = ReadObject("imports");
  auto library =
      KernelLibrary::Load(MakeKernel(object, {"scale"}), Bytes(object), {});
  EXPECT_EQ(library.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf(library.status()),
            "kernel 'k': object code: the file needs 'system', which is not "
            "among the "
            "functions a kernel may call");
}

TEST(KernelLibraryTest, RefusesWhatRunsByItselfOrKeepsState) {
  const std::string object = ReadObject("constructor");
  auto library =
      KernelLibrary::Load(MakeKernel(object, {"scale"}), Bytes(object), {});
  EXPECT_EQ(library.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(ErrorOf(library.status()), HasSubstr("object code: section '"));
}

TEST(KernelLibraryTest, RefusesMissingSegment) {
  const std::string object = ReadObject("good");
  auto library =
      KernelLibrary::Load(MakeKernel(object, {"absent"}), Bytes(object), {});
  EXPECT_EQ(ErrorOf(library.status()),
            "kernel 'k': the object does not define 'pw.absent'");
}

TEST(KernelLibraryTest, RefusesOtherHashAndPlace) {
  const std::string object = ReadObject("good");
  proto::Kernel kernel = MakeKernel(object, {"scale"});
  const std::string hash = kernel.hash();
  kernel.set_hash("abc");
  auto library = KernelLibrary::Load(kernel, Bytes(object), {});
  EXPECT_EQ(library.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf(library.status()),
            "kernel 'k' has hash 'abc', but its code has '" + hash + "'");
  kernel.mutable_objects(0)->set_blob_offset(UINT64_MAX);
  library = KernelLibrary::Load(kernel, Bytes(object), {});
  EXPECT_THAT(ErrorOf(library.status()),
              HasSubstr("bytes at 18446744073709551615, but the plan has"));
}

TEST(KernelLibraryTest, ChoosesTheBestItCanRun) {
  const std::string object = ReadObject("good");
  proto::Kernel kernel;
  kernel.set_name("k");
  kernel.add_segments()->set_symbol("scale");
  auto add = [&](const std::string& triple, const std::string& cpu) {
    proto::KernelObject* out = kernel.add_objects();
    out->mutable_target()->set_triple(triple);
    out->mutable_target()->set_cpu(cpu);
    out->set_blob_bytes(object.size());
    kernel.set_hash(KernelHash(kernel, Bytes(object)).value());
  };
  kernel.set_hash(KernelHash(kernel, Bytes(object)).value());
  auto library = KernelLibrary::Load(kernel, Bytes(object), {});
  EXPECT_EQ(library.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(ErrorOf(library.status()), HasSubstr("it has no code at all"));
  add("powerpc64le-unknown-linux-gnu", "pwr9");
  library = KernelLibrary::Load(kernel, Bytes(object), {});
  EXPECT_EQ(library.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      ErrorOf(library.status()),
      HasSubstr("code for 'powerpc64le-unknown-linux-gnu pwr9' does not "
                "run on this machine, '" +
                HostTarget().triple()));
  add("", "");
  EXPECT_TRUE(KernelLibrary::Load(kernel, Bytes(object), {}).ok());
}

// Linux grants them to no process of which a thread has so small a stack for
// signals.
TEST(TargetDeathTest, RefusedMatrixRegistersAreLacking) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static char memory[4096];
        stack_t small = {};
        small.ss_sp = memory;
        small.ss_size = sizeof(memory);
        sigaltstack(&small, nullptr);
        for (const std::string& feature : HostTarget().features()) {
          if (feature.starts_with("+amx-")) _exit(1);
        }
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(TargetTest, MatrixRegistersAreThereOnlyIfLinuxGrantsThem) {
#if defined(__x86_64__)
  constexpr int kGranted = 0x1022;  // ARCH_GET_XCOMP_PERM
  const auto& features = HostTarget().features();
  uint64_t mask = 0;
  const bool is_granted =
      syscall(SYS_arch_prctl, kGranted, &mask) == 0 && (mask >> 18 & 1) != 0;
  for (const std::string& feature : features) {
    if (feature.find("amx-") == 1 && !is_granted) {
      EXPECT_EQ(feature[0], '-') << feature;
    }
    if (feature.substr(1) == "amx-tile") {
      EXPECT_EQ(feature[0] == '+', is_granted);
    }
  }
#else
  GTEST_SKIP() << "only x86 has them";
#endif
}

TEST(TargetTest, HostRunsItsOwnCodeAndNotMore) {
  EXPECT_TRUE(CheckTarget(HostTarget()).ok());
  EXPECT_TRUE(CheckTarget({}).ok());
  auto complete = CompleteTarget({});
  ASSERT_TRUE(complete.ok());
  EXPECT_EQ(complete->SerializeAsString(), HostTarget().SerializeAsString());
  EXPECT_TRUE(std::is_sorted(HostTarget().features().begin(),
                             HostTarget().features().end(),
                             [](const std::string& a, const std::string& b) {
                               return a.substr(1) < b.substr(1);
                             }));
  // Whatever feature this machine lacks, code that needs it is refused.
  for (const std::string& feature : HostTarget().features()) {
    if (feature[0] != '-') continue;
    proto::Target target = HostTarget();
    target.clear_features();
    target.add_features("+" + feature.substr(1));
    absl::Status status = CheckTarget(target);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << feature;
    EXPECT_THAT(ErrorOf(status), HasSubstr("which lacks"));
  }
}

TEST(TargetTest, RefusesUnknownNames) {
  proto::Target target;
  target.add_features("avx");
  EXPECT_THAT(ErrorOf(CompleteTarget(target).status()),
              HasSubstr("has no feature 'avx', expected '+' or '-'"));
  target.set_features(0, "+warp-drive");
  EXPECT_THAT(ErrorOf(CompleteTarget(target).status()),
              HasSubstr("has no feature '+warp-drive'"));
  target.clear_features();
  target.set_cpu("abacus");
  EXPECT_THAT(ErrorOf(CompleteTarget(target).status()),
              HasSubstr("has no CPU called 'abacus'"));
  // Code generators that write text, or what no linker reads.
  target.clear_cpu();
  for (const char* triple : {"nvptx64-nvidia-cuda", "spirv64-unknown-unknown",
                             "wasm32-unknown-unknown"}) {
    target.set_triple(triple);
    EXPECT_EQ(ErrorOf(CompleteTarget(target).status()),
              absl::StrCat("cannot generate code for target '", triple,
                           "': it has no format for object files"));
  }
  target.set_triple("no such machine");
  EXPECT_EQ(CompleteTarget(target).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ImportsTest, KnowsExactNamesOnly) {
  EXPECT_NE(FindKernelImport("expf", 4), nullptr);
  EXPECT_NE(FindKernelImport("exp", 3), FindKernelImport("expf", 4));
  EXPECT_NE(FindKernelImport("memset_more", 6), nullptr);
  EXPECT_EQ(FindKernelImport("ex", 2), nullptr);
  EXPECT_EQ(FindKernelImport("expl", 4), nullptr);
  EXPECT_EQ(FindKernelImport("malloc", 6), nullptr);
  EXPECT_EQ(FindKernelImport("", 0), nullptr);
}

// Objects with a few changed bytes and a hash that fits: refused, or linked
// without harm. What their code would then do is not looked at.
TEST(ObjectCheckTest, DamageIsNoticed) {
  const uint64_t seed = TestSeed(1);
  std::printf("seed %llu (PATHWAYS_TEST_SEED)\n",
              static_cast<unsigned long long>(seed));
  const std::string good = ReadObject("good");
  uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  const auto random = [&](uint64_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % bound;
  };
  uint64_t sections = 0;
  std::memcpy(&sections, good.data() + 40, 8);  // e_shoff
  int refused = 0;
  constexpr int kRounds = 3000;
  for (int i = 0; i < kRounds; ++i) {
    std::string object = good;
    for (uint64_t n = 1 + random(3); n > 0; --n) {
      // Headers and tables more often than the rest.
      const uint64_t at = random(3) == 0 ? random(64)
                          : random(2) == 0
                              ? sections + random(object.size() - sections)
                              : random(object.size());
      object[at] = random(2) ? static_cast<char>(random(256))
                             : static_cast<char>(object[at] ^ (1 << random(8)));
    }
    if (random(20) == 0) object.resize(random(object.size()));
    auto library = KernelLibrary::Load(MakeKernel(object, {"scale", "fail"}),
                                       Bytes(object), {});
    refused += !library.ok();
  }
  EXPECT_GT(refused, kRounds / 4);
}

TEST(ObjectCheckTest, Symbols) {
  const std::string good = ReadObject("good");
  auto symbols = CheckObject(Bytes(good));
  ASSERT_TRUE(symbols.ok()) << symbols.status();
  EXPECT_THAT(symbols->defined,
              testing::UnorderedElementsAre("pw.scale", "pw.fail"));
  EXPECT_THAT(symbols->imported,
              testing::UnorderedElementsAre("exp", "memcpy"));
  EXPECT_THAT(ErrorOf(CheckObject(Bytes(std::string(100, 'x'))).status()),
              HasSubstr("object code: it is not an ELF file"));
  EXPECT_THAT(ErrorOf(CheckObject({}).status()), HasSubstr("object code:"));
  std::string other = good;
  other[18] = 40;  // e_machine
  EXPECT_THAT(ErrorOf(CheckObject(Bytes(other)).status()),
              HasSubstr("for machine 40, expected"));
}

}  // namespace
}  // namespace pathways
