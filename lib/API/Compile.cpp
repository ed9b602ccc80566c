//===- Compile.cpp - Text to plans ----------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Compile.h"

#include "PlanState.h"
#include "ScheduleExplorer.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "pathways/Codegen/CodeCache.h"
#include "pathways/Import/DonatedArguments.h"
#include "pathways/Import/ExplainImport.h"
#include "pathways/Import/Passes.h"
#include "pathways/Lowering/Passes.h"
#include "pathways/Support/CrashRecovery.h"
#include "pathways/Support/Parse.h"
#include "pathways/Support/SourcePlace.h"
#include "pathways/Support/TaskPool.h"
#include "pathways/Target/PlanFile.h"
#include "pathways/Transforms/LoopSchedules.h"
#include "runtime/base/error_codes.h"
#include "runtime/plan/profile.h"
#include "runtime/plan/verify.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace pathways;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

namespace {
/// Collects diagnostics as lines "file:line:column: severity: text", with notes
/// after the diagnostics that they belong to. A diagnostic whose location is
/// only a name, as front ends write them, has the file of the program alone.
/// MLIR forwards those of its threads in a fixed order.
class DiagnosticLines : public mlir::ScopedDiagnosticHandler {
public:
  /// `fileName` is empty if there is no file.
  DiagnosticLines(mlir::MLIRContext *context, std::string fileName)
      : ScopedDiagnosticHandler(context), fileName(std::move(fileName)) {
    setHandler([this](mlir::Diagnostic &diagnostic) {
      bool isError =
          diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
      std::string text = line(diagnostic);
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        text += "\n" + line(note);
      if (!isError)
        remarks.push_back(text);
      else
        errors += (errors.empty() ? "" : "\n") + text;
      return mlir::success();
    });
  }

  Error takeError(const std::string &otherwise) {
    return Error{ErrorCode::kInvalidProgram,
                 errors.empty() ? otherwise : std::move(errors)};
  }

  std::vector<std::string> remarks;

private:
  std::string line(mlir::Diagnostic &diagnostic) const {
    std::string text;
    llvm::raw_string_ostream os(text);
    std::string place =
        mlir::pathways::getSourcePlace(diagnostic.getLocation());
    if (place.empty())
      place = fileName;
    if (!place.empty())
      os << place << ": ";
    switch (diagnostic.getSeverity()) {
    case mlir::DiagnosticSeverity::Error:
      os << "error: ";
      break;
    case mlir::DiagnosticSeverity::Warning:
      os << "warning: ";
      break;
    case mlir::DiagnosticSeverity::Remark:
      os << "remark: ";
      break;
    case mlir::DiagnosticSeverity::Note:
      os << "note: ";
      break;
    }
    os << diagnostic.str();
    return text;
  }

  const std::string fileName;
  std::string errors;
};
} // namespace

/// Registers everything that programs may contain.
static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  mlir::pathways::registerPathwaysLoweringDialects(registry);
  mlir::pathways::registerPathwaysImportDialects(registry);
  return registry;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

Result<Program> pathways::readProgram(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer)
    return Error{ErrorCode::kNotFound, "cannot read program '" + path +
                                           "': " + buffer.getError().message()};
  return Program{(*buffer)->getBuffer().str(), path == "-" ? "<stdin>" : path};
}

static Error makeArgumentError(const absl::Status &status) {
  return Error{ErrorCode::kInvalidArgument, toString(status.message())};
}

/// Removes all programs except the one called `name`. Fails with a sentence if
/// that is not possible.
static Status selectProgram(mlir::ModuleOp module, const std::string &name) {
  using mlir::pathways::ProgramOp;
  llvm::SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
  std::string names;
  ProgramOp selected;
  for (ProgramOp program : programs) {
    names += (names.empty() ? "@" : ", @") + program.getSymName().str();
    if (name.empty() || program.getSymName() == name)
      selected = program;
  }
  if (programs.empty())
    return Error{ErrorCode::kInvalidProgram,
                 std::string("there is no pw.program") +
                     Tag(ErrorId::kNoSuchProgram)};
  if (!selected)
    return Error{ErrorCode::kInvalidProgram, "there is no pw.program @" + name +
                                                 "; there is " + names +
                                                 Tag(ErrorId::kNoSuchProgram)};
  if (name.empty() && programs.size() > 1)
    return Error{ErrorCode::kInvalidProgram,
                 "there are several programs, name one of: " + names +
                     Tag(ErrorId::kNoSuchProgram)};
  for (ProgramOp program : programs)
    if (program != selected)
      program.erase();
  return {};
}

/// Returns an error unless the profile in file `path` is of the one program of
/// `module`. The passes that read it report the same, but as an error of the
/// program.
static Status checkProfile(mlir::ModuleOp module, const std::string &path) {
  absl::StatusOr<Profile> profile = Profile::Read(path);
  if (!profile.ok())
    return makeArgumentError(profile.status());
  mlir::pathways::addFingerprints(module);
  auto program = *module.getOps<mlir::pathways::ProgramOp>().begin();
  absl::Status same = profile->CheckProgram(program.getSymName().str(),
                                            program.getFingerprint()->str());
  return same.ok() ? Status() : makeArgumentError(same);
}

namespace {

/// Records the name of the running pass.
class PassWatch : public mlir::PassInstrumentation {
public:
  explicit PassWatch(std::string &step) : step(step) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *) override {
    if (!pass->getArgument().empty()) // an unnamed pass only runs others
      step = "pass '" + pass->getArgument().str() + "'";
  }

private:
  std::string &step;
};

/// One compilation. If hasCrashed() after run(), what it made in MLIR may be
/// broken, and this object must be leaked, not destroyed.
class Compilation {
public:
  Compilation(const Program &program, const CompileOptions &options,
              mlir::pathways::TaskPool &pool)
      : program(program), options(options), pool(pool),
        context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED),
        diagnostics(&context, program.file_name) {
    // The line number is enough; the text of a program may be long.
    context.printOpOnDiagnostic(false);
  }

  Result<Compiled> run();
  /// Returns the text of the program that a module of StableHLO becomes.
  Result<std::string> importText();
  /// Returns the costs of all schedules of the only loop with labels.
  Result<std::vector<ScheduleCosts>> explainSchedules();
  bool hasCrashed() const { return isBroken; }

private:
  /// Parses the text, and calls `emit` unless that fails.
  template <typename Emit> auto runOnModule(Emit emit) -> decltype(emit());
  /// Makes a program of a module of StableHLO; leaves any other module as it
  /// is.
  Status importModule();
  /// Returns an error if there are options for modules of StableHLO.
  Status checkImportOptions() const;
  /// Imports a module of StableHLO, selects the program, checks the profile and
  /// sets the options of the passes.
  Status prepare();
  Status lower();
  /// Runs the passes that `build` adds.
  template <typename Build> Status runPasses(Build build);
  /// Puts the program on its devices and returns the loop whose schedule is to
  /// be found, which has "auto"; null if it is gone.
  Result<mlir::pathways::ForOp> placeAutoLoop();
  struct Explored {
    /// Has schedule "auto" and is on its devices. Null if the loop is gone,
    /// since nothing uses its results.
    mlir::pathways::ForOp loop;
    std::vector<ScheduleCosts> rows;
  };
  /// Finds the costs of `schedules` of that loop.
  Result<Explored> explore(const std::vector<std::string> &schedules);
  /// Lowers the program with the schedule that simulations choose.
  Status lowerAuto();
  Result<std::vector<ScheduleCosts>> explainPlaced();
  Result<Compiled> emit();
  Result<std::string> printImported();
  /// Returns the reported errors, or else that `step` failed.
  Error fail(const std::string &how) {
    return diagnostics.takeError(program.file_name + ": error: " + step + how);
  }

  const Program &program;
  const CompileOptions &options;
  mlir::pathways::TaskPool &pool;
  mlir::MLIRContext context;
  DiagnosticLines diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<mlir::pathways::KernelCost> costs;
  std::vector<mlir::pathways::ReshardChoice> reshards;
  std::vector<mlir::pathways::ImportedKind> imported;
  std::vector<mlir::pathways::LoopOrderReport> orders;
  DonatedArguments donated;
  mlir::pathways::CompileOptions pipelineOptions;
  mlir::pathways::CompileReports reports;
  mlir::pathways::KnownKernels known;
  std::string step; ///< current step, for messages
  bool isBroken = false;
};

} // namespace

Status Compilation::checkImportOptions() const {
  const ImportOptions &imports = options.import_options;
  for (auto [name, value] : {std::make_pair("carry", &imports.carry),
                             std::make_pair("stepped", &imports.stepped),
                             std::make_pair("elided", &imports.elided),
                             std::make_pair("assign", &imports.assign),
                             std::make_pair("slices", &imports.slices)})
    if (!value->empty())
      return Error{ErrorCode::kInvalidArgument,
                   program.file_name + ": is no module of StableHLO, which " +
                       name + " '" + *value + "' is for"};
  return {};
}

Status Compilation::importModule() {
  const ImportOptions &imports = options.import_options;
  if (!mlir::pathways::isStableHlo(*module))
    return checkImportOptions();
  mlir::pathways::DonatedArguments found =
      mlir::pathways::findDonatedArguments(*module);
  donated = {found.count, found.first, std::move(found.carry)};
  mlir::PassManager passes(&context);
  passes.addInstrumentation(std::make_unique<PassWatch>(step));
  mlir::pathways::ImportOptions importOptions;
  importOptions.carry = imports.carry;
  importOptions.stepped = imports.stepped;
  importOptions.elided = imports.elided;
  importOptions.assign = imports.assign;
  importOptions.slices = imports.slices;
  mlir::pathways::buildImportPipeline(passes, importOptions);
  if (options.explain_import)
    imported = mlir::pathways::markKinds(*module);
  if (mlir::failed(passes.run(*module)))
    return fail(" failed");
  if (options.explain_import)
    mlir::pathways::collectKinds(*module, imported);
  return {};
}

Status Compilation::prepare() {
  if (Status imported = importModule(); !imported)
    return imported;
  if (Status selected = selectProgram(*module, options.program); !selected)
    return Error{selected.error().code,
                 program.file_name + ": " + selected.error().message};
  if (!options.profile.empty())
    if (Status fits = checkProfile(*module, options.profile); !fits)
      return fits;
  pipelineOptions.topology = options.topology;
  pipelineOptions.oversubscribe = options.oversubscribe;
  pipelineOptions.mesh = options.mesh;
  pipelineOptions.explainShardings = options.explain_shardings;
  pipelineOptions.explainCredits = options.explain_credits;
  pipelineOptions.stepsInFlight =
      static_cast<unsigned>(options.steps_in_flight);
  pipelineOptions.schedule = options.schedule;
  pipelineOptions.emitOrder = options.emit_order;
  pipelineOptions.profile = options.profile;
  pipelineOptions.labelCosts = options.label_costs;
  pipelineOptions.kernelCache = options.kernel_cache;
  pipelineOptions.kernelCacheBytes = options.kernel_cache_bytes;
  pipelineOptions.explainKernels = options.explain_kernels;
  pipelineOptions.rounding =
      static_cast<mlir::pathways::Rounding>(options.rounding);
  reports.kernels = &costs;
  reports.orders = &orders;
  if (options.explain_reshards)
    reports.reshards = &reshards;
  return {};
}

template <typename Build> Status Compilation::runPasses(Build build) {
  mlir::PassManager passes(&context);
  passes.addInstrumentation(std::make_unique<PassWatch>(step));
  build(passes, pipelineOptions, reports);
  if (mlir::failed(passes.run(*module)))
    return fail(" failed");
  return {};
}

/// Lowers the program to a plan with code.
Status Compilation::lower() {
  if (Status prepared = prepare(); !prepared)
    return prepared;
  bool isAuto = options.schedule == mlir::pathways::kAutoSchedule;
  if (options.schedule.empty())
    module->walk([&](mlir::pathways::ForOp loop) {
      isAuto |= loop.getSchedule() == mlir::pathways::kAutoSchedule;
    });
  return isAuto ? lowerAuto() : runPasses(mlir::pathways::buildCompilePipeline);
}

Result<mlir::pathways::ForOp> Compilation::placeAutoLoop() {
  if (Status placed = runPasses(mlir::pathways::buildPlacePipeline); !placed)
    return placed.error();
  step = "choosing a schedule";
  if (!pipelineOptions.schedule.empty()) {
    auto program = *module->getOps<mlir::pathways::ProgramOp>().begin();
    auto loop = mlir::pathways::findLabelledLoop(program,
                                                 mlir::pathways::kAutoSchedule);
    if (mlir::failed(loop))
      return fail(" failed");
    loop->setSchedule(mlir::pathways::kAutoSchedule);
    pipelineOptions.schedule = "";
  }
  auto loop = findAutoLoop(*module);
  if (mlir::failed(loop))
    return fail(" failed");
  return *loop;
}

/// Returns the names of all schedules.
static std::vector<std::string> getSchedules() {
  std::vector<std::string> names;
  for (llvm::StringRef name : mlir::pathways::getScheduleNames())
    names.push_back(name.str());
  return names;
}

Result<Compilation::Explored>
Compilation::explore(const std::vector<std::string> &schedules) {
  Result<mlir::pathways::ForOp> loop = placeAutoLoop();
  if (!loop)
    return loop.error();
  if (!*loop)
    return Explored();
  const absl::StatusOr<Topology> machines = Topology::Read(options.topology);
  if (!machines.ok())
    return makeArgumentError(machines.status());
  // Only the plan with the chosen schedule is reported.
  pipelineOptions.emitOrder = "";
  pipelineOptions.explainKernels = false;
  ScheduleExplorer explorer(*module, pipelineOptions, *machines, pool, known);
  Result<std::vector<ScheduleCosts>> rows = explorer.run(schedules);
  if (!rows)
    return rows.error().message.empty() ? fail(" failed") : rows.error();
  return Explored{*loop, *std::move(rows)};
}

Status Compilation::lowerAuto() {
  Result<Explored> explored = explore(getSchedules());
  if (!explored)
    return explored.error();
  if (!explored->loop)
    return runPasses(mlir::pathways::buildPlanPipeline);
  Result<std::string> chosen = chooseSchedule(explored->loop, explored->rows);
  if (!chosen)
    return chosen.error().message.empty() ? fail(" failed") : chosen.error();
  explored->loop.setSchedule(*chosen);
  pipelineOptions.emitOrder = options.emit_order;
  pipelineOptions.explainKernels = options.explain_kernels;
  mlir::pathways::LabelCostReport used; // the explorer has checked it
  reports.labelCosts = &used;
  reports.known = &known;
  return runPasses(mlir::pathways::buildPlanPipeline);
}

Result<std::vector<ScheduleCosts>> Compilation::explainPlaced() {
  if (!module->getOps<mlir::pathways::plan::ProgramOp>().empty())
    return Error{ErrorCode::kInvalidArgument,
                 program.file_name + ": is a plan, whose order is fixed"};
  if (Status prepared = prepare(); !prepared)
    return prepared.error();
  std::vector<std::string> schedules = getSchedules();
  if (llvm::StringRef(options.schedule).starts_with("@"))
    schedules.push_back(options.schedule);
  pipelineOptions.schedule = mlir::pathways::kAutoSchedule.str();
  Result<Explored> explored = explore(schedules);
  if (!explored)
    return explored.error();
  return std::move(explored->rows);
}

static std::vector<ReshardChoice>
convert(const std::vector<mlir::pathways::ReshardChoice> &choices) {
  std::vector<ReshardChoice> made;
  for (const mlir::pathways::ReshardChoice &choice : choices) {
    ReshardChoice &to = made.emplace_back(
        ReshardChoice{choice.place, choice.from, choice.to, {}});
    for (const mlir::pathways::ReshardRoute &route : choice.routes)
      to.routes.push_back({route.steps, route.numSteps, route.iciBytes,
                           route.dcnBytes, route.hostBytes, route.peakBytes,
                           route.ns, route.isCounted});
  }
  return made;
}

Result<Compiled> Compilation::emit() {
  // Text of the plan dialect is already a plan, in another form.
  auto plans = module->getOps<mlir::pathways::plan::ProgramOp>();
  if (plans.empty()) {
    if (Status lowered = lower(); !lowered)
      return lowered.error();
  } else if (options.explain_reshards) {
    return Error{ErrorCode::kInvalidArgument,
                 program.file_name +
                     ": is a plan, whose movements are already chosen"};
  } else if (!options.mesh.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 program.file_name + ": is a plan, whose meshes are fixed; '" +
                     options.mesh + "' is for programs"};
  } else if (Status none = checkImportOptions(); !none) {
    return none.error();
  } else if (!options.profile.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 program.file_name + ": is a plan, whose costs are fixed; '" +
                     options.profile + "' is for programs"};
  } else if (options.rounding != Rounding::kEachOp) {
    return Error{ErrorCode::kInvalidArgument,
                 program.file_name +
                     ": is a plan, whose code is already compiled; a rounding "
                     "is for programs"};
  }
  step = "writing the plan";
  auto plan = mlir::pathways::getSingleProgram(*module);
  if (mlir::failed(plan))
    return fail(" failed");
  auto exported = mlir::pathways::exportPlan(*plan);
  if (mlir::failed(exported))
    return fail(" failed");
  const auto *blobs = reinterpret_cast<const uint8_t *>(exported->blobs.data());
  std::vector<KernelCost> kernels;
  for (const mlir::pathways::KernelCost &cost : costs) {
    KernelCost &kernel = kernels.emplace_back(
        KernelCost{cost.kernel, cost.isCached, cost.seconds, {}});
    for (const mlir::pathways::OpPath &path : cost.paths)
      kernel.paths.push_back({path.where, path.op, path.path});
  }
  std::vector<ImportedKind> kinds;
  for (mlir::pathways::ImportedKind &kind : imported)
    kinds.push_back({kind.op, kind.count, kind.became});
  std::vector<LoopOrder> loops;
  for (mlir::pathways::LoopOrderReport &order : orders)
    loops.push_back({order.place, order.schedule, order.order});
  return Compiled{makePlan(MakePlanData(std::move(exported->tables),
                                        {blobs, exported->blobs.size()})),
                  std::move(diagnostics.remarks),
                  std::move(kernels),
                  convert(reshards),
                  std::move(kinds),
                  std::move(loops),
                  std::move(donated)};
}

Result<std::string> Compilation::printImported() {
  if (!mlir::pathways::isStableHlo(*module)) {
    if (Status none = checkImportOptions(); !none)
      return none.error();
    return program.text;
  }
  if (Status imported = importModule(); !imported)
    return imported.error();
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

template <typename Emit>
auto Compilation::runOnModule(Emit emit) -> decltype(emit()) {
  step = "parsing";
  auto parsed =
      mlir::pathways::parseShielded(program.text, program.file_name, &context);
  isBroken = parsed.hasCrashed;
  module = std::move(parsed.module);
  if (!module)
    return fail(" failed");
  context.setThreadPool(pool);
  decltype(emit()) result = Error{};
  auto crash = mlir::pathways::runWithCrashRecovery([&] { result = emit(); });
  if (!crash)
    return result;
  isBroken = true;
  // A crash of a task is the reason why the wait for it crashed.
  if (auto first = pool.getCrash())
    crash = std::move(first);
  return fail(" crashed: " + crash->str());
}

Result<Compiled> Compilation::run() {
  return runOnModule([&] { return emit(); });
}

Result<std::string> Compilation::importText() {
  return runOnModule([&] { return printImported(); });
}

Result<std::vector<ScheduleCosts>> Compilation::explainSchedules() {
  return runOnModule([&] { return explainPlaced(); });
}

Result<std::string> pathways::importStableHlo(const Program &program,
                                              const ImportOptions &options) {
  mlir::pathways::TaskPool pool;
  CompileOptions compileOptions;
  compileOptions.import_options = options;
  auto compilation =
      std::make_unique<Compilation>(program, compileOptions, pool);
  Result<std::string> result = compilation->importText();
  if (compilation->hasCrashed())
    (void)compilation.release();
  return result;
}

/// Returns an error if an option is out of its range.
static Status checkOptions(const CompileOptions &options) {
  if (options.steps_in_flight < 1 ||
      options.steps_in_flight > kMaxStepsInFlight)
    return Error{ErrorCode::kInvalidArgument,
                 "expected between 1 and " + std::to_string(kMaxStepsInFlight) +
                     " steps in flight, got " +
                     std::to_string(options.steps_in_flight)};
  if (!options.kernel_cache.empty()) {
    auto cache = mlir::pathways::CodeCache::open(options.kernel_cache);
    if (!cache)
      return Error{ErrorCode::kInvalidArgument,
                   llvm::toString(cache.takeError())};
  }
  return {};
}

/// Calls `run` with a compilation of the program.
template <typename Run>
static auto compileWith(const Program &program, const CompileOptions &options,
                        Run run)
    -> decltype(run(std::declval<Compilation &>())) {
  if (Status checked = checkOptions(options); !checked)
    return checked.error();
  mlir::pathways::TaskPool pool;
  auto compilation = std::make_unique<Compilation>(program, options, pool);
  auto result = run(*compilation);
  if (compilation->hasCrashed())
    (void)compilation.release();
  return result;
}

Result<Compiled> pathways::compile(const Program &program,
                                   const CompileOptions &options) {
  return compileWith(program, options, [](Compilation &compilation) {
    return compilation.run();
  });
}

Result<std::vector<ScheduleCosts>>
pathways::explainSchedules(const Program &program,
                           const CompileOptions &options) {
  if (!options.schedule.empty() && options.schedule[0] != '@')
    return Error{ErrorCode::kInvalidArgument,
                 "the schedule is '" + options.schedule +
                     "', but all schedules are explained; leave it out, or "
                     "give @ and the path of a file of orders"};
  return compileWith(program, options, [](Compilation &compilation) {
    return compilation.explainSchedules();
  });
}

Result<std::string> pathways::printPlan(const Plan &plan) {
  if (!plan.getState())
    return makeEmptyError("plan");
  mlir::MLIRContext context(makeRegistry(),
                            mlir::MLIRContext::Threading::DISABLED);
  DiagnosticLines diagnostics(&context, /*fileName=*/"");
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::pathways::importPlan(plan.getState()->data, &context);
  if (!module) {
    Error error = diagnostics.takeError("the plan cannot be printed");
    error.code = ErrorCode::kInvalidArgument;
    return error;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}
