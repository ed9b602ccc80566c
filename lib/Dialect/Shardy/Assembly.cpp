//===- Assembly.cpp - Parsers and printers of operations ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attributes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Parses `(%a: T, ..) { .. }`.
static ParseResult parseArgumentsAndRegion(OpAsmParser &parser,
                                           Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(
      failed(parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                                      /*allowType=*/true)) ||
      failed(parser.parseRegion(region, arguments)));
}

static void printArgumentsAndRegion(OpAsmPrinter &printer, Region &region) {
  printer << '(';
  llvm::interleaveComma(
      region.getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Parts of operations
//===----------------------------------------------------------------------===//

namespace mlir::pathways::sdy {

static ParseResult parseRegionWithArguments(OpAsmParser &parser,
                                            Region &region) {
  return parseArgumentsAndRegion(parser, region);
}

static void printRegionWithArguments(OpAsmPrinter &printer, Operation *,
                                     Region &region) {
  printArgumentsAndRegion(printer, region);
}

static ParseResult parseShardings(OpAsmParser &parser,
                                  TensorShardingPerValueAttr &shardings) {
  FailureOr<TensorShardingPerValueAttr> parsed =
      parseShardings(static_cast<AsmParser &>(parser));
  if (failed(parsed))
    return failure();
  shardings = *parsed;
  return success();
}

static void printShardings(OpAsmPrinter &printer, Operation *,
                           TensorShardingPerValueAttr shardings) {
  printShardings(printer, shardings);
}

} // namespace mlir::pathways::sdy

namespace mlir::pathways::mpmd {

static ParseResult parseRegionWithArguments(OpAsmParser &parser,
                                            Region &region) {
  return parseArgumentsAndRegion(parser, region);
}

static void printRegionWithArguments(OpAsmPrinter &printer, Operation *,
                                     Region &region) {
  printArgumentsAndRegion(printer, region);
}

} // namespace mlir::pathways::mpmd

#define GET_OP_CLASSES
#include "pathways/Dialect/Shardy/SdyOps.cpp.inc"
#define GET_OP_CLASSES
#include "pathways/Dialect/Shardy/MpmdOps.cpp.inc"
