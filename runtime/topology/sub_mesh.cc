//===- sub_mesh.cc - Meshes inside meshes ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/topology/sub_mesh.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pathways {
namespace {

// Sum over some cells: the number of cells without a load, and the total load
// of the others.
struct Sum {
  int64_t closed = 0;
  CellLoad load = {};

  void Add(const Sum& other, int64_t sign) {
    closed += sign * other.closed;
    for (size_t i = 0; i < load.size(); ++i) load[i] += sign * other.load[i];
  }
};

class Finder {
 public:
  Finder(const CellMesh& mesh, absl::Span<const int64_t> shape,
         absl::FunctionRef<const CellLoad*(int64_t)> load)
      : mesh_(mesh),
        shape_(shape.begin(), shape.end()),
        strides_(mesh.sizes.size(), 1),
        dim_of_(shape.size(), kNone) {
    for (size_t d = mesh.sizes.size(); d-- > 1;) {
      strides_[d - 1] = strides_[d] * mesh.sizes[d];
    }
    int64_t cells = 1;
    for (int64_t size : mesh.sizes) cells *= size;
    for (int64_t cell = 0; cell < cells; ++cell) {
      const CellLoad* of = load(cell);
      sums_.push_back(of == nullptr ? Sum{1, {}} : Sum{0, *of});
    }
  }

  std::optional<std::vector<int64_t>> Find() {
    Assign(0);
    return std::move(best_);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  bool Wraps(size_t dim) const {
    return dim < mesh_.wraps.size() && mesh_.wraps[dim];
  }
  int64_t At(int64_t cell, size_t dim) const {
    return cell / strides_[dim] % mesh_.sizes[dim];
  }
  int64_t Extent(size_t dim) const {
    for (size_t axis = 0; axis < shape_.size(); ++axis) {
      if (dim_of_[axis] == dim) return shape_[axis];
    }
    return 1;
  }

  // Assigns dimensions to this axis and those after it.
  void Assign(size_t axis) {
    if (axis == shape_.size()) return Look();
    if (shape_[axis] == 1) return Assign(axis + 1);
    for (size_t dim = 0; dim < mesh_.sizes.size(); ++dim) {
      if (mesh_.sizes[dim] < shape_[axis] || Extent(dim) > 1) continue;
      dim_of_[axis] = dim;
      Assign(axis + 1);
      dim_of_[axis] = kNone;
    }
  }

  // Returns the sums of all windows of `extent` cells along a dimension, by
  // their first cell. Windows that cross an end which does not wrap count as
  // closed.
  std::vector<Sum> Slide(const std::vector<Sum>& sums, size_t dim,
                         int64_t extent) const {
    const int64_t size = mesh_.sizes[dim], stride = strides_[dim];
    std::vector<Sum> slid(sums.size());
    for (size_t start = 0; start < sums.size(); ++start) {
      const int64_t cell = static_cast<int64_t>(start);
      if (At(cell, dim) != 0) continue;
      auto at = [&](int64_t i) { return cell + i % size * stride; };
      Sum sum;
      for (int64_t i = 0; i < extent; ++i) sum.Add(sums[at(i)], 1);
      for (int64_t i = 0; i < size; ++i) {
        slid[at(i)] = sum;
        // All windows around a whole ring are the same, so only the first one
        // counts.
        const bool is_over =
            Wraps(dim) ? extent == size && i > 0 : i + extent > size;
        slid[at(i)].closed += is_over ? 1 : 0;
        sum.Add(sums[at(i)], -1);
        sum.Add(sums[at(i + extent)], 1);
      }
    }
    return slid;
  }

  void Look() {
    std::vector<Sum> sums = sums_;
    for (size_t dim = 0; dim < mesh_.sizes.size(); ++dim) {
      if (Extent(dim) > 1) sums = Slide(sums, dim, Extent(dim));
    }
    for (size_t cell = 0; cell < sums.size(); ++cell) {
      if (sums[cell].closed > 0) continue;
      if (best_.has_value() && sums[cell].load >= best_load_) continue;
      best_ = CellsFrom(static_cast<int64_t>(cell));
      best_load_ = sums[cell].load;
    }
  }

  std::vector<int64_t> CellsFrom(int64_t first) const {
    std::vector<int64_t> cells = {first};
    for (size_t axis = 0; axis < shape_.size(); ++axis) {
      if (shape_[axis] == 1) continue;
      const size_t dim = dim_of_[axis];
      std::vector<int64_t> longer;
      for (int64_t cell : cells) {
        const int64_t at = At(cell, dim);
        for (int64_t i = 0; i < shape_[axis]; ++i) {
          longer.push_back(cell +
                           ((at + i) % mesh_.sizes[dim] - at) * strides_[dim]);
        }
      }
      cells = std::move(longer);
    }
    return cells;
  }

  const CellMesh& mesh_;
  const std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  std::vector<size_t> dim_of_;  // dimension of an axis; kNone for length 1
  std::vector<Sum> sums_;       // by cell
  std::optional<std::vector<int64_t>> best_;
  CellLoad best_load_ = {};
};

}  // namespace

std::optional<std::vector<int64_t>> FindSubMesh(
    const CellMesh& mesh, absl::Span<const int64_t> shape,
    absl::FunctionRef<const CellLoad*(int64_t cell)> load) {
  return Finder(mesh, shape, load).Find();
}

}  // namespace pathways
