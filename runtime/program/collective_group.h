//===- collective_group.h - Members of collectives on a host ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of collectives, and where their members meet. A group is known by
// its index on its host; its tables are only read once built.
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
  // Its place among the members of the host, by rank; if all are there, among
  // those of its cohort.
  uint32_t own = 0;
};
// A group of such a collective in which the device has members.
struct DeviceGroup {
  uint32_t group = 0;   // likewise
  uint32_t local = 0;   // the device's number in it
  uint32_t cohort = 0;  // where the device's is in the meetings
  // Its members here, in DeviceProgram::shards_in: co-resident shards.
  uint32_t shards_begin = 0, shards_end = 0;
};

// Where devices of one host meet: first those of each worker, then the workers.
// Who arrives last resets the slot, then tells the others or, when the group
// has members elsewhere, the host's executor.
struct GroupMeeting {
  // `devices`: of each cohort.
  explicit GroupMeeting(std::vector<std::vector<uint32_t>> devices);

  // Per cohort: the devices with members, which all read; how many of them have
  // arrived, which is the cohort's own.
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
  alignas(64) Slot slots[2];  // which all write

  // A device of `cohort` has arrived at `firing`, `*poison` or not. Whether it
  // was the last of all; then `*poison` says whether any was, and the slot is
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

// What a group of a host has that is combined in place: once all are there, by
// all devices at once, each a share, from where operands lie to where results
// or the exchange want it; and nobody goes on before all shares are done, for
// which they meet once more. Nothing else touches an operand or a result
// meanwhile: the gangs that own them wait here, at the heads of their queues.
struct InPlaceGroup {
  std::unique_ptr<GroupMeeting> leaving;  // null: all are on one device
  // By rank, of the members here.
  std::vector<SlotRef> sources, results;
  // The slots of the firing under way, written by who arrives last: the others
  // read them before they leave, and nobody arrives at the next one before.
  std::vector<const char*> operands;
  std::vector<char*> outputs;
};

// The members of one group of a collective, as one host sees them. Firing n
// uses slot n mod 2 of its memory: nobody can arrive at n + 2 before all have
// read n.
struct HostGroup {
  // Of what is small: where its members meet, instead of `meeting`. The host
  // program's; else null.
  FlagBarrier* small = nullptr;
  std::vector<const char*> contributions[2];  // see below
  // One result for all; see below.
  bool shared = false;
  uint32_t action = 0, step = 0;
  std::vector<int32_t> members;  // shards, by rank
  uint64_t bytes = 0;            // of one contribution
  struct Local {
    uint32_t device = 0;
    uint32_t cohort = 0;   // where the device's is in the meetings
    uint32_t meeting = 0;  // the device's, in one firing of the program
    std::vector<uint32_t> ranks;
  };
  std::vector<Local> locals;  // by device
  // Null: all members that are here are on one device.
  std::unique_ptr<GroupMeeting> meeting;
  // Null: all members are here. Else whoever arrives last of this host tells
  // its executor, and contributions and results are in the exchange's memory.
  std::unique_ptr<ExchangeState> exchange;
  // What is large, or all on one device; else null.
  std::unique_ptr<InPlaceGroup> in_place;

  // What is not small, nor in place, and has no exchange is copied to the
  // group's memory by who arrives: two slots of contributions, then two of
  // results. Of a slot, where that of each rank begins: by cohort, so that no
  // two workers write to one cache line. When the result is the same for all,
  // it is shared: who arrives last computes it. Contributions are by rank, of
  // either slot.
  std::vector<uint64_t> at;
  uint64_t slot_bytes = 0, result_bytes = 0;
  char* data = nullptr;

  // Once the memory is there.
  void SetMemory(char* memory);
  char* result(uint64_t firing) const {
    return AddressAt(data, 2 * slot_bytes + (firing & 1) * result_bytes);
  }
  char* contribution(uint64_t firing, uint32_t rank) const {
    return AddressAt(data, (firing & 1) * slot_bytes + at[rank]);
  }
  int64_t num_own() const;  // members that are here
};

// Finds the slots that members of an in-place group have at `firing`; then does
// the share of the device with number `local`.
void BeginInPlace(const HostGroup& group, uint64_t firing);
void CombineShare(const CollectiveShape& shape, const HostGroup& group,
                  uint32_t local, uint64_t firing);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_COLLECTIVE_GROUP_H_
