//===- program_reducer.h - Reduction of failing programs --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reduces a failing program while it fails, as delta debugging does (Zeller and
// Hildebrandt, 2002).
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_API_PROGRAM_REDUCER_H
#define UNITTESTS_LIB_API_PROGRAM_REDUCER_H

#include <functional>
#include <string>

namespace reducer {

/// Returns true if a valid program, as text, fails in the expected way.
using Fails = std::function<bool(const std::string &text)>;

/// Returns the smallest failing program that it finds by reducing `text`, which
/// fails. `text` has one slice, one function in global view, and one program
/// that calls the function once and returns its results. The reduction removes
/// operations whose results other values or new arguments of the same type can
/// replace; results and arguments; axes and open dimensions of arrays; axes of
/// the slice, or devices along them. The remaining arguments keep their names
/// and types. Calls `fails` at most `maxTries` times. Returns other texts
/// unchanged.
std::string reduceProgram(const std::string &text, const Fails &fails,
                          int maxTries);

} // namespace reducer

#endif // UNITTESTS_LIB_API_PROGRAM_REDUCER_H
