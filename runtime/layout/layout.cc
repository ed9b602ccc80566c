//===- layout.cc - Checks, shapes and boxes of shards ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/layout/contributions.h"

namespace pathways::layout {
namespace {

std::string Quoted(const std::string& name) { return "'" + name + "'"; }

std::string AxisList(const std::vector<std::string>& axes) {
  std::string text = "{";
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i > 0) text += ", ";
    text += '"' + axes[i] + '"';
  }
  return text + "}";
}

std::string ReductionName(Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone:
      return "none";
    case Reduction::kAdd:
      return "add";
    case Reduction::kMul:
      return "mul";
    case Reduction::kMax:
      return "max";
    case Reduction::kMin:
      return "min";
    case Reduction::kUMax:
      return "umax";
    case Reduction::kUMin:
      return "umin";
    case Reduction::kAnd:
      return "and";
    case Reduction::kOr:
      return "or";
    case Reduction::kXor:
      return "xor";
  }
  return std::to_string(static_cast<int>(reduction));
}

bool IsKnown(Reduction reduction) {
  return reduction >= Reduction::kNone && reduction <= Reduction::kXor;
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns the size of the axis called `name`, or 1 if there is none, so that
// the function is total.
int64_t AxisSize(const Mesh& mesh, const std::string& name) {
  for (const Axis& axis : mesh) {
    if (axis.name == name) return axis.size;
  }
  return 1;
}

int64_t NumBlocks(const std::vector<std::string>& axes, const Mesh& mesh) {
  int64_t blocks = 1;
  for (const std::string& axis : axes) blocks *= AxisSize(mesh, axis);
  return blocks;
}

}  // namespace

bool Box::empty() const {
  return std::any_of(extent.begin(), extent.end(),
                     [](int64_t e) { return e <= 0; });
}

int64_t Box::numElements() const {
  if (empty()) return 0;
  int64_t count = 1;
  for (int64_t e : extent) count *= e;
  return count;
}

std::string CheckMesh(const Mesh& mesh) {
  if (mesh.size() > static_cast<size_t>(kMaxAxes)) {
    return "the mesh has " + std::to_string(mesh.size()) +
           " axes, expected at most " + std::to_string(kMaxAxes);
  }
  std::set<std::string> names;
  int64_t shards = 1;
  for (size_t i = 0; i < mesh.size(); ++i) {
    const Axis& axis = mesh[i];
    if (axis.name.empty()) {
      return "axis " + std::to_string(i) + " of the mesh has no name";
    }
    if (!names.insert(axis.name).second) {
      return "axis " + Quoted(axis.name) + " appears twice in the mesh";
    }
    if (axis.size < 1) {
      return "axis " + Quoted(axis.name) + " has size " +
             std::to_string(axis.size) + ", expected at least 1";
    }
    if (axis.size > kMaxShards / shards) {
      return "the mesh has more than " + std::to_string(kMaxShards) +
             " shards: axis " + Quoted(axis.name) + " multiplies " +
             std::to_string(shards) + " by " + std::to_string(axis.size);
    }
    shards *= axis.size;
  }
  return "";
}

std::string CheckLayout(const Layout& layout, const Mesh& mesh) {
  if (layout.dims.size() != layout.shape.size()) {
    return "the layout splits " + std::to_string(layout.dims.size()) +
           " dimensions, but the array has rank " +
           std::to_string(layout.shape.size());
  }
  int64_t elements = 1;
  for (size_t d = 0; d < layout.shape.size(); ++d) {
    int64_t extent = layout.shape[d];
    if (extent < 0) {
      return "dimension " + std::to_string(d) + " has size " +
             std::to_string(extent) + ", expected at least 0";
    }
    if (extent == 0) continue;
    if (extent > kMaxElements / elements) {
      return "the array has more than " + std::to_string(kMaxElements) +
             " elements: dimension " + std::to_string(d) + " multiplies " +
             std::to_string(elements) + " by " + std::to_string(extent);
    }
    elements *= extent;
  }

  // The place that uses each axis; empty if there is none yet.
  std::unordered_map<std::string, std::string> uses;
  for (const Axis& axis : mesh) uses[axis.name];
  auto use = [&](const std::string& axis, std::string place) -> std::string {
    auto it = uses.find(axis);
    if (it == uses.end()) {
      return "axis " + Quoted(axis) + " of " + place + " is not in mesh " +
             ToString(mesh);
    }
    if (!it->second.empty()) {
      return "axis " + Quoted(axis) + " is used twice: by " + it->second +
             " and by " + place;
    }
    it->second = std::move(place);
    return "";
  };
  for (size_t d = 0; d < layout.dims.size(); ++d) {
    for (const std::string& axis : layout.dims[d]) {
      std::string error = use(axis, "dimension " + std::to_string(d));
      if (!error.empty()) return error;
    }
  }
  for (const std::string& axis : layout.partial) {
    std::string error = use(axis, "the partial axes");
    if (!error.empty()) return error;
  }

  if (!IsKnown(layout.reduction)) {
    return "unknown reduction " + ReductionName(layout.reduction);
  }
  if (!layout.partial.empty() && layout.reduction == Reduction::kNone) {
    return "the layout has partial axes " + AxisList(layout.partial) +
           ", but no reduction";
  }
  if (layout.partial.empty() && layout.reduction != Reduction::kNone) {
    return "the layout has reduction '" + ReductionName(layout.reduction) +
           "', but no partial axes";
  }
  return "";
}

std::string ToString(const Mesh& mesh) {
  std::string text = "<";
  for (size_t i = 0; i < mesh.size(); ++i) {
    if (i > 0) text += ", ";
    text += '"' + mesh[i].name + "\" = " + std::to_string(mesh[i].size);
  }
  return text + ">";
}

std::string ToString(const Layout& layout) {
  std::string text = "[";
  for (size_t d = 0; d < layout.dims.size(); ++d) {
    if (d > 0) text += ", ";
    text += AxisList(layout.dims[d]);
  }
  text += "]";
  if (!layout.partial.empty() || layout.reduction != Reduction::kNone) {
    text += " partial " + ReductionName(layout.reduction) + " " +
            AxisList(layout.partial);
  }
  return text;
}

int64_t NumShards(const Mesh& mesh) {
  int64_t shards = 1;
  for (const Axis& axis : mesh) shards *= axis.size;
  return shards;
}

std::vector<int64_t> Coordinates(const Mesh& mesh, int64_t shard) {
  std::vector<int64_t> coordinates(mesh.size());
  for (size_t i = mesh.size(); i-- > 0;) {
    coordinates[i] = shard % mesh[i].size;
    shard /= mesh[i].size;
  }
  return coordinates;
}

int64_t ShardAt(const Mesh& mesh, const std::vector<int64_t>& coordinates) {
  int64_t shard = 0;
  for (size_t i = 0; i < mesh.size(); ++i) {
    shard = shard * mesh[i].size + coordinates[i];
  }
  return shard;
}

std::vector<int64_t> ShardShape(const Layout& layout, const Mesh& mesh) {
  std::vector<int64_t> shape(layout.shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] = CeilDiv(layout.shape[d], NumBlocks(layout.dims[d], mesh));
  }
  return shape;
}

Box ShardBox(const Layout& layout, const Mesh& mesh, int64_t shard) {
  std::vector<int64_t> coordinates = Coordinates(mesh, shard);
  Box box;
  box.begin.resize(layout.shape.size());
  box.extent.resize(layout.shape.size());
  for (size_t d = 0; d < layout.shape.size(); ++d) {
    int64_t block = 0;
    int64_t blocks = 1;
    for (const std::string& name : layout.dims[d]) {
      for (size_t a = 0; a < mesh.size(); ++a) {
        if (mesh[a].name != name) continue;
        block = block * mesh[a].size + coordinates[a];
        blocks *= mesh[a].size;
        break;
      }
    }
    int64_t full = CeilDiv(layout.shape[d], blocks);
    box.begin[d] = std::min(block * full, layout.shape[d]);
    box.extent[d] = std::min(full, layout.shape[d] - box.begin[d]);
  }
  return box;
}

bool IsEven(const Layout& layout, const Mesh& mesh) {
  for (size_t d = 0; d < layout.shape.size(); ++d) {
    if (layout.shape[d] % NumBlocks(layout.dims[d], mesh) != 0) return false;
  }
  return true;
}

int64_t NumCopies(const Layout& layout, const Mesh& mesh) {
  int64_t used = NumBlocks(layout.partial, mesh);
  for (const std::vector<std::string>& axes : layout.dims) {
    used *= NumBlocks(axes, mesh);
  }
  return NumShards(mesh) / used;
}

std::vector<int64_t> ContributionSizes(const Layout& layout, const Mesh& mesh) {
  std::vector<int64_t> sizes;
  for (const std::string& name : layout.partial) {
    sizes.push_back(NumBlocks({name}, mesh));
  }
  return sizes;
}

Contributions ContributionsOf(const Layout& layout, const Mesh& mesh) {
  if (NumContributions(layout, mesh) == 1) return {};
  return {layout.reduction, ContributionSizes(layout, mesh)};
}

int64_t NumContributions(const Layout& layout, const Mesh& mesh) {
  return NumBlocks(layout.partial, mesh);
}

int64_t ContributionOf(const Layout& layout, const Mesh& mesh, int64_t shard) {
  const std::vector<int64_t> coordinates = Coordinates(mesh, shard);
  int64_t rank = 0;
  for (const std::string& name : layout.partial) {
    for (size_t a = 0; a < mesh.size(); ++a) {
      if (mesh[a].name == name) rank = rank * mesh[a].size + coordinates[a];
    }
  }
  return rank;
}

}  // namespace pathways::layout
