//===- admission.h - Memory of devices, and its holders ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Admission is atomic over all devices of a plan: a loaded program holds its
// static peak on each of them. It also holds memory of its hosts, as far as
// they have reported what it needs there.

#ifndef RUNTIME_RESOURCES_ADMISSION_H_
#define RUNTIME_RESOURCES_ADMISSION_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/resources/admission_graph.h"
#include "runtime/resources/device_choice.h"
#include "runtime/resources/host_memory.h"
#include "runtime/resources/object_table.h"
#include "runtime/topology/topology.h"

namespace pathways {

class Admission {
 public:
  // `topology` and `arrays` must outlive the object. `arrays`: the arrays on
  // hosts, or null if there are none.
  explicit Admission(const Topology& topology,
                     const ObjectTable* arrays = nullptr,
                     const SpillOptions& spill = {});

  // Takes what `plan` needs on devices for the holder with the number `holder`,
  // on behalf of client `number`, and takes `on_hosts`, bytes by host, which
  // may be empty. If `slice` is not 0, takes the devices' part from that slice.
  // Returns ResourceExhausted if a pool has too little; the message names the
  // amount, the pool, the program and the other holders. Returns
  // FailedPrecondition if the client has no such slice, or the slice has too
  // little left.
  absl::Status Admit(uint64_t holder, const PreparedPlan& plan, uint32_t number,
                     const std::string& client, uint64_t slice = 0,
                     const std::map<int32_t, uint64_t>& on_hosts = {});
  // Returns what the plan needs on each device of the cluster, whoever holds it
  // now.
  static DeviceBytes NeedOf(const PreparedPlan& plan);
  // Returns the pool of a host's own memory.
  int64_t MemoryPoolOf(int32_t host) const {
    return topology_.num_devices() + host;
  }
  // Returns the pool of a host's memory and its spill folder together, if it
  // has a folder. Programs are always in memory, but arrays may be in either,
  // since most are unused most of the time. So on such a host a program counts
  // in both pools, and an array in this one only.
  int64_t SpillPoolOf(int32_t host) const {
    return MemoryPoolOf(host) + topology_.num_hosts();
  }
  // Adds `bytes` that a program needs on a host to each pool of that host.
  void AddNeedOf(int32_t host, uint64_t bytes, DeviceBytes* need) const;
  std::string NameOf(int64_t place) const;
  // Return the size of a pool, and its free bytes.
  uint64_t BoundOf(int64_t place) const;
  uint64_t FreeAt(int64_t place) const;
  HostMemory& host_memory() { return hosts_; }
  void Release(uint64_t holder);
  // Releases what the holder has on devices of hosts other than `hosts`.
  void ReleaseExcept(uint64_t holder, const WaitSet& hosts);

  // Marks a device of the cluster as lost: it takes no work any more. Programs
  // that need it are refused with FailedPrecondition and the reason `why`.
  void Lose(int64_t device, const std::string& why) {
    lost_.emplace(device, why);
    ++versions_[device];
    ++away_version_;
  }
  // Records that a host is gone, in this epoch. Nothing is held on its devices
  // any more, and programs that need it are refused with Unavailable.
  void HostGone(int32_t host, uint32_t epoch);
  // Records that the host is up again, with all its devices.
  void HostUp(int32_t host);
  // Starts or ends the drain of a device. Programs that need a drained device
  // are refused with Unavailable.
  void Drain(int64_t device, bool drained);
  // Returns the devices that accept no programs now: lost, drained, or of a
  // host that is gone; ascending.
  std::vector<int64_t> AwayDevices() const;
  // Returns why a device is away: "drained", "gone (epoch 2)" or "lost: ...";
  // empty if it is not away.
  std::string WhyAway(int64_t device) const;
  // Returns OK, or why the need cannot be met now even if all others released
  // their memory: Unavailable, or FailedPrecondition as for Lose.
  absl::Status CheckDevices(const DeviceBytes& need,
                            const std::string& program) const;
  // Returns true if the holder is on one of the marked devices whose host is
  // not gone.
  bool IsOnAny(uint64_t holder, const std::vector<bool>& devices) const;
  // Slices (admission_slices.cc): memory of devices that a client holds before
  // it has programs for them.
  struct SliceTerms {
    uint64_t id = 0;  // number of the future holder
    std::string what;
    const DeviceDemand* demand = nullptr;
  };
  // Takes devices for all slices, or for none. Prefers the least loaded
  // devices: those with the fewest programs, then those whose programs have the
  // least device time (`time_of` a holder), then those with the fewest bytes
  // taken. Returns ResourceExhausted if there are none now.
  absl::StatusOr<std::vector<ChosenDevices>> Reserve(
      uint32_t number, const std::string& client,
      absl::Span<const SliceTerms> slices,
      absl::FunctionRef<int64_t(uint64_t holder)> time_of);
  // Gives the client's slice back. Programs on it stay, as if they had been
  // loaded without it.
  void GiveBack(uint32_t number, uint64_t slice);
  void GiveBackAll(uint32_t number);
  // Returns the client's first slice that has room for `need` beside what is
  // already `promised` of it, and adds the need to `promised`. Returns 0 if
  // there is none, or if the need fits without a slice.
  uint64_t OwnSlice(uint32_t number, const DeviceBytes& need,
                    std::map<uint64_t, DeviceBytes>* promised) const;
  // Returns the islands of the client's slice. Returns FailedPrecondition if it
  // has no such slice.
  absl::StatusOr<std::set<int>> IslandsOf(uint32_t number,
                                          uint64_t slice) const;
  // A held slice. `lent`: bytes of it that programs hold.
  struct HeldSlice {
    std::string what;
    uint32_t client = 0;
    uint64_t devices = 0, bytes = 0, lent = 0;
  };
  std::vector<HeldSlice> Slices() const;
  // Returns the devices that a demand may be given, with the smallest number of
  // bytes that it needs of each.
  DeviceBytes Reach(const DeviceDemand& demand) const;
  // Returns true if all wishes fit while `taken` is held, as FindStuck asks.
  bool WouldFit(const DeviceBytes& taken,
                absl::Span<const MemoryWish* const> wishes) const;
  const DeviceClasses& classes() const { return classes_; }
  // A number that changes whenever the set of away devices changes.
  uint64_t away_version() const { return away_version_; }

  // Return the bytes that each client holds, by pool; and who holds memory in
  // those pools of a need that have too little.
  std::map<uint32_t, DeviceBytes> HeldByClients() const;
  struct Held {
    uint32_t client = 0;
    std::string what;
    int64_t place = 0;   // the first pool with too little
    uint64_t bytes = 0;  // in that pool
  };
  std::vector<Held> HoldersOf(const DeviceBytes& need) const;
  bool HoldsAny(uint32_t client) const;
  std::set<uint32_t> ClientsThatHold() const;
  // Returns the bytes that a client holds on all devices together.
  uint64_t BytesOfClient(uint32_t client) const;
  // A number that changes whenever anything changes in the pools of a need.
  uint64_t VersionOf(const DeviceBytes& need) const;
  // Returns the bytes that a holder has on all devices together.
  uint64_t BytesOf(uint64_t holder) const;
  // Returns true if the holder has memory on the device.
  bool Uses(uint64_t holder, int64_t device) const;

 private:
  void SetUsed(int64_t device, uint64_t bytes) {
    used_[device] = bytes;
    ++versions_[device];
  }

  struct Holder {
    std::string what, client;
    uint32_t number = 0;  // of the client
    DeviceBytes bytes;    // on devices
    uint64_t slice = 0;   // the slice that they are taken from; 0: none
    bool is_slice = false;
    DeviceBytes lent = {};  // bytes of a slice that programs hold
  };
  int32_t HostOf(int64_t place) const;
  bool IsRest(int64_t place) const {
    return place >= topology_.num_devices() + topology_.num_hosts();
  }
  int64_t ArrayPoolOf(int32_t host) const {
    return hosts_.spill(host) > 0 ? SpillPoolOf(host) : MemoryPoolOf(host);
  }
  // Returns true if some island has enough free devices for a need, a necessary
  // condition that is cheaper to check than choosing devices.
  bool MayFit(const DeviceDemand& demand, const IslandNeed& need) const;
  DeviceRoom RoomBeside(const DeviceBytes& taken) const;
  absl::Status LendOf(uint64_t slice, const Holder& holder);
  // Reduces a holder's share of a device to `bytes`.
  void Shrink(Holder* holder, int64_t device, uint64_t bytes);
  const Topology& topology_;
  const ObjectTable* const arrays_;
  const DeviceClasses classes_;
  HostMemory hosts_;
  std::vector<uint64_t> bounds_, used_, versions_;  // by device of the cluster
  uint64_t away_version_ = 0;
  std::map<uint64_t, Holder> holders_;
  std::map<int64_t, std::string> lost_;  // reason, by device of the cluster
  std::set<int64_t> drained_;
  std::map<int32_t, uint32_t> gone_;  // epoch, by host
};

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_ADMISSION_H_
