//===- CommunicationOps.td - Tokens and communication ------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_COMMUNICATION_OPS_TD
#define PATHWAYS_DIALECT_STABLEHLO_COMMUNICATION_OPS_TD

include "pathways/Dialect/StableHlo/StableHloOpBase.td"

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

#endif // PATHWAYS_DIALECT_STABLEHLO_COMMUNICATION_OPS_TD
