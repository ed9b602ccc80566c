//===- SteppedArrays.h - Stepped arrays of loops ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of generated functions that turn the stepped arrays of a loop into the
// arrays of its iterations, and back.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_STEPPEDARRAYS_H
#define PATHWAYS_LIB_TRANSFORMS_STEPPEDARRAYS_H

#include "ShardFunctions.h"

namespace mlir::pathways {

/// Returns the bytes of a shard of `type`.
uint64_t getShardBytes(ArrayType type, const ShardFunctions &shards);

/// Returns the place of an iteration of `loop` in stepped arrays.
inline int64_t getPlace(ForOp loop, LoopUse use, int64_t iteration) {
  return use == LoopUse::Reversed ? loop.getTrips() - 1 - iteration : iteration;
}

/// Returns the indices of the leading dimension of `whole`, each as an array of
/// type `part`.
ValueRange splitArray(ImplicitLocOpBuilder &builder, ShardFunctions &shards,
                      Value whole, ArrayType part);
/// Returns an array of type `whole` whose leading dimension has `elements` as
/// its indices.
Value stackArrays(ImplicitLocOpBuilder &builder, ShardFunctions &shards,
                  ArrayRef<Value> elements, ArrayType whole);

/// Lets the uses of carried results of `loop`, which stays in the plan, take
/// them from stacked results with the same values: the memory of the iterations
/// becomes that of the whole array.
void takeFromStacks(ForOp loop, ShardFunctions &shards);

/// Puts the parts of the stepped arrays of `loop`, which stays in the plan, at
/// aligned places, where they are not.
void alignParts(ForOp loop, ShardFunctions &shards);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_STEPPEDARRAYS_H
