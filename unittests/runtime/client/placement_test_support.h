//===- placement_test_support.h - Arrays on hosts ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CLIENT_PLACEMENT_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_CLIENT_PLACEMENT_TEST_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/binding/parts.h"

namespace pathways::testing {

// Rows of `shape`, f32, over `shards` shards, of which each of `hosts` has as
// many, in order.
inline std::shared_ptr<const ArrayPlacement> RowsOn(
    std::vector<int64_t> shape, int64_t shards,
    const std::vector<int32_t>& hosts, bool stepped = false) {
  auto placement = std::make_shared<ArrayPlacement>();
  placement->layout.dims.resize(shape.size());
  placement->layout.dims[0] = {"x"};
  placement->layout.shape = std::move(shape);
  placement->mesh = {{"x", shards}};
  placement->element_bytes = 4;
  placement->element = proto::F32;
  placement->stepped = stepped;
  const int64_t each = shards / static_cast<int64_t>(hosts.size());
  int32_t first = 0;
  for (int32_t host : hosts) {
    std::vector<int32_t> own(each);
    std::iota(own.begin(), own.end(), first);
    first += static_cast<int32_t>(each);
    placement->hosts.push_back(
        {host, CutParts(placement->layout, placement->mesh, 4, own)});
  }
  return placement;
}

// All of `shape` on each of `hosts`.
inline std::shared_ptr<const ArrayPlacement> CopiesOn(
    std::vector<int64_t> shape, const std::vector<int32_t>& hosts) {
  auto placement = std::make_shared<ArrayPlacement>();
  placement->layout.dims.resize(shape.size());
  placement->layout.shape = std::move(shape);
  placement->mesh = {{"x", static_cast<int64_t>(hosts.size())}};
  placement->element_bytes = 4;
  placement->element = proto::F32;
  for (int32_t i = 0; i < static_cast<int32_t>(hosts.size()); ++i) {
    placement->hosts.push_back(
        {hosts[i], CutParts(placement->layout, placement->mesh, 4, {i})});
  }
  return placement;
}

// Contributions of `hosts` to sums of `shape`, f32, two of each host.
inline std::shared_ptr<const ArrayPlacement> ContributionsOf(
    std::vector<int64_t> shape, const std::vector<int32_t>& hosts,
    bool stepped = false) {
  auto placement = std::make_shared<ArrayPlacement>();
  placement->layout.dims.resize(shape.size());
  placement->layout.shape = std::move(shape);
  placement->layout.partial = {"x"};
  placement->layout.reduction = layout::Reduction::kAdd;
  placement->mesh = {{"x", 2 * static_cast<int64_t>(hosts.size())}};
  placement->element_bytes = 4;
  placement->element = proto::F32;
  placement->stepped = stepped;
  for (int32_t i = 0; i < static_cast<int32_t>(hosts.size()); ++i) {
    placement->hosts.push_back(
        {hosts[i],
         CutParts(placement->layout, placement->mesh, 4, {2 * i, 2 * i + 1})});
  }
  return placement;
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CLIENT_PLACEMENT_TEST_SUPPORT_H_
