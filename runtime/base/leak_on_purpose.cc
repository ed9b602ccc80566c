//===- leak_on_purpose.cc - Objects that are never destroyed --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/leak_on_purpose.h"

#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"

namespace pathways {
namespace {

struct Kept {
  Mutex mutex;
  std::vector<std::shared_ptr<void>> things ABSL_GUARDED_BY(mutex);
};

}  // namespace

void LeakOnPurpose(std::shared_ptr<void> thing) {
  static Kept* const kept = new Kept;
  MutexLock lock(&kept->mutex);
  kept->things.push_back(std::move(thing));
}

}  // namespace pathways
