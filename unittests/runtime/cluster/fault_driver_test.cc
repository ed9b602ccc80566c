//===- fault_driver_test.cc - Faults happen when they should --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/fault_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "runtime/faults/fault_schedule.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Notes what is done to hosts, and when.
class Driven final : public FaultDriver::Hosts {
 public:
  explicit Driven(const std::string& text, uint64_t seed = 1) {
    SimOptions options;
    options.before_control = [this](uint64_t n) { driver->BeforeControl(n); };
    world = SimWorld::Create(std::move(options)).value();
    proto::FaultSchedule schedule;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &schedule));
    driver = std::make_unique<FaultDriver>(
        world.get(), this,
        Topology::Create(ReadTopology("1x2x2").value()).value(), schedule,
        seed);
  }
  bool is_up(int32_t host) const override { return host != down; }
  void Stop(int32_t host, TimeNs tell_after) override {
    down = host;
    Note(absl::StrCat("stop ", host, " tell ", tell_after));
  }
  void TakeForGone(int32_t host) override {
    down = host;
    Note(absl::StrCat("gone ", host));
  }
  void Restart(int32_t host) override {
    down = -1;
    Note(absl::StrCat("restart ", host));
  }
  void LimitMemory(int32_t host, uint64_t bytes) override {
    Note(absl::StrCat(
        "limit ", host,
        bytes == UINT64_MAX ? " no more" : absl::StrCat(" to ", bytes)));
  }
  void FailDisk(int32_t host, bool writes, bool reads) override {
    Note(absl::StrCat("disk ", host, writes ? " is full" : "",
                      reads ? " is unreadable" : "",
                      writes || reads ? "" : " works"));
  }
  void ClientDies(const std::string& client) override {
    Note(absl::StrCat("death of ", client));
  }
  std::vector<int32_t> PlacesOfClients(const std::string& name) const override {
    if (name == kClientsName) return {-2, -3};
    if (name == "client:b") return {-3};
    return {};
  }
  void Disconnect(int32_t place) override {
    Note(absl::StrCat("no connection of ", place));
  }
  void Note(const std::string& what) {
    done.push_back(absl::StrCat(world->Now(), ": ", what));
  }

  std::unique_ptr<SimWorld> world;
  std::unique_ptr<FaultDriver> driver;
  int32_t down = -1;
  std::vector<std::string> done;
};

TEST(FaultDriverTest, AtTheirTimes) {
  Driven driven(R"(
    faults { at_seconds: 1e-6
             crash { host: "host1" noticed_after_seconds: 2e-6
                     restart_after_seconds: 3e-6 } }
    faults { at_seconds: 2e-6 crash { host: "host1" } }
    faults { at_seconds: 6e-6 for_seconds: 1e-6
             full_store { host: "host0" bytes: 5 } }
    faults { at_seconds: 9e-6 client_death { client: "c" } })");
  driven.world->RunFor(20'000);
  EXPECT_THAT(driven.done,
              ElementsAre("1000: stop 1 tell 2000", "4000: restart 1",
                          "6000: limit 0 to 5", "7000: limit 0 no more",
                          "9000: death of c"));
  EXPECT_EQ(driven.driver->events().size(), 3u);
}

TEST(FaultDriverTest, TimesShrink) {
  Driven driven(R"(
    faster: 1000
    faults { at_seconds: 1
             crash { host: "host1" unnoticed: true
                     restart_after_seconds: 1 } })");
  driven.world->RunFor(5'000'000);
  EXPECT_THAT(driven.done,
              ElementsAre("1000000: stop 1 tell -1", "2000000: restart 1"));
}

TEST(FaultDriverTest, BeginningsAreNoReasonToGoOn) {
  Driven driven(R"(faults { at_seconds: 1 crash { host: "host1" } })");
  EXPECT_FALSE(driven.world->RunUntil([] { return false; }));
  EXPECT_THAT(driven.done, IsEmpty());
  EXPECT_EQ(driven.world->Now(), 0);
}

TEST(FaultDriverTest, BeforeAControlMessage) {
  Driven driven(R"(faults { at_control: 2 crash { host: "host1" } })");
  Actor listener;
  driven.world->Register(&listener, {-1, 0, -1}, "listener", 0);
  for (int i = 0; i < 2; ++i) driven.world->SendControl(kNoActor, 0, "x");
  driven.world->RunUntil([] { return false; });
  EXPECT_THAT(driven.done, IsEmpty());
  driven.world->SendControl(kNoActor, 0, "x");
  driven.world->RunUntil([] { return false; });
  EXPECT_EQ(driven.done.size(), 1u);
}

TEST(FaultDriverTest, HazardsFollowTheirRatesAndTheSeed) {
  // Four devices, each once in 10 us.
  const std::string text = R"(
    hazards { per_device_hour: 3.6e8
              fault { crash { restart_after_seconds: 1e-9 } } })";
  const auto run = [&](uint64_t seed) {
    Driven driven(text, seed);
    driven.world->RunFor(1'000'000);
    return driven.done;
  };
  const std::vector<std::string> once = run(1);
  EXPECT_NEAR(static_cast<double>(once.size()) / 2, 400, 80);
  EXPECT_EQ(run(1), once);
  EXPECT_NE(run(2), once);
}

TEST(FaultDriverTest, WhoIsTakenForGoneComesAgain) {
  Driven driven(R"(
    faults { at_seconds: 1e-6 for_seconds: 5e-6
             pause { host: "host0" taken_for_gone: true
                     restart_after_seconds: 2e-6 } })");
  driven.world->RunFor(10'000);
  EXPECT_THAT(driven.done, ElementsAre("1000: gone 0", "3000: restart 0"));
}

TEST(FaultDriverTest, DisksFailAndWorkAgain) {
  Driven driven(R"(
    faults { at_seconds: 1e-6 for_seconds: 1e-6
             bad_disk { host: "host1" writes_fail: true } }
    faults { at_seconds: 3e-6
             bad_disk { host: "host0" writes_fail: true reads_fail: true } })");
  driven.world->RunFor(10'000);
  EXPECT_THAT(driven.done,
              ElementsAre("1000: disk 1 is full", "2000: disk 1 works",
                          "3000: disk 0 is full is unreadable"));
}

// Only what cuts it for good ends a connection; who is not there has none.
TEST(FaultDriverTest, ConnectionsOfClientsEnd) {
  Driven driven(R"(
    faults { at_seconds: 1e-6 for_seconds: 1e-6
             partition { some: "clients" others: "controller" } }
    faults { at_seconds: 2e-6 for_seconds: 1e-6
             partition { some: "client:b" others: "host0" loses: true } }
    faults { at_seconds: 3e-6 for_seconds: 1e-6
             partition { some: "client:c" others: "controller" loses: true } }
    faults { at_seconds: 4e-6 for_seconds: 1e-6
             partition { some: "client:b" others: "controller" loses: true } }
    faults { at_seconds: 5e-6 partition { some: "controller" } }
    faults { at_seconds: 6e-6 for_seconds: 1e-6
             pause { host: "client:b" taken_for_gone: true } })");
  driven.world->RunFor(10'000);
  EXPECT_THAT(
      driven.done,
      ElementsAre("4000: no connection of -3", "5000: no connection of -2",
                  "5000: no connection of -3", "6000: no connection of -3"));
  EXPECT_EQ(driven.driver->events().size(), 5u);
}

}  // namespace
}  // namespace pathways
