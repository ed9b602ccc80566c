//===- load_ucx_test.cc - Machines without UCX ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/load_ucx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/runtime/transport/told_events.h"

namespace pathways {
namespace {

TEST(LoadUcxTest, SaysWhatIsMissing) {
  ToldEvents events;
  const absl::Status status = LoadUcxTransport(UcxOptions(), &events).status();
#ifdef PATHWAYS_HAS_UCX
  EXPECT_TRUE(status.ok()) << status;
#else
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(status.message(), testing::HasSubstr("libpathways_ucx.so"));
#endif
}

}  // namespace
}  // namespace pathways
