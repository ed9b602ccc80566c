//===- StepValues.h - Values that pass from step to step --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_STEPVALUES_H
#define PATHWAYS_LIB_IMPORT_STEPVALUES_H

#include "mlir/IR/Builders.h"
#include "pathways/Dialect/Pathways/Pathways.h"

namespace mlir::pathways {

/// The arguments that take a result of the previous step, and the arguments and
/// results that have a value for each step, as the options `carry` and
/// `stepped` of pw-import-program name them.
class StepValues {
public:
  /// Names of the arguments and results of the program, without constants and
  /// checks, which follow.
  StepValues(ArrayRef<std::string> arguments, ArrayRef<std::string> results)
      : arguments(arguments), results(results) {}

  /// Reads both options. Fails with a diagnostic at `loc` if a text is no list,
  /// names what does not exist, or names something twice.
  LogicalResult read(Location loc, StringRef carry, StringRef stepped);
  /// Gives a carried argument and its result one type: each has the type that
  /// is wanted for the other one if nothing is wanted for it. A wanted type is
  /// null if the module does not say. Fails with a diagnostic if shapes,
  /// elements or shardings differ. `tensors` are types of arguments and
  /// results.
  LogicalResult unifyTypes(Location loc, TypeRange argumentTensors,
                           TypeRange resultTensors,
                           MutableArrayRef<Type> wantedArguments,
                           MutableArrayRef<Type> wantedResults) const;
  /// Returns the result that argument `index` takes in the next step, if any.
  std::optional<unsigned> getCarriedResult(unsigned index) const {
    return index < carried.size() ? carried[index] : std::nullopt;
  }
  /// Adds the attributes of argument or result `index` of the program.
  void addArgumentAttrs(Builder &b, unsigned index, NamedAttrList &attrs) const;
  void addResultAttrs(Builder &b, unsigned index, NamedAttrList &attrs) const;

private:
  /// The values for which one side of a pair, or one item of a list, stands.
  struct Matches {
    SmallVector<unsigned> indices;
    /// The rest of each name behind the common prefix; empty for positions.
    SmallVector<std::string> suffixes;
  };
  enum Kind { kArgument, kResult };
  ArrayRef<std::string> getNames(Kind kind) const {
    return kind == kArgument ? arguments : results;
  }
  FailureOr<Matches> match(Location loc, StringRef option, StringRef text,
                           Kind kind) const;
  FailureOr<Matches> matchPositions(Location loc, StringRef option,
                                    StringRef text, Kind kind) const;
  Matches matchNames(StringRef text, Kind kind) const;
  LogicalResult readCarry(Location loc, StringRef text);
  LogicalResult readPair(Location loc, StringRef text);
  LogicalResult readStepped(Location loc, StringRef text);
  InFlightDiagnostic emitUnknown(Location loc, StringRef option, StringRef text,
                                 Kind kind) const;

  ArrayRef<std::string> arguments, results;
  SmallVector<std::optional<unsigned>> carried;
  SmallVector<bool> steppedArguments, steppedResults;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_STEPVALUES_H
