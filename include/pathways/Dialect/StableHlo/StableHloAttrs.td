//===- StableHloAttrs.td - Attributes and types of stablehlo *- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_ATTRS_TD
#define PATHWAYS_DIALECT_STABLEHLO_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "pathways/Dialect/StableHlo/StableHloDialect.td"

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class SHLO_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::pathways::stablehlo";
  let genSpecializedAttr = 0;
}

def SHLO_ComparisonDirection : SHLO_Enum<"ComparisonDirection",
    "Which relation a comparison tests",
    [I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>,
     I32EnumAttrCase<"GE", 2>, I32EnumAttrCase<"GT", 3>,
     I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def SHLO_ComparisonDirectionAttr
    : EnumAttr<StableHlo_Dialect, SHLO_ComparisonDirection, "comparison_direction">;

def SHLO_ComparisonType : SHLO_Enum<"ComparisonType",
    "Which order of elements a comparison uses",
    [I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>,
     I32EnumAttrCase<"TOTALORDER", 2>, I32EnumAttrCase<"SIGNED", 3>,
     I32EnumAttrCase<"UNSIGNED", 4>]>;
def SHLO_ComparisonTypeAttr
    : EnumAttr<StableHlo_Dialect, SHLO_ComparisonType, "comparison_type">;

def SHLO_Precision : SHLO_Enum<"Precision",
    "How exact products of an operand are",
    [I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>,
     I32EnumAttrCase<"HIGHEST", 2>]>;
def SHLO_PrecisionAttr
    : EnumAttr<StableHlo_Dialect, SHLO_Precision, "precision">;
def SHLO_PrecisionConfigAttr
    : TypedArrayAttrBase<SHLO_PrecisionAttr, "list of precisions">;

def SHLO_Transpose : SHLO_Enum<"Transpose",
    "How a matrix is read",
    [I32EnumAttrCase<"TRANSPOSE_INVALID", 0>, I32EnumAttrCase<"NO_TRANSPOSE", 1>,
     I32EnumAttrCase<"TRANSPOSE", 2>, I32EnumAttrCase<"ADJOINT", 3>]>;
def SHLO_TransposeAttr
    : EnumAttr<StableHlo_Dialect, SHLO_Transpose, "transpose">;

def SHLO_RngDistribution : SHLO_Enum<"RngDistribution",
    "Distribution of random numbers",
    [I32EnumAttrCase<"UNIFORM", 1>, I32EnumAttrCase<"NORMAL", 2>]>;
def SHLO_RngDistributionAttr
    : EnumAttr<StableHlo_Dialect, SHLO_RngDistribution, "rng_distribution">;

def SHLO_RngAlgorithm : SHLO_Enum<"RngAlgorithm",
    "Generator of random bits",
    [I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>,
     I32EnumAttrCase<"PHILOX", 2>]>;
def SHLO_RngAlgorithmAttr
    : EnumAttr<StableHlo_Dialect, SHLO_RngAlgorithm, "rng_algorithm">;

def SHLO_FftType : SHLO_Enum<"FftType",
    "Kind of a Fourier transform",
    [I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>,
     I32EnumAttrCase<"RFFT", 2>, I32EnumAttrCase<"IRFFT", 3>]>;
def SHLO_FftTypeAttr : EnumAttr<StableHlo_Dialect, SHLO_FftType, "fft_type">;

//===----------------------------------------------------------------------===//
// Dimension numbers and other structures
//===----------------------------------------------------------------------===//

class SHLO_Attr<string name, string attrMnemonic>
    : AttrDef<StableHlo_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

class SHLO_Dims<string summary> : ArrayRefParameter<"int64_t", summary>;

def SHLO_ScatterDimensionNumbersAttr
    : SHLO_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "Which dimensions of a scatter mean what";
  let description = [{
    Text leaves out empty lists and an `index_vector_dim` of 0.

    ```mlir
    #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
                       scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
    ```
  }];
  let parameters = (ins
    SHLO_Dims<"dimensions of `updates` that run through a window">:$updateWindowDims,
    SHLO_Dims<"dimensions of `inputs` that a window leaves out">:$insertedWindowDims,
    SHLO_Dims<"batching dimensions of `inputs`">:$inputBatchingDims,
    SHLO_Dims<"batching dimensions of `scatter_indices`">:$scatterIndicesBatchingDims,
    SHLO_Dims<"dimension of `inputs` for each element of an index">:$scatterDimsToOperandDims,
    "int64_t":$indexVectorDim);
}

def SHLO_GatherDimensionNumbersAttr
    : SHLO_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "Which dimensions of a gather mean what";
  let description = [{
    Text leaves out empty lists and an `index_vector_dim` of 0.

    ```mlir
    #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
                      start_index_map = [0], index_vector_dim = 1>
    ```
  }];
  let parameters = (ins
    SHLO_Dims<"dimensions of the result that run through a slice">:$offsetDims,
    SHLO_Dims<"dimensions of `operand` that the result leaves out">:$collapsedSliceDims,
    SHLO_Dims<"batching dimensions of `operand`">:$operandBatchingDims,
    SHLO_Dims<"batching dimensions of `start_indices`">:$startIndicesBatchingDims,
    SHLO_Dims<"dimension of `operand` for each element of an index">:$startIndexMap,
    "int64_t":$indexVectorDim);
}

def SHLO_DotDimensionNumbersAttr : SHLO_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "Which dimensions of a product are batching and contracting";
  let description = [{
    ```mlir
    #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>
    ```
  }];
  let parameters = (ins
    SHLO_Dims<"">:$lhsBatchingDimensions,
    SHLO_Dims<"">:$rhsBatchingDimensions,
    SHLO_Dims<"">:$lhsContractingDimensions,
    SHLO_Dims<"">:$rhsContractingDimensions);
}

def SHLO_DotAlgorithmAttr : SHLO_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "How a product is computed";
  let parameters = (ins "::mlir::Type":$lhsPrecisionType,
                        "::mlir::Type":$rhsPrecisionType,
                        "::mlir::Type":$accumulationType,
                        "int64_t":$lhsComponentCount,
                        "int64_t":$rhsComponentCount,
                        "int64_t":$numPrimitiveOperations,
                        "bool":$allowImpreciseAccumulation);
}

def SHLO_ConvDimensionNumbersAttr : SHLO_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "Which dimensions of a convolution mean what";
  let description = [{
    Lists describe the dimensions of input, kernel and output in order: `b` is the
    batch, `f` the feature, `i` and `o` are the input and output features of the
    kernel, and a number is a spatial dimension.

    ```mlir
    #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>
    ```
  }];
  let parameters = (ins "int64_t":$inputBatchDimension,
                        "int64_t":$inputFeatureDimension,
                        SHLO_Dims<"">:$inputSpatialDimensions,
                        "int64_t":$kernelInputFeatureDimension,
                        "int64_t":$kernelOutputFeatureDimension,
                        SHLO_Dims<"">:$kernelSpatialDimensions,
                        "int64_t":$outputBatchDimension,
                        "int64_t":$outputFeatureDimension,
                        SHLO_Dims<"">:$outputSpatialDimensions);
}

def SHLO_ChannelHandleAttr : SHLO_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "Number and type of a channel";
  let description = [{
    ```mlir
    #stablehlo.channel_handle<handle = 1, type = 1>
    ```
  }];
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
}

#endif // PATHWAYS_DIALECT_STABLEHLO_ATTRS_TD
