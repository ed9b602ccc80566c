//===- Passes.td - Passes from pw to pw -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_TRANSFORMS_PASSES_TD
#define PATHWAYS_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckProgram : Pass<"pw-check-program", "::mlir::ModuleOp"> {
  let summary = "Check that programs can be compiled";
  let description = [{
    Verifies properties of each function reached from a `pw.call` that no single
    operation can verify, and changes nothing:

    * the function and its callees have a body of one block, and none of them calls
      itself, directly or indirectly;
    * its operations are of dialects that become object code: `func`, `linalg`,
      `tensor`, `arith`, `math`, `scf`, `affine`, `cf.assert`, `ub.poison` and
      the local view of `pw`.

    Fails with an error at the call or at the operation, and a note at the other one.
  }];
}

def Fingerprint : Pass<"pw-fingerprint", "::mlir::ModuleOp"> {
  let summary = "Add a fingerprint of its text to each program";
  let description = [{
    Gives each `pw.program` the attribute `fingerprint`: a hash of its text and of
    everything else in the module except other programs, without locations. It
    prevents the use of a profile for another text. The pass must run before any pass
    that changes programs, so that meshes and machines do not affect the fingerprint.

    ```mlir
    pw.program @p(...) {...}
    // becomes
    pw.program @p(...) attributes {fingerprint = "91e0f7b2c6a3d8450c1d5e66a7b89f23"} {...}
    ```
  }];
}

def OverrideMesh : Pass<"pw-override-mesh", "::mlir::ModuleOp"> {
  let summary = "Give other sizes to the axes of slices";
  let description = [{
    Lets one text run on any number of devices: computations in global view do not
    depend on the size of an axis. A computation in local view that is written for
    other sizes no longer verifies, with an error at its call and a note at the
    function.

    ```mlir
    pw.slice @s mesh <"data" = 1, "model" = 2>
    // pw-override-mesh{mesh=s:data=4}
    pw.slice @s mesh <"data" = 4, "model" = 2>
    ```

    Fails with an error if there is no such slice or axis, if an axis is given twice,
    or if the size is not positive.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", /*default=*/[{""}],
           "SLICE:AXIS=N,AXIS=N,...: sizes of mesh axes of slices">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect"];
}

def PropagateShardings : Pass<"pw-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "Choose axes for dimensions that are open";
  let description = [{
    Propagates the shardings in types and in `pw.constrain` to arrays whose types have
    open dimensions: forward and backward, through calls and bodies of functions in
    global view, over `pw.reshard`, and between carried arguments and the results that
    they take. There are three rounds: elementwise operations and reshapes, then also
    sums of products, then all operations. If two sides of an operation disagree, the
    sharding wins that more bytes already have. A dimension gets no axes that would
    leave a device without elements of it; a dimension without `?` stays as it is
    written. Afterwards no dimension is open.

    ```mlir
    pw.program @p(%x: !pw.array<8x4xf32, @s, [{"data"}, {} ]>, %w: !pw.array<4x6xf32, @s>)
        -> !pw.array<8x6xf32, @s> {
    // %w and the result of a product of %x and %w become
    // !pw.array<4x6xf32, @s, [{}, {} ]> and !pw.array<8x6xf32, @s, [{"data"}, {} ]>
    ```

    A function is analyzed once for each combination of shardings of its calls. With
    more than 64 combinations its calls propagate nothing, with a remark. Another
    remark reports a slice for which the program has no sharding at all. The choice
    follows from the text and the slices alone. With `explain`, a remark for each array
    that was open tells how it is cut and where that comes from. Fails with an error at
    a node with an open array that has no rule for propagation.
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Emit remarks that say what decided the sharding of each array">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect"];
}

def Partition : Pass<"pw-partition", "::mlir::ModuleOp"> {
  let summary = "Cut computations in global view over their slices";
  let description = [{
    Replaces the callee of each `pw.call` on a slice of more than one device, if it is
    in global view, by an equivalent function in local view. There is one such function
    for each combination of function, mesh and layouts of operands and results. On one
    device the global view is the local view, and a callee without `pw.manual` stays.

    ```mlir
    func.func private @f(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32>
    %0 = pw.call @f(%x, %w)
        : (!pw.array<8x4xf32, @s, [{}, {"m"} ]>, !pw.array<4x6xf32, @s, [{"m"}, {} ]>)
        -> !pw.array<8x6xf32, @s, [{}, {} ]>
    // becomes, with "m" = 2
    func.func private @f_sharded(%x: tensor<8x2xf32>, %w: tensor<2x6xf32>)
        -> tensor<8x6xf32> attributes {pw.local_view} {
      // a product of 8x2 and 2x6, then
      %1 = pw.all_reduce %0 add over ["m"] : tensor<8x6xf32>
    ```

    Each operation is cut in the cheapest way: as its operands are cut, as its results
    are wanted, or not at all. The cost is an estimate of the movement that brings its
    operands to their layouts and its results to the wanted layouts, and of the
    computation of one shard. Wanted layouts are propagated through the body as by
    `pw-propagate-shardings`. Sums over a dimension that is cut stay contributions
    until an operation reads them, even if they are added to each other, scaled or
    reshaped; an operation that needs a block of the sum gets it by a reduce-scatter.
    The following operations are cut: structured operations of `linalg`, elementwise
    operations, and operations with `ShardableOpInterface`, which are reshapes, slices,
    pads and concatenations of `tensor`, and softmax and the Winograd transforms of
    `linalg`. All others are computed whole by all devices. A remark reports an
    operation that gathers an operand which it needs whole. Unequal blocks have
    padding. Padding that only affects padding is computed like elements; padding that
    would be reduced or raise an error is masked. If it cannot be masked, the dimension
    is gathered, with a remark.

    The region of a `pw.manual` is inlined and cut over the axes that are not manual, on
    one device, too. Loops around it are kept if they run a constant number of times, at
    most 1024. If the condition of a branch around it is not constant, all branches are
    computed, with a remark, and the results selected. Fails with an error at other control
    flow around operations by which shards communicate.

    The cuts follow from the text and the slices alone. With `explain`, remarks tell
    how each operation is cut and what the other ways would have cost, and where the
    layout of each tensor comes from. With `explain-reshards` they tell where a tensor
    changes its layout, by which steps, and what these and other steps cost on devices
    that are all alike. Fails with an error at a function that becomes too large by
    inlining its callees, and at an array with an open dimension.
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Emit remarks that say how operations are partitioned, why, and what "
           "the other choices would cost">,
    Option<"explainReshards", "explain-reshards", "bool", /*default=*/"false",
           "Emit remarks that say how tensors change their layouts, and which "
           "other ways there are">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def Place : Pass<"pw-place", "::mlir::ModuleOp"> {
  let summary = "Bind slices to devices of a topology";
  let description = [{
    Adds a `pw.bind` for each slice that has none. The slice is bound to one island, or
    each of its runs of shards to another island, with devices of the slice's kind that
    no other slice has, and in accordance with `apart_from` and `with`. Existing
    bindings stay and are checked against the topology. Slices are tried largest first,
    and islands with the most free devices first, so equal input gives equal output. If
    that fails, other islands are tried, up to a fixed amount of work.

    ```mlir
    pw.slice @s mesh <"x" = 2, "y" = 2>
    // pw-place{topology=1x1x4}
    pw.slice @s mesh <"x" = 2, "y" = 2>
    pw.bind @s to island 0 devices base 0 strides [2, 1]
    ```

    With `oversubscribe`, and if there is no better way, slices share devices, shards
    of a slice share devices, and slices that are `apart_from` each other may be on one
    island; each case has a remark. Fails with an error at a slice that tells what is
    missing and where.
  }];
  let options = [
    Option<"topology", "topology", "std::string", /*default=*/[{"local"}],
           "Machines: local, ISLANDSxHOSTSxDEVICES, or a textproto file">,
    Option<"oversubscribe", "oversubscribe", "bool", /*default=*/"false",
           "Let slices share devices and islands where there are too few">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect"];
}

def ExplainMovement : Pass<"pw-explain-movement", "::mlir::ModuleOp"> {
  let summary = "Report how many bytes each transfer moves";
  let description = [{
    Changes nothing. A remark at each `pw.transfer` gives the number of bytes that one
    step moves between different devices, over ICI inside an island and over the DCN
    between islands. The time of the pass does not depend on the number of shards
    unless a binding lists devices one by one.

    Fails with an error at a `pw.transfer` from or to a slice that is not bound.
  }];
}

def InsertTransfers : Pass<"pw-insert-transfers", "::mlir::ModuleOp"> {
  let summary = "Turn changes of layout and slice into explicit movement";
  let description = [{
    Replaces each `pw.reshard` by explicit operations: a call of a generated function
    reduces a partial source on its slice, `pw.transfer` moves the pieces, and another
    generated function masks a partial result. Generated functions are private and named
    after what they do, so that equal ones are shared.

    ```mlir
    %1 = pw.reshard %0 : !pw.array<8xf32, @a, [{} ] partial add {"m"}>
        -> !pw.array<8xf32, @b, [{"d"} ]>
    // becomes
    %1 = pw.call @pw_all_reduce_add_8xf32_m(%0)
        : (!pw.array<8xf32, @a, [{} ] partial add {"m"}>) -> !pw.array<8xf32, @a, [{} ]>
    %2 = pw.transfer %1
        : !pw.array<8xf32, @a, [{} ]> -> !pw.array<8xf32, @b, [{"d"} ]>
    ```

    A partial source whose result, on the same slice, is cut over any of the partial
    axes is reduced and scattered in one step, over all partial axes as named, and so
    with the bits of an all-reduce. Each shard gets one block along a dimension that the
    result cuts over these axes: a dimension after which nothing has to move, or else
    the first one that is divided into equal blocks. Further steps, for other orders or
    places of axes, move blocks. If no such dimension is divided equally, the source is
    reduced on all shards and then cut. If the result is on another slice, contributions
    of 64 KiB or more in a shard are scattered along the first dimension that is divided
    equally, so that each block is sent from where it is.

    ```mlir
    %1 = pw.reshard %0 : !pw.array<8xf32, @a, [{} ] partial add {"m"}>
        -> !pw.array<8xf32, @a, [{"m"} ]>
    // becomes
    %1 = pw.call @pw_reduce_scatter_dim0_add_8xf32_m(%0)
        : (!pw.array<8xf32, @a, [{} ] partial add {"m"}>) -> !pw.array<8xf32, @a, [{"m"} ]>
    ```

    The reduction of contributions follows from types and meshes alone. If `topology`
    gives the machines and both slices are bound, the array then moves by the cheapest
    sequence of pieces, all-gathers and all-to-alls by their links; `pw-explain-reshard`
    lists the alternatives. A single movement of pieces is preferred if it is as cheap.
    Links measured in `profile` override those in `topology`. So an array that has
    copies on another island may cross the DCN once, cut, and be gathered there:

    ```mlir
    %1 = pw.reshard %0 : !pw.array<1048576xf32, @a, [{"d"} ]>
        -> !pw.array<1048576xf32, @b, [{} ]>
    // becomes
    %1 = pw.transfer %0
        : !pw.array<1048576xf32, @a, [{"d"} ]> -> !pw.array<1048576xf32, @b, [{"d"} ]>
    %2 = pw.call @pw_all_gather_dim0_262144xf32_d(%1)
        : (!pw.array<1048576xf32, @b, [{"d"} ]>) -> !pw.array<1048576xf32, @b, [{} ]>
    ```

    The time of the pass is bounded for any number of shards: if there are many, all
    are assumed to be alike. Fails with an error at a binding to something that
    `topology` lacks, and if `profile` cannot be read or is of another program.
  }];
  let options = [
    Option<"topology", "topology", "std::string", /*default=*/[{""}],
           "Machines: local, ISLANDSxHOSTSxDEVICES, or a textproto file; empty: "
           "unknown, so all pieces of a movement are sent at once">,
    Option<"profile", "profile", "std::string", /*default=*/[{""}],
           "A file with the measured costs of the program's parts; empty: none">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExplainReshard : Pass<"pw-explain-reshard", "::mlir::ModuleOp"> {
  let summary = "Report the possible routes of each change of layout";
  let description = [{
    Changes nothing. It should run in place of `pw-insert-transfers`, with the same
    machines and profile. A remark at each `pw.reshard` gives the chosen steps, the
    bytes that they move over ICI and the DCN, the largest total of the bytes of a
    shard before and after a step, and the time by the links. Notes give the same for the
    other routes.

    Fails with an error at a `pw.reshard` from or to a slice that is not bound, at a
    binding to something that `topology` lacks, and if `profile` cannot be read or is of
    another program.
  }];
  let options = [
    Option<"topology", "topology", "std::string", /*default=*/[{"local"}],
           "Machines: local, ISLANDSxHOSTSxDEVICES, or a textproto file">,
    Option<"profile", "profile", "std::string", /*default=*/[{""}],
           "A file with the measured costs of the program's parts; empty: none">
  ];
}

def DedupComputations : Pass<"pw-dedup-computations", "::mlir::ModuleOp"> {
  let summary = "Merge equal functions";
  let description = [{
    Merges functions that are equal except for their names, locations and visibility:
    the first one in the module stays. Merging may make callers equal, so it covers
    them, too. Private functions without a remaining use are removed. Recursive
    functions stay as they are.

    ```mlir
    func.func private @layer0(...) {...}
    func.func private @layer1(...) {/*the same*/}
    %1 = pw.call @layer1(%0) ...
    // becomes
    func.func private @layer0(...) {...}
    %1 = pw.call @layer0(%0) ...
    ```
  }];
  let statistics = [
    Statistic<"numMerged", "merged", "Functions replaced by an equal one">,
    Statistic<"numRemoved", "removed", "Private functions without a use removed">
  ];
}

def SplitBackward : Pass<"pw-split-backward", "::mlir::ModuleOp"> {
  let summary = "Split backward calls of loops into halves";
  let description = [{
    In a loop whose schedule has backward calls in halves, replaces each call with a label
    such as `2B` by two calls of new functions, if the loop has no such halves. `2I` is
    what calls with other labels and other slices need in the same iteration, directly or
    through moves; `2W` is the rest, such as gradients of weights. If nobody needs
    anything, `2I` is the results that have no use, or else the whole call is `2W`, and a
    remark says so. A file of orders has halves of the
    stages for which it has cells of `I` or `W`.

    The function is cut where the fewest bytes are kept between the halves: values that
    `2I` computes and `2W` reads, and operands of this iteration that `2W` reads. `2I` runs
    no sum, loop or collective without need. Each operation runs in one half, only
    constants and numbers like the index of the shard in both, so all bits stay the same.
    A donated operand is donated to the half that reads it, to `2W` if both do. A remark
    gives the bytes. Of several calls with one label, each may go to one half as a whole.

    ```mlir
    %dx, %b = pw.call @backward(%d, %r, %w, %x, %a) donate(%a) label "2B" ...
    // becomes
    %dx, %g = pw.call @backward_I(%d, %r, %w) label "2I" ...
    %b = pw.call @backward_W(%x, %a, %g) donate(%a) label "2W" ...
    ```

    Bodies have to be written for one shard, as after `pw-partition`. Fails with an error
    at a call that has to be split but cannot be: if all results are for others, if an operation of its body has effects beside its results, or if both
    halves need a value that is not a tensor.
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", /*default=*/[{""}],
           "Order of the loop with labels: a schedule, or @ and a file of orders">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect"];
}

def Recompute : Pass<"pw-recompute", "::mlir::ModuleOp"> {
  let summary = "Run calls again instead of keeping their results";
  let description = [{
    For a call of a loop with `recompute`, calls of its slice with other labels, and calls
    without a label that go with these, read the results of a second call. It has the same
    function and operands, so its results have the same bits, and stands before the first
    of the readers, as a call of the reader's cell. What is moved to other slices, yielded
    or read in the first call's own cell comes from the first call. Neither call donates,
    since both need the operands. A remark gives the bytes that are not kept, those of
    operands of the iteration that are kept in their place, and the estimated time. A
    call whose results no other cell of its slice reads gets a warning.

    ```mlir
    %r = pw.call @forward(%x, %w) label "2F" recompute ...
    %d = pw.call @backward(%g, %r, %w) label "2B" ...
    // becomes
    %r = pw.call @forward(%x, %w) label "2F" ...
    %s = pw.call @forward(%x, %w) label "2F" cell "2B" ...
    %d = pw.call @backward(%g, %s, %w) label "2B" ...
    ```

    Later passes do not merge the two calls, since their cells differ.
  }];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect"];
}

def UnrollLoops : Pass<"pw-unroll-loops", "::mlir::ModuleOp"> {
  let summary = "Write the iterations of loops and the calls of branches out";
  let description = [{
    Replaces each `pw.for` by as many copies of its region as it has iterations, inner
    loops first. One call of a generated function splits a stepped operand into the
    arrays of the iterations, and one call stacks those of a stepped result. A function
    that reads `pw.iteration_index` is copied for each iteration, with the number as a
    constant.

    Replaces each `pw.if` by the nodes of both regions. The calls and transfers get the
    condition as their guard, which one transfer brings to each slice; a call in several
    branches gets one guard for all, the result of a generated function. Where branches meet, the call
    in the second region that makes the value writes into the array that a call in the
    first region makes, if nothing else uses these two arrays; else guarded copies do.

    A loop with a `schedule` then has its calls in that order, which is checked: each
    slice runs them as its row says, other operations come where they are needed. A call
    without a label goes with the last labelled call of its slice whose result it reads,
    else with the first one that reads its result. `schedule` sets that of the only loop
    that has labels. `emit-order` writes the orders to a file of the same form as those
    that are read.

    ```mlir
    %1 = pw.for 2 (%x = %xs stepped : ... -> ..., %a = %0 carried : ...) -> (... carried) {
      %b = pw.call @f(%x, %a) ...
      pw.yield %b ...
    }
    // becomes
    %x:2 = pw.call @pw_split(%xs) ...
    %b = pw.call @f(%x#0, %0) ...
    %1 = pw.call @f(%x#1, %b) ...
    ```

    With `keep`, a loop stays if a plan can store its operations once: it is counted, at
    the top level, and runs only calls without `after`, transfers and copies. Then
    `pw.orders` has the order of its calls on each slice. Functions take the number of the
    iteration as an argument. If the parts of a stepped array on a device are not multiples
    of 128 bytes, a call of a generated function puts them at such places.

    Fails with an error at a loop that runs more than 2^20 nodes, at one whose schedule
    does not fit its labels or cannot run, naming the calls that would wait for each
    other, and at a call outside of loops whose function reads `pw.iteration_index`.
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", /*default=*/[{""}],
           "Order of the loop with labels: a schedule, or @ and a file of orders">,
    Option<"emitOrder", "emit-order", "std::string", /*default=*/[{""}],
           "File for the orders of loops that have a schedule; empty: none">,
    Option<"keep", "keep", "bool", /*default=*/"false",
           "Leave the loops that a plan can store as loops">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ResolveDonation : Pass<"pw-resolve-donation", "::mlir::pathways::ProgramOp"> {
  let summary = "Let only last uses donate";
  let description = [{
    After this pass the call that donates an operand is its last use, and uses it once.
    If a donated value has a later use, in the text or as a result of CSE and folding,
    the call gets a `pw.copy` of it, with a remark at the call and a note at the later
    use. So of several donations of one value the last one stays, and each other call
    gets a copy. If a copy does not help because the call reads the operand twice, the
    donation is dropped, with a remark.

    ```mlir
    %1 = pw.call @f(%0) donate(%0) ...
    %2 = pw.call @g(%0) ...
    // becomes
    %c = pw.copy %0 ...
    %1 = pw.call @f(%c) donate(%c) ...
    %2 = pw.call @g(%0) ...
    ```

    An array in `after` is not read, so it may be donated before. `pw.return` reads
    its operands at the end.

    A loop that stays in the plan gets copies of stepped arrays that have another use in
    it, of arrays from which a carried one begins that are used later, too, and of yielded
    values that no operation of the loop makes.
  }];
  let statistics = [Statistic<"numCopies", "copies", "Copies inserted">];
}

#endif // PATHWAYS_TRANSFORMS_PASSES_TD
