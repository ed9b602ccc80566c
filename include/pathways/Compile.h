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

#include "pathways/HostArray.h"
#include "pathways/Plan.h"
#include "pathways/Result.h"
#include "pathways/ScheduleCosts.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pathways {

/// A location-agnostic program as text of the `pw` dialect, or a module of
/// StableHLO whose function @main is the program.
struct Program {
  std::string text;
  /// File name in messages and source locations.
  std::string file_name = "program.mlir";
};

/// Reads a file; "-" is standard input. Errors: NotFound.
Result<Program> readProgram(const std::string &path);

/// Options for modules of StableHLO. docs/from-jax.md has examples.
struct ImportOptions {
  /// Results that arguments take in the next step: ARGUMENTS:RESULTS. Each side
  /// is a position (0), positions (0-3), or the beginning of names ("state",
  /// "[0]"), and both stand for equally many values of the same types. Further
  /// pairs follow after commas. Empty or "none": no argument takes a result.
  std::string carry = {};
  /// Arguments and results that have one value for each step, in a leading
  /// dimension: positions of arguments, or names. Further ones follow after
  /// commas.
  std::string stepped = {};
  /// Values of constants that the text elides (`dense_resource<__elided__>`):
  /// "zeros" or "random:SEED". Empty: such constants are an error.
  std::string elided = {};
  /// Slices on which named parts of the module run: NAME=SLICE or
  /// NAME=SLICE:LABEL. NAME is a function that is called, or a named
  /// computation or tensor of `mpmd`. Further ones follow after commas.
  std::string assign = {};
  /// The slices that operations may be marked with, in order: NAME, or
  /// NAME:ISLAND. Slices with different numbers are on different islands, those
  /// with the same number on the same. A slice NAME:FIRST-LAST spans as many
  /// islands. In a module without marks, a single slice is where everything
  /// runs. Further ones follow after commas. Empty: any slice.
  std::string slices = {};
};

/// Rounding of floating-point numbers: docs/kernels.md, "Rounding".
enum class Rounding {
  /// Each op rounds its result to its type. Products and convolutions may round
  /// each term together with its addition, and plain sums add in lanes.
  kEachOp,
  /// Products, convolutions and sums also round each term and add term by term:
  /// no fused multiply-add, no matrix units, no lanes.
  kStrict,
  /// Roundings between ops may be dropped: a product may be rounded together
  /// with the sum behind it, and numbers of 16 bits stay f32 inside a loop.
  kExcess,
};

struct CompileOptions {
  /// The machines to place the program on, written as in SessionOptions.
  std::string topology = {};
  /// Let several virtual devices, and virtual islands, share physical ones.
  bool oversubscribe = false;
  /// Sizes that replace those of slice axes in the text: SLICE:AXIS=N. Further
  /// axes of that slice, and further slices, follow after commas. Empty: no
  /// change. So one text in global view runs on any number of devices.
  std::string mesh = {};
  /// Report, as remarks, how each array and operation is cut, who decided it,
  /// and what the other cuts would have cost.
  bool explain_shardings = false;
  /// Report, as remarks, how many iterations of a loop have memory for each
  /// array, and what would happen with one less (docs/schedules.md).
  bool explain_credits = false;
  /// Steps that may be in flight at once, 1 to 1024. More steps overlap more
  /// and take more memory.
  int steps_in_flight = 2;
  /// Order of the calls of the only loop that has labels: the name of a
  /// schedule, such as "1f1b"; "auto" for the fastest that fits in the memory
  /// of the devices, by simulations, which a remark names; or "@" and the path
  /// of a file of orders. Empty: that of the text. Results keep the same bits.
  std::string schedule = {};
  /// File to which the orders of loops with a schedule are written; empty:
  /// none.
  std::string emit_order = {};
  /// Costs that replace those of calls whose label fits a pattern, as
  /// "PATTERN=TIME", such as "*F=18.522ms". The last that fits counts. They
  /// change the times of simulations and `PlanCosts`, and no bit of results. A
  /// pattern that fits no label is an error.
  std::vector<std::string> label_costs = {};
  /// Name of the pw.program to compile; may be empty if the text has only one.
  std::string program = {};
  /// Profile of an earlier run of the same text, on any mesh and machines, as
  /// `pw-run --profile-out` writes it. Empty: no profile. It changes cost
  /// estimates and so how arrays move; results keep the same bits.
  std::string profile = {};
  /// Folder that caches compiled kernels; empty: none. Any number of processes
  /// may share it. The plan does not depend on the cache. A folder is refused
  /// if other users than this one and root may write to it.
  std::string kernel_cache = {};
  /// Bound on the bytes of the cache; the least recently used entries are
  /// evicted first. 0: no bound.
  uint64_t kernel_cache_bytes = uint64_t{1} << 30;
  /// Part of the hash of each kernel. Plans of different rounding differ.
  Rounding rounding = Rounding::kEachOp;
  /// Fill Compiled::reshards.
  bool explain_reshards = false;
  /// Fill Compiled::imported.
  bool explain_import = false;
  /// Options for a module of StableHLO; other programs take none.
  ImportOptions import_options = {};
  /// Fill KernelCost::paths, and report, as remarks, which ops run as plain
  /// loops although vectors would be more than 4 times as fast.
  bool explain_kernels = false;
};

/// Implementation of one op of a kernel.
struct OpPath {
  /// "file:line:column", or empty.
  std::string place;
  /// Name of the op, as in the text.
  std::string op;
  /// Description in words. For a plain loop it starts with "plain loop: " and
  /// gives the reason.
  std::string path;
};

/// Cost of compiling one kernel.
struct KernelCost {
  std::string kernel;
  /// True if the code came from CompileOptions::kernel_cache.
  bool is_cached = false;
  /// Time of one thread to compile the kernel, or to find it in the cache.
  double seconds = 0;
  /// Paths of the ops that compute or move elements, on the first target of the
  /// kernel. Filled only with CompileOptions::explain_kernels.
  std::vector<OpPath> paths;
};

/// A route of an array from layout to layout, and its cost per execution.
struct ReshardRoute {
  /// The steps in words, in order.
  std::string steps;
  int64_t num_steps = 0;
  /// Bytes between different devices of an island, bytes between islands, and
  /// those of both that go from host to host.
  int64_t ici_bytes = 0, dcn_bytes = 0, host_bytes = 0;
  /// Largest total of the bytes of a shard before and after one step.
  int64_t peak_bytes = 0;
  /// Estimated time by the links of the machines. Inside a function the
  /// machines do not count: there it is the time on devices that are all alike.
  int64_t nanoseconds = 0;
  /// False if the shards were not counted one by one but assumed to be alike.
  bool is_counted = true;
};

/// The routes considered for one pw.reshard, or for one tensor inside a
/// function in global view.
struct ReshardChoice {
  /// "file:line:column", or empty.
  std::string place;
  /// Types of the array. A tensor has its type with its sharding, and the new
  /// sharding.
  std::string from, to;
  /// The chosen route comes first.
  std::vector<ReshardRoute> routes;
};

/// The order of the calls of one loop that has a schedule (docs/schedules.md).
struct LoopOrder {
  /// "file:line:column" of the loop, or empty.
  std::string place;
  /// Name of the schedule, or "@" and the path of the file of orders.
  std::string schedule;
  /// Text of a file of orders: a line for each slice that has labels.
  std::string order;
};

/// The operations of one kind in a module of StableHLO.
struct ImportedKind {
  /// Name, such as "stablehlo.add".
  std::string op;
  /// Number of these operations in the text.
  int64_t count = 0;
  /// Names and numbers of the operations that they became in the functions of
  /// the program; the most frequent ones first.
  std::vector<std::pair<std::string, int64_t>> became;
};

/// Arguments whose memory a result of the same step may take, so that another
/// step needs other values for them.
struct DonatedArguments {
  /// Number of these arguments, and the position of the first one.
  int64_t count = 0;
  int64_t first = 0;
  /// The value of ImportOptions::carry that `tf.aliasing_output` suggests.
  /// Front ends match aliases by type, so it is only a hint. Empty: there are
  /// no aliases.
  std::string carry;
};

struct Compiled {
  Plan plan;
  /// Remarks and warnings, "file:line:column: remark: ...", in order.
  std::vector<std::string> remarks;
  /// The kernels of the plan, in the order of its table.
  std::vector<KernelCost> kernels;
  /// Filled with CompileOptions::explain_reshards. Changes of layout inside
  /// functions come first, by function in the order of the first call, then
  /// those of the program in the order of the text.
  std::vector<ReshardChoice> reshards;
  /// Filled with CompileOptions::explain_import for a module of StableHLO: the
  /// kinds of operations in it, the most frequent ones first.
  std::vector<ImportedKind> imported;
  /// The orders of the loops that have a schedule, inner loops first. Together
  /// their texts are what CompileOptions::emit_order writes.
  std::vector<LoopOrder> orders;
  /// The donated arguments of a module of StableHLO.
  DonatedArguments donated;
};

/// Places the program, lowers it and generates its code. Also accepts text of
/// the `plan` dialect, which is only checked and translated, and modules of
/// StableHLO: see docs/from-jax.md. No text ends the
/// process: a crash of MLIR or LLVM is returned as an error, and the memory of
/// that compilation leaks. Runs on as many threads as the system grants.
/// Errors: InvalidProgram; InvalidArgument, before anything is compiled, if
/// CompileOptions::steps_in_flight is out of bounds, if CompileOptions::mesh,
/// CompileOptions::profile, CompileOptions::rounding or
/// CompileOptions::explain_reshards is given for a plan, if
/// CompileOptions::import_options are given for another text than a module of
/// StableHLO, if CompileOptions::profile cannot be read or is of another
/// program, or if CompileOptions::kernel_cache cannot be written; Refused if
/// the schedule is "auto" and no schedule fits in the memory of the devices.
Result<Compiled> compile(const Program &program, const CompileOptions &options);

/// Returns what a step of the program costs with each schedule, in a fixed
/// order (docs/schedules.md): time and memory, without a run.
/// CompileOptions::schedule is empty, or "@" and the path of a file of orders,
/// which is explained last. Deterministic. Errors: as for compile();
/// InvalidProgram if there is no loop with labels, or several; InvalidArgument
/// for a plan.
Result<std::vector<ScheduleCosts>>
explainSchedules(const Program &program, const CompileOptions &options);

/// Returns the text, in the `pw` dialect, of the program that compile() makes
/// of a module of StableHLO. A text that is no such module is returned as it
/// is. Errors: InvalidProgram; InvalidArgument if there are options for a text
/// that is no such module.
Result<std::string> importStableHlo(const Program &program,
                                    const ImportOptions &options = {});

/// Returns the plan as text of the `plan` dialect, which compile() reads back.
/// Deterministic. Errors: InvalidArgument.
Result<std::string> printPlan(const Plan &plan);

/// Builds the text of a program step by step. Names are used as given;
/// compile() reports inconsistencies, with the line of the text.
class ProgramBuilder {
public:
  /// A value of the program under construction.
  struct Value {
    std::string name;
    std::string type;
  };
  using Axes = std::vector<std::string>;

  explicit ProgramBuilder(std::string name) : name(std::move(name)) {}

  /// Adds a mesh of virtual devices: axis names with sizes, major first. The
  /// shards are cut into equal runs, row-major, one for each of the `spans`
  /// islands.
  void slice(const std::string &slice,
             const std::vector<std::pair<std::string, int64_t>> &mesh,
             const std::vector<std::string> &apartFrom = {}, int64_t spans = 1);
  /// Adds the MLIR text of one or more func.func, the bodies that call() names.
  void functions(const std::string &mlir);
  /// Returns the type of an array of `shape` on `slice`. dims[d] lists the mesh
  /// axes that cut dimension d; a last "?" lets the compiler add axes.
  static std::string arrayType(ElementType element,
                               const std::vector<int64_t> &shape,
                               const std::string &slice,
                               const std::vector<Axes> &dims);
  /// Returns the type of an array whose layout the compiler chooses.
  static std::string arrayType(ElementType element,
                               const std::vector<int64_t> &shape,
                               const std::string &slice);

  /// Adds an argument. In each step a `stepped` argument takes the next index
  /// of an extra leading dimension.
  Value argument(const std::string &argument, const std::string &type,
                 bool stepped = false);
  /// Calls @function, which has one result, on all shards of its slice.
  Value call(const std::string &function, const std::vector<Value> &operands,
             const std::string &resultType);
  /// Calls a function with any number of results.
  std::vector<Value> callMulti(const std::string &function,
                               const std::vector<Value> &operands,
                               const std::vector<std::string> &resultTypes);
  /// Moves an array to another layout or slice.
  Value reshard(const Value &array, const std::string &type);
  /// Adds a result. A `stepped` result stacks the values of all steps; any
  /// other result keeps the value of the last step.
  void result(const std::string &result, const Value &array,
              bool stepped = false);
  /// From the second step on, `argument` takes the value of `result` in the
  /// previous step.
  void carry(const std::string &result, const std::string &argument);

  Program build() const;

private:
  struct Port {
    std::string name;
    Value array;
    bool stepped;
  };
  Value define(const std::string &op, const std::string &operands,
               const std::vector<Value> &sources, const std::string &type);

  std::string name, slices, bodies, ops;
  std::vector<Port> arguments, results;
  std::vector<std::pair<std::string, std::string>> carried;
  int nextValue = 0;
};

} // namespace pathways

#endif // PATHWAYS_COMPILE_H
