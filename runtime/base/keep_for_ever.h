//===- keep_for_ever.h - What is never destroyed ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_KEEP_FOR_EVER_H_
#define RUNTIME_BASE_KEEP_FOR_EVER_H_

#include <memory>
#include <utility>

namespace pathways {

// Keeps `thing` until the process ends, and runs no destructor then: for what a
// thread that nobody can stop may still touch. Any thread.
void KeepForEver(std::shared_ptr<void> thing);

// Takes a value for that.
template <typename T>
void KeepValueForEver(T thing) {
  KeepForEver(std::make_shared<T>(std::move(thing)));
}

}  // namespace pathways

#endif  // RUNTIME_BASE_KEEP_FOR_EVER_H_
