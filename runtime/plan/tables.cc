//===- tables.cc - Helpers over the tables of a plan ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/tables.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/unknown_field_set.h"
#include "pathways/HostArray.h"

namespace pathways {
namespace {

// Largest accepted device number in an island.
constexpr int64_t kMaxDevice = int64_t{1} << 31;

bool KnownElement(proto::ElementType element) {
  return element >= proto::F32 && element <= proto::ElementType_MAX;
}

}  // namespace

layout::Mesh MeshOf(const proto::Slice& slice) {
  layout::Mesh mesh;
  mesh.reserve(slice.axes_size());
  for (const proto::Axis& axis : slice.axes())
    mesh.push_back({axis.name(), axis.size()});
  return mesh;
}

layout::Layout LayoutOf(const proto::Layout& layout) {
  layout::Layout result;
  result.shape.assign(layout.shape().begin(), layout.shape().end());
  result.dims.reserve(layout.dims_size());
  for (const proto::DimAxes& dim : layout.dims())
    result.dims.emplace_back(dim.axes().begin(), dim.axes().end());
  result.partial.assign(layout.partial_axes().begin(),
                        layout.partial_axes().end());
  result.reduction = ReductionOf(layout.partial_kind());
  return result;
}

layout::Reduction ReductionOf(proto::ReductionKind kind) {
  switch (kind) {
    case proto::ADD:
      return layout::Reduction::kAdd;
    case proto::MUL:
      return layout::Reduction::kMul;
    case proto::MAX:
      return layout::Reduction::kMax;
    case proto::MIN:
      return layout::Reduction::kMin;
    case proto::UMAX:
      return layout::Reduction::kUMax;
    case proto::UMIN:
      return layout::Reduction::kUMin;
    case proto::AND:
      return layout::Reduction::kAnd;
    case proto::OR:
      return layout::Reduction::kOr;
    case proto::XOR:
      return layout::Reduction::kXor;
    default:
      return layout::Reduction::kNone;
  }
}

proto::ReductionKind ReductionKindOf(layout::Reduction reduction) {
  switch (reduction) {
    case layout::Reduction::kAdd:
      return proto::ADD;
    case layout::Reduction::kMul:
      return proto::MUL;
    case layout::Reduction::kMax:
      return proto::MAX;
    case layout::Reduction::kMin:
      return proto::MIN;
    case layout::Reduction::kUMax:
      return proto::UMAX;
    case layout::Reduction::kUMin:
      return proto::UMIN;
    case layout::Reduction::kAnd:
      return proto::AND;
    case layout::Reduction::kOr:
      return proto::OR;
    case layout::Reduction::kXor:
      return proto::XOR;
    case layout::Reduction::kNone:
      break;
  }
  return proto::REDUCTION_UNSPECIFIED;
}

void SetMesh(const layout::Mesh& mesh, proto::Slice* slice) {
  slice->clear_axes();
  for (const layout::Axis& axis : mesh) {
    proto::Axis* added = slice->add_axes();
    added->set_name(axis.name);
    added->set_size(axis.size);
  }
}

proto::Layout ToProto(const layout::Layout& layout,
                      proto::ElementType element) {
  proto::Layout result;
  for (int64_t size : layout.shape) result.add_shape(size);
  result.set_element(element);
  for (const std::vector<std::string>& dim : layout.dims) {
    proto::DimAxes* axes = result.add_dims();
    for (const std::string& axis : dim) axes->add_axes(axis);
  }
  for (const std::string& axis : layout.partial) result.add_partial_axes(axis);
  result.set_partial_kind(ReductionKindOf(layout.reduction));
  return result;
}

int64_t elementBytes(proto::ElementType element) {
  return KnownElement(element) ? elementBytes(static_cast<ElementType>(element))
                               : 0;
}

bool IsFloat(proto::ElementType element) {
  return element == proto::F32 || element == proto::F64 ||
         element == proto::F16 || element == proto::BF16;
}

proto::ElementType KernelElement(proto::ElementType element) {
  switch (element) {
    case proto::UI8:
      return proto::I8;
    case proto::UI16:
      return proto::I16;
    case proto::UI32:
      return proto::I32;
    case proto::UI64:
      return proto::I64;
    default:
      return element;
  }
}

std::string WhyNotReduced(proto::ReductionKind kind,
                          proto::ElementType element) {
  const bool is_unsigned = KernelElement(element) != element;
  const char* expected = nullptr;
  switch (kind) {
    case proto::UMAX:
    case proto::UMIN:
    case proto::AND:
    case proto::OR:
    case proto::XOR:
      if (IsFloat(element)) expected = "integers";
      break;
    case proto::MAX:
      if (is_unsigned) expected = "umax for unsigned integers";
      break;
    case proto::MIN:
      if (is_unsigned) expected = "umin for unsigned integers";
      break;
    default:
      break;
  }
  if (expected == nullptr) return "";
  return absl::StrCat("expected ", expected, ", got ", ReductionName(kind),
                      " of ", ElementTypeName(element));
}

std::vector<int64_t> ShardShape(const proto::Layout& layout,
                                const proto::Slice& slice) {
  return layout::ShardShape(LayoutOf(layout), MeshOf(slice));
}

uint64_t ShardBytes(const proto::Layout& layout, const proto::Slice& slice) {
  uint64_t bytes = static_cast<uint64_t>(elementBytes(layout.element()));
  for (int64_t size : ShardShape(layout, slice))
    bytes *= static_cast<uint64_t>(size);
  return bytes;
}

std::vector<int64_t> ShardShape(const proto::Plan& plan,
                                const proto::Buffer& buffer) {
  return ShardShape(plan.layouts(buffer.layout()), plan.slices(buffer.slice()));
}

uint64_t ShardBytes(const proto::Plan& plan, const proto::Buffer& buffer) {
  return ShardBytes(plan.layouts(buffer.layout()), plan.slices(buffer.slice()));
}

uint64_t SpanBytes(const proto::Buffer& buffer) {
  return (uint64_t{buffer.credits()} - 1) * buffer.slot_stride() +
         buffer.bytes();
}

uint64_t SegmentBytes(const proto::Plan& plan, uint32_t slice,
                      proto::MemoryKind memory) {
  uint64_t bytes = 0;
  for (const proto::Buffer& buffer : plan.buffers()) {
    if (buffer.slice() == slice && buffer.memory() == memory)
      bytes = std::max(bytes, buffer.offset() + SpanBytes(buffer));
  }
  return bytes;
}

int64_t NumShards(const proto::Slice& slice) {
  int64_t shards = 1;
  for (const proto::Axis& axis : slice.axes()) {
    if (axis.size() <= 0) return 0;
    // The factors are at most 2^24 and 2^24 + 1 here, so the product does not
    // overflow.
    shards *= std::min(axis.size(), layout::kMaxShards + 1);
    shards = std::min(shards, layout::kMaxShards + 1);
  }
  return shards;
}

std::optional<BoundDevice> DeviceOf(const proto::Slice& slice, int64_t shard) {
  const int64_t shards = NumShards(slice);
  if (shard < 0 || shard >= shards) return std::nullopt;
  const proto::Binding& binding = slice.binding();
  const int64_t islands = NumIslands(slice);
  if (shards % islands != 0) return std::nullopt;
  const int64_t run = shard / (shards / islands);
  const proto::IslandRun* further =
      run == 0 ? nullptr : &binding.more(static_cast<int>(run) - 1);
  BoundDevice bound;
  bound.island = further == nullptr ? binding.island() : further->island();
  if (binding.has_list()) {
    if (shard >= binding.list().devices_size()) return std::nullopt;
    bound.device = binding.list().devices(static_cast<int>(shard));
    if (bound.device < 0 || bound.device > kMaxDevice) return std::nullopt;
    return bound;
  }
  if (!binding.has_affine()) return std::nullopt;
  const proto::AffineDevices& affine = binding.affine();
  if (affine.strides_size() != slice.axes_size()) return std::nullopt;
  const int64_t base = further == nullptr ? affine.base() : further->base();
  if (base < 0 || base > kMaxDevice || affine.span() < 0) return std::nullopt;
  // Coordinates are below 2^25 and strides at most 2^31, and the sum over the
  // axes is rejected as soon as it exceeds 2^57, so it cannot overflow.
  int64_t sum = 0;
  for (int i = slice.axes_size(); i-- > 0;) {
    int64_t size = slice.axes(i).size();
    int64_t stride = affine.strides(i);
    if (stride < 0 || stride > kMaxDevice) return std::nullopt;
    sum += shard % size * stride;
    shard /= size;
    if (sum > int64_t{1} << 57) return std::nullopt;
  }
  if (affine.span() > 0) sum %= affine.span();
  if (sum > kMaxDevice - base) return std::nullopt;
  bound.device = base + sum;
  return bound;
}

std::vector<int64_t> GroupAxes(const layout::Mesh& mesh,
                               const proto::Collective& collective) {
  std::vector<int64_t> sizes;
  for (const std::string& name : collective.axes()) {
    for (const layout::Axis& axis : mesh) {
      if (axis.name == name) sizes.push_back(axis.size);
    }
  }
  return sizes;
}

std::vector<int32_t> GroupOf(const layout::Mesh& mesh,
                             const proto::Collective& collective,
                             int64_t shard) {
  std::vector<int64_t> at = layout::Coordinates(mesh, shard);
  std::vector<size_t> axes;
  for (const std::string& name : collective.axes()) {
    for (size_t i = 0; i < mesh.size(); ++i) {
      if (mesh[i].name == name) {
        axes.push_back(i);
        at[i] = 0;
      }
    }
  }
  std::vector<int32_t> members;
  while (true) {
    members.push_back(static_cast<int32_t>(layout::ShardAt(mesh, at)));
    size_t i = axes.size();
    while (i > 0 && ++at[axes[i - 1]] == mesh[axes[i - 1]].size) {
      at[axes[--i]] = 0;
    }
    if (i == 0) return members;
  }
}

GroupPlace GroupPlaceOf(const layout::Mesh& mesh,
                        const proto::Collective& collective, int64_t shard) {
  std::vector<int64_t> at = layout::Coordinates(mesh, shard);
  int64_t rank = 0;
  for (const std::string& name : collective.axes()) {
    for (size_t i = 0; i < mesh.size(); ++i) {
      if (mesh[i].name != name) continue;
      rank = rank * mesh[i].size + at[i];
      at[i] = 0;
    }
  }
  return {static_cast<int32_t>(layout::ShardAt(mesh, at)),
          static_cast<int32_t>(rank)};
}

proto::ElementType WideElement(proto::ElementType element) {
  return element == proto::F16 || element == proto::BF16 ? proto::F32 : element;
}

namespace {

int64_t ShiftSource(const proto::Collective& collective, int64_t size,
                    int64_t to) {
  const int64_t shift = collective.shift();
  if (collective.wrap()) return ((to - shift % size) % size + size) % size;
  // If the shift is far out of range, the difference would overflow.
  if (shift > size || shift < -size) return -1;
  const int64_t from = to - shift;
  return from < 0 || from >= size ? -1 : from;
}

}  // namespace

bool IsPermutation(proto::CollectiveKind kind) {
  return kind == proto::PERMUTE || kind == proto::BROADCAST;
}

std::vector<int64_t> PermuteSources(const proto::Collective& collective,
                                    int64_t size) {
  if (collective.kind() == proto::BROADCAST) {
    return std::vector<int64_t>(size, collective.root());
  }
  std::vector<int64_t> sources(size, -1);
  if (collective.pairs().empty()) {
    for (int64_t to = 0; to < size; ++to) {
      sources[to] = ShiftSource(collective, size, to);
    }
  }
  for (int i = 0; i + 1 < collective.pairs_size(); i += 2) {
    sources[collective.pairs(i + 1)] = collective.pairs(i);
  }
  return sources;
}

layout::ExchangeSpec ExchangeSpecOf(const layout::Mesh& mesh,
                                    const proto::Collective& collective,
                                    proto::ElementType element,
                                    uint64_t source_bytes,
                                    std::vector<int32_t> hosts) {
  layout::ExchangeSpec spec;
  spec.tree = layout::ReductionTree(GroupAxes(mesh, collective));
  spec.hosts = std::move(hosts);
  spec.element_bytes = elementBytes(element);
  spec.wide_bytes = elementBytes(WideElement(element));
  spec.count = static_cast<int64_t>(source_bytes) / spec.element_bytes;
  switch (collective.kind()) {
    case proto::REDUCE_SCATTER:
      spec.kind = layout::ExchangeKind::kReduceScatter;
      break;
    case proto::ALL_GATHER:
      spec.kind = layout::ExchangeKind::kAllGather;
      break;
    case proto::ALL_TO_ALL:
      spec.kind = layout::ExchangeKind::kAllToAll;
      break;
    case proto::PERMUTE:
    case proto::BROADCAST:
      spec.kind = layout::ExchangeKind::kPermute;
      spec.sources = PermuteSources(collective, spec.tree.size());
      break;
    default:
      spec.kind = layout::ExchangeKind::kAllReduce;
  }
  return spec;
}

uint32_t EntryOf(const proto::Plan& plan, uint32_t writer) {
  const proto::Action& action = plan.actions(static_cast<int>(writer));
  return action.kind() == proto::RECV ? action.peer() : writer;
}

bool HasUnknownFields(const proto::Plan& plan) {
  const google::protobuf::UnknownFieldSet& fields =
      proto::Plan::GetReflection()->GetUnknownFields(plan);
  // Messages without unknown fields share one set. The first thread that needs
  // it creates it under a lock of the library that ThreadSanitizer does not
  // see.
  return &fields != &google::protobuf::UnknownFieldSet::default_instance() &&
         !fields.empty();
}

const char* ActionKindName(proto::ActionKind kind) {
  switch (kind) {
    case proto::GANG:
      return "gang";
    case proto::SEND:
      return "send";
    case proto::RECV:
      return "recv";
    case proto::FEED:
      return "feed";
    case proto::FETCH:
      return "fetch";
    default:
      return "unknown";
  }
}

const char* EdgeKindName(proto::EdgeKind kind) {
  switch (kind) {
    case proto::DATA:
      return "data";
    case proto::CREDIT:
      return "credit";
    case proto::REUSE:
      return "reuse";
    case proto::CONTROL:
      return "control";
    default:
      return "unknown";
  }
}

const char* RelationName(proto::Relation relation) {
  switch (relation) {
    case proto::SAME:
      return "same";
    case proto::PIECES:
      return "pieces";
    case proto::ALL:
      return "all";
    default:
      return "unknown";
  }
}

const char* CollectiveKindName(proto::CollectiveKind kind) {
  switch (kind) {
    case proto::ALL_REDUCE:
      return "all_reduce";
    case proto::ALL_GATHER:
      return "all_gather";
    case proto::REDUCE_SCATTER:
      return "reduce_scatter";
    case proto::ALL_TO_ALL:
      return "all_to_all";
    case proto::PERMUTE:
      return "permute";
    case proto::BROADCAST:
      return "broadcast";
    default:
      return "unknown";
  }
}

const char* ReductionName(proto::ReductionKind kind) {
  switch (kind) {
    case proto::ADD:
      return "add";
    case proto::MUL:
      return "mul";
    case proto::MAX:
      return "max";
    case proto::MIN:
      return "min";
    case proto::UMAX:
      return "umax";
    case proto::UMIN:
      return "umin";
    case proto::AND:
      return "and";
    case proto::OR:
      return "or";
    case proto::XOR:
      return "xor";
    default:
      return "unknown";
  }
}

const char* ElementTypeName(proto::ElementType element) {
  return KnownElement(element) ? elementName(static_cast<ElementType>(element))
                               : "unknown";
}

const char* MemoryKindName(proto::MemoryKind memory) {
  switch (memory) {
    case proto::DEVICE:
      return "device";
    case proto::HOST:
      return "host";
    default:
      return "unknown";
  }
}

std::string Quoted(absl::string_view name) {
  constexpr size_t kLongest = 160;
  constexpr size_t kEnd = 64;
  if (name.size() <= kLongest)
    return absl::StrCat("'", absl::Utf8SafeCHexEscape(name), "'");
  // A cut may split a character, so all but ASCII is escaped.
  return absl::StrCat("'", absl::CHexEscape(name.substr(0, kEnd)), "...",
                      absl::CHexEscape(name.substr(name.size() - kEnd)), "'");
}

std::string ShapeText(const std::vector<int64_t>& shape,
                      proto::ElementType element) {
  std::string text;
  for (int64_t size : shape) absl::StrAppend(&text, size, "x");
  return absl::StrCat(text, ElementTypeName(element));
}

}  // namespace pathways
