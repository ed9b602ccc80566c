//===- host_program.cc - One host's tables of a loaded plan ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/host_program.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/program/arriving_pieces.h"
#include "runtime/program/dispatch_builder.h"
#include "runtime/program/entry_tables.h"
#include "runtime/program/gang_builder.h"
#include "runtime/program/gang_table_pool.h"
#include "runtime/program/group_tables.h"
#include "runtime/program/move_builder.h"
#include "runtime/program/program_memory.h"
#include "runtime/program/table_inputs.h"
#include "runtime/program/token_builder.h"
#include "runtime/program/value_builder.h"

namespace pathways {
namespace {

// Sets the sizes and heads of cohorts.
void CountCohorts(const HostActors& actors, HostProgram* out) {
  for (const auto& device : out->devices) {
    if (device == nullptr) continue;
    const uint32_t cohort = actors.cohorts[device->device];
    if (cohort >= out->cohort_sizes.size())
      out->cohort_sizes.resize(cohort + 1);
    if (out->cohort_sizes[cohort]++ == 0) {
      out->cohort_heads.push_back(device->device);
    }
  }
}

// Returns ResourceExhausted if tables of `bytes` exceed the free room of
// `arena`.
absl::Status CheckTables(const std::string& program, uint64_t bytes,
                         const Arena& arena) {
  if (bytes <= arena.room()) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the tables of program '", program, "' need ", bytes, " bytes of ",
      arena.name(), ", where ", arena.used(), " of ", arena.bound(),
      " bytes are used", Tag(ErrorId::kNoHostMemory)));
}

// Sets the edges of relation all.
void SetAllEdges(const TableInputs& in, HostProgram* out) {
  out->all_edges = MakeAllEdges(in, out->devices, out->edge_bases);
  out->all_of_edge.assign(in.plan.edges().size(), -1);
  for (size_t i = 0; i < out->all_edges.size(); ++i) {
    out->all_of_edge[out->all_edges[i].edge] = static_cast<int32_t>(i);
  }
}

// Sets the tables of collectives.
void SetGroups(GroupTables groups, HostProgram* out) {
  out->shapes = std::move(groups.shapes);
  out->groups = std::move(groups.groups);
  out->flag_barriers = std::move(groups.flag_barriers);
  out->group_of = std::move(groups.group_of);
  for (const auto& device : out->devices) {
    if (device != nullptr) device->groups = out->groups.data();
  }
}

// Counts shards, entries and in-edges once the tables are complete.
void CountAll(HostProgram* out) {
  for (const auto& device : out->devices) {
    if (device == nullptr) continue;
    for (const auto& shards : device->shards) {
      out->num_own_shards += shards.size();
    }
    out->num_entries += device->entries.size();
    out->num_in_edges += device->in_edges.size();
    out->num_queue_entries += device->queue->gangs.size();
  }
}

// Fills the tables of `out`, which already has the numbers of the program. See
// HostProgram::Build for the errors and `lacking`.
absl::Status BuildTables(const TableInputs& in,
                         const std::vector<Arena*>& arenas, Arena* host_arena,
                         HostProgram* out, uint64_t* lacking) {
  DevicePrograms& devices = out->devices;
  devices = MakeDevices(in, out->program, out->incarnation);
  CountCohorts(in.actors, out);
  const uint64_t table_bytes = TableBytes(in, devices);
  if (absl::Status fits = CheckTables(in.plan.name(), table_bytes, *host_arena);
      !fits.ok()) {
    *lacking = table_bytes;
    return fits;
  }
  ProgramMemory memory(in.plan, devices);
  if (absl::Status status = memory.AllocateDevices(arenas); !status.ok()) {
    return status;
  }
  EdgeBases& bases = out->edge_bases;
  bases = EdgeBases(in.plan.edges().size(), devices.size());
  EdgeBases self_bases = bases;
  for (const auto& device : devices) {
    if (device == nullptr) continue;
    LayOutEntries(in, device.get(), &bases, &self_bases);
  }
  SetAllEdges(in, out);
  ArrivingPieces pieces(in.plan);
  TokenBuilder tokens(in, bases, self_bases, &pieces);
  MoveBuilder moves(in, devices, bases, tokens, &pieces, &memory);
  const ValueBuilder values(in.plan, devices);
  out->argument_bytes = values.ArgumentBytes();
  out->result_bytes = values.ResultBytes();

  // The host's memory is allocated once all its uses have been reserved.
  GroupTables groups = MakeGroups(in, devices, &memory);
  for (const auto& device : devices) {
    if (device != nullptr) moves.ReserveStaging(*device);
  }
  absl::StatusOr<Arena::Segment> segment = memory.AllocateHost(host_arena);
  if (!segment.ok()) {
    *lacking = memory.host_bytes();
    return segment.status();
  }
  out->host_memory = *std::move(segment);
  SetGroupMemory(memory, &groups);

  GangTablePool queues;
  for (const auto& device : devices) {
    if (device == nullptr) continue;
    GangTables queue = MakeGangs(in, memory, &groups, device.get());
    moves.MakeOps(device.get());
    values.MakeOps(memory, device.get());
    tokens.MakeTokens(device.get());
    MarkPlain(*device, &queue);
    device->queue = queues.Share(std::move(queue));
    ResetCounters(in, device.get());
  }
  moves.TakeReceived(&out->pieces_in, &out->piece_begin);
  SetGroups(std::move(groups), out);
  out->dispatch = MakeDispatch(in, devices, &pieces);
  CountAll(out);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<HostProgram>> HostProgram::Build(
    std::shared_ptr<const PreparedPlan> plan, const Topology& topology,
    const HostActors& host_actors, const DispatchOptions& dispatch, int host,
    uint32_t program, uint32_t incarnation, const std::vector<Arena*>& arenas,
    Arena* host_arena, HostReach reach, uint64_t* lacking) {
  auto self = std::make_unique<HostProgram>();
  self->plan = std::move(plan);
  self->program = program;
  self->incarnation = incarnation;
  self->host = host;
  const TableInputs in{*self->plan, topology, host_actors,
                       dispatch,    reach,    host};
  uint64_t bytes = 0;
  absl::Status built = BuildTables(in, arenas, host_arena, self.get(), &bytes);
  if (lacking != nullptr) *lacking = bytes;
  if (!built.ok()) return built;
  return self;
}

}  // namespace pathways
