//===- Schedules.cpp - Orders of pipelines by name ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In all schedules the cells of one kind and stage come in the order of the
// micro-batches, so a carried value is the same with each of them.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include "pathways/Transforms/LoopSchedules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <deque>
#include <map>

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Appends cells to the row of one device. It numbers the micro-batches.
class RowWriter {
public:
  explicit RowWriter(std::vector<StageCell> &row) : row(row) {}

  /// Appends the next cell of `kind` of `stage`. 'B' and 'I' share a count.
  void add(char kind, int64_t stage) {
    int64_t batch = next[{kind == 'I' ? 'B' : kind, stage}]++;
    row.push_back({kind, stage, batch});
    if (kind == 'I')
      halves.emplace_back(stage, batch);
  }
  /// Appends the 'W' whose 'I' has waited longest. Returns false if none does.
  bool addHalf() {
    if (halves.empty())
      return false;
    row.push_back({'W', halves.front().first, halves.front().second});
    halves.pop_front();
    return true;
  }
  /// Appends the 'W' of `stage` whose 'I' has waited longest, likewise.
  bool addHalf(int64_t stage) {
    auto half = llvm::find_if(
        halves, [&](const auto &entry) { return entry.first == stage; });
    if (half == halves.end())
      return false;
    row.push_back({'W', stage, half->second});
    halves.erase(half);
    return true;
  }
  /// Returns the number of cells of `kind` of `stage` so far.
  int64_t count(char kind, int64_t stage) { return next[{kind, stage}]; }

private:
  std::vector<StageCell> &row;
  std::map<std::pair<char, int64_t>, int64_t> next;
  std::deque<std::pair<int64_t, int64_t>> halves; ///< stage and micro-batch
};

/// Calls `write` for the row of each device.
StageOrder writeRows(int64_t devices,
                     function_ref<void(int64_t device, RowWriter &)> write) {
  StageOrder order(devices);
  for (int64_t device = 0; device < devices; ++device) {
    RowWriter writer(order[device]);
    write(device, writer);
  }
  return order;
}

} // namespace

//===----------------------------------------------------------------------===//
// One stage on each device
//===----------------------------------------------------------------------===//

static StageOrder makeGPipe(PipelineShape shape) {
  return writeRows(shape.devices, [&](int64_t stage, RowWriter &row) {
    for (char kind : {'F', 'B'})
      for (int64_t i = 0; i < shape.batches; ++i)
        row.add(kind, stage);
  });
}

/// `factor` times as many forward calls as there are later stages come first,
/// then forward and backward calls in turns. If backward calls are in halves,
/// the second half of a micro-batch comes `factor` times `stage` micro-batches
/// after the first.
static StageOrder makeTurns(PipelineShape shape, int64_t factor,
                            char backward) {
  return writeRows(shape.devices, [&](int64_t stage, RowWriter &row) {
    int64_t warmUp =
        std::min(factor * (shape.devices - stage - 1), shape.batches);
    for (int64_t i = 0; i < warmUp; ++i)
      row.add('F', stage);
    for (int64_t i = 0; i < shape.batches; ++i) {
      if (warmUp + i < shape.batches)
        row.add('F', stage);
      row.add(backward, stage);
      if (i >= factor * stage)
        row.addHalf();
    }
    while (row.addHalf())
      continue;
  });
}

//===----------------------------------------------------------------------===//
// Several stages on each device
//===----------------------------------------------------------------------===//

/// Stage s is on device s modulo devices. Groups of as many micro-batches as
/// there are devices go through the stages of a device one after the other.
static StageOrder makeInterleaved(PipelineShape shape) {
  int64_t devices = shape.devices, chunks = shape.stages / devices;
  return writeRows(devices, [&](int64_t device, RowWriter &row) {
    auto getChunk = [&](int64_t k) { return k % shape.stages / devices; };
    int64_t calls = shape.batches * chunks;
    int64_t warmUp =
        std::min(2 * (devices - device - 1) + (chunks - 1) * devices, calls);
    auto forward = [&](int64_t k) {
      row.add('F', getChunk(k) * devices + device);
    };
    for (int64_t k = 0; k < warmUp; ++k)
      forward(k);
    for (int64_t k = 0; k < calls; ++k) {
      if (warmUp + k < calls)
        forward(warmUp + k);
      row.add('B', (chunks - 1 - getChunk(k)) * devices + device);
    }
  });
}

/// The stages go through the devices and back, and backward calls are in
/// halves.
static StageOrder makeZbv(PipelineShape shape) {
  int64_t devices = shape.devices;
  return writeRows(devices, [&](int64_t device, RowWriter &row) {
    int64_t first = device, second = 2 * devices - 1 - device;
    auto addAll = [&](int64_t times, ArrayRef<std::pair<char, int64_t>> cells) {
      for (int64_t i = 0; i < times; ++i)
        for (auto [kind, stage] : cells) {
          if (kind == 'W')
            row.addHalf(stage);
          else
            row.add(kind, stage);
        }
    };
    addAll(2 * (devices - device) - 1, {{'F', first}});
    addAll(device, {{'F', second}, {'F', first}});
    addAll(devices - device, {{'F', second}, {'I', second}, {'W', second}});
    while (row.count('F', second) < shape.batches) {
      if (row.count('F', first) < shape.batches)
        row.add('F', first);
      addAll(1, {{'I', first},
                 {'W', first},
                 {'F', second},
                 {'I', second},
                 {'W', second}});
    }
    addAll(device, {{'I', first}, {'I', second}});
    addAll(devices - device, {{'I', first}, {'W', first}});
    while (row.addHalf(second))
      continue;
    while (row.addHalf(first))
      continue;
  });
}

/// The stages go through the devices and back. In the middle each device runs
/// forward calls of one of its stages and backward calls of the other in turns.
static StageOrder makeDualPipeV(PipelineShape shape) {
  int64_t devices = shape.devices;
  return writeRows(devices, [&](int64_t device, RowWriter &row) {
    int64_t first = device, second = 2 * devices - 1 - device;
    auto addAll = [&](int64_t times, StringRef kinds,
                      ArrayRef<int64_t> stages) {
      for (int64_t i = 0; i < times; ++i)
        for (auto [kind, stage] : llvm::zip_equal(kinds, stages)) {
          if (kind == 'W')
            row.addHalf();
          else
            row.add(kind, stage);
        }
    };
    int64_t after = devices - device - 1;
    addAll(2 * after, "F", {first});
    addAll(device + 1, "FF", {first, second});
    addAll(after, "IWF", {second, second, second});
    addAll(shape.batches - 2 * devices + device + 1, "FBFB",
           {first, second, second, first});
    addAll(after, "BFB", {second, second, first});
    // From the middle on, backward calls are in halves: the first call is one
    // of the second stage on odd devices, of the first stage on even ones.
    int64_t middle = (device + 1) / 2;
    for (int64_t i = 0; i <= device; ++i) {
      bool isLate = i > middle || (i == middle && device % 2 == 1);
      row.add(isLate ? 'I' : 'B', second);
      row.add(i >= middle ? 'I' : 'B', first);
    }
    addAll(after, "WI", {first, first});
    while (row.addHalf())
      continue;
  });
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct Schedule {
  StringRef name;
  StageOrder (*make)(PipelineShape);
  /// Stages of each device; 0: any number.
  int64_t stages;
  /// Least number of micro-batches: `perDevice` * devices + `more`.
  int64_t perDevice = 0, more = 1;
  bool isMultiple = false; ///< micro-batches are a multiple of devices
  bool hasHalves = false;  ///< some backward calls are in halves
};

const Schedule kSchedules[] = {
    {"gpipe", makeGPipe, 1},
    {"1f1b", [](PipelineShape shape) { return makeTurns(shape, 1, 'B'); }, 1},
    {"eager-1f1b", [](PipelineShape shape) { return makeTurns(shape, 2, 'B'); },
     1},
    {"zb-h1", [](PipelineShape shape) { return makeTurns(shape, 1, 'I'); }, 1,
     0, 1, false, true},
    {"zb-h2", [](PipelineShape shape) { return makeTurns(shape, 2, 'I'); }, 1,
     0, 1, false, true},
    {"interleaved", makeInterleaved, 0, 0, 1, true},
    {"zbv", makeZbv, 2, 2, -1, false, true},
    {"dualpipe-v", makeDualPipeV, 2, 2, 0, false, true},
};
} // namespace

SmallVector<StringRef> mlir::pathways::getScheduleNames() {
  SmallVector<StringRef> names;
  for (const Schedule &entry : kSchedules)
    names.push_back(entry.name);
  return names;
}

std::string mlir::pathways::listSchedules() {
  return llvm::join(getScheduleNames(), ", ");
}

bool mlir::pathways::hasHalves(StringRef name) {
  return llvm::any_of(kSchedules, [&](const Schedule &entry) {
    return entry.name == name && entry.hasHalves;
  });
}

FailureOr<StageOrder>
mlir::pathways::makeSchedule(StringRef name, PipelineShape shape,
                             function_ref<InFlightDiagnostic()> emitError) {
  if (name == kAutoSchedule)
    return emitError() << "schedule 'auto' needs simulations, which pw-run and "
                          "the API run; here, expected "
                       << listSchedules();
  const auto *entry = llvm::find_if(
      kSchedules, [&](const Schedule &entry) { return entry.name == name; });
  if (entry == std::end(kSchedules))
    return emitError() << "there is no schedule '" << name << "', expected "
                       << listSchedules();
  if (entry->stages ? shape.stages != entry->stages * shape.devices
                    : shape.stages % shape.devices != 0)
    return emitError() << "schedule '" << name << "' is for "
                       << (entry->stages
                               ? std::to_string(entry->stages * shape.devices)
                               : "a multiple of " +
                                     std::to_string(shape.devices))
                       << " stages on " << shape.devices << " slices, got "
                       << shape.stages;
  int64_t least = entry->perDevice * shape.devices + entry->more;
  if (shape.batches < least)
    return emitError() << "schedule '" << name << "' on " << shape.devices
                       << " slices needs at least " << least
                       << " iterations, got " << shape.batches;
  if (entry->isMultiple && shape.batches % shape.devices != 0)
    return emitError() << "schedule '" << name << "' needs a multiple of "
                       << shape.devices << " iterations, one for each slice, "
                       << "got " << shape.batches;
  return entry->make(shape);
}
