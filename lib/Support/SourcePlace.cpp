//===- SourcePlace.cpp - Locations in source files ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/SourcePlace.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::pathways;

FileLineColRange mlir::pathways::findSourcePlace(Location loc) {
  return loc->findInstanceOf<FileLineColRange>();
}

std::string mlir::pathways::getSourcePlace(Location loc) {
  FileLineColRange place = findSourcePlace(loc);
  if (!place)
    return {};
  return (place.getFilename().getValue() + ":" + Twine(place.getStartLine()) +
          ":" + Twine(place.getStartColumn()))
      .str();
}
