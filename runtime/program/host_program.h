//===- host_program.h - One host's tables of a loaded plan ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derived at load from a PreparedPlan, for the host's own shards only. Every
// shard of an action that is bound to one of the host's devices is an *entry*
// of that device: it counts tokens for `window` firings at a time, firing n in
// slot n mod window. A DeviceProgram belongs to its device's actor, the rest of
// a HostProgram to the host's executor; the tables are only read once built.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_HOST_PROGRAM_H_
#define RUNTIME_PROGRAM_HOST_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/line_allocator.h"
#include "runtime/base/ring.h"
#include "runtime/binding/parts.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/program/collective_group.h"
#include "runtime/program/dispatch.h"
#include "runtime/program/gang_tables.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/launch.h"
#include "runtime/program/local_kind.h"
#include "runtime/program/receive_buffers.h"
#include "runtime/program/slot_ref.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/store/store.h"

namespace pathways {

// What an entry does when it has fired: one token each.
struct OutToken {
  // kSameWorker, kSameHost: on another device of this host, of the same worker
  // or not. kOtherProcess: on a host of another process; kOtherHost: on another
  // one of this.
  enum Type : uint8_t {
    kSameDevice,
    kSameWorker,
    kSameHost,
    kOtherHost,
    kOtherProcess,
    kBroadcast,
    kHostAction
  };
  Type type = kSameDevice;
  bool poisons = false;
  uint16_t tokens = 0;
  uint32_t target = 0;  // kOtherHost, kOtherProcess, kBroadcast: edge;
                        // kHostAction: action; else in-edge entry, or entry
                        // when poison is all that it carries
  uint32_t shard = 0;   // kOtherHost, kOtherProcess
  uint32_t where = 0;   // kSameWorker: device; kSameHost: actor; kOtherHost,
                        // kOtherProcess: host

  bool leaves_host() const {
    return type == kOtherHost || type == kOtherProcess;
  }
};

// One incoming edge of one entry: `expected` tokens a firing.
struct InEdge {
  uint32_t entry = 0;
  uint32_t edge = 0;
  uint32_t expected = 0;
};

// One piece that a send moves.
struct PieceOut {
  OutToken token;  // that leaves the host: packed, sent; else copied in place
  uint64_t bytes = 0;
  // Of one that is lent where it lies: where that is in the source; it has no
  // staging.
  int64_t lent_offset = -1;
  // Of a small one for another process whose bytes lie side by side: likewise.
  int64_t member_offset = -1;
  SlotRef from;
  SlotRef to;  // the destination, or staging
  const PreparedBuffer* source = nullptr;
  const PreparedBuffer* destination = nullptr;
  std::vector<int64_t> source_offset, destination_offset, extent, zeros;
};

// One piece that comes from another host.
struct PieceIn {
  uint32_t source = 0;  // shard
  uint32_t shard = 0;   // of the receive
  uint32_t device = 0;
  uint32_t in_edge = 0;
  const PreparedBuffer* destination = nullptr;
  SlotRef to;
  uint64_t bytes = 0;
  int64_t dense_offset = -1;
  std::vector<int64_t> destination_offset, extent, zeros;

  // Where its bytes go as they come; null: they do not lie there side by side.
  char* PlaceAt(uint64_t firing) const {
    return dense_offset < 0 ? nullptr : to.at(firing) + dense_offset;
  }
  auto order() const { return std::make_pair(source, shard); }
};

struct SendOp {
  uint32_t begin = 0, end = 0;  // pieces
  SlotRef from;
  // [slot]: pieces of a firing that are read where they lie. It has not passed
  // its tokens until there are none.
  LineVector<uint32_t> away;
};
struct RecvOp {
  enum Fill : uint8_t { kNone, kPadding, kZero, kIdentity };
  Fill fill = kNone;
  SlotRef to;
  const PreparedBuffer* buffer = nullptr;
  std::vector<int64_t> valid;  // extent of the shard's box
};
struct FeedOp {
  uint32_t argument = 0;
  bool stepped = false, carried = false;
  SlotRef to, carried_from;
  const PreparedBuffer* buffer = nullptr;
  std::vector<int64_t> extent;  // of the shard's block
  std::vector<int64_t> zeros;
  Part part;           // of the host's; no bytes when the block is empty
  uint64_t bytes = 0;  // of the shard's buffer
  // Of an argument that is the same at each step, in memory that nobody else
  // writes: which object each slot has, 0 for none. The device's own.
  LineVector<uint64_t> placed;
};
struct FetchOp {
  uint32_t result = 0;
  bool stepped = false;
  bool writes = true;  // false: empty, or another shard here has the block
  SlotRef from;
  const PreparedBuffer* buffer = nullptr;
  std::vector<int64_t> extent;  // of the shard's block
  std::vector<int64_t> zeros;
  Part part;  // of the host's
};

// An entry: one action on one shard.
struct Entry {
  uint32_t action = 0;
  uint32_t shard = 0;
  uint32_t need = 0;  // tokens a firing, and one from the host if it prepares
  uint32_t out_begin = 0, out_end = 0;
  // Behind them: entries later in the queue that it only poisons.
  uint32_t poison_end = 0;
  uint32_t op = 0;   // index in the table of its kind
  uint8_t kind = 0;  // proto::ActionKind
  bool queued =
      false;          // in the device's list of ready entries; of a gang: true
  uint64_t next = 0;  // first firing that has not happened; not of a gang
};

// Of what failed, the smallest (firing, action, shard).
struct FirstFailure {
  uint64_t firing = 0;
  uint32_t action = 0, shard = 0, step = 0;  // of the gang
  int32_t code = 0;                          // 0: nothing failed

  void Add(const FirstFailure& other) {
    if (other.code == 0) return;
    const auto place = [](const FirstFailure& failure) {
      return std::tie(failure.firing, failure.action, failure.shard);
    };
    if (code == 0 || place(other) < place(*this)) *this = other;
  }
};

// What a client asked for, on one host: a range of firings and its values. It
// is there from its first grant until all its firings are over.
struct alignas(kLineBytes) HostLaunch {
  uint64_t id = 0;
  uint64_t first = 0;       // firing of the program
  uint64_t first_step = 0;  // the number of that step
  // Devices read it while a grant that cuts the launch short makes it smaller:
  // no firing before that is as far from the old end or the new one as a token
  // goes.
  std::atomic<uint64_t> end{0};
  HostValues values;
  FirstFailure failure;  // of grants that are over

  StepNumbers numbers() const { return {first, first_step}; }
};

// What the island's scheduler allowed so far: the next firings of a launch, at
// a position in the island's order.
struct alignas(kLineBytes) HostGrant {
  HostLaunch* launch = nullptr;
  uint64_t position = 0;
  uint64_t first = 0, end = 0;
  uint32_t cohorts_left = 0;
  // Of the cohort's worker: devices at which it is not over, the longest time
  // for which it was the head of one's queue, and what failed there. Workers do
  // so at one time.
  struct alignas(kLineBytes) Cohort {
    uint32_t left = 0;
    TimeNs time_ns = 0;
    FirstFailure failure;
  };
  std::vector<Cohort> cohorts;
};

struct alignas(kLineBytes) DeviceProgram {
  // What each gang looks at, first.
  //
  // What its queue runs, shared with devices that run the same; and from where
  // the slots of those tables count.
  std::shared_ptr<const GangTables> queue;
  char* memories[2] = {nullptr, nullptr};  // by SlotOffset::Memory
  const HostGroup* groups = nullptr;       // of the host
  char* scratch = nullptr;
  uint32_t incarnation = 0;
  uint32_t window = 1;
  uint64_t num_poison = 0;  // of `poison`, those that are not 0
  // What each token looks at, next.
  //
  LineVector<Entry> entries;
  std::vector<InEdge> in_edges;
  LineVector<uint32_t> counts;  // [slot][entry]: tokens missing
  // [slot][in-edge]: tokens of all firings of the slot; see TokensOf.
  LineVector<uint32_t> arrived;
  LineVector<uint8_t> poison;  // [slot][entry]; see MarkPoison
  std::vector<OutToken> out;
  // The device's own, while it runs.
  uint64_t granted = 0;  // firings below may happen
  struct Active {
    HostGrant* grant;
    uint64_t remaining;  // firings of entries
  };
  Ring<Active> active;  // grants that are not over here
  uint64_t fired = 0;   // of entries; those of gangs with their queue's last
  // That each gang of its last grant took, if the plan does not say what they
  // cost.
  TimeNs gang_ns = 0;

  // Groups in which the device has arrived, of all firings; see HasMet. For
  // reports.
  std::atomic<uint64_t> meetings{0};
  std::vector<CollectiveMember> members;
  std::vector<DeviceGroup> groups_in;
  std::vector<int32_t> coordinates;  // per slice
  std::vector<uint32_t> shards_in;   // of groups_in

  const PreparedPlan* plan = nullptr;
  uint32_t program = 0;
  uint32_t device = 0;  // on the host

  std::vector<std::vector<int32_t>> shards;  // per slice
  std::vector<uint32_t> first_entry;         // per action

  std::vector<uint32_t> move_entries;  // those that are not gangs
  std::vector<uint32_t> feed_entries;

  std::vector<SendOp> sends;
  std::vector<RecvOp> recvs;
  std::vector<FeedOp> feeds;
  std::vector<FetchOp> fetches;
  std::vector<PieceOut> pieces;
  uint32_t max_operands = 0;
  uint32_t max_shards = 0;

  // The device's own, while it runs.
  uint32_t events = 0;  // behind work that is under way
  // [slot][entry], while tracing: along which edge the last token came, and
  // when among those of the device.
  struct LastToken {
    uint64_t order = 0;
    uint32_t edge = UINT32_MAX;
  };
  std::vector<LastToken> last_tokens;

  Arena::Segment memory;  // freed with the tables

  // Where tables of slots have a firing of an entry, or of an in-edge: what
  // belongs to one firing lies together.
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
  // Position of `shard`, which is here, among the local shards of `slice`.
  uint32_t LocalIndex(uint32_t slice, uint32_t shard) const {
    return static_cast<uint32_t>(plan->bound(slice).index_of[shard]);
  }
  // Whether the device has arrived at meeting number `meeting` of a firing. Any
  // thread.
  bool HasMet(uint64_t firing, uint32_t meeting) const {
    return meetings.load(std::memory_order_relaxed) >
           firing * queue->num_meetings + meeting;
  }
  // Tokens of a firing that have come along an in-edge; it has not happened.
  uint32_t TokensOf(uint32_t in_edge, uint64_t firing) const;
};

// One edge of relation all.
struct HostAllEdge {
  uint32_t edge = 0;
  uint32_t own_sources = 0, all_sources = 0;
  std::vector<int32_t> target_hosts;  // without this one
  struct Target {
    uint32_t device = 0;
    uint32_t in_edge = 0;
  };
  std::vector<Target> targets;
  std::vector<uint32_t> left;     // [slot]: own sources that have not fired
  std::vector<uint32_t> arrived;  // [slot]: sources, of all hosts
  std::vector<uint8_t> left_poison, arrived_poison;
};

// How other hosts are reached. Null: none is.
struct HostReach {
  std::function<bool(int host)> lends;   // it is lent large pieces (World)
  std::function<bool(int host)> is_far;  // it is in another process
};

class HostProgram {
 public:
  // Derives the tables of `host`. `arenas` are those of its devices,
  // `host_arena` the host's own. ResourceExhausted: nothing is held; if that is
  // for the host's own memory, `lacking` says how much of that must be free.
  static absl::StatusOr<std::unique_ptr<HostProgram>> Build(
      std::shared_ptr<const PreparedPlan> plan, const Topology& topology,
      const HostActors& host_actors, const DispatchOptions& dispatch, int host,
      uint32_t program, uint32_t incarnation, const std::vector<Arena*>& arenas,
      Arena* host_arena, HostReach reach = {}, uint64_t* lacking = nullptr);

  std::shared_ptr<const PreparedPlan> plan;
  uint32_t program = 0, incarnation = 0;
  int host = 0;
  std::vector<std::unique_ptr<DeviceProgram>> devices;  // null: no shards
  std::vector<CollectiveShape> shapes;
  std::vector<HostGroup> groups;
  std::vector<std::unique_ptr<FlagBarrier>> flag_barriers;  // of groups
  // (action, step, rank 0) -> group.
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t>
      group_of;
  // By edge and device, see EdgeAt: its in-edge entry of local shard 0 there;
  // UINT32_MAX: there is none.
  std::vector<uint32_t> edge_bases;
  uint64_t EdgeAt(uint32_t edge, uint32_t device) const {
    return uint64_t{edge} * devices.size() + device;
  }
  // In-edge entry of `edge` at `shard`, which that device has; UINT32_MAX:
  // there is none.
  uint32_t InEdgeOf(uint32_t edge, uint32_t device, uint32_t shard) const;
  std::vector<HostAllEdge> all_edges;
  std::vector<int32_t> all_of_edge;  // per edge; -1: not of relation all
  // Pieces that come from other hosts, by receive, then in their order; of each
  // action where its own begin, and behind the last where all end.
  std::vector<PieceIn> pieces_in;
  std::vector<uint32_t> piece_begin;
  absl::Span<const PieceIn> PiecesOf(uint32_t action) const {
    return absl::MakeConstSpan(pieces_in).subspan(
        piece_begin[action], piece_begin[action + 1] - piece_begin[action]);
  }
  // Null: actions need nothing from their host before they may fire.
  std::unique_ptr<DispatchTable> dispatch;
  Arena::Segment host_memory;
  // By cohort, its devices that have shards; and of each cohort that has some,
  // the first, which is told what all are to hear.
  std::vector<uint32_t> cohort_sizes, cohort_heads;
  // Of each argument and result, what the host holds, of one step.
  std::vector<uint64_t> argument_bytes, result_bytes;

  // Runs, in order; and what the executor knows of the load. Those that are
  // over are used again.
  Ring<std::unique_ptr<HostLaunch>> launches;
  Ring<std::unique_ptr<HostGrant>> grants;
  uint64_t granted = 0;
  WaitSet waiting;  // devices that have not answered
  bool stopping = false, stopped = false;
  // That are read or written by other processes: so it is not stopped yet.
  uint32_t payloads_away = 0;
  ReceiveBuffers landings;

  uint64_t num_own_shards = 0, num_entries = 0, num_queue_entries = 0,
           num_in_edges = 0;

 private:
  friend class HostProgramBuilder;
};

// Zeros what is outside the box [0, valid) of a dense array.
void FillPadding(const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& valid, int64_t element_bytes,
                 char* data);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_HOST_PROGRAM_H_
