//===- open_calls.cc - Calls of threads into a world ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/open_calls.h"

namespace pathways {
namespace {

// The call that this thread is in.
constinit thread_local struct {
  const OpenCalls* world = nullptr;  // null: in no call
  int depth = 0;
} this_call;

}  // namespace

void OpenCalls::Begin() {
  if (this_call.world != nullptr && this_call.world != this) return;
  this_call.world = this;
  ++this_call.depth;
}

bool OpenCalls::End() {
  if (this_call.world != this || --this_call.depth > 0) return false;
  this_call.world = nullptr;
  return true;
}

bool OpenCalls::IsInCall() const { return this_call.world == this; }

}  // namespace pathways
