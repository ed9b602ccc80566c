//===- MovedBytes.cpp - Bytes that a movement sends -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/MovedBytes.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;
namespace layout = ::pathways::layout;

/// Work limits; beyond them everything counts as moved.
static constexpr int64_t kMaxCombinations = 1 << 16;
static constexpr int64_t kMaxPieces = 1 << 14;

/// Devices that a binding can reach: [first, last], and whether two shards may
/// share one. Never understates either.
namespace {
struct Reach {
  int64_t first = 0, last = 0;
  bool mayShare = false;
};
} // namespace

static Reach getReach(BoundSlice bound) {
  MeshAttr mesh = bound.slice.getMesh();
  if (std::optional<ArrayRef<int64_t>> devices = bound.bind.getDevices()) {
    llvm::SmallDenseSet<int64_t> seen(devices->begin(), devices->end());
    return {*llvm::min_element(*devices), *llvm::max_element(*devices),
            seen.size() != devices->size()};
  }
  // Injective if each stride exceeds the reach of all smaller strides.
  SmallVector<std::pair<int64_t, int64_t>> steps; // Stride, size.
  for (auto [size, stride] :
       llvm::zip_equal(mesh.getSizes(), *bound.bind.getStrides()))
    if (size > 1)
      steps.push_back({stride, size});
  llvm::sort(steps);
  Reach reach;
  int64_t extent = 0;
  for (auto [stride, size] : steps) {
    reach.mayShare |= stride <= extent;
    extent += stride * (size - 1);
  }
  int64_t span = bound.bind.getSpan().value_or(0);
  if (span && extent >= span) {
    reach.mayShare = true;
    extent = span - 1;
  }
  reach.first = *bound.bind.getBase();
  reach.last = reach.first + extent;
  return reach;
}

/// Returns the number of elements that stay on their shard when an array
/// changes its layout on one slice: summed over all shards, those in its block
/// both before and after. (A shard that has a source block takes its own copy.)
/// Returns nullopt if counting takes too long.
static std::optional<uint64_t> countStaying(const layout::Layout &source,
                                            const layout::Layout &result,
                                            const layout::Mesh &mesh) {
  // Dimensions that share an axis are counted together, others separately: the
  // sum over all shards of a product is then a product of sums.
  unsigned numAxes = mesh.size(), rank = source.shape.size();
  auto axisIndex = [&](const std::string &name) {
    return unsigned(
        llvm::find_if(
            mesh, [&](const layout::Axis &axis) { return axis.name == name; }) -
        mesh.begin());
  };
  std::vector<SmallVector<unsigned>> sourceAxes(rank), resultAxes(rank);
  llvm::EquivalenceClasses<unsigned> classes; // axes, then dimensions
  for (unsigned axis = 0; axis != numAxes; ++axis)
    classes.insert(axis);
  for (unsigned dim = 0; dim != rank; ++dim) {
    classes.insert(numAxes + dim);
    for (const std::string &name : source.dims[dim])
      sourceAxes[dim].push_back(axisIndex(name));
    for (const std::string &name : result.dims[dim])
      resultAxes[dim].push_back(axisIndex(name));
    for (unsigned axis :
         llvm::concat<unsigned>(sourceAxes[dim], resultAxes[dim]))
      classes.unionSets(numAxes + dim, axis);
  }

  uint64_t total = 1;
  for (const auto *leader : classes) {
    if (!leader->isLeader())
      continue;
    SmallVector<unsigned> axes, dims;
    for (unsigned member : classes.members(*leader))
      (member < numAxes ? axes : dims)
          .push_back(member < numAxes ? member : member - numAxes);
    int64_t combinations = 1;
    for (unsigned axis : axes)
      combinations *= mesh[axis].size;
    if (dims.empty()) { // an axis of copies
      total = llvm::SaturatingMultiply<uint64_t>(total, combinations);
      continue;
    }
    if (dims.size() == 1) {
      // Blocks that do not change, or that one side has whole, add up to the
      // dimension.
      unsigned dim = dims.front();
      if (sourceAxes[dim] == resultAxes[dim] || sourceAxes[dim].empty() ||
          resultAxes[dim].empty()) {
        total = llvm::SaturatingMultiply<uint64_t>(total, source.shape[dim]);
        continue;
      }
    }
    if (combinations > kMaxCombinations)
      return std::nullopt;
    // Returns begin and end of the block of `dim` at these coordinates.
    SmallVector<int64_t> coordinates(numAxes);
    auto block = [&](ArrayRef<unsigned> split, int64_t size) {
      int64_t index = 0, count = 1;
      for (unsigned axis : split) {
        index = index * mesh[axis].size + coordinates[axis];
        count *= mesh[axis].size;
      }
      int64_t extent = llvm::divideCeil(size, count);
      int64_t begin = std::min(index * extent, size);
      return std::pair(begin, std::min(begin + extent, size));
    };
    uint64_t sum = 0;
    for (int64_t i = 0; i != combinations; ++i) {
      int64_t rest = i;
      for (unsigned axis : axes) {
        coordinates[axis] = rest % mesh[axis].size;
        rest /= mesh[axis].size;
      }
      uint64_t product = 1;
      for (unsigned dim : dims) {
        auto [begin, end] = block(sourceAxes[dim], source.shape[dim]);
        auto [begin2, end2] = block(resultAxes[dim], source.shape[dim]);
        product = llvm::SaturatingMultiply<uint64_t>(
            product, std::max<int64_t>(0, std::min(end, end2) -
                                              std::max(begin, begin2)));
      }
      sum = llvm::SaturatingAdd(sum, product);
    }
    total = llvm::SaturatingMultiply<uint64_t>(total, sum);
  }
  return total;
}

namespace {
struct Elements {
  uint64_t staying = 0; ///< on one device
  uint64_t near = 0;    ///< between devices of one island
};
} // namespace

/// Counts the elements of pieces by the location of their two ends. Returns
/// nullopt if there are too many pieces.
static std::optional<Elements> countPieces(const layout::Layout &source,
                                           BoundSlice from,
                                           const layout::Layout &result,
                                           BoundSlice to) {
  layout::Mesh sourceMesh = toMesh(from.slice.getMesh());
  layout::Mesh resultMesh = toMesh(to.slice.getMesh());
  layout::Movement movement;
  std::string error;
  if (!layout::Movement::Create(source, sourceMesh, result, resultMesh,
                                from.slice == to.slice, &movement, &error))
    return std::nullopt;
  int64_t shards = layout::NumShards(resultMesh), pieces = 0;
  if (shards > kMaxPieces)
    return std::nullopt;
  for (int64_t shard = 0; shard != shards; ++shard)
    if ((pieces += movement.NumPiecesInto(shard)) > kMaxPieces)
      return std::nullopt;
  Elements elements;
  for (int64_t shard = 0; shard != shards; ++shard) {
    BindOp::Place place = to.bind.getPlace(to.slice.getMesh(), shard);
    for (const layout::Piece &piece : movement.PiecesInto(shard)) {
      BindOp::Place there =
          from.bind.getPlace(from.slice.getMesh(), piece.source);
      if (there.island != place.island)
        continue;
      uint64_t size = 1;
      for (int64_t extent : piece.extent)
        size = llvm::SaturatingMultiply<uint64_t>(size, extent);
      uint64_t &sum =
          there.device == place.device ? elements.staying : elements.near;
      sum = llvm::SaturatingAdd(sum, size);
    }
  }
  return elements;
}

MovedBytes mlir::pathways::countMovedBytes(ArrayType source, BoundSlice from,
                                           ArrayType result, BoundSlice to) {
  layout::Layout sourceLayout = toLayout(source);
  layout::Layout resultLayout = toLayout(result);
  // Each element arrives once at every copy of the result.
  uint64_t elements =
      layout::NumCopies(resultLayout, toMesh(to.slice.getMesh()));
  for (int64_t size : source.getShape())
    elements = llvm::SaturatingMultiply<uint64_t>(elements, size);

  auto toBytes = [&](uint64_t count) -> int64_t {
    return std::min<uint64_t>(
        llvm::SaturatingMultiply<uint64_t>(
            count, getElementBytes(source.getElementType())),
        std::numeric_limits<int64_t>::max());
  };
  SmallVector<int64_t, 1> fromIslands = from.bind.getIslands(),
                          toIslands = to.bind.getIslands();
  if (fromIslands.size() > 1 || toIslands.size() > 1) {
    // If the pieces cannot be counted, all elements count as crossing.
    Elements there =
        countPieces(sourceLayout, from, resultLayout, to).value_or(Elements());
    elements -= std::min(elements, there.staying);
    there.near = std::min(there.near, elements);
    return {toBytes(there.near), toBytes(elements - there.near)};
  }
  if (fromIslands != toIslands)
    return {0, toBytes(elements)};
  if (elements) {
    Reach fromReach = getReach(from), toReach = getReach(to);
    uint64_t staying = 0;
    if (from.slice == to.slice && !fromReach.mayShare)
      staying =
          countStaying(sourceLayout, resultLayout, toMesh(from.slice.getMesh()))
              .value_or(0);
    else if (fromReach.first <= toReach.last && toReach.first <= fromReach.last)
      staying = countPieces(sourceLayout, from, resultLayout, to)
                    .value_or(Elements())
                    .staying;
    elements -= std::min(elements, staying);
  }
  return {toBytes(elements), 0};
}
