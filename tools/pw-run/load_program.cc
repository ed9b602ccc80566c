//===- load_program.cc - Loading of a verified plan -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/load_program.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pathways/Compile.h"
#include "runtime/base/error_codes.h"
#include "runtime/plan/expand_loops.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify.h"
#include "tools/pw-run/files.h"

namespace pathways::pw_run {
namespace {

bool Fail(Failure* failure, ExitCode code, absl::string_view message) {
  *failure = {code, std::string(message)};
  return false;
}

// Returns an error if several steps would run with the same donated arguments,
// of which each step needs new values, and the command line does not say which
// results these are. Returns "" otherwise.
std::string UndecidedText(const Options& options,
                          const DonatedArguments& donated) {
  if (options.steps == 1 || options.compile_only || !options.carry.empty() ||
      donated.count == 0) {
    return "";
  }
  return absl::StrCat(
      "--steps=", options.steps, ": ",
      donated.count == 1
          ? absl::StrCat("argument ", donated.first, " is")
          : absl::StrCat(donated.count, " arguments, the first of them ",
                         donated.first, ", are"),
      " donated, so the next step needs other values; give --carry=",
      donated.carry.empty()
          ? "ARGUMENTS:RESULTS"
          : absl::StrCat(donated.carry, ", which tf.aliasing_output suggests"),
      ", or --carry=none if no argument takes a result",
      Tag(ErrorId::kStepValues));
}

CompileOptions CompileOptionsOf(const Options& options) {
  CompileOptions compile;
  compile.topology = options.topology;
  compile.oversubscribe = options.oversubscribe;
  compile.mesh = absl::StrJoin(options.mesh, ",");
  compile.explain_shardings = options.explain_shardings;
  compile.explain_credits = options.explain_credits;
  compile.steps_in_flight = options.steps_in_flight;
  compile.program = options.program;
  compile.schedule = options.schedule;
  compile.emit_order = options.emit_order;
  compile.label_costs = options.label_costs;
  compile.profile = options.profile;
  compile.kernel_cache = options.kernel_cache;
  compile.kernel_cache_bytes = options.kernel_cache_bytes;
  compile.explain_reshards = options.explain_reshard;
  compile.explain_import = options.explain_import;
  compile.explain_kernels = options.explain_kernels;
  if (options.strict_rounding) compile.rounding = Rounding::kStrict;
  if (options.excess_precision) compile.rounding = Rounding::kExcess;
  compile.import_options = {options.carry, options.stepped, options.elided,
                            absl::StrJoin(options.assign, ","),
                            absl::StrJoin(options.slices, ",")};
  return compile;
}

bool FailCompile(Failure* failure, const Error& error) {
  return Fail(failure,
              error.code == ErrorCode::kInvalidArgument ? kUsageError
              : error.code == ErrorCode::kRefused       ? kPlanRefused
              : error.code == ErrorCode::kRunFailed     ? kRunError
                                                        : kCompileError,
              error.message);
}

bool Compile(const Options& options, std::string text,
             const std::string& file_name, Loaded* loaded, Failure* failure) {
  Result<Compiled> compiled = pathways::compile(
      Program{std::move(text), file_name}, CompileOptionsOf(options));
  if (!compiled) return FailCompile(failure, compiled.error());
  loaded->remarks = compiled->remarks;
  const std::string undecided = UndecidedText(options, compiled->donated);
  if (!undecided.empty()) return Fail(failure, kUsageError, undecided);
  for (const KernelCost& cost : compiled->kernels) {
    CodeOrigin& origin = loaded->kernels[cost.kernel];
    origin = {cost.is_cached, cost.seconds, {}};
    for (const OpPath& path : cost.paths) {
      origin.paths.push_back({path.place, path.op, path.path});
    }
  }
  for (const ReshardChoice& choice : compiled->reshards) {
    ReshardText& text = loaded->reshards.emplace_back();
    text.title =
        absl::StrCat(choice.place, ": ", choice.from, " -> ", choice.to);
    for (const ReshardRoute& route : choice.routes) {
      text.routes.push_back({route.steps, route.ici_bytes, route.dcn_bytes,
                             route.num_steps, route.peak_bytes,
                             route.nanoseconds, route.is_counted});
    }
  }
  for (const ImportedKind& kind : compiled->imported) {
    loaded->imported.push_back({kind.op, kind.count, kind.became});
  }
  loaded->bytes = compiled->plan.bytes();
  return true;
}

std::string FileName(const Options& options) {
  return options.file == "-" ? "<stdin>" : options.file;
}

// Reads options.file, which must not be empty. Returns nullopt after setting
// *failure.
std::optional<std::string> ReadFile(const Options& options, Failure* failure) {
  absl::StatusOr<std::string> bytes =
      options.file == "-" ? ReadStdin() : ReadWholeFile(options.file);
  if (!bytes.ok()) {
    Fail(failure, kUsageError, bytes.status().message());
    return std::nullopt;
  }
  if (bytes->empty()) {
    Fail(failure, kUsageError,
         absl::StrCat(FileName(options), ": the file is empty"));
    return std::nullopt;
  }
  return *std::move(bytes);
}

}  // namespace

bool ExplainSchedules(const Options& options,
                      std::vector<ScheduleCosts>* schedules, Failure* failure) {
  std::optional<std::string> text = ReadFile(options, failure);
  if (!text.has_value()) return false;
  const std::string name = FileName(options);
  if (LooksLikePlan(*text)) {
    return Fail(failure, kUsageError,
                absl::StrCat("--explain-schedules: ", name,
                             " is a plan, whose order is fixed"));
  }
  Result<std::vector<ScheduleCosts>> found = explainSchedules(
      Program{*std::move(text), name}, CompileOptionsOf(options));
  if (!found) return FailCompile(failure, found.error());
  *schedules = *std::move(found);
  return true;
}

bool LoadProgram(const Options& options, Loaded* loaded, Failure* failure) {
  std::optional<std::string> bytes = ReadFile(options, failure);
  if (!bytes.has_value()) return false;
  const std::string name = FileName(options);
  bool is_plan = LooksLikePlan(*bytes);
  if (is_plan) {
    if (!options.mesh.empty()) {
      return Fail(
          failure, kUsageError,
          absl::StrCat("--mesh: ", name, " is a plan, whose meshes are fixed"));
    }
    for (auto [flag, is_given] :
         {std::make_pair("--profile", !options.profile.empty()),
          std::make_pair("--cost", !options.label_costs.empty())}) {
      if (!is_given) continue;
      return Fail(
          failure, kUsageError,
          absl::StrCat(flag, ": ", name, " is a plan, whose costs are fixed"));
    }
    for (auto [flag, value] :
         {std::make_pair("--schedule", &options.schedule),
          std::make_pair("--emit-order", &options.emit_order)}) {
      if (value->empty()) continue;
      return Fail(
          failure, kUsageError,
          absl::StrCat(flag, ": ", name, " is a plan, whose order is fixed"));
    }
    for (auto [flag, value] : {std::make_pair("--carry", &options.carry),
                               std::make_pair("--stepped", &options.stepped),
                               std::make_pair("--elided", &options.elided)}) {
      if (value->empty()) continue;
      return Fail(failure, kUsageError,
                  absl::StrCat(flag, ": ", name,
                               " is a plan; the flag is for StableHLO"));
    }
    for (auto [flag, values] : {std::make_pair("--assign", &options.assign),
                                std::make_pair("--slices", &options.slices)}) {
      if (values->empty()) continue;
      return Fail(failure, kUsageError,
                  absl::StrCat(flag, ": ", name,
                               " is a plan; the flag is for StableHLO"));
    }
    if (options.explain_shardings) {
      return Fail(
          failure, kUsageError,
          absl::StrCat("--explain-shardings: ", name,
                       " is a plan, whose arrays are already partitioned"));
    }
    if (options.explain_credits) {
      return Fail(failure, kUsageError,
                  absl::StrCat("--explain-credits: ", name,
                               " is a plan, whose memory is already placed"));
    }
    if (options.explain_reshard) {
      return Fail(
          failure, kUsageError,
          absl::StrCat("--explain-reshard: ", name,
                       " is a plan, whose movements are already chosen"));
    }
    if (options.strict_rounding || options.excess_precision) {
      return Fail(failure, kUsageError,
                  absl::StrCat(options.strict_rounding ? "--strict-rounding: "
                                                       : "--excess-precision: ",
                               name, " is a plan, whose code is compiled"));
    }
    loaded->bytes = *std::move(bytes);
  } else if (bytes->find('\0') != std::string::npos) {
    return Fail(failure, kUsageError,
                absl::StrCat(name, ": the file is neither a plan nor text"));
  } else if (!Compile(options, *std::move(bytes), name, loaded, failure)) {
    return false;
  }
  absl::StatusOr<PlanData> plan = ParsePlan(loaded->bytes);
  if (!plan.ok()) {
    return Fail(failure, kPlanRefused,
                absl::StrCat(name, ": ", plan.status().message()));
  }
  loaded->plan = *std::move(plan);
  if (absl::Status s = CheckPlan(loaded->plan); !s.ok()) {
    return Fail(failure, kPlanRefused, absl::StrCat(name, ": ", s.message()));
  }
  if (!loaded->plan.tables.loops().empty())
    loaded->without_loops = WithoutLoops(loaded->plan.tables);
  const std::string& program = loaded->plan.tables.header().program();
  // If a file has several programs, the compiler has chosen the requested one.
  if (!options.program.empty() && options.program != program) {
    return Fail(
        failure, kUsageError,
        absl::StrCat("--program: ", name, " is the plan of ", Quoted(program),
                     ", not of ", Quoted(options.program)));
  }
  return true;
}

void Rebind(const PlanSlices& slices, Loaded* loaded) {
  *loaded->without_loops.mutable_slices() = slices;
  *loaded->plan.tables.mutable_slices() = slices;
  loaded->bytes = SerializePlan(loaded->plan.tables, loaded->plan.blobs);
}

bool PlanText(const Loaded& loaded, std::string* text, Failure* failure) {
  Result<Plan> plan = Plan::parse(loaded.bytes);
  if (!plan) return Fail(failure, kPlanRefused, plan.error().message);
  Result<std::string> printed = printPlan(*plan);
  if (!printed) return Fail(failure, kPlanRefused, printed.error().message);
  *text = *std::move(printed);
  return true;
}

}  // namespace pathways::pw_run
