//===- leak_on_purpose.h - What is never destroyed --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_LEAK_ON_PURPOSE_H_
#define RUNTIME_BASE_LEAK_ON_PURPOSE_H_

#include <memory>
#include <utility>

namespace pathways {

// Keeps `thing` until the process ends, and runs no destructor then: for what a
// thread that nobody can stop may still touch. Any thread.
void LeakOnPurpose(std::shared_ptr<void> thing);

// Takes a value for that.
template <typename T>
void KeepValueForEver(T thing) {
  LeakOnPurpose(std::make_shared<T>(std::move(thing)));
}

}  // namespace pathways

#endif  // RUNTIME_BASE_LEAK_ON_PURPOSE_H_
