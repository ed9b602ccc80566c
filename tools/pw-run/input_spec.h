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
#include "runtime/base/host_array.h"
#include "runtime/checkpoint/saved_array.h"
#include "tools/pw-run/signature.h"

namespace pathways::pw_run {

// NAME=VALUE as given to one option.
struct NamedSpec {
  std::string name;
  std::string spec;
};

// Splits at the first '='. InvalidArgument when there is none, when a side is
// empty, or when a name was given before. `option` is for the message.
absl::StatusOr<std::vector<NamedSpec>> ParseNamedSpecs(
    absl::string_view option, const std::vector<std::string>& values);

// Whether it ends in a slash.
bool IsFolderSpec(absl::string_view spec);

// What an argument is given: values, or files that are read later.
using Input = std::variant<HostArray, std::shared_ptr<const SavedArray>>;

// Makes the array that `spec` describes for `port` over `steps` steps.
// InvalidArgument, naming `what` ("input") and the port: not a spec, an
// unreadable file, or one whose type is not the port's. ResourceExhausted,
// which names the bytes too: there is no memory for them.
absl::StatusOr<HostArray> MakeArray(absl::string_view what, const Port& port,
                                    int64_t steps, absl::string_view spec);

// The arrays of all arguments, in their order; folders are checked, and not
// read into memory. Besides errors of MakeArray: InvalidArgument for a name
// that is no argument, and for arguments that are missing, all of which it
// lists with their types.
absl::StatusOr<std::vector<Input>> MakeInputs(
    const std::vector<Port>& arguments, int64_t steps,
    const std::vector<NamedSpec>& specs);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_INPUT_SPEC_H_
