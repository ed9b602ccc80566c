//===- save_array.cc - Writing of an array to files -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/save_array.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/memory.h"
#include "runtime/checkpoint/array_writer.h"
#include "runtime/layout/block_runs.h"

namespace pathways {
namespace {

// Division of an array into the blocks to save.
struct Cut {
  layout::Layout layout;
  layout::Mesh mesh;
  layout::Contributions contributions;
};

// Makes the contributions the first dimension of the saved layout, cut over
// `axes`. The saved layout is not partial itself.
void PutContributionsFirst(std::vector<std::string> axes, Cut* cut) {
  if (cut->contributions.count() == 1) return;
  cut->layout.shape.insert(cut->layout.shape.begin(),
                           cut->contributions.count());
  cut->layout.dims.insert(cut->layout.dims.begin(), std::move(axes));
}

// Returns a cut into one block.
Cut WholeOf(const std::vector<int64_t>& shape,
            const layout::Contributions& contributions) {
  Cut cut;
  cut.layout.shape = shape;
  cut.layout.dims.resize(shape.size());
  cut.contributions = contributions;
  PutContributionsFirst({}, &cut);
  return cut;
}

// Cuts the array as its shards do, each contribution by itself. Steps stay
// together.
Cut CutOf(const ArrayPlacement& placement, const std::vector<int64_t>& shape) {
  Cut cut{placement.layout, placement.mesh,
          layout::ContributionsOf(placement.layout, placement.mesh)};
  cut.layout.partial.clear();
  cut.layout.reduction = layout::Reduction::kNone;
  cut.layout.shape = shape;
  if (placement.stepped) cut.layout.dims.emplace(cut.layout.dims.begin());
  PutContributionsFirst(placement.layout.partial, &cut);
  return cut;
}

// Returns for each block of `grid` the hosts that have it, each with its part
// of the block. A block is taken from one part only.
std::vector<std::vector<ArrayPlacement::Host>> HoldersOf(
    const ArrayPlacement& placement, const BlockGrid& grid) {
  std::vector<std::vector<ArrayPlacement::Host>> holders(grid.size());
  const bool is_partial =
      layout::NumContributions(placement.layout, placement.mesh) > 1;
  std::set<int64_t> seen;  // blocks
  for (const ArrayPlacement::Host& host : placement.hosts) {
    for (const Part& part : host.parts.parts) {
      std::vector<int64_t> begin =
          layout::ShardBox(placement.layout, placement.mesh, part.shard).begin;
      if (placement.stepped) begin.insert(begin.begin(), 0);
      if (is_partial) begin.insert(begin.begin(), part.contribution);
      const int64_t block = grid.Find(begin);
      if (!seen.insert(block).second) continue;
      std::vector<ArrayPlacement::Host>& of_block = holders[block];
      if (of_block.empty() || of_block.back().host != host.host) {
        of_block.push_back({host.host, {}});
        of_block.back().parts.step_bytes = host.parts.step_bytes;
      }
      of_block.back().parts.parts.push_back(part);
      of_block.back().parts.parts.back().contribution = 0;
    }
  }
  return holders;
}

// Bounds the ranges of one read, so that those of narrow blocks take no more
// memory than the values.
constexpr size_t kRangesAtATime = 4096;

// Copies an array from files to files, with one block in memory.
absl::Status CopyBlocks(const SavedArray& from, ArrayWriter* to) {
  for (int64_t block = 0; block < to->grid().size(); ++block) {
    const layout::BlockRuns runs(from.layout().shape, to->grid().box(block),
                                 elementBytes(from.element()));
    ArrayBytes values;
    if (!HasMemoryFor([&] { values.resize(runs.bytes()); })) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "a block of '", from.folder(), "': ", NoMemoryText(runs.bytes())));
    }
    std::vector<SavedArray::Range> ranges;
    for (uint64_t at = 0; at < runs.bytes();) {
      const layout::BlockRuns::Run run = runs.At(at);
      ranges.push_back({run.offset, run.bytes, values.data() + at});
      at += run.bytes;
      if (ranges.size() < kRangesAtATime && at < runs.bytes()) continue;
      absl::Status read = from.Read(ranges);
      if (!read.ok()) return read;
      ranges.clear();
    }
    absl::Status written = to->Write(values.data());
    if (!written.ok()) return written;
  }
  return absl::OkStatus();
}

// Writes all blocks of an array that hosts hold.
absl::Status WriteBlocks(const PlacedObject& placed, const std::string& what,
                         ElementType element, ArrayReader* reader,
                         ArrayWriter* writer) {
  const ArrayPlacement& all = *placed.placement;
  // Placement of one block, as an array that is not partial: its contribution
  // is complete by itself.
  ArrayPlacement one = all;
  one.layout.partial.clear();
  one.layout.reduction = layout::Reduction::kNone;
  const bool is_partial = layout::NumContributions(all.layout, all.mesh) > 1;
  std::vector<std::vector<ArrayPlacement::Host>> holders =
      HoldersOf(all, writer->grid());
  for (int64_t block = 0; block < writer->grid().size(); ++block) {
    one.hosts = std::move(holders[block]);
    layout::Box box = writer->grid().box(block);
    if (is_partial) {
      box.begin.erase(box.begin.begin());
      box.extent.erase(box.extent.begin());
    }
    const ArrayType type{element, box.extent};
    if (all.stepped) {
      box.begin.erase(box.begin.begin());
      box.extent.erase(box.extent.begin());
    }
    absl::StatusOr<HostArray> values =
        reader->GetBlock(placed.object, one, box, type, what);
    if (!values.ok()) return values.status();
    absl::Status written = writer->Write(values->data.data());
    if (!written.ok()) return written;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SaveArray(const ArrayLocation& array, const std::string& what,
                       ArrayReader* reader, SaveFolder* folder,
                       const std::string& name) {
  const auto& [type, dense, placed] = array;
  const std::shared_ptr<const SavedArray> source =
      dense == nullptr ? nullptr : dense->saved();
  const bool is_placed = dense == nullptr && placed.object != 0;
  Cut cut = source != nullptr
                ? Cut{source->layout(), source->mesh(), source->contributions()}
            : is_placed        ? CutOf(*placed.placement, type->shape)
            : dense == nullptr ? WholeOf(type->shape, {})
                               : WholeOf(type->shape, dense->contributions());
  absl::StatusOr<ArrayWriter> writer =
      ArrayWriter::Create(folder, name, type->element, std::move(cut.layout),
                          std::move(cut.mesh), std::move(cut.contributions));
  if (!writer.ok()) return writer.status();
  absl::Status written;
  if (is_placed) {
    written = WriteBlocks(placed, what, type->element, reader, &*writer);
  } else if (source != nullptr) {
    written = CopyBlocks(*source, &*writer);
  } else if (writer->grid().size() > 0) {
    written = writer->Write(dense->data().data());
  }
  return written.ok() ? writer->Finish() : written;
}

}  // namespace pathways
