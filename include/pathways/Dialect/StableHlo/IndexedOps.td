//===- IndexedOps.td - Indexed access to tensors -----------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_INDEXED_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_INDEXED_OPS_TD

include "pathways/Dialect/StableHlo/StableHloOpBase.td"

def GatherOp : SHLO_Op<"gather", [Pure]> {
  let summary = "Return slices of a tensor at indices of another one";
  let description = [{
    Indices are clamped so that slices are within the operand.

    (C1) Dimension numbers are in range, differ and are sorted, `start_index_map`
    excepted; (C2) there is one slice size per dimension of the operand, and it is at
    most the size; (C3) collapsed dimensions have slices of size 1, batching
    dimensions of at most 1; (C4) batching dimensions of both operands have the same
    sizes; (C5) the result has the shape that follows and the element type of the
    operand.

    ```mlir
    %2 = "stablehlo.gather"(%0, %1) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, SHLO_IntTensor:$start_indices,
                       SHLO_GatherDimensionNumbersAttr:$dimension_numbers,
                       DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs SHLO_Tensor:$result);
  let hasVerifier = 1;
}

def ScatterOp : SHLO_Op<"scatter", [RecursiveMemoryEffects, SameVariadicOperandSize]> {
  let summary = "Combine slices with parts of tensors at indices";
  let description = [{
    An element of `updates` whose place is out of range is skipped. The order of
    updates is not specified.

    (C1) Inputs have the same shape, and so have updates; there is one update per
    input, of the same element type; (C2) dimension numbers are in range, differ and
    are sorted, `scatter_dims_to_operand_dims` excepted; (C3) batching dimensions of
    inputs and indices have the same sizes; (C4) updates have the shape that follows,
    with windows of at most the sizes of inputs; (C5) results have the types of
    inputs; (C6) the region takes scalars of each input, then of each update, and
    returns scalars of each input.

    ```mlir
    %3 = "stablehlo.scatter"(%0, %1, %2) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
      unique_indices = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %z : tensor<f32>
    }) : (tensor<16x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs, SHLO_IntTensor:$scatter_indices,
                       Variadic<SHLO_Tensor>:$updates,
                       SHLO_ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<SHLO_Tensor>:$results);
  let hasVerifier = 1;
}

#endif // PATHWAYS_DIALECT_STABLEHLO_INDEXED_OPS_TD
