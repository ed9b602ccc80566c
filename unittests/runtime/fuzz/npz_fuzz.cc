//===- npz_fuzz.cc - Archives of arrays -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>

#include "runtime/checkpoint/npz.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

void CheckRefused(const absl::Status& status) {
  FUZZ_CHECK(absl::IsInvalidArgument(status));
  FUZZ_CHECK(!status.message().empty());
}

// Returns an archive of all arrays, or "" if one of them is damaged.
std::string WriteAgain(const NpzReader& reader) {
  std::string bytes;
  NpzWriter writer([&bytes](absl::string_view part) {
    bytes.append(part.data(), part.size());
    return absl::OkStatus();
  });
  for (size_t i = 0; i < reader.keys().size(); ++i) {
    const absl::StatusOr<NpyHeader> header = reader.ReadHeader(i);
    const absl::StatusOr<HostArray> array = reader.Read(i);
    if (!array.ok()) {
      CheckRefused(array.status());
      return "";
    }
    FUZZ_CHECK(header.ok() && header->shape == array->shape);
    FUZZ_CHECK(writer.Add(reader.keys()[i], *array).ok());
  }
  FUZZ_CHECK(writer.Finish().ok());
  return bytes;
}

}  // namespace

// Deflated bytes become up to 1032 times as many, in a file and in an array.
const fuzz::Budget fuzz::kBudget = {1 << 20, 2560};

}  // namespace pathways

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  fuzz::Input input(data, size);
  const std::string bytes = input.TakeRest();
  const absl::StatusOr<NpzReader> reader = NpzReader::Open(bytes);
  if (!reader.ok()) {
    CheckRefused(reader.status());
    return 0;
  }
  // The arrays that are read are the arrays that are written.
  const std::string written = WriteAgain(*reader);
  if (written.empty()) return 0;
  const absl::StatusOr<NpzReader> again = NpzReader::Open(written);
  FUZZ_CHECK(again.ok() && again->keys() == reader->keys());
  FUZZ_CHECK(WriteAgain(*again) == written);
  return 0;
}
