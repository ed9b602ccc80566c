//===- launch_reader_test.cc - Reader of launch requests ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/launch_reader.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class LaunchReaderTest : public TablesTest {};

TEST_F(LaunchReaderTest, ALaunchIsDescribedWithItsBytesAndItsClaim) {
  const uint32_t p = LoadProgram(1);
  world_.Advance(7);
  proto::LaunchRequest request = Request(1, 1, p, 2, 3);
  request.set_steps(5);
  request.set_first_step(40);
  request.set_priority(kMaxPriority + 5);
  request.set_deadline_ns(30);
  ASSERT_TRUE(reader_.Read(request).ok());
  const LaunchSpec& spec = reader_.spec();
  EXPECT_EQ(spec.launch, ClientId(1, 1));
  EXPECT_EQ(spec.program, p);
  EXPECT_EQ(spec.steps, 5u);
  EXPECT_EQ(spec.first_step, 40u);
  EXPECT_EQ(spec.asked, 7);
  EXPECT_EQ(spec.claim.priority, kMaxPriority);
  EXPECT_EQ(spec.claim.deadline, 37);
  EXPECT_THAT(spec.hosts, ElementsAre(0, 1));
  EXPECT_THAT(spec.islands, ElementsAre(0));
  ASSERT_THAT(spec.arguments, SizeIs(1));
  EXPECT_TRUE(spec.arguments[0].fresh);
  EXPECT_THAT(spec.arguments[0].bytes, SizeIs(2));
  EXPECT_GT(spec.arguments[0].bytes[0], 0u);
  // The hosts were charged with the argument and the result.
  EXPECT_EQ(memory_.used(0),
            spec.arguments[0].bytes[0] + spec.results[0].bytes[0]);
}

TEST_F(LaunchReaderTest, OnlyALaunchWithoutFreshValuesSurelyHasRoom) {
  const uint32_t p = LoadProgram(1);
  const proto::LaunchRequest first = Request(1, 1, p, 2, 3);
  ASSERT_TRUE(reader_.Read(first).ok());
  EXPECT_TRUE(reader_.spec().asks);
  launches_.Add(reader_.spec(), &effects_);
  const uint64_t launch = ClientId(1, 1);
  for (int32_t host : {0, 1}) {
    launches_.Staged(launch, host, absl::OkStatus(), &effects_);
  }
  const proto::LaunchRequest next = Request(1, 2, p, 3, 4, /*fresh=*/false);
  ASSERT_TRUE(reader_.Read(next).ok());
  EXPECT_FALSE(reader_.spec().asks);
  // A host that loads a program has less room than its account says.
  AddProgram(2, "q");
  const proto::LaunchRequest last = Request(1, 3, p, 3, 5, /*fresh=*/false);
  ASSERT_TRUE(reader_.Read(last).ok());
  EXPECT_TRUE(reader_.spec().asks);
}

TEST_F(LaunchReaderTest, ARefusedLaunchIsNotCharged) {
  const uint32_t p = LoadProgram(1);
  proto::LaunchRequest request = Request(1, 1, p, 2, 3);
  request.set_steps(0);
  EXPECT_THAT(std::string(reader_.Read(request).message()),
              HasSubstr("has 0 steps"));
  EXPECT_EQ(reader_.spec().launch, ClientId(1, 1));
  request = Request(2, 1, p, 2, 3);  // not the client's program
  EXPECT_TRUE(absl::IsFailedPrecondition(reader_.Read(request)));
  request = Request(1, 1, p, 2, 3, /*fresh=*/false);  // no such argument
  EXPECT_FALSE(reader_.Read(request).ok());
  EXPECT_EQ(memory_.used(0), 0u);
}

TEST_F(LaunchReaderTest, AnArgumentWithoutValuesHasNoBytes) {
  const uint32_t p = LoadProgram(1);
  proto::LaunchRequest request = Request(1, 1, p, 2, 3);
  request.mutable_arguments(0)->mutable_no_values()->set_code(
      static_cast<int>(absl::StatusCode::kAborted));
  ASSERT_TRUE(reader_.Read(request).ok());
  EXPECT_TRUE(absl::IsAborted(reader_.spec().arguments[0].failure));
  EXPECT_TRUE(reader_.spec().arguments[0].missing);
  EXPECT_THAT(reader_.spec().arguments[0].bytes, ElementsAre(0, 0));
}

}  // namespace
}  // namespace pathways::testing
