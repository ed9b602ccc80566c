//===- c_api_fork_test.cc - Children of a process with sessions -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "unittests/lib/CApi/c_api_test_support.h"

namespace pathways::capi_test {
namespace {

// Returns true if a call has ended with the error of a child.
bool IsRefused(pw_error *error) {
  const Owned<pw_error> owned(error);
  return pw_error_code(error) == PW_REFUSED &&
         std::strstr(pw_error_message(error), "forked") != nullptr;
}

class CApiForkTest : public ::testing::Test {
protected:
  void SetUp() override {
    ExpectOk(ReadTestPlan(Into(plan_)));
    ExpectOk(OpenFour(Into(session_)));
    ExpectOk(pw_load(session_.get(), plan_.get(), nullptr, Into(executable_)));
    ExpectOk(pw_put(session_.get(), &eight_.tensor, Into(v_)));
    ExpectOk(pw_events_create(Into(events_)));
    ASSERT_NE(executable_, nullptr);
  }
  void Launch(int64_t steps) {
    const pw_array *arguments[] = {v_.get()};
    ExpectOk(
        pw_launch(executable_.get(), arguments, 1, steps, nullptr, Into(run_)));
  }

  // Returns 0 if every call of a child is refused.
  int UseInChild() {
    pw_array *array = nullptr;
    pw_session *session = nullptr;
    pw_run *run = nullptr;
    pw_text *text = nullptr;
    const pw_array *arguments[] = {v_.get()};
    pw_event event;
    int found;
    if (!IsRefused(pw_open(nullptr, &session)))
      return 1;
    if (!IsRefused(pw_put(session_.get(), &eight_.tensor, &array)))
      return 2;
    if (!IsRefused(
            pw_launch(executable_.get(), arguments, 1, 1, nullptr, &run)))
      return 3;
    if (!IsRefused(pw_run_wait(run_.get(), -1)))
      return 4;
    if (!IsRefused(pw_array_get(v_.get(), &eight_.tensor)))
      return 5;
    if (!IsRefused(pw_events_next(events_.get(), -1, &event, &found)))
      return 6;
    if (!IsRefused(pw_session_statistics(session_.get(), &text)))
      return 7;
    if (!pw_array_is_ready(v_.get()) || !pw_run_is_ready(run_.get()))
      return 8;
    int done = 0;
    const auto count = [](void *at) { ++*static_cast<int *>(at); };
    if (!IsRefused(
            pw_borrow(session_.get(), &eight_.tensor, count, &done, &array)) ||
        done != 1)
      return 9;
    pw_array_release(v_.get());
    run_.reset();
    v_.reset();
    events_.reset();
    executable_.reset();
    session_.reset();
    plan_.reset();
    return 0;
  }

  Eight eight_;
  Owned<pw_plan> plan_;
  Owned<pw_session> session_;
  Owned<pw_executable> executable_;
  Owned<pw_array> v_;
  Owned<pw_run> run_;
  Owned<pw_events> events_;
};

TEST_F(CApiForkTest, RefusesAllCallsInAChild) {
  Launch(1 << 30);
  const pid_t child = fork();
  if (child == 0)
    _exit(UseInChild());
  ASSERT_GT(child, 0);
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  // The parent goes on as if nothing had happened.
  ExpectOk(pw_run_cancel(run_.get()));
  Expect(PW_RUN_FAILED, pw_run_wait(run_.get(), -1));
  Launch(1);
  Owned<pw_array> out;
  ExpectOk(pw_run_take(run_.get(), 0, Into(out)));
  Eight got;
  std::memset(got.values, 0, sizeof got.values);
  ExpectOk(pw_array_get(out.get(), &got.tensor));
  EXPECT_EQ(std::memcmp(got.values, eight_.values, sizeof got.values), 0);
}

} // namespace
} // namespace pathways::capi_test
