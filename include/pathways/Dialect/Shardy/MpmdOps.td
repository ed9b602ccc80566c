//===- MpmdOps.td - Operations and attributes of mpmd ------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_SHARDY_MPMD_OPS_TD
#define PATHWAYS_DIALECT_SHARDY_MPMD_OPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pathways/Dialect/Shardy/ShardyDialect.td"

class Mpmd_Attr<string name, string attrMnemonic> : AttrDef<Mpmd_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Mpmd_NamedMeshAttr : Mpmd_Attr<"NamedMesh", "named_mesh"> {
  let summary = "A mesh with a name";
  let parameters = (ins StringRefParameter<>:$name,
                        "::mlir::pathways::sdy::MeshAttr":$mesh);
}

def Mpmd_TopologyAttr : Mpmd_Attr<"Topology", "topology"> {
  let summary = "The meshes that a program runs on";
  let description = [{
    (C1) There is at least one mesh; (C2) names differ.

    ```mlir
    #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::pathways::mpmd::NamedMeshAttr">:$meshes);
  let genVerifyDecl = 1;
}

def Mpmd_UserOriginAttr : Mpmd_Attr<"UserOrigin", "user_origin"> {
  let summary = "Name of a computation and how often it was transposed";
  let description = [{
    ```mlir
    #mpmd.user_origin<"layer1"(1)>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name,
                        DefaultValuedParameter<"int64_t", "0">:$transpose_count);
}

class Mpmd_Op<string mnemonic, list<Trait> traits = []>
    : Op<Mpmd_Dialect, mnemonic, traits>;

def NamedComputationOp : Mpmd_Op<"named_computation",
    [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Run a region that has a name";
  let description = [{
    (C1) The region takes values of the types of the operands and returns values of
    the types of the results.

    ```mlir
    %1 = mpmd.named_computation<"layer1"(1)> (%0) (%a: tensor<8xf32>) {
      mpmd.return %a : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$tensors, Mpmd_UserOriginAttr:$origin);
  let regions = (region SizedRegion<1>:$region);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    `` $origin ` ` `(` $tensors `)` custom<RegionWithArguments>($region) attr-dict
    `:` functional-type($tensors, results)
  }];
  let hasVerifier = 1;
}

def NamedTensorOp : Mpmd_Op<"named_tensor",
    [Pure, AllTypesMatch<["tensor", "result"]>]> {
  let summary = "Give a value a name";
  let description = [{
    ```mlir
    %1 = mpmd.named_tensor %0 name="activation" : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyType:$tensor, StrAttr:$name);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$tensor `name` `` `=` `` $name attr-dict `:` type($result)";
}

def CallOp : Mpmd_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Call a function, for example once per micro-batch";
  let description = [{
    (C1) `callee` names a function of the types of operands and results.

    ```mlir
    %1 = mpmd.call @step(%0) {call_counter = 1 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$tensors, FlatSymbolRefAttr:$callee);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $tensors `)` attr-dict `:` functional-type($tensors, results)
  }];
}

def ReturnOp : Mpmd_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "End a region";
  let description = [{
    ```mlir
    mpmd.return %0 : tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "($results^)? attr-dict (`:` type($results)^)?";
}

#endif // PATHWAYS_DIALECT_SHARDY_MPMD_OPS_TD
