//===- flag_table.cc - Command lines as tables of flags -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/flags/flag_table.h"

#include <CLI/CLI.hpp>
#include <deque>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/flags/closest.h"

namespace pathways::flags {
namespace {

absl::Duration ValueOf(const Duration& duration) {
  if (auto* const* ns = std::get_if<int64_t*>(&duration.to)) {
    return absl::Nanoseconds(**ns);
  }
  return *std::get<absl::Duration*>(duration.to);
}

void Store(absl::Duration value, const Duration& to) {
  if (auto* const* ns = std::get_if<int64_t*>(&to.to)) {
    **ns = absl::ToInt64Nanoseconds(value);
  } else {
    *std::get<absl::Duration*>(to.to) = value;
  }
}

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

struct CommandLine::State {
  // A flag whose text is read after CLI11 has parsed it.
  struct Late {
    const char* name;
    std::variant<Unsigned, Duration> to;
    std::string text;
  };

  State(const char* tool, const char* description) : app(description, tool) {}

  // Adds one flag to the tool or to a command.
  void Add(CLI::App* command, const char* heading, const Flag& flag);
  // Adds the option itself, without what all kinds of flags have in common.
  CLI::Option* AddOption(CLI::App* command, const Flag& flag);
  // Returns the command that the arguments name, or the tool.
  absl::StatusOr<CLI::App*> FindCommand(int argc, const char* const* argv);
  // Checks what CLI11 would misread or report without a suggestion.
  absl::Status CheckNames(CLI::App* command, int argc, const char* const* argv);
  absl::Status ReadLate();

  CLI::App app;
  std::vector<CLI::App*> commands;
  CLI::App* given = nullptr;  // command, or the tool; null before Parse
  std::deque<Late> late;      // CLI11 keeps addresses of their texts
  std::vector<std::pair<CLI::Option*, const char*>> exclusions;
};

CLI::Option* CommandLine::State::AddOption(CLI::App* command,
                                           const Flag& flag) {
  const auto default_of = [&](CLI::Option* option) {
    if (flag.shows_default) option->capture_default_str();
    return option;
  };
  const auto whole = [&](const auto& to) {
    CLI::Option* option = command->add_option(flag.name, *to.to, flag.help);
    option->check(CLI::Range(to.least, to.most).description(""));
    return default_of(option);
  };
  const auto text_later = [&](std::variant<Unsigned, Duration> to,
                              std::string text) {
    Late& read = late.emplace_back(Late{flag.name, to, std::move(text)});
    CLI::Option* option = command->add_option(flag.name, read.text, flag.help);
    return read.text.empty() ? option : default_of(option);
  };
  return std::visit(
      Overloaded{
          [&](const Switch& to) {
            return command->add_flag(flag.name, *to.to, flag.help);
          },
          [&](const SwitchText& to) {
            return command->add_flag(flag.name, *to.to, flag.help);
          },
          [&](const Whole<int>& to) { return whole(to); },
          [&](const Whole<int64_t>& to) { return whole(to); },
          [&](const Whole<uint64_t>& to) { return whole(to); },
          [&](const Unsigned& to) {
            return text_later(to, absl::StrCat(*to.to));
          },
          [&](const Real& to) {
            return default_of(
                command->add_option(flag.name, *to.to, flag.help));
          },
          [&](const Text& to) {
            CLI::Option* option =
                command->add_option(flag.name, *to.to, flag.help);
            if (!to.choices.empty()) {
              option->check(CLI::IsMember(to.choices).description(""));
            }
            return to.to->empty() ? option : default_of(option);
          },
          [&](const OptionalText& to) {
            return command->add_option(flag.name, *to.to, flag.help)
                ->expected(0, 1);
          },
          [&](const Texts& to) {
            CLI::Option* option =
                command->add_option(flag.name, *to.to, flag.help);
            if (flag.name[0] == '-') option->allow_extra_args(false);
            if (to.delimiter != 0) option->delimiter(to.delimiter);
            return option;
          },
          [&](const Duration& to) {
            return text_later(
                to, to.has_default ? absl::FormatDuration(ValueOf(to)) : "");
          },
      },
      flag.to);
}

void CommandLine::State::Add(CLI::App* command, const char* heading,
                             const Flag& flag) {
  CLI::Option* option = AddOption(command, flag);
  const bool has_value = !std::holds_alternative<Switch>(flag.to) &&
                         !std::holds_alternative<SwitchText>(flag.to);
  if (has_value) option->type_name(flag.type);
  if (flag.environment != nullptr) option->envname(flag.environment);
  if (flag.is_required) option->required();
  if (flag.excludes != nullptr) exclusions.emplace_back(option, flag.excludes);
  if (flag.is_hidden) {
    option->group("");
  } else if (*heading != '\0') {
    option->group(heading);
  }
}

absl::StatusOr<CLI::App*> CommandLine::State::FindCommand(
    int argc, const char* const* argv) {
  if (commands.empty() || (argc > 1 && argv[1][0] == '-')) return &app;
  std::vector<std::string> names;
  for (CLI::App* command : commands) {
    if (argc > 1 && command->get_name() == argv[1]) return command;
    names.push_back(command->get_name());
  }
  const std::string expected = absl::StrJoin(names, ", ");
  if (argc < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("no command is given, expected one of ", expected));
  }
  const std::string suggestion = DidYouMean(argv[1], names);
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown command '", argv[1], "'",
      suggestion.empty() ? absl::StrCat(", expected one of ", expected)
                         : suggestion));
}

absl::Status CommandLine::State::CheckNames(CLI::App* command, int argc,
                                            const char* const* argv) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  for (int i = 1; i < argc && absl::string_view(argv[i]) != "--"; ++i) {
    const absl::string_view argument = argv[i];
    if (argument.substr(0, 2) != "--") continue;
    const std::string name(argument.substr(0, argument.find('=')));
    if (!absl::c_linear_search(names, name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown flag '", name, "'", DidYouMean(name, names)));
    }
    // CLI11 would take the next argument for the value of "--flag=".
    if (name.size() + 1 == argument.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": expected a value after '='"));
    }
  }
  return absl::OkStatus();
}

absl::Status CommandLine::State::ReadLate() {
  for (const Late& read : late) {
    if (auto* number = std::get_if<Unsigned>(&read.to)) {
      if (absl::SimpleAtoi(read.text, number->to)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          read.name, ": expected a number from 0 to 2^64 - 1, got '", read.text,
          "'"));
    }
    const Duration& duration = std::get<Duration>(read.to);
    if (read.text.empty()) continue;  // not given
    absl::Duration value;
    if (!absl::ParseDuration(read.text, &value) || read.text[0] == '-' ||
        value < duration.least || value > duration.most) {
      return absl::InvalidArgumentError(
          absl::StrCat(read.name, ": expected a duration ", duration.expected,
                       ", got '", read.text, "'"));
    }
    Store(value, duration);
  }
  return absl::OkStatus();
}

CommandLine::CommandLine(const char* tool, const char* version,
                         const char* description, const char* footer)
    : state_(std::make_unique<State>(tool, description)) {
  state_->app.footer(footer);
  state_->app.set_version_flag("--version", version, "Print the version");
}

CommandLine::~CommandLine() = default;

void CommandLine::Add(const char* heading, std::vector<Flag> flags) {
  for (const Flag& flag : flags) state_->Add(&state_->app, heading, flag);
}

void CommandLine::AddCommand(const char* name, const char* help,
                             std::vector<Flag> flags) {
  CLI::App* command = state_->app.add_subcommand(name, help);
  for (const Flag& flag : flags) state_->Add(command, "", flag);
  state_->commands.push_back(command);
}

absl::StatusOr<std::string> CommandLine::Parse(int argc,
                                               const char* const* argv) {
  State& state = *state_;
  for (auto [option, excluded] : state.exclusions) option->excludes(excluded);
  absl::StatusOr<CLI::App*> command = state.FindCommand(argc, argv);
  if (!command.ok()) return command.status();
  state.given = *command;
  absl::Status status = state.CheckNames(*command, argc, argv);
  if (!status.ok()) return status;
  try {
    state.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return state.app.help();
  } catch (const CLI::CallForVersion& version) {
    return absl::StrCat(version.what(), "\n");
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  status = state.ReadLate();
  if (!status.ok()) return status;
  return std::string();
}

absl::string_view CommandLine::command() const {
  return state_->given == nullptr || state_->given == &state_->app
             ? absl::string_view()
             : absl::string_view(state_->given->get_name());
}

bool CommandLine::IsGiven(absl::string_view flag) const {
  return state_->given != nullptr &&
         state_->given->count(std::string(flag)) > 0;
}

}  // namespace pathways::flags
