//===- arriving_pieces.cc - Pieces that arrive at a shard -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/arriving_pieces.h"

namespace pathways {

const std::vector<layout::Piece>& ArrivingPieces::Into(uint32_t send,
                                                       int32_t shard) {
  auto [it, fresh] = pieces_.try_emplace({send, shard});
  if (fresh) it->second = plan_.movement(send).PiecesInto(shard);
  return it->second;
}

}  // namespace pathways
