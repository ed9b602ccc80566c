//===- sub_mesh.h - Meshes inside meshes ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TOPOLOGY_SUB_MESH_H_
#define RUNTIME_TOPOLOGY_SUB_MESH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace pathways {

// A mesh, or a torus where `wraps` says so of a dimension, of cells that are
// numbered row-major.
struct CellMesh {
  std::vector<int64_t> sizes;
  std::vector<bool> wraps = {};  // by dimension; none: of no dimension
};

// How little a cell is wanted: compared part by part, and summed up.
using CellLoad = std::array<int64_t, 3>;

// The cells of a mesh of `shape` in `mesh`, row-major by `shape`: each axis of
// it that is longer than one lies along a dimension of its own, over
// neighbours, and around the end where that wraps. It has only cells with a
// load, and is the one of least load, then the first one. Nothing: there is
// none. Takes time by cells of `mesh` and the ways in which axes go along
// dimensions, whatever the size of `shape`.
std::optional<std::vector<int64_t>> FindSubMesh(
    const CellMesh& mesh, absl::Span<const int64_t> shape,
    absl::FunctionRef<const CellLoad*(int64_t cell)> load);

}  // namespace pathways

#endif  // RUNTIME_TOPOLOGY_SUB_MESH_H_
