//===- mutants.h - Random changes to the text of programs -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_API_MUTANTS_H
#define UNITTESTS_LIB_API_MUTANTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace mutants {

struct Corpus {
  std::vector<std::string> programs, functions;
  std::vector<std::string> wrong; ///< programs of files named "invalid"
};

/// Returns the programs in the *.mlir files below the folders `programs`
/// (separated by ':'), split at `// -----`, and the functions in raw strings of
/// the *.cc files below `sources`. Comments are removed, and the order depends
/// on the names alone.
Corpus readCorpus(const std::string &programs, const std::string &sources);

/// Returns a program that calls `function` on one device. `function` is a
/// public one whose arguments and results are tensors.
std::string callInProgram(std::string function);

/// Returns a program, or one that calls a function of the corpus or a random
/// one, with one to four changes: removed, repeated, swapped or replaced tokens
/// and lines; replaced numbers, types and operations; truncated text. The
/// result depends on `corpus` and `seed` alone.
std::string mutate(const Corpus &corpus, uint64_t seed);

/// Returns a program with such changes.
std::string mutateProgram(const Corpus &corpus, uint64_t seed);

} // namespace mutants

#endif // UNITTESTS_LIB_API_MUTANTS_H
