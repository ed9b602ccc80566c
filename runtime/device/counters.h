//===- counters.h - Counters that others may read ---------------*- C++ -*-===//
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
  Counter gangs, kernels, firings;  // first, as each gang updates them
  Counter skipped;                  // firings whose guard said no
  // Bytes copied by feeds, by fetches, and by sends to buffers or staging.
  Counter fed_bytes, fetched_bytes, moved_bytes;
  Counter sent[kNumMessageKinds];
};

// Times of a traced device in ns. Complete, even if its trace has no room for
// all events.
struct DeviceTimes {
  Counter gangs, moves;
  Counter heads;  // the head of the queue waited for tokens
  Counter meets;  // part of `gangs`: waited for other members
  // Begin of the first gang, end of the last one of the same firing, and end of
  // the last one of all, by the process's clock.
  Counter first_begin, first_end, last_end;
  uint64_t busy() const {
    const uint64_t all = gangs.get() + moves.get(), waited = meets.get();
    // A gang that has not ended may already have waited for others.
    return all > waited ? all - waited : 0;
  }
  uint64_t waiting() const { return heads.get() + meets.get(); }
};

struct HostCounters {
  Counter sent[kNumMessageKinds];
  Counter messages, bytes, duplicates, stale;
  Counter foreign;  // messages that the sender may not send; dropped
  Counter own_shards, entries, queue_entries, in_edges;  // currently loaded
  Counter stored_bytes;   // bytes of values that transfers wrote into objects
  Counter placed_bytes;   // bytes of pieces copied to their destination
  Counter program_bytes;  // bytes of host memory held by loaded programs
  Counter spilled_bytes;  // bytes of arrays that are in files
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_COUNTERS_H_
