//===- code_cache_test.cc -------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests entries of a folder of compiled kernels and access to it, and files
// that are damaged, stale or too many. test/cache tests many processes.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"

#include "pathways/Codegen/CodeCache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace kernel_test;
using mlir::pathways::CodeCache;
using mlir::pathways::CompiledKernel;
using mlir::pathways::Rounding;
using pathways::proto::Target;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

namespace {

// Nothing in this function can fail, so its place does not matter.
constexpr char kPlain[] = R"(
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.addf %x, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  })";
constexpr char kChecked[] = R"(
  func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
    %0 = arith.divsi %x, %x : tensor<4xi32>
    return %0 : tensor<4xi32>
  })";

Target MakeTarget(const std::string &cpu) {
  Target target;
  target.set_triple("x86_64-unknown-linux-gnu");
  target.set_cpu(cpu);
  return target;
}

class CodeCacheTest : public testing::Test {
protected:
  CodeCacheTest() {
    // The cache refuses folders that others may write to.
    umask(022);
    llvm::SmallString<128> name;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("code_cache", name));
    folder = name.str().str();
  }
  ~CodeCacheTest() override { fs::remove_all(folder); }

  std::unique_ptr<CodeCache> open(uint64_t maxBytes = 0) {
    auto cache = CodeCache::open(folder, maxBytes);
    EXPECT_TRUE(static_cast<bool>(cache));
    return cache ? std::move(*cache) : nullptr;
  }

  std::vector<fs::path> files() {
    std::vector<fs::path> result;
    for (const auto &entry : fs::directory_iterator(folder))
      result.push_back(entry.path());
    std::sort(result.begin(), result.end());
    return result;
  }

  std::string folder;
};

llvm::SmallVector<mlir::func::FuncOp> functionsOf(Kernel &kernel) {
  return llvm::to_vector(kernel.module().getOps<mlir::func::FuncOp>());
}

CodeCache::Keys keysOf(const std::string &text,
                       const Target &target = MakeTarget("znver4"),
                       Rounding rounding = Rounding::EachOp) {
  Kernel kernel;
  EXPECT_TRUE(kernel.parse(text)) << kernel.errors();
  return CodeCache::getKeys(functionsOf(kernel), {target}, rounding);
}

std::string readFile(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void writeFile(const fs::path &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Makes a file look `seconds` old.
void setAge(const fs::path &path, int64_t seconds) {
  fs::last_write_time(path, fs::file_time_type::clock::now() -
                                std::chrono::seconds(seconds));
}

/// A kernel that no compiler made, and its keys.
struct Entry {
  explicit Entry(const std::string &object = "object code") {
    keys.code.fill(1);
    keys.places.fill(2);
    code.segments.push_back({"f", 640, {}});
    code.targets = {MakeTarget("znver4")};
    code.objects = {object};
    code.hash = "0123";
  }
  std::optional<CompiledKernel> find(CodeCache &cache) {
    return cache.find(keys, code.targets,
                      mlir::UnknownLoc::get(&kernel.context()));
  }
  void store(CodeCache &cache) {
    cache.store(keys, code, mlir::UnknownLoc::get(&kernel.context()));
  }
  const std::string &warnings() { return kernel.errors(); }

  Kernel kernel; // owns the context
  CodeCache::Keys keys;
  CompiledKernel code;
};

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

TEST_F(CodeCacheTest, KeysFollowWhatCodeFollowsFrom) {
  const CodeCache::Keys keys = keysOf(kPlain);
  EXPECT_EQ(keys.code, keysOf(kPlain).code);
  EXPECT_EQ(keys.places, keysOf(kPlain).places);
  EXPECT_NE(keys.code, keys.places);
  // Two lines further down, only the places differ.
  const CodeCache::Keys moved = keysOf(std::string("\n\n") + kPlain);
  EXPECT_EQ(keys.code, moved.code);
  EXPECT_NE(keys.places, moved.places);

  EXPECT_NE(keys.code, keysOf(kChecked).code);
  EXPECT_NE(keys.code, keysOf(kPlain, MakeTarget("x86-64-v3")).code);
  Target feature = MakeTarget("znver4");
  feature.add_features("-avx512f");
  EXPECT_NE(keys.code, keysOf(kPlain, feature).code);
  Target triple = MakeTarget("znver4");
  triple.set_triple("x86_64-unknown-freebsd");
  EXPECT_NE(keys.code, keysOf(kPlain, triple).code);
  const auto rounded = [](Rounding rounding) {
    return keysOf(kPlain, MakeTarget("znver4"), rounding).code;
  };
  EXPECT_EQ(keys.code, rounded(Rounding::EachOp));
  EXPECT_NE(keys.code, rounded(Rounding::Strict));
  EXPECT_NE(keys.code, rounded(Rounding::Excess));
  EXPECT_NE(rounded(Rounding::Strict), rounded(Rounding::Excess));
}

TEST_F(CodeCacheTest, KeysFollowAttributesAndConstants) {
  auto constant = [](const std::string &attribute) {
    return keysOf("func.func @f() -> tensor<2xf32> {\n"
                  "  %0 = arith.constant " +
                  attribute +
                  " : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}")
        .code;
  };
  EXPECT_NE(constant("dense<[1.0, 2.0]>"), constant("dense<[1.0, 3.0]>"));
  // The sign of zero and the bits of a NaN belong to the value.
  EXPECT_NE(constant("dense<0.0>"), constant("dense<-0.0>"));
  EXPECT_NE(constant("dense<0x7FC00000>"), constant("dense<0x7FC00001>"));
  auto resource = [&](const std::string &bytes) {
    return keysOf("func.func @f() -> tensor<2xf32> {\n"
                  "  %0 = arith.constant dense_resource<r> : tensor<2xf32>\n"
                  "  return %0 : tensor<2xf32>\n}\n"
                  "{-# dialect_resources: {builtin: {r: \"0x04000000" +
                  bytes + "\"}} #-}")
        .code;
  };
  EXPECT_EQ(resource("0000803F00000040"), resource("0000803F00000040"));
  EXPECT_NE(resource("0000803F00000040"), resource("0000803F00004040"));
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

TEST_F(CodeCacheTest, GivesBackWhatWasCompiled) {
  std::unique_ptr<CodeCache> cache = open();
  auto compile = [&](const std::string &text) {
    Kernel kernel;
    EXPECT_TRUE(kernel.parse(text)) << kernel.errors();
    auto code =
        mlir::pathways::compileKernel(functionsOf(kernel), {}, cache.get());
    EXPECT_TRUE(succeeded(code)) << kernel.errors();
    return std::move(*code);
  };
  auto expectSame = [](const CompiledKernel &a, const CompiledKernel &b) {
    EXPECT_EQ(a.objects, b.objects);
    EXPECT_EQ(a.hash, b.hash);
    ASSERT_EQ(a.segments.size(), b.segments.size());
    for (size_t i = 0; i < a.segments.size(); ++i) {
      EXPECT_EQ(a.segments[i].symbol, b.segments[i].symbol);
      EXPECT_EQ(a.segments[i].scratchBytes, b.segments[i].scratchBytes);
      EXPECT_EQ(a.segments[i].locations, b.segments[i].locations);
    }
    ASSERT_EQ(a.targets.size(), b.targets.size());
    for (size_t i = 0; i < a.targets.size(); ++i)
      EXPECT_EQ(a.targets[i].SerializeAsString(),
                b.targets[i].SerializeAsString());
  };
  CompiledKernel first = compile(kPlain), again = compile(kPlain);
  EXPECT_FALSE(first.isCached);
  EXPECT_TRUE(again.isCached);
  expectSame(first, again);
  // A check reports its place, so in another place it is another entry.
  CompiledKernel checked = compile(kChecked);
  CompiledKernel moved = compile(std::string("\n") + kChecked);
  EXPECT_FALSE(checked.isCached);
  EXPECT_FALSE(moved.isCached);
  ASSERT_FALSE(moved.segments[0].locations.empty());
  EXPECT_EQ(checked.segments[0].locations[0].where, "test.mlir:3:10");
  EXPECT_EQ(moved.segments[0].locations[0].where, "test.mlir:4:10");
  CompiledKernel checkedAgain = compile(kChecked);
  EXPECT_TRUE(checkedAgain.isCached);
  expectSame(checked, checkedAgain);
  // Code without checks is the same in any place.
  EXPECT_TRUE(compile(std::string("\n") + kPlain).isCached);

  CodeCache::Counts counts = cache->getCounts();
  EXPECT_EQ(counts.hits, 3u);
  EXPECT_EQ(counts.misses, 3u);
  EXPECT_EQ(counts.stored, 3u);
  EXPECT_EQ(counts.damaged, 0u);
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(CodeCacheTest, DamageIsAMissThatIsReportedAndReplaced) {
  std::unique_ptr<CodeCache> cache = open();
  Entry entry;
  entry.store(*cache);
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files()[0];
  const std::string good = readFile(file);
  uint64_t damaged = 0;
  auto expectDamaged = [&](const std::string &bytes, const std::string &what) {
    writeFile(file, bytes);
    Entry reader;
    EXPECT_FALSE(reader.find(*cache)) << what;
    EXPECT_THAT(reader.warnings(),
                StartsWith("compiled again: '" + file.string()));
    EXPECT_THAT(reader.warnings(), HasSubstr(what));
    EXPECT_EQ(cache->getCounts().damaged, ++damaged);
    EXPECT_TRUE(files().empty());
  };
  // Try all lengths but the right one, and one flipped bit in any byte.
  for (size_t size = 0; size < good.size(); ++size)
    expectDamaged(good.substr(0, size), " bytes");
  expectDamaged(good + '\0', "bytes after its header, expected");
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] ^= 1 << at % 8;
    expectDamaged(bytes, "expected");
  }
  expectDamaged("", "has 0 bytes, expected a header of 88");
  expectDamaged(std::string(4096, '\0'),
                "begins with 0x0000000000000000, expected 'PWKERNEL'");
  std::string other = good;
  other[8] = 2;
  expectDamaged(other, "has version 2, expected 1");
  other = good;
  other[16] = 7;
  expectDamaged(other, "holds the kernel 07010101");

  entry.store(*cache);
  EXPECT_EQ(readFile(file), good);
  EXPECT_TRUE(entry.find(*cache));
}

TEST_F(CodeCacheTest, ContentsThatDoNotFitAreAMiss) {
  std::unique_ptr<CodeCache> cache = open();
  Entry entry;
  entry.store(*cache);
  const fs::path file = files()[0];
  const std::string header = readFile(file).substr(0, 48);
  // Anyone can compute checksums: if they are right, the rest is checked.
  auto sign = [&](const std::string &payload) {
    auto number = [](uint64_t value) {
      std::string text(8, '\0');
      llvm::support::endian::write64le(text.data(), value);
      return text;
    };
    std::string start = header + number(payload.size());
    llvm::BLAKE3 hasher;
    for (const std::string &part : {start, payload})
      hasher.update(number(part.size()) + part);
    llvm::BLAKE3Result<32> sum = hasher.final<32>();
    return start + std::string(sum.begin(), sum.end()) + payload;
  };
  const std::string payload = readFile(file).substr(88);
  writeFile(file, sign(payload));
  EXPECT_TRUE(entry.find(*cache)) << entry.warnings();
  for (std::string wrong :
       {std::string(), payload.substr(0, 7), std::string(8, '\xff'),
        std::string("\1\0\0\0\0\0\0\0\xff", 9), std::string(8, '\0'),
        payload.substr(0, payload.size() - 1)}) {
    writeFile(file, sign(wrong));
    Entry reader;
    EXPECT_FALSE(reader.find(*cache));
    EXPECT_THAT(reader.warnings(),
                HasSubstr("has a payload that does not match its key"));
  }
  // The entry has the right kernel for another target.
  entry.store(*cache);
  Entry reader;
  reader.code.targets = {MakeTarget("x86-64-v3")};
  EXPECT_FALSE(reader.find(*cache));
  EXPECT_THAT(reader.warnings(),
              HasSubstr("has a payload that does not match its key"));
}

TEST_F(CodeCacheTest, WhatIsNoFileIsNeitherOpenedNorKept) {
  std::unique_ptr<CodeCache> cache = open();
  Entry entry;
  entry.store(*cache);
  const fs::path file = files()[0];
  fs::remove(file);
  // Opening a pipe without a writer would block.
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(entry.find(*cache));
  EXPECT_THAT(entry.warnings(), HasSubstr("is not a regular file"));
  entry.store(*cache);
  EXPECT_TRUE(entry.find(*cache));
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(entry.find(*cache));
  entry.store(*cache);
  EXPECT_TRUE(entry.find(*cache));
  fs::remove(file);
  fs::create_symlink(folder + "/nothing", file);
  EXPECT_FALSE(entry.find(*cache));
  entry.store(*cache);
  EXPECT_TRUE(entry.find(*cache));
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

TEST_F(CodeCacheTest, AFolderThatCannotBeWrittenIsAnError) {
  auto errorOf = [](const std::string &folder) {
    auto cache = CodeCache::open(folder);
    return cache ? std::string() : llvm::toString(cache.takeError());
  };
  writeFile(folder + "/file", "");
  EXPECT_EQ(errorOf(folder + "/file"), "cannot keep compiled kernels in '" +
                                           folder + "/file': Not a directory");
  EXPECT_EQ(errorOf(folder + "/file/sub"), "cannot keep compiled kernels in '" +
                                               folder +
                                               "/file/sub': Not a directory");
  EXPECT_THAT(
      errorOf("/proc/none/cache"),
      StartsWith("cannot keep compiled kernels in '/proc/none/cache': "));
  // Even a user who may write anywhere cannot write here.
  EXPECT_THAT(errorOf("/proc"),
              StartsWith("cannot keep compiled kernels in '/proc': "));
  EXPECT_EQ(errorOf(folder + "/a/b/c"), "");
  EXPECT_TRUE(fs::is_directory(folder + "/a/b/c"));
  EXPECT_TRUE(fs::is_empty(folder + "/a/b/c"));
}

TEST_F(CodeCacheTest, AFolderThatOthersMayWriteToIsAnError) {
  const std::string where =
      "cannot keep compiled kernels in '" + folder +
      "', because other users could put code there that this user runs: it ";
  auto error = [&] {
    auto cache = CodeCache::open(folder);
    return cache ? std::string() : llvm::toString(cache.takeError());
  };
  const std::string good =
      ", expected a mode that lets no other user write (chmod go-w)";
  chmod(folder.c_str(), 0770);
  EXPECT_EQ(error(), where + "has mode 0770" + good);
  chmod(folder.c_str(), 0702);
  EXPECT_EQ(error(), where + "has mode 0702" + good);
  EXPECT_TRUE(files().empty());
  // With the sticky bit, no other user can touch the entries.
  chmod(folder.c_str(), 01777);
  EXPECT_EQ(error(), "");
  chmod(folder.c_str(), 0755);
  EXPECT_EQ(error(), "");
  if (geteuid() != 0)
    return; // Only root can give the folder away.
  ASSERT_EQ(chown(folder.c_str(), 1000, 1000), 0);
  EXPECT_EQ(error(), where + "belongs to user 1000, expected user 0 or root");
}

// No other user may write to new files, whatever the umask allows.
TEST_F(CodeCacheTest, NewEntriesAndFoldersAreNotForOthersToWrite) {
  umask(0);
  const std::string top = folder;
  folder = top + "/made/here";
  std::unique_ptr<CodeCache> cache = open();
  Entry entry;
  entry.store(*cache);
  EXPECT_TRUE(entry.find(*cache)) << entry.warnings();
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms(0750));
  EXPECT_EQ(fs::status(files()[0]).permissions(), fs::perms(0644));
  folder = top;
}

TEST_F(CodeCacheTest, AnEntryThatOthersMayWriteToIsAMiss) {
  std::unique_ptr<CodeCache> cache = open();
  Entry entry;
  entry.store(*cache);
  const fs::path file = files()[0];
  auto expectMiss = [&](const std::string &what) {
    Entry reader;
    EXPECT_FALSE(reader.find(*cache)) << what;
    EXPECT_EQ(reader.warnings(),
              "compiled again: '" + file.string() + "' " + what + "\n");
    entry.store(*cache);
    EXPECT_TRUE(entry.find(*cache)) << what;
  };
  chmod(file.c_str(), 0664);
  expectMiss("has mode 0664, expected a mode that lets no other user write "
             "(chmod go-w)");
  chmod(file.c_str(), 0646);
  expectMiss("has mode 0646, expected a mode that lets no other user write "
             "(chmod go-w)");
  if (geteuid() != 0)
    return; // Only root can give the folder away.
  ASSERT_EQ(chown(file.c_str(), 1000, 1000), 0);
  expectMiss("belongs to user 1000, expected user 0 or root");
}

TEST_F(CodeCacheTest, AFolderThatDisappearsIsOneWarning) {
  std::unique_ptr<CodeCache> cache = open();
  fs::remove_all(folder);
  Entry entry;
  entry.store(*cache);
  entry.store(*cache);
  EXPECT_EQ(entry.warnings(),
            "compiled kernels are no longer kept: cannot write to '" + folder +
                "': No such file or directory\n");
  EXPECT_FALSE(entry.find(*cache));
  EXPECT_EQ(cache->getCounts().stored, 0u);
}

TEST_F(CodeCacheTest, StaleTemporariesAreRemoved) {
  const std::string stale = folder + "/0123456789abcdef.kernel.tmp",
                    fresh = folder + "/fedcba9876543210.kernel.tmp",
                    foreign = folder + "/notes.tmp";
  for (const std::string &file : {stale, fresh, foreign})
    writeFile(file, "half");
  setAge(stale, CodeCache::kStaleSeconds + 60);
  setAge(fresh, CodeCache::kStaleSeconds - 60);
  setAge(foreign, CodeCache::kStaleSeconds + 60);
  open();
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(fresh)); // its writer may be alive
  EXPECT_TRUE(fs::exists(foreign));
}

TEST_F(CodeCacheTest, TrimKeepsWhatWasUsedLast) {
  Entry entry(std::string(1000, 'x'));
  auto path = [&](uint8_t number) {
    entry.keys.code.fill(number);
    return fs::path(folder) /
           (llvm::toHex(llvm::ArrayRef<uint8_t>(entry.keys.code), true) +
            ".kernel");
  };
  uint64_t bytes = 0;
  {
    std::unique_ptr<CodeCache> cache = open();
    for (uint8_t number : {1, 2, 3, 4}) {
      path(number);
      entry.store(*cache);
      bytes = fs::file_size(path(number));
      setAge(path(number), 100 * number);
    }
    cache->trim(); // no bound
    EXPECT_EQ(files().size(), 4u);
  }
  std::unique_ptr<CodeCache> cache = open(3 * bytes + 10);
  path(4);
  EXPECT_TRUE(entry.find(*cache)); // the oldest is now the newest
  cache->trim();                   // nothing is trimmed without a store
  EXPECT_EQ(files().size(), 4u);
  path(5);
  entry.store(*cache);
  cache->trim();
  EXPECT_EQ(cache->getCounts().removed, 2u);
  EXPECT_TRUE(fs::exists(path(5)));
  EXPECT_TRUE(fs::exists(path(4)));
  EXPECT_FALSE(fs::exists(path(3)));
  EXPECT_FALSE(fs::exists(path(2)));
  EXPECT_TRUE(fs::exists(path(1)));
}

} // namespace
