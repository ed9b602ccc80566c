//===- shield_test.cpp - Recovery of calls from crashes -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/CrashRecovery.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <vector>

using mlir::pathways::Crash;
using mlir::pathways::runWithCrashRecovery;

namespace {

int *volatile nowhere = nullptr;
volatile int zero = 0, many = 100;

void readNowhere() { (void)*const_cast<volatile int *>(nowhere); }

[[gnu::noinline]] int recurse(int depth) {
  volatile char some[512];
  some[depth % sizeof(some)] = 1;
  // The condition is never true.
  return zero ? depth : recurse(depth + 1) + some[0];
}

std::string whatOf(llvm::function_ref<void()> body) {
  std::optional<Crash> crash = runWithCrashRecovery(body);
  return crash ? crash->what : "returned";
}

TEST(ShieldTest, SaysHowACallEnded) {
  EXPECT_EQ(whatOf([] {}), "returned");
  for (int i = 0; i < 3; ++i) { // the shield works repeatedly
    EXPECT_EQ(whatOf(readNowhere), "segmentation fault");
    EXPECT_EQ(whatOf([] { std::abort(); }), "abort");
    EXPECT_EQ(whatOf([] { zero = many / zero; }), "division by zero");
    EXPECT_EQ(whatOf([] { zero = recurse(zero); }), "out of stack");
    EXPECT_EQ(whatOf([] { llvm::report_fatal_error("cannot\nselect"); }),
              "cannot");
    EXPECT_EQ(whatOf([] {
                llvm::report_fatal_error("0x7f00aa001122 = f 0xff: 0x12345678");
              }),
              "(node) = f 0xff: (node)");
    EXPECT_EQ(whatOf([] { llvm::report_bad_alloc_error("table"); }),
              "out of memory");
    EXPECT_EQ(whatOf([] { throw std::runtime_error("no threads"); }),
              "no threads");
    EXPECT_EQ(whatOf([] { throw std::bad_alloc(); }), "out of memory");
    EXPECT_EQ(whatOf([] { throw 1; }), "an exception");
    EXPECT_EQ(whatOf([] { std::terminate(); }), "abort");
  }
}

TEST(ShieldTest, SaysWhatWasBeingDone) {
  auto crash = runWithCrashRecovery([] {
    llvm::PrettyStackTraceString outer("reading"), inner("reading 'x'");
    readNowhere();
  });
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->str(), "segmentation fault (reading 'x')");
  // The work of the first crash is not reported for the second one.
  crash = runWithCrashRecovery(readNowhere);
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->str(), "segmentation fault");
}

/// Reads like a parser: it keeps its place, and a function that it calls
/// crashes.
[[gnu::noinline]] void read(const char *place, const char *to, bool recurses) {
  const char *volatile here = place;
  while (here < to)
    here = here + 1;
  if (recurses)
    zero = recurse(zero);
  readNowhere();
  (void)*here;
}

TEST(ShieldTest, SaysWhereAReaderWas) {
  std::string text(1000, 'x');
  for (bool recurses : {false, true})
    for (size_t place : {1, 500, 999}) {
      auto crash = runWithCrashRecovery(
          [&] { read(text.data(), text.data() + place, recurses); }, text);
      ASSERT_TRUE(crash);
      EXPECT_EQ(crash->offset, place);
    }
  EXPECT_EQ(runWithCrashRecovery(readNowhere, text)->offset, std::nullopt);
}

TEST(ShieldTest, TheInnermostCallEnds) {
  std::string inner, trace;
  std::string outer = whatOf([&] {
    inner = whatOf(readNowhere);
    trace += "after";
    std::abort();
  });
  EXPECT_EQ(inner, "segmentation fault");
  EXPECT_EQ(trace, "after");
  EXPECT_EQ(outer, "abort");
}

TEST(ShieldTest, ThreadsDoNotMeet) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i)
        switch ((t + i) % 4) {
        case 0:
          EXPECT_EQ(whatOf(readNowhere), "segmentation fault");
          break;
        case 1:
          EXPECT_EQ(whatOf([] { zero = recurse(zero); }), "out of stack");
          break;
        case 2:
          EXPECT_EQ(whatOf([] { llvm::report_fatal_error("no"); }), "no");
          break;
        default:
          EXPECT_EQ(whatOf([] { std::this_thread::yield(); }), "returned");
        }
    });
  for (std::thread &thread : threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// Processes with handlers of their own
//===----------------------------------------------------------------------===//

thread_local sigjmp_buf ownResume;
volatile int ownCalls = 0;
void *volatile ownAddress = nullptr;

void handleOwn(int, siginfo_t *info, void *) {
  ownCalls = ownCalls + 1;
  ownAddress = info->si_addr;
  siglongjmp(ownResume, 1);
}

/// Returns true if the handler of the process saw an invalid read of this
/// thread.
bool ownHandlerSees(llvm::function_ref<void()> body) {
  int before = ownCalls;
  if (sigsetjmp(ownResume, 1) == 0)
    body();
  return ownCalls == before + 1;
}

struct OwnHandler {
  OwnHandler() {
    struct sigaction own = {};
    own.sa_sigaction = handleOwn;
    own.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &own, &before);
  }
  ~OwnHandler() { sigaction(SIGSEGV, &before, nullptr); }
  struct sigaction before;
};

TEST(ShieldTest, HandlersAndStackAreGivenBack) {
  OwnHandler own;
  stack_t stack, stackAfter;
  sigaltstack(nullptr, &stack);
  EXPECT_EQ(whatOf(readNowhere), "segmentation fault");
  EXPECT_TRUE(ownHandlerSees(readNowhere));
  struct sigaction after;
  sigaction(SIGSEGV, nullptr, &after);
  EXPECT_EQ(after.sa_sigaction, handleOwn);
  sigaction(SIGABRT, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
  sigaltstack(nullptr, &stackAfter);
  EXPECT_EQ(stackAfter.ss_sp, stack.ss_sp);
  EXPECT_EQ(stackAfter.ss_flags, stack.ss_flags);
}

TEST(ShieldTest, SignalsOfOthersGoWhereTheyWent) {
  OwnHandler own;
  auto crash = runWithCrashRecovery([] {
    for (int i = 0; i < 3; ++i) {
      std::thread other([] {
        EXPECT_TRUE(ownHandlerSees(readNowhere));
        EXPECT_EQ(ownAddress, nullptr); // keeps the original siginfo
        // This thread can be shielded later.
        EXPECT_EQ(whatOf(readNowhere), "segmentation fault");
        EXPECT_TRUE(ownHandlerSees(readNowhere));
      });
      other.join();
    }
    // This signal is sent, not raised, so it is no crash of the shield.
    EXPECT_TRUE(ownHandlerSees([] { kill(getpid(), SIGSEGV); }));
    std::abort();
  });
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->what, "abort");
}

void (*found)(int, siginfo_t *, void *) = nullptr;
volatile int chained = 0;

TEST(ShieldTest, AHandlerThatCameLaterMayCallOurs) {
  OwnHandler own;
  chained = 0;
  struct sigaction later = {}, ours;
  auto crash = runWithCrashRecovery([&] {
    later.sa_sigaction = [](int number, siginfo_t *info, void *context) {
      chained = chained + 1;
      found(number, info, context);
    };
    later.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &later, &ours);
    found = ours.sa_sigaction;
    readNowhere();
  });
  ASSERT_TRUE(crash);
  EXPECT_EQ(chained, 1);
  // The handler stays installed, and the handlers that it calls work.
  EXPECT_TRUE(ownHandlerSees(readNowhere));
  EXPECT_EQ(chained, 2);
  EXPECT_EQ(whatOf(readNowhere), "segmentation fault");
}

/// Crashes with a handler that calls the shield's handler, which in turn calls
/// that one.
void crashInACircle() {
  struct sigaction later = {};
  later.sa_sigaction = [](int number, siginfo_t *info, void *context) {
    found(number, info, context);
  };
  later.sa_flags = SA_SIGINFO | SA_NODEFER;
  (void)runWithCrashRecovery([&] {
    struct sigaction ours;
    sigaction(SIGSEGV, &later, &ours);
    found = ours.sa_sigaction;
  });
  (void)runWithCrashRecovery([] { std::thread(readNowhere).join(); });
}

TEST(ShieldDeathTest, WithoutAShieldNothingChanges) {
  EXPECT_EQ(whatOf([] {}), "returned");
  EXPECT_EXIT(readNowhere(), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(llvm::report_fatal_error("no room"),
              testing::KilledBySignal(SIGABRT), "LLVM ERROR: no room");
  // A crash of a thread beside a shielded one ends the process, too.
  EXPECT_EXIT(
      (void)runWithCrashRecovery([] { std::thread(readNowhere).join(); }),
      testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(
      (void)runWithCrashRecovery([] { std::thread(std::abort).join(); }),
      testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT((void)runWithCrashRecovery([] { kill(getpid(), SIGABRT); }),
              testing::KilledBySignal(SIGABRT), "");
  // Two handlers that call each other must not loop forever.
  EXPECT_EXIT(crashInACircle(), testing::KilledBySignal(SIGSEGV), "");
}

} // namespace
