//===- discovery.h - Discovery of this machine ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only user of hwloc. "May use" refers to the process's CPU affinity when
// the first of these functions is called. All functions are thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TOPOLOGY_DISCOVERY_H_
#define RUNTIME_TOPOLOGY_DISCOVERY_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/proto/cluster.pb.h"

namespace pathways {

// Returns one island of one host, with a device per physical core that this
// process may use. Devices share half of the memory evenly; the host's own
// store is bounded by a quarter. Targets are empty, which means this machine.
// Returns Unavailable if the machine cannot be read.
absl::StatusOr<proto::Cluster> DiscoverCluster();

// Return the number of physical cores, and of hardware threads, that this
// process may use; at least 1.
int NumPhysicalCores();
int NumProcessingUnits();

// Binds the calling thread to core `core`, in the machine's logical order,
// modulo NumPhysicalCores(). Returns InvalidArgument if `core` is negative, and
// Unavailable if the system refuses; the thread then stays as it was, and may
// continue unbound.
absl::Status BindThisThreadToCore(int core);

// While the object exists, processes that the calling thread starts may use
// only a share of the cores that this process may use: share `part` of `parts`
// shares of about equal size, which are contiguous in the machine's logical
// order. If there are fewer cores than parts, several parts share a core. If
// the system refuses, there is no restriction.
class ShareOfCores {
 public:
  ShareOfCores(int part, int parts);
  ~ShareOfCores();
  ShareOfCores(const ShareOfCores&) = delete;
  ShareOfCores& operator=(const ShareOfCores&) = delete;

 private:
  struct Binding;
  std::unique_ptr<Binding>
      before_;  // the thread's binding before; null if it was not changed
};

}  // namespace pathways

#endif  // RUNTIME_TOPOLOGY_DISCOVERY_H_
