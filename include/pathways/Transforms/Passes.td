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
    Verifies, beyond what single operations can, each function that a `pw.call`
    reaches, and changes nothing:

    * it has a body of one block, and so have the functions it calls, none of
      which calls itself, however indirectly;
    * its operations are of dialects that become object code: `func`, `linalg`,
      `tensor`, `arith`, `math`, `scf`, `affine`, `cf.assert`, `ub.poison` and
      the local view of `pw`.

    Fails with an error at the call or at the operation, and a note at the other.
  }];
}

def Fingerprint : Pass<"pw-fingerprint", "::mlir::ModuleOp"> {
  let summary = "Say what text each program has";
  let description = [{
    Gives each `pw.program` the attribute `fingerprint`: a hash of its text and that
    of all else in the module but other programs, without locations. So a profile,
    which is of one text, is not taken for another. To be run before all that
    changes programs: what meshes and machines make of the text does not count.

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
    So that one text runs on any number of devices: computations in global view
    do not say how large an axis is. One in local view that is written for other
    sizes no longer verifies, with an error at its call and a note at it.

    ```mlir
    pw.slice @s mesh <"data" = 1, "model" = 2>
    // pw-override-mesh{mesh=s:data=4}
    pw.slice @s mesh <"data" = 4, "model" = 2>
    ```

    Fails with an error when there is no such slice or axis, an axis is given
    twice, or the size is not positive.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", /*default=*/[{""}],
           "SLICE:AXIS=N,AXIS=N,...: sizes of axes of slices">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect"];
}

def PropagateShardings : Pass<"pw-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "Choose axes for dimensions that are open";
  let description = [{
    Passes what is written in types and in `pw.constrain` on to arrays whose types
    have open dimensions, forward and backward, over calls of functions in global
    view and through them, over `pw.reshard`, and between what is carried and what
    carries it. In rounds: elementwise operations and reshapes first, then sums of
    products, then all others. Where two sides of an operation disagree, that one
    is followed for which more bytes lie right already. A dimension gets no axes
    that would leave a device without elements of it; one without `?` stays as it
    is written.
    Afterwards nothing is open.

    ```mlir
    pw.program @p(%x: !pw.array<8x4xf32, @s, [{"data"}, {} ]>, %w: !pw.array<4x6xf32, @s>)
        -> !pw.array<8x6xf32, @s> {
    // %w and the result of a product of %x and %w become
    // !pw.array<4x6xf32, @s, [{}, {} ]> and !pw.array<8x6xf32, @s, [{"data"}, {} ]>
    ```

    A function is looked at once for each combination of shardings that calls of it
    have; beyond 64 of them, calls of it pass nothing on, with a remark. Another
    remark says where nothing is written for a whole slice. What is chosen follows
    from the text and the slices alone. With `explain`, a remark for each array that
    was open says how it is cut and who decided that. Fails with an error at a node
    that no rule is known for and that has an open array.
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Say who decided how each array is cut">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect"];
}

def Partition : Pass<"pw-partition", "::mlir::ModuleOp"> {
  let summary = "Cut computations in global view over their slices";
  let description = [{
    Replaces the callee of each `pw.call` on a slice of more than one device, when
    it is in global view, by a function in local view that gives the same: one for
    each function, mesh and layouts of operands and results. On one device a
    global view is its local view and stays.

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

    Each operation is cut in the way that costs least, estimated from what must be
    moved to bring its operands there and its results to where they are wanted, and
    from what one shard computes: like its operands lie, like its results are
    wanted, or not. How they are wanted is passed on through the body as by
    `pw-propagate-shardings`. Sums over a dimension that is cut stay contributions
    until somebody reads them, also when they are added to each other, scaled or
    reshaped: who wants a block of the sum gets it by a reduce-scatter. Cut are structured
    operations of `linalg`, elementwise operations, and those with
    `ShardableOpInterface`: reshapes, slices, pads and concatenations of `tensor`,
    softmax and the transforms of Winograd of `linalg`.
    All others are computed whole by all devices. A remark says where an operation
    gathers what it must have all of. Blocks that are not equal have padding, which
    is computed like elements where it reaches padding alone; it is masked where it
    would be reduced or raise an error, and where that cannot be, the dimension is
    gathered, with a remark.

    What is cut follows from the text and the slices alone. With `explain`, remarks
    say of each operation how it is cut and what other ways would have cost, and of
    each tensor who decided how it lies. With `explain-reshards` they say where a
    tensor changes its layout, by which steps, and what that and other ways cost on
    devices that are all alike. Fails with an error at a function that becomes too
    large by inlining what it calls, and at an array with an open dimension.
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Say how operations are cut, why, and what else that would cost">,
    Option<"explainReshards", "explain-reshards", "bool", /*default=*/"false",
           "Say how tensors change their layouts, and how else they could">
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
    Adds a `pw.bind` for each slice that has none: on one island, or each of its
    runs of shards on another one, with devices of the slice's kind, apart from and together with the slices it says, and on
    devices that no other slice has. Bindings that are there stay and are checked
    against the topology. Slices are tried largest first, islands with the most
    free devices first, so equal input gives equal output; where that fails
    other islands are tried, up to a fixed amount of work.

    ```mlir
    pw.slice @s mesh <"x" = 2, "y" = 2>
    // pw-place{topology=1x1x4}
    pw.slice @s mesh <"x" = 2, "y" = 2>
    pw.bind @s to island 0 devices base 0 strides [2, 1]
    ```

    With `oversubscribe`, slices share devices, shards of a slice too, and slices
    that are `apart_from` each other may be on one island, where there is no
    better way; each with a remark. Fails with an error at the slice that says
    what is missing and where.
  }];
  let options = [
    Option<"topology", "topology", "std::string", /*default=*/[{"local"}],
           "Machines: local, ISLANDSxHOSTSxDEVICES, or a textproto file">,
    Option<"oversubscribe", "oversubscribe", "bool", /*default=*/"false",
           "Share devices and islands where there are too few">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect"];
}

def ExplainMovement : Pass<"pw-explain-movement", "::mlir::ModuleOp"> {
  let summary = "Say how many bytes each transfer moves";
  let description = [{
    Changes nothing. A remark at each `pw.transfer` says how many bytes one step
    moves between different devices, over ICI inside of an island and over the DCN
    between islands. Time does not depend on the number of shards unless a binding
    lists devices one by one.

    Fails with an error at a `pw.transfer` from or to a slice that is not bound.
  }];
}

def InsertTransfers : Pass<"pw-insert-transfers", "::mlir::ModuleOp"> {
  let summary = "Turn changes of layout and slice into explicit movement";
  let description = [{
    Replaces each `pw.reshard` by what does it: a
    partial source is reduced on its slice by a call of a generated function, the
    pieces move by `pw.transfer`, and a partial result is masked by another
    generated function. Generated functions are private and named after what they
    do, so that equal ones are shared.

    ```mlir
    %1 = pw.reshard %0 : !pw.array<8xf32, @a, [{} ] partial add {"m"}>
        -> !pw.array<8xf32, @b, [{"d"} ]>
    // becomes
    %1 = pw.call @pw_all_reduce_add_8xf32_m(%0)
        : (!pw.array<8xf32, @a, [{} ] partial add {"m"}>) -> !pw.array<8xf32, @a, [{} ]>
    %2 = pw.transfer %1
        : !pw.array<8xf32, @a, [{} ]> -> !pw.array<8xf32, @b, [{"d"} ]>
    ```

    A partial source whose result, on the same slice, is cut over any of the
    partial axes is scattered as it is reduced, over all partial axes as named,
    so with the bits of an all-reduce: each shard gets one block along a dimension
    that the result cuts over them, the first that their shards divide into equal
    blocks, or one that leaves nothing to move. What is left, for other orders or
    places of axes, moves blocks. Where no such dimension is divided equally, all
    is reduced everywhere and then cut. For another slice, contributions of 64 KiB
    or more in a shard are scattered along the first dimension that is divided
    equally, so that each block is sent from where it is.

    ```mlir
    %1 = pw.reshard %0 : !pw.array<8xf32, @a, [{} ] partial add {"m"}>
        -> !pw.array<8xf32, @a, [{"m"} ]>
    // becomes
    %1 = pw.call @pw_reduce_scatter_dim0_add_8xf32_m(%0)
        : (!pw.array<8xf32, @a, [{} ] partial add {"m"}>) -> !pw.array<8xf32, @a, [{"m"} ]>
    ```

    How contributions are reduced follows from types and meshes alone. What moves
    after that is, where `topology` says the machines and both slices are bound,
    the cheapest sequence of pieces, all-gathers and all-to-alls by their links;
    `pw-explain-reshard` lists what it was compared with. Where pieces at once are
    as good, they are taken. Links that `profile` has measured count instead of
    what `topology` says of them. So an array that has copies on another island may
    cross the DCN once, cut, and be gathered there:

    ```mlir
    %1 = pw.reshard %0 : !pw.array<1048576xf32, @a, [{"d"} ]>
        -> !pw.array<1048576xf32, @b, [{} ]>
    // becomes
    %1 = pw.transfer %0
        : !pw.array<1048576xf32, @a, [{"d"} ]> -> !pw.array<1048576xf32, @b, [{"d"} ]>
    %2 = pw.call @pw_all_gather_dim0_262144xf32_d(%1)
        : (!pw.array<1048576xf32, @b, [{"d"} ]>) -> !pw.array<1048576xf32, @b, [{} ]>
    ```

    Time is bounded, whatever the number of shards: where there are many, all are
    taken to be alike. Fails with an error at a binding to what `topology` lacks,
    and when `profile` cannot be read or is of another program.
  }];
  let options = [
    Option<"topology", "topology", "std::string", /*default=*/[{""}],
           "Machines: local, ISLANDSxHOSTSxDEVICES, or a textproto file; empty: "
           "not known, pieces move at once">,
    Option<"profile", "profile", "std::string", /*default=*/[{""}],
           "What the program's parts were measured to cost, a file; empty: nothing">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExplainReshard : Pass<"pw-explain-reshard", "::mlir::ModuleOp"> {
  let summary = "Say which ways each change of layout could take";
  let description = [{
    Changes nothing. To be run where `pw-insert-transfers` would be, with the same
    machines and profile. A remark at each `pw.reshard` says which steps are taken, how many
    bytes they move over ICI and the DCN, the bytes of a shard before and after a
    step, at the most, and how long it takes by the links; notes say the same of
    ways that were not taken.

    Fails with an error at a `pw.reshard` from or to a slice that is not bound, at
    a binding to what `topology` lacks, and when `profile` cannot be read or is of
    another program.
  }];
  let options = [
    Option<"topology", "topology", "std::string", /*default=*/[{"local"}],
           "Machines: local, ISLANDSxHOSTSxDEVICES, or a textproto file">,
    Option<"profile", "profile", "std::string", /*default=*/[{""}],
           "What the program's parts were measured to cost, a file; empty: nothing">
  ];
}

def DedupComputations : Pass<"pw-dedup-computations", "::mlir::ModuleOp"> {
  let summary = "Merge equal functions";
  let description = [{
    Functions that are equal but for their names and locations, visibility aside,
    become one: the first in the module stays. Merging may make callers equal, so
    it is repeated until nothing changes. Private functions that nothing uses any
    more are removed. Recursive functions stay as they are.

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

def ResolveDonation : Pass<"pw-resolve-donation", "::mlir::pathways::ProgramOp"> {
  let summary = "Let only last uses donate";
  let description = [{
    Afterwards each donated operand is used for the last time, by that call and
    once. A donation before a later use, which is written so or which CSE and
    folding have brought about, is served by a `pw.copy`, with a remark at the call
    and a note at the later use. So of several donations of one value the last one
    stays, and each other gets a copy. A donation of an operand that no copy helps,
    as the call reads it twice, is dropped, with a remark.

    ```mlir
    %1 = pw.call @f(%0) donate(%0) ...
    %2 = pw.call @g(%0) ...
    // becomes
    %c = pw.copy %0 ...
    %1 = pw.call @f(%c) donate(%c) ...
    %2 = pw.call @g(%0) ...
    ```

    `after` and `pw.return` count: an array waited for by `after` is not read, so
    it may be donated before; one that is returned is read at the end.
  }];
  let statistics = [Statistic<"numCopies", "copies", "Copies inserted">];
}

#endif // PATHWAYS_TRANSFORMS_PASSES_TD
