//===- discovery.h - What this machine has ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only user of hwloc. "May use" means the process's CPU affinity when the
// first of these functions is called. All functions are thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TOPOLOGY_DISCOVERY_H_
#define RUNTIME_TOPOLOGY_DISCOVERY_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/proto/cluster.pb.h"

namespace pathways {

// One island of one host, with a device per physical core that this process may
// use. Devices share half of the memory evenly, the host's own store is bounded
// by a quarter. Targets are empty: the machine itself. Unavailable: the machine
// cannot be read.
absl::StatusOr<proto::Cluster> DiscoverCluster();

// Physical cores, and hardware threads, that this process may use; at least 1.
int NumPhysicalCores();
int NumProcessingUnits();

// Binds the calling thread to the core with number `core`, in the machine's
// logical order, modulo NumPhysicalCores(). InvalidArgument: negative.
// Unavailable: the system refuses; the thread stays where it was, and may
// go on unbound.
absl::Status BindThisThreadToCore(int core);

// While it is there, the processes that the calling thread starts may use a
// part of the cores that this one may use: number `part` of `parts` that are
// about equal, and follow each other in the machine's logical order. Of fewer
// cores than parts, several have the same one. Where the system refuses, all.
class ShareOfCores {
 public:
  ShareOfCores(int part, int parts);
  ~ShareOfCores();
  ShareOfCores(const ShareOfCores&) = delete;
  ShareOfCores& operator=(const ShareOfCores&) = delete;

 private:
  struct Binding;
  std::unique_ptr<Binding>
      before_;  // of the thread; null: it is not bound here
};

}  // namespace pathways

#endif  // RUNTIME_TOPOLOGY_DISCOVERY_H_
