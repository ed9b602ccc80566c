//===- LabelCosts.h - Given costs of labelled calls -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_LABELCOSTS_H
#define PATHWAYS_LIB_LOWERING_LABELCOSTS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/GlobPattern.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::pathways {

/// Costs that replace those of calls with labels.
class LabelCosts {
public:
  /// Parses texts such as "*F=18.522ms", a pattern of labels and a time. They
  /// outlive the result. Fails, with a diagnostic, at a text of another form.
  static FailureOr<LabelCosts>
  parse(ArrayRef<std::string> texts,
        function_ref<InFlightDiagnostic()> emitError);

  /// Returns the nanoseconds that the last pattern with this label gives. If
  /// none gives any, a whole backward call, such as 2B, takes as long as its
  /// halves, 2I and 2W.
  std::optional<uint64_t> find(StringRef label);

  /// Fails, with a diagnostic, at a pattern that fits no label that was asked
  /// for.
  LogicalResult checkUse(function_ref<InFlightDiagnostic()> emitError) const;
  /// Returns the texts of these patterns.
  std::vector<std::string> getUnused() const;

  /// Notes that the cost of a call with this label is an estimate.
  void addEstimate(StringRef label) {
    if (!llvm::is_contained(estimated, label))
      estimated.push_back(label.str());
  }
  /// Returns these labels, in the order in which they were noted.
  ArrayRef<std::string> getEstimated() const { return estimated; }

private:
  struct Cost {
    StringRef text;
    llvm::GlobPattern pattern;
    uint64_t ns = 0;
    bool isUsed = false;
  };
  std::optional<uint64_t> match(StringRef label);

  std::vector<Cost> costs;
  std::vector<std::string> estimated;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_LABELCOSTS_H
