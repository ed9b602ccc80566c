//===- Compile.h - Parse or build programs, compile them --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiling half of the public API. Link PathwaysCompile.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_COMPILE_H
#define PATHWAYS_COMPILE_H

#include "pathways/Execute.h"
#include "pathways/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pathways {

/// A location-agnostic program as text of the `pw` dialect.
struct Program {
  std::string text;
  /// For messages and source locations.
  std::string file_name = "program.mlir";
};

/// Reads a file; "-" is standard input. Errors: NotFound.
Result<Program> readProgram(const std::string &path);

struct CompileOptions {
  /// As in SessionOptions; the machines to place the program on.
  std::string topology = {};
  /// Let several virtual devices, and virtual islands, share physical ones.
  bool oversubscribe = false;
  /// Other sizes for axes of slices than the text says: SLICE:AXIS=N, more
  /// axes of that slice and more slices separated by commas; empty: none. So
  /// one text in global view runs on any number of devices.
  std::string mesh = {};
  /// Say, as remarks, how arrays and operations are cut, who decided that, and
  /// what other ways would have cost.
  bool explain_shardings = false;
  /// Steps that may be open at once, 1 to 1024; more overlap, more memory.
  int steps_in_flight = 2;
  /// Which pw.program of the text; may be empty when there is one.
  std::string program = {};
  /// What an earlier run of the same text measured, as `pw-run --profile-out`
  /// writes it, of any mesh and machines; empty: nothing. Changes costs and
  /// with them how arrays move; results are the same bits.
  std::string profile = {};
  /// Folder where compiled kernels are kept and looked for; empty: none. Any
  /// number of processes may share it. The plan is the same with and without.
  /// Refused where others than this user and root may write to it.
  std::string kernel_cache = {};
  /// Bytes to keep there, what was used last first; 0: no bound.
  uint64_t kernel_cache_bytes = uint64_t{1} << 30;
  /// Fill Compiled::reshards.
  bool explain_reshards = false;
  /// Fill KernelCost::paths, and say, as remarks, which ops are left to plain
  /// loops where vectors would be more than 4 times as fast.
  bool explain_kernels = false;
};

/// By which way an op of a kernel is computed.
struct OpPath {
  /// "file:line:column", or empty.
  std::string place;
  /// Its name, as in the text.
  std::string op;
  /// In words. What is left to plain loops says "plain loop: " and why.
  std::string path;
};

/// What the code of one kernel cost.
struct KernelCost {
  std::string kernel;
  /// From CompileOptions::kernel_cache, not compiled.
  bool is_cached = false;
  /// To compile it, or to find it; of one thread.
  double seconds = 0;
  /// With CompileOptions::explain_kernels: of the ops that compute or move
  /// elements, on the first of its targets.
  std::vector<OpPath> paths;
};

/// A way for an array to get from layout to layout, and what it costs each
/// time.
struct ReshardRoute {
  /// In words, in order.
  std::string steps;
  int64_t num_steps = 0;
  /// Between different devices of an island, between islands, and those of both
  /// that go from host to host.
  int64_t ici_bytes = 0, dcn_bytes = 0, host_bytes = 0;
  /// Of a shard before and after a step, at the most.
  int64_t peak_bytes = 0;
  /// By the links of the machines; inside of a function, where they have no
  /// say, of devices that are all alike.
  int64_t nanoseconds = 0;
  /// False: shards are not counted one by one, and taken to be alike.
  bool is_counted = true;
};

/// What there was to choose from for one pw.reshard, or for one tensor inside
/// of a function in global view.
struct ReshardChoice {
  /// "file:line:column", or empty.
  std::string place;
  /// Types of the array; of a tensor its type with its sharding, and the new
  /// one.
  std::string from, to;
  /// The one that is taken first.
  std::vector<ReshardRoute> routes;
};

struct Compiled {
  Plan plan;
  /// Remarks and warnings, "file:line:column: remark: ...", in order.
  std::vector<std::string> remarks;
  /// Kernels compiled, in the order of the plan's table.
  std::vector<KernelCost> kernels;
  /// With CompileOptions::explain_reshards: those inside of functions, by
  /// function as they are called first, then those of the program in the order
  /// of the text.
  std::vector<ReshardChoice> reshards;
};

/// Places, lowers and generates code. Also takes the text of the `plan`
/// dialect, which is only checked and translated. No text ends the process:
/// where MLIR or LLVM crash on it, that is an error too, and the memory of that
/// compilation is lost. Uses what threads the system gives. Errors:
/// InvalidProgram; InvalidArgument, before anything is compiled, when
/// CompileOptions::steps_in_flight is out of bounds, CompileOptions::mesh,
/// CompileOptions::profile or CompileOptions::explain_reshards is given for a
/// plan, CompileOptions::profile cannot be read or is of another program, or
/// CompileOptions::kernel_cache cannot be written.
Result<Compiled> compile(const Program &program, const CompileOptions &options);

/// The plan as text of the `plan` dialect, deterministic; compile() reads it
/// back. Errors: InvalidArgument.
Result<std::string> printPlan(const Plan &plan);

/// Builds the text of a program step by step. Names are used as given; what
/// does not fit together is reported by compile(), with the line of the text.
class ProgramBuilder {
public:
  /// A value of the program under construction.
  struct Array {
    std::string name;
    std::string type;
  };
  using Axes = std::vector<std::string>;

  explicit ProgramBuilder(std::string name) : name(std::move(name)) {}

  /// A mesh of virtual devices: axis names with sizes, major first. Shards are
  /// cut into equal runs, row-major, one for each of the `spans` islands.
  void slice(const std::string &slice,
             const std::vector<std::pair<std::string, int64_t>> &mesh,
             const std::vector<std::string> &apartFrom = {}, int64_t spans = 1);
  /// MLIR text of one or more func.func, the bodies that call() names.
  void functions(const std::string &mlir);
  /// The type of an array of `shape` on `slice`; dims[d] are the mesh axes that
  /// split dimension d, and a last "?" lets the compiler choose more.
  static std::string arrayType(ElementType element,
                               const std::vector<int64_t> &shape,
                               const std::string &slice,
                               const std::vector<Axes> &dims);
  /// One whose layout the compiler chooses.
  static std::string arrayType(ElementType element,
                               const std::vector<int64_t> &shape,
                               const std::string &slice);

  /// A `stepped` argument takes the next index of an extra leading dimension in
  /// each step.
  Array argument(const std::string &argument, const std::string &type,
                 bool stepped = false);
  /// Runs @function on all shards of its slice.
  Array call(const std::string &function, const std::vector<Array> &operands,
             const std::string &resultType);
  /// The same of a function of any number of results.
  std::vector<Array> callMulti(const std::string &function,
                               const std::vector<Array> &operands,
                               const std::vector<std::string> &resultTypes);
  /// Moves an array to another layout or slice.
  Array reshard(const Array &array, const std::string &type);
  /// A `stepped` result stacks the values of all steps; otherwise the last
  /// step's is kept.
  void result(const std::string &result, const Array &array,
              bool stepped = false);
  /// From the second step on, `argument` takes what `result` was in the step
  /// before.
  void carry(const std::string &result, const std::string &argument);

  Program build() const;

private:
  struct Port {
    std::string name;
    Array array;
    bool stepped;
  };
  Array define(const std::string &op, const std::string &operands,
               const std::vector<Array> &sources, const std::string &type);

  std::string name, slices, bodies, ops;
  std::vector<Port> arguments, results;
  std::vector<std::pair<std::string, std::string>> carried;
  int nextValue = 0;
};

} // namespace pathways

#endif // PATHWAYS_COMPILE_H
