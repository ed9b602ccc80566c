//===- plan_file_fuzz.cc - Plans as bytes ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "runtime/plan/plan_file.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

constexpr size_t kHeaderBytes = 32, kEntryBytes = 32;

template <typename T>
T Load(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}
template <typename T>
void Store(T value, size_t at, std::string* bytes) {
  std::memcpy(bytes->data() + at, &value, sizeof(value));
}

uint32_t Crc(const std::string& bytes, size_t at, size_t count) {
  return static_cast<uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0),
              reinterpret_cast<const Bytef*>(bytes.data()) + at, count));
}

// With sizes and checksums that fit, so that the rest of it is looked at.
std::string Repaired(std::string bytes) {
  if (bytes.size() < kHeaderBytes) return bytes;
  bytes.replace(0, 8, "PWPLAN\r\n");
  Store<uint32_t>(kPlanFormatVersion, 8, &bytes);
  Store<uint64_t>(bytes.size(), 16, &bytes);
  const size_t sections = Load<uint32_t>(bytes, 12);
  if (sections > (bytes.size() - kHeaderBytes) / kEntryBytes) return bytes;
  for (size_t i = 0; i < sections; ++i) {
    const size_t entry = kHeaderBytes + i * kEntryBytes;
    const uint64_t at = Load<uint64_t>(bytes, entry + 8);
    const uint64_t count = Load<uint64_t>(bytes, entry + 16);
    if (at > bytes.size() || count > bytes.size() - at) continue;
    Store(Crc(bytes, at, count), entry + 4, &bytes);
  }
  Store(Crc(bytes, kHeaderBytes, sections * kEntryBytes), 24, &bytes);
  return bytes;
}

void Check(const std::string& bytes) {
  const absl::StatusOr<PlanData> plan = ParsePlan(bytes);
  if (!plan.ok()) {
    FUZZ_CHECK(absl::IsInvalidArgument(plan.status()));
    return;
  }
  FUZZ_CHECK(LooksLikePlan(bytes));
  FUZZ_CHECK(plan->blobs.size() <= bytes.size());
  FUZZ_CHECK(reinterpret_cast<uintptr_t>(plan->blobs.data()) % kBlobAlignment ==
             0);
  // Written again it is the same plan, with the same bytes each time.
  const std::string written = SerializePlan(plan->tables, plan->blobs);
  const absl::StatusOr<PlanData> again = ParsePlan(written);
  FUZZ_CHECK(again.ok() && again->blobs == plan->blobs);
  FUZZ_CHECK(SerializePlan(again->tables, again->blobs) == written);
}

}  // namespace

const fuzz::Budget fuzz::kBudget = {256 << 10, 400};

}  // namespace pathways

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  fuzz::Input input(data, size);
  const std::string bytes = input.TakeRest();
  Check(bytes);
  Check(Repaired(bytes));
  return 0;
}
