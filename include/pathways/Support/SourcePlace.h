//===- SourcePlace.h - Locations in source files ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_SOURCEPLACE_H
#define PATHWAYS_SUPPORT_SOURCEPLACE_H

#include "mlir/IR/Location.h"
#include <string>

namespace mlir::pathways {

/// Returns the place in a source file that `loc` comes from. Returns the first
/// if there are several, null if there is none.
FileLineColRange findSourcePlace(Location loc);

/// Returns that place as "file:line:column"; empty if there is none.
std::string getSourcePlace(Location loc);

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_SOURCEPLACE_H
