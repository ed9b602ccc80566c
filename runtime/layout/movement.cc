//===- movement.cc - Pieces that move between two layouts -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shard holds an interval of each dimension, and the other side cuts that
// interval into a run of blocks. So the shards with which it exchanges data are
// a product over the dimensions. An axis cuts at most one dimension, so the
// block numbers of a dimension, as mixed-radix numbers over its axes, determine
// the coordinates on those axes alone. Nothing here iterates over all shards.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/layout/layout.h"

namespace pathways::layout {
namespace {

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(shape[d]);
  }
  return text + "]";
}

// One digit of a block number: its radix, and the only wanted value, or -1 for
// any.
struct Digit {
  int64_t size = 1;
  int64_t fixed = -1;
};

// Returns the number of x in [0, last] with the wanted digits.
int64_t CountUpTo(const std::vector<Digit>& digits, int64_t last) {
  if (last < 0) return 0;
  // weight: value of one unit of the digit; free: numbers below the digit.
  int64_t weight = 1;
  int64_t free = 1;
  for (const Digit& digit : digits) {
    weight *= digit.size;
    if (digit.fixed < 0) free *= digit.size;
  }
  int64_t count = 0;
  for (const Digit& digit : digits) {
    weight /= digit.size;
    if (digit.fixed < 0) free /= digit.size;
    int64_t value = last / weight;
    last %= weight;
    if (digit.fixed < 0) {
      count += value * free;
    } else if (digit.fixed != value) {
      return digit.fixed < value ? count + free : count;
    }
  }
  return count + 1;
}

// Calls visit(x) for each x in [first, last] with the wanted digits, in order.
// At most two branches per digit, those along the ends, can end without a
// number, so the cost is at most digits times results.
template <typename Visit>
void VisitRange(const std::vector<Digit>& digits, size_t position,
                int64_t prefix, int64_t weight, int64_t first, int64_t last,
                const Visit& visit) {
  if (position == digits.size()) {
    visit(prefix);
    return;
  }
  // `prefix` stands for the numbers prefix .. prefix + weight - 1, some of
  // which are in the range.
  const Digit& digit = digits[position];
  weight /= digit.size;
  int64_t low = first <= prefix ? 0 : (first - prefix) / weight;
  int64_t high = std::min(digit.size - 1, (last - prefix) / weight);
  if (digit.fixed >= 0) {
    if (digit.fixed < low || digit.fixed > high) return;
    low = high = digit.fixed;
  }
  for (int64_t value = low; value <= high; ++value) {
    VisitRange(digits, position + 1, prefix + value * weight, weight, first,
               last, visit);
  }
}

}  // namespace

// The part of a piece, in one dimension, that comes from one block of the other
// side.
struct Movement::Part {
  int64_t shard = 0;  // share of the other side's shard number
  int64_t source_offset = 0;
  int64_t destination_offset = 0;
  int64_t extent = 0;
};

// All combinations of one part per dimension and one of the `others`:
// contributions to the shard number that do not depend on the block, each with
// a rank.
class Movement::Product {
 public:
  struct Other {
    int64_t shard = 0;
    int64_t rank = 0;
  };
  std::vector<std::vector<Part>> dims;
  std::vector<Other> others = {Other()};

  // `shard` is the known end of the pieces: the source if `is_source`, else the
  // destination.
  std::vector<Piece> Pieces(int64_t shard, bool is_source) const {
    size_t count = others.size();
    for (const std::vector<Part>& parts : dims) count *= parts.size();
    std::vector<Piece> pieces;
    pieces.reserve(count);
    if (count == 0) return pieces;
    Piece piece;
    piece.source_offset.resize(dims.size());
    piece.destination_offset.resize(dims.size());
    piece.extent.resize(dims.size());
    std::vector<size_t> at(dims.size(), 0);
    while (true) {
      int64_t other_shard = 0;
      for (size_t d = 0; d < dims.size(); ++d) {
        const Part& part = dims[d][at[d]];
        other_shard += part.shard;
        piece.source_offset[d] = part.source_offset;
        piece.destination_offset[d] = part.destination_offset;
        piece.extent[d] = part.extent;
      }
      for (const Other& other : others) {
        int64_t far = other_shard + other.shard;
        piece.source = is_source ? shard : far;
        piece.destination = is_source ? far : shard;
        piece.rank = other.rank;
        pieces.push_back(piece);
      }
      size_t d = dims.size();
      while (d > 0 && ++at[d - 1] == dims[d - 1].size()) at[--d] = 0;
      if (d == 0) break;
    }
    // Two shards share at most one box, so this is a total order.
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return a.destination != b.destination ? a.destination < b.destination
                                            : a.source < b.source;
    });
    return pieces;
  }
};

Movement::Side::Side(const Layout& layout, const Mesh& mesh) {
  std::vector<int> index(mesh.size(), -1);
  int64_t stride = NumShards(mesh);
  for (size_t a = 0; a < mesh.size(); ++a) {
    stride /= mesh[a].size;
    if (mesh[a].size == 1) continue;
    index[a] = static_cast<int>(axes.size());
    axes.push_back({mesh[a].size, stride});
  }
  std::vector<bool> used(axes.size(), false);
  auto resolve = [&](const std::vector<std::string>& names) {
    std::vector<int> result;
    for (const std::string& name : names) {
      for (size_t a = 0; a < mesh.size(); ++a) {
        if (mesh[a].name != name || index[a] < 0) continue;
        result.push_back(index[a]);
        used[index[a]] = true;
      }
    }
    return result;
  };
  std::vector<int64_t> shape = ShardShape(layout, mesh);
  for (size_t d = 0; d < layout.shape.size(); ++d) {
    dims.push_back({layout.shape[d], shape[d], resolve(layout.dims[d])});
  }
  partial = resolve(layout.partial);
  for (size_t a = 0; a < axes.size(); ++a) {
    if (!used[a]) copies.push_back(static_cast<int>(a));
  }
}

int64_t Movement::Side::Block(int64_t shard, const Dim& dim) const {
  int64_t block = 0;
  for (int axis : dim.axes) {
    block = block * axes[axis].size + Coordinate(shard, axis);
  }
  return block;
}

bool Movement::Side::IsFirstContribution(int64_t shard) const {
  return std::all_of(partial.begin(), partial.end(),
                     [&](int axis) { return Coordinate(shard, axis) == 0; });
}

bool Movement::Create(const Layout& source, const Mesh& source_mesh,
                      const Layout& destination, const Mesh& destination_mesh,
                      bool same_slice, Movement* movement, std::string* error) {
  auto fail = [&](std::string text) {
    *error = std::move(text);
    return false;
  };
  std::string problem = CheckMesh(source_mesh);
  if (problem.empty()) problem = CheckLayout(source, source_mesh);
  if (!problem.empty()) return fail("source: " + problem);
  problem = CheckMesh(destination_mesh);
  if (problem.empty()) problem = CheckLayout(destination, destination_mesh);
  if (!problem.empty()) return fail("destination: " + problem);
  if (source.shape != destination.shape) {
    return fail("source has shape " + ShapeText(source.shape) +
                ", destination has shape " + ShapeText(destination.shape));
  }
  if (same_slice && source_mesh != destination_mesh) {
    return fail("source has mesh " + ToString(source_mesh) +
                ", destination has mesh " + ToString(destination_mesh) +
                ", expected equal meshes on one slice");
  }
  movement->source_ = source;
  movement->destination_ = destination;
  movement->source_mesh_ = source_mesh;
  movement->destination_mesh_ = destination_mesh;
  movement->same_slice_ = same_slice;
  movement->keeps_contributions_ = source == destination &&
                                   source_mesh == destination_mesh &&
                                   (same_slice || !source.partial.empty());
  if (movement->keeps_contributions_) {
    // Contributions are then treated as copies: a shard takes its own.
    Layout whole = source;
    whole.partial.clear();
    movement->from_ = Side(whole, source_mesh);
    movement->into_ = movement->from_;
    return true;
  }
  movement->from_ = Side(source, source_mesh);
  movement->into_ = Side(destination, destination_mesh);
  return true;
}

bool Movement::Overlaps(const Side& side, int64_t shard, const Side& other,
                        std::vector<Overlap>* overlaps) {
  overlaps->clear();
  for (size_t d = 0; d < side.dims.size(); ++d) {
    const Side::Dim& dim = side.dims[d];
    Overlap overlap;
    overlap.begin = std::min(side.Block(shard, dim) * dim.block, dim.extent);
    overlap.end = std::min(overlap.begin + dim.block, dim.extent);
    if (overlap.begin == overlap.end) return false;
    // The dimension is not empty, so neither are the other side's full blocks.
    overlap.first = overlap.begin / other.dims[d].block;
    overlap.last = (overlap.end - 1) / other.dims[d].block;
    overlaps->push_back(overlap);
  }
  return true;
}

bool Movement::FixedCoordinates(int64_t source,
                                std::vector<int64_t>* fixed) const {
  fixed->assign(into_.axes.size(), -1);
  for (int axis : from_.copies) {
    int64_t coordinate = from_.Coordinate(source, axis);
    if (same_slice_ || keeps_contributions_) {
      (*fixed)[axis] = coordinate;
    } else if (coordinate != 0) {
      return false;
    }
  }
  for (int axis : into_.partial) {
    if ((*fixed)[axis] > 0) return false;
    (*fixed)[axis] = 0;
  }
  return true;
}

std::vector<Piece> Movement::PiecesInto(int64_t destination) const {
  std::vector<Overlap> overlaps;
  if (!into_.IsFirstContribution(destination) ||
      !Overlaps(into_, destination, from_, &overlaps)) {
    return {};
  }
  Product product;
  if (same_slice_ || keeps_contributions_) {
    for (int axis : from_.copies) {
      product.others[0].shard +=
          into_.Coordinate(destination, axis) * from_.axes[axis].stride;
    }
  }
  for (int axis : from_.partial) {
    std::vector<Product::Other> grown;
    grown.reserve(product.others.size() * from_.axes[axis].size);
    for (const Product::Other& other : product.others) {
      for (int64_t c = 0; c < from_.axes[axis].size; ++c) {
        grown.push_back({other.shard + c * from_.axes[axis].stride,
                         other.rank * from_.axes[axis].size + c});
      }
    }
    product.others = std::move(grown);
  }
  for (size_t d = 0; d < overlaps.size(); ++d) {
    const Overlap& overlap = overlaps[d];
    const Side::Dim& dim = from_.dims[d];
    std::vector<Part>& parts = product.dims.emplace_back();
    parts.reserve(overlap.last - overlap.first + 1);
    for (int64_t block = overlap.first; block <= overlap.last; ++block) {
      int64_t begin = std::max(overlap.begin, block * dim.block);
      int64_t end = std::min(overlap.end, (block + 1) * dim.block);
      Part part{0, begin - block * dim.block, begin - overlap.begin,
                end - begin};
      int64_t rest = block;
      for (size_t a = dim.axes.size(); a-- > 0;) {
        const Side::AxisInfo& axis = from_.axes[dim.axes[a]];
        part.shard += rest % axis.size * axis.stride;
        rest /= axis.size;
      }
      parts.push_back(part);
    }
  }
  return product.Pieces(destination, /*is_source=*/false);
}

std::vector<Piece> Movement::PiecesFrom(int64_t source) const {
  std::vector<Overlap> overlaps;
  std::vector<int64_t> fixed;
  if (!FixedCoordinates(source, &fixed) ||
      !Overlaps(from_, source, into_, &overlaps)) {
    return {};
  }
  Product product;
  for (size_t d = 0; d < overlaps.size(); ++d) {
    const Overlap& overlap = overlaps[d];
    const Side::Dim& dim = into_.dims[d];
    std::vector<Digit> digits;
    int64_t blocks = 1;
    for (int axis : dim.axes) {
      digits.push_back({into_.axes[axis].size, fixed[axis]});
      blocks *= into_.axes[axis].size;
    }
    std::vector<Part>& parts = product.dims.emplace_back();
    VisitRange(digits, 0, 0, blocks, overlap.first, overlap.last,
               [&](int64_t block) {
                 int64_t begin = std::max(overlap.begin, block * dim.block);
                 int64_t end = std::min(overlap.end, (block + 1) * dim.block);
                 Part part{0, begin - overlap.begin, begin - block * dim.block,
                           end - begin};
                 int64_t rest = block;
                 for (size_t a = dim.axes.size(); a-- > 0;) {
                   const Side::AxisInfo& axis = into_.axes[dim.axes[a]];
                   part.shard += rest % axis.size * axis.stride;
                   rest /= axis.size;
                 }
                 parts.push_back(part);
               });
    if (parts.empty()) return {};
  }
  int64_t rank = 0;
  for (int axis : from_.partial) {
    rank = rank * from_.axes[axis].size + from_.Coordinate(source, axis);
  }
  product.others[0].rank = rank;
  for (int axis : into_.copies) {
    const Side::AxisInfo& info = into_.axes[axis];
    int64_t low = std::max<int64_t>(fixed[axis], 0);
    int64_t high = fixed[axis] >= 0 ? fixed[axis] : info.size - 1;
    std::vector<Product::Other> grown;
    grown.reserve(product.others.size() * (high - low + 1));
    for (const Product::Other& other : product.others) {
      for (int64_t c = low; c <= high; ++c) {
        grown.push_back({other.shard + c * info.stride, other.rank});
      }
    }
    product.others = std::move(grown);
  }
  return product.Pieces(source, /*is_source=*/true);
}

int64_t Movement::NumPiecesInto(int64_t destination) const {
  std::vector<Overlap> overlaps;
  if (!into_.IsFirstContribution(destination) ||
      !Overlaps(into_, destination, from_, &overlaps)) {
    return 0;
  }
  int64_t count = 1;
  for (int axis : from_.partial) count *= from_.axes[axis].size;
  for (const Overlap& overlap : overlaps) {
    count *= overlap.last - overlap.first + 1;
  }
  return count;
}

int64_t Movement::NumPiecesFrom(int64_t source) const {
  std::vector<Overlap> overlaps;
  std::vector<int64_t> fixed;
  if (!FixedCoordinates(source, &fixed) ||
      !Overlaps(from_, source, into_, &overlaps)) {
    return 0;
  }
  int64_t count = 1;
  for (size_t d = 0; d < overlaps.size(); ++d) {
    std::vector<Digit> digits;
    for (int axis : into_.dims[d].axes) {
      digits.push_back({into_.axes[axis].size, fixed[axis]});
    }
    count *= CountUpTo(digits, overlaps[d].last) -
             CountUpTo(digits, overlaps[d].first - 1);
  }
  for (int axis : into_.copies) {
    if (fixed[axis] < 0) count *= into_.axes[axis].size;
  }
  return count;
}

bool Movement::NeedsFill(int64_t destination) const {
  for (const Side::Dim& dim : into_.dims) {
    if (dim.block == 0) return false;  // The buffer has no elements.
  }
  if (!into_.IsFirstContribution(destination)) return true;
  for (const Side::Dim& dim : into_.dims) {
    if ((into_.Block(destination, dim) + 1) * dim.block > dim.extent) {
      return true;
    }
  }
  return false;
}

bool Movement::FillsIdentity(int64_t destination) const {
  return !into_.IsFirstContribution(destination);
}

}  // namespace pathways::layout
