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
    operation that has this interface by its rule. Structured and elementwise
    operations are cut, too, and need no interface.
  }];
  let cppNamespace = "::mlir::pathways";
  let methods = [
    InterfaceMethod<"Returns how the operation may be cut, or nullopt if it is computed whole",
      "::std::optional<::mlir::pathways::ShardingRule>", "getShardingRule">,
    InterfaceMethod<[{
      Adapts the attributes to one shard. Called on a copy of `whole` that already
      has the operands and result types of a shard.
    }], "void", "becomeShardOf", (ins "::mlir::Operation *":$whole),
      /*methodBody=*/"", /*defaultImplementation=*/"return;">
  ];
}

#endif // PATHWAYS_ANALYSIS_SHARDING_INTERFACES_TD
