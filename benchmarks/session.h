//===- session.h - A cluster with one client --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BENCHMARKS_SESSION_H
#define BENCHMARKS_SESSION_H

#include <memory>
#include <string>

#include "benchmarks/bench.h"
#include "runtime/cluster/cluster.h"
#include "runtime/topology/topology.h"

namespace pathways::bench {

// A cluster and its one client: `*` and `->` give the client. Ends the program
// if they cannot be made.
class Session {
 public:
  Session(const std::string& topology, const ClusterOptions& options)
      : cluster_(Must(Cluster::Create(Must(ReadTopology(topology)), options))),
        client_(Must(cluster_->Connect("bench"))) {}

  Client& operator*() { return *client_; }
  Client* operator->() { return client_.get(); }

 private:
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;  // destroyed first
};

}  // namespace pathways::bench

#endif  // BENCHMARKS_SESSION_H
