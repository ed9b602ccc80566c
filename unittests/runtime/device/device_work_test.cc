//===- device_work_test.cc - Work and events of a backend -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/device_work.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace pathways::testing {
namespace {

// Keeps the last event, which is never done at once.
class PendingBackend final : public NoBackend {
 public:
  explicit PendingBackend(std::optional<LocalMessage>* event)
      : NoBackend(/*costs=*/false), event_(event) {}
  bool Record(const LocalMessage& done) override {
    *event_ = done;
    return false;
  }

 private:
  std::optional<LocalMessage>* const event_;
};

TEST(DeviceWorkTest, TheHeadAwaitsItsEvent) {
  std::optional<LocalMessage> event;
  HeadGang head;
  DeviceCounters counters;
  DeviceWork work(std::make_unique<PendingBackend>(&event), &head, &counters);
  EXPECT_EQ(work.cpu(), nullptr);
  DeviceProgram program;
  program.incarnation = 4;
  EXPECT_FALSE(work.IsHeadDone(&program));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, kWorkDone);
  EXPECT_EQ(event->incarnation, 4u);
  EXPECT_EQ(event->target, DeviceWork::kHead);
  EXPECT_TRUE(head.Awaits(HeadGang::kWork, event->step));
  EXPECT_EQ(program.events, 1u);
  EXPECT_EQ(counters.sent[kWorkDone].get(), 1u);
}

TEST(DeviceWorkTest, AnEntryLeavesTheHeadAlone) {
  std::optional<LocalMessage> event;
  HeadGang head;
  DeviceCounters counters;
  DeviceWork work(std::make_unique<PendingBackend>(&event), &head, &counters);
  DeviceProgram program;
  EXPECT_FALSE(work.IsEntryDone(&program, 6));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->target, 6u);
  EXPECT_EQ(program.events, 1u);
  EXPECT_EQ(head.awaits, HeadGang::kNothing);
}

TEST(DeviceWorkTest, TheBackendOfTheCpuIsDoneAtOnce) {
  HeadGang head;
  DeviceCounters counters;
  DeviceWork work(std::make_unique<CpuBackend>(/*costs=*/false,
                                               /*cohort=*/nullptr, /*place=*/0),
                  &head, &counters);
  EXPECT_EQ(work.cpu(), work.backend());
  const char from[] = "abcd";
  char to[sizeof(from)] = {};
  work.Do([&](auto& backend) { backend.CopyBytes(from, sizeof(from), to); });
  EXPECT_STREQ(to, "abcd");
  DeviceProgram program;
  EXPECT_TRUE(work.IsHeadDone(&program));
  EXPECT_TRUE(work.IsEntryDone(&program, 0));
  EXPECT_EQ(program.events, 0u);
}

}  // namespace
}  // namespace pathways::testing
