//===- combine.cc - Reduction of an array's contributions -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/combine.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/memory.h"
#include "runtime/layout/reduction_tree.h"
#include "runtime/plan/tables.h"
#include "runtime/program/reduction.h"

namespace pathways {

void CombineInto(const layout::Contributions& contributions,
                 ElementType element, const char* values, uint64_t bytes,
                 char* result) {
  const layout::ReductionTree tree(contributions.sizes);
  std::vector<layout::TreeNode> ranks;
  std::vector<const char*> operands;
  for (int64_t rank = 0; rank < tree.size(); ++rank) {
    ranks.push_back({rank, rank + 1});
    operands.push_back(values + static_cast<uint64_t>(rank) * bytes);
  }
  const layout::ReductionOrder order = tree.OrderOf({0, tree.size()}, ranks);
  Reduction reduction;
  reduction.order = &order;
  reduction.operands = operands.data();
  reduction.results = &result;
  reduction.count = static_cast<int64_t>(bytes) / elementBytes(element);
  Reducer(ReductionKindOf(contributions.reduction),
          static_cast<proto::ElementType>(element))
      .Reduce(reduction);
}

absl::StatusOr<HostArray> Combine(HostArray array,
                                  const layout::Contributions& contributions) {
  if (contributions.count() == 1 || array.data.empty()) return array;
  const uint64_t bytes =
      array.data.size() / static_cast<uint64_t>(contributions.count());
  ArrayBytes combined;
  if (!HasMemoryFor([&] { combined.resize(bytes); })) {
    return absl::ResourceExhaustedError(
        absl::StrCat("contributions to an array: ",
                     NoMemoryText(array.element, array.shape)));
  }
  CombineInto(contributions, array.element, array.data.data(), bytes,
              combined.data());
  array.data = std::move(combined);
  return array;
}

absl::StatusOr<HostArray> CombinedCopy(const ArrayValue& value,
                                       const std::string& what) {
  HostArray all;
  if (value.saved() != nullptr) {
    absl::StatusOr<HostArray> read = value.saved()->ReadAll();
    if (!read.ok()) return read.status();
    all = *std::move(read);
  } else if (!HasMemoryFor([&] { all = value.Copy(); })) {
    const ArrayType& type = value.type();
    return absl::ResourceExhaustedError(
        absl::StrCat(what, ": ", NoMemoryText(type.element, type.shape)));
  }
  return Combine(std::move(all), value.contributions());
}

std::string CombinedText(const std::string& what,
                         const layout::Contributions& had,
                         const layout::Contributions& has) {
  if (had.count() == 1 || has.count() == 1 || had == has) return "";
  return absl::StrCat(
      what, ": the contributions of ", had.count(),
      " ranks are combined, because the program now has ", has.count(),
      " ranks; the last bits of sums may differ from those of a run that "
      "resumes with the same number of ranks");
}

}  // namespace pathways
