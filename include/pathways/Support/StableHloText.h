//===- StableHloText.h - Text of StableHLO before it is parsed --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_STABLEHLOTEXT_H
#define PATHWAYS_SUPPORT_STABLEHLOTEXT_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::pathways {

/// Returns true for a program of StableHLO: text that has a name of
/// `stablehlo`, `mhlo` or `sdy` outside comments and strings, and no
/// `pw.program`.
bool looksLikeStableHlo(llvm::StringRef text);

/// Returns a message if `text` is a form of StableHLO that cannot be read:
/// bytecode, or text of VHLO, which serialized programs are in.
std::optional<std::string> describeUnreadable(llvm::StringRef text);

/// Packs constants of i1 in hexadecimal digits that have a byte for each
/// element into a bit for each element, which is what MLIR reads:
/// `dense<"0x0001"> : tensor<2xi1>` becomes `dense<"0x02"> : tensor<2xi1>`.
/// Returns the text with the same lines, or nullopt if it has no such constant.
std::optional<std::string> repackBoolConstants(llvm::StringRef text);

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_STABLEHLOTEXT_H
