//===- Passes.td - Passes from pw to plan and code ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LOWERING_PASSES_TD
#define PATHWAYS_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToPlan : Pass<"pw-lower-to-plan", "::mlir::ModuleOp"> {
  let summary = "Turn programs into plans";
  let description = [{
    Requires placed programs: every slice is bound, there is no `pw.reshard`, and
    donations are last uses. Replaces each `pw.program` by a `plan.program` of the same
    name, and slices, bindings and the functions that programs call by the
    corresponding entries of the plan. Bodies are cut at collectives into the segments
    of a `plan.kernel`. There is one kernel per different computation; calls that run
    the same code share it.

    | in `pw` | in the plan |
    | --- | --- |
    | an argument | a feed, before everything else |
    | `pw.call` | a gang |
    | `pw.transfer`, `pw.copy` | a send and a recv |
    | an operand of `pw.return` | a fetch, after everything else |
    | an array | a buffer |

    Edges follow from the readers and the writer of each buffer. An array that is fed,
    fetched or moved has one slot for each step in flight, so that its two ends need
    not wait for each other. An array that only gangs of a slice use has one slot,
    since gangs follow each other anyway. Arrays whose lifetimes do not overlap share
    memory. A result of the same type takes the memory of a donated operand if the code
    can work in place; a remark reports each donation that no result takes.

    A carried argument and its next value share one place with one slot, so that the
    next step finds the value where the previous step wrote it: nothing is copied,
    whatever the number of steps in flight. A call that makes the next value from the
    argument works in place, even without a donation. An argument that is carried
    unchanged has one slot, too. In three cases this is not possible: the argument is
    still read when its next value is written; the next value comes from a movement or
    is another argument; or the value is sent to another slice and so would delay the
    next step. Then both have slots of their own, each step copies the value, and a
    remark gives the reason.

    The costs of actions are those measured in `profile`. Other costs are estimates; a
    remark gives the number of such computations. `label-costs` gives calls whose label
    fits a pattern another cost.

    An array of a loop has a slot for each iteration that uses it at a time. What gangs of
    one slice write and read has as many as their order says. What a slice receives or
    sends has the fewest with which, by the costs, no slice ends later. With
    `explain-credits`, a remark for each such array has the slice, the call that makes it,
    the last call that reads it, the number, and what would happen with one less.

    Fails with an error at an op that is not in the required form, naming the pass that
    brings it there, if `profile` cannot be read or is of another program, and if
    `label-costs` has a pattern that fits no label. Time and size do not depend on the
    number of shards.
  }];
  let options = [
    Option<"stepsInFlight", "steps-in-flight", "unsigned", /*default=*/"2",
           "Steps of a program that may be open at a time, 1 to 1024">,
    Option<"credits", "credits", "unsigned", /*default=*/"0",
           "Slots of an array that is fed, fetched or moved; 0: steps in flight">,
    Option<"profile", "profile", "std::string", /*default=*/[{""}],
           "A file with the measured costs of the program's parts; empty: none">,
    Option<"topology", "topology", "std::string", /*default=*/[{""}],
           "Machines whose links movements use: local, ISLANDSxHOSTSxDEVICES, or a "
           "textproto file; empty: unknown">,
    ListOption<"labelCosts", "label-costs", "std::string",
               "Costs of calls by label, such as *F=18ms; the last that fits counts">,
    Option<"explainCredits", "explain-credits", "bool", /*default=*/"false",
           "Say how many iterations of a loop have memory for each array, and why">
  ];
  let dependentDialects = ["::mlir::pathways::plan::PlanDialect",
                           "::mlir::pathways::PathwaysDialect"];
}

def CompileKernels : Pass<"pw-compile-kernels", "::mlir::ModuleOp"> {
  let summary = "Compile the functions of kernels to object code";
  let description = [{
    Replaces the functions of each `plan.kernel` by one `plan.object` per different
    target among the devices that may run it: those of the kind of its slices on the
    islands of these slices. If there are none, the target is this machine. Completes
    the segments with scratch memory and the places of checks. Kernels that already
    have code stay unchanged. Deterministic: equal functions and targets give equal
    bytes.

    With `kernel-cache`, a folder caches code by a hash of everything it depends on,
    and cached code is not compiled again; the plan is the same. Any number of
    processes may share the folder, and any of its files may be deleted at any time. A
    file that is damaged, or that other users could have written, causes a warning and
    is replaced.

    With `explain`, a remark at each op that runs as a plain loop gives the reason, if
    vectors would be more than 4 times as fast.

    `rounding` chooses how floats are [rounded](../kernels.md#rounding). It is part of
    the hash of a kernel; the attribute `rounding` of the kernel names it unless it is
    the default.

    Fails with an error at an op that cannot become code. Fails before anything is
    compiled if the folder cannot be written, or if users other than this one and root
    may write to it: files that they put there would run.
  }];
  let options = [
    Option<"topology", "topology", "std::string", /*default=*/[{"local"}],
           "Machines: local, ISLANDSxHOSTSxDEVICES, or a textproto file">,
    Option<"kernelCache", "kernel-cache", "std::string", /*default=*/[{""}],
           "Folder of compiled kernels; empty: none">,
    Option<"kernelCacheBytes", "kernel-cache-bytes", "uint64_t",
           /*default=*/"uint64_t{1} << 30",
           "Bytes to keep there, what was used last first; 0: no bound">,
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Say which ops are left to plain loops, and why">,
    Option<"rounding", "rounding", "::mlir::pathways::Rounding",
           /*default=*/"::mlir::pathways::Rounding::EachOp",
           "How floats are rounded",
           "::mlir::pathways::getRoundingValues()">
  ];
  let dependentDialects = ["::mlir::pathways::plan::PlanDialect"];
}

#endif // PATHWAYS_LOWERING_PASSES_TD
