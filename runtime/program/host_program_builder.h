//===- host_program_builder.h - Derive one host's tables --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the host_program*.cc files: memory and shards (host_program.cc),
// gangs (host_program_queue.cc), collectives (host_program_collectives.cc), and
// what moves between shards or in and out (host_program_moves.cc).
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_HOST_PROGRAM_BUILDER_H_
#define RUNTIME_PROGRAM_HOST_PROGRAM_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/program/host_program.h"

namespace pathways {

// No entry, or no in-edge.
inline constexpr uint32_t kNoEntry = UINT32_MAX;

// Adds up sizes; stays at the top instead of wrapping around.
class ByteSum {
 public:
  void Add(uint64_t bytes, uint64_t times = 1) {
    total_ = AddBytes(total_, bytes, times);
  }
  uint64_t total() const { return total_; }

 private:
  uint64_t total_ = 0;
};

class HostProgramBuilder {
 public:
  HostProgramBuilder(const PreparedPlan& plan, const Topology& topology,
                     const HostActors& host_actors,
                     const DispatchOptions& dispatch, HostReach reach,
                     HostProgram* out)
      : p_(plan),
        topology_(topology),
        host_actors_(host_actors),
        dispatch_(dispatch),
        reach_(std::move(reach)),
        out_(*out) {}

  absl::Status Build(const std::vector<Arena*>& arenas, Arena* host_arena);
  // Bytes of the host's own memory for want of which Build failed.
  uint64_t lacking() const { return lacking_; }

 private:
  const proto::Plan& plan() const { return p_.plan(); }

  // host_program.cc
  void FindShards();
  void FindCohorts();
  // The tables are not in the arena, but must be of its order: a plan with many
  // shards on one device is refused before anything is allocated for it.
  absl::Status CheckTables(const Arena& arena);
  absl::Status AllocateDevices(const std::vector<Arena*>& arenas);
  absl::Status AllocateHost(Arena* arena);
  // In-edges and entries of a device. Nothing here looks at other devices.
  void LayOut(DeviceProgram* device);
  uint32_t Expected(const PreparedEdge& edge, int32_t shard) const;
  void ResetCounters(DeviceProgram* device);
  SlotOffset OffsetOf(uint32_t buffer, uint32_t device, int64_t k) const;
  SlotRef Slot(uint32_t buffer, uint32_t device, int64_t k) const;
  Topology::Place PlaceOf(uint32_t slice, int64_t shard) const;
  // What this host holds of the arrays that go in and out.
  void CutValues();
  void CountAll();

  // host_program_collectives.cc
  void MakeGroups();
  // The group that `shard` is in, if nobody made it yet.
  void AddGroup(uint32_t action, uint32_t step, uint32_t slice,
                const proto::Collective& c, int32_t shard);
  std::unique_ptr<GroupMeeting> MakeMeeting(HostGroup* group) const;
  // How groups [first, ...), all those of one collective, combine, and the
  // memory that they need for it.
  void PlaceGroups(size_t first, uint32_t slice, const proto::Collective& c);
  // Where contributions lie of a group that is all on this host.
  void PlaceContributions(HostGroup* group);
  // Whether they are so few bytes, of one shard of each device, that cohorts
  // trade them.
  bool IsSmall(const HostGroup& group, uint32_t slice) const;
  // Where the members meet: as for other collectives that are alike.
  FlagBarrier* FlagBarrierOf(const HostGroup& group, uint32_t slice,
                             uint64_t result_bytes);
  std::shared_ptr<const layout::HostExchange> ExchangeOf(
      uint32_t slice, const proto::Collective& c, const HostGroup& group,
      const CollectiveShape& shape);
  void MakeCollective(DeviceProgram* device, GangTables* queue, uint32_t a,
                      uint32_t i);
  // The device's members and groups of a collective, and of all others over the
  // same axes of the slice.
  struct Membership {
    uint32_t member_begin = 0, member_end = 0, group_begin = 0, group_end = 0;
  };
  const Membership& MembershipOf(DeviceProgram* device, uint32_t a, uint32_t i);

  // host_program_queue.cc
  void MakeGangs(DeviceProgram* device, GangTables* queue);
  void MakeGang(DeviceProgram* device, GangTables* queue, uint32_t a);
  // Which gangs are quiet, and which only run a kernel, once it is known what
  // they wait for and whom they tell.
  void MarkPlain(const DeviceProgram& device, GangTables* queue) const;
  // What was made of equal tables before, or these.
  std::shared_ptr<const GangTables> Share(GangTables queue);

  // host_program_moves.cc
  // The token that says on `edge` that `from` has fired, to `shard`.
  OutToken TokenTo(const DeviceProgram& from, uint32_t edge, int64_t shard);
  // The in-edge entry of `edge` for the device's first shard.
  uint32_t BaseOf(uint32_t edge, const DeviceProgram& device) const {
    return out_.edge_bases[out_.EdgeAt(edge, device.device)];
  }
  const std::vector<layout::Piece>& PiecesInto(uint32_t send, int32_t shard);
  void MakeAllEdges();
  // Sends, receives, feeds and fetches; staging is only counted here.
  void MakeOps(DeviceProgram* device);
  // Where a piece for that host lies in its source, if it is lent; else -1.
  int64_t LentOffset(const PreparedBuffer& from, const layout::Piece& piece,
                     int host) const;
  // Where a piece begins in its source, in bytes; -1: it is not dense there.
  static int64_t DenseOffset(const PreparedBuffer& from,
                             const layout::Piece& piece);
  void MakeSend(DeviceProgram* device, Entry* entry,
                const proto::Action& action, int64_t k);
  void MakeRecv(DeviceProgram* device, Entry* entry,
                const proto::Action& action, int64_t k);
  void MakeFeed(DeviceProgram* device, Entry* entry,
                const proto::Action& action, int64_t k);
  void MakeFetch(DeviceProgram* device, Entry* entry,
                 const proto::Action& action, int64_t k);
  // Of all devices.
  void SortReceived();
  void MakeTokens(DeviceProgram* device);
  // With sequential dispatch, sources are those of data edges: of a movement
  // into shards of this host, on every host that sends them pieces.
  void MakeDispatch();
  // Hosts to which shards of this host send pieces along a data edge, or from
  // which they receive some; ascending.
  std::set<int32_t> HostsOfPieces(const PreparedEdge& edge, bool from_here);

  // The blocks of one array on this host.
  struct HostBlocks {
    std::vector<int32_t> shards;  // ascending
    Parts parts;
    Part Of(uint32_t shard) const {
      const auto at = std::lower_bound(shards.begin(), shards.end(),
                                       static_cast<int32_t>(shard));
      const int32_t part = parts.part_of[at - shards.begin()];
      return part < 0 ? Part{} : parts.parts[part];
    }
  };

  const PreparedPlan& p_;
  const Topology& topology_;
  const HostActors& host_actors_;
  const DispatchOptions& dispatch_;
  const HostReach reach_;
  HostProgram& out_;
  std::vector<HostBlocks> arguments_, results_;
  int64_t first_device_ = 0;  // of the host; of the cluster
  // Of each device and slice: where its first shard begins.
  std::vector<std::vector<uint64_t>> device_base_, host_base_;
  // As HostProgram::edge_bases, at a recv without pieces, in place of its send.
  std::vector<uint32_t> self_bases_;
  std::map<uint32_t, std::vector<PieceIn>> received_;  // by receive
  ByteSum host_sum_;
  uint64_t lacking_ = 0;
  std::vector<uint64_t> group_at_, small_at_;
  std::vector<uint64_t> staging_;
  size_t next_staging_ = 0;
  // By action and step.
  std::map<std::pair<uint32_t, uint32_t>, size_t> shape_of_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> first_group_of_;
  // By device, slice and axes.
  std::map<std::tuple<uint32_t, uint32_t, std::vector<std::string>>, Membership>
      memberships_;
  // By slice, members, and bytes of contributions and results.
  std::map<std::tuple<uint32_t, std::vector<int32_t>, uint64_t, uint64_t>,
           FlagBarrier*>
      small_of_;
  std::vector<std::shared_ptr<const GangTables>> queues_;  // all different
  // By all that makes them different.
  std::map<std::tuple<uint32_t, int32_t, int, int64_t, bool, std::string>,
           std::shared_ptr<const layout::HostExchange>>
      exchanges_;
  // (device, slice) -> where the coordinates of its shards begin.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> coordinates_of_;
  absl::flat_hash_map<std::pair<uint32_t, int32_t>, std::vector<layout::Piece>>
      into_;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_HOST_PROGRAM_BUILDER_H_
