//===- discovery.cc - Discovery of this machine by hwloc ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/topology/discovery.h"

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/proto/cluster.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {
namespace {

// The machine, read once. hwloc allows concurrent queries of a loaded topology.
class Machine {
 public:
  static const Machine& Get() {
    // The object is never destroyed: threads may bind themselves until the end.
    static const Machine* const machine = new Machine();
    return *machine;
  }

  bool loaded() const { return loaded_; }
  hwloc_topology_t topology() const { return topology_; }
  // Returns the hardware threads of each core that this process may use.
  const std::vector<hwloc_cpuset_t>& cores() const { return cores_; }
  int processing_units() const { return processing_units_; }
  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  Machine() {
    if (hwloc_topology_init(&topology_) != 0) return;
    if (hwloc_topology_load(topology_) != 0) return;
    hwloc_cpuset_t allowed = hwloc_bitmap_alloc();
    if (allowed == nullptr) return;
    // The process may be bound to fewer processors than the machine allows.
    if (hwloc_get_cpubind(topology_, allowed, HWLOC_CPUBIND_PROCESS) != 0 ||
        hwloc_bitmap_iszero(allowed)) {
      hwloc_bitmap_copy(allowed, hwloc_topology_get_allowed_cpuset(topology_));
    }
    // If the machine reports no cores, its hardware threads count as cores.
    AddAll(HWLOC_OBJ_CORE, allowed);
    if (cores_.empty()) AddAll(HWLOC_OBJ_PU, allowed);
    hwloc_bitmap_free(allowed);
    memory_bytes_ = hwloc_get_root_obj(topology_)->total_memory;
    uint64_t limit = 0;
    std::ifstream cgroup("/sys/fs/cgroup/memory.max");  // "max" or a number
    if (cgroup >> limit && limit > 0) {
      memory_bytes_ =
          memory_bytes_ == 0 ? limit : std::min(memory_bytes_, limit);
    }
    loaded_ = !cores_.empty();
  }

  void AddAll(hwloc_obj_type_t type, hwloc_const_cpuset_t allowed) {
    for (hwloc_obj_t core =
             hwloc_get_next_obj_by_type(topology_, type, nullptr);
         core != nullptr;
         core = hwloc_get_next_obj_by_type(topology_, type, core)) {
      hwloc_cpuset_t usable = hwloc_bitmap_alloc();
      if (usable == nullptr) return;
      hwloc_bitmap_and(usable, core->cpuset, allowed);
      if (hwloc_bitmap_iszero(usable)) {
        hwloc_bitmap_free(usable);
        continue;
      }
      processing_units_ += hwloc_bitmap_weight(usable);
      cores_.push_back(usable);
    }
  }

  hwloc_topology_t topology_ = nullptr;
  std::vector<hwloc_cpuset_t> cores_;
  int processing_units_ = 0;
  uint64_t memory_bytes_ = 0;
  bool loaded_ = false;
};

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Returns a share of the memory in whole MiB and within the limits, or 0, which
// stands for the default, if the size of the memory is unknown.
uint64_t Share(uint64_t bytes, uint64_t parts) {
  return std::min(bytes / parts / kMiB * kMiB, kMaxMemoryBytes);
}

}  // namespace

absl::StatusOr<proto::Cluster> DiscoverCluster() {
  const Machine& machine = Machine::Get();
  if (!machine.loaded()) {
    return absl::UnavailableError(
        "hwloc cannot read this machine; describe it by a topology such as "
        "1x1x4");
  }
  proto::Cluster cluster;
  proto::Host* host = cluster.add_islands()->add_hosts();
  host->set_memory_bytes(Share(machine.memory_bytes(), 4));
  int64_t cores = std::min<int64_t>(
      static_cast<int64_t>(machine.cores().size()), kMaxDevices);
  uint64_t memory = Share(machine.memory_bytes(), 2 * cores);
  for (int64_t i = 0; i < cores; ++i) {
    host->add_devices()->set_memory_bytes(memory);
  }
  return cluster;
}

int NumPhysicalCores() {
  return std::max(1, static_cast<int>(Machine::Get().cores().size()));
}

int NumProcessingUnits() {
  return std::max(1, Machine::Get().processing_units());
}

absl::Status BindThisThreadToCore(int core) {
  if (core < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("core number is ", core, ", expected at least 0"));
  }
  const Machine& machine = Machine::Get();
  if (!machine.loaded()) {
    return absl::UnavailableError("hwloc cannot read this machine");
  }
  size_t index = static_cast<size_t>(core) % machine.cores().size();
  if (hwloc_set_cpubind(machine.topology(), machine.cores()[index],
                        HWLOC_CPUBIND_THREAD) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot bind the thread to core ", index, " of ",
                     machine.cores().size(), ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

struct ShareOfCores::Binding {
  Binding() : cores(hwloc_bitmap_alloc()) {}
  ~Binding() { hwloc_bitmap_free(cores); }
  bool Read() {
    return cores != nullptr &&
           hwloc_get_cpubind(Machine::Get().topology(), cores,
                             HWLOC_CPUBIND_THREAD) == 0;
  }
  bool Apply() const {
    return hwloc_set_cpubind(Machine::Get().topology(), cores,
                             HWLOC_CPUBIND_THREAD) == 0;
  }

  const hwloc_bitmap_t cores;
};

ShareOfCores::ShareOfCores(int part, int parts) {
  const Machine& machine = Machine::Get();
  Binding share;
  auto before = std::make_unique<Binding>();
  if (!machine.loaded() || share.cores == nullptr || !before->Read()) return;
  const auto cores = static_cast<int64_t>(machine.cores().size());
  const int64_t first = part * cores / parts;
  const int64_t end = std::max(first + 1, (part + int64_t{1}) * cores / parts);
  for (int64_t i = first; i < end; ++i) {
    hwloc_bitmap_or(share.cores, share.cores, machine.cores()[i]);
  }
  if (share.Apply()) before_ = std::move(before);
}

ShareOfCores::~ShareOfCores() {
  if (before_ != nullptr) before_->Apply();
}

}  // namespace pathways
