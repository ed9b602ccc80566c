//===- ScheduleExplorer.cpp - Plans for each schedule ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleExplorer.h"

#include "PlanState.h"
#include "SimulatedStep.h"
#include "absl/time/time.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "pathways/Support/SourcePlace.h"
#include "pathways/Target/PlanFile.h"
#include "pathways/Transforms/LoopSchedules.h"
#include "runtime/base/error_codes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <memory>
#include <optional>

using namespace pathways;
using mlir::pathways::ForOp;

mlir::FailureOr<ForOp> pathways::findAutoLoop(mlir::ModuleOp module) {
  llvm::SmallVector<ForOp> loops;
  module.walk([&](ForOp loop) {
    if (loop.getSchedule() == mlir::pathways::kAutoSchedule)
      loops.push_back(loop);
  });
  if (loops.size() <= 1)
    return loops.empty() ? ForOp() : loops.front();
  mlir::InFlightDiagnostic error =
      loops[1].emitOpError()
      << "has schedule 'auto', and another loop has it, too; give one of them "
         "a schedule by name";
  error.attachNote(loops[0].getLoc()) << "the other loop is here";
  return error;
}

namespace {
/// Records whether passes run that depend on more than the schedule.
class ScheduleWatch : public mlir::PassInstrumentation {
public:
  explicit ScheduleWatch(bool &isScheduled) : isScheduled(isScheduled) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *) override {
    llvm::StringRef name = pass->getArgument();
    isScheduled |= !name.empty() && name != "pw-split-backward" &&
                   name != "pw-recompute" && name != "pw-unroll-loops";
  }

private:
  bool &isScheduled;
};
} // namespace

mlir::LogicalResult ScheduleExplorer::compile(Candidate &candidate) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  mlir::FailureOr<ForOp> loop = findAutoLoop(*copy);
  loop->setSchedule(candidate.costs.schedule);
  std::string reason;
  mlir::Location place = module.getLoc();
  std::optional<mlir::ScopedDiagnosticHandler> handler;
  handler.emplace(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (reason.empty() &&
        diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      reason = diagnostic.str();
      place = diagnostic.getLocation();
    }
    return mlir::success(); // remarks come with the chosen schedule
  });
  bool isScheduled = false;
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false); // the simulation checks the plan
  passes.addInstrumentation(std::make_unique<ScheduleWatch>(isScheduled));
  mlir::pathways::CompileReports reports;
  reports.labelCosts = &candidate.labels;
  reports.known = &kernels;
  mlir::pathways::buildPlanPipeline(passes, options, reports);
  mlir::FailureOr<mlir::pathways::PlanBlob> exported = mlir::failure();
  if (mlir::succeeded(passes.run(*copy))) {
    auto plan = mlir::pathways::getSingleProgram(*copy);
    if (mlir::succeeded(plan))
      exported = mlir::pathways::exportPlan(*plan);
  }
  handler.reset();
  if (mlir::failed(exported) && (isScheduled || reason.empty()))
    return mlir::emitError(place)
           << (reason.empty() ? "schedule '" + candidate.costs.schedule +
                                    "' cannot be compiled"
                              : reason);
  if (mlir::failed(exported)) {
    llvm::StringRef text = reason;
    text.consume_front("'pw.for' op ");
    candidate.costs.misfit = text.str();
    return mlir::success();
  }
  candidate.costs.estimated = candidate.labels.estimated;
  const auto *blobs = reinterpret_cast<const uint8_t *>(exported->blobs.data());
  candidate.plan = makePlan(MakePlanData(std::move(exported->tables),
                                         {blobs, exported->blobs.size()}));
  return mlir::success();
}

/// Simulates each plan while the next one is made.
Result<std::vector<ScheduleCosts>>
ScheduleExplorer::run(const std::vector<std::string> &schedules) {
  std::vector<Candidate> candidates;
  for (const std::string &schedule : schedules)
    candidates.push_back({{.schedule = schedule}, {}, {}, {}});
  {
    llvm::ThreadPoolTaskGroup simulations(pool); // waits at its end
    for (Candidate &candidate : candidates) {
      if (mlir::failed(compile(candidate)))
        return Error{ErrorCode::kInvalidProgram, ""};
      if (candidate.costs.fits())
        pool.async(simulations, [this, &candidate] {
          candidate.simulated =
              simulateStep(candidate.plan, topology, candidate.costs);
        });
    }
  }
  if (mlir::failed(checkLabels(candidates)))
    return Error{ErrorCode::kInvalidProgram, ""};
  std::vector<ScheduleCosts> costs;
  for (Candidate &candidate : candidates) {
    if (!candidate.simulated)
      return Error{candidate.simulated.error().code,
                   "schedule '" + candidate.costs.schedule +
                       "': " + candidate.simulated.error().message};
    costs.push_back(std::move(candidate.costs));
  }
  return costs;
}

mlir::LogicalResult
ScheduleExplorer::checkLabels(const std::vector<Candidate> &candidates) {
  const Candidate *first = nullptr;
  for (const Candidate &candidate : candidates)
    if (!first && candidate.costs.fits())
      first = &candidate;
  if (!first)
    return mlir::success();
  for (const std::string &text : first->labels.unused)
    if (llvm::all_of(candidates, [&](const Candidate &candidate) {
          return !candidate.costs.fits() ||
                 llvm::is_contained(candidate.labels.unused, text);
        }))
      return module.emitError("cost '")
             << text << "' fits the label of no call with any schedule";
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

static std::string printTime(int64_t ns) {
  return absl::FormatDuration(absl::Nanoseconds(ns));
}

/// Returns, of the largest device, "N bytes" with the name of the device.
static std::string printPeak(const ScheduleCosts &costs) {
  const ScheduleDevice *device = costs.largest();
  return device ? std::to_string(device->peak_bytes) + " bytes on " +
                      device->device
                : "0 bytes";
}

/// Returns the error of a program none of whose schedules fits in memory: the
/// one that exceeds a device's memory by the fewest bytes comes nearest.
static Error makeOverfullError(ForOp loop,
                               const std::vector<ScheduleCosts> &costs) {
  const ScheduleCosts *least = nullptr;
  const ScheduleDevice *where = nullptr;
  auto getExcess = [](const ScheduleDevice &device) {
    return device.peak_bytes - device.memory_bytes;
  };
  for (const ScheduleCosts &row : costs) {
    const ScheduleDevice *worst = nullptr;
    for (const ScheduleDevice &device : row.devices)
      if (device.peak_bytes > device.memory_bytes &&
          (!worst || getExcess(device) > getExcess(*worst)))
        worst = &device;
    if (row.fits() && worst &&
        (!least || getExcess(*worst) < getExcess(*where))) {
      least = &row;
      where = worst;
    }
  }
  std::string place = mlir::pathways::getSourcePlace(loop.getLoc());
  return Error{
      ErrorCode::kRefused,
      (place.empty() ? "" : place + ": error: ") +
          "schedule 'auto': no schedule fits in the memory of the "
          "devices: the least need has '" +
          least->schedule + "' with " + std::to_string(where->peak_bytes) +
          " bytes on " + where->device + ", which has " +
          std::to_string(where->memory_bytes) + Tag(ErrorId::kNoDeviceMemory)};
}

/// Says what `best` costs, what comes after it, and what would be faster.
static void report(ForOp loop, const std::vector<ScheduleCosts> &costs,
                   const ScheduleCosts &best, const ScheduleCosts *second) {
  mlir::InFlightDiagnostic remark =
      loop.emitRemark() << "schedule 'auto' is '" << best.schedule
                        << "': a step takes " << printTime(best.step_ns)
                        << " and at most " << printPeak(best);
  if (second)
    remark << "; the second is '" << second->schedule << "' with "
           << printTime(second->step_ns) << " and " << printPeak(*second);
  else
    remark << "; no other schedule fits";
  for (const ScheduleCosts &row : costs)
    if (const ScheduleDevice *device = row.fits() ? row.overfull() : nullptr;
        device && row.step_ns < best.step_ns)
      remark << "; '" << row.schedule << "' would take "
             << printTime(row.step_ns) << ", but " << device->peak_bytes
             << " bytes on " << device->device << ", which has "
             << device->memory_bytes;
  if (!best.estimated.empty())
    remark << "; times of calls with label '" << best.estimated.front() << "'"
           << (best.estimated.size() == 1
                   ? std::string()
                   : " and " + std::to_string(best.estimated.size() - 1) +
                         " other labels")
           << " are estimated";
}

Result<std::string>
pathways::chooseSchedule(ForOp loop, const std::vector<ScheduleCosts> &costs) {
  const ScheduleCosts *best = nullptr, *second = nullptr;
  for (const ScheduleCosts &row : costs) {
    if (!row.fits() || row.overfull())
      continue;
    if (!best || row.step_ns < best->step_ns) {
      second = best;
      best = &row;
    } else if (!second || row.step_ns < second->step_ns) {
      second = &row;
    }
  }
  if (best) {
    report(loop, costs, *best, second);
    return best->schedule;
  }
  if (llvm::any_of(costs, [](const auto &row) { return row.fits(); }))
    return makeOverfullError(loop, costs);
  mlir::InFlightDiagnostic error =
      loop.emitOpError() << "has schedule 'auto', but no schedule fits";
  for (const ScheduleCosts &row : costs)
    error.attachNote() << row.schedule << ": " << row.misfit;
  error.report();
  return Error{ErrorCode::kInvalidProgram, ""};
}
