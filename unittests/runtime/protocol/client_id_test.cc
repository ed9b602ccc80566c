//===- client_id_test.cc - Owners of launches and arrays ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/client_id.h"

#include <gtest/gtest.h>

#include "runtime/protocol/directory.h"

namespace pathways {
namespace {

TEST(ClientIdTest, SaysWhoseItIs) {
  for (uint32_t client : {0u, 1u, kMaxClients - 1}) {
    for (uint64_t number : {uint64_t{1}, uint64_t{77}, kMaxClientNumber}) {
      const uint64_t id = ClientId(client, number);
      EXPECT_EQ(ClientOf(id), client);
      EXPECT_EQ(NumberOf(id), number);
    }
  }
  EXPECT_NE(ClientId(1, 5), ClientId(2, 5));
}

TEST(ClientIdTest, NothingIsNobodys) { EXPECT_EQ(ClientId(5, 0), 0u); }

}  // namespace
}  // namespace pathways
