//===- ElementwiseOps.td - Elementwise operations of stablehlo *- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_ELEMENTWISE_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_ELEMENTWISE_OPS_TD

include "pathways/Dialect/StableHlo/StableHloOpBase.td"

/// The element type of the tensor in an example.
class SHLO_Example<Type tensor> {
  string element = !cond(!eq(tensor.summary, SHLO_IntTensor.summary): "i32",
                         !eq(tensor.summary, SHLO_PredOrIntTensor.summary): "i32",
                         true: "f32");
}

// Front ends may ask for an accuracy of functions; the attribute is kept, and
// results are computed as exactly as without it.
class SHLO_UnaryOp<string mnemonic, string text, Type tensor, bit isFunction = 0>
    : SHLO_Op<mnemonic, [Pure, SHLO_SameTypes]> {
  let summary = text;
  let description = [{
    The result has the type of the operand, a }] # tensor.summary # [{.

    ```mlir
    %1 = stablehlo.}] # mnemonic # [{ %0 : tensor<4x}] # SHLO_Example<tensor>.element # [{>
    ```
  }];
  let arguments = !if(isFunction,
                      (ins tensor:$operand, OptionalAttr<AnyAttr>:$result_accuracy),
                      (ins tensor:$operand));
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

class SHLO_FunctionOp<string mnemonic, string text>
    : SHLO_UnaryOp<mnemonic, text, SHLO_FloatTensor, 1>;

class SHLO_BinaryOp<string mnemonic, string text, Type tensor>
    : SHLO_Op<mnemonic, [Pure, SHLO_SameTypes]> {
  let summary = text;
  let description = [{
    The result has the type of the operands, a }] # tensor.summary # [{.

    ```mlir
    %2 = stablehlo.}] # mnemonic # [{ %0, %1 : tensor<4x}] # SHLO_Example<tensor>.element # [{>
    ```
  }];
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:`
    custom<SameTypes>(type($lhs), type($rhs), type($result))
  }];
}

def AbsOp : SHLO_UnaryOp<"abs", "Compute absolute values", SHLO_IntOrFloatTensor>;
def CbrtOp : SHLO_FunctionOp<"cbrt", "Compute cube roots">;
def CeilOp : SHLO_UnaryOp<"ceil", "Round towards positive infinity", SHLO_FloatTensor>;
def ClzOp : SHLO_UnaryOp<"count_leading_zeros", "Count leading zero bits",
                         SHLO_IntTensor>;
def CosineOp : SHLO_FunctionOp<"cosine", "Compute cosines">;
def ExpOp : SHLO_FunctionOp<"exponential", "Compute powers of e">;
def Expm1Op : SHLO_FunctionOp<"exponential_minus_one", "Compute powers of e minus 1">;
def FloorOp : SHLO_UnaryOp<"floor", "Round towards negative infinity", SHLO_FloatTensor>;
def ImagOp : SHLO_UnaryOp<"imag", "Return imaginary parts: zeros, for real numbers",
                          SHLO_FloatTensor>;
def LogOp : SHLO_FunctionOp<"log", "Compute natural logarithms">;
def Log1pOp : SHLO_FunctionOp<"log_plus_one", "Compute natural logarithms of 1 plus x">;
def LogisticOp : SHLO_FunctionOp<"logistic", "Compute the logistic function">;
def NegOp : SHLO_UnaryOp<"negate", "Negate elements", SHLO_IntOrFloatTensor>;
def NotOp : SHLO_UnaryOp<"not", "Invert bits", SHLO_PredOrIntTensor>;
def PopulationCountOp : SHLO_UnaryOp<"popcnt", "Count bits that are set",
                                     SHLO_IntTensor>;
def RealOp : SHLO_UnaryOp<"real", "Return real parts: the operand, for real numbers",
                          SHLO_FloatTensor>;
def RoundOp : SHLO_UnaryOp<"round_nearest_afz",
    "Round to the nearest integer, halves away from zero", SHLO_FloatTensor>;
def RoundNearestEvenOp : SHLO_UnaryOp<"round_nearest_even",
    "Round to the nearest integer, halves to even", SHLO_FloatTensor>;
def RsqrtOp : SHLO_FunctionOp<"rsqrt", "Compute reciprocals of square roots">;
def SignOp : SHLO_UnaryOp<"sign", "Return signs: -1, 0 or 1, or the NaN",
                          SHLO_IntOrFloatTensor>;
def SineOp : SHLO_FunctionOp<"sine", "Compute sines">;
def SqrtOp : SHLO_FunctionOp<"sqrt", "Compute square roots">;
def TanOp : SHLO_FunctionOp<"tan", "Compute tangents">;
def TanhOp : SHLO_FunctionOp<"tanh", "Compute hyperbolic tangents">;

def AddOp : SHLO_BinaryOp<"add", "Add; the logical or of i1", SHLO_Tensor>;
def AndOp : SHLO_BinaryOp<"and", "Compute the and of bits", SHLO_PredOrIntTensor>;
def Atan2Op : SHLO_BinaryOp<"atan2", "Compute arc tangents of lhs over rhs",
                            SHLO_FloatTensor>;
def DivOp : SHLO_BinaryOp<"divide", "Divide; integers round towards zero",
                          SHLO_IntOrFloatTensor>;
def MaxOp : SHLO_BinaryOp<"maximum", "Compute maxima; a NaN wins", SHLO_Tensor>;
def MinOp : SHLO_BinaryOp<"minimum", "Compute minima; a NaN wins", SHLO_Tensor>;
def MulOp : SHLO_BinaryOp<"multiply", "Multiply; the logical and of i1", SHLO_Tensor>;
def OrOp : SHLO_BinaryOp<"or", "Compute the or of bits", SHLO_PredOrIntTensor>;
def PowOp : SHLO_BinaryOp<"power", "Raise to a power", SHLO_IntOrFloatTensor>;
def RemOp : SHLO_BinaryOp<"remainder",
    "Compute remainders, which have the sign of the dividend", SHLO_IntOrFloatTensor>;
def ShiftLeftOp : SHLO_BinaryOp<"shift_left", "Shift bits to the left", SHLO_IntTensor>;
def ShiftRightArithmeticOp : SHLO_BinaryOp<"shift_right_arithmetic",
    "Shift bits to the right and copy the sign", SHLO_IntTensor>;
def ShiftRightLogicalOp : SHLO_BinaryOp<"shift_right_logical",
    "Shift bits to the right and insert zeros", SHLO_IntTensor>;
def SubtractOp : SHLO_BinaryOp<"subtract", "Subtract", SHLO_IntOrFloatTensor>;
def XorOp : SHLO_BinaryOp<"xor", "Compute the exclusive or of bits",
                          SHLO_PredOrIntTensor>;

def ConvertOp : SHLO_Op<"convert", [Pure, SHLO_SameShapes]> {
  let summary = "Convert elements to another type";
  let description = [{
    Floats are truncated to integers. Values that the result type cannot represent
    become its nearest value, and a NaN becomes 0. Conversion to i1 tests for values
    that are not zero.

    ```mlir
    %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xi32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

def IsFiniteOp : SHLO_Op<"is_finite", [Pure, SHLO_SameShapes]> {
  let summary = "Test for values that are neither infinite nor NaN";
  let description = [{
    ```mlir
    %1 = stablehlo.is_finite %0 : (tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins SHLO_FloatTensor:$x);
  let results = (outs SHLO_PredTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def CompareOp : SHLO_Op<"compare", [Pure, SHLO_SameShapes]> {
  let summary = "Compare elements";
  let description = [{
    With a NaN, only NE is true. `TOTALORDER` orders all bit patterns of floats:
    -NaN < -inf < .. < -0 < +0 < .. < inf < NaN. The type says how operands are
    compared; without it, and for `NOTYPE`, the element type decides.

    (C1) `lhs` and `rhs` have the same type; (C2) the result has their shape;
    (C3) `FLOAT` and `TOTALORDER` compare floats, `SIGNED` signless integers, and
    `UNSIGNED` unsigned integers or i1.

    ```mlir
    %2 = stablehlo.compare LT, %0, %1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$lhs, SHLO_Tensor:$rhs,
                       SHLO_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<SHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs SHLO_PredTensor:$result);
  let assemblyFormat = [{
    $comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def SelectOp : SHLO_Op<"select", [Pure]> {
  let summary = "Choose elements of two tensors by a predicate";
  let description = [{
    (C1) `pred` is a scalar or has the shape of the others; (C2) `on_true`, `on_false`
    and the result have the same type.

    ```mlir
    %3 = stablehlo.select %0, %1, %2 : tensor<4xi1>, tensor<4xf32>
    %4 = stablehlo.select %p, %1, %2 : tensor<i1>, tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_PredTensor:$pred, SHLO_Tensor:$on_true,
                       SHLO_Tensor:$on_false);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:`
    custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
  let hasVerifier = 1;
}

def ClampOp : SHLO_Op<"clamp", [Pure]> {
  let summary = "Limit elements to a range";
  let description = [{
    The result is `minimum(maximum(operand, min), max)`.

    (C1) `operand` and the result have the same type; (C2) `min` and `max` each have
    that type, or are scalars of its element type.

    ```mlir
    %3 = stablehlo.clamp %0, %1, %2 : tensor<4xf32>
    %4 = stablehlo.clamp %min, %1, %max : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$min, SHLO_Tensor:$operand, SHLO_Tensor:$max);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
    custom<SameTypes>(type($min), type($operand), type($max), type($result))
  }];
  let hasVerifier = 1;
}

def ReducePrecisionOp : SHLO_Op<"reduce_precision", [Pure, SHLO_SameTypes]> {
  let summary = "Round floats to fewer bits and back";
  let description = [{
    (C1) `exponent_bits` is at least 1; (C2) `mantissa_bits` is not negative.

    ```mlir
    %1 = stablehlo.reduce_precision %0, format = e5m10 : tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_FloatTensor:$operand, I32Attr:$exponent_bits,
                       I32Attr:$mantissa_bits);
  let results = (outs SHLO_FloatTensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits)
    attr-dict `:` custom<SameTypes>(type($operand), type($output))
  }];
  let hasVerifier = 1;
}

def MapOp : SHLO_Op<"map", [RecursiveMemoryEffects]> {
  let summary = "Apply a region to corresponding elements";
  let description = [{
    (C1) All inputs and the result have the same shape; (C2) `dimensions` are all
    dimensions in order; (C3) the region takes one scalar per input and returns a
    scalar of the element type of the result.

    ```mlir
    %1 = "stablehlo.map"(%0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f32>):
      %y = stablehlo.multiply %x, %x : tensor<f32>
      stablehlo.return %y : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs SHLO_Tensor:$result);
  let hasVerifier = 1;
}

#endif // PATHWAYS_DIALECT_STABLEHLO_ELEMENTWISE_OPS_TD
