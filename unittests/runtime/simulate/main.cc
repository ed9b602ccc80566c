//===- main.cc - Hunts bugs in simulations --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/simulation.md says what it does.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/proto/text_file.h"
#include "tools/flags/closest.h"
#include "unittests/runtime/simulate/draw_scenario.h"
#include "unittests/runtime/simulate/planted_bugs.h"
#include "unittests/runtime/simulate/run_scenario.h"
#include "unittests/runtime/simulate/trial.h"

namespace pathways::simulate {
namespace {

constexpr char kHelp[] =
    R"(Runs random scenarios in a simulation and looks whether a rule is broken.

  --seeds=N        how many (100)
  --first=S        the first seed (1); "random" draws it
  --keep-going     do not stop at the first that fails
  --bug=NAME       with a bug planted; --bugs lists them
  --scenario=FILE  run this scenario instead, as it was printed
  --log            print what control messages say
  --print          print the scenario of each seed too
  --shrink=N       make what fails smaller, in at most N trials (300)
  --table          print which faults met which state of the protocol
  --least-good=P   fail when fewer percent of the runs did all they do alone
)";

struct Flags {
  uint64_t seeds = 100, first = 1;
  bool keep_going = false, print = false, table = false;
  std::string bug, scenario;
  int shrink = 300;
  int least_good = 0;
};

class Hunt {
 public:
  explicit Hunt(Flags flags) : flags_(std::move(flags)) {}

  int Run() {
    if (!flags_.scenario.empty()) return RunFile();
    std::printf("seeds %llu to %llu\n", Long(flags_.first),
                Long(flags_.first + flags_.seeds - 1));
    TrySeeds(flags_.first, flags_.seeds, flags_.bug,
             [&](const Report& report) { return Take(report); });
    std::printf(
        "%llu runs, %llu of them as without faults, %llu failed; calls: %llu "
        "as without faults, %llu not; %llu events, hash %016llx\n",
        Long(runs_), Long(good_runs_), Long(failed_), Long(good_), Long(bad_),
        Long(events_), Long(hash_));
    if (flags_.table) PrintTable();
    if (failed_ > 0) return 1;
    if (100 * good_runs_ < static_cast<uint64_t>(flags_.least_good) * runs_) {
      std::printf("fewer than %d %% of the runs went well\n",
                  flags_.least_good);
      return 1;
    }
    return 0;
  }

 private:
  static unsigned long long Long(uint64_t number) { return number; }

  bool Take(const Report& report) {
    if (flags_.print) {
      std::printf("%s", DrawScenario(report.seed()).DebugString().c_str());
    }
    ++runs_;
    good_runs_ += report.wrong().empty() && report.bad() == 0 ? 1 : 0;
    good_ += report.good();
    bad_ += report.bad();
    events_ += report.events();
    hash_ = hash_ * 31 + report.hash();
    for (const Report::Meeting& meeting : report.meetings()) {
      ++met_[meeting.fault()][meeting.state()];
    }
    if (report.wrong().empty()) return true;
    ++failed_;
    Scenario scenario = DrawScenario(report.seed());
    scenario.set_bug(flags_.bug);
    Notify(report);
    std::printf(
        "repeat: scripts/simulate --first=%llu --seeds=1%s\n",
        Long(report.seed()),
        flags_.bug.empty() ? "" : absl::StrCat(" --bug=", flags_.bug).c_str());
    Smaller(scenario, report);
    return flags_.keep_going;
  }

  void Notify(const Report& report) {
    std::printf("seed %llu fails:\n", Long(report.seed()));
    for (const std::string& wrong : report.wrong()) {
      std::printf("  %s\n", wrong.c_str());
    }
  }

  void Smaller(const Scenario& scenario, Report report) {
    if (flags_.shrink <= 0) return;
    const Scenario small = Shrink(scenario, flags_.shrink, &report);
    std::printf("the smallest that fails so, for --scenario=FILE:\n%s",
                small.DebugString().c_str());
    Notify(report);
  }

  int RunFile() {
    Scenario scenario;
    absl::StatusOr<std::string> text =
        ReadTextFile("scenario", flags_.scenario, 1 << 20);
    absl::Status read = text.status();
    if (read.ok()) read = ParseText(*text, flags_.scenario, &scenario);
    if (!read.ok()) {
      std::printf("%s\n", std::string(read.message()).c_str());
      return 2;
    }
    const Report report = TryApart(scenario);
    std::printf("%llu events, %lld ns, hash %016llx\n", Long(report.events()),
                static_cast<long long>(report.now_ns()), Long(report.hash()));
    if (report.wrong().empty()) return 0;
    Notify(report);
    Smaller(scenario, report);
    return 1;
  }

  void PrintTable() const {
    std::set<std::string> states;
    for (const auto& [fault, row] : met_) {
      for (const auto& [state, count] : row) states.insert(state);
    }
    std::printf("%-13s", "");
    for (const std::string& state : states) std::printf(" %10s", state.c_str());
    std::printf("\n");
    for (const auto& [fault, row] : met_) {
      std::printf("%-13s", fault.c_str());
      for (const std::string& state : states) {
        const auto found = row.find(state);
        std::printf(" %10d", found == row.end() ? 0 : found->second);
      }
      std::printf("\n");
    }
  }

  const Flags flags_;
  uint64_t runs_ = 0, good_runs_ = 0, failed_ = 0, good_ = 0, bad_ = 0;
  uint64_t events_ = 0, hash_ = 0;
  std::map<std::string, std::map<std::string, int>> met_;
};

int Main(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    absl::string_view flag = argv[i];
    const auto number = [&](absl::string_view name, auto* to) {
      absl::string_view value = flag;
      return absl::ConsumePrefix(&value, name) && absl::SimpleAtoi(value, to);
    };
    const auto word = [&](absl::string_view name, std::string* to) {
      absl::string_view value = flag;
      if (!absl::ConsumePrefix(&value, name)) return false;
      *to = std::string(value);
      return true;
    };
    if (flag == "--help") {
      std::printf("%s", kHelp);
      return 0;
    }
    if (flag == "--bugs") {
      for (const auto& [name, what] : PlantedBugs::All()) {
        std::printf("%-18s %s\n", name.c_str(), what.c_str());
      }
      return 0;
    }
    if (flag == "--first=random") {
      // Seeds from here on draw everything that can be drawn.
      flags.first = kFirstOfNumbers + std::random_device()();
    } else if (flag == "--keep-going") {
      flags.keep_going = true;
    } else if (flag == "--log") {
      log_messages = true;
    } else if (flag == "--print") {
      flags.print = true;
    } else if (flag == "--table") {
      flags.table = true;
    } else if (!number("--seeds=", &flags.seeds) &&
               !number("--first=", &flags.first) &&
               !number("--shrink=", &flags.shrink) &&
               !number("--least-good=", &flags.least_good) &&
               !word("--bug=", &flags.bug) &&
               !word("--scenario=", &flags.scenario)) {
      const std::vector<std::string> known = {
          "--bug",        "--bugs",       "--first",  "--help",
          "--keep-going", "--least-good", "--log",    "--print",
          "--scenario",   "--seeds",      "--shrink", "--table"};
      const std::string name(flag.substr(0, flag.find('=')));
      std::printf("error: unknown flag '%s'%s; --help lists all\n", argv[i],
                  flags::DidYouMean(name, known).c_str());
      return 2;
    }
  }
  if (!flags.bug.empty() && !PlantedBugs::Has(flags.bug)) {
    std::printf("no bug '%s'; --bugs lists them\n", flags.bug.c_str());
    return 2;
  }
  return Hunt(std::move(flags)).Run();
}

}  // namespace
}  // namespace pathways::simulate

int main(int argc, char** argv) { return pathways::simulate::Main(argc, argv); }
