//===- host_program.h - One host's tables of a loaded plan ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derived at load from a PreparedPlan, for the host's own shards only. A
// DeviceProgram belongs to its device's actor, the rest of a HostProgram to the
// host's executor. The tables are immutable once built.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_HOST_PROGRAM_H_
#define RUNTIME_PROGRAM_HOST_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/ring.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/program/collective_group.h"
#include "runtime/program/device_program.h"
#include "runtime/program/dispatch.h"
#include "runtime/program/edge_bases.h"
#include "runtime/program/entry_ops.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/host_launch.h"
#include "runtime/program/local_kind.h"
#include "runtime/program/receive_buffers.h"
#include "runtime/program/table_inputs.h"
#include "runtime/protocol/wait_set.h"
#include "runtime/store/store.h"

namespace pathways {

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
  DevicePrograms devices;
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

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_HOST_PROGRAM_H_
