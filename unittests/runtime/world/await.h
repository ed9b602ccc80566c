//===- await.h - Waiting for another thread ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_WORLD_AWAIT_H_
#define UNITTESTS_RUNTIME_WORLD_AWAIT_H_

#include <functional>
#include <thread>

namespace pathways {
// Waits until `state`, which another thread makes true, returns true.

inline void Await(const std::function<bool()>& state) {
  while (!state()) std::this_thread::yield();
}

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_WORLD_AWAIT_H_
