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
// a HostProgram to the host's executor. The tables are immutable once built.
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
#include "runtime/program/edge_bases.h"
#include "runtime/program/gang_tables.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/launch.h"
#include "runtime/program/local_kind.h"
#include "runtime/program/receive_buffers.h"
#include "runtime/program/slot_ref.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/store/store.h"

namespace pathways {

// A token that an entry passes on one edge when it has fired.
struct OutToken {
  // kSameWorker, kSameHost: to another device of this host, on the same worker
  // or another one. kOtherProcess: to a host in another process. kOtherHost: to
  // another host in this process.
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
  // kOtherHost, kOtherProcess, kBroadcast: edge. kHostAction: action.
  // Otherwise: in-edge entry, or entry if the token only carries poison.
  uint32_t target = 0;
  uint32_t shard = 0;  // kOtherHost, kOtherProcess
  // kSameWorker: device. kSameHost: actor. kOtherHost, kOtherProcess: host.
  uint32_t where = 0;

  bool leaves_host() const {
    return type == kOtherHost || type == kOtherProcess;
  }
};

// One incoming edge of one entry, with `expected` tokens per firing.
struct InEdge {
  uint32_t entry = 0;
  uint32_t edge = 0;
  uint32_t expected = 0;
};

// One piece that a send moves.
struct PieceOut {
  // If the token leaves the host, the piece is packed and sent; otherwise it is
  // copied in place.
  OutToken token;
  uint64_t bytes = 0;
  // Byte offset in the source of a piece that is lent in place and has no
  // staging; -1: not lent.
  int64_t lent_offset = -1;
  // Byte offset in the source of a small, contiguous piece for another process;
  // -1: not such a piece.
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
  uint32_t shard = 0;   // shard of the receive
  uint32_t device = 0;
  uint32_t in_edge = 0;
  const PreparedBuffer* destination = nullptr;
  SlotRef to;
  uint64_t bytes = 0;
  int64_t dense_offset = -1;
  std::vector<int64_t> destination_offset, extent, zeros;

  // Returns the address for the piece's bytes as they arrive, or null if they
  // are not contiguous there.
  char* PlaceAt(uint64_t firing) const {
    return dense_offset < 0 ? nullptr : to.at(firing) + dense_offset;
  }
  auto order() const { return std::make_pair(source, shard); }
};

struct SendOp {
  uint32_t begin = 0, end = 0;  // range of its pieces
  SlotRef from;
  // [slot]: pieces of a firing that are being read in place. The firing passes
  // its tokens once there are none.
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
  std::vector<int64_t> extent;  // extent of the shard's block
  std::vector<int64_t> zeros;
  Part part;           // part of the host; no bytes if the block is empty
  uint64_t bytes = 0;  // bytes of the shard's buffer
  // Used for an argument that is the same at each step, in memory that no other
  // buffer shares: the number of the object in each slot, 0 for none. Only the
  // device's actor uses it.
  LineVector<uint64_t> placed;
};
struct FetchOp {
  uint32_t result = 0;
  bool stepped = false;
  // False: the block is empty, or another shard on this host writes it.
  bool writes = true;
  SlotRef from;
  const PreparedBuffer* buffer = nullptr;
  std::vector<int64_t> extent;  // extent of the shard's block
  std::vector<int64_t> zeros;
  Part part;  // part of the host
};

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

// The failure with the smallest (firing, action, shard).
struct FirstFailure {
  uint64_t firing = 0;
  uint32_t action = 0, shard = 0, step = 0;  // step of the gang
  int32_t code = 0;                          // 0: no failure

  void Add(const FirstFailure& other) {
    if (other.code == 0) return;
    const auto place = [](const FirstFailure& failure) {
      return std::tie(failure.firing, failure.action, failure.shard);
    };
    if (code == 0 || place(other) < place(*this)) *this = other;
  }
};

// A client's launch on one host: a range of firings and their values. Exists
// from its first grant until all its firings are over.
struct alignas(kLineBytes) HostLaunch {
  uint64_t id = 0;
  uint64_t first = 0;       // first firing of the program
  uint64_t first_step = 0;  // number of the step that firing `first` is
  // Devices read it while a grant that cuts the launch short lowers it. Every
  // firing before that grant is farther from both the old and the new end than
  // a token reaches, so either value gives the same result.
  std::atomic<uint64_t> end{0};
  HostValues values;
  FirstFailure failure;  // failure of grants that are over

  StepNumbers numbers() const { return {first, first_step}; }
};

// A grant of the island's scheduler: the next firings of a launch, at a
// position in the island's order.
struct alignas(kLineBytes) HostGrant {
  HostLaunch* launch = nullptr;
  uint64_t position = 0;
  uint64_t first = 0, end = 0;
  uint32_t cohorts_left = 0;
  // State of one cohort: devices at which the grant is not over, the longest
  // time for which it was the head of a device's queue, and the first failure.
  // Workers write their own cohorts' concurrently.
  struct alignas(kLineBytes) Cohort {
    uint32_t left = 0;
    TimeNs time_ns = 0;
    FirstFailure failure;
  };
  std::vector<Cohort> cohorts;
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

// State of one edge of relation all.
struct HostAllEdge {
  uint32_t edge = 0;
  uint32_t own_sources = 0, all_sources = 0;
  std::vector<int32_t> target_hosts;  // without this host
  struct Target {
    uint32_t device = 0;
    uint32_t in_edge = 0;
  };
  std::vector<Target> targets;
  // [slot]: sources on this host that have not fired.
  std::vector<uint32_t> left;
  std::vector<uint32_t> arrived;  // [slot]: sources, of all hosts
  std::vector<uint8_t> left_poison, arrived_poison;
};

// Reachability of other hosts. A null function means false for every host.
struct HostReach {
  // Large pieces are lent to the host (World).
  std::function<bool(int host)> lends;
  std::function<bool(int host)> is_far;  // the host is in another process
};

struct HostProgram {
  // Derives the tables of `host`. `arenas` are those of its devices,
  // `host_arena` is the host's own. Returns ResourceExhausted if memory does
  // not suffice, and then holds none. If the host's own memory does not
  // suffice, sets `*lacking` to the bytes that must be free.
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
  // Barriers of small groups.
  std::vector<std::unique_ptr<FlagBarrier>> flag_barriers;
  // (action, step, rank 0) -> group.
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t>
      group_of;
  EdgeBases edge_bases;
  std::vector<HostAllEdge> all_edges;
  std::vector<int32_t> all_of_edge;  // per edge; -1: not of relation all
  // Pieces that come from other hosts, by receive, then in their order.
  // piece_begin: index of the first piece of each action; its last element is
  // the number of pieces.
  std::vector<PieceIn> pieces_in;
  std::vector<uint32_t> piece_begin;
  absl::Span<const PieceIn> PiecesOf(uint32_t action) const {
    return absl::MakeConstSpan(pieces_in).subspan(
        piece_begin[action], piece_begin[action + 1] - piece_begin[action]);
  }
  // Null: actions need nothing from their host before they may fire.
  std::unique_ptr<DispatchTable> dispatch;
  Arena::Segment host_memory;
  // cohort_sizes: by cohort, the number of its devices that have shards.
  // cohort_heads: the first device with shards of each cohort, which receives
  // the messages for all of them.
  std::vector<uint32_t> cohort_sizes, cohort_heads;
  // Bytes that the host holds of each argument and result, in one step.
  std::vector<uint64_t> argument_bytes, result_bytes;

  // Launches and grants, in order, and the executor's state of the load.
  // Objects of finished ones are reused.
  Ring<std::unique_ptr<HostLaunch>> launches;
  Ring<std::unique_ptr<HostGrant>> grants;
  uint64_t granted = 0;
  WaitSet waiting;  // devices that have not answered
  bool stopping = false, stopped = false;
  // Payloads that other processes are still reading or writing. The program is
  // not stopped while there are any.
  uint32_t payloads_away = 0;
  ReceiveBuffers landings;

  uint64_t num_own_shards = 0, num_entries = 0, num_queue_entries = 0,
           num_in_edges = 0;
};

// Zeroes the elements outside the box [0, valid) of a dense array.
void FillPadding(const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& valid, int64_t element_bytes,
                 char* data);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_HOST_PROGRAM_H_
