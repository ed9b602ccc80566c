//===- ShardyOps.td - Operations of sdy --------------------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_SHARDY_OPS_TD
#define PATHWAYS_DIALECT_SHARDY_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pathways/Dialect/Shardy/ShardyAttrs.td"

class Sdy_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sdy_Dialect, mnemonic, traits>;

defvar Sdy_SymbolUser = DeclareOpInterfaceMethods<SymbolUserOpInterface>;

def MeshOp : Sdy_Op<"mesh", [Symbol]> {
  let summary = "Name a mesh";
  let description = [{
    ```mlir
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrAttr>:$sym_visibility, Sdy_MeshAttr:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def ShardingConstraintOp : Sdy_Op<"sharding_constraint",
    [Pure, AllTypesMatch<["input", "result"]>, Sdy_SymbolUser]> {
  let summary = "Give a value a sharding";
  let description = [{
    (C1) The sharding fits the type and its mesh.

    ```mlir
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {} ]> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, Sdy_TensorShardingAttr:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

def ReshardOp : Sdy_Op<"reshard",
    [Pure, AllTypesMatch<["input", "result"]>, Sdy_SymbolUser]> {
  let summary = "Change the sharding of a value";
  let description = [{
    (C1) The sharding fits the type and its mesh.

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {} ]> : tensor<8x8xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, Sdy_TensorShardingAttr:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

def ManualComputationOp : Sdy_Op<"manual_computation",
    [RecursiveMemoryEffects, SingleBlock, Sdy_SymbolUser]> {
  let summary = "Run a region that is written for one shard";
  let description = [{
    The region takes the local parts of the operands along the manual axes and returns
    the local parts of the results. It may communicate along these axes.

    (C1) There is one sharding per operand and per result, and it fits the type;
    (C2) manual axes are axes of the mesh, which is the same everywhere; (C3) in each
    dimension, manual axes come before others; (C4) the region takes and returns the
    local types.

    ```mlir
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"} ]>] out_shardings=[<@mesh, [{"x"} ]>] manual_axes={"x"} (%a: tensor<4xf32>) {
      %b = stablehlo.add %a, %a : tensor<4xf32>
      sdy.return %b : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$tensors,
                       Sdy_TensorShardingPerValueAttr:$in_shardings,
                       Sdy_TensorShardingPerValueAttr:$out_shardings,
                       Sdy_ManualAxesAttr:$manual_axes);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    `(` operands `)` `in_shardings` `` `=` `` custom<Shardings>($in_shardings)
    `out_shardings` `` `=` `` custom<Shardings>($out_shardings)
    `manual_axes` `` `=` `` $manual_axes custom<RegionWithArguments>($body)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NamedComputationOp : Sdy_Op<"named_computation",
    [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Run a region that has a name";
  let description = [{
    (C1) The region takes values of the types of the operands and returns values of
    the types of the results; (C2) there is one sharding per operand and per result,
    if any.

    ```mlir
    %1 = sdy.named_computation<"f">(%0) (%a: tensor<8xf32>) {
      sdy.return %a : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands,
                       OptionalAttr<Sdy_TensorShardingPerValueAttr>:$in_shardings,
                       OptionalAttr<Sdy_TensorShardingPerValueAttr>:$out_shardings);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    `<` $name `>` `` `(` $operands `)`
    (`in_shardings` `` `=` `` custom<Shardings>($in_shardings)^)?
    (`out_shardings` `` `=` `` custom<Shardings>($out_shardings)^)?
    custom<RegionWithArguments>($body) attr-dict
    `:` functional-type($operands, results)
  }];
  let hasVerifier = 1;
}

def PropagationBarrierOp : Sdy_Op<"propagation_barrier",
    [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Return a value and keep shardings from spreading through it";
  let description = [{
    ```mlir
    %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, Sdy_PropagationDirectionAttr:$allowed_direction);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` type($input)
  }];
}

def ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "Give values of a group the same sharding";
  let description = [{
    ```mlir
    sdy.sharding_group %0 group_id=0 : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def ReturnOp : Sdy_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "End a region";
  let description = [{
    ```mlir
    sdy.return %0 : tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "($results^)? attr-dict (`:` type($results)^)?";
}

#endif // PATHWAYS_DIALECT_SHARDY_OPS_TD
