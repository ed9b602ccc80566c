//===- array_writer.cc - Writer of one saved array ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/array_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/crc32.h"
#include "runtime/checkpoint/npy.h"

namespace pathways {

absl::StatusOr<ArrayWriter> ArrayWriter::Create(
    SaveFolder* folder, const std::string& name, ElementType element,
    layout::Layout layout, layout::Mesh mesh,
    layout::Contributions contributions) {
  absl::Status savable = CheckSavable(element, layout, mesh);
  if (!savable.ok()) return savable;
  std::string prefix;
  if (!name.empty()) {
    absl::Status added = folder->AddFolder(name);
    if (!added.ok()) return added;
    prefix = absl::StrCat(name, "/");
  }
  return ArrayWriter(folder, std::move(prefix),
                     {element,
                      std::move(layout),
                      std::move(mesh),
                      std::move(contributions),
                      {}});
}

absl::Status ArrayWriter::Write(const char* data) {
  const auto number = static_cast<int64_t>(index_.blocks.size());
  const layout::Box box = grid_.box(number);
  const std::string header = SerializeNpyHeader(index_.element, box.extent);
  const absl::string_view values(
      data, box.numElements() * elementBytes(index_.element));
  ArrayIndex::Block block;
  block.file = absl::StrCat("block-", number, ".npy");
  block.bytes = header.size() + values.size();
  block.crc = Crc32(Crc32(0, header), values);
  absl::Status added = folder_->AddFile(prefix_ + block.file, {header, values});
  if (added.ok()) index_.blocks.push_back(std::move(block));
  return added;
}

absl::Status ArrayWriter::Finish() {
  return folder_->AddFile(prefix_ + kIndexFile, {PrintArrayIndex(index_)});
}

}  // namespace pathways
