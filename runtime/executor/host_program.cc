//===- host_program.cc - Derive one host's tables -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_program.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

uint64_t Align(uint64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

// Adds up sizes; stays at the top instead of wrapping around.
class Sum {
 public:
  void Add(uint64_t bytes, uint64_t times = 1) {
    const unsigned __int128 more =
        static_cast<unsigned __int128>(bytes) * times;
    total_ = more > kMax - total_ ? kMax : total_ + static_cast<uint64_t>(more);
  }
  uint64_t total() const { return total_; }

 private:
  static constexpr uint64_t kMax = uint64_t{1} << 62;
  uint64_t total_ = 0;
};

}  // namespace

int64_t DeviceProgram::LocalIndex(uint32_t slice, uint32_t shard) const {
  const std::vector<int32_t>& local = shards[slice];
  auto it =
      std::lower_bound(local.begin(), local.end(), static_cast<int32_t>(shard));
  if (it == local.end() || *it != static_cast<int32_t>(shard)) return -1;
  return it - local.begin();
}

uint32_t DeviceProgram::InEdgeOf(uint32_t edge, uint32_t shard) const {
  if (edge >= edge_base.size() || edge_base[edge] == kNone) return kNone;
  const int64_t k =
      LocalIndex(plan->plan().actions(plan->edges()[edge].to).slice(), shard);
  return k < 0 ? kNone : edge_base[edge] + static_cast<uint32_t>(k);
}

uint32_t DeviceProgram::TokensOf(uint32_t in_edge, uint64_t firing) const {
  const InEdge& in = in_edges[in_edge];
  const uint32_t tokens = plan->edges()[in.edge].tokens;
  if (firing < tokens) return in.expected;
  // Earlier firings of the slot had all theirs; the first may have waited for
  // none.
  const uint64_t slot = firing % window;
  uint64_t earlier = firing / window;
  if (earlier > 0 && slot < tokens) --earlier;
  return arrived[in_edge * window + slot] -
         static_cast<uint32_t>(earlier * in.expected);
}

void FillPadding(const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& valid, int64_t element_bytes,
                 char* data) {
  int64_t row = element_bytes;  // bytes of one index of dimension d
  for (size_t d = shape.size(); d-- > 0;) {
    // All indices of the dimensions before d (inside their valid part), then
    // the tail of d.
    const int64_t plane = row * shape[d];
    int64_t outer = 1;
    for (size_t o = 0; o < d; ++o) outer *= shape[o];
    const int64_t tail = (shape[d] - valid[d]) * row;
    for (int64_t o = 0; tail > 0 && o < outer; ++o) {
      std::memset(data + o * plane + valid[d] * row, 0, tail);
    }
    row = plane;
  }
}

class HostProgramBuilder {
 public:
  HostProgramBuilder(const PreparedPlan& plan, const Topology& topology,
                     const Directory& directory,
                     const DispatchOptions& dispatch, HostProgram* out)
      : p_(plan),
        topology_(topology),
        directory_(directory),
        dispatch_(dispatch),
        out_(*out) {}

  absl::Status Build(const std::vector<Arena*>& arenas, Arena* host_arena) {
    island_ = topology_.island_of_host(out_.host);
    first_device_ = topology_.first_device(out_.host);
    FindShards();
    absl::Status memory = CheckTables(*host_arena);
    if (!memory.ok()) return memory;
    memory = AllocateDevices(arenas);
    if (!memory.ok()) return memory;
    for (auto& device : out_.devices) {
      if (device != nullptr) LayOut(device.get());
    }
    CutValues();
    MakeAllEdges();
    MakeGroups();
    for (auto& device : out_.devices) {
      if (device != nullptr) MakeOps(device.get());
    }
    memory = AllocateHost(host_arena);
    if (!memory.ok()) return memory;
    for (auto& device : out_.devices) {
      if (device == nullptr) continue;
      MakeGangs(device.get());
      device->met =
          std::vector<std::atomic<uint64_t>>(device->groups_in.size());
      MakeTokens(device.get());
      MarkPlain(device.get());
      ResetCounters(device.get());
    }
    if (dispatch_.prepares()) MakeDispatch();
    CountAll();
    return absl::OkStatus();
  }

 private:
  const proto::Plan& plan() const { return p_.plan(); }

  void FindShards() {
    out_.devices.resize(topology_.num_host_devices(out_.host));
    device_base_.resize(out_.devices.size());
    host_base_.resize(out_.devices.size());
    for (size_t d = 0; d < out_.devices.size(); ++d) {
      std::vector<std::vector<int32_t>> shards(p_.slices().size());
      bool any = false;
      for (size_t s = 0; s < p_.slices().size(); ++s) {
        if (p_.slices()[s].island != island_) continue;
        shards[s] = p_.ShardsOn(static_cast<int>(s), first_device_ + d);
        any |= !shards[s].empty();
        out_.num_own_shards += shards[s].size();
      }
      if (!any) continue;
      auto device = std::make_unique<DeviceProgram>();
      device->plan = &p_;
      device->program = out_.program;
      device->incarnation = out_.incarnation;
      device->device = static_cast<uint32_t>(d);
      device->window = p_.window();
      device->shards = std::move(shards);
      out_.devices[d] = std::move(device);
    }
  }

  // The tables are not in the arena, but must be of its order: a plan with many
  // shards on one device is refused before anything is allocated for it.
  absl::Status CheckTables(const Arena& arena) const {
    Sum sum;
    for (const auto& device : out_.devices) {
      if (device == nullptr) continue;
      for (int a = 0; a < plan().actions_size(); ++a) {
        const proto::Action& action = plan().actions(a);
        const std::vector<int32_t>& shards = device->shards[action.slice()];
        sum.Add(sizeof(Entry) + 5 * p_.window(), shards.size());
        sum.Add((sizeof(InEdge) + 4 * p_.window()) * p_.in_edges(a).size() +
                    sizeof(OutToken) * p_.out_edges(a).size(),
                shards.size());
        if (dispatch_.prepares()) {
          sum.Add(sizeof(OutToken), shards.size());
          sum.Add(sizeof(DispatchTable::Item) + 4 * p_.window());
        }
        if (action.kind() != proto::SEND && action.kind() != proto::RECV) {
          continue;
        }
        const bool send = action.kind() == proto::SEND;
        const layout::Movement& movement =
            p_.movement(send ? a : action.peer());
        for (int32_t shard : shards) {
          sum.Add(sizeof(PieceOut) + sizeof(layout::Piece),
                  send ? movement.NumPiecesFrom(shard)
                       : movement.NumPiecesInto(shard));
        }
      }
    }
    if (sum.total() <= arena.bound() - arena.used()) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat("the tables of program '", p_.name(), "' need ",
                     sum.total(), " bytes of ", arena.name(), ", where ",
                     arena.used(), " of ", arena.bound(), " bytes are used"));
  }

  absl::Status AllocateDevices(const std::vector<Arena*>& arenas) {
    for (size_t d = 0; d < out_.devices.size(); ++d) {
      DeviceProgram* device = out_.devices[d].get();
      if (device == nullptr) continue;
      Sum sum;
      uint64_t scratch = 0;
      for (size_t s = 0; s < p_.slices().size(); ++s) {
        device_base_[d].push_back(sum.total());
        sum.Add(Align(p_.slices()[s].device_bytes), device->shards[s].size());
        host_base_[d].push_back(host_sum_.total());
        host_sum_.Add(Align(p_.slices()[s].host_bytes),
                      device->shards[s].size());
      }
      for (const proto::Action& action : plan().actions()) {
        if (action.kind() != proto::GANG ||
            device->shards[action.slice()].empty()) {
          continue;
        }
        for (const proto::GangStep& step : action.steps()) {
          if (!step.has_run()) continue;
          scratch = std::max(scratch, plan()
                                          .kernels(action.kernel())
                                          .segments(step.run().segment())
                                          .scratch_bytes());
        }
      }
      const uint64_t scratch_at = sum.total();
      sum.Add(scratch);
      absl::StatusOr<Arena::Segment> segment = arenas[d]->Allocate(
          sum.total(), absl::StrCat("program '", p_.name(), "'"));
      if (!segment.ok()) return segment.status();
      device->memory = *std::move(segment);
      if (device->memory.data() != nullptr) {
        device->scratch = device->memory.data() + scratch_at;
      }
    }
    return absl::OkStatus();
  }

  absl::Status AllocateHost(Arena* arena) {
    absl::StatusOr<Arena::Segment> segment = arena->Allocate(
        host_sum_.total(), absl::StrCat("program '", p_.name(), "'"));
    if (!segment.ok()) return segment.status();
    out_.host_memory = *std::move(segment);
    char* base = out_.host_memory.data();
    if (base == nullptr) return absl::OkStatus();
    for (size_t g = 0; g < out_.groups.size(); ++g) {
      out_.groups[g].data = base + group_at_[g];
    }
    return absl::OkStatus();
  }

  // In-edges and entries of a device. Nothing here looks at other devices.
  void LayOut(DeviceProgram* device) {
    const int num_actions = plan().actions_size();
    device->first_entry.assign(num_actions, kNone);
    device->edge_base.assign(p_.edges().size(), kNone);
    device->self_base.assign(p_.edges().size(), kNone);
    for (int a = 0; a < num_actions; ++a) {
      const proto::Action& action = plan().actions(a);
      const std::vector<int32_t>& shards = device->shards[action.slice()];
      if (shards.empty()) continue;
      device->max_shards =
          std::max(device->max_shards, static_cast<uint32_t>(shards.size()));
      device->first_entry[a] = static_cast<uint32_t>(device->entries.size());
      for (int32_t shard : shards) {
        Entry entry;
        entry.action = a;
        entry.shard = shard;
        entry.kind = static_cast<uint8_t>(action.kind());
        entry.need = dispatch_.prepares();
        device->entries.push_back(entry);
      }
      for (uint32_t e : p_.in_edges(a)) {
        if (p_.edges()[e].elided) continue;
        device->edge_base[e] = static_cast<uint32_t>(device->in_edges.size());
        for (size_t k = 0; k < shards.size(); ++k) {
          device->in_edges.push_back(
              {device->first_entry[a] + static_cast<uint32_t>(k), e,
               Expected(p_.edges()[e], shards[k])});
        }
      }
      if (action.kind() != proto::RECV) continue;
      // A shard that receives nothing is its own entry: what would give the
      // right to overwrite to its senders gives it to the recv itself.
      for (uint32_t e : p_.in_edges(action.peer())) {
        const PreparedEdge& edge = p_.edges()[e];
        if (edge.relation != proto::PIECES || edge.kind == proto::DATA) {
          continue;
        }
        device->self_base[e] = static_cast<uint32_t>(device->in_edges.size());
        for (size_t k = 0; k < shards.size(); ++k) {
          const bool own =
              p_.movement(action.peer()).NumPiecesInto(shards[k]) == 0;
          device->in_edges.push_back(
              {device->first_entry[a] + static_cast<uint32_t>(k), e, own});
        }
      }
    }
    for (const InEdge& in : device->in_edges) {
      device->entries[in.entry].need += in.expected;
    }
  }

  uint32_t Expected(const PreparedEdge& edge, int32_t shard) const {
    if (edge.relation != proto::PIECES) return 1;
    const layout::Movement& movement = p_.movement(edge.send);
    return static_cast<uint32_t>(edge.kind == proto::DATA
                                     ? movement.NumPiecesInto(shard)
                                     : movement.NumPiecesFrom(shard));
  }

  void ResetCounters(DeviceProgram* device) {
    const uint64_t window = device->window;
    device->counts.assign(device->entries.size() * window,
                          dispatch_.prepares());
    device->poison.assign(device->entries.size() * window, 0);
    device->arrived.assign(device->in_edges.size() * window, 0);
    for (const InEdge& in : device->in_edges) {
      // Firings below the edge's tokens do not wait for it.
      for (uint64_t n = p_.edges()[in.edge].tokens; n < window; ++n) {
        device->counts[in.entry * window + n] += in.expected;
      }
    }
  }

  SlotRef Slot(uint32_t buffer, uint32_t device, int64_t k) {
    const proto::Buffer& b = plan().buffers(buffer);
    const PreparedSlice& slice = p_.slices()[b.slice()];
    SlotRef ref;
    ref.credits = std::max<uint32_t>(1, b.credits());
    ref.stride = b.slot_stride();
    const bool on_host = b.memory() == proto::HOST;
    char* base =
        on_host ? out_.host_memory.data() : out_.devices[device]->memory.data();
    if (base == nullptr) {
      ref.stride = 0;
      return ref;
    }
    const uint64_t at = on_host ? host_base_[device][b.slice()]
                                : device_base_[device][b.slice()];
    ref.base = base + at +
               Align(on_host ? slice.host_bytes : slice.device_bytes) * k +
               b.offset();
    return ref;
  }

  Topology::Place PlaceOf(uint32_t slice, int64_t shard) const {
    const PreparedSlice& s = p_.slices()[slice];
    return topology_.Locate(s.island, s.device_of[shard]);
  }

  // The token that says on `edge` that `from` has fired, to `shard`.
  OutToken TokenTo(const DeviceProgram& from, uint32_t edge, int64_t shard) {
    const PreparedEdge& e = p_.edges()[edge];
    const uint32_t slice = plan().actions(e.to).slice();
    const Topology::Place place = PlaceOf(slice, shard);
    OutToken token;
    token.poisons = e.poisons;
    token.tokens = static_cast<uint16_t>(e.tokens);
    if (place.host != out_.host) {
      token.type = OutToken::kRemote;
      token.target = edge;
      token.shard = static_cast<uint32_t>(shard);
      token.where = place.host;
      return token;
    }
    token.target = out_.devices[place.device]->InEdgeOf(
        edge, static_cast<uint32_t>(shard));
    if (place.device == static_cast<int>(from.device)) return token;
    const std::vector<uint32_t>& cohorts = directory_.cohorts[out_.host];
    if (cohorts[place.device] == cohorts[from.device]) {
      token.type = OutToken::kNear;
      token.where = place.device;
    } else {
      token.type = OutToken::kPeer;
      token.where = directory_.devices[out_.host][place.device];
    }
    return token;
  }

  const std::vector<layout::Piece>& PiecesInto(uint32_t send, int32_t shard) {
    auto [it, fresh] = into_.try_emplace({send, shard});
    if (fresh) it->second = p_.movement(send).PiecesInto(shard);
    return it->second;
  }

  void MakeAllEdges() {
    out_.all_of_edge.assign(p_.edges().size(), -1);
    for (size_t e = 0; e < p_.edges().size(); ++e) {
      const PreparedEdge& edge = p_.edges()[e];
      if (edge.relation != proto::ALL || edge.elided) continue;
      const uint32_t from = plan().actions(edge.from).slice();
      const uint32_t to = plan().actions(edge.to).slice();
      HostAllEdge all;
      all.edge = static_cast<uint32_t>(e);
      all.all_sources = static_cast<uint32_t>(p_.slices()[from].num_shards);
      for (const auto& device : out_.devices) {
        if (device == nullptr) continue;
        all.own_sources += device->shards[from].size();
        for (size_t k = 0; k < device->shards[to].size(); ++k) {
          all.targets.push_back({device->device, device->edge_base[e] +
                                                     static_cast<uint32_t>(k)});
        }
      }
      if (all.own_sources == 0 && all.targets.empty()) continue;
      if (all.own_sources > 0) {
        for (const auto& [host, count] : p_.slices()[to].hosts) {
          if (host != out_.host) all.target_hosts.push_back(host);
        }
      }
      all.left.assign(p_.window(), all.own_sources);
      all.arrived.assign(p_.window(), 0);
      all.left_poison.assign(p_.window(), 0);
      all.arrived_poison.assign(p_.window(), 0);
      out_.all_of_edge[e] = static_cast<int32_t>(out_.all_edges.size());
      out_.all_edges.push_back(std::move(all));
    }
  }

  void MakeGroups() {
    // Shapes first: steps point at them.
    size_t count = 0;
    for (const proto::Action& action : plan().actions()) {
      for (const proto::GangStep& step : action.steps()) {
        count += step.has_collective();
      }
    }
    out_.shapes.reserve(count);
    for (int a = 0; a < plan().actions_size(); ++a) {
      const proto::Action& action = plan().actions(a);
      for (int i = 0; i < action.steps_size(); ++i) {
        if (!action.steps(i).has_collective()) continue;
        const proto::Collective& c = action.steps(i).collective();
        const PreparedBuffer& source = p_.buffers()[c.source()];
        const PreparedBuffer& result = p_.buffers()[c.result()];
        CollectiveShape shape;
        shape.kind = c.kind();
        shape.reduction = c.reduction();
        shape.element = source.element;
        shape.element_bytes = source.element_bytes;
        shape.size = GroupSize(plan().slices(action.slice()), c);
        shape.dim = c.dim();
        shape.concat_dim = c.concat_dim();
        shape.shift = c.shift();
        shape.wrap = c.wrap();
        shape.source = source.shape;
        shape.result = result.shape;
        shape_of_[{a, i}] = out_.shapes.size();
        out_.shapes.push_back(std::move(shape));
        for (const auto& device : out_.devices) {
          if (device == nullptr) continue;
          for (int32_t shard : device->shards[action.slice()]) {
            AddGroupMember(a, i, action.slice(), c, shard);
          }
        }
      }
    }
  }

  void AddGroupMember(uint32_t action, uint32_t step, uint32_t slice,
                      const proto::Collective& c, int32_t shard) {
    std::vector<int32_t> members = p_.Group(slice, c, shard);
    auto [it, fresh] = out_.group_of.try_emplace(
        {action, step, static_cast<uint32_t>(members[0])},
        static_cast<uint32_t>(out_.groups.size()));
    if (!fresh) return;
    HostGroup group;
    group.action = action;
    group.step = step;
    const CollectiveShape& shape = out_.shapes[shape_of_[{action, step}]];
    group.bytes = shape.element_bytes;
    for (int64_t size : shape.source) group.bytes *= size;
    std::vector<std::pair<int, uint32_t>> order;  // (host, rank)
    std::map<uint32_t, std::vector<uint32_t>> locals;
    for (uint32_t r = 0; r < members.size(); ++r) {
      const Topology::Place place = PlaceOf(slice, members[r]);
      order.emplace_back(place.host, r);
      if (place.host == out_.host) locals[place.device].push_back(r);
    }
    std::sort(order.begin(), order.end());
    group.place.resize(members.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      group.place[order[i].second] = i;
      if (order[i].first == out_.host) {
        if (group.own_count++ == 0) group.own_begin = i;
      } else if (!group.remotes.empty() &&
                 group.remotes.back().host == order[i].first) {
        ++group.remotes.back().count;
      } else {
        group.remotes.push_back({order[i].first, i, 1});
      }
    }
    for (auto& [device, ranks] : locals) {
      group.locals.push_back({device, /*met=*/0, std::move(ranks)});
    }
    group.here.assign(2 * members.size(), 0);
    group.members = std::move(members);
    if (group.remotes.empty() && group.locals.size() > 1) {
      group.meeting = std::make_unique<GroupMeeting>();
      std::map<uint32_t, std::vector<uint32_t>> cohorts;
      for (const HostGroup::Local& local : group.locals) {
        cohorts[directory_.cohorts[out_.host][local.device]].push_back(
            local.device);
      }
      for (auto& [cohort, members] : cohorts) {
        group.meeting->cohorts.push_back(std::move(members));
      }
      group.meeting->counts.resize(cohorts.size());
      group.shared = shape.kind == proto::ALL_REDUCE;
    }
    group.at.resize(group.members.size());
    if (group.meeting == nullptr) {
      for (uint32_t r = 0; r < group.members.size(); ++r) {
        group.at[r] = group.place[r] * group.bytes;
      }
      group.slot_bytes = Align(group.members.size() * group.bytes);
    } else {
      for (uint32_t c = 0; c < group.meeting->cohorts.size(); ++c) {
        for (const HostGroup::Local& local : group.locals) {
          if (CohortIn(group, local.device) != c) continue;
          for (uint32_t rank : local.ranks) {
            group.at[rank] = group.slot_bytes;
            group.slot_bytes += group.bytes;
          }
        }
        group.slot_bytes = Align(group.slot_bytes);
      }
    }
    if (group.shared) group.result_bytes = Align(group.bytes);
    group_at_.push_back(host_sum_.total());
    host_sum_.Add(group.slot_bytes, 2);
    host_sum_.Add(group.result_bytes, 2);
    out_.groups.push_back(std::move(group));
  }

  // Which cohort of the group's meeting a device is in.
  static uint32_t CohortIn(const HostGroup& group, uint32_t device) {
    if (group.meeting == nullptr) return 0;
    uint32_t cohort = 0;
    for (; cohort < group.meeting->cohorts.size(); ++cohort) {
      const std::vector<uint32_t>& devices = group.meeting->cohorts[cohort];
      if (std::binary_search(devices.begin(), devices.end(), device)) break;
    }
    return cohort;
  }

  // Sends, receives, feeds and fetches; staging is only counted here.
  void MakeOps(DeviceProgram* device) {
    for (int a = 0; a < plan().actions_size(); ++a) {
      const proto::Action& action = plan().actions(a);
      if (action.kind() != proto::SEND || device->first_entry[a] == kNone) {
        continue;
      }
      // Staging for every piece of every local shard that leaves the host.
      const proto::Buffer& to =
          plan().buffers(plan().actions(action.peer()).results(0));
      const int64_t element = p_.buffers()[action.operands(0)].element_bytes;
      const uint32_t slice = plan().actions(action.peer()).slice();
      for (int32_t shard : device->shards[action.slice()]) {
        for (const layout::Piece& piece : p_.movement(a).PiecesFrom(shard)) {
          if (PlaceOf(slice, piece.destination).host == out_.host) continue;
          uint64_t bytes = element;
          for (int64_t size : piece.extent) bytes *= size;
          staging_.push_back(host_sum_.total());
          host_sum_.Add(Align(bytes), std::max<uint32_t>(1, to.credits()));
        }
      }
    }
  }

  void MakeGangs(DeviceProgram* device) {
    for (uint32_t i = 0; i < device->entries.size(); ++i) {
      Entry& entry = device->entries[i];
      const proto::Action& action = plan().actions(entry.action);
      const int64_t k = i - device->first_entry[entry.action];
      switch (action.kind()) {
        case proto::GANG:
          if (k == 0) MakeGang(device, entry.action);
          break;
        case proto::SEND:
          MakeSend(device, &entry, action, k);
          break;
        case proto::RECV:
          MakeRecv(device, &entry, action, k);
          break;
        case proto::FEED:
          MakeFeed(device, &entry, action, k);
          break;
        case proto::FETCH:
          MakeFetch(device, &entry, action, k);
          break;
        default:
          break;
      }
    }
  }

  void MakeGang(DeviceProgram* device, uint32_t a) {
    const proto::Action& action = plan().actions(a);
    const std::vector<int32_t>& shards = device->shards[action.slice()];
    const layout::Mesh& mesh = p_.slices()[action.slice()].mesh;
    const ResolvedKernel* kernel =
        p_.kernel(action.kernel(), island_, first_device_ + device->device);
    Gang gang;
    gang.action = a;
    gang.first_entry = device->first_entry[a];
    gang.shards = static_cast<uint32_t>(shards.size());
    for (uint32_t k = 0; k < gang.shards; ++k) {
      gang.need += device->entries[gang.first_entry + k].need;
    }
    gang.num_coordinates = static_cast<uint32_t>(mesh.size());
    gang.cost_ns = static_cast<TimeNs>(
        std::min<uint64_t>(action.cost_ns(), uint64_t{1} << 50));
    auto [coordinates, fresh] = coordinates_of_.try_emplace(
        {device->device, action.slice()},
        static_cast<uint32_t>(device->coordinates.size()));
    gang.first_coordinate = coordinates->second;
    if (fresh) {
      for (int32_t shard : shards) {
        for (int64_t c : layout::Coordinates(mesh, shard)) {
          device->coordinates.push_back(static_cast<int32_t>(c));
        }
      }
    }
    gang.step_begin = static_cast<uint32_t>(device->steps.size());
    for (int i = 0; i < action.steps_size(); ++i) {
      GangStepTable step;
      if (action.steps(i).has_run()) {
        const proto::GangStep::Run& run = action.steps(i).run();
        if (kernel != nullptr) step.function = kernel->segments[run.segment()];
        step.operands = static_cast<uint32_t>(run.buffers_size());
        step.first_slot = static_cast<uint32_t>(device->slots.size());
        device->max_operands = std::max(device->max_operands, step.operands);
        for (size_t k = 0; k < shards.size(); ++k) {
          for (uint32_t buffer : run.buffers()) {
            device->slots.push_back(Slot(buffer, device->device, k));
          }
        }
      } else if (action.steps(i).has_collective()) {
        step.collective = static_cast<int32_t>(device->collectives.size());
        MakeCollective(device, a, static_cast<uint32_t>(i));
      } else {
        continue;
      }
      device->steps.push_back(step);
    }
    gang.step_end = static_cast<uint32_t>(device->steps.size());
    device->gangs.push_back(std::move(gang));
  }

  void MakeCollective(DeviceProgram* device, uint32_t a, uint32_t i) {
    const proto::Action& action = plan().actions(a);
    const proto::Collective& c = action.steps(i).collective();
    const std::vector<int32_t>& shards = device->shards[action.slice()];
    CollectiveTable table;
    table.shape = &out_.shapes[shape_of_[{a, i}]];
    table.member_begin = static_cast<uint32_t>(device->members.size());
    table.group_begin = static_cast<uint32_t>(device->groups_in.size());
    device->max_group =
        std::max<uint64_t>(device->max_group, table.shape->size);
    for (size_t k = 0; k < shards.size(); ++k) {
      const std::vector<int32_t> ranks =
          p_.Group(action.slice(), c, shards[k]);
      CollectiveMember member;
      member.group =
          out_.group_of.at({a, i, static_cast<uint32_t>(ranks[0])});
      member.rank = static_cast<uint32_t>(
          std::find(ranks.begin(), ranks.end(), shards[k]) - ranks.begin());
      HostGroup& group = out_.groups[member.group];
      table.bytes = group.bytes;
      member.source = Slot(c.source(), device->device, k);
      member.result = Slot(c.result(), device->device, k);
      if (group.data != nullptr) {
        member.contribution = {group.contribution(0, member.rank),
                               group.slot_bytes, 2};
        member.combined = {group.result(0), group.result_bytes, 2};
      }
      member.has_combined = group.shared;
      device->members.push_back(member);
      if (std::any_of(device->groups_in.begin() + table.group_begin,
                      device->groups_in.end(), [&](const DeviceGroup& in) {
                        return in.group == member.group;
                      })) {
        continue;
      }
      for (HostGroup::Local& local : group.locals) {
        if (local.device != device->device) continue;
        local.met = static_cast<uint32_t>(device->groups_in.size());
      }
      device->groups_in.push_back({member.group,
                                   CohortIn(group, device->device),
                                   group.meeting.get()});
    }
    table.member_end = static_cast<uint32_t>(device->members.size());
    table.group_end = static_cast<uint32_t>(device->groups_in.size());
    device->collectives.push_back(table);
  }

  // Which gangs only run a kernel, once it is known what they wait for and
  // whom they tell.
  void MarkPlain(DeviceProgram* device) {
    uint32_t end = 0;
    for (size_t g = device->gangs.size(); g-- > 0;) {
      Gang& gang = device->gangs[g];
      const Entry& entry = device->entries[gang.first_entry];
      if (gang.shards != 1 || gang.need != 0 ||
          entry.out_begin != entry.out_end ||
          gang.step_end != gang.step_begin + 1 ||
          device->steps[gang.step_begin].collective >= 0) {
        end = 0;
        continue;
      }
      if (end == 0) end = static_cast<uint32_t>(g) + 1;
      gang.plain_end = end;
    }
  }

  void MakeSend(DeviceProgram* device, Entry* entry,
                const proto::Action& action, int64_t k) {
    SendOp op;
    op.from = Slot(action.operands(0), device->device, k);
    op.begin = static_cast<uint32_t>(device->pieces.size());
    uint32_t edge = kNone;
    for (uint32_t e : p_.out_edges(entry->action)) {
      if (p_.edges()[e].kind == proto::DATA &&
          p_.edges()[e].relation == proto::PIECES) {
        edge = e;
      }
    }
    const proto::Action& recv = plan().actions(action.peer());
    for (layout::Piece& piece :
         p_.movement(entry->action).PiecesFrom(entry->shard)) {
      PieceOut out;
      out.token = TokenTo(*device, edge, piece.destination);
      out.source = &p_.buffers()[action.operands(0)];
      out.destination = &p_.buffers()[recv.results(0)];
      out.bytes = out.source->element_bytes;
      for (int64_t size : piece.extent) out.bytes *= size;
      out.from = op.from;
      out.zeros.assign(piece.extent.size(), 0);
      out.source_offset = std::move(piece.source_offset);
      out.destination_offset = std::move(piece.destination_offset);
      out.extent = std::move(piece.extent);
      if (out.token.type == OutToken::kRemote) {
        const uint64_t at = staging_[next_staging_++];
        out.to.credits =
            std::max<uint32_t>(1, plan().buffers(recv.results(0)).credits());
        if (out_.host_memory.data() != nullptr) {
          out.to.base = out_.host_memory.data() + at;
          out.to.stride = Align(out.bytes);
        }
      } else {
        const Topology::Place place = PlaceOf(recv.slice(), piece.destination);
        out.to =
            Slot(recv.results(0), place.device,
                 out_.devices[place.device]->LocalIndex(
                     recv.slice(), static_cast<uint32_t>(piece.destination)));
      }
      device->pieces.push_back(std::move(out));
    }
    op.end = static_cast<uint32_t>(device->pieces.size());
    entry->op = static_cast<uint32_t>(device->sends.size());
    device->sends.push_back(op);
  }

  void MakeRecv(DeviceProgram* device, Entry* entry,
                const proto::Action& action, int64_t k) {
    const layout::Movement& movement = p_.movement(action.peer());
    const PreparedSlice& slice = p_.slices()[action.slice()];
    RecvOp op;
    op.to = Slot(action.results(0), device->device, k);
    op.buffer = &p_.buffers()[action.results(0)];
    op.valid =
        layout::ShardBox(op.buffer->layout, slice.mesh, entry->shard).extent;
    const std::vector<layout::Piece>& pieces =
        PiecesInto(action.peer(), entry->shard);
    if (movement.NeedsFill(entry->shard)) {
      op.fill = !pieces.empty()                        ? RecvOp::kPadding
                : movement.FillsIdentity(entry->shard) ? RecvOp::kIdentity
                                                       : RecvOp::kZero;
    }
    uint32_t edge = kNone;
    for (uint32_t e : p_.in_edges(entry->action)) {
      if (p_.edges()[e].kind == proto::DATA &&
          p_.edges()[e].relation == proto::PIECES) {
        edge = e;
      }
    }
    const uint32_t source_slice = plan().actions(action.peer()).slice();
    std::vector<PieceIn> remote;
    for (const layout::Piece& piece : pieces) {
      if (PlaceOf(source_slice, piece.source).host == out_.host) continue;
      PieceIn in;
      in.source_shard = static_cast<int32_t>(piece.source);
      in.in_edge = device->edge_base[edge] + static_cast<uint32_t>(k);
      in.destination = op.buffer;
      in.destination_offset = piece.destination_offset;
      in.extent = piece.extent;
      in.zeros.assign(piece.extent.size(), 0);
      in.to = op.to;
      in.bytes = op.buffer->element_bytes;
      for (int64_t size : piece.extent) in.bytes *= size;
      remote.push_back(std::move(in));
    }
    if (!remote.empty()) {
      std::sort(remote.begin(), remote.end(),
                [](const PieceIn& a, const PieceIn& b) {
                  return a.source_shard < b.source_shard;
                });
      out_.pieces_in[uint64_t{device->device} << 32 |
                     (entry - device->entries.data())] = std::move(remote);
    }
    entry->op = static_cast<uint32_t>(device->recvs.size());
    device->recvs.push_back(std::move(op));
  }

  // What this host holds of the arrays that go in and out.
  void CutValues() {
    auto cut = [&](int slice, uint32_t buffer) {
      HostBlocks blocks;
      for (const auto& device : out_.devices) {
        if (device == nullptr) continue;
        blocks.shards.insert(blocks.shards.end(), device->shards[slice].begin(),
                             device->shards[slice].end());
      }
      std::sort(blocks.shards.begin(), blocks.shards.end());
      const PreparedBuffer& b = p_.buffers()[buffer];
      blocks.parts = CutParts(b.layout, p_.slices()[slice].mesh,
                              b.element_bytes, blocks.shards);
      return blocks;
    };
    const proto::Interface& interface = plan().interface();
    for (const proto::Argument& argument : interface.arguments()) {
      const proto::Action& feed = plan().actions(argument.action());
      arguments_.push_back(cut(feed.slice(), feed.results(0)));
      out_.argument_bytes.push_back(arguments_.back().parts.step_bytes);
    }
    for (const proto::Result& result : interface.results()) {
      const proto::Action& fetch = plan().actions(result.action());
      results_.push_back(cut(fetch.slice(), fetch.operands(0)));
      out_.result_bytes.push_back(results_.back().parts.step_bytes);
    }
  }

  void MakeFeed(DeviceProgram* device, Entry* entry,
                const proto::Action& action, int64_t k) {
    const proto::Argument& argument =
        plan().interface().arguments(action.interface());
    FeedOp op;
    op.argument = action.interface();
    op.stepped = argument.stepped();
    op.carried = argument.carried();
    op.buffer = &p_.buffers()[action.results(0)];
    op.to = Slot(action.results(0), device->device, k);
    if (op.carried && action.operands_size() > 0) {
      op.carried_from = Slot(action.operands(0), device->device, k);
    }
    const layout::Mesh& mesh = p_.slices()[action.slice()].mesh;
    op.extent = layout::ShardBox(op.buffer->layout, mesh, entry->shard).extent;
    op.zeros.assign(op.buffer->shape.size(), 0);
    op.bytes = op.buffer->element_bytes;
    for (int64_t size : op.buffer->shape) op.bytes *= size;
    op.part = arguments_[op.argument].Of(entry->shard);
    entry->op = static_cast<uint32_t>(device->feeds.size());
    device->feeds.push_back(std::move(op));
  }

  void MakeFetch(DeviceProgram* device, Entry* entry,
                 const proto::Action& action, int64_t k) {
    FetchOp op;
    op.result = action.interface();
    op.stepped = plan().interface().results(action.interface()).stepped();
    op.buffer = &p_.buffers()[action.operands(0)];
    op.from = Slot(action.operands(0), device->device, k);
    const layout::Mesh& mesh = p_.slices()[action.slice()].mesh;
    op.extent = layout::ShardBox(op.buffer->layout, mesh, entry->shard).extent;
    op.zeros.assign(op.buffer->shape.size(), 0);
    op.part = results_[op.result].Of(entry->shard);
    op.writes = op.part.bytes > 0 &&
                op.part.shard == static_cast<int32_t>(entry->shard);
    entry->op = static_cast<uint32_t>(device->fetches.size());
    device->fetches.push_back(std::move(op));
  }

  void MakeTokens(DeviceProgram* device) {
    for (uint32_t i = 0; i < device->entries.size(); ++i) {
      Entry& entry = device->entries[i];
      const int64_t k = i - device->first_entry[entry.action];
      entry.out_begin = static_cast<uint32_t>(device->out.size());
      for (uint32_t e : p_.out_edges(entry.action)) {
        const PreparedEdge& edge = p_.edges()[e];
        if (edge.elided) continue;
        OutToken token;
        token.poisons = edge.poisons;
        token.tokens = static_cast<uint16_t>(edge.tokens);
        if (edge.relation == proto::ALL) {
          token.type = OutToken::kAll;
          token.target = e;
          device->out.push_back(token);
        } else if (edge.relation == proto::SAME) {
          token.target = device->edge_base[e] + static_cast<uint32_t>(k);
          device->out.push_back(token);
        } else if (edge.kind != proto::DATA) {
          // Against the pieces, to those who send to this shard.
          const std::vector<layout::Piece>& pieces =
              PiecesInto(edge.send, entry.shard);
          for (const layout::Piece& piece : pieces) {
            device->out.push_back(TokenTo(*device, e, piece.source));
          }
          if (pieces.empty() && device->self_base[e] != kNone) {
            token.target = device->self_base[e] + static_cast<uint32_t>(k);
            device->out.push_back(token);
          }
        }  // else: goes with the pieces
      }
      if (dispatch_.prepares()) {
        OutToken token;
        token.type = OutToken::kHost;
        token.target = entry.action;
        device->out.push_back(token);
      }
      entry.out_end = static_cast<uint32_t>(device->out.size());
      for (uint32_t e : p_.out_edges(entry.action)) {
        const PreparedEdge& edge = p_.edges()[e];
        if (!edge.elided || !edge.poisons) continue;
        OutToken token;
        token.poisons = true;
        token.target = device->first_entry[edge.to] + static_cast<uint32_t>(k);
        device->out.push_back(token);
      }
      entry.poison_end = static_cast<uint32_t>(device->out.size());
    }
  }

  // With sequential dispatch, sources are those of data edges: of a movement
  // into shards of this host, on every host that sends them pieces.
  void MakeDispatch() {
    auto table = std::make_unique<DispatchTable>();
    table->window = p_.window();
    table->item_of.assign(plan().actions_size(), -1);
    for (int a = 0; a < plan().actions_size(); ++a) {
      DispatchTable::Item item;
      item.action = a;
      for (const auto& device : out_.devices) {
        if (device == nullptr || device->first_entry[a] == kNone) continue;
        item.devices.push_back(device->device);
        item.shards += device->shards[plan().actions(a).slice()].size();
      }
      if (item.shards == 0) continue;
      item.left.assign(p_.window(), item.shards);
      table->item_of[a] = static_cast<int32_t>(table->items.size());
      table->items.push_back(std::move(item));
    }
    for (uint32_t e = 0; e < p_.edges().size() && dispatch_.sequential; ++e) {
      const PreparedEdge& edge = p_.edges()[e];
      if (edge.kind != proto::DATA) continue;
      const int32_t from = table->item_of[edge.from];
      const int32_t to = table->item_of[edge.to];
      auto add = [&](bool remote, size_t index) {
        table->items[to].sources.push_back(
            {remote, static_cast<uint32_t>(index), edge.tokens});
      };
      if (edge.relation == proto::SAME) {
        if (to < 0) continue;
        add(/*remote=*/false, from);
        table->items[from].followers.push_back(to);
        continue;
      }
      if (from >= 0) {
        for (int32_t host : HostsOfPieces(edge, /*from_here=*/true)) {
          if (host != out_.host) {
            table->items[from].elsewhere.push_back({host, e});
          }
        }
      }
      if (to < 0) continue;
      for (int32_t host : HostsOfPieces(edge, /*from_here=*/false)) {
        if (host == out_.host) {
          add(/*remote=*/false, from);
          table->items[from].followers.push_back(to);
        } else {
          add(/*remote=*/true, table->remotes.size());
          table->remotes.push_back(
              {host, e, static_cast<uint32_t>(to), /*enqueued=*/0});
        }
      }
    }
    out_.dispatch = std::move(table);
  }

  // Hosts to which shards of this host send pieces along a data edge, or from
  // which they receive some; ascending.
  std::set<int32_t> HostsOfPieces(const PreparedEdge& edge, bool from_here) {
    const uint32_t own =
        plan().actions(from_here ? edge.from : edge.to).slice();
    const uint32_t other =
        plan().actions(from_here ? edge.to : edge.from).slice();
    std::set<int32_t> hosts;
    for (const auto& device : out_.devices) {
      if (device == nullptr) continue;
      for (int32_t shard : device->shards[own]) {
        if (from_here) {
          for (const layout::Piece& piece :
               p_.movement(edge.send).PiecesFrom(shard)) {
            hosts.insert(PlaceOf(other, piece.destination).host);
          }
        } else {
          for (const layout::Piece& piece : PiecesInto(edge.send, shard)) {
            hosts.insert(PlaceOf(other, piece.source).host);
          }
        }
      }
    }
    return hosts;
  }

  void CountAll() {
    for (const auto& device : out_.devices) {
      if (device == nullptr) continue;
      device->groups = out_.groups.data();
      out_.num_entries += device->entries.size();
      out_.num_in_edges += device->in_edges.size();
      out_.num_queue_entries += device->gangs.size();
    }
  }

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
  const Directory& directory_;
  const DispatchOptions& dispatch_;
  HostProgram& out_;
  std::vector<HostBlocks> arguments_, results_;
  int island_ = 0;
  int64_t first_device_ = 0;
  // Of each device and slice: where its first shard begins.
  std::vector<std::vector<uint64_t>> device_base_, host_base_;
  Sum host_sum_;
  std::vector<uint64_t> group_at_;
  std::vector<uint64_t> staging_;
  size_t next_staging_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, size_t> shape_of_;
  // (device, slice) -> where the coordinates of its shards begin.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> coordinates_of_;
  absl::flat_hash_map<std::pair<uint32_t, int32_t>, std::vector<layout::Piece>>
      into_;
};

absl::StatusOr<std::unique_ptr<HostProgram>> HostProgram::Build(
    std::shared_ptr<const PreparedPlan> plan, const Topology& topology,
    const Directory& directory, const DispatchOptions& dispatch, int host,
    uint32_t program, uint32_t incarnation, const std::vector<Arena*>& arenas,
    Arena* host_arena) {
  auto self = std::make_unique<HostProgram>();
  self->plan = std::move(plan);
  self->program = program;
  self->incarnation = incarnation;
  self->host = host;
  absl::Status built =
      HostProgramBuilder(*self->plan, topology, directory, dispatch, self.get())
          .Build(arenas, host_arena);
  if (!built.ok()) return built;
  return self;
}

}  // namespace pathways
