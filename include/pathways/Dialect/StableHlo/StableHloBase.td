//===- StableHloBase.td - Types that operations take and return *- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_BASE_TD
#define PATHWAYS_DIALECT_STABLEHLO_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pathways/Dialect/StableHlo/StableHloAttrs.td"

/// Refuses element types and shapes that are not supported, by name.
def SHLO_SupportedTypes : NativeOpTrait<"SupportedTypes"> {
  let cppNamespace = "::mlir::pathways::stablehlo";
}
/// All operands and results have the same type.
def SHLO_SameTypes : NativeOpTrait<"SameTypes"> {
  let cppNamespace = "::mlir::pathways::stablehlo";
}
/// All operands and results have the same shape.
def SHLO_SameShapes : NativeOpTrait<"SameShapes"> {
  let cppNamespace = "::mlir::pathways::stablehlo";
}

// Constraints accept element types that are not supported: the trait
// SupportedTypes refuses those, with a better message.
class SHLO_TensorOf<string kinds, string summary>
    : Type<And<[CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
                CPred<"::mlir::pathways::stablehlo::detail::isTensorOf($_self, " #
                      kinds # ")">]>,
           summary, "::mlir::RankedTensorType">;

def SHLO_Tensor : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
                       "ranked tensor", "::mlir::RankedTensorType">;
def SHLO_PredTensor : SHLO_TensorOf<"\"p\"", "tensor of i1">;
def SHLO_IntTensor : SHLO_TensorOf<"\"i\"", "tensor of integers">;
def SHLO_PredOrIntTensor : SHLO_TensorOf<"\"pi\"", "tensor of i1 or integers">;
def SHLO_FloatTensor : SHLO_TensorOf<"\"f\"", "tensor of floats">;
def SHLO_IntOrFloatTensor : SHLO_TensorOf<"\"if\"", "tensor of integers or floats">;

def SHLO_TensorOrToken : AnyTypeOf<[SHLO_Tensor, SHLO_TokenType]>;
def SHLO_Value : AnyTypeOf<[SHLO_Tensor, SHLO_TokenType, AnyTuple]>;

#endif // PATHWAYS_DIALECT_STABLEHLO_BASE_TD
