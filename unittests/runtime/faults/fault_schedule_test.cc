//===- fault_schedule_test.cc - Schedules of faults as text ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/faults/fault_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pathways {
namespace {

using ::testing::HasSubstr;

Topology TwoHosts() {
  return Topology::Create(ReadTopology("1x2x2").value()).value();
}

std::string ParseError(const std::string& text) {
  const auto parsed = ParseFaults(text, "f.textproto", TwoHosts());
  EXPECT_TRUE(absl::IsInvalidArgument(parsed.status())) << parsed.status();
  return std::string(parsed.status().message());
}

TEST(FaultScheduleTest, AllKindsAreRead) {
  const auto read = ParseFaults(R"(
    faults { at_seconds: 0.5 crash { host: "host1" restart_after_seconds: 1 } }
    faults { at_control: 7 for_seconds: 1 pause { host: "host0" } }
    faults { slow_device { device: "island0/host1/device1" factor: 3 } }
    faults { slow_link { some: "host0" others: "controller" latency_factor: 2 } }
    faults { bad_link { messages { drop: 0.5 } controls { reorder: 1 } } }
    faults { for_seconds: 1 partition { some: "host0" loses: true } }
    faults { full_store { host: "host1" bytes: 100 } }
    faults { bad_disk { host: "host1" reads_fail: true } }
    faults { for_seconds: 1 pause { host: "clients" } }
    faults { slow_link { some: "client:a" others: "controller" } }
    faults { client_death { client: "pw-run" } }
    hazards { per_host_hour: 2 fault { crash {} } }
  )",
                                "f.textproto", TwoHosts());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->faults_size(), 11);
  EXPECT_TRUE(CheckFaults(*read, "it", TwoHosts()).ok());
}

TEST(FaultScheduleTest, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(
      ParseError("faults {\n  crash { host: \"host9\" }\n}"),
      "f.textproto:2:11: faults[0].crash.host is 'host9', expected a host "
      "of 2: 'host0' ... 'host1' [PW8102]");
  EXPECT_EQ(ParseError("faults { crash { } }"),
            "f.textproto: faults[0].crash.host is '', expected a host of 2: "
            "'host0' ... 'host1' [PW8102]");
  EXPECT_EQ(
      ParseError("faults { pause { host: \"controller\" } }"),
      "f.textproto:1:18: faults[0].pause.host is 'controller', expected "
      "'clients', 'client:NAME' or a host of 2: 'host0' ... 'host1' [PW8102]");
  EXPECT_EQ(ParseError("faults { pause { host: \"client:\" } }"),
            "f.textproto:1:18: faults[0].pause.host is 'client:', expected "
            "'clients', 'client:NAME' or a host of 2: 'host0' ... 'host1' "
            "[PW8102]");
  EXPECT_THAT(ParseError("faults { crash { host: \"clients\" } }"),
              HasSubstr("is 'clients', expected a host of 2"));
  EXPECT_EQ(ParseError("faults { bad_disk { host: \"host0\" } }"),
            "f.textproto:1:21: faults[0].bad_disk.host has a bad disk on which "
            "nothing fails, expected writes_fail or reads_fail [PW8102]");
  EXPECT_EQ(ParseError("faults { slow_device { device: \"d\" factor: 2 } }"),
            "f.textproto:1:24: faults[0].slow_device.device is 'd', expected a "
            "device, such as 'island0/host0/device0' [PW8102]");
  EXPECT_EQ(ParseError("faults { slow_device { factor: 0.5 } }"),
            "f.textproto:1:24: faults[0].slow_device.factor is 0.5, expected 1 "
            "to 1e+06 [PW8102]");
  EXPECT_EQ(
      ParseError("faults { partition { some: \"host0\" some: \"nowhere\" } }"),
      "f.textproto:1:36: faults[0].partition.some[1] is 'nowhere', expected "
      "'controller', 'clients', 'client:NAME' or a host of 2: 'host0' ... "
      "'host1' [PW8102]");
  EXPECT_EQ(ParseError("faults { at_seconds: -1 crash { host: \"host0\" } }"),
            "f.textproto:1:10: faults[0].at_seconds is -1, expected 0 to 1e+09 "
            "[PW8102]");
  EXPECT_EQ(ParseError("faults { bad_link { controls { drop: 2 } } }"),
            "f.textproto:1:32: faults[0].bad_link.controls.drop is 2, expected "
            "0 to 1 [PW8102]");
  EXPECT_THAT(ParseError("faults { for_seconds: 1 }"),
              HasSubstr("expected one of crash, pause"));
  EXPECT_EQ(ParseError("hazards { fault { at_control: 3 crash {} } }"),
            "f.textproto:1:11: hazards[0].fault has a time, expected none: "
            "times are drawn from the rates [PW8102]");
  EXPECT_THAT(ParseError("faults { crsh {} }"), HasSubstr("f.textproto:1:"));
}

TEST(FaultScheduleTest, PresetsHaveNames) {
  for (const auto& [name, text] : FaultPresets()) {
    EXPECT_TRUE(ReadFaults(name, TwoHosts()).ok()) << name;
    EXPECT_EQ(FaultsPath(name), "");
  }
  const auto faster = ReadFaults("llama3*1e9", TwoHosts());
  ASSERT_TRUE(faster.ok()) << faster.status();
  EXPECT_EQ(faster->faster(), 1e9);
  // 419 in 54 days on 16,384 devices.
  double rate = 0;
  for (const proto::Hazard& hazard : faster->hazards()) {
    rate += hazard.per_device_hour();
  }
  EXPECT_NEAR(rate * 54 * 24 * 16384, 419, 0.5);
  EXPECT_EQ(
      ReadFaults("llama3*-1", TwoHosts()).status(),
      absl::InvalidArgumentError("the factor of preset 'llama3' is '-1', "
                                 "expected a number above 0 and at most 1e15"));
  const absl::Status none = ReadFaults("llama4", TwoHosts()).status();
  EXPECT_TRUE(absl::IsNotFound(none));
  EXPECT_EQ(
      none.message(),
      "file of faults 'llama4': No such file or directory; the name is not a "
      "preset either, presets are crashes, jumbled, llama3, lossy [PW8101]");
  EXPECT_EQ(FaultsPath("a.textproto"), "a.textproto");
}

}  // namespace
}  // namespace pathways
