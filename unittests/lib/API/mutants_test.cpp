//===- mutants_test.cpp - Compilation of mutated programs -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles programs of the lit tests and examples after a few random changes to
// their text. The seed is new in each run; PATHWAYS_TEST_SEED and
// PATHWAYS_TEST_MUTANTS choose seed and number. The mutant with seed S is the
// first of a run that starts at S. With PATHWAYS_TEST_PRINT=1 the test prints
// the mutants.
//
//===----------------------------------------------------------------------===//

#include "mutants.h"
#include "pathways/Compile.h"
#include "unittests/random_cases.h"
#include "gtest/gtest.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <regex>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

using namespace pathways;
using namespace mutants;

namespace {

//===----------------------------------------------------------------------===//
// Name of the mutant in a crash
//===----------------------------------------------------------------------===//

volatile uint64_t seedAtWork = 0;

extern "C" void sayWhich(int signal) {
  char line[128];
  const int length = std::snprintf(
      line, sizeof(line), "error: signal %d at the mutant with seed %llu\n",
      signal, (unsigned long long)seedAtWork);
  (void)!write(STDERR_FILENO, line, length);
  _exit(1);
}

void watch() {
  static char stack[64 << 10];
  stack_t handlers = {};
  handlers.ss_sp = stack;
  handlers.ss_size = sizeof(stack);
  sigaltstack(&handlers, nullptr);
  struct sigaction action = {};
  action.sa_handler = sayWhich;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF})
    sigaction(signal, &action, nullptr);
  // Requests for more memory than this fail.
  rlimit memory = {rlim_t{12} << 30, rlim_t{12} << 30};
  setrlimit(RLIMIT_AS, &memory);
}

/// Limits the processor time from now on; a compilation that takes longer
/// counts as endless.
void allow(int seconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

//===----------------------------------------------------------------------===//
// One mutant
//===----------------------------------------------------------------------===//

TEST(MutantsTest, FunctionsAreCalledInPrograms) {
  const Corpus corpus = readCorpus(PROGRAMS, SOURCES);
  size_t plans = 0;
  for (const std::string &function : corpus.functions)
    plans += static_cast<bool>(
        compile({callInProgram(function), "t.mlir"}, {.topology = "1x1x4"}));
  // The others have an axis, share memory or are wrong on purpose.
  EXPECT_GT(plans, corpus.functions.size() / 2)
      << "of " << corpus.functions.size();
}

struct Counts {
  int plans = 0, crashes = 0;
};

/// Returns the fault in the outcome of a compilation; empty if there is none.
std::string complaint(const Program &program, Counts &counts) {
  CompileOptions options;
  options.topology = "2x2x4";
  options.oversubscribe = true;
  Result<Compiled> compiled = compile(program, options);
  counts.plans += static_cast<bool>(compiled);
  if (compiled)
    return "";
  const std::string &message = compiled.error().message;
  // Crashes of MLIR are reported with a location; errors without one are ours,
  // and there must be none.
  static const std::regex ours("^mutant.mlir: error: .* (failed|crashed.*)$");
  counts.crashes += message.find(" crashed") != std::string::npos;
  // Some programs name a file of their own.
  if (message.empty() || message.find(".mlir:") == std::string::npos ||
      std::regex_search(message, ours))
    return "no diagnostic but: " + message;
  return "";
}

/// Makes `count` programs, or as many as PATHWAYS_TEST_MUTANTS says, and
/// expects that `findFault` returns no fault of any.
void tryMutants(uint64_t count,
                const std::function<std::string(uint64_t seed)> &make,
                const std::function<std::string(const Program &)> &findFault) {
  count = FromEnvironment("PATHWAYS_TEST_MUTANTS", count);
  const uint64_t seed = TestSeed(std::random_device()());
  const bool isPrinted = std::getenv("PATHWAYS_TEST_PRINT");
  std::printf("seeds %llu to %llu\n", (unsigned long long)seed,
              (unsigned long long)(seed + count - 1));
  std::fflush(stdout);
  watch();
  for (uint64_t i = 0; i < count; ++i) {
    seedAtWork = seed + i;
    Program program{make(seed + i), "mutant.mlir"};
    if (isPrinted)
      std::printf("%s\n", program.text.c_str());
    allow(/*seconds=*/60);
    std::string wrong = findFault(program);
    allow(0);
    EXPECT_EQ(wrong, "") << "seed " << seed + i << "\n" << program.text;
  }
}

TEST(MutantsTest, EndWithAPlanOrADiagnostic) {
  const Corpus corpus = readCorpus(PROGRAMS, SOURCES);
  ASSERT_GT(corpus.programs.size(), 20u);
  ASSERT_GT(corpus.wrong.size(), 100u);
  ASSERT_GT(corpus.functions.size(), 50u);
  Counts counts;
  tryMutants(
      SampleSize(500, 2000),
      [&](uint64_t seed) { return mutate(corpus, seed); },
      [&](const Program &program) { return complaint(program, counts); });
  std::printf("%d plans, %d crashes of MLIR's own code\n", counts.plans,
              counts.crashes);
}

/// Returns the fault in the outcome of an import; empty if there is none.
std::string importComplaint(const Program &program, int &imported) {
  Result<std::string> text = importStableHlo(program);
  imported += static_cast<bool>(text);
  if (text)
    return "";
  const std::string &message = text.error().message;
  if (message.empty() || message.find(".mlir:") == std::string::npos)
    return "no diagnostic but: " + message;
  return "";
}

// Modules of StableHLO are read and lowered, and not compiled.
TEST(MutantsTest, ModulesAreImportedOrRefused) {
  const Corpus corpus = readCorpus(MODULES, SOURCES);
  ASSERT_GT(corpus.programs.size(), 80u);
  int imported = 0;
  tryMutants(
      SampleSize(1000, 20000),
      [&](uint64_t seed) { return mutateProgram(corpus, seed); },
      [&](const Program &program) {
        return importComplaint(program, imported);
      });
  std::printf("%d imported\n", imported);
}

} // namespace
