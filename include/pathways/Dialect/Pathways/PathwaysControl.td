//===- PathwaysControl.td - Loops and branches of programs -*- tablegen -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PATHWAYS_CONTROL_TD
#define PATHWAYS_DIALECT_PATHWAYS_CONTROL_TD

include "pathways/Dialect/Pathways/PathwaysBase.td"

def PW_LoopUse
    : I32EnumAttr<"LoopUse", "How a loop takes an operand or makes a result",
                  [I32EnumAttrCase<"Carried", 1, "carried">,
                   I32EnumAttrCase<"Stepped", 2, "stepped">,
                   I32EnumAttrCase<"Reversed", 3, "reversed">]> {
  let cppNamespace = "::mlir::pathways";
  let genSpecializedAttr = 0;
}

def PW_LoopUseAttr : EnumAttr<Pathways_Dialect, PW_LoopUse, "loop_use"> {
  let assemblyFormat = "`<` $value `>`";
}

def PW_LoopUses : TypedArrayAttrBase<PW_LoopUseAttr, "list of loop uses">;

def ForOp : Pathways_Op<"for", [
    SingleBlock, RecursiveMemoryEffects, PW_SymbolUser, PW_NodeOpInterface]> {
  let summary = "Run nodes of a program a fixed number of times";
  let description = [{
    The region runs `trips` times. Each operand has an argument of the region:

    * a `carried` operand is the argument's value in the first iteration. In each later
      iteration the argument is what the previous iteration yielded for the `carried`
      result of the same rank: the first carried operand goes with the first carried
      result, and so on. The result is what the last iteration yields.
    * a `stepped` operand has one more, leading dimension, of size `trips`. Each
      iteration takes its own index of it; if it is `stepped reversed`, the first
      iteration takes the last index. A `stepped` result stacks what the iterations
      yield in the same way.

    The region may also use values from above, which are the same in all iterations.
    Loops nest. The calls in a body may read the number of the iteration with
    `pw.iteration_index`.

    A `schedule` is the order in which the slices run the calls of the iterations: the
    name of a [schedule](../schedules.md), `auto` for the fastest one, or `@` and the path
    of a file of orders. It is about *cells*: the calls of one label, slice and iteration.
    Without a schedule, each slice runs its calls iteration by iteration. A `label` of the
    loop names it in the loop around it, whose schedule then treats all that the loop runs
    as calls with that label.

    With `while`, an iteration runs only if the argument of the first operand, one i1, is
    true; `trips` is then the largest number of iterations. After an iteration that does
    not run, none does, and the results are what the last one that ran yielded, or the
    operands if none ran.

    The result is that of iterations which run one after the other, bit by bit:
    iterations overlap where nothing that one yields is needed by the other.

    (C1) `trips` is from 1 to 2^24; (C2) there is at least one result; (C3) the region
    has one argument per operand and ends with a `pw.yield` of one value per result;
    (C4) there are as many carried operands as carried results, and a carried operand,
    its argument, what is yielded and its result have one type; (C5) the leading
    dimension of a stepped operand or result has the size `trips` and is not cut, and
    its other dimensions are those of its argument or of what is yielded, on the same
    slice and cut in the same way; (C6) `label` and `schedule` are not empty; (C7) with
    `while`, the first operand is carried and one i1 that is not partial, all results are
    carried, and there is no `schedule`.

    ```mlir
    %losses, %sum = pw.for 4
        (%x = %batches stepped : !pw.array<4x8xf32, @s, [{}, {"d"} ]>
             -> !pw.array<8xf32, @s, [{"d"} ]>,
         %a = %zero carried : !pw.array<8xf32, @s, [{"d"} ]>)
        -> (!pw.array<4xf32, @s, [{} ]> stepped, !pw.array<8xf32, @s, [{"d"} ]> carried) {
      %loss, %b = pw.call @step(%x, %a) donate(%a)
          : (!pw.array<8xf32, @s, [{"d"} ]>, !pw.array<8xf32, @s, [{"d"} ]>)
          -> (!pw.array<f32, @s, []>, !pw.array<8xf32, @s, [{"d"} ]>)
      pw.yield %loss, %b : !pw.array<f32, @s, []>, !pw.array<8xf32, @s, [{"d"} ]>
    }
    ```
  }];
  let arguments = (ins Variadic<PW_ArrayType>:$inits, I64Attr:$trips,
                       PW_LoopUses:$operand_uses, PW_LoopUses:$result_uses,
                       OptionalAttr<StrAttr>:$schedule,
                       OptionalAttr<StrAttr>:$label, UnitAttr:$is_while);
  let results = (outs Variadic<PW_ArrayType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kMaxTrips = int64_t{1} << 24;

    ::mlir::pathways::LoopUse getOperandUse(unsigned operand) {
      return ::llvm::cast<LoopUseAttr>(getOperandUses()[operand]).getValue();
    }
    ::mlir::pathways::LoopUse getResultUse(unsigned result) {
      return ::llvm::cast<LoopUseAttr>(getResultUses()[result]).getValue();
    }
    /// The carried result that `argument` of the region takes after the first
    /// iteration; none if it is stepped.
    std::optional<unsigned> getCarriedResult(unsigned argument);
    ::mlir::pathways::YieldOp getYield();
  }];
}

def IfOp : Pathways_Op<"if", [
    SingleBlock, RecursiveMemoryEffects, PW_SymbolUser, PW_NodeOpInterface]> {
  let summary = "Run one of two lists of nodes of a program";
  let description = [{
    The first region runs if the element of `condition` is true, the second one if it is
    false. Each result is what the region that runs yields for it. Both regions may use
    values from above. Branches and loops nest.

    The nodes of both regions are actions of the plan, which have the condition as their
    guard: where it says no, a call runs nothing and passes its tokens. So order, memory
    and communication are those of a program without branches. See
    [loops and branches](../loops.md).

    (C1) `condition` is one i1, which is not partial; (C2) there is at least one result;
    (C3) both regions have no arguments and end with a `pw.yield` of one value per result,
    of its type.

    ```mlir
    %y = pw.if %isLarge : !pw.array<i1, @s, []> -> (!pw.array<8xf32, @s, [{"d"} ]>) {
      %1 = pw.call @scale(%x) : (!pw.array<8xf32, @s, [{"d"} ]>)
          -> !pw.array<8xf32, @s, [{"d"} ]>
      pw.yield %1 : !pw.array<8xf32, @s, [{"d"} ]>
    } else {
      pw.yield %x : !pw.array<8xf32, @s, [{"d"} ]>
    }
    ```
  }];
  let arguments = (ins PW_ArrayType:$condition);
  let results = (outs Variadic<PW_ArrayType>:$outputs);
  let regions = (region SizedRegion<1>:$then_body, SizedRegion<1>:$else_body);
  let assemblyFormat = [{
    $condition `:` qualified(type($condition)) (`->` `(` qualified(type($outputs))^ `)`)?
    attr-dict-with-keyword $then_body `else` $else_body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::pathways::YieldOp getThenYield();
    ::mlir::pathways::YieldOp getElseYield();
  }];
}

def IterationIndexOp : Pathways_Op<"iteration_index", [Pure]> {
  let summary = "Get the number of the iteration";
  let description = [{
    The number counts from 0, in the innermost `pw.for` around the `pw.call` that runs
    the function. It is the same on all shards. A call outside of loops must not reach
    this operation; `pw-unroll-loops` refuses it.

    (C1) The op is in a `func.func`.

    ```mlir
    %n = pw.iteration_index : index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // PATHWAYS_DIALECT_PATHWAYS_CONTROL_TD
