//===- PathwaysDialect.td - The pw dialect -----------------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PATHWAYS_DIALECT_TD
#define PATHWAYS_DIALECT_PATHWAYS_DIALECT_TD

include "mlir/IR/DialectBase.td"

def Pathways_Dialect : Dialect {
  let name = "pw";
  let cppNamespace = "::mlir::pathways";
  let summary = "Programs over sharded arrays, independent of where they run";
  let description = [{
    A `pw` program calls functions of upstream MLIR on *arrays*: logical tensors
    cut over the named axes of a *slice*, a mesh of virtual devices that are bound
    to physical ones late. The dialect is between ordinary functions and the tables
    that the runtime executes:

    ```
    func + linalg -> pw (location agnostic) -> pw (placed) -> plan -> object code
    ```

    *Location agnostic*: a layout names mesh axes, a place is a symbol, and no type
    has a device number, so binding a slice rewrites no types. `pw.reshard` changes
    the layout or the slice and leaves the method open.

    *Placed*: every slice has a `pw.bind`, and every `pw.reshard` has become
    `pw.transfer` operations and calls of generated functions.

    ### Attributes of functions

    | attribute | on | means |
    | --- | --- | --- |
    | `pw.local_view` | `func.func` | the body is written for one shard and may communicate; without it tensors are global |
    | `pw.pointwise` | `func.func` | garbage in padding elements of arguments stays in padding elements of results |
    | `pw.accepts_partial` | an argument of a `pw.local_view` function | the argument may be contributions that are not reduced |
    | `pw.name` | an argument or result of `pw.program` | the name callers use; arguments default to the SSA name in text |
    | `pw.stepped` | an argument or result of `pw.program` | each step takes, or writes, one index of a leading dimension |
    | `pw.carried` | an argument of `pw.program` | index of the result of the previous step that it takes |
    | `pw.orders` | a `pw.for` that stays a loop in the plan | the order of each slice: runs `[slice, gangs, iterations, [times, step]]` |
    | `pw.gang` | a `pw.call` in such a loop | its number in the orders |
    | `pw.constant` | an argument of `pw.program`, or of `@main` before its import | the value, which callers do not pass |
    | `pw.expect` | a result of `pw.program` | another result has the expected value: `#pw.expect` |
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kLocalViewAttrName = "pw.local_view";
    static constexpr ::llvm::StringLiteral kPointwiseAttrName = "pw.pointwise";
    static constexpr ::llvm::StringLiteral kOrdersAttrName = "pw.orders";
    static constexpr ::llvm::StringLiteral kGangAttrName = "pw.gang";
    static constexpr ::llvm::StringLiteral kAcceptsPartialAttrName =
        "pw.accepts_partial";
    static constexpr ::llvm::StringLiteral kNameAttrName = "pw.name";
    static constexpr ::llvm::StringLiteral kSteppedAttrName = "pw.stepped";
    static constexpr ::llvm::StringLiteral kCarriedAttrName = "pw.carried";
    static constexpr ::llvm::StringLiteral kConstantAttrName = "pw.constant";
    static constexpr ::llvm::StringLiteral kExpectAttrName = "pw.expect";

  private:
    void registerAttributes();
    void registerTypes();
  public:
  }];
}

#endif // PATHWAYS_DIALECT_PATHWAYS_DIALECT_TD
