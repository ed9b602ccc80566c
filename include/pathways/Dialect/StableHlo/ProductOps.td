//===- ProductOps.td - Products and convolutions -----------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_PRODUCT_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_PRODUCT_OPS_TD

include "pathways/Dialect/StableHlo/StableHloOpBase.td"

def DotGeneralOp : SHLO_Op<"dot_general", [Pure]> {
  let summary = "Multiply and sum over contracting dimensions";
  let description = [{
    The result has the batching dimensions, then the other dimensions of `lhs`, then
    those of `rhs`.

    (C1) Both operands have equally many batching and contracting dimensions, which
    are in range and differ; (C2) dimensions that correspond have the same size;
    (C3) `precision_config` is empty or has two elements; (C4) the result has the
    shape that follows.

    ```mlir
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$lhs, SHLO_Tensor:$rhs,
                       SHLO_DotDimensionNumbersAttr:$dot_dimension_numbers,
                       OptionalAttr<SHLO_PrecisionConfigAttr>:$precision_config,
                       OptionalAttr<SHLO_DotAlgorithmAttr>:$algorithm);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers) ``
    custom<PrecisionAndAlgorithm>($precision_config, $algorithm)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def ConvolutionOp : SHLO_Op<"convolution", [Pure]> {
  let summary = "Multiply windows of a tensor with a kernel and sum";
  let description = [{
    An absent list of the window means ones, or zeros for the padding, or no reversal.

    (C1) Operands and result have as many dimensions as `dimension_numbers`, which
    name each once; (C2) lists of the window have one element per spatial dimension,
    and strides and dilations are positive; (C3) group counts are positive, and one of
    them is 1; (C4) groups divide batch and features; (C5) the result has the shape
    that follows; (C6) `precision_config` is empty or has two elements.

    ```mlir
    %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [2, 2], pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x4x4x16xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$lhs, SHLO_Tensor:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       SHLO_ConvDimensionNumbersAttr:$dimension_numbers,
                       I64Attr:$feature_group_count, I64Attr:$batch_group_count,
                       OptionalAttr<SHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvDimensions>($dimension_numbers) `,`
    `window` `=` `{` custom<Window>($window_strides, $padding, $lhs_dilation,
                                    $rhs_dilation, $window_reversal) `}`
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CholeskyOp : SHLO_Op<"cholesky", [Pure, SHLO_SameTypes]> {
  let summary = "Factor symmetric positive definite matrices";
  let description = [{
    (C1) The last two dimensions have the same size.

    ```mlir
    %1 = stablehlo.cholesky %0, lower = true : tensor<3x3xf32>
    ```
  }];
  let arguments = (ins SHLO_FloatTensor:$a,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs SHLO_FloatTensor:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict `:`
    custom<SameTypes>(type($a), type($result))
  }];
  let hasVerifier = 1;
}

def TriangularSolveOp : SHLO_Op<"triangular_solve", [Pure]> {
  let summary = "Solve systems with triangular matrices";
  let description = [{
    Solves op(a) x = b, or x op(a) = b if not `left_side`.

    (C1) `a` and `b` have the same element type and number of dimensions, at least 2;
    (C2) their batching dimensions are the same; (C3) matrices of `a` are square, with
    the size of the dimension of `b` that they multiply; (C4) the result has the type
    of `b`; (C5) `transpose_a` is not `TRANSPOSE_INVALID`.

    ```mlir
    %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
    ```
  }];
  let arguments = (ins SHLO_FloatTensor:$a, SHLO_FloatTensor:$b, BoolAttr:$left_side,
                       BoolAttr:$lower, BoolAttr:$unit_diagonal,
                       SHLO_TransposeAttr:$transpose_a);
  let results = (outs SHLO_FloatTensor:$result);
  let hasVerifier = 1;
}

def FftOp : SHLO_Op<"fft", [Pure]> {
  let summary = "Compute a Fourier transform; not supported by any pass";
  let description = [{
    ```
    %1 = stablehlo.fft %0, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, SHLO_FftTypeAttr:$fft_type,
                       DenseI64ArrayAttr:$fft_length);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` $fft_type `,` `length` `=` $fft_length attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // PATHWAYS_DIALECT_STABLEHLO_PRODUCT_OPS_TD
