//===- backoff.cc - Pauses between attempts -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/backoff.h"

#include <memory>

#include "absl/random/random.h"

namespace pathways {

Backoff::Backoff()
    : Backoff([generator = std::make_shared<absl::BitGen>()] {
        return absl::Uniform(*generator, 0.0, 1.0);
      }) {}

}  // namespace pathways
