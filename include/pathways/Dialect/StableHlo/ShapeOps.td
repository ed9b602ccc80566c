//===- ShapeOps.td - Operations that change shapes ---------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_SHAPE_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_SHAPE_OPS_TD

include "pathways/Dialect/StableHlo/StableHloOpBase.td"

def BroadcastInDimOp : SHLO_Op<"broadcast_in_dim", [Pure]> {
  let summary = "Copy elements along new dimensions and dimensions of size 1";
  let description = [{
    Dimension i of the operand becomes dimension `broadcast_dimensions[i]` of the
    result.

    (C1) There is one number per dimension of the operand; (C2) numbers are
    dimensions of the result and differ; (C3) a dimension of the operand has size 1
    or the size of its dimension of the result; (C4) element types are the same.

    ```mlir
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TransposeOp : SHLO_Op<"transpose", [Pure]> {
  let summary = "Reorder dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.

    (C1) `permutation` is a permutation of the dimensions; (C2) the result has the
    sizes of the operand in that order; (C3) element types are the same.

    ```mlir
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def ReverseOp : SHLO_Op<"reverse", [Pure, SHLO_SameTypes]> {
  let summary = "Reverse the order of elements along dimensions";
  let description = [{
    (C1) `dimensions` are dimensions of the operand and differ.

    ```mlir
    %1 = stablehlo.reverse %0, dims = [0] : tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict
    `:` custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

def ReshapeOp : SHLO_Op<"reshape", [Pure]> {
  let summary = "Give a tensor another shape";
  let description = [{
    Elements keep their row-major order.

    (C1) Both shapes have the same number of elements; (C2) element types are the
    same.

    ```mlir
    %1 = stablehlo.reshape %0 : (tensor<2x4xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def BitcastConvertOp : SHLO_Op<"bitcast_convert", [Pure]> {
  let summary = "Read the bits of elements as another type";
  let description = [{
    Where widths differ, the type with narrower elements has one more dimension, the
    last one, whose elements are the parts of a wider element, least significant
    first. The width of i1 is one bit.

    (C1) With equal widths, shapes are the same; (C2) otherwise the last dimension of
    the narrower type has as many elements as fit into a wider one, and its other
    dimensions are those of the wider type.

    ```mlir
    %1 = stablehlo.bitcast_convert %0 : (tensor<4xf32>) -> tensor<4xui32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConcatenateOp : SHLO_Op<"concatenate", [Pure]> {
  let summary = "Join tensors along a dimension";
  let description = [{
    (C1) There is at least one input, and all have the same element type and number
    of dimensions; (C2) `dimension` is one of these; (C3) sizes of other dimensions
    are the same; (C4) the result has the sum of the sizes along `dimension`.

    ```mlir
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    custom<OperandsWithCommas>($inputs) `dim` `=` $dimension attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def PadOp : SHLO_Op<"pad", [Pure]> {
  let summary = "Insert elements at edges and between elements";
  let description = [{
    `interior_padding` elements are inserted between neighbours; then the edges get
    more elements, or lose some where their padding is negative.

    (C1) `padding_value` is a scalar of the element type of the operand; (C2) the
    lists have one element per dimension; (C3) interior padding is not negative;
    (C4) the result has the sizes that follow.

    ```mlir
    %2 = stablehlo.pad %0, %1, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, SHLO_Tensor:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,`
    `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def SliceOp : SHLO_Op<"slice", [Pure]> {
  let summary = "Return a part of a tensor";
  let description = [{
    Ranges are start, limit, which is not included, and stride, of elements.

    (C1) There is one range per dimension; (C2) 0 <= start <= limit <= size; (C3)
    strides are positive; (C4) the result has ceil((limit - start) / stride) elements
    along a dimension; (C5) element types are the same.

    ```mlir
    %1 = stablehlo.slice %0 [0:2, 1:6:2] : (tensor<4x8xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, DenseI64ArrayAttr:$start_indices,
                       DenseI64ArrayAttr:$limit_indices, DenseI64ArrayAttr:$strides);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def DynamicSliceOp : SHLO_Op<"dynamic_slice", [Pure]> {
  let summary = "Return a part of a tensor at computed indices";
  let description = [{
    Indices are clamped so that the slice is within the operand.

    (C1) There is one index and one size per dimension; (C2) indices are scalars of
    the same type; (C3) sizes are from 0 to those of the operand and are those of the
    result; (C4) element types are the same.

    ```mlir
    %1 = stablehlo.dynamic_slice %0, %i, %j, sizes = [2, 4] : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, Variadic<SHLO_IntTensor>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<OperandsWithCommas>($start_indices) `sizes` `=` $slice_sizes
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def DynamicUpdateSliceOp : SHLO_Op<"dynamic_update_slice", [Pure]> {
  let summary = "Replace a part of a tensor at computed indices";
  let description = [{
    Indices are clamped so that the update is within the operand.

    (C1) There is one index per dimension; (C2) indices are scalars of the same type;
    (C3) sizes of `update` are at most those of the operand; (C4) the result has the
    type of the operand, and `update` its element type.

    ```mlir
    %2 = stablehlo.dynamic_update_slice %0, %1, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, SHLO_Tensor:$update,
                       Variadic<SHLO_IntTensor>:$start_indices);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // PATHWAYS_DIALECT_STABLEHLO_SHAPE_OPS_TD
