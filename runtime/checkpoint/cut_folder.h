//===- cut_folder.h - Where a run's cuts are --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_CUT_FOLDER_H_
#define RUNTIME_CHECKPOINT_CUT_FOLDER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/checkpoint/array_index.h"

namespace pathways {

// The folder of the cut after so many steps.
std::string CutPath(const std::string& folder, int64_t steps);

// Makes the folder if it is not there. Returns the path of the last cut in it;
// empty: there is none. NotFound: the folder that it is to be in; or as
// FileStatus.
absl::StatusOr<std::string> OpenCutFolder(const std::string& folder);

// What the cut says, if it is of that program, and of a run whose first step
// has that number. InvalidArgument: it is not, or no cut; or as ReadIndexText
// and ParseCut.
absl::StatusOr<CutFacts> ReadCut(const std::string& path,
                                 const std::string& program,
                                 const std::string& fingerprint,
                                 int64_t first_step);

// Nobody goes on from it any more. What cannot be removed stays.
void RemoveCut(const std::string& path);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_CUT_FOLDER_H_
