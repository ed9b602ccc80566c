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

// Mesh of cells that are numbered row-major. A dimension for which `wraps` is
// true is a ring, as in a torus.
struct CellMesh {
  std::vector<int64_t> sizes;
  std::vector<bool> wraps = {};  // per dimension; empty: none wraps
};

// Cost of choosing a cell. Costs are added up and compared part by part.
using CellLoad = std::array<int64_t, 3>;

// Finds a mesh of `shape` inside `mesh` and returns its cells, row-major by
// `shape`. Each axis longer than one lies along a dimension of its own, over
// neighbouring cells, and across the end if that dimension wraps. All its cells
// have a load; `load` returns null for cells that may not be used. Of all such
// meshes the one of least total load is chosen, and the first of several.
// Returns nullopt if there is none. The time depends on the number of cells in
// `mesh` and on the number of ways to assign axes to dimensions, but not on the
// size of `shape`.
std::optional<std::vector<int64_t>> FindSubMesh(
    const CellMesh& mesh, absl::Span<const int64_t> shape,
    absl::FunctionRef<const CellLoad*(int64_t cell)> load);

}  // namespace pathways

#endif  // RUNTIME_TOPOLOGY_SUB_MESH_H_
