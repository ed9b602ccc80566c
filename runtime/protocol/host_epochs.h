//===- host_epochs.h - Which hosts live, and in which life ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_HOST_EPOCHS_H_
#define RUNTIME_PROTOCOL_HOST_EPOCHS_H_

#include <cstdint>
#include <vector>

#include "runtime/protocol/directory.h"

namespace pathways {

// What the controller knows of the lives of hosts: the one that each is in, or
// was in when it went. Invariants: (1) the life of a host never falls; (2) one
// that is over does not begin again. A host that is asked about is one of the
// directory's. One owner calls it.
class HostEpochs {
 public:
  explicit HostEpochs(const Directory& directory) {
    for (uint32_t h = 0; h < directory.num_hosts(); ++h) {
      hosts_.push_back({directory.place(static_cast<int32_t>(h)).epoch});
    }
  }

  bool Has(int32_t host) const {
    return host >= 0 && static_cast<size_t>(host) < hosts_.size();
  }
  uint32_t epoch(int32_t host) const { return hosts_[host].epoch; }
  // Returns how often the host was replaced, as messages count it.
  uint32_t restarts(int32_t host) const { return hosts_[host].epoch - 1; }
  bool IsGone(int32_t host) const { return hosts_[host].gone; }
  // True if the host is there and was replaced exactly `restarts` times.
  bool IsNow(int32_t host, uint32_t restarts) const {
    return !IsGone(host) && restarts == this->restarts(host);
  }
  // A host is gone in this life, or before it. False: that was known, or a
  // newer one began.
  bool Down(int32_t host, uint32_t epoch) {
    if (IsGone(host) || epoch < hosts_[host].epoch) return false;
    hosts_[host].gone = true;
    return true;
  }
  // A host that is gone lives again. False: it lives, or that life is over.
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
