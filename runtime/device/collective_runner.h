//===- collective_runner.h - Collectives of a device ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective of a gang runs in stages, and returns whenever it must wait: for
// the backend, or for other members of its groups. There are two paths:
//
// * RunLarge: devices meet at a GroupMeeting. The last device to arrive
//   combines a shared result, then notifies the other devices: those of its
//   cohort by a call, and the first device of each other cohort by a message.
//   If the group spans hosts, the last device instead sends the one message
//   that begins the exchange.
// * RunSmall: devices meet at a FlagBarrier, which has no last device. The last
//   device of each cohort waits for the other cohorts, combines for its own
//   cohort, and notifies the devices of that cohort.
//
// A device that uses RunSmall has one member in one group. The collective takes
// less than a microsecond, of which the loops and calls of RunLarge would be a
// tenth or more (dispatch_bench unit c 8).
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_COLLECTIVE_RUNNER_H_
#define RUNTIME_DEVICE_COLLECTIVE_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/device/cohort.h"
#include "runtime/device/device_sender.h"
#include "runtime/device/device_trace.h"
#include "runtime/device/device_work.h"
#include "runtime/device/grant_queue.h"
#include "runtime/device/head_gang.h"
#include "runtime/program/host_program.h"

namespace pathways {

// Owned by a device, and used by it and its cohort.
class CollectiveRunner {
 public:
  // Makes the runner of device `index` of its host. Does not own what the
  // pointers point to, which are the cohort and other objects of the device.
  CollectiveRunner(uint32_t index, Cohort* cohort, const GrantQueue* queue,
                   HeadGang* head, DeviceWork* work, DeviceSender* sender,
                   DeviceTrace* trace)
      : index_(index),
        head_(*head),
        queue_(*queue),
        cohort_(*cohort),
        work_(*work),
        sender_(*sender),
        trace_(*trace) {}

  // Runs the collective at which the head of the queue is, or resumes it.
  // Returns false if it waits; otherwise the head is at its next step.
  bool Run(DeviceProgram* program, const Gang& gang,
           const CollectiveTable& table, uint64_t firing) {
    return table.small ? RunSmall(program, gang, table, firing)
                       : RunLarge(program, gang, table, firing);
  }
  // Handles kGroupDone, for all devices that it concerns.
  void OnGroupDone(const DeviceProgram& program, const LocalMessage& message);
  // Called when all members of a group have arrived at `firing`, or are about
  // to leave. `program` may be that of any device. Returns true if this device
  // waited for the group.
  bool GroupDone(const DeviceProgram& program, uint32_t group, uint64_t firing,
                 bool poison);
  // Ends the wait of a leader that the cohort polled for; see Cohort::LookFor.
  void EndWait() { head_.waiting_groups = 0; }
  // Forgets the collective of a head that was removed.
  void Reset() {
    stage_ = kOutside;
    arrived_.clear();
  }

 private:
  // Large collectives, whose groups use a GroupMeeting or an exchange, and
  // small ones, which use a FlagBarrier.
  bool RunLarge(DeviceProgram* program, const Gang& gang,
                const CollectiveTable& table, uint64_t firing);
  bool RunSmall(DeviceProgram* program, const Gang& gang,
                const CollectiveTable& table, uint64_t firing);
  // Work of a leader once all cohorts have arrived: LeadSmall combines for its
  // own cohort, and NotifyLeaders notifies the parked leaders of others.
  void LeadSmall(const DeviceProgram& program, const CollectiveTable& table,
                 const DeviceGroup& in, uint64_t firing);
  void NotifyLeaders(const DeviceProgram& program, const CollectiveTable& table,
                     const DeviceGroup& in, uint64_t firing);
  // Takes the result of one member.
  void TakeSmall(const CollectiveShape& shape, const HostGroup& group,
                 uint32_t cohort, uint32_t rank, char* result);

  // Lets the head go on with its next step.
  void End(const DeviceProgram& program, const Gang& gang, uint64_t firing) {
    trace_.CollectiveEnds(program, gang, firing, head_.step);
    stage_ = kOutside;
    ++head_.step;
  }
  // Sends kGroupDone to another cohort, of which `device` is any device.
  void NotifyCohort(const DeviceProgram& program, uint32_t group,
                    uint32_t cohort, uint32_t device, uint64_t firing,
                    bool poison);

  // SetMet records that the device has arrived at group i. Await lets the head
  // wait for `groups` groups.
  void SetMet(DeviceProgram* program, const CollectiveTable& table, uint32_t i,
              uint64_t firing) {
    program->meetings.store(firing * program->queue->num_meetings +
                                table.first_meeting + i - table.group_begin + 1,
                            std::memory_order_relaxed);
  }
  void Await(const DeviceProgram& program, uint32_t groups) {
    head_.waiting_groups = groups;
    awaited_ = program.groups;
  }
  bool IsPoisoned(const DeviceProgram& program, const DeviceGroup& in) const;
  void PoisonGroup(const DeviceProgram& program, const DeviceGroup& in);
  void Contribute(DeviceProgram* program, const CollectiveTable& table,
                  uint64_t firing);
  void MeetAll(DeviceProgram* program, const CollectiveTable& table,
               uint64_t firing);
  // Returns true if all devices of the group have arrived; this device then
  // notifies the others. Returns false if it must wait. If the group has
  // members on other hosts, the last device notifies the executor and waits
  // too.
  bool Meet(DeviceProgram* program, const CollectiveTable& table, uint32_t i,
            uint64_t firing, bool* poison);
  void CombineInPlace(DeviceProgram* program, const CollectiveTable& table,
                      uint64_t firing);
  void TakeResults(DeviceProgram* program, const CollectiveTable& table,
                   uint64_t firing);
  // Called when this device is the last one to arrive at a group. CombineShared
  // computes a result that all members share; the Notify functions then notify
  // the other devices.
  void CombineShared(const DeviceProgram& program, const CollectiveTable& table,
                     const DeviceGroup& in, uint64_t firing, bool poison);
  void NotifyArrived(const DeviceProgram& program, const CollectiveTable& table,
                     const DeviceGroup& in, uint64_t firing, bool poison);
  void NotifyAllArrived(const DeviceProgram& program,
                        const CollectiveTable& table, uint64_t firing);

  // Stage of the head's collective: the device copies contributions; combines
  // the shared result if it is the last to arrive; waits for the other members;
  // computes its share; waits for the other shares; takes results.
  enum : uint8_t {
    kOutside,
    kContributing,
    kNotifying,
    kArriving,
    kSharing,
    kLeaving,
    kTaking
  } stage_ = kOutside;
  const uint32_t index_;
  // Groups of the program in which the head waits.
  const HostGroup* awaited_ = nullptr;
  HeadGang& head_;
  const GrantQueue& queue_;
  Cohort& cohort_;
  DeviceWork& work_;
  DeviceSender& sender_;
  DeviceTrace& trace_;
  // Groups of the head's collective at which this device arrived last, and
  // whether they are poisoned.
  std::vector<std::pair<uint32_t, bool>> arrived_;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_COLLECTIVE_RUNNER_H_
