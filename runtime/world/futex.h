//===- futex.h - Sleeping on a word in memory -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The system call behind the sleep of workers and of threads that wait for
// them.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_FUTEX_H_
#define RUNTIME_WORLD_FUTEX_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "runtime/world/world.h"

namespace pathways {

// Sleeps while `word` is `value`, for `timeout` ns at most; a negative timeout
// means no limit. May return early without a reason.
inline void FutexWait(std::atomic<uint32_t>& word, uint32_t value,
                      TimeNs timeout) {
  static_assert(sizeof(word) == sizeof(uint32_t));
  constexpr TimeNs kSecond = 1'000'000'000;
  timespec limit;
  limit.tv_sec = timeout / kSecond;
  limit.tv_nsec = timeout % kSecond;
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE,
          value, timeout < 0 ? nullptr : &limit, nullptr, 0);
}

// Wakes up to `count` threads that sleep on `word`.
inline void FutexWake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE,
          count, nullptr, nullptr, 0);
}

}  // namespace pathways

#endif  // RUNTIME_WORLD_FUTEX_H_
