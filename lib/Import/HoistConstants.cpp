//===- HoistConstants.cpp - Large constants as arguments ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Import/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "pathways/Support/ElementTypes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_HOISTCONSTANTS
#include "pathways/Import/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

/// Returns true if `value` has at least `minBytes` bytes that a plan can hold.
static bool isHoisted(ElementsAttr value, int64_t minBytes) {
  Type element = value.getElementType();
  if (getElementType(element) == ::pathways::proto::ELEMENT_TYPE_UNSPECIFIED)
    return false;
  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t bytes = value.getNumElements() * ((bits + 7) / 8);
  if (bytes < minBytes)
    return false;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    // Booleans are packed in other ways than in arrays.
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob && bits > 1 &&
           static_cast<int64_t>(blob->getData().size()) == bytes;
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  return dense && !dense.isSplat();
}

/// Returns true if `op` is in @main itself or in regions whose operations may
/// read all values outside.
static bool readsOuterValues(Operation *op, func::FuncOp entry) {
  for (Operation *parent = op->getParentOp(); parent != entry;
       parent = parent->getParentOp())
    if (!isa<stablehlo::StableHloDialect>(parent->getDialect()))
      return false;
  return true;
}

namespace {
struct HoistConstantsPass
    : mlir::pathways::impl::HoistConstantsBase<HoistConstantsPass> {
  using HoistConstantsBase::HoistConstantsBase;

  void runOnOperation() override {
    auto entry = getOperation().lookupSymbol<func::FuncOp>("main");
    // A function that is called cannot get arguments.
    if (!entry || entry.isExternal() ||
        !SymbolTable::symbolKnownUseEmpty(entry, getOperation()))
      return;
    llvm::MapVector<Attribute, SmallVector<stablehlo::ConstantOp>> found;
    entry.walk([&](stablehlo::ConstantOp op) {
      if (isHoisted(op.getValue(), minBytes) && readsOuterValues(op, entry))
        found[op.getValue()].push_back(op);
    });
    for (auto [index, entries] : llvm::enumerate(found))
      hoist(entry, index, entries.second);
  }

private:
  static void hoist(func::FuncOp entry, unsigned index,
                    ArrayRef<stablehlo::ConstantOp> constants) {
    stablehlo::ConstantOp first = constants.front();
    Builder b(entry);
    auto attributes = b.getDictionaryAttr(
        b.getNamedAttr(PathwaysDialect::kConstantAttrName, first.getValue()));
    Location loc = NameLoc::get(b.getStringAttr("constant" + Twine(index)),
                                first.getLoc());
    unsigned position = entry.getNumArguments();
    if (failed(
            entry.insertArgument(position, first.getType(), attributes, loc)))
      return;
    for (stablehlo::ConstantOp op : constants) {
      op.replaceAllUsesWith(Value(entry.getArgument(position)));
      op.erase();
    }
  }
};
} // namespace
