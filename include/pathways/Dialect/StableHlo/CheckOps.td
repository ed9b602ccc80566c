//===- CheckOps.td - Operations of check -------------------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_CHECK_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_CHECK_OPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "pathways/Dialect/StableHlo/StableHloBase.td"

class Check_Op<string mnemonic, list<Trait> traits = []>
    : Op<Check_Dialect, mnemonic, traits # [SHLO_SupportedTypes]>;

def ExpectEqOp : Check_Op<"expect_eq", [SHLO_SameTypes]> {
  let summary = "Compare two tensors exactly";
  let description = [{
    Corresponding elements are equal; a NaN equals a NaN.

    ```mlir
    check.expect_eq %0, %1 : tensor<4xi32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$lhs, SHLO_Tensor:$rhs);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<OneOrMoreTypes>(type($lhs), type($rhs))
  }];
}

def ExpectEqConstOp : Check_Op<"expect_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "Compare a tensor with a constant exactly";
  let description = [{
    ```mlir
    check.expect_eq_const %0, dense<[1, 2]> : tensor<2xi32>
    ```
  }];
  let arguments = (ins SHLO_Tensor:$lhs, ElementsAttr:$value);
  let assemblyFormat = "$lhs `,` $value attr-dict";
}

def ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [SHLO_SameTypes]> {
  let summary = "Compare two tensors of floats with a tolerance";
  let description = [{
    Corresponding elements differ by at most `tolerance`, absolute; a NaN equals a NaN.

    ```mlir
    check.expect_almost_eq %0, %1 : tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_FloatTensor:$lhs, SHLO_FloatTensor:$rhs,
                       DefaultValuedOptionalAttr<F64Attr, "0.001">:$tolerance);
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:`
    custom<OneOrMoreTypes>(type($lhs), type($rhs))
  }];
}

def ExpectAlmostEqConstOp : Check_Op<"expect_almost_eq_const",
                                     [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "Compare a tensor of floats with a constant with a tolerance";
  let description = [{
    Corresponding elements differ by at most `tolerance`, absolute; a NaN equals a NaN.

    ```mlir
    check.expect_almost_eq_const %0, dense<[1.0, 2.0]> : tensor<2xf32>
    check.expect_almost_eq_const %0, dense<[1.0, 2.0]>, tolerance = 1.0e-02 : tensor<2xf32>
    ```
  }];
  let arguments = (ins SHLO_FloatTensor:$lhs, ElementsAttr:$value,
                       DefaultValuedOptionalAttr<F64Attr, "0.0001">:$tolerance);
  let assemblyFormat = "$lhs `,` custom<ExpectedValue>($value, $tolerance) attr-dict";
}

def ExpectCloseOp : Check_Op<"expect_close", [SHLO_SameTypes]> {
  let summary = "Compare two tensors of floats by units in the last place";
  let description = [{
    Corresponding elements differ by at least `min_ulp_difference` and at most
    `max_ulp_difference` units in the last place; a NaN equals a NaN, and an infinity
    equals only itself.

    ```mlir
    check.expect_close %0, %1, max_ulp_difference = 3 : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins SHLO_FloatTensor:$actual, SHLO_FloatTensor:$expected,
    DefaultValuedOptionalAttr<I64Attr, "3">:$max_ulp_difference,
    DefaultValuedOptionalAttr<I64Attr, "0">:$min_ulp_difference);
  let assemblyFormat = [{
    $actual `,` $expected (`,` `max_ulp_difference` `=` $max_ulp_difference^)?
    (`,` `min_ulp_difference` `=` $min_ulp_difference^)? attr-dict
    `:` type($actual) `,` type($expected)
  }];
}

#endif // PATHWAYS_DIALECT_STABLEHLO_CHECK_OPS_TD
