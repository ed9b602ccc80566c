//===- options.cc - The command line of pw-run ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/options.h"

#include <CLI/CLI.hpp>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/base/error_codes.h"
#include "runtime/client/check_options.h"
#include "runtime/plan/verify.h"
#include "tools/pw-run/recovery_flags.h"
#include "tools/pw-run/signature.h"

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
  zeros  ones     every element              random:SEED    in [-1, 1), or any int8
  random:SEED:0.5 the same, times 0.5
  ramp            0, 1, 2, ...; starts over where the type stops being exact
A stepped argument or result has one more, leading dimension: the steps.

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
failed. --explain=PW3101 says more of a message that ends with [PW3101].
)";

// "--inptu" is answered with "--input".
std::string Suggestion(const CLI::App& app, const std::string& message) {
  size_t at = message.find("--");
  if (at == std::string::npos) return "";
  std::string given =
      message.substr(at, message.find_first_of("=,:; ", at) - at);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  std::string closest = Closest(given, names);
  // What is wrong may be its value.
  if (closest.empty() || closest == given) return "";
  return absl::StrCat("; did you mean '", closest, "'?");
}

// "--option=" has no value. The parser would take the next argument for it.
absl::Status CheckValues(int argc, const char* const* argv) {
  for (int i = 1; i < argc && absl::string_view(argv[i]) != "--"; ++i) {
    absl::string_view argument = argv[i];
    if (argument.size() > 3 && argument.substr(0, 2) == "--" &&
        argument.find('=') == argument.size() - 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument.substr(0, argument.size() - 1),
                       ": expected a value after '='"));
    }
  }
  return absl::OkStatus();
}

// A whole number from `low` to `high`, both included.
CLI::Validator Between(int64_t low, int64_t high) {
  CLI::Validator range = CLI::Range(low, high);
  return range.description("");
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
  CLI::App app(kDescription, "pw-run");
  app.footer(kFooter);
  app.set_version_flag("--version", "pw-run (Pathways) " PATHWAYS_VERSION,
                       "Print the version");
  std::vector<std::string> inputs, outputs, saves, expected;
  // The seed as text: the parser of numbers takes -1 for 2^64 - 1.
  std::string world = "threads", stall = "10s", kernel_timeout, seed = "0";
  std::string dispatch = "parallel", host_work = "0", links, processes,
              transport, deadline, wait, explain;
  int64_t trace_events = int64_t{1} << 18;
  o.run.bind_workers = true;

  app.add_option("FILE", o.file, "Program or plan; - is standard input")
      ->type_name("");
  auto many = [&](const char* name, std::vector<std::string>& to,
                  const char* help, const char* group) {
    app.add_option(name, to, help)
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false)
        ->group(group);
  };
  constexpr char kData[] = "Data";
  many("--input", inputs, "Value of an argument; every argument needs one",
       kData);
  many("--output", outputs,
       "Store a result: NAME=@y.npy, or NAME=- to print all of it", kData);
  many("--save", saves,
       "Save a result in a new folder, a file for each block of its shards: "
       "NAME=FOLDER",
       kData);
  many("--expected", expected, "Compare a result with a value", kData);
  app.add_option(
         "--rtol", o.tolerance.rtol,
         "Floats differ when |got - expected| > atol + rtol * |expected|")
      ->type_name("NUMBER")
      ->capture_default_str()
      ->group(kData);
  app.add_option("--atol", o.tolerance.atol, "See --rtol; NaN equals NaN only")
      ->type_name("NUMBER")
      ->capture_default_str()
      ->group(kData);

  constexpr char kCompile[] = "Compiling";
  app.add_option("--program", o.program,
                 "Which pw.program, when FILE has several")
      ->type_name("NAME")
      ->group(kCompile);
  app.add_option("--topology", o.topology,
                 "Machines: IxHxD, a .textproto file, or 'local'")
      ->type_name("SPEC")
      ->group(kCompile);
  app.add_flag("--oversubscribe", o.oversubscribe,
               "Let virtual devices and islands share physical ones")
      ->group(kCompile);
  app.add_option("--avoid", o.avoid,
                 "Islands, hosts and devices that the program is not to be on")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->group(kCompile);
  app.add_option("--mesh", o.mesh,
                 "Other sizes of a slice's axes, for a program in global view")
      ->type_name("SLICE:AXIS=N,... ...")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(kCompile);
  app.add_option("--steps-in-flight", o.steps_in_flight,
                 "Steps that may overlap; more takes more memory")
      ->capture_default_str()
      ->type_name("N")
      ->check(Between(1, kMaxStepsInFlight))
      ->group(kCompile);
  app.add_option("--kernel-cache", o.kernel_cache,
                 "Keep compiled kernels in this folder and look there first; "
                 "other processes may share it, its files may be deleted; it "
                 "holds code that will run: refused when others than you and "
                 "root may write to it")
      ->type_name("DIR")
      ->envname("PATHWAYS_KERNEL_CACHE")
      ->group(kCompile);
  app.add_option("--kernel-cache-bytes", o.kernel_cache_bytes,
                 "Bytes to keep there, what was used last first; 0: no bound")
      ->capture_default_str()
      ->type_name("N")
      ->check(Between(0, int64_t{1} << 62))
      ->group(kCompile);
  app.add_option("--profile", o.profile,
                 "What --profile-out of another run wrote: costs that were "
                 "measured count instead of estimates; results are the same")
      ->type_name("FILE")
      ->group(kCompile);
  app.add_option("--emit-plan", o.emit_plan, "Write the plan file")
      ->type_name("FILE")
      ->group(kCompile);
  app.add_option("--emit-plan-text", o.emit_plan_text,
                 "Write the plan as text; - prints it")
      ->type_name("FILE")
      ->group(kCompile);
  app.add_flag("--compile-only", o.compile_only,
               "Stop before running; needs no inputs")
      ->group(kCompile);

  constexpr char kRun[] = "Running";
  app.add_option("--steps", o.steps, "Steps to run in one launch")
      ->capture_default_str()
      ->type_name("N")
      ->check(Between(1, int64_t{1} << 31))
      ->group(kRun);
  app.add_option("--first-step", o.launch.first_step,
                 "Number of the first step, which is what pw.step_index is in "
                 "it; steps are counted from there also in errors and traces")
      ->capture_default_str()
      ->type_name("N")
      ->check(Between(0, int64_t{1} << 40))
      ->group(kRun);
  app.add_option("--world", world,
                 "threads, or sim: one thread, virtual time, repeatable")
      ->capture_default_str()
      ->type_name("threads|sim")
      ->check(CLI::IsMember({"threads", "sim"}).description(""))
      ->group(kRun);
  app.add_option("--seed", seed, "Order of what --world=sim leaves open")
      ->capture_default_str()
      ->type_name("N")
      ->group(kRun);
  app.add_option(
         "--faults", o.run.faults,
         "With --world=sim, what goes wrong and when: a file, or one of "
         "crashes, jumbled, llama3 and lossy, with *N behind it N times "
         "as fast; docs/simulation.md has the format")
      ->type_name("FILE|NAME")
      ->group(kRun);
  app.add_flag("--costs-only", o.costs_only,
               "With --world=sim: what a step costs, on clusters of any size; "
               "kernels take their estimates, or what --profile has, and "
               "compute nothing; needs no inputs")
      ->group(kRun);
  app.add_flag("--bind-workers,!--no-bind-workers", o.run.bind_workers,
               "Keep each thread on a core of its own; on unless negated")
      ->group(kRun);
  app.add_flag("--processes{hosts}", processes,
               "Run hosts in processes of their own: one each, or "
               "--processes=N of them")
      ->group(kRun);
  app.add_option("--transport", transport,
                 "What these speak with each other: sockets, or UCX over shm "
                 "or tcp, where it is installed")
      ->check(CLI::IsMember({"sockets", "shm", "tcp"}).description(""))
      ->type_name("NAME")
      ->group(kRun);
  app.add_option("--connect", o.connect.address,
                 "Compile for the cluster whose `pw-node controller` listens "
                 "there, and run on it: HOST:PORT, unix:/PATH or unix:@NAME")
      ->type_name("ADDRESS")
      ->group(kRun);
  app.add_option("--key", o.connect.links.key_file,
                 "The key of that cluster, which HOST:PORT needs")
      ->type_name("FILE")
      ->envname("PATHWAYS_KEY")
      ->group(kRun);
  app.add_flag("--trust-loopback", o.connect.links.trust_loopback,
               "Or HOST:PORT on loopback without a key, where the cluster does "
               "so too")
      ->group(kRun);
  app.add_option("--chaos", o.run.chaos,
                 "With --processes or --connect, do to what is sent what a bad "
                 "network would: delay=0.3,duplicate=0.1,...; docs/clusters.md "
                 "has all")
      ->type_name("FAULTS")
      ->group(kRun);
  app.add_option(
         "--workers", o.run.workers,
         "Threads of each process with hosts; 0: one for each of its cores")
      ->capture_default_str()
      ->type_name("N")
      ->check(Between(0, 1024))
      ->group(kRun);
  app.add_option("--stall-timeout", stall,
                 "End a run that makes no progress for this long, e.g. 500ms, "
                 "and warn of a kernel that takes longer")
      ->capture_default_str()
      ->type_name("TIME")
      ->group(kRun);

  app.add_option("--kernel-timeout", kernel_timeout,
                 "End with an error that names it when a kernel takes longer "
                 "than this, e.g. 30s; any may, unless this is given")
      ->type_name("TIME")
      ->group(kRun);

  app.add_option("--dispatch", dispatch,
                 "When hosts prepare the actions of a step: all of them ahead "
                 "of their inputs, or each once those that it reads from are "
                 "enqueued, as a baseline")
      ->capture_default_str()
      ->type_name("parallel|sequential")
      ->check(CLI::IsMember({"parallel", "sequential"}).description(""))
      ->group(kRun);
  app.add_option("--links", links,
                 "Whether messages between hosts take the time that the "
                 "topology's links say: free, which threads are unless told, "
                 "or cost, which a simulation always is")
      ->type_name("free|cost")
      ->check(CLI::IsMember({"free", "cost"}).description(""))
      ->group(kRun);
  app.add_option("--host-work", host_work,
                 "Emulate slower hosts: what preparing one action for one step "
                 "takes a host, e.g. 100us")
      ->capture_default_str()
      ->type_name("TIME")
      ->group(kRun);

  app.add_option("--spill", o.run.spill.folder,
                 "Folder, which is there, for arrays that nobody uses right "
                 "now when a host's memory runs out")
      ->type_name("FOLDER")
      ->group(kRun);
  app.add_option("--spill-bytes", o.run.spill.bytes,
                 "Most bytes of each host in it; 0: eight times its memory")
      ->capture_default_str()
      ->type_name("BYTES")
      ->check(Between(0, int64_t{1} << 62))
      ->group(kRun);

  RecoveryFlags recovery;
  recovery.AddTo(&app);

  constexpr char kShare[] = "Sharing a cluster with others (--connect)";
  app.add_option("--client", o.client,
                 "Name to be known by, which no other client has; as it is, "
                 "one that says which process this is")
      ->type_name("NAME")
      ->group(kShare);
  app.add_option("--weight", o.share.weight,
                 "Share of device time beside clients that want the same "
                 "devices: 2 is twice as much as 1")
      ->capture_default_str()
      ->type_name("NUMBER")
      ->group(kShare);
  app.add_option("--priority", o.share.priority,
                 "Have devices before all clients of a lower one; -100 to 100")
      ->capture_default_str()
      ->type_name("N")
      ->group(kShare);
  app.add_option("--quota", o.share.quota_bytes,
                 "Bytes to have on devices and hosts at most, all together; 0: "
                 "no bound")
      ->capture_default_str()
      ->type_name("BYTES")
      ->check(Between(0, int64_t{1} << 62))
      ->group(kShare);
  app.add_flag("--anywhere", o.anywhere,
               "Load the program on those devices that are least loaded, of "
               "the same kind and CPU, not on those that it was compiled for")
      ->excludes("--avoid")
      ->group(kShare);
  app.add_option("--wait", wait,
                 "Longest wait for memory that other clients have, e.g. 30s; "
                 "0: not at all; as it is, as long as it takes")
      ->type_name("TIME")
      ->group(kShare);
  app.add_option("--deadline", deadline,
                 "When the launch should be over, e.g. 50ms, for clusters "
                 "whose policy goes by deadlines; it ends nothing")
      ->type_name("TIME")
      ->group(kShare);

  constexpr char kLook[] = "Looking";
  app.add_option(
         "--explain", explain,
         "Say what an error like [PW3101] comes from and what helps, or "
         "list all of them; needs no FILE")
      ->type_name("CODE|all")
      ->group(kLook);
  app.add_flag("--dry-run", o.dry_run,
               "Print memory, bytes moved and gangs per step; run nothing")
      ->group(kLook);
  app.add_flag("--explain-placement", o.explain_placement,
               "Print where each slice is")
      ->group(kLook);
  app.add_flag("--explain-shardings", o.explain_shardings,
               "Say how arrays and operations are cut, why, and what else that "
               "would cost")
      ->group(kLook);
  app.add_flag("--explain-reshard", o.explain_reshard,
               "Print how arrays change their layout, how else they could, and "
               "what that costs")
      ->group(kLook);
  app.add_flag("--explain-kernels", o.explain_kernels,
               "Print what code each kernel has, where from, its cost, and by "
               "which way each op is computed")
      ->group(kLook);
  app.add_option("--dump-graph", o.dump_graph,
                 "Write actions and edges for Graphviz; - prints them")
      ->type_name("FILE")
      ->group(kLook);
  app.add_option("--trace", o.trace,
                 "Write what happened when, for ui.perfetto.dev; - prints it")
      ->type_name("FILE")
      ->group(kLook);
  app.add_option("--profile-out", o.profile_out,
                 "Write what each part of the program cost, for --profile; - "
                 "prints it")
      ->type_name("FILE")
      ->group(kLook);
  app.add_option("--trace-events", trace_events,
                 "Keep the last N events of each thread for --trace, --stats "
                 "and --profile-out")
      ->capture_default_str()
      ->type_name("N")
      ->check(Between(1, int64_t{1} << 28))
      ->group(kLook);
  // A flag with a value: "--stats FILE" must not take FILE.
  app.add_flag("--stats{table}", o.stats,
               "Print statistics of the run; --stats=json as one line of JSON, "
               "--stats=@FILE writes that line to a file")
      ->group(kLook);

  if (absl::Status s = CheckValues(argc, argv); !s.ok()) return s;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    parsed.print = app.help();
    return parsed;
  } catch (const CLI::CallForVersion& version) {
    parsed.print = absl::StrCat(version.what(), "\n");
    return parsed;
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    return absl::InvalidArgumentError(
        absl::StrCat(message, Suggestion(app, message)));
  }
  if (app.count("--explain") > 0) {
    parsed.print = explain == "all" ? ListErrors() : ExplainError(explain);
    if (!parsed.print.empty()) return parsed;
    return absl::InvalidArgumentError(
        absl::StrCat("--explain: there is no error code '", explain,
                     "'; --explain=all lists all"));
  }
  if (o.file.empty()) {
    return absl::InvalidArgumentError("no FILE is given; - is standard input");
  }
  for (auto [option, values, specs] :
       {std::make_tuple("--input", &inputs, &o.inputs),
        std::make_tuple("--output", &outputs, &o.outputs),
        std::make_tuple("--save", &saves, &o.saves),
        std::make_tuple("--expected", &expected, &o.expected)}) {
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
  for (auto [name, text, ns] :
       {std::make_tuple("--stall-timeout", &stall, &o.run.stall_timeout_ns),
        std::make_tuple("--kernel-timeout", &kernel_timeout,
                        &o.run.kernel_timeout_ns)}) {
    if (text->empty()) continue;  // not given
    absl::Duration timeout;
    if (!absl::ParseDuration(*text, &timeout) ||
        timeout < absl::Milliseconds(1) || timeout > absl::Hours(24 * 365)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name,
                       ": expected a duration from 1ms to one year, such as "
                       "10s or 500ms, got '",
                       *text, "'"));
    }
    *ns = absl::ToInt64Nanoseconds(timeout);
  }
  // "-0" and numbers too large for a duration are refused with the rest.
  absl::Duration work;
  if (!absl::ParseDuration(host_work, &work) || host_work[0] == '-' ||
      work > absl::Hours(1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--host-work: expected a duration from 0 to 1h, such as "
                     "100us, 2ms or 500ns, got '",
                     host_work, "'"));
  }
  o.run.host_work_ns = absl::ToInt64Nanoseconds(work);
  if (o.anywhere) o.load.place = LoadPlace::kAnywhere;
  if (!wait.empty()) {
    absl::Duration longest;
    if (!absl::ParseDuration(wait, &longest) || wait[0] == '-' ||
        longest > absl::Hours(24 * 365)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--wait: expected a duration from 0 to one year, such "
                       "as 30s, got '",
                       wait, "'"));
    }
    o.load.wait_ns = absl::ToInt64Nanoseconds(longest);
  }
  if (absl::Status s = recovery.Check(); !s.ok()) return s;
  if (recovery.any()) o.recovery = recovery.options;
  absl::Duration until;
  if (!deadline.empty()) {
    if (!absl::ParseDuration(deadline, &until) ||
        until < absl::Nanoseconds(1) || until > absl::Hours(24 * 365)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--deadline: expected a duration from 1ns to one year, such as 50ms "
          "or 2s, got '",
          deadline, "'"));
    }
    o.launch.deadline_ns = absl::ToInt64Nanoseconds(until);
  }
  if (absl::Status s = CheckClientOptions(o.share); !s.ok()) {
    const bool is_weight =
        !(o.share.weight >= kMinWeight && o.share.weight <= kMaxWeight);
    return absl::InvalidArgumentError(
        absl::StrCat(is_weight ? "--weight: " : "--priority: ", s.message()));
  }
  if (dispatch == "sequential") o.run.dispatch = ClusterOptions::kSequential;
  const bool simulate = world == "sim";
  if (simulate) o.run.world = ClusterOptions::kSim;
  if (simulate && links == "free") {
    return absl::InvalidArgumentError(
        "--links=free: links of a simulation always cost time; leave it out");
  }
  o.run.link_costs = links == "cost";
  if (o.costs_only) {
    if (!simulate) {
      return absl::InvalidArgumentError(
          "--costs-only: a run without values has costs in virtual time alone; "
          "give it with --world=sim");
    }
    for (auto [name, given] :
         {std::make_pair("--input", !o.inputs.empty()),
          std::make_pair("--output", !o.outputs.empty()),
          std::make_pair("--save", !o.saves.empty()),
          std::make_pair("--expected", !o.expected.empty()),
          std::make_pair("--recover and --checkpoint-dir",
                         o.recovery.has_value())}) {
      if (!given) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          name, ": there are no values with --costs-only, leave it out"));
    }
    o.run.run_kernels = false;
  }
  if (processes == "hosts") {
    o.run.processes = -1;
  } else if (!processes.empty() &&
             (!absl::SimpleAtoi(processes, &o.run.processes) ||
              o.run.processes < 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--processes: expected a number of at least 1, got '", processes, "'"));
  }
  if (o.run.processes != 0 && (simulate || o.run.link_costs)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--processes: links between processes are real, leave out ",
        simulate ? "--world=sim" : "--links=cost"));
  }
  if (!o.connect.address.empty()) {
    // What its controller has been told, for all.
    for (const char* name :
         {"--topology", "--world", "--seed", "--processes", "--workers",
          "--stall-timeout", "--kernel-timeout", "--dispatch", "--links",
          "--host-work", "--trace-events", "--bind-workers", "--transport",
          "--spill", "--spill-bytes"}) {
      if (app.count(name) == 0) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          name, ": it is the cluster's, leave it out with --connect"));
    }
  }
  if (o.run.spill.bytes != 0 && o.run.spill.folder.empty()) {
    return absl::InvalidArgumentError(
        "--spill-bytes: nothing is spilled; give it with --spill");
  }
  if (!o.run.faults.empty() && !simulate) {
    return absl::InvalidArgumentError(
        "--faults: they are of a simulation; give it with --world=sim");
  }
  if (!transport.empty() && o.run.processes == 0) {
    return absl::InvalidArgumentError(
        "--transport: there is one process; give it with --processes");
  }
  if (!o.run.chaos.empty() && o.run.processes == 0 &&
      o.connect.address.empty()) {
    return absl::InvalidArgumentError(
        "--chaos: there is one process; give it with --processes or --connect");
  }
  o.connect.links.chaos = o.run.chaos;
  if (transport == "shm") o.run.worker_links = ClusterOptions::kSharedMemory;
  if (transport == "tcp") o.run.worker_links = ClusterOptions::kTcp;
  if (!absl::SimpleAtoi(seed, &o.run.seed)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--seed: expected a number from 0 to 2^64 - 1, got '", seed, "'"));
  }
  if (!o.stats.empty() && o.stats != "table" && o.stats != "json" &&
      (o.stats[0] != '@' || o.stats.size() == 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--stats: expected table, json or @FILE, got '", o.stats, "'"));
  }
  if (!o.trace.empty() || !o.stats.empty() || !o.profile_out.empty() ||
      o.costs_only) {
    o.run.trace_events = trace_events;
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
        "--profile-out: time is virtual with --world=sim, it is made of costs "
        "and measures none");
  }
  if (o.emit_plan == "-") {
    return absl::InvalidArgumentError(
        "--emit-plan: a plan file is binary, give a path; --emit-plan-text=- "
        "prints text");
  }
  return parsed;
}

}  // namespace pathways::pw_run
