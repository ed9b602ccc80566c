//===- UniqueNames.h - Unique names -----------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_UNIQUENAMES_H
#define PATHWAYS_LIB_LOWERING_UNIQUENAMES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mlir::pathways {

/// Makes unique names: the name asked for, or the name with a number appended.
class UniqueNames {
public:
  std::string get(StringRef name) {
    auto [entry, isNew] = used.try_emplace(name, 1);
    if (isNew)
      return name.str();
    // "x.1" may be taken by itself, so the search continues; each try
    // increments the number.
    while (true) {
      std::string candidate = (name + "." + Twine(entry->second++)).str();
      if (!used.contains(candidate)) {
        used.try_emplace(candidate, 1);
        return candidate;
      }
    }
  }

private:
  llvm::StringMap<unsigned> used; // next number to try, by name
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_UNIQUENAMES_H
