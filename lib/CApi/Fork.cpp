//===- Fork.cpp - Children of this process --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fork.h"

#include <atomic>
#include <pthread.h>

using namespace pathways;

static std::atomic<bool> isChild = false;

void capi::watchForks() {
  // If there is no memory for the handler, children are not noticed.
  [[maybe_unused]] static const int result = pthread_atfork(
      nullptr, nullptr, [] { isChild.store(true, std::memory_order_relaxed); });
}

bool capi::isForkedChild() { return isChild.load(std::memory_order_relaxed); }
