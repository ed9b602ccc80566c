//===- OverrideMesh.cpp - Other sizes for a slice's axes ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Transforms/Passes.h"

#include "mlir/IR/SymbolTable.h"
#include "runtime/base/error_codes.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_OVERRIDEMESH
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {
class OverrideMeshPass
    : public mlir::pathways::impl::OverrideMeshBase<OverrideMeshPass> {
public:
  using OverrideMeshBase::OverrideMeshBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    sizes.clear();
    SmallVector<StringRef> items;
    StringRef(mesh).split(items, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    SliceOp slice;
    for (StringRef item : items)
      if (failed(override(item.trim(), slice, symbols)))
        return signalPassFailure();
  }

private:
  /// Parses `item`: SLICE:AXIS=N, or AXIS=N for the previous slice, which is
  /// `slice`.
  LogicalResult override(StringRef item, SliceOp &slice, SymbolTable &symbols) {
    StringRef rest = item;
    if (auto [name, axis] = item.split(':'); item.contains(':')) {
      slice = symbols.lookup<SliceOp>(name);
      if (!slice)
        return mlir::emitError(getOperation().getLoc(), "mesh '")
               << item << "' is for slice '" << name
               << "', which is not declared"
               << ::pathways::Tag(::pathways::ErrorId::kSliceNotDeclared);
      rest = axis;
    }
    auto [axis, number] = rest.split('=');
    int64_t size;
    if (!slice || axis.empty() || number.getAsInteger(10, size))
      return mlir::emitError(getOperation().getLoc(),
                             "expected mesh SLICE:AXIS=N,..., got '")
             << item << "'";
    MeshAttr old = slice.getMesh();
    int64_t index = old.getAxisIndex(axis);
    if (index < 0)
      return slice.emitOpError("'")
             << slice.getSymName() << "' has mesh " << old
             << ", which has no axis '" << axis << "' of '" << item << "'";
    auto [given, isNew] =
        sizes.try_emplace({slice.getSymNameAttr(), index}, size);
    if (!isNew)
      return mlir::emitError(getOperation().getLoc(), "axis '")
             << axis << "' of slice '" << slice.getSymName()
             << "' is given twice, as " << given->second << " and as " << size;
    MeshAttr changed =
        old.withSize(index, size, [&] { return slice.emitOpError(); });
    if (!changed)
      return failure();
    slice.setMeshAttr(changed);
    return success();
  }

  /// The given sizes, by slice and axis.
  DenseMap<std::pair<StringAttr, int64_t>, int64_t> sizes;
};
} // namespace
