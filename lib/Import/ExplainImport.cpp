//===- ExplainImport.cpp - Report of imported operations ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Import/ExplainImport.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::pathways;

/// Begins the metadata of marked locations.
static constexpr StringLiteral kMark = "imported as ";

/// Returns the mark in a location itself, or null.
static StringAttr getMark(LocationAttr loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto metadata = fused ? dyn_cast_if_present<StringAttr>(fused.getMetadata())
                        : StringAttr();
  return metadata && metadata.getValue().starts_with(kMark) ? metadata
                                                            : StringAttr();
}

/// Returns the name of the operation that an operation at `loc` comes from, or
/// "".
static StringRef findKind(LocationAttr loc) {
  StringRef kind;
  loc.walk([&](Location part) {
    StringAttr mark = getMark(part);
    if (!mark)
      return WalkResult::advance();
    kind = mark.getValue().drop_front(kMark.size());
    return WalkResult::interrupt();
  });
  return kind;
}

/// Sorts pairs or kinds by number, then by name.
template <typename Entries, typename Name, typename Count>
static void sortByCount(Entries &entries, Name name, Count count) {
  llvm::sort(entries, [&](const auto &a, const auto &b) {
    return count(a) != count(b) ? count(a) > count(b) : name(a) < name(b);
  });
}

/// Calls `visit` for the operations of functions that compute.
static void walkBodies(ModuleOp module,
                       llvm::function_ref<void(Operation *)> visit) {
  for (Operation &function : *module.getBody())
    for (Region &region : function.getRegions())
      region.walk([&](Operation *op) {
        if (!op->hasTrait<OpTrait::IsTerminator>())
          visit(op);
      });
}

std::vector<ImportedKind> mlir::pathways::markKinds(ModuleOp module) {
  llvm::MapVector<StringRef, int64_t> counts;
  walkBodies(module, [&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    ++counts[name];
    auto mark = StringAttr::get(module.getContext(), kMark + name);
    op->setLoc(FusedLoc::get(module.getContext(), {op->getLoc()}, mark));
  });
  std::vector<ImportedKind> kinds;
  for (auto [name, count] : counts)
    kinds.push_back({name.str(), count, {}});
  sortByCount(
      kinds, [](const auto &kind) { return kind.op; },
      [](const auto &kind) { return kind.count; });
  return kinds;
}

void mlir::pathways::collectKinds(ModuleOp module,
                                  std::vector<ImportedKind> &kinds) {
  llvm::StringMap<llvm::MapVector<StringRef, int64_t>> became;
  walkBodies(module, [&](Operation *op) {
    StringRef kind = findKind(op->getLoc());
    if (!kind.empty())
      ++became[kind][op->getName().getStringRef()];
  });
  for (ImportedKind &kind : kinds) {
    for (auto [name, count] : became.lookup(kind.op))
      kind.became.emplace_back(name.str(), count);
    sortByCount(
        kind.became, [](const auto &entry) { return entry.first; },
        [](const auto &entry) { return entry.second; });
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement([](LocationAttr loc) -> std::optional<Attribute> {
    if (!getMark(loc))
      return std::nullopt;
    return cast<FusedLoc>(loc).getLocations().front();
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false,
                                        /*replaceLocs=*/true,
                                        /*replaceTypes=*/false);
}
