//===- PlanOps.td - The plan dialect -----------------------*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The low-level program as text: one operation for each entry of the tables in
// runtime/proto/plan.proto, in the order of the tables.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PLAN_PLANOPS_TD
#define PATHWAYS_DIALECT_PLAN_PLANOPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::mlir::pathways::plan";
  let summary = "Plans as the runtime executes them, one operation per table entry";
  let description = [{
    Position in the compiler: `func + linalg -> pw -> pw (placed) -> plan -> plan file`.

    A `plan.program` is the text of one plan: its operations are the entries of
    the plan's tables, in the same order, so text and file translate into each
    other without loss (`pw-translate --plan-to-file`, `--file-to-plan`). A plan obeys
    the rules of docs/plan-format.md; the verifier of `plan.program` checks all of
    them and reports each violation at its entry.

    Entries refer to each other by name. A name is unique only within its table, so
    a buffer and an action may have the same name; names are therefore plain strings
    that look like symbols, not symbols. The text has only what cannot be derived: the
    first and last action of a buffer and the offset of code in the file are computed.
  }];
}

//===----------------------------------------------------------------------===//
// Enumerations; the numbers are those of plan.proto
//===----------------------------------------------------------------------===//

def Plan_Reduction : I32EnumAttr<"Reduction", "how contributions are combined", [
    I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">,
    I32EnumAttrCase<"Umax", 5, "umax">, I32EnumAttrCase<"Umin", 6, "umin">,
    I32EnumAttrCase<"And", 7, "and">, I32EnumAttrCase<"Or", 8, "or">,
    I32EnumAttrCase<"Xor", 9, "xor">]> {
  let cppNamespace = "::mlir::pathways::plan";
}

def Plan_CollectiveKind : I32EnumAttr<"CollectiveKind", "what a collective does", [
    I32EnumAttrCase<"AllReduce", 1, "all_reduce">,
    I32EnumAttrCase<"AllGather", 2, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 3, "reduce_scatter">,
    I32EnumAttrCase<"AllToAll", 4, "all_to_all">,
    I32EnumAttrCase<"Permute", 5, "permute">,
    I32EnumAttrCase<"Broadcast", 6, "broadcast">]> {
  let cppNamespace = "::mlir::pathways::plan";
}

def Plan_EdgeKind : I32EnumAttr<"EdgeKind", "why an edge is there", [
    I32EnumAttrCase<"Data", 1, "data">, I32EnumAttrCase<"Credit", 2, "credit">,
    I32EnumAttrCase<"Reuse", 3, "reuse">, I32EnumAttrCase<"Control", 4, "control">]> {
  let cppNamespace = "::mlir::pathways::plan";
}

def Plan_Relation : I32EnumAttr<"Relation", "which shards an edge joins", [
    I32EnumAttrCase<"Same", 1, "same">, I32EnumAttrCase<"Pieces", 2, "pieces">,
    I32EnumAttrCase<"All", 3, "all">]> {
  let cppNamespace = "::mlir::pathways::plan";
}

def Plan_Rounding : I32EnumAttr<"Rounding", "how the code of a kernel rounds", [
    I32EnumAttrCase<"EachOp", 0, "each_op">, I32EnumAttrCase<"Strict", 1, "strict">,
    I32EnumAttrCase<"Excess", 2, "excess">]> {
  let cppNamespace = "::mlir::pathways::plan";
}

def Plan_ExpectKind : I32EnumAttr<"ExpectKind", "how a result is compared", [
    I32EnumAttrCase<"Eq", 1, "eq">, I32EnumAttrCase<"Close", 2, "close">,
    I32EnumAttrCase<"AlmostEq", 3, "almost_eq">]> {
  let cppNamespace = "::mlir::pathways::plan";
}

//===----------------------------------------------------------------------===//
// Constraints and bases
//===----------------------------------------------------------------------===//

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Plan_Dialect, mnemonic, traits>;

// An entry of one of the tables of a program.
class Plan_Entry<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat([HasParent<"ProgramOp">], traits)>;

def Plan_Name : OptionalAttr<SymbolNameAttr>;
def Plan_Text : DefaultValuedOptionalStrAttr<StrAttr, "">;
def Plan_Count : DefaultValuedOptionalAttr<I64Attr, "0">;
def Plan_TensorType : TypeAttrOf<AnyStaticShapeTensor>;
class Plan_EmptyList : DefaultValuedOptionalAttr<StrArrayAttr, "{}">;
def Plan_Names : Plan_EmptyList;
def Plan_ListOfLists : TypedArrayAttrBase<StrArrayAttr, "lists of strings">;
def Plan_Locations : DefaultValuedOptionalAttr<Plan_ListOfLists, "{}">;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

def Plan_ProgramOp : Plan_Op<"program", [
    Symbol, IsolatedFromAbove, NoTerminator, SingleBlock,
    NoRegionArguments,
    RegionKindInterface, HasOnlyGraphRegion]> {
  let summary = "Hold the tables of one plan";
  let description = [{
    The operations inside are the entries of the tables: slices, layouts,
    kernels, buffers, actions, edges, arguments, results, loops and the orders of
    loops, in this order.
    `in_flight` is the number of firings of one action that may be open.
    `fingerprint` identifies, in profiles, the text that the plan was made of.

    Constraints: (C1) tables come in the order above; (C2) a name that is
    referred to is in its table exactly once; (C3) the plan obeys the rules of
    docs/plan-format.md. Rules about code are checked once there is code. Of a plan with
    loops, the tables and the order of the iterations are checked (rules 1, 9 and 11, and 2
    between iterations); the other rules are checked when it is loaded and its iterations
    are written out.

    ```mlir
    plan.program @twice source "twice.mlir" producer "pathways 0.1.0" in_flight 2 {
      plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
      plan.layout 0 tensor<4xf32> [{} ]
      plan.buffer @x on @s layout 0 at 0 bytes 16 stride 128 credits 2
      plan.feed @x.feed on @s argument @x -> @x
      plan.fetch @y.fetch on @s @x -> result @y
      plan.edge @x.feed -> @y.fetch data same
      plan.edge @y.fetch -> @x.feed credit same tokens 2
      plan.argument @x feed @x.feed
      plan.result @y fetch @y.fetch
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_Text:$source,
                       Plan_Text:$producer, Plan_Text:$fingerprint,
                       I64Attr:$in_flight);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`source` $source^)? (`producer` $producer^)?
    (`fingerprint` $fingerprint^)? `in_flight` $in_flight attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Plan_SliceOp : Plan_Entry<"slice"> {
  let summary = "Declare a slice and the devices it is bound to";
  let description = [{
    The mesh lists axes, major first; without axes it has one device. `base`, `strides`
    and `span` give device(c) = base + (sum of c[i] * strides[i]) mod span in device
    indices of the island (span 0: no wrap-around); `devices` lists one device per
    shard instead. `also` has the islands and bases of the second and later runs of
    shards. Constraint: (C1) the mesh has as many names as sizes; strides and
    devices exclude each other; bases after `also` go with strides, one per island.

    ```mlir
    plan.slice @front mesh <"data" = 2, "model" = 2> kind "cpu" island 0 base 0 strides [2, 1]
    plan.slice @back mesh <"data" = 2> kind "cpu" island 1 devices [3, 1]
    plan.slice @wide mesh <"data" = 4> kind "cpu" island 0 base 0 strides [1] span 2 also islands [1] bases [4]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, StrArrayAttr:$axes,
                       DenseI64ArrayAttr:$sizes, Plan_Text:$kind,
                       OptionalAttr<I64Attr>:$island, Plan_Count:$base,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, Plan_Count:$span,
                       OptionalAttr<DenseI64ArrayAttr>:$devices,
                       OptionalAttr<DenseI64ArrayAttr>:$more_islands,
                       OptionalAttr<DenseI64ArrayAttr>:$more_bases);
  let assemblyFormat = [{
    $id `mesh` custom<Mesh>($axes, $sizes) (`kind` $kind^)?
    (`island` $island^)?
    (`base` $base^)? (`strides` $strides^)? (`span` $span^)?
    (`devices` $devices^)?
    (`also` `islands` $more_islands^ (`bases` $more_bases^)?)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_LayoutOp : Plan_Entry<"layout"> {
  let summary = "Declare how an array is cut over the axes of a slice";
  let description = [{
    The tensor type is the global shape and element type. It is followed by the mesh
    axes that cut each dimension, major first. Layouts have no names: the number is
    the position in the table. Constraint: (C1) numbers count up from 0.

    ```mlir
    plan.layout 0 tensor<64x256xf32> [{"data"}, {} ] partial add {"model"}
    ```
  }];
  let arguments = (ins I64Attr:$number, Plan_TensorType:$type,
                       Plan_ListOfLists:$dims,
                       OptionalAttr<Plan_Reduction>:$reduction,
                       Plan_Names:$partial);
  let assemblyFormat = [{
    $number $type custom<Dims>($dims)
    (`partial` $reduction^ custom<Axes>($partial))? attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Plan_KernelOp : Plan_Entry<"kernel", [
    IsolatedFromAbove, NoTerminator, SingleBlock, SymbolTable,
    NoRegionArguments,
    RegionKindInterface, HasOnlyGraphRegion]> {
  let summary = "Hold the code of one computation";
  let description = [{
    Before code generation the body has, for each segment, a `plan.segment` and a
    `func.func` of the same name on tensors: the arguments of the function are the
    operands that are read, its results those that are written, in order. Code
    generation replaces the functions by one `plan.object` per target.
    `coordinates` is the number of mesh axes whose coordinates the code takes. `hash`
    identifies the code by its content. `rounding` is `strict` or `excess` if the code
    was compiled with that [rounding](../kernels.md#rounding), and absent for the
    default, `each_op`.

    Constraints: (C1) segments have distinct names; (C2) a kernel has either
    objects or functions for its segments; (C3) the function of a segment has the
    types of its operands.

    ```mlir
    plan.kernel @layer0 coordinates 2 {
      plan.segment @main (tensor<4xf32>, out tensor<4xf32>)
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        return %x : tensor<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, Plan_Count:$coordinates, Plan_Text:$hash,
                       OptionalAttr<Plan_Rounding>:$rounding);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $id (`coordinates` $coordinates^)? (`hash` $hash^)? (`rounding` $rounding^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns true if the kernel was compiled or has nothing to compile.
    bool hasCode();
  }];
}

def Plan_SegmentOp : Plan_Op<"segment", [HasParent<"KernelOp">]> {
  let summary = "Declare one function of a kernel's code";
  let description = [{
    `operands` are the types of one shard of each operand; the operands at the
    positions in `written` are outputs. `scratch` is the number of bytes of memory for
    the code's own use. The code returns k > 0 if the check at `locations[k - 1]`
    failed; each location is a place and a message. Constraints: (C1) positions in
    `written` are in range and increase; (C2) operands are tensors of static shape;
    (C3) a location has two strings.

    ```mlir
    plan.segment @main (tensor<4xi32>, tensor<4xi32>, out tensor<4xi32>)
        scratch 128 locations [["a.mlir:3:5", "division by zero"]]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, TypeArrayAttr:$operand_types,
                       DenseI64ArrayAttr:$written, Plan_Count:$scratch,
                       Plan_Locations:$locations);
  let assemblyFormat = [{
    $id custom<Signature>($operand_types, $written) (`scratch` $scratch^)?
    (`locations` $locations^)? attr-dict
  }];
  let hasVerifier = 1;
  let builders = [
    // Makes the signature of the function: inputs first, then outputs.
    OpBuilder<(ins "::llvm::StringRef":$id, "::mlir::TypeRange":$inputs,
                   "::mlir::TypeRange":$outputs)>];
}

def Plan_ObjectOp : Plan_Op<"object", [HasParent<"KernelOp">]> {
  let summary = "Hold the code of a kernel for one target";
  let description = [{
    Holds a relocatable, position-independent object file. An absent target is that of
    the machine that ran the compiler.

    ```mlir
    plan.object target "x86_64-unknown-linux-gnu" cpu "znver4" features ["+avx2"]
        code dense_resource<"layer0.0"> : tensor<4096xi8>
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$triple, Plan_Text:$cpu,
                       Plan_Names:$features, ElementsAttr:$code);
  let assemblyFormat = [{
    (`target` $triple^)? (`cpu` $cpu^)? (`features` $features^)? `code` $code attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the bytes of the object; empty if the resource is missing.
    ::llvm::ArrayRef<char> getBytes();
  }];
}

//===----------------------------------------------------------------------===//
// Buffers and actions
//===----------------------------------------------------------------------===//

def Plan_BufferOp : Plan_Entry<"buffer"> {
  let summary = "Declare the memory of one array";
  let description = [{
    Every shard of the slice has `credits` slots of `bytes`, `stride` apart, starting
    `at` an offset in the slice's memory. Firing n uses slot n mod credits.

    A buffer `in` a loop is there in each iteration: iteration i is in place
    i mod `slots`, `by` bytes apart. A buffer with `initial` and `next` is carried: it
    is another name of the first in the first iteration, and of the second, of the
    iteration before, in the others. A buffer with `last` is another name, behind the
    loop, of what the last iteration has in that buffer.

    ```mlir
    plan.buffer @h on @front layout 2 at 4096 bytes 1024 stride 1024 credits 2
    plan.buffer @g on @front layout 2 at 8192 bytes 1024 stride 1024 credits 1 in @loop slots 2 by 1024
    plan.buffer @s on @front layout 2 at 0 bytes 1024 stride 0 credits 1 in @loop initial @zero next @g
    plan.buffer @sum on @front layout 2 at 0 bytes 1024 stride 0 credits 1 last @g
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, SymbolNameAttr:$slice, I64Attr:$layout,
                       UnitAttr:$host, I64Attr:$offset, I64Attr:$bytes,
                       I64Attr:$stride, I64Attr:$credits, Plan_Name:$loop,
                       Plan_Count:$slots, Plan_Count:$slot_stride,
                       Plan_Name:$initial, Plan_Name:$next, Plan_Name:$last);
  let assemblyFormat = [{
    $id `on` $slice `layout` $layout (`host` $host^)? `at` $offset `bytes` $bytes
    `stride` $stride `credits` $credits
    (`in` $loop^)? (`slots` $slots^)? (`by` $slot_stride^)?
    (`initial` $initial^)? (`next` $next^)? (`last` $last^)? attr-dict
  }];
}

def Plan_GangOp : Plan_Entry<"gang", [
    NoTerminator, SingleBlock, NoRegionArguments,
    RegionKindInterface, HasOnlyGraphRegion]> {
  let summary = "Run a kernel on all shards of a slice together";
  let description = [{
    `reads` and `writes` are buffers of the slice, including temporaries. The body has
    the steps, `plan.run` and `plan.collective`, in the order in which every shard runs
    them, and then a `plan.alias` for each result that takes the memory of an operand.
    `cost` is the estimated time of one firing in nanoseconds; 0: not known. `in` is the
    loop whose iterations run it. With a guard, `if` or `unless` and one of the buffers
    that the gang reads, the gang works only in firings where that i1 is true, or false.

    ```mlir
    plan.gang @layer0 on @front kernel @layer0 reads [@x, @w] writes [@t, @h] cost 900 at "a.mlir:9:8" {
      plan.run @layer0.0 [@x, @w, @t]
      plan.collective all_reduce @t -> @h over ["model"] reduce add
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, SymbolNameAttr:$slice, Plan_Name:$kernel,
                       Plan_Names:$reads, Plan_Names:$writes, Plan_Name:$guard,
                       Plan_Name:$unless, Plan_Count:$cost, Plan_Name:$loop,
                       Plan_Text:$where);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $id `on` $slice (`kernel` $kernel^)? `reads` custom<Refs>($reads)
    `writes` custom<Refs>($writes) (`if` $guard^)? (`unless` $unless^)?
    (`cost` $cost^)? (`in` $loop^)? (`at` $where^)? attr-dict-with-keyword $body
  }];
}

def Plan_RunOp : Plan_Op<"run", [HasParent<"GangOp">]> {
  let summary = "Run one segment of the gang's kernel";
  let description = [{
    `buffers` has one buffer for each operand of the segment.

    ```mlir
    plan.run @layer0.0 [@x, @w, @t]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$segment, Plan_Names:$buffers);
  let assemblyFormat = "$segment custom<Refs>($buffers) attr-dict";
}

def Plan_CollectiveOp : Plan_Op<"collective", [HasParent<"GangOp">]> {
  let summary = "Communicate among shards that differ on the given axes only";
  let description = [{
    `dim` is the dimension that all_gather grows, or that reduce_scatter and all_to_all
    cut. `concat` is the dimension that all_to_all grows. In permute, rank r of a group
    sends to rank r + `shift`, modulo the group size with `wrap`; without `wrap`, ranks
    without a sender receive zeros. In `pairs`, each two numbers are a sender and a
    receiver. In broadcast, every rank gets the buffer of rank `root`.

    ```mlir
    plan.collective all_reduce @a -> @b over ["model"] reduce add
    plan.collective all_to_all @a -> @b over ["x", "y"] dim 0 concat 1
    plan.collective permute @a -> @b over ["x"] shift -1 wrap
    plan.collective permute @a -> @b over ["x"] pairs [0, 1, 1, 0]
    plan.collective broadcast @a -> @b over ["x"] root 2
    ```
  }];
  let arguments = (ins Plan_CollectiveKind:$kind, SymbolNameAttr:$source,
                       SymbolNameAttr:$result, StrArrayAttr:$axes,
                       OptionalAttr<Plan_Reduction>:$reduction, Plan_Count:$dim,
                       Plan_Count:$concat, Plan_Count:$shift, UnitAttr:$wrap,
                       OptionalAttr<DenseI64ArrayAttr>:$pairs, Plan_Count:$root);
  let assemblyFormat = [{
    $kind $source `->` $result `over` $axes (`reduce` $reduction^)?
    (`dim` $dim^)? (`concat` $concat^)? (`shift` $shift^)? (`wrap` $wrap^)?
    (`pairs` $pairs^)? (`root` $root^)? attr-dict
  }];
}

def Plan_AliasOp : Plan_Op<"alias", [HasParent<"GangOp">]> {
  let summary = "Let a result take the memory of an operand";
  let description = [{
    The lifetime of the operand ends with this gang. Both buffers have the same offset
    and bytes.

    ```mlir
    plan.alias @g -> @y
    ```
  }];
  let arguments = (ins SymbolNameAttr:$operand, SymbolNameAttr:$result);
  let assemblyFormat = "$operand `->` $result attr-dict";
}

def Plan_SendOp : Plan_Entry<"send"> {
  let summary = "Send a buffer along the pieces of a movement";
  let description = [{
    The send is done when its operand may be overwritten. With a guard, as of a
    `plan.gang`, it moves bytes only in firings where the guard says so.

    ```mlir
    plan.send @h.send on @front @h to @h.recv cost 300
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, SymbolNameAttr:$slice,
                       SymbolNameAttr:$operand, SymbolNameAttr:$peer,
                       Plan_Name:$guard, Plan_Name:$unless, Plan_Count:$cost,
                       Plan_Name:$loop, Plan_Text:$where);
  let assemblyFormat = [{
    $id `on` $slice $operand `to` $peer (`if` $guard^)? (`unless` $unless^)?
    (`cost` $cost^)? (`in` $loop^)? (`at` $where^)? attr-dict
  }];
}

def Plan_RecvOp : Plan_Entry<"recv"> {
  let summary = "Receive the pieces of a movement";
  let description = [{
    The recv is done when its result is complete, including padding.

    ```mlir
    plan.recv @h.recv on @back @g from @h.send cost 300
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, SymbolNameAttr:$slice,
                       SymbolNameAttr:$result, SymbolNameAttr:$peer,
                       Plan_Count:$cost, Plan_Name:$loop, Plan_Text:$where);
  let assemblyFormat = [{
    $id `on` $slice $result `from` $peer (`cost` $cost^)? (`in` $loop^)?
    (`at` $where^)? attr-dict
  }];
}

def Plan_FeedOp : Plan_Entry<"feed"> {
  let summary = "Put an argument into its buffer";
  let description = [{
    `carried` is the buffer from which the value comes after the first step of a
    launch.

    ```mlir
    plan.feed @w.feed on @front argument @w -> @w carried @w.new
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, SymbolNameAttr:$slice,
                       SymbolNameAttr:$argument, SymbolNameAttr:$result,
                       Plan_Name:$carried, Plan_Count:$cost, Plan_Text:$where);
  let assemblyFormat = [{
    $id `on` $slice `argument` $argument `->` $result (`carried` $carried^)?
    (`cost` $cost^)? (`at` $where^)? attr-dict
  }];
}

def Plan_FetchOp : Plan_Entry<"fetch"> {
  let summary = "Return a buffer as a result";
  let description = [{
    ```mlir
    plan.fetch @y.fetch on @back @y -> result @y
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, SymbolNameAttr:$slice,
                       SymbolNameAttr:$operand, SymbolNameAttr:$output,
                       Plan_Count:$cost, Plan_Text:$where);
  let assemblyFormat = [{
    $id `on` $slice $operand `->` `result` $output
    (`cost` $cost^)? (`at` $where^)? attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

def Plan_LoopOp : Plan_Entry<"loop"> {
  let summary = "Declare actions that run several times in a step";
  let description = [{
    The actions and buffers that are `in` the loop are there `trips` times.

    ```mlir
    plan.loop @loop trips 64
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, I64Attr:$trips);
  let assemblyFormat = "$id `trips` $trips attr-dict";
}

def Plan_OrderOp : Plan_Entry<"order"> {
  let summary = "Say in which order a slice runs the iterations of a loop";
  let description = [{
    `times` times, the slice runs each gang for the iteration beside it; each time, the
    iterations are `step` higher than the time before. The entries of a slice, one
    after the other, are its order.

    ```mlir
    plan.order in @loop on @back [@back.1F, @back.1B] iterations [0, 0] times 64 step 1
    ```
  }];
  let arguments = (ins SymbolNameAttr:$loop, SymbolNameAttr:$slice, Plan_Names:$gangs,
                       DenseI64ArrayAttr:$iterations, I64Attr:$times, Plan_Count:$step);
  let assemblyFormat = [{
    `in` $loop `on` $slice custom<Refs>($gangs) `iterations` $iterations
    `times` $times (`step` $step^)? attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Edges and the interface
//===----------------------------------------------------------------------===//

def Plan_EdgeOp : Plan_Entry<"edge"> {
  let summary = "Let one action wait for another";
  let description = [{
    Firing n + `tokens` of the second action waits for firing n of the first.

    ```mlir
    plan.edge @a -> @b data same
    plan.edge @b -> @a credit same tokens 2
    ```
  }];
  let arguments = (ins SymbolNameAttr:$from, SymbolNameAttr:$to,
                       Plan_EdgeKind:$kind, Plan_Relation:$relation, Plan_Count:$tokens);
  let assemblyFormat = "$from `->` $to $kind $relation (`tokens` $tokens^)? attr-dict";
}

def Plan_ArgumentOp : Plan_Entry<"argument"> {
  let summary = "Declare an argument of the program";
  let description = [{
    With `stepped`, each step takes the next index of a leading dimension. With
    `carried`, after the first step of a launch, the value is that of the named
    result. With `constant`, the value is always that of these bytes, row-major and
    little endian, and callers pass none.

    ```mlir
    plan.argument @x feed @x.feed stepped
    plan.argument @w feed @w.feed carried @w_new
    plan.argument @c feed @c.feed constant dense_resource<"c.0"> : tensor<65536xi8>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, SymbolNameAttr:$action,
                       UnitAttr:$stepped, Plan_Name:$carried,
                       OptionalAttr<ElementsAttr>:$constant);
  let assemblyFormat = [{
    $id `feed` $action (`stepped` $stepped^)? (`carried` $carried^)?
    (`constant` $constant^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the bytes of the constant; empty if there is none, or if its
    /// resource is missing.
    ::llvm::ArrayRef<char> getConstantBytes();
  }];
}

def Plan_ResultOp : Plan_Entry<"result"> {
  let summary = "Declare a result of the program";
  let description = [{
    With `stepped`, the values of the steps are stacked along a leading dimension;
    otherwise the value of the last step is the result. With `expect`, the result is
    checked against the named result, as `#pw.expect` says.

    ```mlir
    plan.result @y fetch @y.fetch stepped
    plan.result @got fetch @got.fetch expect close @want max_ulp 3
    plan.result @want fetch @want.fetch
    ```
  }];
  let arguments = (ins SymbolNameAttr:$id, SymbolNameAttr:$action, UnitAttr:$stepped,
                       OptionalAttr<Plan_ExpectKind>:$expect, Plan_Name:$expected,
                       Plan_Count:$min_ulp, Plan_Count:$max_ulp,
                       OptionalAttr<F64Attr>:$tolerance);
  let assemblyFormat = [{
    $id `fetch` $action (`stepped` $stepped^)? (`expect` $expect^ $expected)?
    (`min_ulp` $min_ulp^)? (`max_ulp` $max_ulp^)? (`tolerance` $tolerance^)? attr-dict
  }];
}

#endif // PATHWAYS_DIALECT_PLAN_PLANOPS_TD
