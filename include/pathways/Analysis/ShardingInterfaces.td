//===- ShardingInterfaces.td - How operations are cut ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_SHARDING_INTERFACES_TD
#define PATHWAYS_ANALYSIS_SHARDING_INTERFACES_TD

include "mlir/IR/OpBase.td"

def PW_ShardableOpInterface : OpInterface<"ShardableOpInterface"> {
  let description = [{
    An operation on tensors that can be computed in parts. `pw-partition` cuts each
    operation that has this interface by its rule, as it does structured operations
    and elementwise ones, which need no interface of their own.
  }];
  let cppNamespace = "::mlir::pathways";
  let methods = [
    InterfaceMethod<"How it may be cut; none: it is computed whole",
      "::std::optional<::mlir::pathways::ShardingRule>", "getShardingRule">,
    InterfaceMethod<[{
      Makes attributes those of one shard. Called on a copy of `whole` that has
      operands and result types of a shard already.
    }], "void", "becomeShardOf", (ins "::mlir::Operation *":$whole),
      /*methodBody=*/"", /*defaultImplementation=*/"return;">
  ];
}

#endif // PATHWAYS_ANALYSIS_SHARDING_INTERFACES_TD
