//===- process_reports_test.cc - Reports of processes to a client ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/process_reports.h"

#include <gtest/gtest.h>

#include <sstream>

#include "unittests/runtime/client/answered_channel.h"

namespace pathways::testing {
namespace {

class ProcessReportsTest : public ::testing::Test {
 protected:
  // Lets `processes` processes report; process i reports `steps` * (i + 1).
  void LetProcessesReport(uint32_t processes, uint64_t steps) {
    it_.on_message = [this, processes, steps](const proto::Control& message) {
      const proto::CollectRequest& ask = message.collect_request();
      questions_.push_back(ask.question());
      proto::Answer answer;
      answer.set_processes(processes);
      it_.Answer(ask.request(), answer);
      for (uint32_t process = 0; process < processes; ++process) {
        proto::Collected part;
        part.set_request(ask.request());
        part.set_process(process);
        part.set_parts(1);
        part.mutable_stats()->set_steps_done(steps * (process + 1));
        it_.channel.OnCollected(part);
      }
    };
  }

  AnsweredChannel it_;
  ProcessReports reports_{&it_.channel, &it_.runtime};
  std::vector<proto::Question> questions_;
};

TEST_F(ProcessReportsTest, JoinsTheCountsOfAllProcesses) {
  LetProcessesReport(2, 10);
  const absl::StatusOr<ClusterStats> stats = reports_.Stats();
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->steps_done, 30u);
  EXPECT_EQ(questions_, std::vector<proto::Question>{proto::COUNTS});
}

TEST_F(ProcessReportsTest, AsksNobodyIfNothingIsTraced) {
  LetProcessesReport(1, 0);
  std::ostringstream text;
  EXPECT_TRUE(absl::IsFailedPrecondition(reports_.WriteTrace(&text)));
  EXPECT_TRUE(absl::IsFailedPrecondition(reports_.Summarize().status()));
  it_.HandleSent();
  EXPECT_TRUE(questions_.empty());
  EXPECT_EQ(text.str(), "");
}

TEST_F(ProcessReportsTest, ReturnsTheErrorOfTheController) {
  it_.on_message = [&](const proto::Control& message) {
    it_.Answer(message.collect_request().request(),
               absl::StatusCode::kUnavailable, "no more");
  };
  EXPECT_EQ(reports_.Stats().status(), absl::UnavailableError("no more"));
}

}  // namespace
}  // namespace pathways::testing
