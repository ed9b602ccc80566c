//===- grant_queue.h - What a device may run, in order ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grants of all programs of a device, in the order of the island, and the
// gang of the first one that comes next.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_GRANT_QUEUE_H_
#define RUNTIME_DEVICE_GRANT_QUEUE_H_

#include <cstddef>
#include <cstdint>

#include "runtime/base/ring.h"
#include "runtime/program/host_program.h"

namespace pathways {

// Owned by a device and used by it alone; programs and grants are not owned.
// Invariants: (1) all programs in it have gangs; (2) each gang of the head's
// program comes once in each firing of its grant, in the order of the program's
// queue.
class GrantQueue {
 public:
  struct Head {
    DeviceProgram* program = nullptr;  // null: nothing is granted
    HostGrant* grant = nullptr;
    StepNumbers numbers;  // of the launch
    uint64_t next = 0;    // firing
    TimeNs since = -1;    // it is the head
    // For something, as the head: how long it took says nothing of kernels.
    bool waited = false;
  };

  bool empty() const { return head_.program == nullptr; }
  // Of a queue that is not empty, like all that follows but Push, Remove
  // and NextFiring.
  Head& head() { return head_; }
  const Head& head() const { return head_; }
  // Of the head; 0: the queue is empty.
  uint64_t next_firing() const { return head_.next; }
  // In its program's queue.
  size_t gang_index() const { return gang_; }
  const Gang& gang() const { return head_.program->queue->gangs[gang_]; }

  void Push(DeviceProgram* program, HostGrant* grant);
  // The first firing of a gang of a program that has not happened.
  uint64_t NextFiring(const DeviceProgram& program, size_t gang) const;
  // The next `gangs` of the head's firing have run. Whether they were the last
  // of its grant, which is still the head then.
  bool Advance(size_t gangs) {
    gang_ += gangs;
    if (gang_ < head_.program->queue->gangs.size()) return false;
    gang_ = 0;
    return ++head_.next == head_.grant->end;
  }
  // The head is over.
  void Pop();
  // Takes off all grants of a program. Whether the head was one.
  bool Remove(const DeviceProgram* program);

 private:
  Head head_;
  size_t gang_ = 0;
  Ring<Head> behind_;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_GRANT_QUEUE_H_
