//===- c_api_signal_test.cc - Compiling gives signals back ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <csignal>
#include <vector>

#include "unittests/lib/CApi/c_api_test_support.h"

namespace pathways::capi_test {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGTRAP,
                            SIGABRT, SIGINT, SIGTERM, SIGPIPE, SIGCHLD};

// A handler such as an embedding language has.
void OnSignal(int, siginfo_t *, void *) {}

std::vector<struct sigaction> Handlers() {
  std::vector<struct sigaction> handlers;
  for (int signal : kSignals)
    sigaction(signal, nullptr, &handlers.emplace_back());
  return handlers;
}

class CApiSignalTest : public ::testing::Test {
protected:
  void SetUp() override {
    before_ = Handlers();
    struct sigaction mine = {};
    mine.sa_sigaction = OnSignal;
    mine.sa_flags = SA_SIGINFO;
    for (int signal : {SIGSEGV, SIGABRT, SIGINT})
      sigaction(signal, &mine, nullptr);
    mine_ = Handlers();
    sigaltstack(nullptr, &stack_);
  }
  void TearDown() override {
    for (size_t i = 0; i < before_.size(); ++i)
      sigaction(kSignals[i], &before_[i], nullptr);
  }
  void ExpectSame() {
    const std::vector<struct sigaction> now = Handlers();
    for (size_t i = 0; i < now.size(); ++i) {
      EXPECT_EQ(now[i].sa_sigaction, mine_[i].sa_sigaction) << kSignals[i];
      EXPECT_EQ(now[i].sa_flags, mine_[i].sa_flags) << kSignals[i];
    }
    stack_t stack;
    sigaltstack(nullptr, &stack);
    EXPECT_EQ(stack.ss_flags, stack_.ss_flags);
    EXPECT_EQ(stack.ss_sp, stack_.ss_sp);
  }

  std::vector<struct sigaction> before_, mine_;
  stack_t stack_;
};

TEST_F(CApiSignalTest, AfterCompiling) {
  Owned<pw_plan> plan;
  ExpectOk(CompileTwice(Into(plan)));
  ExpectSame();
}

TEST_F(CApiSignalTest, AfterAnError) {
  Owned<pw_plan> plan;
  Expect(PW_INVALID_PROGRAM,
         pw_compile("pw.program @f(", 14, nullptr, Into(plan), nullptr));
  ExpectSame();
}

} // namespace
} // namespace pathways::capi_test
