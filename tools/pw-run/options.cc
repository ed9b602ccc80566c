//===- options.cc - The command line of pw-run ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/options.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/base/error_codes.h"
#include "runtime/client/check_options.h"
#include "runtime/plan/verify.h"
#include "tools/flags/flag_table.h"
#include "tools/pw-run/archives.h"
#include "tools/pw-run/recovery_flags.h"

namespace pathways::pw_run {
namespace {

constexpr char kDescription[] =
    R"(Compiles a program over sharded arrays, runs it on the devices of this machine
or in a simulation, and compares or stores its results.

FILE is a program (text of the `pw` dialect), a plan as text (`plan` dialect), or
a plan file; its content tells which. A plan contains machine code: run only plans
you trust.)";

constexpr char kFooter[] =
    R"(
Values of --input and --expected:
  @x.npy          an array file, as numpy.save writes it, or a pipe that one
                  comes through, as @/dev/stdin; its element type and shape are
                  exactly those of the argument (bf16: two raw bytes)
  x/              a folder that --save made: the slash at the end says so
  0.5             every element
  1,2;3,4         rows, separated by ';'     [[1,2],[3,4]]  any dimensions
  zeros  ones     every element              random:SEED    in [-1, 1), or any int8;
                                                            unsigned: any uint8
  random:SEED:0.5 the same, times 0.5
  ramp            0, 1, 2, ...; starts over where the type stops being exact
A stepped argument or result has one more, leading dimension: the steps.
The keys of @FILE.npz, as numpy.savez writes it, are names, or positions such as
0, arr_0, arg0 and result0. NAME=VALUE replaces a value of the file.

Topologies: 2x1x4 is two islands of one host with four devices each; a file
ending in .textproto, or @FILE, describes any cluster; the default is this
machine, one device for each core.

Examples:
  pw-run prog.mlir --topology=1x1x8 --input=x=@x.npy --input=w=random:1
  pw-run prog.mlir --input=x=1,2 --expected=y=3,5 --world=sim --seed=7
  pw-run prog.mlir --topology=2x1x4 --emit-plan=prog.plan --compile-only
  pw-run prog.plan --topology=2x1x4 --dry-run

Exit codes: 0 success; 1 a result is not as expected; 2 the command line or an
input file is wrong; 3 the program, or the text of a plan, does not compile; 4
the plan was refused (it breaks a rule or does not fit the devices); 5 the run
failed. --explain=PW3101 explains a message that ends with [PW3101].
)";

using flags::CommandLine;
using flags::Duration;
using flags::Flag;
using flags::Real;
using flags::Switch;
using flags::SwitchText;
using flags::Text;
using flags::Texts;
using flags::Unsigned;
using flags::Whole;

constexpr int64_t kMaxBytes = int64_t{1} << 62;
absl::Duration Year() { return absl::Hours(24 * 365); }

// Values of flags as text, which the checks below turn into options.
struct FlagTexts {
  std::vector<std::string> inputs, outputs, saves, expected;
  std::string world = "threads", dispatch = "parallel", links, processes,
              transport, explain;
  int64_t trace_events = int64_t{1} << 18;
};

std::vector<Flag> DataFlags(Options& o, FlagTexts& texts) {
  return {
      {"--input", "NAME=VALUE",
       "Value of an argument; every argument needs one. @FILE.npz without a "
       "name has values of many",
       Texts{&texts.inputs}},
      {"--output", "NAME=VALUE",
       "Store a result: NAME=@y.npy, or NAME=- to print all of it. @FILE.npz "
       "without a name stores all results",
       Texts{&texts.outputs}},
      {"--save", "NAME=VALUE",
       "Save a result in a new folder, a file for each block of its shards: "
       "NAME=FOLDER",
       Texts{&texts.saves}},
      {"--expected", "NAME=VALUE",
       "Compare a result with a value. @FILE.npz without a name has values of "
       "many",
       Texts{&texts.expected}},
      {"--rtol", "NUMBER",
       "Floats differ when |got - expected| > atol + rtol * |expected|",
       Real{&o.tolerance.rtol}},
      {"--atol", "NUMBER", "See --rtol; NaN equals NaN only",
       Real{&o.tolerance.atol}},
  };
}

std::vector<Flag> CompileFlags(Options& o) {
  return {
      {"--program", "NAME", "Which pw.program, when FILE has several",
       Text{&o.program}},
      {"--topology", "SPEC", "Machines: IxHxD, a .textproto file, or 'local'",
       Text{&o.topology}},
      {"--oversubscribe", "",
       "Let virtual devices and islands share physical ones",
       Switch{&o.oversubscribe}},
      {"--avoid", "NAME,...",
       "Islands, hosts and devices that the program must not use",
       Texts{&o.avoid, ','}},
      {"--mesh", "SLICE:AXIS=N,...",
       "Other sizes of a slice's axes, for a program in global view",
       Texts{&o.mesh}},
      {"--steps-in-flight", "N",
       "Steps that may overlap; more steps take more memory",
       Whole<int>{&o.steps_in_flight, 1, kMaxStepsInFlight}},
      {.name = "--kernel-cache",
       .type = "DIR",
       .help = "Keep compiled kernels in this folder and look there first; "
               "other processes may share it, and its files may be deleted; "
               "it holds code that will run, so it is refused if anybody but "
               "you and root may write to it",
       .to = Text{&o.kernel_cache},
       .environment = "PATHWAYS_KERNEL_CACHE"},
      {"--kernel-cache-bytes", "N",
       "Bytes to keep there, most recently used first; 0: no bound",
       Whole<uint64_t>{&o.kernel_cache_bytes, 0, kMaxBytes}},
      {"--carry", "ARGUMENTS:RESULTS,...",
       "For StableHLO: arguments that take a result in the next step, by "
       "positions (0-3:0-3) or names (state:[0]); none: no argument does",
       Text{&o.carry}},
      {"--stepped", "NAME,...",
       "For StableHLO: arguments and results with one value for each step, in "
       "a leading dimension",
       Text{&o.stepped}},
      {"--elided", "zeros|random:SEED",
       "For StableHLO: values of constants that the text leaves out",
       Text{&o.elided}},
      {"--assign", "NAME=SLICE,...",
       "For StableHLO: where functions and named computations run; SLICE:LABEL "
       "also names their calls",
       Texts{&o.assign, ','}},
      {"--slices", "NAME,...",
       "For StableHLO: the slices that operations may be marked with; with "
       "NAME:N, those of different N are on different islands, those of one N "
       "on the same; NAME:N-M spans as many islands",
       Texts{&o.slices, ','}},
      {"--strict-rounding", "",
       "Round each term of products and sums and add term by term: no fused "
       "multiply-add, no matrix units, no lanes",
       Switch{&o.strict_rounding}},
      {.name = "--excess-precision",
       .type = "",
       .help = "Drop roundings between ops where that is faster",
       .to = Switch{&o.excess_precision},
       .excludes = "--strict-rounding"},
      {"--schedule", "NAME|@FILE",
       "Order of the calls of the loop that has labels: gpipe, 1f1b, "
       "eager-1f1b, zb-h1, zb-h2, interleaved, zbv or dualpipe-v; auto, the "
       "fastest that fits in memory; or a file of orders; results are the same",
       Text{&o.schedule}},
      {"--emit-order", "FILE", "Write the order that a schedule gave",
       Text{&o.emit_order}},
      {"--cost", "PATTERN=TIME",
       "Cost of the calls whose label fits, such as *F=18.522ms, in place of "
       "the estimate; the last that fits counts",
       Texts{&o.label_costs}},
      {"--profile", "FILE",
       "File that --profile-out of another run wrote: measured costs replace "
       "estimates; results are the same",
       Text{&o.profile}},
      {"--emit-plan", "FILE", "Write the plan file", Text{&o.emit_plan}},
      {"--emit-plan-text", "FILE", "Write the plan as text; - prints it",
       Text{&o.emit_plan_text}},
      {"--compile-only", "", "Stop before running; needs no inputs",
       Switch{&o.compile_only}},
  };
}

std::vector<Flag> RunFlags(Options& o, FlagTexts& texts) {
  return {
      {"--steps", "N", "Steps to run in one launch",
       Whole<int64_t>{&o.steps, 1, int64_t{1} << 31}},
      {"--first-step", "N",
       "Number of the first step, which pw.step_index returns in it; errors "
       "and traces count steps from there too",
       Whole<int64_t>{&o.launch.first_step, 0, int64_t{1} << 40}},
      {"--world", "threads|sim",
       "threads, or sim: one thread, virtual time, repeatable",
       Text{&texts.world, {"threads", "sim"}}},
      {"--seed", "N",
       "Seed for the order of events that --world=sim leaves open",
       Unsigned{&o.run.seed}},
      {"--faults", "FILE|NAME",
       "With --world=sim, what fails and when: a file, or one of crashes, "
       "jumbled, llama3 and lossy; NAME*N makes faults N times as frequent; "
       "docs/simulation.md has the format",
       Text{&o.run.faults}},
      {"--costs-only", "",
       "With --world=sim: print what a step costs, on clusters of any size; "
       "kernels take their estimates, or the times of --profile, and compute "
       "nothing; needs no inputs",
       Switch{&o.costs_only}},
      {"--bind-workers,!--no-bind-workers", "",
       "Keep each thread on a core of its own; on unless negated",
       Switch{&o.run.bind_workers}},
      {"--processes{hosts}", "",
       "Run hosts in processes of their own: one each, or --processes=N of "
       "them",
       SwitchText{&texts.processes}},
      {"--transport", "NAME",
       "Transport between these processes: sockets, or UCX over shm or tcp, "
       "where it is installed",
       Text{&texts.transport, {"sockets", "shm", "tcp"}}},
      {"--connect", "ADDRESS",
       "Compile for the cluster whose `pw-node controller` listens there, and "
       "run on it: HOST:PORT, unix:/PATH or unix:@NAME",
       Text{&o.connect.address}},
      {.name = "--key",
       .type = "FILE",
       .help = "The key of that cluster, which HOST:PORT needs",
       .to = Text{&o.connect.links.key_file},
       .environment = "PATHWAYS_KEY"},
      {"--trust-loopback", "",
       "Connect to HOST:PORT on loopback without a key, if the cluster allows "
       "it too",
       Switch{&o.connect.links.trust_loopback}},
      {"--chaos", "FAULTS",
       "With --processes or --connect, treat messages as a bad network would: "
       "delay=0.3,duplicate=0.1,...; docs/clusters.md lists all",
       Text{&o.run.chaos}},
      {"--workers", "N",
       "Threads of each process with hosts; 0: one for each of its cores",
       Whole<int>{&o.run.workers, 0, 1024}},
      {"--stall-timeout", "TIME",
       "End a run that makes no progress for this long, e.g. 500ms, and warn "
       "of a kernel that takes longer",
       Duration{&o.run.stall_timeout_ns, absl::Milliseconds(1), Year(),
                "from 1ms to one year, such as 10s or 500ms"}},
      {"--kernel-timeout", "TIME",
       "End the run with an error that names the kernel when one takes longer "
       "than this, e.g. 30s; unless given, there is no limit",
       Duration{&o.run.kernel_timeout_ns, absl::Milliseconds(1), Year(),
                "from 1ms to one year, such as 10s or 500ms",
                /*has_default=*/false}},
      {"--dispatch", "parallel|sequential",
       "When hosts prepare the actions of a step: all of them ahead of their "
       "inputs, or, as a baseline, each once the actions that it reads from "
       "are enqueued",
       Text{&texts.dispatch, {"parallel", "sequential"}}},
      {"--links", "free|cost",
       "Whether messages between hosts take the time that the topology's "
       "links say: free, the default of threads, or cost, which a simulation "
       "always uses",
       Text{&texts.links, {"free", "cost"}}},
      {"--host-work", "TIME",
       "Emulate slower hosts: time that a host takes to prepare one action "
       "for one step, e.g. 100us",
       Duration{&o.run.host_work_ns, absl::ZeroDuration(), absl::Hours(1),
                "from 0 to 1h, such as 100us, 2ms or 500ns"}},
      {"--spill", "FOLDER",
       "Existing folder for arrays that no program uses when the memory of a "
       "host is full",
       Text{&o.run.spill.folder}},
      {"--spill-bytes", "BYTES",
       "Limit for the bytes of each host in that folder; 0: eight times the "
       "host's memory",
       Whole<uint64_t>{&o.run.spill.bytes, 0, kMaxBytes}},
  };
}

std::vector<Flag> ShareFlags(Options& o) {
  return {
      {"--client", "NAME",
       "Unique name of this client; the default names the process",
       Text{&o.client}},
      {"--weight", "NUMBER",
       "Share of device time beside clients that want the same devices: 2 is "
       "twice as much as 1",
       Real{&o.share.weight}},
      {"--priority", "N",
       "Priority, -100 to 100: use devices before all clients of a lower "
       "priority",
       Whole<int>{&o.share.priority, INT32_MIN, INT32_MAX}},
      {"--quota", "BYTES",
       "Limit for the bytes on devices and hosts, all together; 0: no limit",
       Whole<uint64_t>{&o.share.quota_bytes, 0, kMaxBytes}},
      {.name = "--anywhere",
       .type = "",
       .help = "Load the program on the least loaded devices of the same kind "
               "and CPU, not on those that it was compiled for",
       .to = Switch{&o.anywhere},
       .excludes = "--avoid"},
      {"--wait", "TIME",
       "Longest wait for memory that other clients use, e.g. 30s; 0: do not "
       "wait; unless given, there is no limit",
       Duration{&o.load.wait_ns, absl::ZeroDuration(), Year(),
                "from 0 to one year, such as 30s", /*has_default=*/false}},
      {"--deadline", "TIME",
       "Time in which the launch should end, e.g. 50ms, for clusters whose "
       "policy uses deadlines; a missed deadline ends no launch",
       Duration{&o.launch.deadline_ns, absl::Nanoseconds(1), Year(),
                "from 1ns to one year, such as 50ms or 2s",
                /*has_default=*/false}},
  };
}

std::vector<Flag> InspectionFlags(Options& o, FlagTexts& texts) {
  return {
      {"--explain", "CODE|all",
       "Print the cause and the cure of an error like [PW3101], or list all "
       "errors; needs no FILE",
       Text{&texts.explain}},
      {"--dry-run", "",
       "Print memory, bytes moved and gangs per step; run nothing",
       Switch{&o.dry_run}},
      {"--explain-placement", "", "Print where each slice is",
       Switch{&o.explain_placement}},
      {"--explain-shardings", "",
       "Say how arrays and operations are cut, why, and what the alternatives "
       "would cost",
       Switch{&o.explain_shardings}},
      {"--explain-credits", "",
       "Say how many iterations of a loop have memory for each array, and what "
       "would happen with one less",
       Switch{&o.explain_credits}},
      {"--explain-reshard", "",
       "Print how arrays change their layout, how else they could, and what "
       "that costs",
       Switch{&o.explain_reshard}},
      {"--explain-schedules", "",
       "Print time and memory of a step with each schedule of the loop with "
       "labels; run nothing",
       Switch{&o.explain_schedules}},
      {"--explain-import", "",
       "Print how many operations of each kind a module of StableHLO has, and "
       "what they became",
       Switch{&o.explain_import}},
      {"--explain-kernels", "",
       "Print each kernel's code, the origin of the code, its cost, and how "
       "each op is computed",
       Switch{&o.explain_kernels}},
      {"--dump-graph", "FILE",
       "Write actions and edges for Graphviz; - prints them",
       Text{&o.dump_graph}},
      {"--trace", "FILE",
       "Write a trace of the run for ui.perfetto.dev; - prints it",
       Text{&o.trace}},
      {"--profile-out", "FILE",
       "Write what each part of the program cost, for --profile; - prints it",
       Text{&o.profile_out}},
      {"--trace-events", "N",
       "Keep the last N events of each thread for --trace, --stats and "
       "--profile-out",
       Whole<int64_t>{&texts.trace_events, 1, int64_t{1} << 28}},
      {"--stats{table}", "",
       "Print statistics of the run; --stats=json as one line of JSON, "
       "--stats=@FILE writes that line to a file",
       SwitchText{&o.stats}},
  };
}

// Takes values that are whole archives. Returns an error if there are several
// to write.
absl::Status TakeArchiveOptions(FlagTexts& texts, Options& o) {
  o.input_archives = TakeArchives(&texts.inputs);
  o.expected_archives = TakeArchives(&texts.expected);
  const std::vector<std::string> outputs = TakeArchives(&texts.outputs);
  if (outputs.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--output: all results are stored twice, in '@",
                     outputs[0], "' and in '@", outputs[1], "'"));
  }
  if (!outputs.empty()) o.output_archive = outputs[0];
  for (auto [option, values] :
       {std::make_pair("--input", &texts.inputs),
        std::make_pair("--output", &texts.outputs),
        std::make_pair("--expected", &texts.expected)}) {
    for (const std::string& value : *values) {
      if (value[0] != '@' || value.find('=') != std::string::npos) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          option, ": expected NAME=VALUE or @FILE.npz, got '", value, "'"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTarget(absl::string_view option, const std::string& spec) {
  if (spec == "-" || (spec.size() > 1 && spec[0] == '@')) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": expected @FILE or -, got '", spec, "'"));
}

}  // namespace

absl::StatusOr<ParsedOptions> ParseOptions(int argc, const char* const* argv) {
  ParsedOptions parsed;
  Options& o = parsed.options;
  o.run.bind_workers = true;
  FlagTexts texts;
  RecoveryFlags recovery;
  CommandLine line("pw-run", "pw-run (Pathways) " PATHWAYS_VERSION,
                   kDescription, kFooter);
  line.Add("", {{"FILE", "", "Program or plan; - is standard input",
                 Text{&o.file}}});
  line.Add("Data", DataFlags(o, texts));
  line.Add("Compiling", CompileFlags(o));
  line.Add("Running", RunFlags(o, texts));
  line.Add("Recovering from lost hosts", recovery.Table());
  line.Add("Sharing a cluster with others (--connect)", ShareFlags(o));
  line.Add("Inspecting", InspectionFlags(o, texts));
  absl::StatusOr<std::string> print = line.Parse(argc, argv);
  if (!print.ok()) return print.status();
  if (!print->empty()) {
    parsed.print = *std::move(print);
    return parsed;
  }
  if (line.IsGiven("--explain")) {
    parsed.print =
        texts.explain == "all" ? ListErrors() : ExplainError(texts.explain);
    if (!parsed.print.empty()) return parsed;
    return absl::InvalidArgumentError(
        absl::StrCat("--explain: there is no error code '", texts.explain,
                     "'; --explain=all lists all"));
  }
  if (o.file.empty()) {
    return absl::InvalidArgumentError("no FILE is given; - is standard input");
  }
  if (absl::Status s = TakeArchiveOptions(texts, o); !s.ok()) return s;
  for (auto [option, values, specs] :
       {std::make_tuple("--input", &texts.inputs, &o.inputs),
        std::make_tuple("--output", &texts.outputs, &o.outputs),
        std::make_tuple("--save", &texts.saves, &o.saves),
        std::make_tuple("--expected", &texts.expected, &o.expected)}) {
    absl::StatusOr<std::vector<NamedSpec>> result =
        ParseNamedSpecs(option, *values);
    if (!result.ok()) return result.status();
    *specs = *std::move(result);
  }
  for (const NamedSpec& output : o.outputs) {
    absl::Status s =
        CheckTarget(absl::StrCat("--output=", output.name), output.spec);
    if (!s.ok()) return s;
  }
  for (auto [name, value] : {std::make_pair("--rtol", o.tolerance.rtol),
                             std::make_pair("--atol", o.tolerance.atol)}) {
    if (std::isfinite(value) && value >= 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": expected a finite number of at least 0, got ", value));
  }
  if (o.anywhere) o.load.place = LoadPlace::kAnywhere;
  if (absl::Status s = recovery.Check(); !s.ok()) return s;
  if (recovery.any()) o.recovery = recovery.options;
  if (absl::Status s = CheckClientOptions(o.share); !s.ok()) {
    const bool is_weight =
        !(o.share.weight >= kMinWeight && o.share.weight <= kMaxWeight);
    return absl::InvalidArgumentError(
        absl::StrCat(is_weight ? "--weight: " : "--priority: ", s.message()));
  }
  if (texts.dispatch == "sequential")
    o.run.dispatch = ClusterOptions::kSequential;
  const bool simulate = texts.world == "sim";
  if (simulate) o.run.world = ClusterOptions::kSim;
  if (simulate && texts.links == "free") {
    return absl::InvalidArgumentError(
        "--links=free: links of a simulation always cost time; leave it out");
  }
  o.run.link_costs = texts.links == "cost";
  if (o.costs_only) {
    if (!simulate) {
      return absl::InvalidArgumentError(
          "--costs-only: costs are computed in virtual time only; give it with "
          "--world=sim");
    }
    for (auto [name, given] :
         {std::make_pair("--input",
                         !o.inputs.empty() || !o.input_archives.empty()),
          std::make_pair("--output",
                         !o.outputs.empty() || !o.output_archive.empty()),
          std::make_pair("--save", !o.saves.empty()),
          std::make_pair("--expected",
                         !o.expected.empty() || !o.expected_archives.empty()),
          std::make_pair("--recover and --checkpoint-dir",
                         o.recovery.has_value())}) {
      if (!given) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          name, ": a run with --costs-only has no values; leave it out"));
    }
    o.run.run_kernels = false;
  }
  if (texts.processes == "hosts") {
    o.run.processes = -1;
  } else if (!texts.processes.empty() &&
             (!absl::SimpleAtoi(texts.processes, &o.run.processes) ||
              o.run.processes < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--processes: expected a number of at least 1, got '",
                     texts.processes, "'"));
  }
  if (o.run.processes != 0 && (simulate || o.run.link_costs)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--processes: links between processes are real; leave out ",
        simulate ? "--world=sim" : "--links=cost"));
  }
  if (!o.connect.address.empty()) {
    // The cluster's controller has set these options for all its clients.
    for (const char* name :
         {"--topology", "--world", "--seed", "--processes", "--workers",
          "--stall-timeout", "--kernel-timeout", "--dispatch", "--links",
          "--host-work", "--trace-events", "--bind-workers", "--transport",
          "--spill", "--spill-bytes"}) {
      if (!line.IsGiven(name)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          name, ": the cluster determines it; leave it out with --connect"));
    }
  }
  if (o.run.spill.bytes != 0 && o.run.spill.folder.empty()) {
    return absl::InvalidArgumentError(
        "--spill-bytes: no array is spilled without --spill");
  }
  if (!o.run.faults.empty() && !simulate) {
    return absl::InvalidArgumentError(
        "--faults: faults need a simulation; give it with --world=sim");
  }
  if (!texts.transport.empty() && o.run.processes == 0) {
    return absl::InvalidArgumentError(
        "--transport: there is only one process; give it with --processes");
  }
  if (!o.run.chaos.empty() && o.run.processes == 0 &&
      o.connect.address.empty()) {
    return absl::InvalidArgumentError(
        "--chaos: there is only one process; give it with --processes or "
        "--connect");
  }
  o.connect.links.chaos = o.run.chaos;
  if (texts.transport == "shm")
    o.run.worker_links = ClusterOptions::kSharedMemory;
  if (texts.transport == "tcp") o.run.worker_links = ClusterOptions::kTcp;
  if (!o.stats.empty() && o.stats != "table" && o.stats != "json" &&
      (o.stats[0] != '@' || o.stats.size() == 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--stats: expected table, json or @FILE, got '", o.stats, "'"));
  }
  if (!o.trace.empty() || !o.stats.empty() || !o.profile_out.empty() ||
      o.costs_only) {
    o.run.trace_events = texts.trace_events;
  }
  if (o.explain_schedules) {
    for (const char* name :
         {"--connect", "--avoid", "--emit-plan", "--emit-plan-text",
          "--emit-order", "--dump-graph", "--explain-placement",
          "--explain-reshard", "--explain-import", "--explain-kernels",
          "--dry-run", "--trace", "--stats", "--profile-out"}) {
      if (!line.IsGiven(name)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          name,
          ": there are several plans with --explain-schedules, and none "
          "runs; leave it out"));
    }
  }
  for (auto [name, path] : {std::make_pair("--trace", &o.trace),
                            std::make_pair("--profile-out", &o.profile_out)}) {
    if (path->empty() || !(o.dry_run || o.compile_only)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": nothing runs with ",
                     o.dry_run ? "--dry-run" : "--compile-only"));
  }
  if (simulate && !o.profile_out.empty()) {
    return absl::InvalidArgumentError(
        "--profile-out: a simulation cannot measure a profile, because its "
        "virtual time is computed from costs");
  }
  if (o.emit_plan == "-") {
    return absl::InvalidArgumentError(
        "--emit-plan: a plan file is binary; give a path, or print text with "
        "--emit-plan-text=-");
  }
  return parsed;
}

}  // namespace pathways::pw_run
