//===- collective_group.h - Members of collectives on a host ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables of collectives, and the meetings of their members. A group is
// identified by its index on its host. Its tables are immutable once built.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_COLLECTIVE_GROUP_H_
#define RUNTIME_PROGRAM_COLLECTIVE_GROUP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/program/collective.h"
#include "runtime/program/exchange_state.h"
#include "runtime/program/flag_barrier.h"
#include "runtime/program/slot_ref.h"

namespace pathways {

// A co-resident shard in the collectives over some axes of its slice.
struct CollectiveMember {
  uint32_t group = 0;  // counts from CollectiveTable::first_group
  uint32_t rank = 0;
  // If the group spans hosts: index of the member among those of this host, by
  // rank. Otherwise: index of its device among those of its cohort in the
  // group.
  uint32_t own = 0;
};
// A group of a collective in which the device has members.
struct DeviceGroup {
  uint32_t group = 0;   // counts from CollectiveTable::first_group
  uint32_t local = 0;   // index of the device in HostGroup::locals
  uint32_t cohort = 0;  // index of the device's cohort in GroupMeeting
  // Range of the device's members in DeviceProgram::shards_in, which has
  // co-resident shards.
  uint32_t shards_begin = 0, shards_end = 0;
};

// Meeting of the devices of one host: first the devices of each worker meet,
// then the workers. The last device to arrive resets the slot, then notifies
// the other devices or, if the group has members on other hosts, the host's
// executor.
struct GroupMeeting {
  // `devices`: devices with members, by cohort.
  explicit GroupMeeting(std::vector<std::vector<uint32_t>> devices);

  // `cohorts`: the devices with members of each cohort; any device reads it.
  // `counts`: arrivals of each cohort; only that cohort's worker uses them.
  const std::vector<std::vector<uint32_t>> cohorts;
  struct alignas(64) Count {
    uint32_t arrived[2] = {0, 0};
    bool poisoned[2] = {false, false};
    uint32_t devices = 0;
  };
  std::vector<Count> counts;
  struct Slot {
    std::atomic<uint32_t> arrived{0};  // cohorts
    std::atomic<bool> poisoned{false};
  };
  alignas(64) Slot slots[2];  // all workers write them

  // Records that a device of `cohort` has arrived at `firing`, poisoned if
  // `*poison`. Returns true if it was the last of all devices. In that case,
  // `*poison` is set to whether any device was poisoned, and the slot is free
  // for the firing after the next.
  bool Arrive(uint32_t cohort, uint64_t firing, bool* poison) {
    Count& near = counts[cohort];
    const uint64_t which = firing & 1;
    near.poisoned[which] |= *poison;
    if (++near.arrived[which] < near.devices) return false;
    return ArriveCohort(&near, which, poison);
  }

 private:
  bool ArriveCohort(Count* near, uint64_t which, bool* poison);
};

// State of a group that is combined in place. Once all devices have arrived,
// each of them computes a share, directly from the memory of the operands to
// that of the results or of the exchange. The devices then meet a second time,
// and none continues before all shares are done. Nothing else touches an
// operand or a result meanwhile: the gangs that own them wait in this
// collective, at the heads of their queues.
struct InPlaceGroup {
  std::unique_ptr<GroupMeeting> leaving;  // null: all members are on one device
  // Operands and results by rank; set for members on this host.
  std::vector<SlotRef> sources, results;
  // Slots of the current firing. The last device to arrive writes them. The
  // other devices read them before they leave, and no device arrives at the
  // next firing before that.
  std::vector<const char*> operands;
  std::vector<char*> outputs;
};

// The members of one group of a collective, as one host sees them. Firing n
// uses slot n mod 2 of its memory: a member arrives at n + 2 only after all
// members have read n.
struct HostGroup {
  // Barrier that replaces `meeting` for small contributions; owned by the
  // HostProgram. Null if the group is not small.
  FlagBarrier* small = nullptr;
  std::vector<const char*> contributions[2];  // see below
  // True if all members have the same result; see below.
  bool shared = false;
  uint32_t action = 0, step = 0;
  std::vector<int32_t> members;  // shards, by rank
  uint64_t bytes = 0;            // bytes of one contribution
  struct Local {
    uint32_t device = 0;
    uint32_t cohort = 0;  // index of the device's cohort in the meetings
    // Number of this meeting among those of the device in one firing.
    uint32_t meeting = 0;
    std::vector<uint32_t> ranks;
  };
  std::vector<Local> locals;  // by device
  // Null: all members on this host are on one device.
  std::unique_ptr<GroupMeeting> meeting;
  // Null: all members are on this host. Otherwise the last device of this host
  // to arrive notifies the executor, and contributions and results are in the
  // exchange's memory.
  std::unique_ptr<ExchangeState> exchange;
  // Set if the group is large or all members are on one device; else null.
  std::unique_ptr<InPlaceGroup> in_place;

  // Memory of a group that is not small, not in place and has no exchange: two
  // slots of contributions, then two of results. Each device copies its
  // contributions there when it arrives. `at` is the offset of each rank in a
  // slot; ranks are grouped by cohort so that no two workers write to one cache
  // line. If `shared`, all members have the same result, and the last device to
  // arrive computes it.
  std::vector<uint64_t> at;
  uint64_t slot_bytes = 0, result_bytes = 0;
  char* data = nullptr;

  // Must be called once the memory is allocated.
  void SetMemory(char* memory);
  char* result(uint64_t firing) const {
    return AddressAt(data, 2 * slot_bytes + (firing & 1) * result_bytes);
  }
  char* contribution(uint64_t firing, uint32_t rank) const {
    return AddressAt(data, (firing & 1) * slot_bytes + at[rank]);
  }
  int64_t num_own() const;  // members on this host
};

// BeginInPlace finds the slots that members of an in-place group use at
// `firing`. CombineShare then computes the share of device number `local`.
void BeginInPlace(const HostGroup& group, uint64_t firing);
void CombineShare(const CollectiveShape& shape, const HostGroup& group,
                  uint32_t local, uint64_t firing);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_COLLECTIVE_GROUP_H_
