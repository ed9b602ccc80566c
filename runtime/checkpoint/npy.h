//===- npy.h - Arrays in NumPy's file format --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes .npy files, versions 1 to 3, of the element types that
// arrays of a program can have. There is no packaged C++ library for the format
// that bounds what it allocates and refuses what it does not understand, so
// this small one does: every count is checked against the bytes at hand before
// it is used, and a file with bytes to spare is refused like one that is short.
//
// bf16, which NumPy does not have, is two opaque bytes ('V2'), as the ml_dtypes
// package writes it. Errors do not name the file; callers do.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_NPY_H_
#define RUNTIME_CHECKPOINT_NPY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/host_array.h"

namespace pathways {

// Longest header that is accepted, in bytes; NumPy's own limit is 10,000.
inline constexpr size_t kMaxNpyHeaderBytes = 65536;
inline constexpr size_t kMaxNpyPrefixBytes = kMaxNpyHeaderBytes + 12;
inline constexpr size_t kMaxNpyRank = 64;

// Parses a whole file. InvalidArgument: not a .npy file, or one of another
// version, byte order or element type, or its size does not fit its header.
// Fortran order is turned into row-major order. ResourceExhausted: no memory.
absl::StatusOr<HostArray> ParseNpy(absl::string_view bytes);

// What comes before the data of a file.
struct NpyHeader {
  ElementType element = ElementType::kInvalid;
  std::vector<int64_t> shape;
  bool fortran_order = false;
  size_t bytes = 0;  // up to the data
};
// Reads it from how a file begins; kMaxNpyPrefixBytes are always enough. Errors
// as of ParseNpy, but for what depends on the data.
absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view bytes);

// Version 1.0, little endian, row-major; the data starts at a multiple of 64.
// `array` must be well formed (data of the size its shape says).
std::string SerializeNpy(const HostArray& array);
// The same up to the data.
std::string SerializeNpyHeader(ElementType element,
                               const std::vector<int64_t>& shape);

// The first of `data`'s booleans that is neither 0 nor 1; -1: there is none.
int64_t FindNoBoolean(absl::string_view data);

// Number of elements of `shape`, or -1 when an extent is negative or `element`s
// of that number do not fit in the 63 bits of a size in bytes.
int64_t CheckedElements(ElementType element, const std::vector<int64_t>& shape);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_NPY_H_
