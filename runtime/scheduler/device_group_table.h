//===- device_group_table.h - Groups of devices -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SCHEDULER_DEVICE_GROUP_TABLE_H_
#define RUNTIME_SCHEDULER_DEVICE_GROUP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace pathways {

// Divides the devices of a cluster into *groups*: the largest sets of devices
// of one island such that each program uses all of a set or none of it.
// Programs that share a device share its group, and programs that share no
// group do not wait for each other. So the scheduler decides once for a group
// instead of once for each device, and there are about as many groups as
// programs, however many devices there are. Groups are split, never joined. One
// owner calls it.
class DeviceGroupTable {
 public:
  struct Device {
    int32_t island = 0;
    int64_t number = 0;  // number of the device in the cluster
  };
  struct Split {
    uint32_t from = 0, to = 0;  // `to` is new, and was part of `from`
  };

  // Records that a program uses `devices`, each listed once. Appends to
  // `splits`, in order, the groups that this divided. Programs on `from` are on
  // `to` as well.
  void Add(uint32_t program, absl::Span<const Device> devices,
           std::vector<Split>* splits);
  void Remove(uint32_t program) { programs_.erase(program); }

  // Returns the groups of a program, ascending.
  const std::vector<uint32_t>& Of(uint32_t program) const;
  int32_t IslandOf(uint32_t group) const { return groups_[group].island; }
  size_t size() const { return groups_.size(); }

 private:
  struct Group {
    int32_t island = 0;
    int64_t devices = 0;
  };

  std::vector<uint32_t> group_of_;  // group plus 1, by device; 0: no group yet
  std::vector<Group> groups_;
  std::map<uint32_t, std::vector<uint32_t>> programs_;
};

}  // namespace pathways

#endif  // RUNTIME_SCHEDULER_DEVICE_GROUP_TABLE_H_
