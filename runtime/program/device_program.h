//===- device_program.h - Tables and counters of one device -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each shard of an action that is bound to a device is an *entry* of that
// device. An entry counts tokens for `window` firings at a time, firing n in
// slot n mod window. The tables are immutable once built. The counters belong
// to the device's actor.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_DEVICE_PROGRAM_H_
#define RUNTIME_PROGRAM_DEVICE_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/line_allocator.h"
#include "runtime/base/ring.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/program/collective_group.h"
#include "runtime/program/entry_ops.h"
#include "runtime/program/gang_tables.h"
#include "runtime/program/host_launch.h"
#include "runtime/program/slot_ref.h"
#include "runtime/store/store.h"
#include "runtime/world/world.h"

namespace pathways {

// An entry: one action on one shard.
struct Entry {
  uint32_t action = 0;
  uint32_t shard = 0;
  // Tokens per firing, including the host's token if the host prepares.
  uint32_t need = 0;
  uint32_t out_begin = 0, out_end = 0;
  // [out_end, poison_end): tokens to entries later in the queue that carry only
  // poison.
  uint32_t poison_end = 0;
  uint32_t op = 0;      // index in the table of its kind
  uint8_t kind = 0;     // proto::ActionKind
  bool queued = false;  // true while in the ready list; always for gangs
  // First firing that has not happened; unused for gangs.
  uint64_t next = 0;
};

// One incoming edge of one entry, with `expected` tokens per firing.
struct InEdge {
  uint32_t entry = 0;
  uint32_t edge = 0;
  uint32_t expected = 0;
};

struct alignas(kLineBytes) DeviceProgram {
  // Fields read for each gang come first. `queue`: gangs of the device's queue,
  // shared with devices that run the same. `memories`: base addresses of the
  // slots in those tables.
  std::shared_ptr<const GangTables> queue;
  char* memories[2] = {nullptr, nullptr};  // by SlotOffset::Memory
  const HostGroup* groups = nullptr;       // groups of the host
  char* scratch = nullptr;
  uint32_t incarnation = 0;
  uint32_t window = 1;
  uint64_t num_poison = 0;  // number of nonzero elements of `poison`
  // Fields read for each token come next.
  //
  LineVector<Entry> entries;
  std::vector<InEdge> in_edges;
  LineVector<uint32_t> counts;  // [slot][entry]: tokens missing
  // [slot][in-edge]: tokens of all firings of the slot; see TokensOf.
  LineVector<uint32_t> arrived;
  LineVector<uint8_t> poison;  // [slot][entry]; see MarkPoison
  std::vector<OutToken> out;
  // Written only by the device's actor while it runs.
  uint64_t granted = 0;  // firings below may happen
  struct Active {
    HostGrant* grant;
    uint64_t remaining;  // firings of entries
  };
  Ring<Active> active;  // grants that are not over on this device
  // Firings of entries; those of gangs are added with the last gang of the
  // queue.
  uint64_t fired = 0;
  // Time that each gang of the last grant took; used if the plan does not know
  // their cost.
  TimeNs gang_ns = 0;

  // Group meetings at which the device has arrived, over all firings; see
  // HasMet. Used for reports.
  std::atomic<uint64_t> meetings{0};
  std::vector<CollectiveMember> members;
  std::vector<DeviceGroup> groups_in;
  std::vector<int32_t> coordinates;  // per slice
  std::vector<uint32_t> shards_in;   // members of groups_in

  const PreparedPlan* plan = nullptr;
  uint32_t program = 0;
  uint32_t device = 0;  // number on the host

  std::vector<std::vector<int32_t>> shards;  // per slice
  std::vector<uint32_t> first_entry;         // per action

  std::vector<uint32_t> move_entries;  // entries that are not gangs
  std::vector<uint32_t> feed_entries;

  std::vector<SendOp> sends;
  std::vector<RecvOp> recvs;
  std::vector<FeedOp> feeds;
  std::vector<FetchOp> fetches;
  std::vector<PieceOut> pieces;
  uint32_t max_operands = 0;
  uint32_t max_shards = 0;

  // Written only by the device's actor while it runs.
  uint32_t events = 0;  // events of the backend that have not come
  // [slot][entry], while tracing: edge of the last token, and its rank among
  // all tokens of the device.
  struct LastToken {
    uint64_t order = 0;
    uint32_t edge = UINT32_MAX;
  };
  std::vector<LastToken> last_tokens;

  Arena::Segment memory;  // freed with the tables

  // Index of a firing of an entry, or of an in-edge, in tables with slots. The
  // elements of one firing are contiguous.
  uint64_t EntryAt(uint32_t entry, uint64_t firing) const {
    return SlotOf(firing, window) * entries.size() + entry;
  }
  uint64_t InEdgeAt(uint32_t in_edge, uint64_t firing) const {
    return SlotOf(firing, window) * in_edges.size() + in_edge;
  }
  void MarkPoison(uint64_t at) {
    num_poison += poison[at] == 0;
    poison[at] = 1;
  }
  void ClearPoison(uint64_t at) {
    num_poison -= poison[at] != 0;
    poison[at] = 0;
  }
  // Index of `shard`, which must be on this device, among the local shards of
  // `slice`.
  uint32_t LocalIndex(uint32_t slice, uint32_t shard) const {
    return static_cast<uint32_t>(plan->bound(slice).index_of[shard]);
  }
  // Returns true if the device has arrived at meeting number `meeting` of a
  // firing. Any thread may call it.
  bool HasMet(uint64_t firing, uint32_t meeting) const {
    return meetings.load(std::memory_order_relaxed) >
           firing * queue->num_meetings + meeting;
  }
  // Returns the tokens of a firing that have come along an in-edge. The firing
  // must not have happened.
  uint32_t TokensOf(uint32_t in_edge, uint64_t firing) const;
};

// Devices of a host by their number; null: the device has no shards.
using DevicePrograms = std::vector<std::unique_ptr<DeviceProgram>>;

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_DEVICE_PROGRAM_H_
