//===- ReductionOps.td - Reductions, windows and sorting ---*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_REDUCTION_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_REDUCTION_OPS_TD

include "pathways/Dialect/StableHlo/StableHloOpBase.td"

def ReduceOp : SHLO_Op<"reduce", [RecursiveMemoryEffects, SameVariadicOperandSize,
    SingleBlock]> {
  let summary = "Combine all elements along dimensions";
  let description = [{
    The region takes a value of each input, then another value of each input, and
    returns combined values. The order of combining is not specified. Init values
    enter each result at least once. Text with a single operation in the region may
    be written with `applies`.

    (C1) Inputs have the same shape; there is one scalar init value per input;
    (C2) `dimensions` are in range and differ; (C3) results have the other
    dimensions and the element types that the region returns; (C4) the region takes
    and returns scalars, two and one per input.

    ```mlir
    %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %5:2 = stablehlo.reduce(%0 init: %1), (%3 init: %4) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>)  {
      %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
      %k = stablehlo.select %p, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %c, %k : tensor<f32>, tensor<i32>
    }
    ```
  }];
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs,
                       Variadic<SHLO_Tensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<SHLO_Tensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def ReduceWindowOp : SHLO_Op<"reduce_window", [RecursiveMemoryEffects,
    SameVariadicOperandSize, SingleBlock]> {
  let summary = "Combine elements of windows";
  let description = [{
    Inputs are dilated and padded with init values first. An absent list means ones,
    or zeros for the padding.

    (C1) Inputs have the same shape; there is one scalar init value per input; (C2)
    lists have one element per dimension, and all but the padding are positive; (C3)
    results have the shape that follows and the element types that the region
    returns; (C4) the region takes and returns scalars, two and one per input.

    ```mlir
    %2 = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<9xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs,
                       Variadic<SHLO_Tensor>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<SHLO_Tensor>:$results);
  let hasVerifier = 1;
}

def SelectAndScatterOp : SHLO_Op<"select_and_scatter", [RecursiveMemoryEffects]> {
  let summary = "Combine values at the selected element of each window";
  let description = [{
    Each element of `source` is added, by `scatter`, to the place of `operand` that
    `select` prefers in its window: the first region returns true if the current
    place stays. Padding elements are never selected.

    (C1) `operand`, `source` and `init_value` have the same element type, and
    `init_value` is a scalar; (C2) lists have one element per dimension and are
    positive, the padding excepted; (C3) `source` has one element per window; (C4)
    the result has the shape of `operand` and the element type that `scatter`
    returns; (C5) regions take two scalars, and return i1 and a scalar.

    ```mlir
    %3 = "stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, SHLO_Tensor:$source,
                       SHLO_Tensor:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs SHLO_Tensor:$result);
  let hasVerifier = 1;
}

def SortOp : SHLO_Op<"sort", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Sort tensors along a dimension by a comparator";
  let description = [{
    The comparator takes two elements of each input, in pairs, and returns true if
    the first ones come before the second ones. A negative dimension counts from the
    last one.

    (C1) There is at least one input, and all have the same shape; (C2) `dimension`
    is in range; (C3) results have the types of inputs; (C4) the region takes two
    scalars per input and returns a scalar of i1.

    ```mlir
    %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let regions = (region SizedRegion<1>:$comparator);
  let results = (outs Variadic<SHLO_Tensor>:$results);
  let hasVerifier = 1;
}

class SHLO_BatchNormOp<string mnemonic, string text>
    : SHLO_Op<mnemonic, [Pure]> {
  let summary = text;
  let description = [{
    (C1) `feature_index` is a dimension of `operand`; (C2) the vectors have the size
    of that dimension; (C3) all element types are the same; (C4) results have the
    types of the operands that they correspond to.
  }];
  let hasVerifier = 1;
}

def BatchNormInferenceOp : SHLO_BatchNormOp<"batch_norm_inference",
    "Normalize a batch by given mean and variance"> {
  let arguments = (ins SHLO_FloatTensor:$operand, SHLO_FloatTensor:$scale,
                       SHLO_FloatTensor:$offset, SHLO_FloatTensor:$mean,
                       SHLO_FloatTensor:$variance, F32Attr:$epsilon,
                       I64Attr:$feature_index);
  let results = (outs SHLO_FloatTensor:$result);
}

def BatchNormTrainingOp : SHLO_BatchNormOp<"batch_norm_training",
    "Normalize a batch by its mean and variance"> {
  let arguments = (ins SHLO_FloatTensor:$operand, SHLO_FloatTensor:$scale,
                       SHLO_FloatTensor:$offset, F32Attr:$epsilon,
                       I64Attr:$feature_index);
  let results = (outs SHLO_FloatTensor:$output, SHLO_FloatTensor:$batch_mean,
                      SHLO_FloatTensor:$batch_var);
}

def BatchNormGradOp : SHLO_BatchNormOp<"batch_norm_grad",
    "Compute gradients of a batch normalization"> {
  let arguments = (ins SHLO_FloatTensor:$operand, SHLO_FloatTensor:$scale,
                       SHLO_FloatTensor:$mean, SHLO_FloatTensor:$variance,
                       SHLO_FloatTensor:$grad_output, F32Attr:$epsilon,
                       I64Attr:$feature_index);
  let results = (outs SHLO_FloatTensor:$grad_operand, SHLO_FloatTensor:$grad_scale,
                      SHLO_FloatTensor:$grad_offset);
}

#endif // PATHWAYS_DIALECT_STABLEHLO_REDUCTION_OPS_TD
