//===- plan_fetch_fuzz.cc - A plan that comes in any pieces ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/stubs/logging.h"
#include "runtime/plan/plan_fetch.h"
#include "runtime/plan/plan_source.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

constexpr int kMostSteps = 300;

enum Lie : uint8_t {
  kTablesSize = 1,
  kTotal = 2,
  kObjectSize = 4,
};

// One answer, changed as the input says.
proto::PlanPart Answer(const PlanSource& source,
                       const proto::PlanRequest& request, fuzz::Input* input) {
  proto::PlanPart part;
  part.set_hash(request.hash());
  part.set_code(!request.objects().empty());
  part.set_offset(request.offset());
  const std::vector<uint32_t> objects(request.objects().begin(),
                                      request.objects().end());
  auto piece = source.Read(objects, request.offset());
  if (!piece.ok()) {
    part.set_status(static_cast<int>(piece.status().code()));
    return part;
  }
  FUZZ_CHECK(piece->bytes.size() <= kMaxPlanPiece);
  FUZZ_CHECK(request.offset() + piece->bytes.size() <= piece->total);
  part.set_total(piece->total);
  std::string bytes = std::move(piece->bytes);
  const uint8_t how = input->Byte();
  if (how >= 64) bytes.resize(std::min<size_t>(bytes.size(), how - 63));
  switch (how < 64 ? how % 16 : 0) {
    case 1:
      bytes = input->Take(input->Byte());
      break;
    case 2:
      part.set_offset(input->Number(4));
      break;
    case 3:
      part.set_total(input->Number(8));
      break;
    case 4:
      part.set_code(!part.code());
      break;
    case 5:
      part.set_hash(input->Take(input->Byte() % 64));
      break;
    case 6:
      part.set_status(static_cast<int32_t>(input->Number(4)));
      break;
    case 7:
      if (!bytes.empty()) bytes[input->Number(2) % bytes.size()] ^= 1;
      break;
    case 8:
      bytes += input->Take(input->Byte());
      break;
    case 9:
      part.ParseFromString(input->Take(input->Byte()));
      return part;
    default:
      break;
  }
  part.set_bytes(std::move(bytes));
  return part;
}

// The plan that was requested, and the outcome that the fetch must have.
struct Plan {
  std::string head;
  PlanManifest manifest;
  std::vector<std::string> objects;
};

void Fetch(const Plan& plan, const PlanName& name, const PlanSource& source,
           fuzz::Input* input) {
  PlanFetch fetch(name);
  absl::StatusOr<PlanFetch::Step> step = PlanFetch::Step::kMore;
  const uint8_t which = input->Byte();
  for (int i = 0; i < kMostSteps && step.ok(); ++i) {
    if (*step == PlanFetch::Step::kDone) break;
    if (*step == PlanFetch::Step::kHead) {
      FUZZ_CHECK(fetch.manifest() == plan.manifest);
      std::vector<uint32_t> wanted;
      for (uint32_t object = 0; object < plan.objects.size(); ++object) {
        if ((which >> object % 8 & 1) != 0) wanted.push_back(object);
      }
      step = fetch.Want(std::move(wanted));
      continue;
    }
    proto::PlanRequest request;
    fetch.FillRequest(&request);
    step = fetch.Take(Answer(source, request, input));
    FUZZ_CHECK(fetch.received() <= name.bytes);
  }
  if (!step.ok() || *step != PlanFetch::Step::kDone) return;
  // Whatever was said on the way, it is that plan.
  FUZZ_CHECK(fetch.TakeHead() == plan.head);
  const std::vector<std::string> objects = fetch.TakeObjects();
  FUZZ_CHECK(objects.size() == plan.objects.size());
  for (uint32_t object : fetch.wanted()) {
    FUZZ_CHECK(objects[object] == plan.objects[object]);
  }
}

}  // namespace

const fuzz::Budget fuzz::kBudget = {256 << 10, 600};

}  // namespace pathways

// The input says which lies the plan tells about itself, its tables and its
// objects, which of those are wanted, and how each answer is changed.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  const google::protobuf::LogSilencer silence;
  fuzz::Input input(data, size);
  const uint8_t lies = input.Byte();
  const size_t tables_bytes = input.Number(2);
  const std::string tables = input.Take(tables_bytes);
  Plan plan;
  plan.objects.resize(input.Byte() % 8);
  plan.manifest.tables = {tables.size() + ((lies & kTablesSize) != 0),
                          HashOf(tables)};
  for (std::string& object : plan.objects) {
    object = input.Take(input.Byte());
    plan.manifest.objects.push_back(
        {object.size() + ((lies & kObjectSize) != 0), HashOf(object)});
  }
  const std::string manifest = plan.manifest.Write();
  plan.head = manifest + tables;
  PlanName name = {HashOf(manifest), *plan.manifest.TotalBytes()};
  if ((lies & kTotal) != 0) --name.bytes;
  const PlanSource source(plan.head, plan.manifest, plan.objects);
  Fetch(plan, name, source, &input);
  return 0;
}
