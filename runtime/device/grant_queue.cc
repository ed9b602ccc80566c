//===- grant_queue.cc - Queue of a device's grants ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/grant_queue.h"

namespace pathways {

void GrantQueue::Push(DeviceProgram* program, HostGrant* grant) {
  const Head last = {program, grant, grant->launch->numbers(), grant->first};
  if (empty()) {
    head_ = last;
  } else {
    behind_.Push() = last;
  }
}

uint64_t GrantQueue::NextFiring(const DeviceProgram& program,
                                size_t gang) const {
  if (head_.program == &program) return head_.next + (gang < gang_ ? 1 : 0);
  for (const Head& one : behind_) {
    if (one.program == &program) return one.next;
  }
  return program.granted;
}

void GrantQueue::Pop() {
  gang_ = 0;
  head_ = {};
  if (behind_.empty()) return;
  head_ = behind_.front();
  behind_.Pop();
}

bool GrantQueue::Remove(const DeviceProgram* program) {
  behind_.RemoveIf([&](const Head& one) { return one.program == program; });
  if (empty() || head_.program != program) return false;
  Pop();
  return true;
}

}  // namespace pathways
