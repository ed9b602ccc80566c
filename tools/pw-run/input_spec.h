//===- input_spec.h - Arrays given on the command line ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of --input and --expected:
//
//   @x.npy           an array file
//   x/               a folder with a saved array (docs/checkpoints.md)
//   0.5              every element is 0.5
//   1,2;3,4          rows separated by ';'
//   [[1,2],[3,4]]    any number of dimensions
//   zeros ones       every element is 0, is 1
//   ramp             0, 1, 2, ... in row-major order
//   random:SEED      the same values for the same seed, everywhere: floats in
//                    [-1, 1), integers in [-128, 128)
//   random:SEED:0.5  floats, times 0.5
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_INPUT_SPEC_H_
#define TOOLS_PW_RUN_INPUT_SPEC_H_

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pathways/HostArray.h"
#include "runtime/checkpoint/saved_array.h"
#include "tools/pw-run/archives.h"
#include "tools/pw-run/signature.h"

namespace pathways::pw_run {

// NAME=VALUE, as given to an option.
struct NamedSpec {
  std::string name;
  std::string spec;
};

// Splits each value at its first '='. Returns InvalidArgument if there is none,
// if a side is empty, or if a name was given before. `option` is for the
// message.
absl::StatusOr<std::vector<NamedSpec>> ParseNamedSpecs(
    absl::string_view option, const std::vector<std::string>& values);

// Returns true if `spec` ends in a slash.
bool IsFolderSpec(absl::string_view spec);

// Value of an argument: an array, or files to be read later.
using Input = std::variant<HostArray, std::shared_ptr<const SavedArray>>;

// Makes the array that `spec` describes for `port` over `steps` steps. Returns
// InvalidArgument, with `what` ("input") and the port, if `spec` is no spec, or
// a file is unreadable or not of the port's type; ResourceExhausted, also with
// the bytes, if there is no memory for them.
absl::StatusOr<HostArray> MakeArray(absl::string_view what, const Port& port,
                                    int64_t steps, absl::string_view spec);

// Makes the arrays of all arguments, in their order; folders are checked, and
// not read into memory. An argument without a spec has its value in `archives`,
// which may be null. Returns errors of MakeArray and Archives::Read, and
// InvalidArgument for a name that is no argument and for missing arguments, all
// of which it lists with their types.
absl::StatusOr<std::vector<Input>> MakeInputs(
    const std::vector<Port>& arguments, int64_t steps,
    const std::vector<NamedSpec>& specs, const Archives* archives = nullptr);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_INPUT_SPEC_H_
