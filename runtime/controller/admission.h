//===- admission.h - Who holds the memory of the devices --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Admission is atomic over all devices of a plan, by its static peak, which it
// holds while it is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_ADMISSION_H_
#define RUNTIME_CONTROLLER_ADMISSION_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/controller/admission_graph.h"
#include "runtime/executor/prepared_plan.h"
#include "runtime/executor/wait_set.h"
#include "runtime/topology/topology.h"

namespace pathways {

class Admission {
 public:
  explicit Admission(const Topology& topology);

  // Holds what `plan` needs for a client under the number `holder`, or nothing.
  // ResourceExhausted says how much is needed, where, for what, and who holds
  // the rest.
  absl::Status Admit(uint64_t holder, const PreparedPlan& plan, uint32_t number,
                     const std::string& client);
  // What it needs on each device of the cluster, whoever holds it now.
  DeviceBytes NeedOf(const PreparedPlan& plan) const;
  // That the device has.
  uint64_t BoundOf(int64_t device) const;
  void Release(uint64_t holder);
  // Gives back what it holds on devices of other hosts than these.
  void ReleaseExcept(uint64_t holder, const WaitSet& hosts);

  // A device of the cluster takes no work any more: what would need it is
  // refused with FailedPrecondition, which says why.
  void Lose(int64_t device, const std::string& why) {
    lost_.emplace(device, why);
    ++versions_[device];
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
  // OK, or why a need cannot be met now, whoever gives up what: Unavailable, or
  // as of Lose.
  absl::Status CheckDevices(const DeviceBytes& need,
                            const std::string& program) const;
  // Whether it is on one of the devices, which are marked, and of hosts that
  // are not gone.
  bool IsOnAny(uint64_t holder, const std::vector<bool>& devices) const;
  // What each client holds, and what of a need is held there now, by whom: with
  // the names of their programs.
  std::map<uint32_t, DeviceBytes> HeldByClients() const;
  struct Held {
    uint32_t client = 0;
    std::string program;
    int64_t device = 0;  // the first such
    uint64_t bytes = 0;  // there
  };
  std::vector<Held> HoldersOf(const DeviceBytes& need) const;
  bool HoldsAny(uint32_t client) const;
  // Another number when anything has changed on the devices of a need.
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
    std::string program, client;
    uint32_t number = 0;  // of the client
    DeviceBytes bytes;
  };
  const Topology& topology_;
  std::vector<uint64_t> used_, versions_;  // by device of the cluster
  std::map<uint64_t, Holder> holders_;
  std::map<int64_t, std::string> lost_;  // and why, by device of the cluster
  std::set<int64_t> drained_;
  std::map<int32_t, uint32_t> gone_;  // and in which life, by host
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_ADMISSION_H_
