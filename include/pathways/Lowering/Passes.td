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
    Needs placed programs: every slice bound, no `pw.reshard`, donations that are last
    uses. Replaces each `pw.program` by a `plan.program` of the same name, and
    slices, bindings and the functions that programs call by what the plan holds of
    them. Bodies are cut at collectives into the segments of a `plan.kernel`, one
    per different computation; calls that run the same code share it.

    | in `pw` | in the plan |
    | --- | --- |
    | an argument | a feed, before everything else |
    | `pw.call` | a gang |
    | `pw.transfer`, `pw.copy` | a send and a recv |
    | an operand of `pw.return` | a fetch, after everything else |
    | an array | a buffer |

    Edges follow from who reads and writes a buffer. An array that is fed, fetched or
    moved has as many slots as there are steps in flight, so that its two ends need
    not wait for each other; one that stays with the gangs of a slice has one slot,
    since these follow each other anyway. Arrays whose lives do not overlap share memory.
    A donated operand's memory becomes that of a result of the same type where the code can
    work in place; a remark tells of one for which there is none.

    A carried argument and its next value lie in one place with one slot, so that a step
    leaves what the next one takes where that looks for it: nothing is copied, whatever
    the number of steps in flight. A call that makes the one of the other works in place,
    also unasked. An argument that is carried as it is has one slot as well. Where
    this cannot be (the argument is still read when its next value is written, that
    comes by a movement or is another argument, or it is sent to another slice and so
    would keep the next step from beginning) both have slots of their own, each step
    copies the value, and a remark says why.

    What actions cost is what `profile` has measured, or else an estimate, with a remark
    that says of how many computations.

    Fails with an error at the op that is not in the form needed, naming the pass that
    brings it there, and when `profile` cannot be read or is of another program. Time and size do not depend on the number of shards.
  }];
  let options = [
    Option<"stepsInFlight", "steps-in-flight", "unsigned", /*default=*/"2",
           "Steps of a program that may be open at a time, 1 to 1024">,
    Option<"credits", "credits", "unsigned", /*default=*/"0",
           "Slots of an array that is fed, fetched or moved; 0: steps in flight">,
    Option<"profile", "profile", "std::string", /*default=*/[{""}],
           "What the program's parts were measured to cost, a file; empty: nothing">
  ];
  let dependentDialects = ["::mlir::pathways::plan::PlanDialect",
                           "::mlir::pathways::PathwaysDialect"];
}

def CompileKernels : Pass<"pw-compile-kernels", "::mlir::ModuleOp"> {
  let summary = "Compile the functions of kernels to object code";
  let description = [{
    Replaces the functions of each `plan.kernel` by one `plan.object` per different
    target among the devices that the slices of its program are bound to, and
    completes its segments: scratch memory and the places of checks. Without a
    device there, the target is this machine. Kernels that have code stay.
    Deterministic: equal functions and targets give equal bytes.

    With `kernel-cache`, code is kept in a folder by a hash of all that it follows
    from, and what is there is not compiled again; the plan is the same. Any number
    of processes may share the folder, and any of its files may be deleted at any
    time. A file that is damaged, or that other users could have written, is a
    warning, and is replaced.

    With `explain`, a remark says of each op that is left to plain loops what keeps it
    from vectors, where these would be more than 4 times as fast.

    Fails with an error at the op that cannot become code, and, before anything is
    compiled, when the folder cannot be written, or when other users than this one
    and root may write to it: what they put there would run.
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
           "Say which ops are left to plain loops, and why">
  ];
  let dependentDialects = ["::mlir::pathways::plan::PlanDialect"];
}

#endif // PATHWAYS_LOWERING_PASSES_TD
