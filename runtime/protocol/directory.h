//===- directory.h - Who has which number -----------------------*- C++ -*-===//
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

// In which process a host is, for all its lives, and which of them it is in
// when the directory is made. Who is to know of later ones has HostEpochs.
struct HostLocation {
  uint32_t process = 0;
  uint32_t epoch = 1;
};

// Clients have numbers below this.
inline constexpr uint32_t kMaxClients = 1 << 20;

// Numbers of the actors of a cluster: the controller's is 0, then come the
// schedulers by island, the executors by host, the reporters by process, and
// the clients. A value: it says the same wherever it was made of the same
// cluster. Any thread.
class Directory {
 public:
  Directory() = default;
  // `first_hosts`: by island, ascending, the first of its hosts, which its
  // scheduler is on. `hosts`: by host. `controller` is where the controller is,
  // which is on no host.
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
  // Those that have hosts or the controller, ascending.
  const std::vector<uint32_t>& processes() const { return processes_; }

  // Whose number this is; a client's epoch is not known here. Null: nobody's.
  std::optional<Address> Find(ActorId id) const;
  // The host of an executor; -1: the number is not one of an executor.
  int32_t HostOfExecutor(ActorId id) const {
    const uint32_t host = id - 1 - num_islands_;  // wraps to a large number
    return host < num_hosts() ? static_cast<int32_t>(host) : -1;
  }
  // The island of a host that there is.
  uint32_t IslandOf(uint32_t host) const;
  // The index of a client; -1: the number is not one of a client.
  int64_t ClientOf(ActorId id) const {
    const uint32_t index = id - client(0);  // wraps to a large number
    return id != kNoActor && index < kMaxClients ? int64_t{index} : -1;
  }
  // Of a host; -1: the controller's place.
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
