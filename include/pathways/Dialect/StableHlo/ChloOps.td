//===- ChloOps.td - Operations of chlo ---------------------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_CHLO_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_CHLO_OPS_TD

include "pathways/Dialect/StableHlo/StableHloBase.td"

class Chlo_Op<string mnemonic, list<Trait> traits = []>
    : Op<Chlo_Dialect, mnemonic, traits # [Pure, SHLO_SupportedTypes]>;

class Chlo_UnaryOp<string mnemonic, string text>
    : Chlo_Op<mnemonic, [SHLO_SameTypes]> {
  let summary = text;
  let description = [{
    The function is applied to each element. The result has the type of the operand.

    ```mlir
    %1 = chlo.}] # mnemonic # [{ %0 : tensor<4xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_FloatTensor:$operand);
  let results = (outs SHLO_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

class Chlo_PredicateOp<string mnemonic, string text>
    : Chlo_Op<mnemonic, [SHLO_SameShapes]> {
  let summary = text;
  let description = [{
    The test is applied to each element. The result has the shape of the operand.

    ```mlir
    %1 = chlo.}] # mnemonic # [{ %0 : tensor<4xf32> -> tensor<4xi1>
    ```
  }];
  let arguments = (ins SHLO_FloatTensor:$operand);
  let results = (outs SHLO_PredTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

class Chlo_BinaryOp<string mnemonic, string text, string a, string b>
    : Chlo_Op<mnemonic, [SHLO_SameTypes]> {
  let summary = text;
  let description = [{
    The function is applied to each pair of elements. The result has the type of the
    operands, which are the same.

    ```mlir
    %2 = chlo.}] # mnemonic # [{ %0, %1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = !dag(ins, [SHLO_FloatTensor, SHLO_FloatTensor], [a, b]);
  let results = (outs SHLO_FloatTensor:$result);
  let assemblyFormat = "$" # a # " `,` $" # b # " attr-dict `:` type($" # a #
                       ") `,` type($" # b # ") `->` type($result)";
}

def AcosOp : Chlo_UnaryOp<"acos", "Compute the arc cosine">;
def AcoshOp : Chlo_UnaryOp<"acosh", "Compute the inverse hyperbolic cosine">;
def AsinOp : Chlo_UnaryOp<"asin", "Compute the arc sine">;
def AsinhOp : Chlo_UnaryOp<"asinh", "Compute the inverse hyperbolic sine">;
def AtanOp : Chlo_UnaryOp<"atan", "Compute the arc tangent">;
def AtanhOp : Chlo_UnaryOp<"atanh", "Compute the inverse hyperbolic tangent">;
def BesselI1eOp : Chlo_UnaryOp<"bessel_i1e",
    "Compute the exponentially scaled modified Bessel function of order 1">;
def CoshOp : Chlo_UnaryOp<"cosh", "Compute the hyperbolic cosine">;
def DigammaOp : Chlo_UnaryOp<"digamma",
    "Compute the derivative of the logarithm of the gamma function">;
def ErfOp : Chlo_UnaryOp<"erf", "Compute the error function">;
def ErfInvOp : Chlo_UnaryOp<"erf_inv", "Compute the inverse of the error function">;
def ErfcOp : Chlo_UnaryOp<"erfc", "Compute the complementary error function">;
def LgammaOp : Chlo_UnaryOp<"lgamma",
    "Compute the logarithm of the absolute value of the gamma function">;
def SinhOp : Chlo_UnaryOp<"sinh", "Compute the hyperbolic sine">;
def SquareOp : Chlo_UnaryOp<"square", "Multiply each element by itself">;
def TanOp : Chlo_UnaryOp<"tan", "Compute the tangent">;

def IsInfOp : Chlo_PredicateOp<"is_inf", "Test for infinities">;
def IsNegInfOp : Chlo_PredicateOp<"is_neg_inf", "Test for the negative infinity">;
def IsPosInfOp : Chlo_PredicateOp<"is_pos_inf", "Test for the positive infinity">;

def NextAfterOp : Chlo_BinaryOp<"next_after",
    "Return the next representable value of x towards y", "x", "y">;
def PolygammaOp : Chlo_BinaryOp<"polygamma",
    "Compute the n-th derivative of the digamma function", "n", "x">;
def ZetaOp : Chlo_BinaryOp<"zeta", "Compute the Hurwitz zeta function", "x", "q">;

def TopKOp : Chlo_Op<"top_k"> {
  let summary = "Return the largest elements along the last dimension";
  let description = [{
    `values` are the `k` largest elements of each row in descending order; `indices`
    are their positions in the row. Of equal elements, the one with the lower
    position comes first.

    (C1) `operand` has at least one dimension, and its last one has at least `k`
    elements; (C2) both results have the shape of `operand` with a last dimension of
    `k`, `values` has its element type, and `indices` are i32.

    ```mlir
    %values, %indices = chlo.top_k(%0, k = 3) : tensor<6xf32> -> (tensor<3xf32>, tensor<3xi32>)
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, I64Attr:$k,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs SHLO_Tensor:$values, SHLO_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict
    `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
  let hasVerifier = 1;
}

#endif // PATHWAYS_DIALECT_STABLEHLO_CHLO_OPS_TD
