//===- npy.h - Arrays in NumPy's file format --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes .npy files, versions 1 to 3, of the element types that
// arrays of a program can have. No packaged C++ library for the format bounds
// what it allocates and rejects what it does not understand, hence this small
// one: every count is checked against the available bytes before use, and a
// file with excess bytes is rejected like a short one.
//
// bf16, which NumPy does not have, is two opaque bytes ('V2'), as the ml_dtypes
// package writes it. Errors do not name the file; callers do.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_NPY_H_
#define RUNTIME_CHECKPOINT_NPY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pathways/HostArray.h"

namespace pathways {

// Longest accepted header in bytes; NumPy's own limit is 10,000.
inline constexpr size_t kMaxNpyHeaderBytes = 65536;
inline constexpr size_t kMaxNpyPrefixBytes = kMaxNpyHeaderBytes + 12;
inline constexpr size_t kMaxNpyRank = 64;

// Parses a whole file and converts Fortran order to row-major order. Returns
// InvalidArgument if the bytes are no .npy file, have an unsupported version,
// byte order or element type, or do not have the size that the header says.
// Returns ResourceExhausted if there is no memory.
absl::StatusOr<HostArray> ParseNpy(absl::string_view bytes);

// Header of a file.
struct NpyHeader {
  ElementType element = ElementType::kInvalid;
  std::vector<int64_t> shape;
  bool fortran_order = false;
  size_t bytes = 0;  // offset of the data
};
// Parses the header from the first bytes of a file; kMaxNpyPrefixBytes always
// suffice. Errors as for ParseNpy, except those about the data.
absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view bytes);

// Returns a file of version 1.0: little endian, row-major, with the data at a
// multiple of 64. `array` must be well formed (data of the size its shape
// says).
std::string SerializeNpy(const HostArray& array);
// Returns the part of such a file before the data.
std::string SerializeNpyHeader(ElementType element,
                               const std::vector<int64_t>& shape);

// Returns the index of the first boolean in `data` that is neither 0 nor 1, or
// -1 if there is none.
int64_t FindNoBoolean(absl::string_view data);

// Returns the number of elements of `shape`, or -1 if an extent is negative or
// the size in bytes does not fit in 63 bits.
int64_t CheckedElements(ElementType element, const std::vector<int64_t>& shape);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_NPY_H_
