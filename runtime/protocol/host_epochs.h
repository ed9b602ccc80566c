//===- host_epochs.h - Live hosts and their epochs --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_HOST_EPOCHS_H_
#define RUNTIME_PROTOCOL_HOST_EPOCHS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/protocol/directory.h"

namespace pathways {

// The controller's view of hosts: the epoch of each, and whether it is down.
// Invariants: (1) the epoch of a host never decreases; (2) an epoch that has
// ended does not begin again. Except for Has, `host` must be one of the
// directory's. One owner calls it.
class HostEpochs {
 public:
  explicit HostEpochs(const Directory& directory) {
    for (uint32_t h = 0; h < directory.num_hosts(); ++h) {
      hosts_.push_back({directory.place(static_cast<int32_t>(h)).epoch});
    }
  }

  size_t size() const { return hosts_.size(); }
  bool Has(int32_t host) const {
    return host >= 0 && static_cast<size_t>(host) < hosts_.size();
  }
  uint32_t epoch(int32_t host) const { return hosts_[host].epoch; }
  // Returns how often the host was replaced, which is how messages count it.
  uint32_t restarts(int32_t host) const { return hosts_[host].epoch - 1; }
  bool IsGone(int32_t host) const { return hosts_[host].gone; }
  // Returns true if the host is up and was replaced exactly `restarts` times.
  bool IsNow(int32_t host, uint32_t restarts) const {
    return !IsGone(host) && restarts == this->restarts(host);
  }
  // Records that a host went down in `epoch`. Returns false if it is known to
  // be down or a newer epoch has begun.
  bool Down(int32_t host, uint32_t epoch) {
    if (IsGone(host) || epoch < hosts_[host].epoch) return false;
    hosts_[host].gone = true;
    return true;
  }
  // Records that a host is up again in `epoch`. Returns false if the host is up
  // or that epoch has ended.
  bool Up(int32_t host, uint32_t epoch) {
    if (!IsGone(host) || epoch <= hosts_[host].epoch) return false;
    hosts_[host] = {epoch};
    return true;
  }

 private:
  struct Host {
    uint32_t epoch = 1;
    bool gone = false;
  };
  std::vector<Host> hosts_;
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_HOST_EPOCHS_H_
