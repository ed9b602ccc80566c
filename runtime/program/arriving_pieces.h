//===- arriving_pieces.h - Pieces that arrive at a shard --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_ARRIVING_PIECES_H_
#define RUNTIME_PROGRAM_ARRIVING_PIECES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/binding/prepared_plan.h"

namespace pathways {

// Remembers the pieces that arrive at shards: several tables of a host need
// them, and finding them is not cheap.
class ArrivingPieces {
 public:
  // `plan` must outlive this object.
  explicit ArrivingPieces(const PreparedPlan& plan) : plan_(plan) {}

  // Returns the pieces that action `send` moves into `shard`. The reference is
  // valid until the next call.
  const std::vector<layout::Piece>& Into(uint32_t send, int32_t shard);

 private:
  const PreparedPlan& plan_;
  absl::flat_hash_map<std::pair<uint32_t, int32_t>, std::vector<layout::Piece>>
      pieces_;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_ARRIVING_PIECES_H_
