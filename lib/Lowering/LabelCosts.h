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

  /// Returns the nanoseconds that the last pattern with this label gives.
  std::optional<uint64_t> find(StringRef label);

  /// Fails, with a diagnostic, at a pattern that fits no label that was asked
  /// for.
  LogicalResult checkUse(function_ref<InFlightDiagnostic()> emitError) const;

private:
  struct Cost {
    StringRef text;
    llvm::GlobPattern pattern;
    uint64_t ns = 0;
    bool isUsed = false;
  };
  std::vector<Cost> costs;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_LABELCOSTS_H
