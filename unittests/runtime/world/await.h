//===- await.h - Until another thread has done something --------*- C++ -*-===//
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

inline void Await(const std::function<bool()>& state) {
  while (!state()) std::this_thread::yield();
}

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_WORLD_AWAIT_H_
