//===- checkpoint_index_fuzz.cc - Indices of saved arrays -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>
#include <vector>

#include "runtime/checkpoint/array_index.h"
#include "runtime/checkpoint/block_grid.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

void CheckRefused(const absl::Status& status) {
  FUZZ_CHECK(absl::IsDataLoss(status) || absl::IsInvalidArgument(status));
  FUZZ_CHECK(!status.message().empty());
}

}  // namespace

const fuzz::Budget fuzz::kBudget = {1 << 20, 512};

}  // namespace pathways

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  fuzz::Input input(data, size);
  const std::string text = input.TakeRest();
  const absl::StatusOr<ArrayIndex> index = ParseArrayIndex(text);
  if (index.ok()) {
    FUZZ_CHECK(CheckSavable(index->element, index->layout, index->mesh).ok());
    const BlockGrid grid(index->layout, index->mesh);
    FUZZ_CHECK(static_cast<int64_t>(index->blocks.size()) == grid.size());
    for (const ArrayIndex::Block& block : index->blocks) {
      FUZZ_CHECK(CheckArrayName(block.file).ok());
    }
    // The index that is read is the index that is written.
    const std::string printed = PrintArrayIndex(*index);
    const absl::StatusOr<ArrayIndex> again = ParseArrayIndex(printed);
    FUZZ_CHECK(again.ok() && PrintArrayIndex(*again) == printed);
  } else {
    CheckRefused(index.status());
  }
  const absl::StatusOr<std::vector<std::string>> names = ParseSetIndex(text);
  if (names.ok()) {
    FUZZ_CHECK(*ParseSetIndex(PrintSetIndex(*names)) == *names);
  } else {
    CheckRefused(names.status());
  }
  return 0;
}
