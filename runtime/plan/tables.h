//===- tables.h - Helpers over the tables of a plan ----------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small pure functions that the verifier, the executor, the compiler and the
// tools share: conversions from table entries to objects of the layout library,
// sizes, device numbers, and names for messages.
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

// These copy without checks; use layout::CheckMesh and CheckLayout.
layout::Mesh MeshOf(const proto::Slice& slice);
layout::Layout LayoutOf(const proto::Layout& layout);
// Returns kNone for an unspecified or unknown kind.
layout::Reduction ReductionOf(proto::ReductionKind kind);
proto::ReductionKind ReductionKindOf(layout::Reduction reduction);
// Inverses of MeshOf and LayoutOf.
void SetMesh(const layout::Mesh& mesh, proto::Slice* slice);
proto::Layout ToProto(const layout::Layout& layout, proto::ElementType element);

// Returns the bytes of one element in memory; 0 for an unspecified or unknown
// type.
int64_t elementBytes(proto::ElementType element);

bool IsFloat(proto::ElementType element);

// Returns the element type of kernel operands that stand for arrays of
// `element`: for an unsigned integer, the signed one of its width.
proto::ElementType KernelElement(proto::ElementType element);

// Returns why a reduction of this kind cannot combine arrays of `element`, or
// an empty string if it can: umax, umin, and, or and xor combine integers only,
// and max and min combine everything but unsigned integers.
std::string WhyNotReduced(proto::ReductionKind kind,
                          proto::ElementType element);

// Return the shape of one shard in elements, and its bytes, which are at most
// 2^51. The layout must fit the slice's mesh (CheckLayout).
std::vector<int64_t> ShardShape(const proto::Layout& layout,
                                const proto::Slice& slice);
uint64_t ShardBytes(const proto::Layout& layout, const proto::Slice& slice);
// Return the same for a buffer. All references of the plan must be in range.
std::vector<int64_t> ShardShape(const proto::Plan& plan,
                                const proto::Buffer& buffer);
uint64_t ShardBytes(const proto::Plan& plan, const proto::Buffer& buffer);
// Returns the bytes from the first byte of a buffer's first slot to the end of
// its last slot. The buffer must have passed VerifyPlan; overflow is not
// checked.
uint64_t SpanBytes(const proto::Buffer& buffer);
// Returns the bytes of the memory segment of `slice`, which end with its last
// buffer; 0 if it has no buffer there. The plan must have passed VerifyPlan and
// have no loops.
uint64_t SegmentBytes(const proto::Plan& plan, uint32_t slice,
                      proto::MemoryKind memory);

// Returns the number of shards, saturated at layout::kMaxShards + 1. Safe on
// any input.
int64_t NumShards(const proto::Slice& slice);
// Returns the number of islands over which the shards are cut, at least 1.
inline int64_t NumIslands(const proto::Slice& slice) {
  return int64_t{1} + slice.binding().more_size();
}
struct BoundDevice {
  uint32_t island = 0;
  int64_t device = 0;  // number in the island
  bool operator==(const BoundDevice&) const = default;
};
// Returns the device of `shard`, or nullopt if the slice is not bound, the
// binding does not fit the mesh, or the device number is negative or above
// 2^31.
std::optional<BoundDevice> DeviceOf(const proto::Slice& slice, int64_t shard);

// Returns the sizes of the axes of a collective's groups, in the order in which
// it names them. The plan of a collective must have passed VerifyPlan, here and
// below.
std::vector<int64_t> GroupAxes(const layout::Mesh& mesh,
                               const proto::Collective& collective);
// Returns the members, by rank, of the group of `shard`.
std::vector<int32_t> GroupOf(const layout::Mesh& mesh,
                             const proto::Collective& collective,
                             int64_t shard);
// Identifies a group by its member of rank 0; `rank` is the shard's own rank.
struct GroupPlace {
  int32_t first = 0;
  int32_t rank = 0;
};
GroupPlace GroupPlaceOf(const layout::Mesh& mesh,
                        const proto::Collective& collective, int64_t shard);

// Returns the element type inside a reduction: f32 for f16 and bf16.
proto::ElementType WideElement(proto::ElementType element);
// Returns true if each result of the collective is one contribution or zeros,
// that is, for a permute or a broadcast.
bool IsPermutation(proto::CollectiveKind kind);
// Returns, for each rank of such a collective over groups of `size`, the rank
// whose contribution it gets, or -1 if it gets zeros.
std::vector<int64_t> PermuteSources(const proto::Collective& collective,
                                    int64_t size);
// Returns the exchange between the hosts of a group. `hosts`: host of each
// rank; at least two must differ.
layout::ExchangeSpec ExchangeSpecOf(const layout::Mesh& mesh,
                                    const proto::Collective& collective,
                                    proto::ElementType element,
                                    uint64_t source_bytes,
                                    std::vector<int32_t> hosts);

// Returns the action that must wait before the next content overwrites the
// memory of the buffer that `writer` writes: the writer, or the peer send if
// the writer is a recv.
uint32_t EntryOf(const proto::Plan& plan, uint32_t writer);

// Returns true if the plan itself, not its entries, has unknown fields.
bool HasUnknownFields(const proto::Plan& plan);

// Return names as in the text of the `plan` dialect: "gang", "credit",
// "pieces", "all_reduce", "add", "f32"; "unknown" for any other value.
const char* ActionKindName(proto::ActionKind kind);
const char* EdgeKindName(proto::EdgeKind kind);
const char* RelationName(proto::Relation relation);
const char* CollectiveKindName(proto::CollectiveKind kind);
const char* ReductionName(proto::ReductionKind kind);
const char* ElementTypeName(proto::ElementType element);
const char* MemoryKindName(proto::MemoryKind memory);

// Returns `name` escaped and in single quotes for a message; a very long name
// is shortened in the middle.
std::string Quoted(absl::string_view name);
// Returns "64x256xf32" or "f32".
std::string ShapeText(const std::vector<int64_t>& shape,
                      proto::ElementType element);

}  // namespace pathways

#endif  // RUNTIME_PLAN_TABLES_H_
