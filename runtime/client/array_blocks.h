//===- array_blocks.h - Arrays into blocks, and back ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_ARRAY_BLOCKS_H_
#define RUNTIME_CLIENT_ARRAY_BLOCKS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "runtime/base/host_array.h"
#include "runtime/executor/parts.h"

namespace pathways {

// Some bytes of what a host shall hold of an array.
struct BlockBytes {
  int32_t host = 0;
  uint64_t bytes = 0;   // that the host shall hold of it, in all
  uint64_t offset = 0;  // of `data` in them
  absl::string_view data;
};

// Cuts what hosts need of `array`, which has the type that `placement` says,
// for as many steps, into pieces of at most kMaxPieceBytes and passes each on;
// `data` is valid during the call.
void CutBlocks(const ArrayPlacement& placement, const HostArray& array,
               uint64_t steps, absl::FunctionRef<void(BlockBytes)> pass_on);

// Joins the blocks of an array that hosts hold. Each block is asked for once,
// from the first host that has it; what comes twice, or was not asked for,
// changes nothing. One owner calls it.
class BlockAssembly {
 public:
  // A run of neighbouring blocks of one host.
  struct Range {
    int32_t host = 0;
    uint64_t offset = 0;  // in what the host holds
    std::vector<char> data;
  };

  // `shape` has the steps of a stepped array.
  BlockAssembly(std::shared_ptr<const ArrayPlacement> placement,
                ElementType element, std::vector<int64_t> shape);

  // What to ask for: ascending by host and offset, data has the size.
  const std::vector<Range>& ranges() const { return ranges_; }
  // Takes a piece. Whether all has come now.
  bool Write(int32_t host, uint64_t offset, absl::string_view data);
  bool complete() const { return remaining_ == 0; }
  // The array, when all has come.
  HostArray Join() const;

 private:
  struct Block {
    const Part* part;
    size_t range;
    uint64_t offset;  // in the range
  };

  const std::shared_ptr<const ArrayPlacement> placement_;
  const ElementType element_;
  const std::vector<int64_t> shape_;
  const uint64_t steps_;
  std::vector<Range> ranges_;
  std::vector<Block> blocks_;
  std::set<std::pair<int32_t, uint64_t>> seen_;  // (host, offset)
  uint64_t remaining_ = 0;                       // bytes
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_ARRAY_BLOCKS_H_
