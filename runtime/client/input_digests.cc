//===- input_digests.cc - Checksums of a run's inputs ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/input_digests.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/error_codes.h"
#include "runtime/checkpoint/crc32.h"

namespace pathways {
namespace {

// Bytes read from files at a time; a multiple of all element sizes.
constexpr uint64_t kChunkBytes = 1 << 20;

// Adds bytes [begin, end) of a value to `*crc`.
absl::Status AddBytes(const ArrayValue& value, uint64_t begin, uint64_t end,
                      uint32_t* crc) {
  if (value.saved() == nullptr) {
    *crc = Crc32(*crc, value.data().substr(begin, end - begin));
    return absl::OkStatus();
  }
  std::string chunk;
  for (uint64_t at = begin; at < end; at += chunk.size()) {
    chunk.resize(std::min(kChunkBytes, end - at));
    absl::Status read = value.saved()->Read({{at, chunk.size(), chunk.data()}});
    if (!read.ok()) return read;
    *crc = Crc32(*crc, chunk);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InputDigests::Add(const std::string& name, SharedValue value,
                               bool stepped) {
  Input input;
  input.said.name = name;
  input.said.steps = stepped ? value->type().shape[0] : 0;
  const uint64_t bytes =
      value->bytes() * static_cast<uint64_t>(value->contributions().count());
  absl::Status added = AddBytes(*value, 0, bytes, &input.said.crc);
  if (!added.ok()) return added;
  if (stepped) input.value = std::move(value);
  inputs_.push_back(std::move(input));
  return absl::OkStatus();
}

absl::Status InputDigests::Advance(Input* input, int64_t steps) {
  if (input->value == nullptr) return absl::OkStatus();
  if (input->before > steps) {  // the run resumed from an earlier step
    input->before = 0;
    input->said.crc_before = 0;
  }
  const uint64_t of_step =
      input->value->bytes() /
      static_cast<uint64_t>(std::max<int64_t>(1, input->said.steps));
  absl::Status added =
      AddBytes(*input->value, of_step * static_cast<uint64_t>(input->before),
               of_step * static_cast<uint64_t>(steps), &input->said.crc_before);
  if (added.ok()) input->before = steps;
  return added;
}

absl::StatusOr<std::vector<CheckpointInput>> InputDigests::After(
    int64_t steps) {
  std::vector<CheckpointInput> said;
  for (Input& input : inputs_) {
    absl::Status advanced = Advance(&input, steps);
    if (!advanced.ok()) return advanced;
    said.push_back(input.said);
  }
  return said;
}

absl::Status InputDigests::Check(const std::string& path,
                                 const CheckpointFacts& facts) {
  for (const CheckpointInput& then : facts.inputs) {
    const auto now = std::find_if(
        inputs_.begin(), inputs_.end(),
        [&](const Input& input) { return input.said.name == then.name; });
    if (now == inputs_.end()) continue;
    // If the number of steps differs, only the part that both runs have read
    // can be compared.
    const bool whole = now->said.steps == then.steps;
    if (!whole) {
      absl::Status advanced = Advance(&*now, facts.steps);
      if (!advanced.ok()) return advanced;
    }
    const uint32_t is = whole ? now->said.crc : now->said.crc_before;
    const uint32_t was = whole ? then.crc : then.crc_before;
    if (is == was) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "input '", then.name, "' differs from that of the run that saved '",
        path, "': the CRC-32 of ",
        whole ? "its values"
              : absl::StrCat("its first ", facts.steps, " steps"),
        absl::StrFormat(" is 0x%08x, expected 0x%08x", is, was),
        Tag(ErrorId::kCheckpointOfAnotherRun)));
  }
  return absl::OkStatus();
}

}  // namespace pathways
