//===- main.cc - Run programs and plans from the command line -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In this order, so that nothing is computed that cannot be used: the command
// line; the program; the interface and the inputs; the files to write; then the
// run. --help has the rest.
//
//===----------------------------------------------------------------------===//

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/temporary_file.h"
#include "runtime/checkpoint/file_status.h"
#include "runtime/checkpoint/npy.h"
#include "runtime/checkpoint/save_folder.h"
#include "runtime/checkpoint/saved_array.h"
#include "runtime/client/cluster.h"
#include "runtime/client/rebind_plan.h"
#include "runtime/node/local_workers.h"
#include "runtime/plan/profile.h"
#include "runtime/topology/fault_schedule.h"
#include "runtime/topology/named_devices.h"
#include "runtime/topology/topology.h"
#include "runtime/trace/measure.h"
#include "runtime/trace/summary.h"
#include "tools/pw-run/dry_run.h"
#include "tools/pw-run/dump_graph.h"
#include "tools/pw-run/explain_kernels.h"
#include "tools/pw-run/explain_reshard.h"
#include "tools/pw-run/load_program.h"
#include "tools/pw-run/options.h"
#include "tools/pw-run/plan_view.h"
#include "tools/pw-run/progress.h"
#include "tools/pw-run/recovery_flags.h"
#include "tools/pw-run/run_files.h"
#include "tools/pw-run/signature.h"
#include "tools/pw-run/stats.h"
#include "tools/pw-run/values.h"

namespace pathways::pw_run {
namespace {

// Elements of a result that is printed although nobody asked for all of it.
constexpr int64_t kMaxPrinted = 1000;

void Print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// Of the cluster, or of who is on it: nothing that was given is at fault.
bool IsLoss(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsUnavailable(status) ||
         absl::IsDeadlineExceeded(status);
}

// One run of the tool. The steps return false after setting failure_.
class Session {
 public:
  explicit Session(Options options)
      : options_(std::move(options)), progress_(isatty(STDERR_FILENO)) {}
  // The line's thread reads statistics.
  ~Session() { progress_.Clear(); }

  int Run() {
    bool done = OpenFiles() && Connect() && Load() && Describe();
    if (done && !options_.dry_run && !options_.compile_only) {
      done = Prepare() && Execute();
      // Of a run that failed, too.
      done = WriteTrace(done) && WriteProfile() && Finish();
    }
    progress_.Clear();
    if (!done) {
      std::fflush(stdout);
      // Diagnostics of the compiler begin with their place, for editors.
      bool placed = failure_.code == kCompileError &&
                    failure_.message.find(": error: ") != std::string::npos;
      std::fprintf(stderr, "%s%s\n",
                   placed ? "" : "pw-run: error: ", failure_.message.c_str());
      if (failure_.code == kRunError)
        Print("[FAILED] the run did not finish\n");
      return failure_.code;
    }
    return exit_code_;
  }

 private:
  bool Fail(ExitCode code, absl::string_view message) {
    failure_ = {code, std::string(message)};
    return false;
  }
  // What was given is at fault, unless there was no memory for it.
  bool FailInput(const absl::Status& status) {
    return Fail(absl::IsResourceExhausted(status) ? kRunError : kUsageError,
                status.message());
  }
  bool Check(ExitCode code, const absl::Status& status) {
    return status.ok() || Fail(code, status.message());
  }

  // Writes to the file that was opened for `path`, or prints.
  bool Emit(const std::string& path, OutputFile* file, absl::string_view text) {
    if (path == "-") {
      Print(std::string(text));
      return true;
    }
    return Check(kUsageError, file->Commit(text));
  }

  bool OpenFiles() {
    absl::StatusOr<RunFiles> opened = OpenRunFiles(options_);
    if (!opened.ok()) return Fail(kUsageError, opened.status().message());
    files_ = *std::move(opened);
    return true;
  }

  std::function<void(const LongWork&)> Warn() {
    return [this](const LongWork& work) {
      progress_.Note(absl::StrCat("pw-run: warning: ", work.Text()));
    };
  }

  // To a cluster that runs, whose topology is the one to compile for.
  bool Connect() {
    if (options_.connect.address.empty()) return true;
    progress_.Show("connecting");
    options_.connect.on_long_work = Warn();
    options_.connect.on_waiting = [this](const std::string& whom) {
      progress_.Note(absl::StrCat("pw-run: waiting: ", whom));
    };
    absl::StatusOr<std::shared_ptr<Cluster>> cluster =
        ConnectCluster(options_.connect);
    progress_.Clear();
    if (!cluster.ok()) {
      const bool is_usage = absl::IsInvalidArgument(cluster.status()) ||
                            absl::IsPermissionDenied(cluster.status()) ||
                            absl::IsNotFound(cluster.status());
      return Fail(is_usage ? kUsageError : kRunError,
                  absl::StrCat("--connect: ", cluster.status().message()));
    }
    cluster_ = *std::move(cluster);
    for (auto [option, path] :
         {std::make_pair("--trace", &options_.trace),
          std::make_pair("--profile-out", &options_.profile_out)}) {
      if (path->empty() || cluster_->traced()) continue;
      return Fail(kUsageError, absl::StrCat(option, ": ", kUntraced));
    }
    options_.topology = TopologySpec(cluster_->topology().cluster());
    return true;
  }

  bool Load() {
    absl::StatusOr<proto::Cluster> cluster = ReadTopology(options_.topology);
    if (!cluster.ok()) {
      return Fail(kUsageError,
                  absl::StrCat("--topology: ", cluster.status().message()));
    }
    absl::StatusOr<Topology> topology = Topology::Create(*std::move(cluster));
    if (!topology.ok()) {
      return Fail(kUsageError,
                  absl::StrCat("--topology: ", topology.status().message()));
    }
    topology_ = *std::move(topology);
    if (!options_.run.faults.empty()) {
      const auto faults = ReadFaults(options_.run.faults, *topology_);
      if (!faults.ok()) {
        return Fail(kUsageError,
                    absl::StrCat("--faults: ", faults.status().message()));
      }
    }
    progress_.Show("compiling");
    bool loaded = LoadProgram(options_, &loaded_, &failure_);
    progress_.Clear();
    for (const std::string& remark : loaded_.remarks) {
      std::fprintf(stderr, "%s\n", remark.c_str());
    }
    return loaded && Check(kPlanRefused, CheckFits(plan(), *topology_)) &&
           Avoid();
  }

  // To other devices, where some are not wanted.
  bool Avoid() {
    if (options_.avoid.empty()) return true;
    const auto avoid = NamedDevices(*topology_, options_.avoid);
    if (!avoid.ok()) {
      return Fail(kUsageError,
                  absl::StrCat("--avoid: ", avoid.status().message()));
    }
    absl::StatusOr<PlanSlices> slices =
        RebindPlan(plan(), *topology_, *avoid, options_.oversubscribe);
    if (!slices.ok()) {
      return Fail(kPlanRefused,
                  absl::StrCat("--avoid: ", slices.status().message()));
    }
    *loaded_.plan.tables.mutable_slices() = *std::move(slices);
    loaded_.bytes = SerializePlan(loaded_.plan.tables, loaded_.plan.blobs);
    return true;
  }

  // Everything that comes from the plan alone.
  bool Describe() {
    if (!options_.emit_plan.empty() &&
        !Emit(options_.emit_plan, &files_.plan, loaded_.bytes)) {
      return false;
    }
    if (!options_.emit_plan_text.empty()) {
      std::string text;
      if (!PlanText(loaded_, &text, &failure_) ||
          !Emit(options_.emit_plan_text, &files_.plan_text, text)) {
        return false;
      }
    }
    if (!options_.dump_graph.empty() &&
        !Emit(options_.dump_graph, &files_.graph, GraphText(plan()))) {
      return false;
    }
    if (options_.explain_placement) {
      Print(absl::StrCat(FormatTopology(*topology_), "\n",
                         PlacementText(plan(), *topology_), "\n"));
    }
    if (options_.explain_reshard) Print(ReshardsText(loaded_.reshards));
    if (options_.explain_kernels) Print(KernelsText(plan(), loaded_.kernels));
    if (options_.dry_run)
      Print(DryRunText(CostOf(plan(), *topology_), *topology_));
    return true;
  }

  // Inputs, expected values, and the memory for results.
  bool Prepare() {
    if (!options_.profile_out.empty()) {
      const absl::Status s = CheckMeasurable(plan().header());
      if (!s.ok()) {
        return Fail(kUsageError, absl::StrCat("--profile-out: ", s.message()));
      }
    }
    signature_ = SignatureOf(plan());
    if (options_.costs_only) {
      for (const Port& port : signature_.arguments) {
        inputs_.emplace_back(
            HostArray{port.element, port.ShapeOver(options_.steps), {}});
      }
      return true;
    }
    for (auto [specs, ports] :
         {std::make_pair(&options_.outputs, &output_ports_),
          std::make_pair(&options_.saves, &save_ports_)}) {
      for (const NamedSpec& spec : *specs) {
        absl::StatusOr<size_t> port =
            FindPort(signature_.results, spec.name, "result");
        if (!port.ok()) return Fail(kUsageError, port.status().message());
        ports->push_back(*port);
      }
    }
    for (const Port& port : signature_.results) {
      if (!Check(kUsageError, CheckSize(port, options_.steps))) return false;
    }
    for (const NamedSpec& expected : options_.expected) {
      absl::StatusOr<size_t> port =
          FindPort(signature_.results, expected.name, "result");
      if (!port.ok()) return Fail(kUsageError, port.status().message());
      absl::StatusOr<HostArray> array =
          MakeArray("expected value of result", signature_.results[*port],
                    options_.steps, expected.spec);
      if (!array.ok()) return FailInput(array.status());
      expected_.emplace_back(*port, *std::move(array));
    }
    absl::StatusOr<std::vector<Input>> inputs =
        MakeInputs(signature_.arguments, options_.steps, options_.inputs);
    if (!inputs.ok()) return FailInput(inputs.status());
    inputs_ = *std::move(inputs);
    return true;
  }

  // A cluster of this process's own.
  bool OpenCluster() {
    ClusterOptions options = options_.run;
    options.on_long_work = Warn();
    if (options.processes != 0) progress_.Show("starting workers");
    absl::StatusOr<std::shared_ptr<Cluster>> cluster =
        pathways::OpenCluster(topology_->cluster(), options);
    if (!cluster.ok()) {
      return Fail(
          absl::IsInvalidArgument(cluster.status()) || options.processes == 0
              ? kUsageError
              : kRunError,
          cluster.status().message());
    }
    cluster_ = *std::move(cluster);
    return true;
  }

  bool Execute() {
    if (cluster_ == nullptr && !OpenCluster()) return false;
    // Others may run theirs at the same time.
    absl::StatusOr<std::unique_ptr<Client>> client = cluster_->Connect(
        !options_.client.empty() ? options_.client
        : options_.connect.address.empty()
            ? "pw-run"
            : absl::StrCat("pw-run of process ", cluster_->process()),
        options_.share);
    if (!client.ok()) return Fail(kRunError, client.status().message());
    client_ = *std::move(client);
    progress_.Show("loading");
    options_.load.on_waiting = [this](const std::string& why) {
      progress_.Note(absl::StrCat("pw-run: waiting: ", why));
    };
    if (options_.recovery.has_value() &&
        options_.recovery->mode != RecoveryOptions::kFail) {
      options_.load.await_devices = true;
      if (options_.recovery->mode == RecoveryOptions::kRebind &&
          !options_.anywhere) {
        options_.load.place = LoadPlace::kPresent;
        options_.load.oversubscribe = options_.oversubscribe;
      }
    }
    absl::StatusOr<ProgramHandle> program =
        client_->Load(loaded_.plan, options_.load);
    if (!program.ok()) {
      return Fail(IsLoss(program.status()) ? kRunError : kPlanRefused,
                  program.status().message());
    }
    if (options_.load.place != LoadPlace::kAsCompiled &&
        options_.explain_placement) {
      absl::StatusOr<std::shared_ptr<const PreparedPlan>> placed =
          client_->PlanOf(*program);
      if (!placed.ok()) return Fail(kRunError, placed.status().message());
      Print(absl::StrCat("loaded\n",
                         PlacementText((*placed)->plan(), *topology_), "\n"));
    }
    LaunchArguments arguments;
    for (Input& input : inputs_) {
      const auto* saved =
          std::get_if<std::shared_ptr<const SavedArray>>(&input);
      if (saved == nullptr) {
        arguments.emplace_back(std::move(*std::get_if<HostArray>(&input)));
        continue;
      }
      absl::StatusOr<ArrayHandle> array = client_->Put(*saved);
      if (!array.ok()) return Fail(kRunError, array.status().message());
      arguments.emplace_back(*array);
    }
    const double total =
        FiringsOfStep(plan()) * static_cast<double>(options_.steps) + 1;
    progress_.Track("running", [this, total] {
      return static_cast<double>(cluster_->firings()) / total;
    });
    if (options_.recovery.has_value()) {
      if (!RunToEnd(*program, std::move(arguments))) return false;
    } else {
      absl::StatusOr<RunHandle> run = client_->Launch(
          *program, std::move(arguments), options_.steps, options_.launch);
      if (!run.ok()) return Fail(kRunError, run.status().message());
      if (!Check(kRunError, client_->Await(*run))) return false;
      run_ = *run;
    }
    results_.resize(signature_.results.size());
    for (size_t i = 0; i < results_.size() && !options_.costs_only; ++i) {
      if (!IsWanted(i)) continue;
      absl::StatusOr<HostArray> result =
          run_.has_value() ? client_->Fetch(*run_, static_cast<int64_t>(i))
                           : client_->Get(arrays_[i]);
      if (!result.ok()) return Fail(kRunError, result.status().message());
      results_[i] = *std::move(result);
    }
    for (size_t i = 0; i < options_.saves.size(); ++i) {
      if (!Save(i)) return false;
    }
    progress_.Clear();
    return true;
  }

  // In legs, each from where the one before it ended.
  bool RunToEnd(ProgramHandle program, LaunchArguments arguments) {
    RecoveryOptions& recovery = *options_.recovery;
    recovery.load = options_.load;
    recovery.oversubscribe = options_.oversubscribe;
    recovery.on_event = [this](const std::string& what) {
      progress_.Note(absl::StrCat("pw-run: ", what));
    };
    absl::StatusOr<RecoveredResults> results =
        client_->RunToEnd(program, std::move(arguments), options_.steps,
                          recovery, options_.launch);
    if (!results.ok()) {
      const absl::Status& status = results.status();
      const bool is_usage =
          !IsOfSteps(status) &&
          (absl::IsInvalidArgument(status) || absl::IsAlreadyExists(status) ||
           absl::IsNotFound(status) || absl::IsDataLoss(status) ||
           absl::IsPermissionDenied(status));
      return Fail(is_usage ? kUsageError : kRunError,
                  results.status().message());
    }
    arrays_ = std::move(results->arrays);
    const RecoveryReport& report = results->report;
    if (std::string text = RecoveryText(report); !text.empty()) {
      progress_.Note(absl::StrCat("pw-run: ", text));
    }
    for (auto& [port, expected] : expected_) {
      if (signature_.results[port].stepped) {
        DropSteps(report.resumed_at, &expected);
      }
    }
    return true;
  }

  // Whether somebody looks at all of a result at a time.
  bool IsWanted(size_t port) const {
    if (save_ports_.empty()) return true;
    for (size_t output : output_ports_) {
      if (output == port) return true;
    }
    for (const auto& [expected, value] : expected_) {
      if (expected == port) return true;
    }
    return false;
  }

  // Writes the folder of one result, which is not in its place then.
  bool Save(size_t save) {
    progress_.Show("saving");
    const size_t port = save_ports_[save];
    absl::StatusOr<ArrayHandle> array =
        run_.has_value() ? client_->Keep(*run_, static_cast<int64_t>(port))
                         : arrays_[port];
    if (!array.ok()) return Fail(kRunError, array.status().message());
    absl::StatusOr<std::unique_ptr<SaveFolder>> folder =
        SaveFolder::Create(options_.saves[save].spec);
    absl::Status saved = folder.status();
    if (saved.ok()) saved = client_->Save(*array, folder->get());
    (void)client_->Release(*array);
    if (saved.ok()) {
      save_folders_.push_back(*std::move(folder));
      return true;
    }
    return Fail(IsLoss(saved) ? kRunError : kUsageError,
                absl::StrCat("--save=", options_.saves[save].name, ": ",
                             saved.message()));
  }

  // After a run that ended well, or not. Returns whether all went well.
  bool WriteTrace(bool has_run) {
    if (options_.trace.empty() || client_ == nullptr) return has_run;
    progress_.Clear();
    std::ostringstream text;
    const absl::Status status = client_->WriteTrace(&text);
    // The first failure is the one to tell.
    if (!has_run) {
      if (status.ok() && options_.trace != "-") {
        (void)files_.trace.Commit(text.str());
      }
      return false;
    }
    return Check(kRunError, status) &&
           Emit(options_.trace, &files_.trace, text.str());
  }

  bool WriteProfile() {
    if (options_.profile_out.empty()) return true;
    absl::StatusOr<proto::Profile> profile = client_->Measure(plan().header());
    if (!profile.ok()) {
      // Of a run that went well the trace may have kept nothing.
      const bool is_usage = absl::IsInvalidArgument(profile.status()) ||
                            absl::IsFailedPrecondition(profile.status());
      return Fail(is_usage ? kUsageError : kRunError,
                  absl::StrCat("--profile-out: ", profile.status().message()));
    }
    return Emit(options_.profile_out, &files_.profile, PrintProfile(*profile));
  }

  // Stores, prints and compares.
  bool Finish() {
    for (size_t i = 0; i < options_.outputs.size(); ++i) {
      const std::string& spec = options_.outputs[i].spec;
      const HostArray& result = results_[output_ports_[i]];
      if (spec == "-") {
        PrintResult(output_ports_[i], result.num_elements());
      } else if (!Check(kUsageError,
                        files_.outputs[i].Commit(SerializeNpy(result)))) {
        return false;
      }
    }
    for (const std::unique_ptr<SaveFolder>& folder : save_folders_) {
      if (!Check(kUsageError, folder->Commit())) return false;
    }
    if (options_.costs_only && !PrintCosts()) return false;
    if (options_.outputs.empty() && options_.expected.empty() &&
        options_.saves.empty() && !options_.costs_only) {
      for (size_t i = 0; i < results_.size(); ++i) PrintResult(i, kMaxPrinted);
    }
    if (!options_.stats.empty() && !WriteStats()) return false;
    for (const auto& [port, expected] : expected_) {
      Comparison comparison =
          Compare(results_[port], expected, options_.tolerance);
      if (comparison.mismatches == 0) continue;
      exit_code_ = kComparisonFailed;
      Print(absl::StrCat(
          "[FAILED] ",
          MismatchText(signature_.results[port].name, results_[port], expected,
                       options_.tolerance, comparison),
          "\n"));
    }
    if (exit_code_ != kSuccess) return true;
    std::string compared;
    if (!expected_.empty()) {
      compared = absl::StrCat(", ", CountText(expected_.size(), "result"),
                              " as expected");
    }
    Print(absl::StrCat("[SUCCESS] ", CountText(options_.steps, "step"),
                       compared, "\n"));
    return true;
  }

  void PrintResult(size_t port, int64_t max_elements) {
    const HostArray& result = results_[port];
    Print(absl::StrCat(signature_.results[port].name, ": ",
                       ShapeString(result.element, result.shape), " = ",
                       ArrayText(result, max_elements), "\n"));
  }

  RunFacts Facts() const {
    RunFacts facts;
    facts.plan_bytes = static_cast<int64_t>(loaded_.bytes.size());
    facts.steps = options_.steps;
    facts.simulated = options_.run.world == ClusterOptions::kSim;
    return facts;
  }

  bool PrintCosts() {
    absl::StatusOr<ClusterStats> stats = client_->Stats();
    if (!stats.ok()) return Fail(kRunError, stats.status().message());
    absl::StatusOr<TraceSummary> summary = client_->Summarize();
    if (!summary.ok()) return Fail(kRunError, summary.status().message());
    Print(CostsText(*stats, *summary, Facts()));
    return true;
  }

  bool WriteStats() {
    const RunFacts facts = Facts();
    absl::StatusOr<ClusterStats> stats = client_->Stats();
    if (!stats.ok()) return Fail(kRunError, stats.status().message());
    std::optional<TraceSummary> summary;
    if (cluster_->traced()) {
      absl::StatusOr<TraceSummary> made = client_->Summarize();
      if (!made.ok()) return Fail(kRunError, made.status().message());
      summary = *std::move(made);
    }
    if (options_.stats == "table") {
      Print(StatsTable(plan(), *stats, summary, facts));
    } else if (options_.stats == "json") {
      Print(StatsJson(plan(), *stats, summary, facts));
    } else {
      return Check(kUsageError, files_.stats.Commit(
                                    StatsJson(plan(), *stats, summary, facts)));
    }
    return true;
  }

  const proto::Plan& plan() const { return loaded_.plan.tables; }

  Options options_;
  Failure failure_;
  ExitCode exit_code_ = kSuccess;
  RunFiles files_;
  std::vector<size_t> output_ports_;  // as options_.outputs
  std::vector<std::unique_ptr<SaveFolder>> save_folders_;  // as options_.saves
  std::vector<size_t> save_ports_;                         // likewise
  std::optional<Topology> topology_;
  Loaded loaded_;
  Signature signature_;
  std::vector<Input> inputs_;
  std::optional<RunHandle> run_;     // has the results; none: arrays_ are they
  std::vector<ArrayHandle> arrays_;  // by result
  std::vector<HostArray> results_;   // those that are wanted
  std::vector<std::pair<size_t, HostArray>> expected_;  // by result
  // Before cluster_, which may have something to note until its end. Its thread
  // reads cluster_, and has ended when that goes.
  Progress progress_;
  std::shared_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

int Main(int argc, char** argv) {
  absl::StatusOr<ParsedOptions> parsed = ParseOptions(argc, argv);
  if (!parsed.ok()) {
    std::fprintf(stderr, "pw-run: error: %s\npw-run --help says more\n",
                 std::string(parsed.status().message()).c_str());
    return kUsageError;
  }
  if (!parsed->print.empty()) {
    Print(parsed->print);
    return kSuccess;
  }
  try {
    return Session(std::move(parsed->options)).Run();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "pw-run: error: out of memory\n");
    return kRunError;
  }
}

}  // namespace
}  // namespace pathways::pw_run

int main(int argc, char** argv) {
  // A file that may not grow is an error with its name.
  std::signal(SIGXFSZ, SIG_IGN);
  pathways::RemoveTemporaryFilesOnSignals();
  int code = pathways::pw_run::Main(argc, argv);
  // A full disk behind standard output must not look like success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "pw-run: error: cannot write standard output\n");
    if (code == 0) code = pathways::pw_run::kUsageError;
  }
  return code;
}
