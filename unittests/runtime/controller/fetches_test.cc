//===- fetches_test.cc - Fetches of values by clients ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/fetches.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FetchesTest : public TablesTest {
 protected:
  void Begin(uint64_t request, uint64_t object,
             std::vector<uint32_t> hosts = {0, 1}) {
    proto::FetchRequest fetch;
    fetch.set_request(request);
    fetch.set_object(object);
    for (uint32_t host : hosts) fetch.add_sources()->set_host(host);
    fetch_service_.Begin(1, fetch);
  }
  void End(uint64_t request, bool keeps = false) {
    proto::FetchEnd end;
    end.set_request(request);
    end.set_keeps(keeps);
    fetch_service_.Take(1, end);
  }
};

TEST_F(FetchesTest, AnObjectIsKeptUntilItsFetchIsOver) {
  const uint64_t object = AddArray(1, 1);
  Begin(7, object);
  EXPECT_THAT(Sent(), ElementsAre("fetch_begin to host0",
                                  "fetch_begin to "
                                  "host1"));
  messages_.ReleaseHeld({object});
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_NE(objects_.Find(object), nullptr);
  End(7, /*keeps=*/true);
  EXPECT_TRUE(fetches_.empty());
  EXPECT_THAT(Sent(), IsEmpty());
  End(7);
  // First the fetch ends on both hosts, then they drop the object.
  EXPECT_THAT(Sent(),
              ElementsAre("drop_objects to host0", "drop_objects to host1",
                          "drop_objects to host0", "drop_objects to host1"));
  EXPECT_EQ(objects_.Find(object), nullptr);
  End(7);
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(FetchesTest, ABadFetchIsRefused) {
  Begin(7, ClientId(1, 1));
  EXPECT_THAT(Sent(), ElementsAre("client1 7: the values were released"));
  const uint64_t object = AddArray(1, 1);
  Begin(8, object, {2});
  EXPECT_THAT(Sent(), ElementsAre("client1 8: there is no host 2"));
  objects_.HostGone(0, absl::UnavailableError("host0 is gone"));
  Begin(9, object);
  EXPECT_THAT(Sent(), ElementsAre("client1 9: host0 is gone"));
}

TEST_F(FetchesTest, AFetchEndsWithItsHost) {
  Begin(7, AddArray(1, 1));
  Sent();
  fetch_service_.HostGone(1, absl::UnavailableError("host1 is gone"));
  EXPECT_THAT(Sent(), ElementsAre("client1 7: host1 is gone"));
}

TEST_F(FetchesTest, AHostThatSendsNothingIsAskedAgain) {
  Begin(7, AddArray(1, 1));
  Sent();
  world_.Advance(kTimeout / 4);
  fetch_service_.Tick(WaitSet());
  EXPECT_THAT(Sent(),
              ElementsAre("fetch_begin to host0", "fetch_begin to host1"));
  proto::FetchReport report;
  report.set_request(7);
  report.set_host(0);
  report.set_pieces(1);
  fetch_service_.Take(1, report);
  world_.Advance(kTimeout);
  fetch_service_.Tick(WaitSet());
  EXPECT_THAT(Sent(), ElementsAre("client1 7: values were not fetched: no "
                                  "answer from host1 [PW4105]"));
}

TEST_F(FetchesTest, TheFetchesOfAClientThatLeavesEnd) {
  const uint64_t object = AddArray(1, 1);
  Begin(7, object);
  messages_.ReleaseHeld({object});
  Sent();
  fetch_service_.Leave(2);
  EXPECT_THAT(Sent(), IsEmpty());
  fetch_service_.Leave(1);
  EXPECT_EQ(objects_.Find(object), nullptr);
}

}  // namespace
}  // namespace pathways::testing
