//===- ShardyDialect.td - Dialects of shardings ------------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_SHARDY_DIALECT_TD
#define PATHWAYS_DIALECT_SHARDY_DIALECT_TD

include "mlir/IR/DialectBase.td"

class Shardy_DialectBase : Dialect {
  let useDefaultAttributePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;

  private:
    void registerAttributes();
  public:
  }];
}

def Sdy_Dialect : Shardy_DialectBase {
  let name = "sdy";
  let cppNamespace = "::mlir::pathways::sdy";
  let summary = "Shardings of tensor programs over meshes";
  let description = [{
    This dialect reads, verifies and prints the shardings that JAX writes in Shardy
    form: meshes, the attribute `sdy.sharding` of arguments, results and operations,
    and regions that are written for one shard.

    Attributes of this dialect whose name is not known, for example sharding rules, are
    kept as they are.

    `sdy.sharding` of an argument, a result or an operation names a mesh, has as many
    dimensions as the tensor, unless the mesh is maximal, and uses axes of the mesh.
    Parts of axes divide them.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def Mpmd_Dialect : Shardy_DialectBase {
  let name = "mpmd";
  let cppNamespace = "::mlir::pathways::mpmd";
  let summary = "Named parts of programs that run on several meshes";
  let description = [{
    This dialect reads, verifies and prints named computations, named tensors and
    calls for micro-batches, and the attribute `topology` of functions.
  }];
  let dependentDialects = ["::mlir::pathways::sdy::SdyDialect"];
}

#endif // PATHWAYS_DIALECT_SHARDY_DIALECT_TD
