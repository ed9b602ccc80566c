//===- directory.h - Numbers of all actors ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_DIRECTORY_H_
#define RUNTIME_PROTOCOL_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/protocol/address.h"

namespace pathways {

// Process of a host, which never changes, and the host's epoch when the
// directory is created. HostEpochs tracks later epochs.
struct HostLocation {
  uint32_t process = 0;
  uint32_t epoch = 1;
};

// Clients have numbers below this.
inline constexpr uint32_t kMaxClients = 1 << 20;

// Numbers of the actors of a cluster: the controller's is 0, then follow the
// schedulers by island, the executors by host, the reporters by process, and
// the clients. A value: directories of the same cluster are equal in every
// process. Any thread may read it.
class Directory {
 public:
  Directory() = default;
  // `first_hosts`: for each island in ascending order, its first host, which
  // runs its scheduler. `hosts`: by host. `controller`: place of the
  // controller, which is on no host.
  Directory(std::vector<int32_t> first_hosts, std::vector<HostLocation> hosts,
            HostLocation controller = {});

  uint32_t num_islands() const { return num_islands_; }
  uint32_t num_hosts() const { return static_cast<uint32_t>(hosts_.size()); }

  ActorId controller() const { return 0; }
  ActorId scheduler(uint32_t island) const { return 1 + island; }
  ActorId executor(uint32_t host) const { return 1 + num_islands_ + host; }
  ActorId reporter(uint32_t process) const {
    return 1 + num_islands_ + num_hosts() + process;
  }
  ActorId client(uint32_t index) const {
    return 1 + num_islands_ + num_hosts() + num_processes_ + index;
  }
  // Processes that have hosts or the controller, ascending.
  const std::vector<uint32_t>& processes() const { return processes_; }

  // Returns the actor with this number, or nullopt if there is none. The epoch
  // is 0 for clients and reporters.
  std::optional<Address> Find(ActorId id) const;
  // Returns the host of an executor, or -1 if the number is not one of an
  // executor.
  int32_t HostOfExecutor(ActorId id) const {
    const uint32_t host = id - 1 - num_islands_;  // wraps to a large number
    return host < num_hosts() ? static_cast<int32_t>(host) : -1;
  }
  // Returns the island of an existing host.
  uint32_t IslandOf(uint32_t host) const;
  // Returns the index of a client, or -1 if the number is not one of a client.
  int64_t ClientOf(ActorId id) const {
    const uint32_t index = id - client(0);  // wraps to a large number
    return id != kNoActor && index < kMaxClients ? int64_t{index} : -1;
  }
  // Returns the place of a host, or of the controller if `host` is -1.
  const HostLocation& place(int32_t host) const {
    return host < 0 ? controller_ : hosts_[host];
  }

 private:
  uint32_t num_islands_ = 0, num_processes_ = 0;
  std::vector<uint32_t> processes_;
  std::vector<int32_t> first_hosts_;
  std::vector<HostLocation> hosts_;
  HostLocation controller_;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_DIRECTORY_H_
