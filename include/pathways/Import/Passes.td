//===- Passes.td - Passes from stablehlo to pw -------------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_IMPORT_PASSES_TD
#define PATHWAYS_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def UnifyShardings : Pass<"pw-unify-shardings", "::mlir::ModuleOp"> {
  let summary = "Bring all shardings of a module to one mesh";
  let description = [{
    Replaces all meshes by one, with the name of the first. Each axis of the others, each
    part of an axis, each tiling in the text of XLA and each group of partitions of a
    collective consists of whole axes of it. An axis `x` that is divided becomes `x.0`,
    `x.1` and so on, major first; axes of a module without a mesh of Shardy are `d0`, `d1`.
    `pw-import-program` does this first.

    | form | becomes |
    | --- | --- |
    | `mhlo.sharding = "{devices=[2,4]<=[8]}"` of an argument or result of `@main` | `sdy.sharding` |
    | `@Sharding` | `sdy.sharding_constraint` |
    | operations between `@SPMDFullToShardShape` and `@SPMDShardToFullShape` | `sdy.manual_computation` |
    | `xla.sdy.meshes` and `xla.sdy.sharding` in `mhlo.frontend_attributes` | `sdy.mesh`, `sdy.sharding`, `sdy.sharding_constraint` |
    | operations between `@xla.sdy.GlobalToLocalShape` and `@xla.sdy.LocalToGlobalShape` | `sdy.manual_computation` |
    | `sdy.named_computation`, `sdy.reshard` | the operations inside, `sdy.sharding_constraint` |

    Where a sharding of sdy stands beside one of XLA, the former counts. Shardings of a
    single device are dropped, and so are those of operations that are not constraints.
    On one device the operations of a manual computation take its place.

    A mesh with `device_ids` counts the same partitions in another order. Fails with an
    error if meshes have different numbers of devices, or if no mesh has all these axes,
    parts, tilings and groups as whole axes.

    ```mlir
    sdy.mesh @a = <["x"=8]>
    sdy.mesh @b = <["y"=2, "z"=4]>
    // #sdy.sharding<@a, [{"x"} ]>, #sdy.sharding<@b, [{"z"} ]>
    // becomes
    sdy.mesh @a = <["x.0"=2, "x.1"=4]>
    // #sdy.sharding<@a, [{"x.0", "x.1"} ]>, #sdy.sharding<@a, [{"x.1"} ]>
    ```
  }];
  let dependentDialects = ["::mlir::pathways::sdy::SdyDialect",
                           "::mlir::pathways::stablehlo::StableHloDialect"];
}

def WriteOutLoops : Pass<"pw-write-out-loops", "::mlir::ModuleOp"> {
  let summary = "Write out counted loops that communicate";
  let description = [{
    Replaces a loop at the top level of a function by the operations of its iterations,
    with the counter as a constant, if the loop communicates: if it contains, or calls, a
    manual computation or a collective. A loop with constraints of shardings and more than
    64 iterations is written out as well, unless it has too many operations. Does nothing
    in a module without a mesh of several devices. A counted loop whose operations are
    marked with several slices stays: it becomes a `pw.for`.

    Fails with an error if such a loop communicates and has more than `max-ops`
    operations, or if the number of its iterations is not a constant.

    ```mlir
    %1:2 = stablehlo.while(%i = %c0, %x = %0) : tensor<i32>, tensor<4xf32> cond {
      %p = stablehlo.compare LT, %i, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %y = func.call @shard_map(%x) : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<4xf32>
    }
    // becomes
    %1 = func.call @shard_map(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = func.call @shard_map(%1) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", /*default=*/"50000",
           "largest number of operations that a loop may become">
  ];
  let dependentDialects = ["::mlir::pathways::stablehlo::StableHloDialect"];
}

def ImportProgram : Pass<"pw-import-program", "::mlir::ModuleOp"> {
  let summary = "Make a program of the function @main of a module of StableHLO";
  let description = [{
    The public function `@main` becomes a `pw.program` on a slice of one device, which
    calls it once; the function stays, as `@main.body`. Its body has integers without
    signs at its ends, and casts from and to the types that the operations need. The
    arrays of the program carry the signs.

    Arguments are named by their locations, results by `jax.result_info`; an argument
    or result whose name is missing or taken is `arg` or `result` with its number.
    Arguments with `tf.aliasing_output` or `jax.buffer_donor` are donated. Those that
    `carry` names get `pw.carried`, and the type of their result. `stepped` gives `pw.stepped` to arguments, or to results if no argument has the name.
    Positions count the arguments and results of `@main`. A name also stands for those
    that continue it behind `[` or `.`, so `state` is `state['w']` as well. `[0]` is
    `result[0]`, and `result` alone all results.

    Each check (an operation of `check`, or a custom call of `check.expect_eq`,
    `check.expect_close` or `check.expect_almost_eq`) becomes two results: the checked
    value, with `pw.expect`, and the expected value. Functions with checks are inlined
    into `@main`. A check in a region is an error.

    A `sdy.manual_computation` becomes a `pw.manual`, wherever it is. Functions that are
    called in its region are inlined if they communicate. Values from outside that it reads
    become operands, which are copied along the manual axes.

    If operations are marked with a slice, the program has these slices, each with the mesh
    of the module, in place of one. A mark is `pw_slice` and `pw_label` in
    `mhlo.frontend_attributes` of an operation or a call. `assign` marks calls of functions,
    and named computations and named tensors of `mpmd`: `f(1)` is the computation `f` that
    was transposed once. Calls of functions with marks are inlined, and operations inside
    take from the call what their own marks lack; `call_counter` of `mpmd.call` begins their
    labels. `pw_recompute = "true"` gives a call with a label the word `recompute`.

    A loop of several slices with a constant number of iterations becomes a `pw.for`. Values
    that it does not change are used from above. Slices of these at the counter are stepped
    operands, and an array of which each iteration writes the index of the counter is a
    stepped result; either may be reversed. Other values are carried. The counter is
    `pw.iteration_index` where it is read otherwise. A loop whose body has operations
    without results, such as checks, is written out, with a remark.

    * An operation without a mark that is cheap (constant, iota, broadcast, reshape,
      operation on scalars) is copied to each user. Any other one before a marked operation
      goes to the stage of its first user, without a label if it reads arguments only. The
      rest goes to the slice of most of the bytes that it reads.
    * An argument is on the slice of its first user. A result is where it is computed, or on
      the slice of the argument that it replaces.
    * Operations of one slice and label form as few calls of functions `@main.SLICE.LABEL` as
      possible; no call needs its own results. A remark names a label with several calls.

    If `slices` is given, it lists all slices, and others are an error.

    A custom call `@pw.for` in `@main`, or in the body of another one, becomes a `pw.for`.
    Its called computation is the body, which becomes calls in the same way; operations
    inside take from the custom call what their own marks lack. `operands`
    and `results` in its `backend_config` say how it takes and makes values, in the words
    of `pw.for`, or `captured` for what is the same in all iterations; `schedule` and
    `label` are those of the loop:

    ```mlir
    %0:2 = "stablehlo.custom_call"(%zero, %xs, %w) <{
        api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body],
        backend_config = {trips = 3 : i64, operands = ["carried", "stepped", "captured"],
                          results = ["carried", "stepped reversed"], schedule = "1f1b"}}>
      : (tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>)
    ```

    Attributes of `mhlo`, `jax`, `tf` and `xla` are removed. Fails with an error if
    there is no `@main`, if another function is public and not called, if the module is
    for several partitions, or if an argument or result is not a tensor of static shape.

    ```mlir
    func.func public @main(%arg0: tensor<4xui32> loc("x")) -> (tensor<4xui32> {jax.result_info = "y"}) {
      %0 = stablehlo.add %arg0, %arg0 : tensor<4xui32>
      return %0 : tensor<4xui32>
    }
    // becomes
    pw.slice @devices mesh <>
    pw.program @main(%x: !pw.array<4xui32, @devices, [{} ]>)
        -> (!pw.array<4xui32, @devices, [{} ]> {pw.name = "y"}) {
      %0 = pw.call @main.body(%x) : (!pw.array<4xui32, @devices, [{} ]>) -> !pw.array<4xui32, @devices, [{} ]>
      pw.return %0 : !pw.array<4xui32, @devices, [{} ]>
    }
    func.func private @main.body(%arg0: tensor<4xi32>) -> tensor<4xi32> { .. }
    ```

    With stages:

    ```mlir
    %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<4xf32>
    %1 = stablehlo.tanh %0 {mhlo.frontend_attributes = {pw_label = "0F", pw_slice = "s1"}} : tensor<4xf32>
    // becomes
    %0 = pw.call @main.s0(%x) : (!pw.array<4xf32, @s0, [{} ]>) -> !pw.array<4xf32, @s0, [{} ]>
    %1 = pw.reshard %0 : !pw.array<4xf32, @s0, [{} ]> -> !pw.array<4xf32, @s1, [{} ]>
    %2 = pw.call @main.s1.0F(%1) {label = "0F"}
        : (!pw.array<4xf32, @s1, [{} ]>) -> !pw.array<4xf32, @s1, [{} ]>
    ```
  }];
  let options = [
    Option<"carry", "carry", "std::string", /*default=*/"\"\"",
           "ARGUMENTS:RESULTS,...: results that arguments take in the next step, by "
           "positions such as 0 or 0-3, or by names; none: no argument takes any">,
    Option<"stepped", "stepped", "std::string", /*default=*/"\"\"",
           "NAME,...: arguments and results that have one value for each step">,
    Option<"assign", "assign", "std::string", /*default=*/"\"\"",
           "NAME=SLICE[:LABEL],...: slices of functions, named computations and named "
           "tensors">,
    Option<"slices", "slices", "std::string", /*default=*/"\"\"",
           "NAME[:ISLAND[-LAST]],...: all slices that operations may be marked with; "
           "those with different numbers are on different islands, those with one "
           "number on the same; FIRST-LAST: the slice spans so many islands">,
    Option<"maxOps", "max-ops", "int64_t", /*default=*/"50000",
           "largest number of operations that a loop over several slices may become">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::pathways::PathwaysDialect",
                           "::mlir::pathways::sdy::SdyDialect",
                           "::mlir::pathways::stablehlo::StableHloDialect",
                           "::mlir::tensor::TensorDialect"];
}

def HoistConstants : Pass<"pw-hoist-constants", "::mlir::ModuleOp"> {
  let summary = "Make arguments of large constants";
  let description = [{
    Each constant of `@main` with at least `min-bytes` bytes becomes an argument behind
    the others, with its values in `pw.constant`. Equal constants become one argument.
    So they are cut over devices like arguments, kernels do not contain them, and callers
    do not pass them.

    Constants with equal elements stay, and so do those in other functions, in manual
    computations and, as resources, of i1. If `@main` is called, all stay.

    ```mlir
    func.func public @main(%x: tensor<1x200xf32>) -> tensor<1x100xf32> {
      %0 = stablehlo.constant dense<"0x.."> : tensor<200x100xf32>
      ..
    // becomes
    func.func public @main(%x: tensor<1x200xf32>,
                           %constant0: tensor<200x100xf32> {pw.constant = dense<"0x..">})
    ```
  }];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", /*default=*/"65536",
           "bytes of the smallest constant that becomes an argument">
  ];
  let dependentDialects = ["::mlir::pathways::PathwaysDialect"];
}

def FillElided : Pass<"pw-fill-elided", "::mlir::ModuleOp"> {
  let summary = "Give values to constants that the text elides";
  let description = [{
    A text may have `dense_resource<__elided__>` in place of the values of large
    constants. Each such constant gets values of its own: zeros, or random ones. They
    depend on the seed and on the number of elided constants before it, not on the
    machine. With random values a network stays finite:

    * A matrix, a filter, or any other array with two or more dimensions above 1 has
      values between -1/sqrt(n) and 1/sqrt(n), where n is the number of elements divided
      by the last dimension: the inputs of each output.
    * A vector has values from 0.5 to 1.5, which are factors or variances as well as
      offsets.
    * Integers and booleans are 0 or 1.

    Fails with an error if a constant is elided and `values` is empty. The error is at
    the first one, and has their number.

    ```mlir
    %0 = stablehlo.constant dense_resource<__elided__> : tensor<2xf32>
    // becomes with values=zeros
    %0 = stablehlo.constant dense<0.0> : tensor<2xf32>
    ```
  }];
  let options = [
    Option<"values", "values", "std::string", /*default=*/"\"\"",
           "zeros or random:SEED">
  ];
  let dependentDialects = ["::mlir::pathways::stablehlo::StableHloDialect"];
}

def LowerChlo : Pass<"pw-lower-chlo", "::mlir::ModuleOp"> {
  let summary = "Replace operations that have definitions by them";
  let description = [{
    Replaces `chlo.top_k` by a stable sort, and each batch normalization by the
    operations that define it. Inlines the decomposition of each
    `stablehlo.composite`. A composite or custom call whose name is that of an
    operation of `chlo`, such as `chlo.top_k`, `mhlo.topk` or `mhlo.erf`, stands for
    that operation. Elementwise functions of `chlo` stay.

    Afterwards the module contains no `chlo.top_k`, batch normalization or
    composite. Fails with an error at a composite whose decomposition contains
    itself or has no body.
  }];
  let dependentDialects = ["::mlir::pathways::chlo::ChloDialect",
                           "::mlir::pathways::stablehlo::StableHloDialect"];
}

def LowerStableHlo : Pass<"pw-lower-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Replace operations of stablehlo by operations of bodies";
  let description = [{
    Replaces each operation of `stablehlo` in functions by operations of `linalg`,
    `tensor`, `scf`, `arith` and `math`. Integers lose their sign in types; the
    operations carry it. Each operation rounds its result to its type. Needs the form
    that `pw-lower-chlo` leaves, and replaces elementwise functions of `chlo` too.

    Functions that `math` has become its operations. The others become formulas in
    f64, whose errors are a few units in the last place of f64.

    Fails with an error for each kind of operation, or target of custom calls, that
    cannot be compiled. The error is at the first one, and contains their number and,
    if there is one, the form to write instead.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::pathways::PathwaysDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // PATHWAYS_IMPORT_PASSES_TD
