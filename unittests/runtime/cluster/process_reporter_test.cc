//===- process_reporter_test.cc - Statistics and traces of a process ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/process_reporter.h"

#include <string>
#include <vector>

#include "runtime/trace/trace_message.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::IsEmpty;

class ProcessReporterTest : public ::testing::Test {
 protected:
  ProcessReporterTest() {
    context_.world = &world_;
    context_.topology = &topology_;
    context_.directory = DirectoryOf(topology_);
    actors_ = std::make_unique<LocalActors>(&context_, ClusterOptions());
    reporter_ = std::make_unique<ProcessReporter>(&context_, &none_,
                                                  actors_.get(), /*seed=*/5);
  }

  void Ask(const proto::Control& control) {
    reporter_->OnControl(context_.directory.controller(),
                         control.SerializeAsString());
  }
  proto::Control Asking(proto::Question question) {
    proto::Control control;
    control.set_client(3);
    control.mutable_collect()->set_request(8);
    control.mutable_collect()->set_question(question);
    return control;
  }

  const Topology topology_ = *Topology::Create(MakeCluster("1x2x2"));
  RecordingWorld world_;
  ProcessWorld none_;
  RuntimeContext context_;
  std::unique_ptr<LocalActors> actors_;
  std::unique_ptr<ProcessReporter> reporter_;
};

TEST_F(ProcessReporterTest, TellsTheClientWhatItsHostsCount) {
  Ask(Asking(proto::COUNTS));
  ASSERT_EQ(world_.sent.size(), 1u);
  EXPECT_EQ(world_.sent[0].to, context_.directory.client(3));
  const auto control = world_.sent[0].As<proto::Control>();
  EXPECT_EQ(control.client(), 3u);
  const proto::Collected& collected = control.collected();
  EXPECT_EQ(collected.request(), 8u);
  EXPECT_EQ(collected.process(), 0u);
  EXPECT_EQ(collected.parts(), 1u);
  ASSERT_EQ(collected.stats().hosts_size(), 2);
  EXPECT_EQ(collected.stats().hosts(1).host(), 1u);
  EXPECT_EQ(collected.stats().hosts(1).name(), topology_.HostName(1));
  ASSERT_EQ(collected.stats().hosts(1).devices_size(), 2);
  EXPECT_GT(collected.stats().hosts(1).devices(0).memory_bytes(), 0u);
  EXPECT_EQ(reporter_->firings(), 0u);
}

TEST_F(ProcessReporterTest, SaysWhatItsClockSays) {
  world_.Suspend(1234);
  Ask(Asking(proto::TIME));
  ASSERT_EQ(world_.sent.size(), 1u);
  const auto control = world_.sent[0].As<proto::Control>();
  EXPECT_EQ(control.collected().time_ns(), 1234);
  EXPECT_EQ(control.collected().parts(), 1u);
  EXPECT_FALSE(control.collected().has_stats());
}

TEST_F(ProcessReporterTest, AnEmptyTraceIsAnAnswerToo) {
  Ask(Asking(proto::TRACED));
  ASSERT_EQ(world_.sent.size(), 1u);
  const auto control = world_.sent[0].As<proto::Control>();
  EXPECT_EQ(control.collected().parts(), 1u);
  EXPECT_TRUE(control.collected().has_trace());
  EXPECT_EQ(control.collected().trace().seed(), 5u);
  EXPECT_TRUE(control.collected().trace().simulated());
}

TEST_F(ProcessReporterTest, ALongTraceTakesSeveralMessages) {
  auto trace = Trace::Create(&world_, 1 << 18);
  ASSERT_TRUE(trace.ok()) << trace.status();
  context_.trace = trace->get();
  for (int i = 0; i < 200'000; ++i) {
    (*trace)->ring(0)->Record(NewTraceEvent(TraceKind::kCall, 0, i));
  }
  Ask(Asking(proto::TRACED));
  ASSERT_GT(world_.sent.size(), 1u);
  std::vector<proto::Control> controls;
  for (const Sent& sent : world_.sent) {
    controls.push_back(sent.As<proto::Control>());
  }
  std::vector<const proto::ProcessTrace*> parts;
  for (size_t i = 0; i < controls.size(); ++i) {
    const proto::Collected& one = controls[i].collected();
    EXPECT_EQ(one.part(), i);
    EXPECT_EQ(one.parts(), controls.size());
    parts.push_back(&one.trace());
  }
  absl::StatusOr<TraceLog> log = ReadTraceMessages(parts);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->events.size(), 200'000u);
}

TEST_F(ProcessReporterTest, IgnoresWhatIsNoQuestion) {
  reporter_->OnControl(0, "no protocol buffer");
  Ask(proto::Control());
  proto::Control nobody = Asking(proto::COUNTS);
  nobody.set_client(kMaxClients);
  Ask(nobody);
  EXPECT_THAT(world_.sent, IsEmpty());
}

}  // namespace
}  // namespace pathways::testing
