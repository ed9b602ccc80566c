//===- program_reducer.h - The smallest program that fails ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a program that fails smaller while it fails, as delta debugging does
// (Zeller and Hildebrandt, 2002).
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_API_PROGRAM_REDUCER_H
#define UNITTESTS_LIB_API_PROGRAM_REDUCER_H

#include <functional>
#include <string>

namespace reducer {

/// Whether a program, as text, fails in the way that is looked for. It is
/// valid.
using Fails = std::function<bool(const std::string &text)>;

/// The smallest program that was found to fail, made of `text`: one slice, one
/// function in global view, one program that calls it once and returns what
/// that gives. `text` fails. Without: operations that other values of their
/// results' types can stand for, also new arguments; results, arguments; axes
/// and open dimensions of arrays; axes of the slice, or devices of them. Other
/// arguments keep their names and types. `fails` is called `maxTries` times at
/// the most. What is not such a program is returned as it is.
std::string reduceProgram(const std::string &text, const Fails &fails,
                          int maxTries);

} // namespace reducer

#endif // UNITTESTS_LIB_API_PROGRAM_REDUCER_H
