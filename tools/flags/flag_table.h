//===- flag_table.h - Command lines as tables of flags ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tool lists its flags in tables: name, type, help, the variable that
// receives the value, and the values that are allowed. A CommandLine parses the
// arguments by these tables with CLI11, which only flag_table.cc includes. An
// unknown flag or command is an error that names the closest known one.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_FLAGS_FLAG_TABLE_H_
#define TOOLS_FLAGS_FLAG_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace pathways::flags {

// A flag without a value; a name that begins with '!' turns it off.
struct Switch {
  bool* to;
};

// A flag that may have a value, but only behind '=': --stats or --stats=json.
// The name ends with the value that the bare flag stands for: --stats{table}.
struct SwitchText {
  std::string* to;
};

// A whole number from `least` to `most`, both included.
template <typename T>
struct Whole {
  T* to;
  int64_t least, most;
};

// Any number of 64 bits without a sign.
struct Unsigned {
  uint64_t* to;
};

struct Real {
  double* to;
};

// A text; if `choices` are given, one of them.
struct Text {
  std::string* to;
  std::vector<std::string> choices = {};
};

// A text that may be left out: --any-host or --any-host ISLAND.
struct OptionalText {
  std::string* to;
};

// Texts of a flag that may be repeated. A value with the delimiter is several
// texts; 0: there is no delimiter.
struct Texts {
  std::vector<std::string>* to;
  char delimiter = 0;
};

// A duration from `least` to `most`, both included.
struct Duration {
  std::variant<int64_t*, absl::Duration*> to;  // int64_t: nanoseconds
  absl::Duration least, most;
  // For the error: "expected a duration EXPECTED, got ...".
  const char* expected;
  // False: the variable keeps its value unless the flag is given, and --help
  // shows no default.
  bool has_default = true;
};

using Target = std::variant<Switch, SwitchText, Whole<int>, Whole<int64_t>,
                            Whole<uint64_t>, Unsigned, Real, Text, OptionalText,
                            Texts, Duration>;

// One flag. A name without leading dashes is a positional argument.
struct Flag {
  const char* name;
  const char* type;  // of the value, for --help; "": none
  const char* help;
  Target to;
  // Environment variable that is read if the flag is not given.
  const char* environment = nullptr;
  const char* excludes = nullptr;  // a flag of the same command
  bool is_required = false;
  bool is_hidden = false;  // --help does not show it
  // False: --help does not show the value that the variable has.
  bool shows_default = true;
};

// The command line of one tool. Not thread-safe.
class CommandLine {
 public:
  CommandLine(const char* tool, const char* version, const char* description,
              const char* footer);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Adds flags of the tool itself under a heading of --help; "": none. The
  // variables of the flags must outlive Parse.
  void Add(const char* heading, std::vector<Flag> flags);
  // Adds a command, as `pw-node status`; one of the commands must be given
  // then.
  void AddCommand(const char* name, const char* help, std::vector<Flag> flags);

  // Parses the arguments after argv[0], once. Returns text to print for --help
  // and
  // --version, and "" otherwise. InvalidArgument names the flag, what was
  // expected and what was given.
  absl::StatusOr<std::string> Parse(int argc, const char* const* argv);

  // After Parse: the command that was given, and whether a flag was, on the
  // command line or by its environment variable.
  absl::string_view command() const;
  bool IsGiven(absl::string_view flag) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pathways::flags

#endif  // TOOLS_FLAGS_FLAG_TABLE_H_
