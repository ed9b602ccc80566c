//===- counters.h - Numbers an actor keeps and others read ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_COUNTERS_H_
#define RUNTIME_DEVICE_COUNTERS_H_

#include "runtime/base/counter.h"
#include "runtime/program/local_kind.h"

namespace pathways {

struct DeviceCounters {
  Counter gangs, kernels, firings;  // with each gang, so first
  // Copied by feeds, by fetches, and by sends to buffers or staging.
  Counter fed_bytes, fetched_bytes, moved_bytes;
  Counter sent[kNumMessageKinds];
};

// Where the time of a traced device went, in ns: complete, whatever its trace
// has room for.
struct DeviceTimes {
  Counter gangs, moves;
  Counter heads;  // the head of the queue missed tokens
  Counter meets;  // of `gangs`: others were not in the collective yet
  uint64_t busy() const {
    const uint64_t all = gangs.get() + moves.get(), waited = meets.get();
    // A gang that has not ended may have waited for others already.
    return all > waited ? all - waited : 0;
  }
  uint64_t waiting() const { return heads.get() + meets.get(); }
};

struct HostCounters {
  Counter sent[kNumMessageKinds];
  Counter messages, bytes, duplicates, stale;
  Counter foreign;  // from who may not say such a thing; dropped
  Counter own_shards, entries, queue_entries, in_edges;  // loaded now
  Counter stored_bytes;   // of values, written into objects by transfers
  Counter placed_bytes;   // of pieces, copied from where they came
  Counter program_bytes;  // of host memory, held by loaded programs
  Counter spilled_bytes;  // of arrays that are in files
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_COUNTERS_H_
