//===- wire_kind.cc - Names of hot messages that cross hosts --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/wire_kind.h"

namespace pathways {

const char* WireKindName(int kind) {
  switch (kind) {
    case kTokenMessage:
      return "token";
    case kPieceMessage:
      return "piece";
    case kBroadcastMessage:
      return "all";
    case kContributionMessage:
      return "contribution";
    case kEnqueuedMessage:
      return "enqueued";
    case kPullMessage:
      return "pull";
    case kBlockMessage:
      return "block";
    case kTransferDoneMessage:
      return "pulled";
    case kTokensMessage:
      return "tokens";
    case kPiecesMessage:
      return "pieces";
    default:
      return "unknown";
  }
}

}  // namespace pathways
