//===- StableHloOps.td - Operations of stablehlo -----------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_OPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pathways/Dialect/StableHlo/StableHloBase.td"

class SHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<StableHlo_Dialect, mnemonic, traits # [SHLO_SupportedTypes]>;

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Constants and random numbers
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Indexed access
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Reductions, windows and sorting
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Control flow and calls
//===----------------------------------------------------------------------===//

def ReturnOp : SHLO_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "End a region";
  let description = [{
    ```mlir
    stablehlo.return %0 : tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Value>:$results);
  let assemblyFormat = "($results^)? attr-dict (`:` type($results)^)?";
}

def WhileOp : SHLO_Op<"while", [RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Repeat a region while a condition holds";
  let description = [{
    Both regions take the carried values, which are the operands first and what
    `body` returns later, and may use values from outside.

    (C1) Results and arguments of both regions have the types of the operands;
    (C2) `cond` returns a scalar of i1; (C3) `body` returns values of the types of
    the operands.

    ```mlir
    %1:2 = stablehlo.while(%i = %c0, %x = %0) : tensor<i32>, tensor<4xf32>
     cond {
      %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %y = stablehlo.add %x, %x : tensor<4xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<SHLO_Value>:$operands);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<SHLO_Value>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def IfOp : SHLO_Op<"if", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Run one of two regions";
  let description = [{
    (C1) `pred` is a scalar; (C2) regions take nothing and return values of the types
    of the results.

    ```mlir
    %1 = "stablehlo.if"(%p) ({
      stablehlo.return %a : tensor<4xf32>
    }, {
      stablehlo.return %b : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_PredTensor:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<SHLO_Value>:$results);
  let hasVerifier = 1;
}

def CaseOp : SHLO_Op<"case", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Run one of several regions";
  let description = [{
    An index out of range runs the last region.

    (C1) `index` is a scalar of i32; (C2) there is at least one region; regions take
    nothing and return values of the types of the results.

    ```mlir
    %1 = "stablehlo.case"(%i) ({
      stablehlo.return %a : tensor<4xf32>
    }, {
      stablehlo.return %b : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_IntTensor:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<SHLO_Value>:$results);
  let hasVerifier = 1;
}

def CustomCallOp : SHLO_Op<"custom_call"> {
  let summary = "Call something that is not StableHLO by name";
  let description = [{
    ```mlir
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Value>:$inputs, StrAttr:$call_target_name,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
                       OptionalAttr<AnyAttr>:$backend_config,
                       DefaultValuedOptionalAttr<I32Attr, "1">:$api_version,
                       OptionalAttr<ArrayAttr>:$called_computations,
                       OptionalAttr<ArrayAttr>:$operand_layouts,
                       OptionalAttr<ArrayAttr>:$result_layouts,
                       OptionalAttr<ArrayAttr>:$output_operand_aliases);
  let results = (outs Variadic<SHLO_Value>:$results);
  let assemblyFormat = [{
    custom<CallTarget>($call_target_name) `(` $inputs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def CompositeOp : SHLO_Op<"composite",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Call a function that a name describes";
  let description = [{
    The function `decomposition` computes the results; a compiler that knows `name`
    may compute them otherwise.

    (C1) `decomposition` names a function of the types of operands and results.

    ```mlir
    %1 = stablehlo.composite "my.gelu" %0 {composite_attributes = {approximate = true}, decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Value>:$inputs, StrAttr:$name,
                       OptionalAttr<DictionaryAttr>:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition,
                       DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let results = (outs Variadic<SHLO_Value>:$results);
  let assemblyFormat = "$name $inputs attr-dict `:` functional-type(operands, results)";
}

def OptimizationBarrierOp : SHLO_Op<"optimization_barrier", [Pure]> {
  let summary = "Return operands once all are computed";
  let description = [{
    (C1) Results have the types of the operands.

    ```mlir
    %2:2 = stablehlo.optimization_barrier %0, %1 : tensor<4xf32>, tensor<i32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_TensorOrToken>:$operands);
  let results = (outs Variadic<SHLO_TensorOrToken>:$results);
  let assemblyFormat = [{
    ($operands^)? attr-dict custom<PairwiseTypes>(type($operands), type($results))
  }];
  let hasVerifier = 1;
}

def TupleOp : SHLO_Op<"tuple", [Pure]> {
  let summary = "Make a tuple; not supported by any pass";
  let description = [{
    ```mlir
    %2 = stablehlo.tuple %0, %1 : tuple<tensor<4xf32>, tensor<i32>>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Value>:$val);
  let results = (outs AnyTuple:$result);
  let assemblyFormat = [{
    ($val^)? attr-dict `:` custom<TupleTypes>(type($val), type($result))
  }];
  let hasVerifier = 1;
}

def GetTupleElementOp : SHLO_Op<"get_tuple_element", [Pure]> {
  let summary = "Return an element of a tuple; not supported by any pass";
  let description = [{
    ```mlir
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
    ```
  }];
  let arguments = (ins AnyTuple:$operand, I32Attr:$index);
  let results = (outs SHLO_Value:$result);
  let assemblyFormat = [{
    $operand `[` $index `]` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tokens and communication
//===----------------------------------------------------------------------===//

def AfterAllOp : SHLO_Op<"after_all", [Pure]> {
  let summary = "Join tokens";
  let description = [{
    ```mlir
    %2 = stablehlo.after_all %0, %1 : !stablehlo.token
    ```
  }];
  let arguments = (ins Variadic<SHLO_TokenType>:$inputs);
  let results = (outs SHLO_TokenType:$result);
  let assemblyFormat = "($inputs^)? attr-dict `:` type($result)";
}

def CreateTokenOp : SHLO_Op<"create_token", [Pure]> {
  let summary = "Return a token of nothing";
  let description = [{
    ```mlir
    %0 = stablehlo.create_token : !stablehlo.token
    ```
  }];
  let results = (outs SHLO_TokenType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

class SHLO_NumberOp<string mnemonic, string text>
    : SHLO_Op<mnemonic, [Pure]> {
  let summary = text;
  let description = [{
    (C1) The result is a scalar of ui32.

    ```mlir
    %0 = stablehlo.}] # mnemonic # [{ : tensor<ui32>
    ```
  }];
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def PartitionIdOp : SHLO_NumberOp<"partition_id", "Return the number of the partition">;
def ReplicaIdOp : SHLO_NumberOp<"replica_id", "Return the number of the replica">;

class SHLO_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : SHLO_Op<mnemonic, traits> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The groups, one a row, padded with -1; null if a mesh names them.
    ::mlir::DenseIntElementsAttr getGroups() {
      return ::llvm::dyn_cast<::mlir::DenseIntElementsAttr>(getReplicaGroups());
    }
    /// Number of processes in a group; 0 if it is not known.
    int64_t getGroupSize() {
      ::mlir::DenseIntElementsAttr groups = getGroups();
      return groups && groups.getType().getRank() == 2
                 ? groups.getType().getDimSize(1) : 0;
    }
  }];
}

def AllGatherOp : SHLO_CollectiveOp<"all_gather"> {
  let summary = "Join the operands of all processes of a group";
  let description = [{
    (C1) `all_gather_dim` is a dimension of the operands; (C2) groups are a matrix of
    process numbers that differ, where -1 fills short rows; (C3) results have the
    types of the operands, but along that dimension the size of the operand times the
    size of a group; (C4) `use_global_device_ids` needs a channel with a positive
    number.

    ```mlir
    %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Tensor>:$operands, I64Attr:$all_gather_dim,
                       AnyAttr:$replica_groups,
                       OptionalAttr<SHLO_ChannelHandleAttr>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<SHLO_Tensor>:$results);
}

def AllReduceOp : SHLO_CollectiveOp<"all_reduce", [SingleBlock]> {
  let summary = "Combine the operands of all processes of a group";
  let description = [{
    (C1) Groups are a matrix of process numbers that differ, where -1 fills short
    rows; (C2) results have the shapes of the operands; (C3) the region takes two
    scalars and returns one; (C4) `use_global_device_ids` needs a channel with a
    positive number.

    ```mlir
    %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Tensor>:$operands, AnyAttr:$replica_groups,
                       OptionalAttr<SHLO_ChannelHandleAttr>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<SHLO_Tensor>:$results);
}

def ReduceScatterOp : SHLO_CollectiveOp<"reduce_scatter", [SingleBlock]> {
  let summary = "Combine the operands of a group and split the result over it";
  let description = [{
    (C1) `scatter_dimension` is a dimension of the operand; (C2) groups are a matrix
    of process numbers that differ, where -1 fills short rows; (C3) the result has
    the type of the operand, but its size along that dimension is divided by the size
    of a group; (C4) the region takes two scalars and returns one; (C5)
    `use_global_device_ids` needs a channel with a positive number.

    ```mlir
    %1 = "stablehlo.reduce_scatter"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, I64Attr:$scatter_dimension,
                       AnyAttr:$replica_groups,
                       OptionalAttr<SHLO_ChannelHandleAttr>:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs SHLO_Tensor:$result);
}

def AllToAllOp : SHLO_CollectiveOp<"all_to_all"> {
  let summary = "Exchange parts of operands within a group";
  let description = [{
    (C1) `split_dimension` and `concat_dimension` are dimensions of the operands; (C2)
    `split_count` is positive and divides the size of the former; (C3) groups are a
    matrix of process numbers that differ, with rows of `split_count`; (C4) results
    have the types of the operands, with the one size divided and the other one
    multiplied by `split_count`.

    ```mlir
    %1 = "stablehlo.all_to_all"(%0) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Variadic<SHLO_Tensor>:$operands, I64Attr:$split_dimension,
                       I64Attr:$concat_dimension, I64Attr:$split_count,
                       AnyAttr:$replica_groups,
                       OptionalAttr<SHLO_ChannelHandleAttr>:$channel_handle);
  let results = (outs Variadic<SHLO_Tensor>:$results);
}

def CollectiveBroadcastOp : SHLO_CollectiveOp<"collective_broadcast", [SHLO_SameTypes]> {
  let summary = "Send the operand of the first process of a group to the others";
  let description = [{
    (C1) Groups are a matrix of process numbers that differ.

    ```mlir
    %1 = "stablehlo.collective_broadcast"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, AnyAttr:$replica_groups,
                       OptionalAttr<SHLO_ChannelHandleAttr>:$channel_handle);
  let results = (outs SHLO_Tensor:$result);
}

def CollectivePermuteOp : SHLO_Op<"collective_permute", [SHLO_SameTypes]> {
  let summary = "Send operands from process to process";
  let description = [{
    A process that receives nothing gets zeros.

    (C1) `source_target_pairs` is a matrix with two columns; (C2) numbers are not
    negative, and no source and no target is named twice.

    ```mlir
    %1 = "stablehlo.collective_permute"(%0) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$operand, I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<SHLO_ChannelHandleAttr>:$channel_handle);
  let results = (outs SHLO_Tensor:$result);
  let hasVerifier = 1;
}

class SHLO_HostOp<string mnemonic, string text> : SHLO_Op<mnemonic> {
  let summary = text # "; not supported by any pass";
}

def InfeedOp : SHLO_HostOp<"infeed", "Read values from the host"> {
  let arguments = (ins SHLO_TokenType:$token, OptionalAttr<StrAttr>:$infeed_config,
                       OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<SHLO_Value>:$results);
}
def OutfeedOp : SHLO_HostOp<"outfeed", "Write values to the host"> {
  let arguments = (ins Variadic<SHLO_Value>:$inputs, SHLO_TokenType:$token,
                       OptionalAttr<StrAttr>:$outfeed_config);
  let results = (outs SHLO_TokenType:$result);
}
def SendOp : SHLO_HostOp<"send", "Send values to a channel"> {
  let arguments = (ins Variadic<SHLO_Value>:$inputs, SHLO_TokenType:$token,
                       SHLO_ChannelHandleAttr:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs SHLO_TokenType:$result);
}
def RecvOp : SHLO_HostOp<"recv", "Receive values from a channel"> {
  let arguments = (ins SHLO_TokenType:$token, SHLO_ChannelHandleAttr:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<SHLO_Value>:$results);
}

def AsyncStartOp : SHLO_HostOp<"async_start", "Start an operation"> {
  let arguments = (ins Variadic<AnyType>:$inputs);
  let regions = (region AnyRegion:$body);
  let results = (outs AnyType:$result);
}
def AsyncDoneOp : SHLO_HostOp<"async_done", "Wait for a started operation"> {
  let arguments = (ins AnyType:$future);
  let results = (outs Variadic<AnyType>:$results);
}

#endif // PATHWAYS_DIALECT_STABLEHLO_OPS_TD
