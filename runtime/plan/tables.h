//===- tables.h - Helpers over the tables of a plan ----------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small pure functions that the verifier, the executor, the compiler and the
// tools share: a table entry as an object of the layout library, sizes, device
// numbers, names for messages.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_TABLES_H_
#define RUNTIME_PLAN_TABLES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/layout/group_exchange.h"
#include "runtime/layout/layout.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// These copy and check nothing; use layout::CheckMesh and CheckLayout.
layout::Mesh MeshOf(const proto::Slice& slice);
layout::Layout LayoutOf(const proto::Layout& layout);
// kNone for an unspecified or unknown kind.
layout::Reduction ReductionOf(proto::ReductionKind kind);
proto::ReductionKind ReductionKindOf(layout::Reduction reduction);
// The reverse of MeshOf and LayoutOf.
void SetMesh(const layout::Mesh& mesh, proto::Slice* slice);
proto::Layout ToProto(const layout::Layout& layout, proto::ElementType element);

// Bytes of one element in memory; 0 for an unspecified or unknown type.
int64_t ElementBytes(proto::ElementType element);

// Shape of one shard, in elements, and its bytes, of a layout that fits the
// slice's mesh (CheckLayout). Bytes are at most 2^51.
std::vector<int64_t> ShardShape(const proto::Layout& layout,
                                const proto::Slice& slice);
uint64_t ShardBytes(const proto::Layout& layout, const proto::Slice& slice);
// Of a buffer of a plan whose references are in range.
std::vector<int64_t> ShardShape(const proto::Plan& plan,
                                const proto::Buffer& buffer);
uint64_t ShardBytes(const proto::Plan& plan, const proto::Buffer& buffer);
// Bytes from the first byte of a buffer's first slot to the end of its last
// slot. Of a buffer that passed VerifyPlan; no overflow is checked.
uint64_t SpanBytes(const proto::Buffer& buffer);
// Bytes of the memory segment of `slice`: where its last buffer ends. Of a plan
// that passed VerifyPlan. Zero when it has no buffer there.
uint64_t SegmentBytes(const proto::Plan& plan, uint32_t slice,
                      proto::MemoryKind memory);

// Number of shards, saturated at layout::kMaxShards + 1; safe on any input.
int64_t NumShards(const proto::Slice& slice);
// Islands that its shards are cut over, at least one.
inline int64_t NumIslands(const proto::Slice& slice) {
  return int64_t{1} + slice.binding().more_size();
}
struct BoundDevice {
  uint32_t island = 0;
  int64_t device = 0;  // in the island
  bool operator==(const BoundDevice&) const = default;
};
// What holds `shard`; nothing when the slice is not bound, the binding does not
// fit the mesh, or the number of the device is negative or above 2^31.
std::optional<BoundDevice> DeviceOf(const proto::Slice& slice, int64_t shard);

// Sizes of the axes of a collective's groups, as named. Of a plan that passed
// VerifyPlan, here and below.
std::vector<int64_t> GroupAxes(const layout::Mesh& mesh,
                               const proto::Collective& collective);
// The group that `shard` is in: its members by rank.
std::vector<int32_t> GroupOf(const layout::Mesh& mesh,
                             const proto::Collective& collective,
                             int64_t shard);
// Which group that is, by its member of rank 0, and the shard's own rank.
struct GroupPlace {
  int32_t first = 0;
  int32_t rank = 0;
};
GroupPlace GroupPlaceOf(const layout::Mesh& mesh,
                        const proto::Collective& collective, int64_t shard);

// The element type inside a reduction: f16 and bf16 are f32 there.
proto::ElementType WideElement(proto::ElementType element);
// Whether each result of the collective is one contribution or zeros: a
// permute or a broadcast.
bool IsPermutation(proto::CollectiveKind kind);
// Of such a collective over groups of `size`: by rank, whose contribution it
// gets; -1: nobody's, it gets zeros.
std::vector<int64_t> PermuteSources(const proto::Collective& collective,
                                    int64_t size);
// What the hosts of a group tell each other. `hosts` by rank; at least two
// different ones.
layout::ExchangeSpec ExchangeSpecOf(const layout::Mesh& mesh,
                                    const proto::Collective& collective,
                                    proto::ElementType element,
                                    uint64_t source_bytes,
                                    std::vector<int32_t> hosts);

// The action that must wait before `buffer`'s memory may be overwritten by its
// next content: its writer, or the writer's send when that is a recv.
uint32_t EntryOf(const proto::Plan& plan, uint32_t writer);

// That it has fields that no plan has, itself, not what is in it.
bool HasUnknownFields(const proto::Plan& plan);

// Names as in the text of the `plan` dialect: "gang", "credit", "pieces",
// "all_reduce", "add", "f32"; "unknown" for any other value.
const char* ActionKindName(proto::ActionKind kind);
const char* EdgeKindName(proto::EdgeKind kind);
const char* RelationName(proto::Relation relation);
const char* CollectiveKindName(proto::CollectiveKind kind);
const char* ReductionName(proto::ReductionKind kind);
const char* ElementTypeName(proto::ElementType element);
const char* MemoryKindName(proto::MemoryKind memory);

// `name` in single quotes for a message: escaped, and shortened in the middle
// when it is very long.
std::string Quoted(absl::string_view name);
// "64x256xf32" or "f32".
std::string ShapeText(const std::vector<int64_t>& shape,
                      proto::ElementType element);

}  // namespace pathways

#endif  // RUNTIME_PLAN_TABLES_H_
