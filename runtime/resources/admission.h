//===- admission.h - Who holds the memory of the devices --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Admission is atomic over all devices of a plan, by its static peak, which it
// holds while it is loaded, and over its hosts, as far as it is known what it
// needs there.
//
//===----------------------------------------------------------------------===//

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
  // Both outlive it. `arrays`, which are on hosts; null: there are none.
  explicit Admission(const Topology& topology,
                     const ObjectTable* arrays = nullptr,
                     const SpillOptions& spill = {});

  // Holds what `plan` needs for a client under the number `holder`, and of
  // hosts what `on_hosts` says, by host, or nothing. ResourceExhausted says how
  // much is needed, where, for what, and who holds the rest. With a slice it
  // takes of that instead; FailedPrecondition: the client has no such slice, or
  // that has too little left.
  absl::Status Admit(uint64_t holder, const PreparedPlan& plan, uint32_t number,
                     const std::string& client, uint64_t slice = 0,
                     const std::map<int32_t, uint64_t>& on_hosts = {});
  // What it needs on each device of the cluster, whoever holds it now.
  static DeviceBytes NeedOf(const PreparedPlan& plan);
  // The place of a host's own memory.
  int64_t MemoryPoolOf(int32_t host) const {
    return topology_.num_devices() + host;
  }
  // Likewise with its spill folder, where it has one: programs are in memory,
  // arrays in either, as nobody uses most of them most of the time. So of such
  // a host programs need both places, and arrays are in this one.
  int64_t SpillPoolOf(int32_t host) const {
    return MemoryPoolOf(host) + topology_.num_hosts();
  }
  // What a program needs of a host, by place.
  void AddNeedOf(int32_t host, uint64_t bytes, DeviceBytes* need) const;
  std::string NameOf(int64_t place) const;
  // What the place has, and has free.
  uint64_t BoundOf(int64_t place) const;
  uint64_t FreeAt(int64_t place) const;
  HostMemory& host_memory() { return hosts_; }
  void Release(uint64_t holder);
  // Gives back what it holds on devices of other hosts than these.
  void ReleaseExcept(uint64_t holder, const WaitSet& hosts);

  // A device of the cluster takes no work any more: what would need it is
  // refused with FailedPrecondition, which says why.
  void Lose(int64_t device, const std::string& why) {
    lost_.emplace(device, why);
    ++versions_[device];
    ++away_version_;
  }
  // A host is gone, in this life: nothing is held there any more, and what
  // would need it is refused with Unavailable.
  void HostGone(int32_t host, uint32_t epoch);
  // It lives again, and its devices are whole.
  void HostUp(int32_t host);
  // What would need a device of the cluster is refused with Unavailable, until
  // it is not drained any more.
  void Drain(int64_t device, bool drained);
  // Those that what is loaded now cannot be on: lost, drained, of a host that
  // is gone; ascending.
  std::vector<int64_t> AwayDevices() const;
  // Why a device is one of those: "drained", "gone (life 2)", "lost: ...";
  // empty: it is not.
  std::string WhyAway(int64_t device) const;
  // OK, or why a need cannot be met now, whoever gives up what: Unavailable, or
  // as of Lose.
  absl::Status CheckDevices(const DeviceBytes& need,
                            const std::string& program) const;
  // Whether it is on one of the devices, which are marked, and of hosts that
  // are not gone.
  bool IsOnAny(uint64_t holder, const std::vector<bool>& devices) const;
  // Slices (admission_slices.cc): memory of devices that a client holds ahead
  // of its programs.
  struct SliceTerms {
    uint64_t id = 0;  // of a holder
    std::string what;
    const DeviceDemand* demand = nullptr;
  };
  // Takes devices for all of them, or for none: of those that are least loaded,
  // that is, have fewest programs, whose device time is least by what `time_of`
  // says of a holder, and have least bytes taken. ResourceExhausted: not now.
  absl::StatusOr<std::vector<ChosenDevices>> Reserve(
      uint32_t number, const std::string& client,
      absl::Span<const SliceTerms> slices,
      absl::FunctionRef<int64_t(uint64_t holder)> time_of);
  // The client has it no more. Programs that are there stay, as if they had
  // been loaded without one.
  void GiveBack(uint32_t number, uint64_t slice);
  void GiveBackAll(uint32_t number);
  // The slice of the client that has room for a need which does not fit beside
  // it, less what of its slices is `promised`, to which the need is added. 0:
  // there is none, or it fits.
  uint64_t OwnSlice(uint32_t number, const DeviceBytes& need,
                    std::map<uint64_t, DeviceBytes>* promised) const;
  // Of a slice of that client. FailedPrecondition: it has no such slice.
  absl::StatusOr<std::set<int>> IslandsOf(uint32_t number,
                                          uint64_t slice) const;
  // All that are held, in order, and what of them programs have.
  struct HeldSlice {
    std::string what;
    uint32_t client = 0;
    uint64_t devices = 0, bytes = 0, lent = 0;
  };
  std::vector<HeldSlice> Slices() const;
  // Devices that a demand may be given, and the least that it needs of each.
  DeviceBytes Reach(const DeviceDemand& demand) const;
  // As FindStuck asks.
  bool WouldFit(const DeviceBytes& taken,
                absl::Span<const MemoryWish* const> wishes) const;
  const DeviceClasses& classes() const { return classes_; }
  // Another number when other devices are away than before.
  uint64_t away_version() const { return away_version_; }

  // What each client holds, and what of a need is held there now, by whom.
  std::map<uint32_t, DeviceBytes> HeldByClients() const;
  struct Held {
    uint32_t client = 0;
    std::string what;
    int64_t place = 0;   // the first such
    uint64_t bytes = 0;  // there
  };
  std::vector<Held> HoldersOf(const DeviceBytes& need) const;
  bool HoldsAny(uint32_t client) const;
  std::set<uint32_t> ClientsThatHold() const;
  // That a client holds on all devices together.
  uint64_t BytesOfClient(uint32_t client) const;
  // Another number when anything has changed on the places of a need.
  uint64_t VersionOf(const DeviceBytes& need) const;
  // What it holds on all devices together.
  uint64_t BytesOf(uint64_t holder) const;
  // Whether it has something on the device.
  bool Uses(uint64_t holder, int64_t device) const;

 private:
  void SetUsed(int64_t device, uint64_t bytes) {
    used_[device] = bytes;
    ++versions_[device];
  }

  struct Holder {
    std::string what, client;
    uint32_t number = 0;  // of the client
    DeviceBytes bytes;    // of devices
    uint64_t slice = 0;   // of which that is; 0: of none
    bool is_slice = false;
    DeviceBytes lent = {};  // of a slice, to programs
  };
  int32_t HostOf(int64_t place) const;
  bool IsRest(int64_t place) const {
    return place >= topology_.num_devices() + topology_.num_hosts();
  }
  int64_t ArrayPoolOf(int32_t host) const {
    return hosts_.spill(host) > 0 ? SpillPoolOf(host) : MemoryPoolOf(host);
  }
  // Whether an island has as many devices that could be meant. What does not
  // pass this fits nowhere; it is cheaper than to choose.
  bool MayFit(const DeviceDemand& demand, const IslandNeed& need) const;
  DeviceRoom RoomBeside(const DeviceBytes& taken) const;
  absl::Status LendOf(uint64_t slice, const Holder& holder);
  // A holder has no more of a device than that.
  void Shrink(Holder* holder, int64_t device, uint64_t bytes);
  const Topology& topology_;
  const ObjectTable* const arrays_;
  const DeviceClasses classes_;
  HostMemory hosts_;
  std::vector<uint64_t> bounds_, used_, versions_;  // by device of the cluster
  uint64_t away_version_ = 0;
  std::map<uint64_t, Holder> holders_;
  std::map<int64_t, std::string> lost_;  // and why, by device of the cluster
  std::set<int64_t> drained_;
  std::map<int32_t, uint32_t> gone_;  // and in which life, by host
};

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_ADMISSION_H_
