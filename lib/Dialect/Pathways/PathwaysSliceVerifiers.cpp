//===- PathwaysSliceVerifiers.cpp - Verifiers of slices and bindings ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// (C1), (C2), ... are the numbered constraints of the operations' descriptions.
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "runtime/base/error_codes.h"

using namespace mlir;
using namespace mlir::pathways;

/// Exclusive upper bound of the device numbers of an island.
static constexpr int64_t kMaxDevices = int64_t{1} << 20;
/// Largest number of islands that a slice may span: placing checks each pair of
/// them.
static constexpr int64_t kMaxSpannedIslands = 1024;

LogicalResult SliceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  llvm::SmallDenseSet<Attribute> apart;
  auto check = [&](Attribute attribute, StringRef relation) -> LogicalResult {
    auto other = cast<FlatSymbolRefAttr>(attribute);
    if (!lookupSlice(symbols, *this, other)) // (C1)
      return emitOpError() << "'" << getSymName() << "' is " << relation << " "
                           << other << ", which is not declared by a 'pw.slice'"
                           << ::pathways::Tag(
                                  ::pathways::ErrorId::kSliceNotDeclared);
    if (other.getValue() == getSymName()) // (C2)
      return emitOpError() << "'" << getSymName() << "' is " << relation
                           << " itself";
    return success();
  };
  if (std::optional<ArrayAttr> slices = getApartFrom())
    for (Attribute other : *slices) {
      if (failed(check(other, "apart_from")))
        return failure();
      apart.insert(other);
    }
  if (std::optional<ArrayAttr> slices = getWith())
    for (Attribute other : *slices) {
      if (failed(check(other, "with")))
        return failure();
      if (apart.contains(other)) // (C3)
        return emitOpError() << "'" << getSymName() << "' is both apart_from "
                             << other << " and with " << other;
      SliceOp there =
          lookupSlice(symbols, *this, cast<FlatSymbolRefAttr>(other));
      if (there.getNumIslands() == getNumIslands()) // (C5)
        continue;
      InFlightDiagnostic diagnostic =
          emitOpError() << "'" << getSymName() << "' spans " << getNumIslands()
                        << " islands, but is with " << other << ", which spans "
                        << there.getNumIslands();
      diagnostic.attachNote(there.getLoc())
          << "slice " << other << " is declared here";
      return diagnostic;
    }
  return success();
}

LogicalResult SliceOp::verify() {
  int64_t islands = getNumIslands(), shards = getMesh().getNumShards();
  if (islands > kMaxSpannedIslands) // (C4)
    return emitOpError() << "'" << getSymName() << "' spans " << islands
                         << " islands, at most " << kMaxSpannedIslands
                         << " are accepted";
  if (islands >= 1 && shards % islands == 0) // (C4)
    return success();
  return emitOpError() << "'" << getSymName() << "' spans " << islands
                       << " islands, over which its " << shards
                       << " shards cannot be cut evenly";
}

LogicalResult BindOp::verify() {
  bool isList = getDevices().has_value();
  if (isList == (getBase() && getStrides()) ||
      (isList && (getBase() || getStrides() || getSpan()))) // (C2)
    return emitOpError("expected either a list of devices, or a base and "
                       "strides with an optional span");
  auto check = [&](int64_t value, StringRef what, int64_t limit) {
    if (value >= 0 && value < limit) // (C4)
      return success();
    return LogicalResult(emitOpError() << "expected " << what << " from 0 to "
                                       << limit - 1 << ", got " << value);
  };
  for (int64_t island : getIslands())
    if (failed(check(island, "an island", kMaxDevices)))
      return failure();
  int64_t bases = isList || !getMoreIslands() ? 0 : getMoreIslands()->size();
  ArrayRef<int64_t> moreBases = getMoreBases().value_or(ArrayRef<int64_t>());
  if (static_cast<int64_t>(moreBases.size()) != bases) // (C5)
    return emitOpError() << "expected " << bases << " bases after 'also', got "
                         << moreBases.size();
  for (int64_t base : moreBases)
    if (failed(check(base, "a base", kMaxDevices)))
      return failure();
  if (isList) {
    ArrayRef<int64_t> devices = *getDevices();
    for (int64_t device : devices)
      if (failed(check(device, "devices", kMaxDevices)))
        return failure();
    return success();
  }
  if (failed(check(*getBase(), "a base", kMaxDevices)) ||
      failed(check(getSpan().value_or(0), "a span", kMaxDevices + 1)))
    return failure();
  ArrayRef<int64_t> strides = *getStrides();
  for (int64_t stride : strides)
    if (failed(check(stride, "strides", kMaxDevices)))
      return failure();
  return success();
}

LogicalResult BindOp::verifySymbolUses(SymbolTableCollection &symbols) {
  SliceOp slice = lookupSlice(symbols, *this, getSliceAttr());
  if (!slice) // (C1)
    return emitOpError() << "binds " << getSliceAttr()
                         << ", which is not declared by a 'pw.slice'"
                         << ::pathways::Tag(
                                ::pathways::ErrorId::kSliceNotDeclared);
  auto noteSlice = [&](InFlightDiagnostic diagnostic) -> LogicalResult {
    diagnostic.attachNote(slice.getLoc())
        << "slice '" << slice.getSymName() << "' is declared here";
    return diagnostic;
  };
  MeshAttr mesh = slice.getMesh();
  int64_t shards = mesh.getNumShards(), islands = getIslands().size();
  if (islands != slice.getNumIslands()) // (C5)
    return noteSlice(emitOpError()
                     << "is to " << islands << " islands, slice '" << getSlice()
                     << "' spans " << slice.getNumIslands());
  if (std::optional<ArrayRef<int64_t>> devices = getDevices()) {
    if (static_cast<int64_t>(devices->size()) != shards) // (C2)
      return noteSlice(emitOpError()
                       << "lists " << devices->size() << " devices for the "
                       << shards << " shards of slice '" << getSlice() << "'");
  } else {
    ArrayRef<int64_t> strides = *getStrides();
    if (strides.size() != mesh.getSizes().size()) // (C2)
      return noteSlice(emitOpError()
                       << "has " << strides.size() << " strides for the "
                       << mesh.getSizes().size() << " mesh axes of slice '"
                       << getSlice() << "'");
    // Sizes multiply to at most 2^24 and strides are below 2^20: no overflow.
    int64_t last = 0;
    for (auto [size, stride] : llvm::zip_equal(mesh.getSizes(), strides))
      last += (size - 1) * stride;
    if (int64_t span = getSpan().value_or(0))
      last = std::min(last, span - 1);
    last += std::max(static_cast<int64_t>(*getBase()),
                     getMoreBases() ? *llvm::max_element(*getMoreBases()) : 0);
    if (last >= kMaxDevices) // (C4)
      return noteSlice(emitOpError()
                       << "reaches device " << last
                       << "; device numbers are below " << kMaxDevices);
  }
  // Checks (C3). The first binding of the module checks all bindings; walking
  // back to the previous one keeps this linear in the module.
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode())
    if (isa<BindOp>(op))
      return success();
  llvm::SmallDenseMap<Attribute, BindOp> bound;
  for (auto bind : (*this)->getBlock()->getOps<BindOp>()) {
    auto [it, inserted] = bound.try_emplace(bind.getSliceAttr(), bind);
    if (inserted)
      continue;
    InFlightDiagnostic diagnostic = bind.emitOpError()
                                    << "binds slice '" << bind.getSlice()
                                    << "' a second time";
    diagnostic.attachNote(it->second.getLoc()) << "it is bound here";
    return diagnostic;
  }
  return success();
}
