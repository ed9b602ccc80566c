//===- layout.h - Arithmetic of shards --------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divides logical arrays over meshes, and computes which bytes move when an
// array's layout or mesh changes. Used by the compiler and by the runtime, so
// it depends on the standard library alone. All functions are pure,
// deterministic and thread-safe. Errors are returned as text; no input aborts.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_LAYOUT_LAYOUT_H_
#define RUNTIME_LAYOUT_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace pathways::layout {

// One mesh axis. A mesh is a row-major grid of shards, first axis major; a mesh
// without axes has one shard.
struct Axis {
  std::string name;
  int64_t size = 1;
  bool operator==(const Axis&) const = default;
};
using Mesh = std::vector<Axis>;

// kMax and kMin take the bits of integers as signed, kUMax and kUMin take them
// as unsigned.
enum class Reduction {
  kNone,
  kAdd,
  kMul,
  kMax,
  kMin,
  kUMax,
  kUMin,
  kAnd,
  kOr,
  kXor
};

// Division of an array of `shape` (global, in elements) over a mesh. Dimension
// d is split over the axes dims[d], flattened, major first: if k is the product
// of their sizes, each block has ceil(shape[d] / k) elements, and the last
// blocks are short or empty. Axes that appear nowhere hold copies; axes in
// `partial` hold contributions that `reduction` combines.
struct Layout {
  std::vector<int64_t> shape;
  std::vector<std::vector<std::string>> dims;
  std::vector<std::string> partial;
  Reduction reduction = Reduction::kNone;
  bool operator==(const Layout&) const = default;
};

// A half-open box of a global array, in elements.
struct Box {
  std::vector<int64_t> begin;
  std::vector<int64_t> extent;
  bool empty() const;
  int64_t numElements() const;
  bool operator==(const Box&) const = default;
};

// Largest accepted number of shards, and of elements of an array. (A dimension
// of 0 counts as 1.)
inline constexpr int64_t kMaxShards = int64_t{1} << 24;
inline constexpr int64_t kMaxElements = int64_t{1} << 48;
// Largest number of axes of a mesh, including axes of size 1.
inline constexpr int64_t kMaxAxes = 64;

// Returns "" if `mesh` is well formed, else what is wrong (an axis name that is
// empty or used twice, a size below 1, more than kMaxAxes axes or kMaxShards
// shards).
std::string CheckMesh(const Mesh& mesh);

// Returns "" if `layout` fits `mesh`, else what is wrong (an unknown axis, an
// axis used twice, ranks that differ, a negative size, too many elements,
// partial axes without a reduction or the reverse). `mesh` must have passed
// CheckMesh.
std::string CheckLayout(const Layout& layout, const Mesh& mesh);

// Text as in a type, without the shape, for messages: <"x" = 2, "y" = 4> and
// [{"x"}, {}] partial add {"y"}. Any value is allowed, even an invalid one.
std::string ToString(const Mesh& mesh);
std::string ToString(const Layout& layout);

// All functions below require a mesh and a layout that passed the checks, and
// shards of that mesh.

int64_t NumShards(const Mesh& mesh);
// Returns the row-major coordinates of `shard`, one per axis.
std::vector<int64_t> Coordinates(const Mesh& mesh, int64_t shard);
int64_t ShardAt(const Mesh& mesh, const std::vector<int64_t>& coordinates);

// Returns the shape of every shard's buffer in elements: each dimension is
// rounded up.
std::vector<int64_t> ShardShape(const Layout& layout, const Mesh& mesh);
// Returns the part of the global array that `shard` holds. It may be short or
// empty at the end.
Box ShardBox(const Layout& layout, const Mesh& mesh, int64_t shard);
// Returns true if no shard has padding.
bool IsEven(const Layout& layout, const Mesh& mesh);
// Returns the number of shards that hold the same block: the product of the
// axes that are not used.
int64_t NumCopies(const Layout& layout, const Mesh& mesh);
// Returns the sizes of the partial axes in the layout's order. Ranks of
// contributions are row-major over them.
std::vector<int64_t> ContributionSizes(const Layout& layout, const Mesh& mesh);
// NumContributions returns the number of contributions to each element, 1 if no
// axis is partial; ContributionOf returns the rank of the one that `shard`
// holds.
int64_t NumContributions(const Layout& layout, const Mesh& mesh);
int64_t ContributionOf(const Layout& layout, const Mesh& mesh, int64_t shard);

// One piece of a movement. Offsets are relative to the shard's own buffer.
struct Piece {
  int64_t source = 0;       // shard of the source mesh
  int64_t destination = 0;  // shard of the destination mesh
  std::vector<int64_t> source_offset;
  std::vector<int64_t> destination_offset;
  std::vector<int64_t> extent;
  // Rank of the contribution in the reduction of this region, from 0; always 0
  // if the source is not partial. Contributions are combined in this order.
  int64_t rank = 0;
  bool operator==(const Piece&) const = default;
};

// Movement of one array between two layouts, perhaps on two meshes. Any layout
// of a shape can be moved to any other of that shape. If several shards hold
// copies of a source block, the destination shard takes the nearest: on one
// mesh (`same_slice`) the one with the same coordinates on the axes that hold
// copies, so that a shard which has the block takes its own; between slices all
// are equally far, and the one with the lowest mesh index wins. A partial
// destination receives the value where all coordinates on its partial axes are
// 0, and the identity of its reduction elsewhere. Elements that no piece covers
// are filled: padding with zero, other contributions with the identity. Between
// equal layouts on one slice, or equal partial layouts on equal meshes of two
// slices, nothing is combined: each shard takes the values, and so the
// contribution, of the shard with its number.
class Movement {
 public:
  // Returns false, with text in *error and the object unusable, if the shapes
  // differ or a layout does not fit its mesh. `same_slice` requires equal
  // meshes.
  static bool Create(const Layout& source, const Mesh& source_mesh,
                     const Layout& destination, const Mesh& destination_mesh,
                     bool same_slice, Movement* movement, std::string* error);

  // Return the pieces that arrive at, or leave from, one shard, ordered by
  // (destination, source, offset). Time and memory are proportional to the
  // result.
  std::vector<Piece> PiecesInto(int64_t destination) const;
  std::vector<Piece> PiecesFrom(int64_t source) const;
  // Return the number of those pieces without building them.
  int64_t NumPiecesInto(int64_t destination) const;
  int64_t NumPiecesFrom(int64_t source) const;

  // Returns true if `destination` must be filled before the pieces are written,
  // because they do not cover its whole ceil-shaped buffer.
  bool NeedsFill(int64_t destination) const;
  // Returns true if the uncovered elements of `destination` hold the
  // reduction's identity (a contribution other than the first), and false if
  // they hold zero.
  bool FillsIdentity(int64_t destination) const;

  // Returns true if each shard takes all values of the shard with its number,
  // including contributions, so that nothing is combined.
  bool KeepsContributions() const { return keeps_contributions_; }
  const Layout& source() const { return source_; }
  const Layout& destination() const { return destination_; }
  const Mesh& source_mesh() const { return source_mesh_; }
  const Mesh& destination_mesh() const { return destination_mesh_; }

 private:
  // One side in numbers: axes by index, without axes of size 1.
  struct Side {
    struct AxisInfo {
      int64_t size = 1;
      int64_t stride = 1;  // in shard numbers
    };
    struct Dim {
      int64_t extent = 0;     // of the array
      int64_t block = 0;      // elements of a full block
      std::vector<int> axes;  // major first
    };
    std::vector<AxisInfo> axes;
    std::vector<Dim> dims;
    std::vector<int> partial;  // in the layout's order
    std::vector<int> copies;   // axes that hold copies, in mesh order

    Side() = default;
    Side(const Layout& layout, const Mesh& mesh);
    int64_t Coordinate(int64_t shard, int axis) const {
      return shard / axes[axis].stride % axes[axis].size;
    }
    int64_t Block(int64_t shard, const Dim& dim) const;
    bool IsFirstContribution(int64_t shard) const;
  };
  // First and last block of `other` that overlap the shard's part of a
  // dimension.
  struct Overlap {
    int64_t begin = 0, end = 0;  // the shard's block in the array
    int64_t first = 0, last = 0;
  };
  struct Part;
  class Product;

  // Returns false if `shard` holds no element of the array.
  static bool Overlaps(const Side& side, int64_t shard, const Side& other,
                       std::vector<Overlap>* overlaps);
  // Fills `fixed`, for each axis of the destination mesh, with the only
  // coordinate that takes from `source`, or with -1 if there is no restriction.
  // Returns false if no shard takes from it.
  bool FixedCoordinates(int64_t source, std::vector<int64_t>* fixed) const;

  Layout source_, destination_;
  Mesh source_mesh_, destination_mesh_;
  bool same_slice_ = false;
  bool keeps_contributions_ = false;
  Side from_, into_;
};

// Copies the box `extent`, of elements of `element_bytes` bytes, between two
// dense row-major buffers of the given shapes. Offsets and extent must fit.
void CopyBox(const void* source, const std::vector<int64_t>& source_shape,
             const std::vector<int64_t>& source_offset, void* destination,
             const std::vector<int64_t>& destination_shape,
             const std::vector<int64_t>& destination_offset,
             const std::vector<int64_t>& extent, int64_t element_bytes);

// Returns the offset in elements of a box in a dense row-major buffer of that
// shape if the box is contiguous there, else -1. Sizes must be positive, and
// must fit.
int64_t DenseOffset(const std::vector<int64_t>& shape,
                    const std::vector<int64_t>& offset,
                    const std::vector<int64_t>& extent);

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_LAYOUT_H_
