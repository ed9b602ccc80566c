//===- test_timeout.h - Timeouts that no test waits for ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_TEST_TIMEOUT_H_
#define UNITTESTS_RUNTIME_TEST_TIMEOUT_H_

#include "absl/time/time.h"
#include "runtime/world/world.h"

namespace pathways {

// For every timeout that must not expire in a test. A test machine may be busy
// with other work, run under a sanitizer, or both, so it is far longer than
// anything takes there. A test whose matter is a timeout uses a ManualClock, a
// ClockTurner or a simulation instead.
inline constexpr TimeNs kTestTimeoutNs = TimeNs{600} * 1'000'000'000;
inline constexpr absl::Duration kTestTimeout =
    absl::Nanoseconds(kTestTimeoutNs);

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_TEST_TIMEOUT_H_
