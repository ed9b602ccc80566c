//===- process_limits.h - A process that may have no more -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits for tests that check what happens when the system refuses something.
// Nothing removes the limits again: call these functions in a process of the
// test's own (EXPECT_EXIT).
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_BASE_PROCESS_LIMITS_H_
#define UNITTESTS_RUNTIME_BASE_PROCESS_LIMITS_H_

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace pathways::testing {

// Limits the memory that the process may still take to `bytes`.
inline void LeaveMemory(size_t bytes) {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit memory = {};
  memory.rlim_cur = memory.rlim_max = pages * sysconf(_SC_PAGESIZE) + bytes;
  setrlimit(RLIMIT_AS, &memory);
}

// From now on the process gets no more threads: their stacks do not fit into
// what memory is left, which is some.
inline void LeaveNoThreads() {
  constexpr size_t kLeft = 64 << 20;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 2 * kLeft);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
  LeaveMemory(kLeft);
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_BASE_PROCESS_LIMITS_H_
