//===- plan_manifest_fuzz.cc - Manifests of plans -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>

#include "runtime/plan/plan_manifest.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {

const fuzz::Budget fuzz::kBudget = {4 << 10, 6};

}  // namespace pathways

// A manifest that is read and written again is the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  fuzz::Input input(data, size);
  const std::string bytes = input.TakeRest();
  const auto manifest = PlanManifest::Read(bytes);
  std::optional<uint64_t> announced;
  if (bytes.size() >= PlanManifest::kHeaderBytes) {
    const std::string start = bytes.substr(0, PlanManifest::kHeaderBytes);
    announced = PlanManifest::SizeOf(start, bytes.size());
    FUZZ_CHECK(!announced.has_value() || *announced <= bytes.size());
    FUZZ_CHECK(!PlanManifest::SizeOf(start, 63).has_value());
  }
  if (!manifest.has_value()) return 0;
  FUZZ_CHECK(announced == bytes.size());
  FUZZ_CHECK(manifest->Write() == bytes);
  const auto total = manifest->TotalBytes();
  if (total.has_value()) {
    uint64_t sum = bytes.size() + manifest->tables.bytes;
    for (const PlanManifest::Part& part : manifest->objects) sum += part.bytes;
    FUZZ_CHECK(*total == sum && sum <= uint64_t{1} << 62);
  }
  return 0;
}
