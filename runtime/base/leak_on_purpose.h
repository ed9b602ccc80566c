//===- leak_on_purpose.h - Objects that are never destroyed -----*- C++ -*-===//
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

// Keeps `thing` until the process ends and never destroys it: for objects that
// a thread may still touch which nobody can stop. May be called on any thread.
void LeakOnPurpose(std::shared_ptr<void> thing);

// Keeps a value in this way.
template <typename T>
void KeepValueForEver(T thing) {
  LeakOnPurpose(std::make_shared<T>(std::move(thing)));
}

}  // namespace pathways

#endif  // RUNTIME_BASE_LEAK_ON_PURPOSE_H_
