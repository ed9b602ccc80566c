//===- progress_test.cc ---------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <string>

#include "unittests/runtime/base/process_limits.h"

namespace pathways::pw_run {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

TEST(ProgressTest, OneLineThatIsGoneInTheEnd) {
  CaptureStderr();
  {
    Progress progress(/*enabled=*/true);
    progress.Show("loading");
    progress.Note("pw-run: warning: slow");
    progress.Show("running");
  }
  EXPECT_EQ(GetCapturedStderr(),
            "\r\x1b[Kpw-run: loading"
            "\r\x1b[Kpw-run: warning: slow\n"
            "\r\x1b[Kpw-run: running"
            "\r\x1b[K");
}

TEST(ProgressTest, FiguresComeUntilTheNextText) {
  CaptureStderr();
  std::promise<void> second;
  int calls = 0;
  {
    Progress progress(/*enabled=*/true);
    progress.Track("running", [&] {
      if (++calls == 2) second.set_value();
      return calls == 1 ? 0.25 : 7.0;  // progress above 1 counts as 1
    });
    second.get_future().wait();
    progress.Show("writing");
  }
  const std::string text = GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("\r\x1b[Kpw-run: running"
                              "\r\x1b[Kpw-run: running 25 %"
                              "\r\x1b[Kpw-run: running 100 %"));
  EXPECT_THAT(text, ::testing::EndsWith("\r\x1b[Kpw-run: writing\r\x1b[K"));
}

TEST(ProgressTest, DisabledItPrintsNotesAlone) {
  CaptureStderr();
  {
    Progress progress(/*enabled=*/false);
    progress.Show("loading");
    progress.Track("running", [] { return 0.5; });
    progress.Note("pw-run: warning: slow");
  }
  EXPECT_EQ(GetCapturedStderr(), "pw-run: warning: slow\n");
}

// Runs in a process of its own.
void TrackWithoutThreads() {
  ::pathways::testing::LeaveNoThreads();
  {
    Progress progress(/*enabled=*/true);
    progress.Track("running", [] { return 0.5; });
    progress.Show("writing");
  }
  std::_Exit(7);
}

TEST(ProgressDeathTest, WithoutAThreadTheTextStays) {
  EXPECT_EXIT(TrackWithoutThreads(), ::testing::ExitedWithCode(7),
              "pw-run: running\r\x1b\\[Kpw-run: writing\r\x1b\\[K$");
}

}  // namespace
}  // namespace pathways::pw_run
