//===- ElidedConstants.cpp - Constants without values in a text -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Import/Passes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/narrow_float.h"
#include <cmath>
#include <cstring>

namespace mlir::pathways {
#define GEN_PASS_DEF_FILLELIDED
#include "pathways/Import/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;
using ::pathways::ErrorId;
using ::pathways::Tag;

/// Constants of at least this many bytes become resources, whose bytes are not
/// hashed.
static constexpr int64_t kResourceBytes = 1 << 16;

namespace {
/// ElidedValues of one constant: zeros, or a sequence that depends on a seed.
class ElidedValues {
public:
  explicit ElidedValues(std::optional<uint64_t> seed) : seed(seed) {}

  /// Returns the values of elided constant `index` of the module, or null if
  /// elements of its type cannot be made.
  ElementsAttr make(RankedTensorType type, uint64_t index) const;

private:
  /// Returns the next number of a sequence, SplitMix64. The values are part of
  /// the behaviour of the pass.
  static uint64_t next(uint64_t &state);
  void fill(Type element, int64_t fanIn, uint64_t index,
            MutableArrayRef<char> bytes) const;

  std::optional<uint64_t> seed; ///< nullopt: zeros
};
} // namespace

uint64_t ElidedValues::next(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// Writes a float of type `element` to `to`.
static void storeFloat(Type element, double value, char *to) {
  auto store = [to](auto bits) { std::memcpy(to, &bits, sizeof bits); };
  float narrow = ::pathways::RoundToOdd(value);
  if (element.isF64())
    store(value);
  else if (element.isF32())
    store(static_cast<float>(value));
  else if (element.isF16())
    store(::pathways::ToF16(narrow));
  else
    store(::pathways::ToBF16(narrow));
}

/// Returns the number of inputs of each output of a network's layer with this
/// array of weights, or 0 if it is a vector.
static int64_t getFanIn(RankedTensorType type) {
  auto isWide = [](int64_t size) { return size > 1; };
  if (type.getNumElements() == 0 || llvm::count_if(type.getShape(), isWide) < 2)
    return 0;
  return type.getNumElements() / type.getShape().back();
}

void ElidedValues::fill(Type element, int64_t fanIn, uint64_t index,
                        MutableArrayRef<char> bytes) const {
  // Constants have sequences of their own, whatever their sizes.
  uint64_t state = *seed;
  state = next(state) ^ index;
  state = next(state);
  int64_t width = element.getIntOrFloatBitWidth() / 8;
  double scale = fanIn == 0 ? 0.5 : 1 / std::sqrt(fanIn);
  double offset = fanIn == 0 ? 1 : 0;
  for (size_t at = 0; at < bytes.size(); at += width) {
    uint64_t bits = next(state);
    if (isa<IntegerType>(element)) {
      bytes[at] = static_cast<char>(bits >> 63); // little endian
      continue;
    }
    // The upper 24 bits: a multiple of 2^-23 from -1 to 1.
    double unit = static_cast<double>(bits >> 40) / (1 << 23) - 1;
    storeFloat(element, offset + scale * unit, &bytes[at]);
  }
}

ElementsAttr ElidedValues::make(RankedTensorType type, uint64_t index) const {
  Type element = type.getElementType();
  bool isKnown =
      isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element);
  if (auto integer = dyn_cast<IntegerType>(element))
    isKnown = integer.getWidth() == 1 || integer.getWidth() % 8 == 0;
  if (!isKnown)
    return {};
  int64_t fanIn = getFanIn(type);
  if (element.isInteger(1)) {
    SmallVector<bool> bits(type.getNumElements(), false);
    uint64_t state = seed.value_or(0) ^ index;
    if (seed)
      for (bool &bit : bits)
        bit = next(state) >> 63;
    return DenseElementsAttr::get(type, ArrayRef<bool>(bits));
  }
  int64_t size = type.getNumElements() * (element.getIntOrFloatBitWidth() / 8);
  if (!seed && size > 0) {
    Attribute zero = isa<IntegerType>(element)
                         ? Attribute(IntegerAttr::get(element, 0))
                         : Attribute(FloatAttr::get(element, 0.0));
    return DenseElementsAttr::get(type, zero);
  }
  if (size < kResourceBytes) {
    SmallVector<char> bytes(size, 0);
    fill(element, fanIn, index, bytes);
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  }
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(size, /*align=*/64,
                                                       /*dataIsMutable=*/true);
  std::memset(blob.getMutableData().data(), 0, size);
  fill(element, fanIn, index, blob.getMutableData());
  return DenseResourceElementsAttr::get(type, ("elided" + Twine(index)).str(),
                                        std::move(blob));
}

namespace {
struct FillElidedPass : mlir::pathways::impl::FillElidedBase<FillElidedPass> {
  using FillElidedBase::FillElidedBase;

  void runOnOperation() override {
    SmallVector<stablehlo::ConstantOp> elided;
    getOperation().walk([&](stablehlo::ConstantOp op) {
      auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
      if (resource && !resource.getRawHandle().getBlob())
        elided.push_back(op);
    });
    if (values.empty()) {
      if (!elided.empty()) {
        emitElided(elided);
        signalPassFailure();
      }
      return;
    }
    std::optional<ElidedValues> made = readOption();
    if (!made || failed(fill(elided, *made)))
      signalPassFailure();
  }

private:
  static void emitElided(ArrayRef<stablehlo::ConstantOp> elided) {
    stablehlo::ConstantOp first = elided.front();
    InFlightDiagnostic error = first->emitOpError();
    if (elided.size() == 1)
      error << "has no values in the text, which elides them";
    else
      error << "is the first of " << elided.size()
            << " constants that have no values in the text, which elides them";
    error << "; the option 'elided' makes some: zeros or random:SEED"
          << Tag(ErrorId::kElided);
  }

  /// Returns nullopt, with a diagnostic, if the option is wrong.
  std::optional<ElidedValues> readOption() {
    StringRef text = values;
    uint64_t seed = 0;
    if (text == "zeros")
      return ElidedValues(std::nullopt);
    if (text.consume_front("random:") && !text.getAsInteger(10, seed))
      return ElidedValues(seed);
    mlir::emitError(getOperation().getLoc())
        << "elided: expected zeros or random:SEED with a seed from 0 to 2^64 "
           "- 1, got '"
        << values << "'" << Tag(ErrorId::kElided);
    return std::nullopt;
  }

  static LogicalResult fill(ArrayRef<stablehlo::ConstantOp> elided,
                            const ElidedValues &values) {
    for (auto [index, constant] : llvm::enumerate(elided)) {
      stablehlo::ConstantOp op = constant;
      auto type = cast<RankedTensorType>(op.getValue().getType());
      ElementsAttr value = values.make(type, index);
      if (!value)
        return op->emitOpError("has no values in the text, and none can be "
                               "made for elements of type ")
               << type.getElementType() << Tag(ErrorId::kElided);
      op.setValueAttr(value);
    }
    return success();
  }
};
} // namespace
