//===- ConstantOps.td - Constants and random numbers -------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_CONSTANT_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_CONSTANT_OPS_TD

include "pathways/Dialect/StableHlo/StableHloOpBase.td"

def ConstantOp : SHLO_Op<"constant", [Pure, ConstantLike,
    AllTypesMatch<["value", "output"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Return a constant";
  let description = [{
    ```mlir
    %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs SHLO_Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def IotaOp : SHLO_Op<"iota", [Pure]> {
  let summary = "Number elements along a dimension, from 0";
  let description = [{
    (C1) `iota_dimension` is a dimension of the result.

    ```mlir
    %0 = stablehlo.iota dim = 0 : tensor<4xi32>
    ```
  }];
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs SHLO_IntOrFloatTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def RngBitGeneratorOp : SHLO_Op<"rng_bit_generator", [Pure]> {
  let summary = "Return random bits and the next state of a generator";
  let description = [{
    (C1) `output_state` has the type of `initial_state`; (C2) the state is a vector of
    ui64, of two elements for `THREE_FRY` and two or three for `PHILOX`.

    ```mlir
    %state, %bits = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    ```
  }];
  let arguments = (ins SHLO_RngAlgorithmAttr:$rng_algorithm,
                       SHLO_Tensor:$initial_state);
  let results = (outs SHLO_Tensor:$output_state, SHLO_IntOrFloatTensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` $rng_algorithm attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def RngOp : SHLO_Op<"rng"> {
  let summary = "Return random numbers";
  let description = [{
    Numbers are uniform in [`a`, `b`), or normal with mean `a` and deviation `b`.

    (C1) `a`, `b` and the result have the same element type; (C2) `a` and `b` are
    scalars; (C3) `shape` has one element per dimension of the result; (C4) normal
    numbers are floats.

    ```mlir
    %3 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$a, SHLO_Tensor:$b, SHLO_IntTensor:$shape,
                       SHLO_RngDistributionAttr:$rng_distribution);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // PATHWAYS_DIALECT_STABLEHLO_CONSTANT_OPS_TD
