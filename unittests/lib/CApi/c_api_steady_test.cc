//===- c_api_steady_test.cc - Many launches leave nothing behind ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <malloc.h>

#include <filesystem>

#include "unittests/lib/CApi/c_api_test_support.h"

namespace pathways::capi_test {
namespace {

size_t CountThreads() {
  size_t count = 0;
  for (const auto &thread :
       std::filesystem::directory_iterator("/proc/self/task"))
    count += !thread.path().empty();
  return count;
}

// Bytes of the heap that are in use.
size_t UsedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Launches, takes and reads; every handle is freed.
void LaunchOften(pw_session *session, pw_executable *executable, int times) {
  Eight eight;
  for (int i = 0; i < times && !::testing::Test::HasFailure(); ++i) {
    Owned<pw_array> v, out;
    ExpectOk(pw_put(session, &eight.tensor, Into(v)));
    const pw_array *arguments[] = {v.get()};
    Owned<pw_run> run;
    ExpectOk(pw_launch(executable, arguments, 1, 1, nullptr, Into(run)));
    ExpectOk(pw_run_take(run.get(), 0, Into(out)));
    if (i % 2 == 0)
      v.reset();
    ExpectOk(pw_run_wait(run.get(), 1'000'000'000));
    Owned<pw_view> view;
    const void *data;
    size_t bytes;
    ExpectOk(pw_array_view(out.get(), &data, &bytes, Into(view)));
    if (i % 3 == 0)
      out.reset();
    EXPECT_EQ(static_cast<const float *>(data)[7], 8);
  }
}

TEST(CApiSteadyTest, TenThousandLaunchesLeaveNothing) {
  const size_t threads = CountThreads();
  {
    Owned<pw_plan> plan;
    ExpectOk(ReadTestPlan(Into(plan)));
    Owned<pw_session> session;
    pw_open_options options{};
    options.struct_size = sizeof options;
    options.topology = "1x1x4";
    ExpectOk(pw_open(&options, Into(session)));
    Owned<pw_executable> executable;
    ExpectOk(pw_load(session.get(), plan.get(), nullptr, Into(executable)));
    ASSERT_NE(executable, nullptr);
    EXPECT_GT(CountThreads(), threads);
    LaunchOften(session.get(), executable.get(), 1000);
    // Statistics wait until the hosts have given everything back.
    Owned<pw_text> text;
    ExpectOk(pw_session_statistics(session.get(), Into(text)));
    const size_t before = UsedBytes();
    LaunchOften(session.get(), executable.get(), 10000);
    ExpectOk(pw_session_statistics(session.get(), Into(text)));
    EXPECT_LT(UsedBytes(), before + (1 << 20));
  }
  EXPECT_EQ(CountThreads(), threads);
}

} // namespace
} // namespace pathways::capi_test
