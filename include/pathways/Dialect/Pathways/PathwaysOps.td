//===- PathwaysOps.td - Operations of pw -------------------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PATHWAYS_OPS_TD
#define PATHWAYS_DIALECT_PATHWAYS_OPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "pathways/Dialect/Pathways/PathwaysBase.td"
include "pathways/Dialect/Pathways/PathwaysControl.td"

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

def SliceOp : Pathways_Op<"slice", [Symbol, PW_SymbolUser, HasParent<"ModuleOp">]> {
  let summary = "Declare a mesh of devices to run on";
  let description = [{
    A slice has virtual devices, arranged as `mesh`, on one island; `pw.bind` assigns
    physical devices to them. With `spans` it has that many islands: the shards,
    row-major over the mesh, are cut into as many equal runs, so that the first axes
    reach over the DCN. `kind` is the requested kind of device, "cpu" if absent. A
    slice is on other islands than each slice in `apart_from`, and on the same
    islands, run by run, as each slice in `with`.

    (C1) `apart_from` and `with` name slices; (C2) they do not name the slice
    itself; (C3) no slice is in both; (C4) the number of islands is from 1
    to 1024 and divides the number of shards; (C5) slices that are `with` each other span
    equally many islands.

    ```mlir
    pw.slice @front mesh <"data" = 2, "model" = 2>
    pw.slice @wide mesh <"data" = 4, "model" = 2> spans 2 islands
    pw.slice @back mesh <"data" = 4> kind "cpu" apart_from [@front]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       PW_MeshAttr:$mesh, OptionalAttr<I64Attr>:$spans,
                       OptionalAttr<StrAttr>:$kind,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$apart_from,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$with);
  let assemblyFormat = [{
    $sym_name `mesh` $mesh (`spans` $spans^ `islands`)? (`kind` $kind^)?
    (`apart_from` $apart_from^)? (`with` $with^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of islands that the shards are cut over.
    int64_t getNumIslands() { return getSpans().value_or(1); }
    /// The requested kind of device.
    ::llvm::StringRef getDeviceKind() { return getKind().value_or("cpu"); }
  }];
}

def BindOp : Pathways_Op<"bind", [PW_SymbolUser, HasParent<"ModuleOp">]> {
  let summary = "Bind a slice to devices of its islands";
  let description = [{
    Shard with mesh coordinates c runs on device
    `base + (sum of c[i] * strides[i]) mod span` of the island, span 0 meaning no
    wrap-around, or on the device that `devices` lists for it, row-major over the
    mesh. Several shards may share a device. If the slice spans islands, `also` has
    the islands and bases of the second and later runs of shards; c are then the
    coordinates in the whole mesh. Binding a slice to other devices changes only this
    operation.

    (C1) `slice` names a slice; (C2) there is one stride per mesh axis, or one
    device per shard, and not both; (C3) a slice has at most one binding; (C4)
    numbers are not negative and device numbers are below 2^20; (C5) there is one
    island per run of the slice, and one base, if any.

    ```mlir
    pw.bind @front to island 0 devices base 0 strides [2, 1]
    pw.bind @small to island 0 devices base 4 strides [2, 1] span 2
    pw.bind @back to island 1 devices [3, 1, 2, 0]
    pw.bind @wide to island 0 devices base 0 strides [2, 1] span 4 also islands [1] bases [4]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$slice, I64Attr:$island,
                       OptionalAttr<I64Attr>:$base,
                       OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<I64Attr>:$span,
                       OptionalAttr<DenseI64ArrayAttr>:$devices,
                       OptionalAttr<DenseI64ArrayAttr>:$more_islands,
                       OptionalAttr<DenseI64ArrayAttr>:$more_bases);
  let assemblyFormat = [{
    $slice `to` `island` $island `devices`
    custom<Devices>($base, $strides, $span, $devices)
    (`also` `islands` $more_islands^ (`bases` $more_bases^)?)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isAffine() { return !getDevices(); }
    /// The island of each run of shards.
    ::llvm::SmallVector<int64_t, 1> getIslands();
    struct Place {
      int64_t island;
      int64_t device; ///< Number within the island.
    };
    /// Returns the place of the shard with this row-major number in `mesh`.
    Place getPlace(::mlir::pathways::MeshAttr mesh, int64_t shard);
  }];
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

def ProgramOp : Pathways_Op<"program", [
    FunctionOpInterface, IsolatedFromAbove, SingleBlock, PW_SymbolUser,
    HasParent<"ModuleOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Define a program: one step of a computation over arrays";
  let description = [{
    Launching a program runs the body once per step, in order. Arguments are
    values passed at launch. The value of a `pw.stepped` argument has one more,
    leading dimension, and each step takes its own index. After the first step, a
    `pw.carried` argument takes the result of the previous step with the given index.
    Results are those of the last step; a `pw.stepped` result stacks those of all
    steps.

    A value passed for a partial argument is the contribution of rank 0; the other
    contributions are the identity of the reduction. A partial result is combined when
    it is read, but not by a step, nor when it is carried or passed to another launch.

    An argument with `pw.constant` always has that value. Whoever launches the program
    does not pass it: clients put it once, when they load the program.

    A result with `pw.expect` is a check: another result has the value that is expected
    of it, and `pw-run` compares the two after the run.

    In text the SSA name of an argument is its `pw.name` unless another is given.
    `fingerprint` identifies the text in profiles; `pw-fingerprint` adds it.

    (C1) Arguments and results are arrays; (C2) `pw.carried` is the index of a
    result of equal type; (C3) an argument is not both carried and stepped; (C4)
    no result is carried into two arguments; (C5) names are not empty and differ
    among arguments, and among results; (C6) there is a body; (C7) array types
    fit the meshes of their slices; (C8) only nodes are in the body, operations
    with `NodeOpInterface`, and in their regions; (C9) `pw.expect` names another
    result that has the same shape and element type, no `pw.expect`, and is stepped
    or not like the checked one; only floats are compared by `close` and `almost_eq`;
    (C10) `pw.constant` has the shape and element type of its argument, which is not
    partial, carried or stepped.

    ```mlir
    pw.program @train(%x: !pw.array<8xf32, @s, [{"d"} ]> {pw.stepped},
                      %w: !pw.array<8xf32, @s, [{"d"} ]> {pw.carried = 0 : i64})
        -> (!pw.array<8xf32, @s, [{"d"} ]> {pw.name = "w"}) {
      %1 = pw.call @update(%w, %x) donate(%w)
          : (!pw.array<8xf32, @s, [{"d"} ]>, !pw.array<8xf32, @s, [{"d"} ]>)
          -> !pw.array<8xf32, @s, [{"d"} ]>
      pw.return %1 : !pw.array<8xf32, @s, [{"d"} ]>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<StrAttr>:$fingerprint);
  let regions = (region AnyRegion:$body);
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "::mlir::FunctionType":$type)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }

    /// Name of an argument or result: `pw.name`, or "arg0", "result0", ...
    std::string getArgumentName(unsigned index);
    std::string getResultName(unsigned index);
    bool isArgumentStepped(unsigned index);
    bool isResultStepped(unsigned index);
    /// The check of a result against another one; null if there is none.
    ::mlir::pathways::ExpectAttr getExpectation(unsigned index);
    /// Index of the result carried into the argument, if any.
    std::optional<unsigned> getCarriedResult(unsigned index);
    /// Value that the argument always has; null if callers pass one.
    ::mlir::ElementsAttr getConstant(unsigned index);
    ::mlir::pathways::ReturnOp getReturn();
  }];
}

def ReturnOp : Pathways_Op<"return", [
    Pure, Terminator, ReturnLike, HasParent<"ProgramOp">, PW_NodeOpInterface]> {
  let summary = "End a program";
  let description = [{
    (C1) Operand types are the result types of the program.

    ```mlir
    pw.return %y : !pw.array<f32, @s, []>
    ```
  }];
  let arguments = (ins Variadic<PW_ArrayType>:$results);
  let assemblyFormat = "($results^ `:` qualified(type($results)))? attr-dict";
  let hasVerifier = 1;
}

def CallOp : Pathways_Op<"call", [
    AlwaysSpeculatable, AttrSizedOperandSegments, PW_SymbolUser,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<PW_NodeOpInterface,
                              ["getReads", "getWaits", "getDonations"]>]> {
  let summary = "Run a function on all shards of a slice";
  let description = [{
    The callee is a `func.func`. A `pw.local_view` callee runs once per shard
    on tensors of the shard shape, which is rounded up; any other callee is written
    on global tensors. Where it needs the sum of a partial operand, it reads the sum;
    it may return contributions, which the reader of the result adds up.

    Tensors are signless: for an array of `ui32` the callee has a tensor of `i32`, as
    for an array of `i32`, and one callee may be called with either.

    `after` arrays are not read: the call starts when the operations that
    produce them have completed. `donate` is a permission, not an order: a result may
    take the memory of that operand if no later use needs it. With a `label`, the action
    in the plan and in traces is named by the slice and the label, not by the callee. With
    a `cell`, orders of loops take the call as one of the calls with that label.

    `recompute` is for a call with a label in a loop. Calls of its slice with other labels
    do not keep its results from it, but run it again before their first use; see
    `pw-recompute`.

    With `if` or `unless`, the array named there is the *guard* of the call, one i1: the
    call runs only if it is true, or false. Otherwise its results have no meaning, except
    that a result that is written `into` an array has the value of that array. The result
    takes the memory of that array, which the callee does not read. `pw-unroll-loops`
    makes guards of the conditions of `pw.if`.

    (C1) The callee is a `func.func` with a body of one block that returns; (C2)
    operand and result counts are those of the callee, and there is at least one
    result; (C3) all operands and results are on one slice; (C4) tensor types of
    a local-view callee have shard shapes, of any other callee global shapes, and
    the element types of the arrays, but integers of both signs are signless; (C5)
    an operand with padding goes only to a callee that is `pw.pointwise` or asks
    for `pw.valid_extent` of that argument; (C6) a partial operand goes to a
    local-view callee only at an argument with `pw.accepts_partial`; (C7) axes that
    the callee communicates over, or reads the index of, are axes of the slice, and
    its shapes agree with their sizes; (C8) `donated` indices are those of operands,
    in increasing order; (C9) no dimension of an operand or result of a local-view
    callee is open; (C10) axes that a `pw.constrain` or `pw.manual` of a global-view callee
    names are axes of the slice; (C11) the shapes in a `pw.manual` agree with their sizes;
    (C12) `label` and `cell` are not empty; (C13) a call with `recompute` has a label and is
    in a `pw.for`; (C14) the guard is one i1 that is not partial, on the slice of the call;
    (C15) `into_results` are indices of results in increasing order, one for each array
    after `into`, and the two have one type; (C16) only a call with a guard has `into`.

    ```mlir
    %h = pw.call @layer(%x, %w) after(%t : !pw.array<f32, @s, []>) donate(%x)
        : (!pw.array<8x8xf32, @s, [{"d"}, {} ]>, !pw.array<8x8xf32, @s, [{}, {} ]>)
        -> !pw.array<8x8xf32, @s, [{"d"}, {} ]>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<PW_ArrayType>:$inputs,
                       Variadic<PW_ArrayType>:$after,
                       Optional<PW_ArrayType>:$guard,
                       Variadic<PW_ArrayType>:$into,
                       UnitAttr:$unless,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$into_results,
                       OptionalAttr<StrAttr>:$label,
                       OptionalAttr<StrAttr>:$cell,
                       UnitAttr:$recompute,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$donated);
  let results = (outs Variadic<PW_ArrayType>:$outputs);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$outputs,
                                 "::llvm::StringRef":$callee,
                                 "::mlir::ValueRange":$inputs)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Slice of all operands and results.
    ::mlir::FlatSymbolRefAttr getSlice() {
      return ::llvm::cast<ArrayType>(getOutputs().front().getType()).getSlice();
    }
    /// Label of the calls with which orders of loops take this one; may be null.
    ::mlir::StringAttr getCellLabel() {
      return getCellAttr() ? getCellAttr() : getLabelAttr();
    }
    /// Lets the call run only if `value` is true, or false with `isUnless`.
    void setGuard(::mlir::Value value, bool isUnless);
    /// Writes the result with this index into `target`. Requires that there is a guard
    /// and that the result has no target.
    void addInto(unsigned result, ::mlir::Value target);
    bool isWrittenInto(unsigned result) {
      return ::llvm::is_contained(getIntoResults(), static_cast<int64_t>(result));
    }
    ::llvm::LogicalResult verifyGuard();
    bool isDonated(unsigned input) {
      return ::llvm::is_contained(getDonated(), static_cast<int64_t>(input));
    }
  }];
}

def ReshardOp : Pathways_Op<"reshard", [Pure, PW_SymbolUser, PW_NodeOpInterface]> {
  let summary = "Change the layout or the slice of an array";
  let description = [{
    The value stays the same; any layout can become any other, on any slice. A
    partial source is reduced unless the result has the same type. A partial result
    has the value on shards whose coordinates on the partial axes are all 0, and the
    identity of the reduction on all others.

    (C1) Source and result have the same global shape and element type.

    ```mlir
    %1 = pw.reshard %0 : !pw.array<8xf32, @a, [{"d"} ]> -> !pw.array<8xf32, @b, [{} ]>
    ```
  }];
  let arguments = (ins PW_ArrayType:$source);
  let results = (outs PW_ArrayType:$result);
  let assemblyFormat = [{
    $source attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TransferOp : Pathways_Op<"transfer", [Pure, PW_SymbolUser, PW_NodeOpInterface]> {
  let summary = "Move the pieces of an array to another layout or slice";
  let description = [{
    Moves pieces explicitly, without reduction. The number of bytes follows from the
    bindings of the two slices; `pw-explain-movement` reports it.

    With `if` or `unless`, the array named there is the guard, one i1: bytes move only if
    it is true, or false. Otherwise the result has no meaning.

    (C1) Source and result have the same global shape and element type; (C2)
    neither is partial; (C3) the guard is one i1 that is not partial, on the slice of the
    source.

    ```mlir
    %1 = pw.transfer %0 : !pw.array<8xf32, @a, [{"d"} ]> -> !pw.array<8xf32, @b, [{} ]>
    ```
  }];
  let arguments = (ins PW_ArrayType:$source, Optional<PW_ArrayType>:$guard,
                       UnitAttr:$unless);
  let results = (outs PW_ArrayType:$result);
  let assemblyFormat = [{
    $source (custom<Guard>($guard, type($guard), $unless)^)? attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Lets bytes move only if `value` is true, or false with `isUnless`.
    void setGuard(::mlir::Value value, bool isUnless);
  }];
}

def CopyOp : Pathways_Op<"copy", [
    SameOperandsAndResultType, PW_SymbolUser, PW_NodeOpInterface]> {
  let summary = "Copy an array, so that the copy may be donated";
  let description = [{
    Allocates: two copies of one array are two arrays. If the array is partial, each
    shard copies its contribution.

    (C1) Source and result have the same type.

    ```mlir
    %1 = pw.copy %0 : !pw.array<8xf32, @a, [{"d"} ]>
    ```
  }];
  let arguments = (ins PW_ArrayType:$source);
  let results = (outs Res<PW_ArrayType, "", [MemAlloc]>:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source))";
}

//===----------------------------------------------------------------------===//
// Global view
//===----------------------------------------------------------------------===//

// The types of isTensorElementType.
def PW_Tensor : RankedTensorOf<[F16, BF16, F32, F64, I1, I8, I16, I32, I64]>;

def ConstrainOp : Pathways_Op<"constrain", [Pure, SameOperandsAndResultType]> {
  let summary = "Set how a tensor in the middle of a computation is cut";
  let description = [{
    The result is the source, cut as given over the axes of the slice that the
    function is called on. Open dimensions get axes as those of arrays do. A source
    that is cut in another way is resharded. On a slice of one device the operation
    does nothing.

    (C1) The op is in a function without `pw.local_view`; (C2) the sharding has
    one list of axes per dimension; (C3) it is not partial; (C4) two
    constraints of one value agree on each dimension that neither leaves open.

    ```mlir
    %1 = pw.constrain %0 [{"data"}, {?} ] : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins PW_Tensor:$source, PW_ShardingAttr:$sharding);
  let results = (outs PW_Tensor:$result);
  let assemblyFormat = [{
    $source custom<ShardingBody>($sharding) attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def ManualOp : Pathways_Op<"manual", [
    IsolatedFromAbove, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Compute a region that is written for one shard along some axes";
  let description = [{
    `axes` are the *manual* axes. The shards that differ only in their coordinates on
    the other axes compute the region together: its tensors have the shape of a shard
    along the manual axes, and are cut over the other axes as in any function in global
    view. Shards with other coordinates on the manual axes have other values, and
    exchange them by collectives over these axes.

    The region takes each operand as `in` cuts it, and returns each result as `out` says
    that it is cut. A list of axes has the manual axes that cut the dimension, and behind
    them other axes, or `?`, which mean the same as in `pw.constrain`. An operand is
    copied along manual axes that its sharding does not name. A result must be equal
    along such axes; if its sharding is `partial` over them, the shards return
    contributions.

    The region may be inside loops and branches, as a collective may, but the condition
    of a branch may be any: all branches are then computed, and the result is chosen.

    (C1) The op is in a function without `pw.local_view`; (C2) `axes` names at least one
    axis, none empty or twice, and none of a `pw.manual` around it; (C3) there is one
    sharding per operand and per result, with one list of axes per dimension; (C4) in a
    list the manual axes come first, and no axis is one of a `pw.manual` around it; (C5)
    shardings of operands are not partial, and those of results only over manual axes;
    (C6) the region takes and returns one tensor per operand and per result, of the same
    element type and rank; a dimension that manual axes cut has a multiple of its size
    in the region, any other dimension has the same size; (C7) collectives and
    `pw.shard_index` in the region name axes of this op or of a `pw.manual` around it,
    `pw.constrain` names none of these.

    ```mlir
    %1 = pw.manual(%0, %w) over ["x"] in [[{"x"}, {?} ], [{}, {?} ]] out [[{}, {?} ]]
        (%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
      %2 = arith.mulf %a, %b : tensor<4x8xf32>
      %3 = pw.all_reduce %2 add over ["x"] : tensor<4x8xf32>
      pw.yield %3 : tensor<4x8xf32>
    } : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<PW_Tensor>:$inputs, StrArrayAttr:$axes,
                       TypedArrayAttrBase<PW_ShardingAttr, "list of shardings">:$in_shardings,
                       TypedArrayAttrBase<PW_ShardingAttr, "list of shardings">:$out_shardings);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<PW_Tensor>:$outputs);
  let assemblyFormat = [{
    `(` $inputs `)` `over` $axes `in` custom<Shardings>($in_shardings)
    `out` custom<Shardings>($out_shardings) custom<BodyWithArguments>($body)
    attr-dict `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    bool isManual(::mlir::Attribute axis) {
      return ::llvm::is_contained(getAxes(), axis);
    }
    ::mlir::pathways::ShardingAttr getInSharding(unsigned operand) {
      return ::llvm::cast<ShardingAttr>(getInShardings()[operand]);
    }
    ::mlir::pathways::ShardingAttr getOutSharding(unsigned result) {
      return ::llvm::cast<ShardingAttr>(getOutShardings()[result]);
    }
    ::mlir::pathways::YieldOp getYield();
    /// Returns true if `axis` is manual in the innermost `pw.manual` around `op`, or
    /// in one around that.
    static bool isManualAt(::mlir::Operation *op, ::mlir::Attribute axis);
  }];
}

def YieldOp : Pathways_Op<"yield", [
    Pure, Terminator, ReturnLike, ParentOneOf<["ManualOp", "ForOp", "IfOp"]>]> {
  let summary = "End a region of a `pw.manual`, `pw.for` or `pw.if`";
  let description = [{
    The operands are tensors in a `pw.manual`, and arrays in a `pw.for` or `pw.if`. The
    operation around it verifies them.

    ```mlir
    pw.yield %3 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[PW_Tensor, PW_ArrayType]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Local view
//===----------------------------------------------------------------------===//

class Pathways_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Pathways_Op<mnemonic, !listconcat([
        Pure, DeclareOpInterfaceMethods<PW_CollectiveOpInterface, ["getResultShape"]>
      ], traits)> {
  let results = (outs PW_Tensor:$result);
}

def AllReduceOp : Pathways_CollectiveOp<"all_reduce", [SameOperandsAndResultType]> {
  let summary = "Combine the tensors of a group, for all members";
  let description = [{
    The tensors are combined axis by axis, starting with the axis that is named last.
    Along an axis of size n, let m be the largest power of two below n: the first m
    indices are combined, then the others, then the two results, left before right;
    both parts are combined recursively in the same way. f16 and bf16 are combined in
    f32, and the result is rounded once. So the bits follow from the text alone, not
    from timing or from where shards are. `max` and `min` take integers as signed,
    `umax` and `umin` take them as unsigned; `and`, `or` and `xor` combine their bits.

    (C1) The op is in a `pw.manual`, or in a `pw.local_view` function, at its top level or
    in loops and branches that all shards run alike: `scf.for` whose bounds and step, and
    `scf.if` whose condition, follow from constants and the induction variables of
    such loops; they are unrolled when the function is compiled, a loop at most 1024
    times; (C2) `axes` names at least one axis, none empty or twice; (C3) tensors are
    static, i1 is not combined by add or mul, and umax, umin, and, or and xor
    combine integers only.

    ```mlir
    %1 = pw.all_reduce %0 add over ["model"] : tensor<8xf32>
    ```
  }];
  let arguments = (ins PW_Tensor:$source, PW_ReductionKindAttr:$kind,
                       StrArrayAttr:$axes);
  let assemblyFormat = [{
    $source custom<Reduction>($kind) `over` $axes attr-dict `:` type($source)
  }];
}

def AllGatherOp : Pathways_CollectiveOp<"all_gather"> {
  let summary = "Concatenate the tensors of a group, for all members";
  let description = [{
    The tensors are concatenated along `dim` in rank order. Constraints (C1) to (C3)
    as for `pw.all_reduce`; (C4) `dim` is a dimension; (C5) the result is the source
    with that dimension multiplied by the size of the group.

    ```mlir
    %1 = pw.all_gather %0 dim 0 over ["d"] : tensor<4xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins PW_Tensor:$source, I64Attr:$dim, StrArrayAttr:$axes);
  let assemblyFormat = [{
    $source `dim` $dim `over` $axes attr-dict `:` type($source) `->` type($result)
  }];
}

def ReduceScatterOp : Pathways_CollectiveOp<"reduce_scatter"> {
  let summary = "Combine the tensors of a group, one block for each member";
  let description = [{
    The result of rank r is block r, along `dim`, of the result of `pw.all_reduce`.
    Constraints (C1) to (C3) as for `pw.all_reduce`; (C4) `dim` is a dimension;
    (C5) the group's size divides that dimension and the result is one block.

    ```mlir
    %1 = pw.reduce_scatter %0 add dim 0 over ["d"] : tensor<8xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins PW_Tensor:$source, PW_ReductionKindAttr:$kind,
                       I64Attr:$dim, StrArrayAttr:$axes);
  let assemblyFormat = [{
    $source custom<Reduction>($kind) `dim` $dim `over` $axes attr-dict `:`
    type($source) `->` type($result)
  }];
}

def AllToAllOp : Pathways_CollectiveOp<"all_to_all"> {
  let summary = "Exchange blocks within a group";
  let description = [{
    Each tensor is cut along `split` into one block per rank; rank r concatenates
    block r of every rank along `concat`, in rank order. Constraints (C1) to (C3) as
    for `pw.all_reduce`; (C4) `split` and `concat` are dimensions; (C5) the
    group's size divides `split` and the result has the exchanged shape.

    ```mlir
    %1 = pw.all_to_all %0 split 0 concat 1 over ["d"]
        : tensor<8x2xf32> -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins PW_Tensor:$source, I64Attr:$split, I64Attr:$concat,
                       StrArrayAttr:$axes);
  let assemblyFormat = [{
    $source `split` $split `concat` $concat `over` $axes attr-dict `:`
    type($source) `->` type($result)
  }];
}

def BroadcastOp : Pathways_CollectiveOp<"broadcast", [SameOperandsAndResultType]> {
  let summary = "Send the tensor of one member to the whole group";
  let description = [{
    Each member gets the tensor of rank `root`. Constraints (C1) to (C3) as for
    `pw.all_reduce`; (C4) `root` is a rank of the group.

    ```mlir
    %1 = pw.broadcast %0 from 2 over ["d"] : tensor<4xf32>
    ```
  }];
  let arguments = (ins PW_Tensor:$source, I64Attr:$root, StrArrayAttr:$axes);
  let assemblyFormat = [{
    $source `from` $root `over` $axes attr-dict `:` type($source)
  }];
}

def PermuteOp : Pathways_CollectiveOp<"permute", [SameOperandsAndResultType]> {
  let summary = "Send tensors between ranks of a group";
  let description = [{
    With `shift`, rank r receives the tensor of rank r - `shift`. With `wrap` this is
    modulo the group's size; otherwise rank r receives zeros if there is no such rank.
    With `pairs`, each pair is a sender and a receiver; a rank that is no receiver gets
    zeros. A rank may send to several ranks. Constraints (C1) to (C3) as for
    `pw.all_reduce`; (C4) there is either `shift` or `pairs`, and `wrap` only with
    `shift`; (C5) pairs are of ranks of the group, and no rank receives twice.

    ```mlir
    %1 = pw.permute %0 shift 1 over ["d"] wrap : tensor<4xf32>
    %2 = pw.permute %1 pairs [[0, 2], [2, 0], [2, 1]] over ["d"] : tensor<4xf32>
    ```
  }];
  let arguments = (ins PW_Tensor:$source, OptionalAttr<I64Attr>:$shift,
                       OptionalAttr<DenseI64ArrayAttr>:$pairs,
                       StrArrayAttr:$axes, UnitAttr:$wrap);
  let assemblyFormat = [{
    $source custom<Route>($shift, $pairs) `over` $axes (`wrap` $wrap^)? attr-dict
    `:` type($source)
  }];
  let hasVerifier = 1;
}

def ShardIndexOp : Pathways_Op<"shard_index", [Pure]> {
  let summary = "Get the coordinate of this shard on a mesh axis";
  let description = [{
    (C1) The op is in a `pw.local_view` function or a `pw.manual`; (C2) the axis has a
    name.

    ```mlir
    %i = pw.shard_index "model" : index
    ```
  }];
  let arguments = (ins StrAttr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def StepIndexOp : Pathways_Op<"step_index", [Pure]> {
  let summary = "Get the number of the step";
  let description = [{
    The number is the same on all shards and in all calls of a step, wherever and
    whenever these run. The steps of a launch count up from its `first_step`, which is
    0 unless the caller sets it (`LaunchOptions::first_step`, `--first-step`). A run
    of several launches, such as a run with recovery, numbers its steps like a single
    launch. Bodies of either view may use the op.

    (C1) The op is in a `func.func`.

    ```mlir
    %n = pw.step_index : index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def ValidExtentOp : Pathways_Op<"valid_extent", [Pure]> {
  let summary = "Get how many elements of an argument are not padding";
  let description = [{
    Returns the number of elements of this shard along dimension `dim`, without
    padding; 0 if the shard is empty.

    (C1) The op is in a `pw.local_view` function; (C2) `source` is an argument of
    that function; (C3) `dim` is a dimension of it.

    ```mlir
    %n = pw.valid_extent %arg0, 0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins PW_Tensor:$source, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$source `,` $dim attr-dict `:` type($source)";
  let hasVerifier = 1;
}

#endif // PATHWAYS_DIALECT_PATHWAYS_OPS_TD
