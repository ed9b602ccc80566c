//===- StableHloDialect.td - Dialects of imported programs -*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_DIALECT_TD
#define PATHWAYS_DIALECT_STABLEHLO_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def StableHlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::mlir::pathways::stablehlo";
  let summary = "Tensor programs as JAX and other front ends export them";
  let description = [{
    This dialect reads, verifies and prints StableHLO text. It follows the
    StableHLO specification for programs with static shapes and real element types.
    Imported programs begin here:

    ```
    stablehlo + chlo + sdy -> func + linalg -> pw -> plan -> object code
    ```

    Element types are i1, signless and unsigned integers of 8, 16, 32 and 64 bits,
    f16, bf16, f32 and f64. Signless integers are signed. The verifier refuses complex
    and quantized types, other widths and dynamic sizes by name.

    Attributes of this dialect whose name is not known are kept as they are.
  }];
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type,
                   ::mlir::DialectAsmPrinter &printer) const override;

  private:
    void registerAttributes();
    void registerTypes();
  public:
  }];
}

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::mlir::pathways::chlo";
  let summary = "Functions that StableHLO programs call and that are not StableHLO";
  let description = [{
    Operations are elementwise special functions and `chlo.top_k`. A front end writes
    them where StableHLO has no operation of its own.
  }];
}

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::mlir::pathways::check";
  let summary = "Comparisons of results with expected values in tests";
  let description = [{
    Operations compare a tensor with another one or with a constant. A program fails
    where they differ.
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def SHLO_TokenType : TypeDef<StableHlo_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "Order of operations with side effects";
  let description = [{
    A token carries no data. An operation that takes the token of another one runs
    after it.
  }];
  let builderCall = "::mlir::pathways::stablehlo::TokenType::get($_builder.getContext())";
}

#endif // PATHWAYS_DIALECT_STABLEHLO_DIALECT_TD
