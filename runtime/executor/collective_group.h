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

#ifndef RUNTIME_EXECUTOR_COLLECTIVE_GROUP_H_
#define RUNTIME_EXECUTOR_COLLECTIVE_GROUP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/executor/collective.h"
#include "runtime/executor/slot_ref.h"

namespace pathways {

// A collective as one device sees it: ranges of its members and groups.
struct CollectiveTable {
  const CollectiveShape* shape = nullptr;
  uint64_t bytes = 0;                         // of one contribution
  uint32_t member_begin = 0, member_end = 0;  // by co-resident shard
  uint32_t group_begin = 0, group_end = 0;    // distinct
};
// A co-resident shard in a collective.
struct CollectiveMember {
  uint32_t group = 0;
  uint32_t rank = 0;
  SlotRef source, result;
  SlotRef contribution;  // in the group's memory
  SlotRef combined;      // there too, if the group has one result for all
  bool has_combined = false;
};
struct GroupMeeting;
// A group of a collective in which the device has members.
struct DeviceGroup {
  uint32_t group = 0;
  uint32_t cohort = 0;  // where the device's is in the meeting
  GroupMeeting* meeting = nullptr;
};

// Where devices of one host meet when a group has no members elsewhere: first
// those of each worker, then the workers. Who arrives last resets the slot,
// then tells the others.
struct GroupMeeting {
  // Per cohort: the devices with members, which all read; how many of them have
  // arrived, which is the cohort's own.
  std::vector<std::vector<uint32_t>> cohorts;
  struct alignas(64) Count {
    uint32_t arrived[2] = {0, 0};
    bool poisoned[2] = {false, false};
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
  bool Arrive(uint32_t cohort, uint64_t firing, bool* poison);
};

// The members of one group of a collective, as one host sees them. Firing n
// uses slot n mod 2: nobody can arrive at n + 2 before all have read n.
struct HostGroup {
  uint32_t action = 0, step = 0;
  std::vector<int32_t> members;  // shards, by rank
  std::vector<uint32_t> place;   // of a rank: by host, then rank
  uint64_t bytes = 0;            // of one contribution
  // Two slots of contributions, then two of results. Of a slot, where that of
  // each rank begins: dense by place; but where devices meet, by cohort, so
  // that no two workers write to one cache line.
  char* data = nullptr;
  std::vector<uint64_t> at;
  uint64_t slot_bytes = 0, result_bytes = 0;
  struct Local {
    uint32_t device = 0;
    uint32_t met = 0;  // in the device's table
    std::vector<uint32_t> ranks;
  };
  std::vector<Local> locals;
  struct Remote {
    int32_t host = 0;
    uint32_t begin = 0, count = 0;  // places
  };
  std::vector<Remote> remotes;
  uint32_t own_begin = 0, own_count = 0;
  uint32_t own_arrived[2] = {0, 0};
  uint32_t arrived[2] = {0, 0};
  bool poisoned[2] = {false, false};
  std::vector<uint8_t> here;  // [slot][place]
  std::unique_ptr<GroupMeeting> meeting;
  // Set when there is a meeting whose result is the same for all: who arrives
  // last computes it.
  bool shared = false;

  // Members elsewhere: the host's executor counts.
  // `device` has arrived at `firing`; whether it is the last of this host.
  bool ArriveOwn(uint32_t device, uint64_t firing, bool poison);
  // The contributions of another host have come, without data when poisoned.
  // False: it has no members.
  bool ReceiveContribution(int host, uint64_t firing, bool poison,
                           const void* payload, uint64_t payload_bytes);
  // Whether all members have arrived at `firing`, poisoned or not. When they
  // have, counts for the firing after the next from then on.
  std::optional<bool> TakeComplete(uint64_t firing);
  bool IsHere(uint64_t firing, uint32_t rank) const {
    return here[(firing & 1) * members.size() + place[rank]] != 0;
  }

  char* result(uint64_t firing) const {
    return data + 2 * slot_bytes + (firing & 1) * result_bytes;
  }
  char* contributions(uint64_t firing) const {
    return data + (firing & 1) * slot_bytes;
  }
  char* contribution(uint64_t firing, uint32_t rank) const {
    return contributions(firing) + at[rank];
  }
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_COLLECTIVE_GROUP_H_
