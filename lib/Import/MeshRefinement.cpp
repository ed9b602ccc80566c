//===- MeshRefinement.cpp - Axes that several meshes share ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeshRefinement.h"

#include "runtime/base/error_codes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

std::optional<Digits> mlir::pathways::findDigits(ArrayRef<int64_t> numbers) {
  if (numbers.empty() || numbers.front() != 0)
    return std::nullopt;
  Digits digits; // minor first
  SmallVector<int64_t> rest(numbers);
  while (rest.size() > 1) {
    int64_t stride = rest[1], count = 1;
    int64_t number = rest.size();
    if (stride <= 0)
      return std::nullopt;
    while (count < number && rest[count] == count * stride)
      ++count;
    if (number % count != 0)
      return std::nullopt;
    // All later runs repeat the first one from another number on.
    SmallVector<int64_t> starts;
    for (int64_t at = 0; at < number; at += count) {
      starts.push_back(rest[at]);
      for (int64_t i = 0; i < count; ++i)
        if (rest[at + i] != rest[at] + i * stride)
          return std::nullopt;
    }
    digits.push_back({stride, count});
    rest = std::move(starts);
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

int64_t Grid::getNumPartitions() const {
  int64_t number = 1;
  for (int64_t size : sizes)
    number *= size;
  return number;
}

std::pair<int64_t, int64_t> Grid::getRange(unsigned dim) const {
  int64_t low = 1;
  for (int64_t size : ArrayRef<int64_t>(sizes).drop_front(dim + 1))
    low *= size;
  return {low, low * sizes[dim]};
}

/// Returns the digits of `grid` such that each dimension and each part of one
/// consists of whole digits. Returns nothing if there are none such.
static std::optional<Digits> splitOrder(const Grid &grid) {
  SmallVector<int64_t> cuts(grid.cuts);
  for (unsigned dim = 0; dim < grid.sizes.size(); ++dim)
    cuts.push_back(grid.getRange(dim).first);
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  Digits digits; // minor first
  int64_t low = 1;
  for (Digit digit : llvm::reverse(grid.order)) {
    int64_t high = low * digit.size, stride = digit.stride;
    for (int64_t cut : cuts) {
      if (cut <= low || cut >= high)
        continue;
      if (cut % low != 0 || high % cut != 0)
        return std::nullopt;
      digits.push_back({stride, cut / low});
      stride *= cut / low;
      low = cut;
    }
    if (low < high)
      digits.push_back({stride, high / low});
    low = high;
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::optional<int64_t> MeshRefinement::findConflict(int64_t stride) const {
  for (auto [other, source] : strides)
    if (other % stride != 0 && stride % other != 0)
      return other;
  return std::nullopt;
}

LogicalResult MeshRefinement::add(const Grid &grid) {
  std::optional<Digits> digits = splitOrder(grid);
  if (!digits)
    return emitError(grid.loc)
           << grid.what << " has parts that no finer mesh has as whole axes"
           << Tag(ErrorId::kPartitioned);
  sources.push_back({grid.what, grid.loc});
  for (Digit digit : *digits)
    for (int64_t stride : {digit.stride, digit.stride * digit.size}) {
      std::optional<int64_t> conflict = findConflict(stride);
      if (!conflict) {
        strides.try_emplace(stride, sources.size() - 1);
        continue;
      }
      const Source &other = sources[strides.at(*conflict)];
      InFlightDiagnostic error =
          emitError(grid.loc)
          << grid.what << " and " << other.what
          << " have no finer mesh in common: one has blocks of " << stride
          << " devices, the other of " << *conflict
          << Tag(ErrorId::kPartitioned);
      if (other.loc)
        error.attachNote(*other.loc) << other.what << " is here";
      return error;
    }
  return success();
}

LogicalResult MeshRefinement::add(ArrayRef<Digit> digits) {
  std::map<int64_t, unsigned> before = strides;
  sources.push_back({"a group", std::nullopt});
  for (Digit digit : digits)
    for (int64_t stride : {digit.stride, digit.stride * digit.size}) {
      if (findConflict(stride)) {
        strides = std::move(before);
        sources.pop_back();
        return failure();
      }
      strides.try_emplace(stride, sources.size() - 1);
    }
  return success();
}

void MeshRefinement::finish() {
  int64_t low = 1;
  for (auto [stride, source] : strides) {
    if (stride > low)
      axes.push_back({low, stride / low});
    low = stride;
  }
  std::reverse(axes.begin(), axes.end());
}

SmallVector<unsigned> MeshRefinement::getAxes(const Grid &grid, int64_t low,
                                              int64_t high) const {
  std::optional<Digits> digits = splitOrder(grid);
  SmallVector<unsigned> found; // minor first
  int64_t position = 1;
  for (Digit digit : llvm::reverse(*digits)) {
    if (position >= low && position < high)
      for (unsigned i = axes.size(); i-- > 0;)
        if (axes[i].stride >= digit.stride &&
            axes[i].stride < digit.stride * digit.size)
          found.push_back(i);
    position *= digit.size;
  }
  std::reverse(found.begin(), found.end());
  return found;
}
