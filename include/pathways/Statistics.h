//===- Statistics.h - Counts of a cluster -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_STATISTICS_H
#define PATHWAYS_STATISTICS_H

#include <cstdint>
#include <string>
#include <vector>

namespace pathways {

/// Counts of a cluster so far, over all sessions.
struct Statistics {
  struct Device {
    std::string name;
    uint64_t used_bytes = 0, peak_bytes = 0; ///< memory of programs
    uint64_t kernels_run = 0, gangs_run = 0;
    /// Bytes of arguments, of results, and of movements between devices.
    uint64_t fed_bytes = 0, fetched_bytes = 0, moved_bytes = 0;
    /// Only if the cluster is traced: time of work, and time in which the head
    /// of the queue waited for others.
    int64_t busy_ns = 0, waiting_ns = 0;
  };
  struct Host {
    std::string name;
    uint64_t messages_sent = 0, bytes_sent = 0; ///< to other hosts
    uint64_t memory_used_bytes = 0;
    uint64_t array_bytes = 0;   ///< arrays and results
    uint64_t spilled_bytes = 0; ///< arrays that are in files now
  };
  std::vector<Device> devices;
  std::vector<Host> hosts;
  uint64_t programs = 0;   ///< loaded
  uint64_t steps_done = 0; ///< of launches that ended
  uint64_t firings = 0;    ///< of shards of actions
  /// Bytes of arrays and results on hosts and in this session.
  uint64_t array_bytes = 0;
  /// Bytes that sessions copied from values with gaps, and into fetched ones.
  uint64_t gathered_bytes = 0, received_bytes = 0;
  uint64_t controller_messages = 0;
  uint64_t plan_bytes_sent = 0; ///< to other processes
  uint64_t events = 0;          ///< of a simulation
  int64_t now_ns = 0;           ///< time of the cluster
};

} // namespace pathways

#endif // PATHWAYS_STATISTICS_H
