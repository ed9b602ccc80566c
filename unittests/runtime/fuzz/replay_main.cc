//===- replay_main.cc - Runs a fuzz target without libFuzzer --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs it over the files of a folder, which is its corpus, and over mutants of
// them; or over one file. PATHWAYS_TEST_SEED and PATHWAYS_TEST_MUTANTS choose
// others than the usual ones. Where no sanitizer counts memory, it looks that
// no input makes the target hold more than its budget.
//
//===----------------------------------------------------------------------===//

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "unittests/random_cases.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

#ifndef PATHWAYS_SANITIZED
namespace {
std::atomic<size_t> held{0}, most_held{0};

void* Allocate(size_t bytes, size_t alignment) {
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(bytes)
                     : std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                         alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  const size_t now = held += malloc_usable_size(memory);
  if (now > most_held) most_held = now;
  return memory;
}
void Free(void* memory) {
  if (memory != nullptr) held -= malloc_usable_size(memory);
  std::free(memory);
}
}  // namespace

// All of the program, libraries too. What is not said here calls these.
void* operator new(size_t bytes) { return Allocate(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  Free(memory);
}
#else
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace {

std::string failed_path;     // where a failing input is written
std::string current, which;  // that runs now

void Keep() {
  const int file =
      open(failed_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) return;
  ssize_t unused = write(file, current.data(), current.size());
  unused = write(2, "failed on ", 10);
  unused = write(2, which.data(), which.size());
  unused = write(2, ", which is in ", 14);
  unused = write(2, failed_path.data(), failed_path.size());
  unused = write(2, "\n", 1);
  (void)unused;
  close(file);
}

void OnSignal(int number) {
  Keep();
  signal(number, SIG_DFL);
  raise(number);
}

void Run(const std::string& name, const std::string& bytes) {
  which = name;
  current = bytes;
  // Memory of just that size, so that a sanitizer sees who reads beyond it.
  const std::vector<uint8_t> input(bytes.begin(), bytes.end());
#ifndef PATHWAYS_SANITIZED
  const size_t before = held;
  most_held = before;
  LLVMFuzzerTestOneInput(input.data(), input.size());
  const pathways::fuzz::Budget& budget = pathways::fuzz::kBudget;
  const size_t allowed = budget.bytes + budget.per_byte * bytes.size();
  if (most_held - before <= allowed) return;
  std::fprintf(stderr, "%zu bytes held %zu of memory, expected at most %zu\n",
               bytes.size(), most_held - before, allowed);
  std::abort();
#else
  LLVMFuzzerTestOneInput(input.data(), input.size());
#endif
}

// Changes inputs in ways that hit what reads them.
class Mutator {
 public:
  explicit Mutator(uint64_t seed, const std::vector<std::string>* corpus)
      : random_(seed), corpus_(*corpus) {}

  std::string Next() {
    std::string bytes = Any();
    const uint64_t changes = 1 + random_() % 6;
    for (uint64_t i = 0; i < changes; ++i) Change(&bytes);
    return bytes;
  }

 private:
  const std::string& Any() { return corpus_[random_() % corpus_.size()]; }
  size_t At(const std::string& bytes) {
    return bytes.empty() ? 0 : random_() % bytes.size();
  }
  void Change(std::string* bytes) {
    const size_t at = At(*bytes);
    const size_t some = 1 + random_() % 16;
    switch (random_() % 8) {
      case 0:
        bytes->resize(at);
        break;
      case 1:
        bytes->erase(at, some);
        break;
      case 2:
        bytes->insert(at, bytes->substr(At(*bytes), some * some));
        break;
      case 3: {
        const std::string& other = Any();
        bytes->replace(at, some * some, other, At(other), some * some);
        break;
      }
      case 4:
        for (size_t i = at; i < std::min(bytes->size(), at + some % 9); ++i) {
          (*bytes)[i] = static_cast<char>(random_() % 2 == 0 ? 0xff : 0);
        }
        break;
      case 5:
        bytes->insert(at, 1, static_cast<char>(random_()));
        break;
      case 6:
        if (!bytes->empty()) (*bytes)[at] += random_() % 2 == 0 ? 1 : -1;
        break;
      default:
        if (!bytes->empty()) (*bytes)[at] ^= 1 << random_() % 8;
        break;
    }
  }

  std::mt19937_64 random_;
  const std::vector<std::string>& corpus_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE-OR-FOLDER\n", argv[0]);
    return 2;
  }
  failed_path = std::filesystem::path(argv[0]).filename().string() + ".failed";
  signal(SIGABRT, OnSignal);
#ifdef PATHWAYS_SANITIZED
  __sanitizer_set_death_callback(Keep);
#else
  signal(SIGSEGV, OnSignal);
#endif

  std::vector<std::string> paths, corpus;
  if (std::filesystem::is_directory(argv[1])) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
      paths.push_back(entry.path().string());
    }
  } else {
    paths.push_back(argv[1]);
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file),
                        std::istreambuf_iterator<char>());
    if (!file.good() && !file.eof()) {
      std::fprintf(stderr, "cannot read '%s'\n", path.c_str());
      return 1;
    }
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "there is no input in '%s'\n", argv[1]);
    return 1;
  }
  const uint64_t seed = pathways::TestSeed(1);
  const uint64_t mutants =
      pathways::FromEnvironment("PATHWAYS_TEST_MUTANTS", 10000);
  std::printf(
      "%zu inputs, %llu mutants of them (PATHWAYS_TEST_MUTANTS), seed "
      "%llu (PATHWAYS_TEST_SEED)\n",
      corpus.size(), static_cast<unsigned long long>(mutants),
      static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  // Objects that are made once are made by this call.
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(""), 0);
  for (size_t i = 0; i < corpus.size(); ++i) Run(paths[i], corpus[i]);
  Mutator mutator(seed, &corpus);
  for (uint64_t i = 0; i < mutants; ++i) {
    Run("mutant " + std::to_string(i), mutator.Next());
  }
  return 0;
}
