//===- PathwaysBase.td - What all operations of pw share -- -*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PATHWAYS_BASE_TD
#define PATHWAYS_DIALECT_PATHWAYS_BASE_TD

include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pathways/Dialect/Pathways/PathwaysTypes.td"

class Pathways_Op<string mnemonic, list<Trait> traits = []>
    : Op<Pathways_Dialect, mnemonic, traits>;

defvar PW_SymbolUser = DeclareOpInterfaceMethods<SymbolUserOpInterface>;

/// Operations that a program may contain. A pass refuses an operation that it
/// does not know; it never skips one.
def PW_NodeOpInterface : OpInterface<"NodeOpInterface"> {
  let description = [{
    A node of a program takes arrays and returns arrays. A node with regions has nodes
    in them, and may run these any number of times, or not at all. The methods tell
    passes which operands it reads, waits for and may overwrite; each operand is in
    one of the first two lists.
  }];
  let cppNamespace = "::mlir::pathways";
  let methods = [
    InterfaceMethod<"Operands whose elements it reads",
      "::llvm::SmallVector<::mlir::OpOperand *>", "getReads", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        ::llvm::SmallVector<::mlir::OpOperand *> reads;
        for (::mlir::OpOperand &operand : $_op->getOpOperands())
          reads.push_back(&operand);
        return reads;
      }]>,
    InterfaceMethod<"Operands that must be complete, but are not read",
      "::llvm::SmallVector<::mlir::OpOperand *>", "getWaits", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<"Operands that it reads and whose memory it may take",
      "::llvm::SmallVector<::mlir::OpOperand *>", "getDonations", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">
  ];
  let verify = "return ::mlir::pathways::detail::verifyNode($_op);";
}

/// Constraints of every collective that do not depend on a mesh. pw.call verifies
/// those that do (C7).
def PW_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let description = [{
    A collective communicates among the shards that differ only in their coordinates
    on `axes`: a group, ranked row-major in the order in which the axes are given.
  }];
  let cppNamespace = "::mlir::pathways";
  let methods = [
    InterfaceMethod<"Mesh axes of a group", "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"The tensor that is communicated",
                    "::mlir::TypedValue<::mlir::RankedTensorType>", "getSource">,
    InterfaceMethod<"The result",
                    "::mlir::TypedValue<::mlir::RankedTensorType>", "getResult">,
    InterfaceMethod<[{
      Returns the shape of the result for groups of `groupSize`. Fails, with a
      diagnostic by `emitError`, if the source cannot be cut that way.
    }], "::mlir::FailureOr<::llvm::SmallVector<int64_t>>", "getResultShape",
      (ins "int64_t":$groupSize,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>
  ];
  let verify = "return ::mlir::pathways::detail::verifyCollective($_op);";
}

#endif // PATHWAYS_DIALECT_PATHWAYS_BASE_TD
