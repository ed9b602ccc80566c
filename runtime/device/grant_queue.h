//===- grant_queue.h - Queue of a device's grants ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grants of all programs of a device, in the order of the island, and the
// next gang of the first grant.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_GRANT_QUEUE_H_
#define RUNTIME_DEVICE_GRANT_QUEUE_H_

#include <cstddef>
#include <cstdint>

#include "runtime/base/ring.h"
#include "runtime/program/host_program.h"

namespace pathways {

// Owned by a device, and used by it alone. Does not own programs or grants.
// Invariants: (1) all programs in it have gangs; (2) each gang of the head's
// program comes once in each firing of its grant, in the order of the program's
// queue.
class GrantQueue {
 public:
  struct Head {
    DeviceProgram* program = nullptr;  // null: nothing is granted
    HostGrant* grant = nullptr;
    StepNumbers numbers;  // numbers of the launch's steps
    uint64_t next = 0;    // next firing
    TimeNs since = -1;    // time at which it became the head; -1: unknown
    // True if it waited for something while it was the head, so that its time
    // says nothing about kernels.
    bool waited = false;
  };

  bool empty() const { return head_.program == nullptr; }
  // This and all functions below, except Push, Remove and NextFiring, require
  // that the queue is not empty.
  Head& head() { return head_; }
  const Head& head() const { return head_; }
  // Firing of the head; 0 if the queue is empty.
  uint64_t next_firing() const { return head_.next; }
  // Index of the next gang in the queue of the head's program.
  size_t gang_index() const { return gang_; }
  const Gang& gang() const { return head_.program->queue->gangs[gang_]; }

  void Push(DeviceProgram* program, HostGrant* grant);
  // Returns the first firing of a gang of a program that has not happened.
  uint64_t NextFiring(const DeviceProgram& program, size_t gang) const;
  // Advances after the next `gangs` of the head's firing have run. Returns true
  // if they were the last of its grant, which stays the head until Pop.
  bool Advance(size_t gangs) {
    gang_ += gangs;
    if (gang_ < head_.program->queue->gangs.size()) return false;
    gang_ = 0;
    return ++head_.next == head_.grant->end;
  }
  // Removes the head, which is over.
  void Pop();
  // Removes all grants of a program. Returns true if the head was one of them.
  bool Remove(const DeviceProgram* program);

 private:
  Head head_;
  size_t gang_ = 0;
  Ring<Head> behind_;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_GRANT_QUEUE_H_
