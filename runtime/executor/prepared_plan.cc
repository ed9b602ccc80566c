//===- prepared_plan.cc - A plan bound to a cluster -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/prepared_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "runtime/executor/parts.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

std::string TargetText(const proto::Target& target) {
  std::string text = absl::StrCat(target.triple(), "|", target.cpu());
  for (const std::string& feature : target.features()) {
    absl::StrAppend(&text, "|", feature);
  }
  return text;
}

bool IsSame(const proto::Target& a, const proto::Target& b) {
  return a.triple() == b.triple() && a.cpu() == b.cpu() &&
         std::equal(a.features().begin(), a.features().end(),
                    b.features().begin(), b.features().end());
}

// "x86_64-unknown-linux-gnu znver4 +avx2", with those features only that the
// other one has not.
std::string TargetApart(const proto::Target& target,
                        const proto::Target& other) {
  std::string text =
      absl::StrCat(target.triple().empty() ? "this machine's" : target.triple(),
                   target.cpu().empty() ? "" : " ", target.cpu());
  for (const std::string& feature : target.features()) {
    if (std::find(other.features().begin(), other.features().end(), feature) ==
        other.features().end()) {
      absl::StrAppend(&text, " ", feature);
    }
  }
  return text;
}

// InvalidArgument: the hosts of a slice have two types of CPUs. Its shards
// would round in two ways.
absl::Status CheckOneTarget(const proto::Slice& slice, const Topology& topology,
                            int island, absl::Span<const int32_t> devices) {
  const proto::Target* first = nullptr;
  for (int32_t device : devices) {
    const proto::Target& target = topology.device(island, device).target();
    if (first == nullptr) first = &target;
    if (IsSame(*first, target)) continue;
    const int one = topology.Locate(island, devices.front()).host;
    const int other = topology.Locate(island, device).host;
    // Of one host, that is for who loads its code to say.
    if (one == other) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "slice '", slice.name(), "' lies on hosts of two CPU types: ",
        topology.HostName(one), " has '", TargetApart(*first, target), "', ",
        topology.HostName(other), " has '", TargetApart(target, *first), "'"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PreparedPlan::Bind(const Topology& topology) {
  const proto::Plan& plan = this->plan();
  std::set<int32_t> hosts, islands;
  slices_.resize(plan.slices_size());
  for (int s = 0; s < plan.slices_size(); ++s) {
    const proto::Slice& slice = plan.slices(s);
    PreparedSlice& out = slices_[s];
    const uint32_t island = slice.binding().island();
    if (island >= static_cast<uint32_t>(topology.num_islands())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "slice '", slice.name(), "' is bound to island ", island,
          ", but the cluster has ", topology.num_islands(), " islands"));
    }
    out.island = static_cast<int>(island);
    out.mesh = MeshOf(slice);
    out.num_shards = layout::NumShards(out.mesh);
    const int64_t devices = topology.num_devices(out.island);
    const std::string kind = slice.kind().empty() ? "cpu" : slice.kind();
    out.device_of.reserve(out.num_shards);
    out.by_device.reserve(out.num_shards);
    for (int64_t shard = 0; shard < out.num_shards; ++shard) {
      std::optional<int64_t> device = DeviceOf(slice, shard);
      if (!device || *device < 0 || *device >= devices) {
        return absl::InvalidArgumentError(absl::StrCat(
            "slice '", slice.name(), "' puts shard ", shard, " on device ",
            device ? absl::StrCat(*device) : std::string("(out of range)"),
            " of ", topology.IslandName(out.island), ", which has ", devices,
            " devices"));
      }
      const std::string& has = DeviceKind(topology.device(out.island, *device));
      if (has != kind) {
        return absl::InvalidArgumentError(absl::StrCat(
            "slice '", slice.name(), "' asks for devices of kind '", kind,
            "', but ", topology.DeviceName(out.island, *device),
            " is of kind '", has, "'"));
      }
      out.device_of.push_back(static_cast<int32_t>(*device));
      out.by_device.emplace_back(static_cast<int32_t>(*device),
                                 static_cast<int32_t>(shard));
    }
    absl::Status same =
        CheckOneTarget(slice, topology, out.island, out.device_of);
    if (!same.ok()) return same;
    std::sort(out.by_device.begin(), out.by_device.end());
    for (const auto& [device, shard] : out.by_device) {
      const int host = topology.Locate(out.island, device).host;
      if (out.hosts.empty() || out.hosts.back().first != host) {
        out.hosts.emplace_back(host, 0);
        hosts.insert(host);
      }
      ++out.hosts.back().second;
    }
    islands.insert(out.island);
    out.device_bytes = SegmentBytes(plan, s, proto::DEVICE);
    out.host_bytes = SegmentBytes(plan, s, proto::HOST);
  }
  hosts_.assign(hosts.begin(), hosts.end());
  islands_.assign(islands.begin(), islands.end());
  return absl::OkStatus();
}

void PreparedPlan::FindNeeded(const Topology& topology, HostFilter is_here) {
  const proto::Plan& plan = this->plan();
  struct Wanted {
    proto::Target target;
    std::string device;  // the first that has it
  };
  std::map<std::string, Wanted> targets;
  bool first = true;
  // Which targets does each kernel run on?
  std::map<uint32_t, std::set<std::string>> wanted;
  std::vector<std::set<std::string>> slice_targets(slices_.size());
  for (size_t s = 0; s < slices_.size(); ++s) {
    int32_t last = -1;
    for (const auto& [device, shard] : slices_[s].by_device) {
      if (device == last) continue;
      last = device;
      if (!is_here(topology.Locate(slices_[s].island, device).host)) continue;
      const proto::Target& target =
          topology.device(slices_[s].island, device).target();
      const std::string text = TargetText(target);
      if (first) common_target_ = text;
      first = false;
      if (targets.count(text) == 0) {
        targets[text] = {target,
                         topology.DeviceName(slices_[s].island, device)};
      }
      slice_targets[s].insert(text);
      if (text != common_target_) {
        target_of_[{slices_[s].island, device}] = text;
      }
    }
  }
  for (const proto::Action& action : plan.actions()) {
    if (action.kind() != proto::GANG) continue;
    for (const proto::GangStep& step : action.steps()) {
      if (!step.has_run()) continue;
      wanted[action.kernel()].insert(slice_targets[action.slice()].begin(),
                                     slice_targets[action.slice()].end());
      break;
    }
  }
  for (const auto& [kernel, texts] : wanted) {
    for (const std::string& text : texts) {
      needed_.push_back(
          {kernel, targets.at(text).target, targets.at(text).device});
    }
  }
}

void PreparedPlan::SetCode(
    google::protobuf::RepeatedPtrField<proto::Kernel> kernels,
    absl::Span<const uint8_t> blobs, std::shared_ptr<const void> owner) {
  *data_.tables.mutable_kernels() = std::move(kernels);
  data_.blobs = blobs;
  data_.owner = std::move(owner);
}

absl::Status PreparedPlan::LoadCode(KernelResolver* resolver) {
  for (const NeededCode& needed : needed_) {
    const proto::Kernel& kernel =
        plan().kernels(static_cast<int>(needed.kernel));
    absl::StatusOr<ResolvedKernel> code =
        resolver->Resolve(kernel, data_.blobs, needed.target);
    if (!code.ok()) {
      return absl::Status(
          code.status().code(),
          absl::StrCat("device ", needed.device, ": ",
                       absl::string_view(code.status().message())));
    }
    if (code->segments.size() != static_cast<size_t>(kernel.segments_size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("the code of kernel '", kernel.name(), "' has ",
                       code->segments.size(), " segments, the plan ",
                       kernel.segments_size()));
    }
    code_[{needed.kernel, TargetText(needed.target)}] = *std::move(code);
  }
  return absl::OkStatus();
}

// Buffers whose slots turn together lie side by side within one stride. Others
// are apart as a whole, or count as sharing what they have.
void PreparedPlan::FindShared() {
  struct Range {
    uint64_t begin = 0, end = 0;  // of the first slot
    uint32_t buffer = 0;
    bool operator<(const Range& other) const {
      return std::tie(begin, end, buffer) <
             std::tie(other.begin, other.end, other.buffer);
    }
  };
  struct Turn {
    uint64_t begin = UINT64_MAX, end = 0;  // of all slots
    std::vector<Range> ranges;
  };
  using Memory = std::tuple<uint32_t, int>;                  // slice, kind
  std::map<Memory, std::map<std::tuple<uint32_t, uint64_t>,  // credits, stride
                            Turn>>
      turns;
  for (int b = 0; b < plan().buffers_size(); ++b) {
    const proto::Buffer& buffer = plan().buffers(b);
    buffers_[b].is_alone = true;
    if (buffer.bytes() == 0) continue;
    Turn& turn = turns[{buffer.slice(), buffer.memory()}][{
        buffer.credits(), buffer.credits() > 1 ? buffer.slot_stride() : 0}];
    turn.begin = std::min(turn.begin, buffer.offset());
    turn.end = std::max(turn.end, buffer.offset() + SpanBytes(buffer));
    turn.ranges.push_back({buffer.offset(), buffer.offset() + buffer.bytes(),
                           static_cast<uint32_t>(b)});
  }
  auto share = [&](const Turn& turn) {
    for (const Range& range : turn.ranges) {
      buffers_[range.buffer].is_alone = false;
    }
  };
  for (auto& [memory, by_turn] : turns) {
    std::vector<const Turn*> order;
    for (auto& [key, turn] : by_turn) {
      order.push_back(&turn);
      std::sort(turn.ranges.begin(), turn.ranges.end());
      const Range* furthest = nullptr;
      for (const Range& range : turn.ranges) {
        // Whoever else it meets has met `furthest`.
        if (furthest != nullptr && range.begin < furthest->end) {
          buffers_[range.buffer].is_alone = false;
          buffers_[furthest->buffer].is_alone = false;
        }
        if (furthest == nullptr || range.end >= furthest->end) {
          furthest = &range;
        }
      }
    }
    for (const Turn* a : order) {
      for (const Turn* b : order) {
        if (a != b && a->begin < b->end && b->begin < a->end) share(*a);
      }
    }
  }
}

void PreparedPlan::PlaceInterface(const Topology& topology) {
  auto place = [&](uint32_t buffer, bool stepped) {
    return MakeArrayPlacement(*this, topology, static_cast<int>(buffer),
                              stepped);
  };
  for (const proto::Argument& argument : plan().interface().arguments()) {
    argument_placements_.push_back(place(
        plan().actions(argument.action()).results(0), argument.stepped()));
  }
  for (const proto::Result& result : plan().interface().results()) {
    result_placements_.push_back(
        place(plan().actions(result.action()).operands(0), result.stepped()));
    result_texts_.push_back(
        absl::StrCat("result '", result.name(), "' of program '", name(), "'"));
  }
}

absl::StatusOr<std::shared_ptr<const PreparedPlan>> PreparedPlan::Create(
    PlanData data, const Topology& topology, KernelResolver* resolver,
    bool runs_code, HostFilter is_here) {
  absl::StatusOr<std::unique_ptr<PreparedPlan>> plan =
      WithoutCode(std::move(data), topology, runs_code, is_here);
  if (!plan.ok()) return plan.status();
  absl::Status loaded = (*plan)->LoadCode(resolver);
  if (!loaded.ok()) return loaded;
  return std::shared_ptr<const PreparedPlan>(*std::move(plan));
}

absl::StatusOr<std::unique_ptr<PreparedPlan>> PreparedPlan::WithoutCode(
    PlanData data, const Topology& topology, bool runs_code,
    HostFilter is_here) {
  std::unique_ptr<PreparedPlan> self(new PreparedPlan);
  self->data_ = std::move(data);
  const proto::Plan& plan = self->plan();
  self->window_ = std::max<uint32_t>(1, plan.header().steps_in_flight());
  absl::Status bound = self->Bind(topology);
  if (!bound.ok()) return bound;

  uint64_t entries = 0;
  for (const proto::Action& action : plan.actions()) {
    entries += self->slices_[action.slice()].num_shards;
    if (entries > kMaxActionShards) break;
  }
  for (const proto::Edge& edge : plan.edges()) {
    entries += self->slices_[plan.actions(edge.to()).slice()].num_shards;
    if (entries > kMaxActionShards) break;
  }
  if (entries > kMaxActionShards / self->window_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("program '", self->name(), "' needs at least ", entries,
                     " counters of ", self->window_, " firings, more than the ",
                     kMaxActionShards, " that are supported"));
  }

  self->buffers_.resize(plan.buffers_size());
  for (int b = 0; b < plan.buffers_size(); ++b) {
    PreparedBuffer& out = self->buffers_[b];
    out.slice = plan.buffers(b).slice();
    out.layout = LayoutOf(plan.layouts(plan.buffers(b).layout()));
    out.element = plan.layouts(plan.buffers(b).layout()).element();
    out.element_bytes = pathways::ElementBytes(out.element);
    out.shape = layout::ShardShape(out.layout, self->slices_[out.slice].mesh);
  }
  self->FindShared();
  self->PlaceInterface(topology);

  for (int a = 0; a < plan.actions_size(); ++a) {
    const proto::Action& action = plan.actions(a);
    if (action.kind() != proto::SEND) continue;
    const PreparedBuffer& source = self->buffers_[action.operands(0)];
    const PreparedBuffer& destination =
        self->buffers_[plan.actions(action.peer()).results(0)];
    std::string error;
    if (!layout::Movement::Create(
            source.layout, self->slices_[source.slice].mesh, destination.layout,
            self->slices_[destination.slice].mesh,
            source.slice == destination.slice, &self->movements_[a], &error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("send '", action.name(), "': ", error));
    }
    if (!source.layout.partial.empty() && !self->movements_[a].IsCopy()) {
      return absl::InvalidArgumentError(
          absl::StrCat("send '", action.name(), "' moves a partial buffer '",
                       plan.buffers(action.operands(0)).name(), "'"));
    }
  }

  self->in_edges_.resize(plan.actions_size());
  self->out_edges_.resize(plan.actions_size());
  for (int e = 0; e < plan.edges_size(); ++e) {
    const proto::Edge& edge = plan.edges(e);
    PreparedEdge out;
    out.from = edge.from();
    out.to = edge.to();
    out.tokens = edge.tokens();
    out.kind = edge.kind();
    out.relation = edge.relation();
    out.poisons = edge.kind() == proto::DATA || edge.kind() == proto::CONTROL;
    const proto::Action& from = plan.actions(edge.from());
    const proto::Action& to = plan.actions(edge.to());
    // Queue order: u's firing n is before v's firing n + t in every queue.
    // Poison that would go to a later firing might go to another launch.
    out.elided = edge.relation() == proto::SAME && from.kind() == proto::GANG &&
                 to.kind() == proto::GANG && from.slice() == to.slice() &&
                 (edge.from() < edge.to() ? !out.poisons || edge.tokens() == 0
                                          : !out.poisons && edge.tokens() > 0);
    if (edge.relation() == proto::PIECES) {
      out.send = edge.kind() == proto::DATA ? edge.from() : edge.to();
    }
    self->edges_.push_back(out);
    self->in_edges_[edge.to()].push_back(e);
    self->out_edges_[edge.from()].push_back(e);
  }
  if (runs_code) self->FindNeeded(topology, is_here);
  return self;
}

const ResolvedKernel* PreparedPlan::kernel(uint32_t kernel, int island,
                                           int64_t device) const {
  auto target = target_of_.find({island, device});
  auto code = code_.find(
      {kernel, target == target_of_.end() ? common_target_ : target->second});
  return code == code_.end() ? nullptr : &code->second;
}

std::vector<int32_t> PreparedPlan::ShardsOn(int slice, int64_t device) const {
  const auto& table = slices_[slice].by_device;
  std::vector<int32_t> shards;
  for (auto it = std::lower_bound(
           table.begin(), table.end(),
           std::make_pair(static_cast<int32_t>(device), int32_t{0}));
       it != table.end() && it->first == device; ++it) {
    shards.push_back(it->second);
  }
  return shards;
}

}  // namespace pathways
