//===- layout_oracle.h - An independent model of layouts --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests: says element by element which shard holds it and where. Written
// from the definitions, sharing no arithmetic with the library.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_LAYOUT_LAYOUT_ORACLE_H_
#define UNITTESTS_RUNTIME_LAYOUT_LAYOUT_ORACLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/layout/layout.h"

namespace pathways::layout {

// The axes that split each dimension, and no sum that is still to be made.
inline Layout Split(const std::vector<int64_t>& shape,
                    const std::vector<std::vector<std::string>>& dims) {
  return {shape, dims, {}, Reduction::kNone};
}

// A mesh, a layout, and everything about it by enumeration.
struct Sharded {
  struct Shard {
    std::map<std::string, int64_t> at;  // coordinates by axis name
    std::vector<int64_t> local_of;      // local position of each element, or -1
    std::vector<int64_t> held;          // the elements it holds, in order
    int64_t rank = 0;                   // rank among the partial coordinates
    bool has_padding = false;
  };

  Mesh mesh;
  Layout layout;
  std::vector<int64_t> shard_shape;
  int64_t shard_elements = 1;
  int64_t contributions = 1;
  std::vector<Shard> shards;
  std::vector<std::string> copy_axes;

  Sharded(Mesh m, Layout l) : mesh(std::move(m)), layout(std::move(l)) {
    EnumerateShards();
    std::vector<int64_t> blocks(layout.shape.size(), 1);
    for (size_t d = 0; d < layout.shape.size(); ++d) {
      for (const std::string& name : layout.dims[d]) blocks[d] *= SizeOf(name);
      int64_t block = 0;  // the smallest that is enough
      while (block * blocks[d] < layout.shape[d]) ++block;
      shard_shape.push_back(block);
      shard_elements *= block;
    }
    for (const std::string& name : layout.partial)
      contributions *= SizeOf(name);
    for (const Axis& axis : mesh) {
      bool used = Contains(layout.partial, axis.name);
      for (const auto& dim : layout.dims) used |= Contains(dim, axis.name);
      if (!used) copy_axes.push_back(axis.name);
    }
    for (Shard& shard : shards) {
      for (const std::string& name : layout.partial) {
        shard.rank = shard.rank * SizeOf(name) + shard.at[name];
      }
      PlaceElements(&shard);
    }
  }

  static bool Contains(const std::vector<std::string>& list,
                       const std::string& name) {
    for (const std::string& item : list) {
      if (item == name) return true;
    }
    return false;
  }

  int64_t SizeOf(const std::string& name) const {
    for (const Axis& axis : mesh) {
      if (axis.name == name) return axis.size;
    }
    return -1;
  }

 private:
  // Row-major order is that of an odometer whose last wheel is the fastest.
  void EnumerateShards() {
    std::map<std::string, int64_t> at;
    for (const Axis& axis : mesh) at[axis.name] = 0;
    while (true) {
      shards.emplace_back();
      shards.back().at = at;
      size_t wheel = mesh.size();
      while (wheel > 0) {
        int64_t& value = at[mesh[wheel - 1].name];
        if (++value < mesh[wheel - 1].size) break;
        value = 0;
        --wheel;
      }
      if (wheel == 0) return;
    }
  }

  void PlaceElements(Shard* shard) {
    std::vector<int64_t> index(layout.shape.size(), 0);
    int64_t elements = 1;
    for (int64_t extent : layout.shape) elements *= extent;
    for (int64_t e = 0; e < elements; ++e) {
      int64_t local = 0;
      bool here = true;
      for (size_t d = 0; d < index.size(); ++d) {
        int64_t mine = 0;
        for (const std::string& name : layout.dims[d]) {
          mine = mine * SizeOf(name) + shard->at[name];
        }
        here = here && index[d] / shard_shape[d] == mine;
        local = local * shard_shape[d] + index[d] % shard_shape[d];
      }
      shard->local_of.push_back(here ? local : -1);
      if (here) shard->held.push_back(e);
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < layout.shape[d]) break;
        index[d] = 0;
      }
    }
    shard->has_padding =
        static_cast<int64_t>(shard->held.size()) < shard_elements;
  }
};

// Every way to use the axes of `mesh` for an array of `shape`: each axis splits
// a dimension, holds contributions or holds copies, in every order.
inline std::vector<Layout> AllLayouts(const Mesh& mesh,
                                      const std::vector<int64_t>& shape) {
  Layout empty;
  empty.shape = shape;
  empty.dims.resize(shape.size());
  std::vector<Layout> layouts = {empty};
  for (const Axis& axis : mesh) {
    std::vector<Layout> grown = layouts;  // the axis holds copies
    for (const Layout& layout : layouts) {
      auto insert_everywhere = [&](auto list_of) {
        Layout copy = layout;
        size_t places = list_of(copy).size() + 1;
        for (size_t place = 0; place < places; ++place) {
          Layout next = layout;
          auto& list = list_of(next);
          list.insert(list.begin() + static_cast<std::ptrdiff_t>(place),
                      axis.name);
          if (!next.partial.empty()) next.reduction = Reduction::kAdd;
          grown.push_back(next);
        }
      };
      for (size_t d = 0; d < shape.size(); ++d) {
        insert_everywhere([d](Layout& l) -> auto& { return l.dims[d]; });
      }
      insert_everywhere([](Layout& l) -> auto& { return l.partial; });
    }
    layouts = grown;
  }
  return layouts;
}

}  // namespace pathways::layout

#endif  // UNITTESTS_RUNTIME_LAYOUT_LAYOUT_ORACLE_H_
