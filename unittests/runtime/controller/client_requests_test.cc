//===- client_requests_test.cc - What a client asks, in its order ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/client_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ClientRequestsTest : public ::testing::Test {
 protected:
  // The numbers of what is handled when the one of this number has come.
  std::vector<uint64_t> Take(uint64_t sequence) {
    std::vector<uint64_t> handled;
    proto::Control control;
    control.set_sequence(sequence);
    requests_.Take(std::move(control), [&](proto::Control* next) {
      handled.push_back(next->sequence());
    });
    return handled;
  }

  ClientRequests requests_;
};

TEST_F(ClientRequestsTest, TakesThemByTheirNumbers) {
  EXPECT_THAT(Take(2), IsEmpty());
  EXPECT_THAT(Take(4), IsEmpty());
  EXPECT_THAT(Take(1), ElementsAre(1, 2));
  EXPECT_THAT(Take(3), ElementsAre(3, 4));
  EXPECT_THAT(Take(5), ElementsAre(5));
}

TEST_F(ClientRequestsTest, DropsSecondCopies) {
  EXPECT_THAT(Take(1), ElementsAre(1));
  EXPECT_THAT(Take(1), IsEmpty());
  EXPECT_THAT(Take(3), IsEmpty());
  EXPECT_THAT(Take(3), IsEmpty());
  EXPECT_THAT(Take(2), ElementsAre(2, 3));
  EXPECT_THAT(Take(2), IsEmpty());
  EXPECT_THAT(Take(3), IsEmpty());
}

}  // namespace
}  // namespace pathways
