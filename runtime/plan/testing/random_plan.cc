//===- random_plan.cc - Random valid plans --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/testing/random_plan.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"

namespace pathways::testing {
namespace {

// The generator's record of a buffer.
struct Value {
  uint32_t buffer = 0;
  uint32_t slice = 0;
  uint32_t credits = 1;
  layout::Layout layout;
  proto::ElementType element = proto::F32;
  uint32_t writer = 0;
  std::vector<uint32_t> readers;
  bool shared = false;   // already in a memory group
  bool aliased = false;  // content ends in an alias: no further readers
};

class Generator {
 public:
  Generator(uint64_t seed, const RandomPlanOptions& options)
      : options_(options),
        random_(seed * 0x9e3779b97f4a7c15 + 1),
        random_islands_(seed * 0x9e3779b97f4a7c15 + 2),
        window_(1 + Below(options.max_steps_in_flight)),
        builder_("random" + std::to_string(seed), window_) {}

  proto::Plan Run() {
    MakeSlices();
    int actions =
        4 + static_cast<int>(Below(std::max(options_.max_actions, 1)));
    // Each slice needs a value to start from.
    for (uint32_t s = 0; s < meshes_.size(); ++s) Feed(s);
    while (builder_.plan().actions_size() < actions) {
      switch (Below(10)) {
        case 0:
          Feed(Below(meshes_.size()));
          break;
        case 1:
        case 2:
        case 3:
          Gang();
          break;
        case 4:
          if (options_.collectives) CollectiveGang();
          break;
        case 5:
        case 6:
          if (options_.moves) Move();
          break;
        case 7:
          Fetch(Below(values_.size()));
          break;
        case 8:
          if (options_.memory_sharing) AliasGang();
          break;
        default:
          if (options_.carried) Update();
          break;
      }
    }
    if (builder_.plan().interface().results().empty())
      Fetch(values_.size() - 1);
    if (options_.controls) Controls();
    if (options_.memory_sharing) Share();
    return builder_.Finish();
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  uint32_t Credits() { return 1 + static_cast<uint32_t>(Below(window_)); }
  std::string Name(const char* stem) { return stem + std::to_string(names_++); }

  void MakeSlices() {
    static const std::vector<layout::Mesh> kMeshes = {
        {},
        {{"x", 2}},
        {{"x", 3}},
        {{"x", 4}},
        {{"x", 2}, {"y", 2}},
        {{"x", 1}, {"y", 4}},
        {{"x", 3}, {"y", 2}},
        {{"x", 2}, {"y", 2}, {"z", 2}}};
    int64_t devices = options_.devices_per_island;
    uint64_t count = 1 + Below(std::max(options_.max_slices, 1));
    for (uint64_t i = 0; i < count; ++i) {
      layout::Mesh mesh = kMeshes[Below(kMeshes.size())];
      int64_t shards = layout::NumShards(mesh);
      uint32_t island = static_cast<uint32_t>(Below(options_.islands));
      int64_t base = shards < devices ? Below(devices - shards + 1) : 0;
      uint32_t slice = builder_.AddSlice(Name("s"), mesh, island, base,
                                         shards > devices ? devices : 0);
      if (OneIn(3)) {
        // Binds any devices in any order, perhaps some of them twice.
        proto::DeviceList* list = builder_.plan()
                                      .mutable_slices(slice)
                                      ->mutable_binding()
                                      ->mutable_list();
        for (int64_t s = 0; s < shards; ++s) list->add_devices(Below(devices));
      }
      if (options_.spanning) CutOverIslands(slice, shards);
      meshes_.push_back(std::move(mesh));
    }
  }

  // Has a random source of its own, so that the rest of a seed's plan does not
  // depend on it.
  void CutOverIslands(uint32_t slice, int64_t shards) {
    auto below = [&](int64_t bound) {
      return static_cast<int64_t>(random_islands_() %
                                  static_cast<uint64_t>(bound));
    };
    const int64_t runs = 2 + below(2), devices = options_.devices_per_island;
    if (shards % runs != 0 || runs > options_.islands || below(4) == 0) return;
    proto::Binding* binding =
        builder_.plan().mutable_slices(slice)->mutable_binding();
    const int64_t run = shards / runs, span = std::min(run, devices);
    if (binding->has_affine()) {
      binding->mutable_affine()->set_base(below(devices - span + 1));
      binding->mutable_affine()->set_span(span);
    }
    const int64_t way = 1 + below(options_.islands - 1);
    for (int64_t i = 1; i < runs; ++i) {
      proto::IslandRun* more = binding->add_more();
      // Two runs are on one island only if there are more runs than islands.
      more->set_island(static_cast<uint32_t>((binding->island() + i * way) %
                                             options_.islands));
      if (binding->has_affine()) more->set_base(below(devices - span + 1));
    }
  }

  std::vector<int64_t> Shape() {
    std::vector<int64_t> shape(Below(3));
    for (int64_t& size : shape) size = Below(options_.max_dimension + 1);
    return shape;
  }

  // Returns any layout of `shape`: each axis splits a dimension, holds copies
  // or, if `partial` is true, may hold contributions.
  layout::Layout Layout(const std::vector<int64_t>& shape, uint32_t slice,
                        bool partial) {
    layout::Layout layout;
    layout.shape = shape;
    layout.dims.resize(shape.size());
    layout::Mesh mesh = meshes_[slice];
    for (size_t i = mesh.size(); i > 1; --i)
      std::swap(mesh[i - 1], mesh[Below(i)]);
    for (const layout::Axis& axis : mesh) {
      uint64_t use = Below(3);
      if (use == 0 && !shape.empty()) {
        layout.dims[Below(shape.size())].push_back(axis.name);
      } else if (use == 1 && partial) {
        layout.partial.push_back(axis.name);
        layout.reduction = layout::Reduction::kAdd;
      }
    }
    return layout;
  }

  Value& NewValue(uint32_t slice, layout::Layout layout,
                  proto::ElementType element) {
    Value value;
    value.slice = slice;
    value.credits = Credits();
    value.layout = std::move(layout);
    value.element = element;
    value.buffer = builder_.AddBuffer(Name("b"), slice, value.layout,
                                      value.credits, element);
    values_.push_back(std::move(value));
    return values_.back();
  }
  Value& NewValue(uint32_t slice, bool partial) {
    static constexpr proto::ElementType kElements[] = {proto::F32, proto::F64,
                                                       proto::I1, proto::BF16};
    return NewValue(slice, Layout(Shape(), slice, partial),
                    kElements[Below(4)]);
  }

  // Returns the indices in values_ of values on `slice` that may have one more
  // reader.
  std::vector<size_t> Readable(uint32_t slice) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].slice == slice && !values_[i].aliased) found.push_back(i);
    }
    return found;
  }

  size_t Feed(uint32_t slice) {
    Value& value = NewValue(slice, /*partial=*/options_.contributions);
    value.writer = builder_.AddFeed(Name("arg"), value.buffer, OneIn(3));
    return values_.size() - 1;
  }

  uint32_t Fetch(size_t i) {
    Value& value = values_[i];
    if (value.aliased ||
        (!options_.contributions && !value.layout.partial.empty())) {
      return 0;
    }
    uint32_t fetch = builder_.AddFetch(Name("res"), value.buffer, OneIn(3));
    value.readers.push_back(fetch);
    return fetch;
  }

  void Gang() {
    uint32_t slice = Below(meshes_.size());
    std::vector<size_t> readable = Readable(slice);
    std::vector<size_t> read;
    for (uint64_t n = Below(4); n-- > 0 && !readable.empty();)
      read.push_back(readable[Below(readable.size())]);
    std::vector<uint32_t> operands, results;
    for (size_t i : read) operands.push_back(values_[i].buffer);
    size_t first = values_.size();
    for (uint64_t n = 1 + Below(2); n-- > 0;)
      results.push_back(NewValue(slice, /*partial=*/OneIn(4)).buffer);
    uint32_t gang =
        builder_.AddGang(Name("g"), slice, operands, results, Cost());
    for (size_t i : read) AddReader(i, gang);
    for (size_t i = first; i < values_.size(); ++i) values_[i].writer = gang;
  }

  uint64_t Cost() { return Below(options_.max_cost_ns + 1); }

  void AddReader(size_t i, uint32_t reader) {
    std::vector<uint32_t>& readers = values_[i].readers;
    if (readers.empty() || readers.back() != reader) readers.push_back(reader);
  }

  // Adds a gang that is one collective over some of the axes.
  void CollectiveGang() {
    uint32_t slice = Below(meshes_.size());
    std::vector<size_t> readable = Readable(slice);
    if (readable.empty()) return;
    size_t from = readable[Below(readable.size())];
    proto::Collective collective;
    int64_t group = 1;
    for (const layout::Axis& axis : meshes_[slice]) {
      if (OneIn(2)) continue;
      collective.add_axes(axis.name);
      group *= axis.size;
    }
    std::vector<int64_t> shape =
        layout::ShardShape(values_[from].layout, meshes_[slice]);
    collective.set_kind(proto::ALL_REDUCE);
    uint64_t kind = Below(7);
    if (kind == 6) {
      collective.set_kind(proto::BROADCAST);
      collective.set_root(static_cast<int64_t>(Below(group)));
    } else if (kind == 5) {
      collective.set_kind(proto::PERMUTE);
      for (int64_t to = 0; to < group; ++to) {
        if (OneIn(3)) continue;
        collective.add_pairs(static_cast<int64_t>(Below(group)));
        collective.add_pairs(to);
      }
    } else if (kind == 4) {
      collective.set_kind(proto::PERMUTE);
      collective.set_shift(static_cast<int64_t>(Below(7)) - 3);
      collective.set_wrap(OneIn(2));
    } else if (!shape.empty()) {
      uint64_t dim = Below(shape.size());
      uint64_t concat = Below(shape.size());
      // Bounds the sizes, which would otherwise grow along chains of
      // collectives.
      bool divides = shape[dim] % group == 0 && shape[concat] * group <= 64;
      if (kind == 1 && shape[dim] * group <= 64) {
        collective.set_kind(proto::ALL_GATHER);
        collective.set_dim(dim);
        shape[dim] *= group;
      } else if (kind == 2 && divides) {
        collective.set_kind(proto::REDUCE_SCATTER);
        collective.set_dim(dim);
        shape[dim] /= group;
      } else if (kind == 3 && divides) {
        collective.set_kind(proto::ALL_TO_ALL);
        collective.set_dim(dim);
        collective.set_concat_dim(concat);
        shape[dim] /= group;
        shape[concat] *= group;
      }
    }
    if (collective.kind() == proto::ALL_REDUCE ||
        collective.kind() == proto::REDUCE_SCATTER)
      collective.set_reduction(static_cast<proto::ReductionKind>(1 + Below(4)));
    layout::Layout layout;
    layout.shape = shape;
    layout.dims.resize(shape.size());
    uint32_t source = values_[from].buffer;
    Value& to = NewValue(slice, layout, values_[from].element);
    to.writer =
        builder_.AddGang(Name("c"), slice, {source}, {to.buffer}, Cost());
    collective.set_source(source);
    collective.set_result(to.buffer);
    *builder_.plan()
         .mutable_actions(to.writer)
         ->add_steps()
         ->mutable_collective() = collective;
    AddReader(from, to.writer);
  }

  void Move() {
    size_t from = Below(values_.size());
    if (values_[from].aliased || !values_[from].layout.partial.empty()) return;
    uint32_t slice = Below(meshes_.size());
    Value& to =
        NewValue(slice, Layout(values_[from].layout.shape, slice, false),
                 values_[from].element);
    auto [send, recv] =
        builder_.AddMove(Name("m"), values_[from].buffer, to.buffer);
    to.writer = recv;
    values_[from].readers.push_back(send);
  }

  // Adds a parameter, a gang that updates it, and the way back.
  void Update() {
    uint32_t slice = Below(meshes_.size());
    size_t before = Feed(slice);
    uint32_t feed = values_[before].writer;
    builder_.plan()
        .mutable_interface()
        ->mutable_arguments(builder_.plan().actions(feed).interface())
        ->set_stepped(false);
    std::vector<uint32_t> operands = {values_[before].buffer};
    std::vector<size_t> readable = Readable(slice);
    size_t other = readable[Below(readable.size())];
    if (other != before) operands.push_back(values_[other].buffer);
    layout::Layout layout = values_[before].layout;
    proto::ElementType element = values_[before].element;
    Value& after = NewValue(slice, layout, element);
    after.writer =
        builder_.AddGang(Name("u"), slice, operands, {after.buffer}, Cost());
    uint32_t gang = after.writer;
    size_t last = values_.size() - 1;
    AddReader(before, gang);
    if (other != before) AddReader(other, gang);
    uint32_t fetch = Fetch(last);
    builder_.Carry(feed, fetch);
    // The feed of the next firing reads it, so it must not share its memory.
    values_[last].shared = true;
    values_[last].aliased = true;
    if (options_.memory_sharing && OneIn(2)) UpdateInPlace(before, last, fetch);
  }

  // Puts the updated value where the old one was. With one slot its feed finds
  // it there.
  void UpdateInPlace(size_t before, size_t after, uint32_t fetch) {
    Value& from = values_[before];
    Value& to = values_[after];
    to.credits = from.credits;
    builder_.plan().mutable_buffers(to.buffer)->set_credits(to.credits);
    builder_.AddAlias(to.writer, from.buffer, to.buffer);
    builder_.ShareMemory({from.buffer, to.buffer});
    from.shared = from.aliased = true;
    builder_.AddEdge(fetch, from.writer, from.credits, proto::REUSE,
                     proto::SAME);
  }

  bool IsGang(uint32_t action) const {
    return builder_.plan().actions(action).kind() == proto::GANG;
  }
  bool OnlyGangsRead(const Value& value) const {
    return std::all_of(value.readers.begin(), value.readers.end(),
                       [&](uint32_t reader) { return IsGang(reader); });
  }

  // Adds a gang that updates an operand in place.
  void AliasGang() {
    std::vector<size_t> able;
    for (size_t i = 0; i < values_.size(); ++i) {
      const Value& value = values_[i];
      uint32_t writer = value.writer;
      bool entered = IsGang(writer) ||
                     builder_.plan().actions(writer).kind() == proto::FEED;
      if (!value.shared && !value.aliased && entered && OnlyGangsRead(value))
        able.push_back(i);
    }
    if (able.empty()) return;
    size_t from = able[Below(able.size())];
    uint32_t slice = values_[from].slice;
    layout::Layout layout = values_[from].layout;
    proto::ElementType element = values_[from].element;
    Value& to = NewValue(slice, layout, element);
    Value& operand = values_[from];
    to.credits = operand.credits;
    builder_.plan().mutable_buffers(to.buffer)->set_credits(to.credits);
    to.writer = builder_.AddGang(Name("a"), slice, {operand.buffer},
                                 {to.buffer}, Cost());
    builder_.AddAlias(to.writer, operand.buffer, to.buffer);
    builder_.ShareMemory({operand.buffer, to.buffer});
    AddReader(from, to.writer);
    operand.shared = operand.aliased = true;
    to.shared = true;
    // Sends and fetches may read the result, so its memory needs a way back to
    // the operand's next content.
    ways_back_.push_back({values_.size() - 1, from});
  }

  void Controls() {
    uint32_t actions = builder_.plan().actions_size();
    for (uint64_t n = Below(4); n-- > 0;) {
      uint32_t from = Below(actions);
      uint32_t to = Below(actions);
      if (from == to) continue;
      if (from > to) std::swap(from, to);
      bool there = false;
      for (const proto::Edge& edge : builder_.plan().edges())
        there |= edge.from() == from && edge.to() == to;
      if (!there) builder_.AddControl(from, to);
    }
  }

  // Adds the way back of memory whose last content is `later` and whose first
  // is `first`.
  void CloseWayBack(const Value& later, const Value& first) {
    std::vector<uint32_t> last = later.readers;
    if (last.empty()) last.push_back(later.writer);
    for (uint32_t action : last) {
      // Queue order suffices between gangs.
      if (IsGang(action) && IsGang(first.writer)) continue;
      builder_.AddEdge(action, first.writer, first.credits, proto::REUSE,
                       proto::SAME);
    }
  }

  // Shares memory between pairs of buffers where the first is no longer used
  // when the second is written.
  void Share() {
    for (auto [later, first] : ways_back_)
      CloseWayBack(values_[later], values_[first]);
    for (size_t i = 0; i < values_.size(); ++i) {
      Value& a = values_[i];
      if (a.shared || !IsGang(a.writer)) continue;
      for (size_t k = i + 1; k < values_.size(); ++k) {
        Value& b = values_[k];
        if (b.shared || b.slice != a.slice || b.credits != a.credits ||
            OneIn(2) || !ShareTwo(a, b))
          continue;
        builder_.ShareMemory({a.buffer, b.buffer});
        a.shared = b.shared = true;
        break;
      }
    }
  }

  // Orders `b` after `a`, with edges where queue order does not suffice.
  // Returns false if that needs more than one edge per reader.
  bool ShareTwo(const Value& a, const Value& b) {
    uint32_t last = a.writer;
    for (uint32_t reader : a.readers) last = std::max(last, reader);
    uint32_t entry = EntryOf(builder_.plan(), b.writer);
    if (last >= entry) return false;
    if (IsGang(b.writer)) {
      for (uint32_t reader : a.readers) {
        if (!IsGang(reader))
          builder_.AddEdge(reader, b.writer, 0, proto::REUSE, proto::SAME);
      }
      CloseWayBack(b, a);
      return true;
    }
    // `b` is received: its send waits for the gangs that use `a`, and is
    // bounded by a gang that reads `b`.
    if (entry == b.writer || !OnlyGangsRead(a) || b.readers.empty() ||
        !OnlyGangsRead(b))
      return false;
    builder_.AddEdge(last, entry, 0, proto::REUSE, proto::PIECES);
    return true;
  }

  const RandomPlanOptions options_;
  std::mt19937_64 random_;
  std::mt19937_64 random_islands_;
  const uint32_t window_;
  PlanBuilder builder_;
  std::vector<layout::Mesh> meshes_;
  std::vector<Value> values_;
  std::vector<std::pair<size_t, size_t>> ways_back_;
  int names_ = 0;
};

}  // namespace

proto::Plan RandomPlan(uint64_t seed, const RandomPlanOptions& options) {
  return Generator(seed, options).Run();
}

}  // namespace pathways::testing
