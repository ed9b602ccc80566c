//===- ControlFlowOps.td - Control flow and calls ----------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_CONTROL_FLOW_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_CONTROL_FLOW_OPS_TD

include "pathways/Dialect/StableHlo/StableHloOpBase.td"

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

#endif // PATHWAYS_DIALECT_STABLEHLO_CONTROL_FLOW_OPS_TD
