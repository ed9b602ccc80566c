//===- WholeText.cpp - Complete text of an operation ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/WholeText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

using namespace mlir;
using namespace mlir::pathways;

std::string mlir::pathways::getWholeText(Operation *op, bool withPlaces) {
  OpPrintingFlags flags;
  flags.useLocalScope().printGenericOpForm().enableDebugInfo(withPlaces);
  flags.skipRegions(false);
  flags.elideLargeElementsAttrs(std::numeric_limits<int64_t>::max());
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, flags);
  return text;
}

void mlir::pathways::visitResources(Operation *op,
                                    llvm::function_ref<void(StringRef)> visit) {
  op->walk([&](Operation *inner) {
    inner->getAttrDictionary().walk([&](DenseResourceElementsAttr constant) {
      visit(constant.getRawHandle().getKey());
      if (const AsmResourceBlob *blob = constant.getRawHandle().getBlob())
        visit(StringRef(blob->getData().data(), blob->getData().size()));
    });
  });
}
