//===- launch_table_test.cc - Launches, from the request to the end -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/launch_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uint32_t kP = 0, kQ = 1;  // programs

class LaunchTableTest : public ::testing::Test {
 protected:
  // Launches `program` on hosts 0 and 1 of island 0. Objects below 100 come
  // with it; from 1000 on the client keeps them.
  void Launch(uint64_t launch, uint32_t program,
              std::vector<uint64_t> arguments = {},
              std::vector<uint64_t> results = {}) {
    LaunchSpec spec = Spec(launch, program, arguments, results);
    const absl::Status status = table_.Check(spec, "p");
    if (status.ok()) {
      table_.Add(spec, &effects_);
    } else {
      table_.Refuse(spec, status, &effects_);
    }
  }
  static LaunchSpec::Array Array(uint64_t object,
                                 absl::Span<const uint32_t> hosts,
                                 absl::Span<const uint64_t> bytes) {
    LaunchSpec::Array array;
    array.object = object;
    array.hosts = hosts;
    array.bytes = bytes;
    return array;
  }
  LaunchSpec Spec(uint64_t launch, uint32_t program,
                  const std::vector<uint64_t>& arguments,
                  const std::vector<uint64_t>& results) {
    static const std::vector<int32_t> hosts = {0, 1}, islands = {0};
    static const std::vector<uint32_t> blocks = {1};
    static const std::vector<uint64_t> bytes = {8};
    LaunchSpec spec;
    spec.launch = launch;
    spec.program = program;
    spec.steps = 2;
    spec.hosts = hosts;
    spec.islands = islands;
    for (uint64_t a : arguments) {
      spec.arguments.push_back(Array(a, blocks, bytes));
      spec.arguments.back().fresh = a < 100;
    }
    for (uint64_t r : results) {
      spec.results.push_back(Array(r, blocks, bytes));
    }
    return spec;
  }
  void Stage(uint64_t launch) {
    table_.Staged(launch, 0, absl::OkStatus(), &effects_);
    table_.Staged(launch, 1, absl::OkStatus(), &effects_);
  }
  // Grants what is ready, and what is then, and says which they were.
  std::vector<uint64_t> Grant() {
    std::vector<uint64_t> granted;
    for (size_t i = 0; i < effects_.ready.size(); ++i) {
      granted.push_back(effects_.ready[i]);
      table_.Begun(granted.back());
      table_.Granted(granted.back(), &effects_);
    }
    effects_.ready.clear();
    return granted;
  }
  void Done(uint64_t launch) { table_.Done(launch, 0, nullptr, {}, &effects_); }
  // "launch: message", with "!" for those that did not complete.
  std::vector<std::string> Ended() {
    std::vector<std::string> text;
    for (const LaunchEffects::End& end : effects_.ended) {
      text.push_back(absl::StrCat(end.launch, end.completed ? ": " : "! ",
                                  std::string(end.status.message())));
    }
    effects_.ended.clear();
    return text;
  }
  std::vector<std::string> Drops() {
    std::vector<std::string> text;
    for (const Drop& d : effects_.drops) {
      text.push_back(absl::StrCat(d.host, ":", d.launch, ":", d.object));
    }
    effects_.drops.clear();
    return text;
  }
  static Failure Failed(uint64_t firing, const std::string& message) {
    return {firing, 0, 0, 0, absl::InvalidArgumentError(message)};
  }

  ObjectTable objects_;
  LaunchTable table_{&objects_};
  LaunchEffects effects_;
};

TEST_F(LaunchTableTest, IsReadyWhenAllItsHostsHaveItsValues) {
  Launch(1, kP, {10});
  table_.Staged(1, 1, absl::OkStatus(), &effects_);
  table_.Staged(1, 1, absl::OkStatus(), &effects_);  // a second copy
  table_.Staged(1, 7, absl::OkStatus(), &effects_);
  EXPECT_THAT(Grant(), IsEmpty());
  table_.Staged(1, 0, absl::OkStatus(), &effects_);
  EXPECT_THAT(Grant(), ElementsAre(1));
  table_.Staged(1, 0, absl::OkStatus(), &effects_);
  table_.Begun(1);
  table_.Granted(1, &effects_);
  EXPECT_THAT(Grant(), IsEmpty());
  EXPECT_THAT(Ended(), IsEmpty());
  Done(1);
  EXPECT_THAT(Ended(), ElementsAre("1: "));
  EXPECT_THAT(Drops(), ElementsAre("1:1:10"));
  Done(1);
  EXPECT_THAT(Ended(), IsEmpty());
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_THAT(table_.Open(kP), IsEmpty());
}

// The client says so, of a launch that has ended.
TEST_F(LaunchTableTest, AnArgumentWithoutValuesIsTheCause) {
  LaunchSpec spec = Spec(1, kP, {10}, {1000});
  spec.arguments[0].failure = absl::InternalError("broke");
  ASSERT_TRUE(table_.Check(spec, "p").ok());
  table_.Add(spec, &effects_);
  EXPECT_FALSE(objects_.Find(10)->arriving);
  Stage(1);
  EXPECT_THAT(Grant(), ElementsAre(1));
  table_.Done(1, 0, nullptr, /*poisoned=*/{0}, &effects_);
  EXPECT_TRUE(effects_.ended.front().granted);
  EXPECT_THAT(Ended(), ElementsAre("1: broke"));
  EXPECT_EQ(objects_.Find(1000)->failure, absl::InternalError("broke"));
  // The argument is of a launch that never began, so this one does not begin
  // either.
  spec = Spec(2, kP, {11}, {1001});
  spec.arguments[0].failure = absl::InternalError("refused");
  spec.arguments[0].missing = true;
  table_.Add(spec, &effects_);
  EXPECT_FALSE(effects_.ended.front().granted);
  EXPECT_THAT(Ended(), ElementsAre("2! refused"));
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(LaunchTableTest, IsOverBeforeItsGrantOnlyInALie) {
  Launch(1, kP);
  Done(1);
  Stage(1);
  EXPECT_THAT(Grant(), ElementsAre(1));
  EXPECT_THAT(Ended(), IsEmpty());
}

TEST_F(LaunchTableTest, WhatIsWaitedForIsAsUrgent) {
  Launch(1, kP, {10}, {1000});
  Launch(2, kP, {}, {1001});
  Launch(3, kQ, {1001});
  EXPECT_THAT(effects_.urgent, IsEmpty());
  LaunchSpec spec = Spec(4, 2, {1001}, {});
  spec.claim = {.priority = 5};
  table_.Add(spec, &effects_);
  // The launch that fills its argument is urgent, and the launch before that.
  EXPECT_THAT(effects_.urgent, ElementsAre(2, 1));
  EXPECT_EQ(table_.Find(1)->claim.priority, 5);
  EXPECT_EQ(table_.Find(3)->claim.priority, 0);
  effects_.urgent.clear();
  table_.Inherit(3, {.priority = 4, .deadline = 9}, &effects_);
  EXPECT_THAT(effects_.urgent, ElementsAre(3, 2, 1));
  EXPECT_EQ(table_.Find(2)->claim.priority, 5);
  EXPECT_EQ(table_.Find(1)->claim.deadline, 9);
}

TEST_F(LaunchTableTest, OneThatWasNotGrantedIsCancelledAtOnce) {
  const absl::Status why = absl::CancelledError("not wanted");
  Launch(1, kP, {10}, {1000});
  Launch(2, kQ, {1000});
  Stage(2);
  EXPECT_FALSE(table_.Cancel(1, why, &effects_));
  EXPECT_THAT(Ended(), ElementsAre("1! not wanted", "2! not wanted"));
  EXPECT_FALSE(table_.Cancel(1, why, &effects_));
  Launch(3, kP);
  Stage(3);
  EXPECT_FALSE(table_.Cancel(3, why, &effects_));
  EXPECT_THAT(Ended(), ElementsAre("3! not wanted"));
  EXPECT_THAT(effects_.ready, IsEmpty());
}

TEST_F(LaunchTableTest, OneThatIsBeingGrantedIsCutAndSaysSoInTheEnd) {
  const absl::Status why = absl::CancelledError("not wanted");
  Launch(1, kP);
  Stage(1);
  table_.Begun(1);
  EXPECT_TRUE(table_.Cancel(1, why, &effects_));
  EXPECT_FALSE(table_.Cancel(1, why, &effects_));
  table_.Shorten(1, 1);
  EXPECT_THAT(Ended(), IsEmpty());
  effects_.ready.clear();
  table_.Granted(1, &effects_);
  EXPECT_FALSE(table_.Cancel(1, why, &effects_));
  Done(1);
  EXPECT_EQ(effects_.ended.at(0).steps, 1u);
  EXPECT_THAT(Ended(), ElementsAre("1: not wanted"));
}

TEST_F(LaunchTableTest, LaunchesOfAProgramAreReadyInOrder) {
  Launch(1, kP);
  Launch(2, kP);
  Launch(3, kQ);
  Stage(2);
  EXPECT_THAT(Grant(), IsEmpty());
  Stage(3);  // another program's: does not wait
  EXPECT_THAT(Grant(), ElementsAre(3));
  Stage(1);
  EXPECT_THAT(Grant(), ElementsAre(1, 2));
}

TEST_F(LaunchTableTest, ReadersAreReadyWhenWhatTheyReadIsGranted) {
  Launch(1, kP, {}, {1000});
  Launch(2, kQ, {1000, 1000});
  Stage(2);
  EXPECT_THAT(Grant(), IsEmpty());
  Stage(1);
  EXPECT_THAT(Grant(), ElementsAre(1, 2));
}

TEST_F(LaunchTableTest, ReadersEndBehindWhatTheyRead) {
  Launch(1, kP, {}, {1000});
  Launch(2, kQ, {1000}, {1001});
  Launch(3, kP, {1001});
  for (uint64_t launch : {1, 2, 3}) Stage(launch);
  EXPECT_THAT(Grant(), ElementsAre(1, 2, 3));
  Done(3);
  Done(2);
  EXPECT_THAT(Ended(), IsEmpty());
  EXPECT_TRUE(table_.Find(2)->over);
  Done(1);
  EXPECT_THAT(Ended(), ElementsAre("1: ", "2: ", "3: "));
}

TEST_F(LaunchTableTest, TheSmallestFailureOfAllIslandsCounts) {
  static const std::vector<int32_t> islands = {0, 1, 2};
  LaunchSpec spec = Spec(1, kP, {}, {1000, 1001, 1002});
  spec.islands = islands;
  table_.Add(spec, &effects_);
  Stage(1);
  Grant();
  const Failure late = Failed(8, "late"), early = Failed(3, "early");
  table_.Done(1, 0, &late, {2}, &effects_);
  table_.Done(1, 1, &early, {0, 2}, &effects_);
  table_.Done(1, 1, nullptr, {1}, &effects_);  // a second copy
  EXPECT_THAT(Ended(), IsEmpty());
  table_.Done(1, 2, &late, {}, &effects_);
  ASSERT_EQ(effects_.ended.size(), 1u);
  EXPECT_THAT(effects_.ended[0].poisoned, ElementsAre(0, 2));
  EXPECT_THAT(Ended(), ElementsAre("1: early"));
  EXPECT_EQ(objects_.Find(1000)->failure.message(), "early");
  EXPECT_TRUE(objects_.Find(1001)->failure.ok());
}

TEST_F(LaunchTableTest, AFailureIsThatOfWhatItReads) {
  Launch(1, kP, {}, {1000});
  Launch(2, kQ, {1000}, {1001});
  Stage(1);
  Stage(2);
  Grant();
  const Failure own = Failed(0, "own"), first = Failed(5, "first");
  table_.Done(2, 0, &own, {0}, &effects_);
  table_.Done(1, 0, &first, {0}, &effects_);
  EXPECT_THAT(Ended(), ElementsAre("1: first", "2: first"));
  // One that comes later is granted, and poisoned.
  Launch(3, kP, {1001});
  Stage(3);
  EXPECT_THAT(Grant(), ElementsAre(3));
  Done(3);
  EXPECT_THAT(Ended(), ElementsAre("3: first"));
}

TEST_F(LaunchTableTest, OfRefusalsThatOfTheSmallestHostCounts) {
  Launch(1, kP, {10, 11}, {1000});
  Launch(2, kQ, {1000}, {1001});
  Launch(3, kP, {1001});
  Launch(4, kP);
  Stage(4);
  table_.Staged(1, 1, absl::ResourceExhaustedError("one"), &effects_);
  EXPECT_THAT(Ended(), IsEmpty());
  table_.Staged(1, 0, absl::ResourceExhaustedError("zero"), &effects_);
  // Launches that read its results end with it, others continue.
  EXPECT_THAT(Ended(), ElementsAre("1! zero", "2! zero", "3! zero"));
  EXPECT_THAT(Grant(), ElementsAre(4));
  // Hosts may have some of the values; no object is left but the results.
  EXPECT_THAT(Drops(),
              UnorderedElementsAre("0:1:0", "1:1:0", "1:1:10", "1:1:11",
                                   "0:2:0", "1:2:0", "0:3:0", "1:3:0"));
  // A later one is refused by itself.
  Launch(5, kQ, {1000}, {1002});
  EXPECT_THAT(Ended(), ElementsAre("5! zero"));
  Launch(6, kQ, {1002});
  EXPECT_THAT(Ended(), ElementsAre("6! zero"));
}

TEST_F(LaunchTableTest, AHostThatIsNotHeardRefusesWhatWaitsForIt) {
  Launch(1, kP, {}, {1000});
  Launch(2, kP);
  Launch(3, kQ);
  Launch(4, kQ, {1000});
  Stage(1);
  EXPECT_THAT(Grant(), ElementsAre(1));
  table_.Staged(2, 0, absl::OkStatus(), &effects_);
  table_.Staged(3, 1, absl::OkStatus(), &effects_);
  Stage(4);
  EXPECT_TRUE(table_.Stages(1));
  table_.Unanswered(1, absl::DeadlineExceededError("silent"), &effects_);
  EXPECT_FALSE(table_.Stages(1));
  EXPECT_THAT(Ended(), ElementsAre("2! silent"));
  EXPECT_THAT(Grant(), IsEmpty());  // the third waits for host 0
  table_.Staged(3, 0, absl::OkStatus(), &effects_);
  EXPECT_THAT(Grant(), ElementsAre(3, 4));
}

// No host hears of a launch whose argument is lost, so its fresh arguments
// never come, and a launch that uses one of them must not wait for it.
TEST_F(LaunchTableTest, FreshArgumentsOfALaunchThatEndsAtOnceAreMissing) {
  Launch(1, kP, {}, {1000});
  Stage(1);
  EXPECT_THAT(Grant(), ElementsAre(1));
  Done(1);
  EXPECT_THAT(Ended(), ElementsAre("1: "));
  objects_.HostGone(1, absl::UnavailableError("host1 is gone"));
  LaunchSpec spec = Spec(2, kP, {1000, 10}, {});
  spec.arguments[1].keep = true;
  table_.Add(spec, &effects_);
  EXPECT_THAT(Ended(), ElementsAre("2! host1 is gone"));
  spec = Spec(3, kP, {10}, {1001});
  spec.arguments[0].fresh = false;
  table_.Add(spec, &effects_);
  EXPECT_THAT(Ended(), ElementsAre("3! host1 is gone"));
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(LaunchTableTest, AnArrayThatIsNotHereIsRefused) {
  Launch(1, kP, {500}, {1000});
  EXPECT_THAT(Ended(),
              ElementsAre("1! a launch of program 'p' uses an array whose own "
                          "launch did not begin; launch it again"));
  Launch(2, kP, {1000});
  EXPECT_EQ(Ended().size(), 1u);
  // Giving the same new array twice is no such case.
  LaunchSpec spec = Spec(3, kP, {10, 10}, {});
  spec.arguments[1].fresh = false;
  EXPECT_TRUE(table_.Check(spec, "p").ok());
}

TEST_F(LaunchTableTest, AProgramIsAborted) {
  Launch(1, kP, {}, {1000});
  Launch(2, kP, {10});
  Launch(3, kQ, {1000});
  Launch(4, kQ);
  Stage(1);
  Stage(3);
  Stage(4);
  EXPECT_THAT(Grant(), ElementsAre(1, 3, 4));
  Done(3);
  table_.Abort(kP, absl::DeadlineExceededError("hangs"), &effects_);
  // A granted launch that reads its results is poisoned, and ends after it.
  EXPECT_THAT(Ended(), ElementsAre("1! hangs", "2! hangs", "3: hangs"));
  EXPECT_THAT(effects_.given_up, ElementsAre(1));
  EXPECT_THAT(Drops(),
              ElementsAre("0:1:0", "1:1:0", "0:2:0", "1:2:0", "1:2:10"));
  EXPECT_THAT(Grant(), IsEmpty());
  EXPECT_THAT(table_.Open(kP), IsEmpty());
  EXPECT_THAT(table_.Open(kQ), ElementsAre(4));
  Stage(2);
  Done(1);
  EXPECT_THAT(Ended(), IsEmpty());
}

TEST_F(LaunchTableTest, WhatIsReadyWhenItsProgramIsAbortedIsNotGranted) {
  Launch(1, kP);
  Launch(2, kP);
  Stage(1);
  Stage(2);
  table_.Abort(kP, absl::DeadlineExceededError("hangs"), &effects_);
  EXPECT_THAT(Grant(), IsEmpty());
  EXPECT_THAT(effects_.given_up, IsEmpty());
}

TEST_F(LaunchTableTest, WhatRunsNowhereIsOverWithItsGrant) {
  LaunchSpec spec = Spec(1, kP, {}, {});
  spec.hosts = spec.islands = {};
  table_.Add(spec, &effects_);
  EXPECT_THAT(Grant(), ElementsAre(1));
  EXPECT_THAT(Ended(), ElementsAre("1: "));
}

TEST_F(LaunchTableTest, ALongChainEndsWithItsFirstLaunch) {
  constexpr uint64_t kLength = 20000;
  for (uint64_t i = 1; i <= kLength; ++i) {
    Launch(
        i, kP,
        i == 1 ? std::vector<uint64_t>{} : std::vector<uint64_t>{1000 + i - 1},
        {1000 + i});
  }
  table_.Staged(1, 0, absl::OkStatus(), &effects_);
  table_.Staged(1, 1, absl::UnavailableError("gone"), &effects_);
  EXPECT_EQ(Ended().size(), kLength);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(LaunchTableTest, OneWhoseHostsAreNotAskedIsReadyAtOnce) {
  LaunchSpec spec = Spec(1, kP, {}, {1000});
  spec.asks = false;
  table_.Add(spec, &effects_);
  EXPECT_THAT(effects_.ready, ::testing::ElementsAre(1));
  EXPECT_FALSE(objects_.Find(1000)->arriving);
  EXPECT_FALSE(table_.Stages(0));
  // Late, from a host that nobody asked.
  table_.Staged(1, 0, absl::UnavailableError("no"), &effects_);
  EXPECT_NE(table_.Find(1), nullptr);
}

TEST_F(LaunchTableTest, WhatItsHostsMayNotHaveIsArrivingUntilTheyAnswer) {
  table_.Add(Spec(1, kP, {7}, {1000}), &effects_);
  table_.Staged(1, 0, absl::OkStatus(), &effects_);
  EXPECT_TRUE(objects_.Find(7)->arriving);
  EXPECT_TRUE(objects_.Find(1000)->arriving);
  table_.Staged(1, 1, absl::OkStatus(), &effects_);
  EXPECT_FALSE(objects_.Find(7)->arriving);
  EXPECT_FALSE(objects_.Find(1000)->arriving);
}

// An object comes with a launch once, however many arrays that has.
TEST_F(LaunchTableTest, AnObjectIsNewOnce) {
  for (uint64_t count : {3u, 60u}) {
    std::vector<uint64_t> fresh, results;
    for (uint64_t i = 0; i < count; ++i) {
      fresh.push_back(i + 1);
      results.push_back(i + 5000);
    }
    const auto check = [&](const std::vector<uint64_t>& arguments,
                           const std::vector<uint64_t>& made) {
      return table_.Check(Spec(1, kP, arguments, made), "p").code();
    };
    EXPECT_EQ(check(fresh, results), absl::StatusCode::kOk) << count;
    std::vector<uint64_t> twice = fresh;
    twice.back() = twice.front();
    EXPECT_EQ(check(twice, results), absl::StatusCode::kInvalidArgument);
    twice = results;
    twice.back() = twice.front();
    EXPECT_EQ(check(fresh, twice), absl::StatusCode::kInvalidArgument);
    twice.back() = fresh.back();
    EXPECT_EQ(check(fresh, twice), absl::StatusCode::kInvalidArgument);
    // Nobody has it.
    twice = fresh;
    twice.back() = 4000;
    EXPECT_EQ(check(twice, results), absl::StatusCode::kFailedPrecondition);
    // The launch takes the same array twice, and the array comes once.
    LaunchSpec spec = Spec(1, kP, fresh, results);
    spec.arguments.back().object = fresh.front();
    spec.arguments.back().fresh = false;
    EXPECT_TRUE(table_.Check(spec, "p").ok());
  }
}

}  // namespace
}  // namespace pathways
