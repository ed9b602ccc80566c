//===- save_array.h - Writing of an array to files --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_SAVE_ARRAY_H_
#define RUNTIME_CLIENT_SAVE_ARRAY_H_

#include <string>

#include "absl/status/status.h"
#include "runtime/checkpoint/save_folder.h"
#include "runtime/client/array_reader.h"

namespace pathways {

// Writes an array to `folder`, as the folder itself or, with a name, as a
// folder in it (docs/checkpoints.md): each block of its shards once, with one
// block at a time in this process. The array must have values. Waits. `what`
// names the array in errors. Returns errors of ArrayReader, ArrayWriter and
// SavedArray::Read.
absl::Status SaveArray(const ArrayLocation& array, const std::string& what,
                       ArrayReader* reader, SaveFolder* folder,
                       const std::string& name);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_SAVE_ARRAY_H_
