# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of a training step of a pipeline: a loop over micro-batches.

A stage is a layer, relu(x w). The loss is half of the squared difference to the
targets, and each stage updates its weights after the last micro-batch.
"""

# The schedules whose backward calls are in halves, and those of two stages a slice.
SPLIT = ("zb-h1", "zb-h2", "zbv", "dualpipe-v")
VEE = ("zbv", "dualpipe-v")


def slices_of(args):
    """The slice of each stage."""
    if args.layout == "vee":
        there = list(range(args.slices))
        return there + there[::-1]
    return [stage % args.slices for stage in range(args.slices * args.chunks)]


def functions(args):
    """The functions of a stage, and those that only the last one has."""
    act = f"tensor<{args.rows}x{args.width}xf32>"
    flags = f"tensor<{args.rows}x{args.width}xi1>"
    weight = f"tensor<{args.width}x{args.width}xf32>"

    def product(name, a, b, types, to, to_type):
        """Lines that set %name to the matrix product of two operands, given with
        their subscripts, plus what is in `to`."""
        return f"""  %{name} = linalg.contract
      indexing_maps = [affine_map<(i, j, k) -> ({a[1]})>,
                       affine_map<(i, j, k) -> ({b[1]})>,
                       affine_map<(i, j, k) -> (i, j)>]
      ins(%{a[0]}, %{b[0]} : {types}) outs(%{to} : {to_type}) -> {to_type}"""

    zeros = f"%zeros = arith.constant dense<0.0> : {act}"
    mixed = f"{act}, {weight}"
    y = product("y", ("x", "i, k"), ("w", "k, j"), mixed, "zeros", act)
    to_input = product("dx", ("g", "i, k"), ("w", "j, k"), mixed, "zeros", act)
    to_weight = product(
        "da", ("x", "k, i"), ("g", "k, j"), f"{act}, {act}", "a", weight
    )
    # Where the layer's result is above 0, its gradient is that of the product.
    through = f"""  {zeros}
  %above = arith.cmpf ogt, %r, %zeros : {act}
  %g = arith.select %above, %d, %zeros : {flags}, {act}"""
    yield f"""func.func private @zero() -> {weight} {{
  %zeros = arith.constant dense<0.0> : {weight}
  return %zeros : {weight}
}}
func.func private @forward(%x: {act}, %w: {weight}) -> {act} {{
  {zeros}
{y}
  %r = arith.maximumf %y, %zeros : {act}
  return %r : {act}
}}
func.func private @loss(%r: {act}, %target: {act}) -> ({act}, tensor<f32>) {{
  %d = arith.subf %r, %target : {act}
  %half = arith.constant dense<0.5> : {act}
  %zero = arith.constant dense<0.0> : tensor<f32>
  %squares = arith.mulf %d, %d : {act}
  %halves = arith.mulf %squares, %half : {act}
  %loss = linalg.reduce {{ arith.addf }} ins(%halves : {act}) outs(%zero : tensor<f32>)
      dimensions = [0, 1]
  return %d, %loss : {act}, tensor<f32>
}}
func.func private @update(%w: {weight}, %a: {weight}) -> {weight} {{
  %rate = arith.constant dense<{args.rate}> : {weight}
  %step = arith.mulf %rate, %a : {weight}
  %next = arith.subf %w, %step : {weight}
  return %next : {weight}
}}"""
    if args.split:
        yield f"""func.func private @backward_input(%d: {act}, %r: {act}, %w: {weight})
    -> ({act}, {act}) {{
{through}
{to_input}
  return %dx, %g : {act}, {act}
}}
func.func private @backward_weight(%g: {act}, %x: {act}, %a: {weight}) -> {weight} {{
{to_weight}
  return %da : {weight}
}}"""
    else:
        yield f"""func.func private @backward(%d: {act}, %r: {act}, %w: {weight}, %x: {act},
                            %a: {weight}) -> ({act}, {weight}) {{
{through}
{to_input}
{to_weight}
  return %dx, %da : {act}, {weight}
}}"""


def loop(args, on):
    """The lines of the loop's body; `on` has the slice of each stage."""
    last = len(on) - 1
    again = " recompute" if args.recompute else ""

    def act(stage):
        return f"!act{on[stage]}"

    def weight(stage):
        return f"!weight{on[stage]}"

    for stage in range(last + 1):
        a, w = act(stage), weight(stage)
        yield (
            f"%r{stage} = pw.call @forward(%x{stage}, %w{stage}) "
            f'label "{stage}F"{again} : ({a}, {w}) -> {a}'
        )
        if stage < last:
            yield f"%x{stage + 1} = pw.reshard %r{stage} : {a} -> {act(stage + 1)}"
    a = act(last)
    yield (
        f"%d{last}, %loss = pw.call @loss(%r{last}, %target) "
        f": ({a}, {a}) -> ({a}, !loss)"
    )
    for stage in range(last, -1, -1):
        a, w = act(stage), weight(stage)
        if args.split:
            yield (
                f"%dx{stage}, %g{stage} = pw.call @backward_input"
                f'(%d{stage}, %r{stage}, %w{stage}) label "{stage}I" '
                f": ({a}, {a}, {w}) -> ({a}, {a})"
            )
            yield (
                f"%b{stage} = pw.call @backward_weight(%g{stage}, %x{stage}, "
                f'%a{stage}) donate(%a{stage}) label "{stage}W" '
                f": ({a}, {a}, {w}) -> {w}"
            )
        else:
            yield (
                f"%dx{stage}, %b{stage} = pw.call @backward(%d{stage}, %r{stage}, "
                f"%w{stage}, %x{stage}, %a{stage}) donate(%a{stage}) "
                f'label "{stage}B" : ({a}, {a}, {w}, {a}, {w}) -> ({a}, {w})'
            )
        if stage:
            yield f"%d{stage - 1} = pw.reshard %dx{stage} : {a} -> {act(stage - 1)}"


def program(args):
    on = slices_of(args)
    stages = range(len(on))
    shape = f"{args.rows}x{args.width}xf32"
    for number in range(args.slices):
        yield f'pw.slice @s{number} mesh <"data" = 1>'
    for number in range(args.slices):
        yield f"!act{number} = !pw.array<{shape}, @s{number}>"
        weight = f"{args.width}x{args.width}xf32"
        yield f"!weight{number} = !pw.array<{weight}, @s{number}>"
    first, last = on[0], on[-1]
    trips = args.iterations
    yield f"!xs = !pw.array<{trips}x{shape}, @s{first}>"
    yield f"!targets = !pw.array<{trips}x{shape}, @s{last}>"
    yield f"!loss = !pw.array<f32, @s{last}>"
    yield f"!losses = !pw.array<{trips}xf32, @s{last}>"
    yield from functions(args)

    arguments = ["%xs: !xs {pw.stepped}", "%targets: !targets {pw.stepped}"] + [
        f"%w{stage}: !weight{on[stage]} {{pw.carried = {stage} : i64}}"
        for stage in stages
    ]
    results = [
        f'!weight{on[stage]} {{pw.name = "w{stage}"}}' for stage in stages
    ] + ['!losses {pw.name = "losses", pw.stepped}']
    separator = ",\n    "
    yield f"pw.program @train({separator.join(arguments)})"
    yield f"    -> ({separator.join(results)}) {{"
    for stage in stages:
        yield f"  %zero{stage} = pw.call @zero() : () -> !weight{on[stage]}"
    names = [f"%total{stage}" for stage in stages] + ["%losses"]
    operands = [
        f"%x0 = %xs stepped : !xs -> !act{first}",
        f"%target = %targets stepped : !targets -> !act{last}",
    ] + [
        f"%a{stage} = %zero{stage} carried : !weight{on[stage]}" for stage in stages
    ]
    types = [f"!weight{on[stage]}" for stage in stages] + ["!loss"]
    loop_results = [f"!weight{on[stage]} carried" for stage in stages]
    loop_results.append("!losses stepped")
    yield f"  {', '.join(names)} = pw.for {trips}"
    yield f"      ({(separator + '   ').join(operands)})"
    yield f"      -> ({', '.join(loop_results)}) {{"
    for line in loop(args, on):
        yield f"    {line}"
    yields = [f"%b{stage}" for stage in stages] + ["%loss"]
    yield f"    pw.yield {', '.join(yields)} : {', '.join(types)}"
    yield "  }"
    for stage in stages:
        w = f"!weight{on[stage]}"
        yield (
            f"  %next{stage} = pw.call @update(%w{stage}, %total{stage}) "
            f"donate(%w{stage}) : ({w}, {w}) -> {w}"
        )
    returned = [f"%next{stage}" for stage in stages] + ["%losses"]
    types[-1] = "!losses"
    yield f"  pw.return {', '.join(returned)} : {', '.join(types)}"
    yield "}"


def add_arguments(parser):
    parser.add_argument("slices", type=int, help="slices")
    parser.add_argument("iterations", type=int, help="micro-batches of a step")
    parser.add_argument("--chunks", type=int, default=1, help="stages of each slice")
    parser.add_argument(
        "--layout",
        choices=("line", "loop", "vee"),
        help="the way of the stages over the slices: once, from the last slice to "
        "the first again, or back over the same slices (default: line, or loop "
        "with --chunks)",
    )
    parser.add_argument(
        "--split", action="store_true", help="calls I and W in place of B"
    )
    parser.add_argument(
        "--recompute",
        action="store_true",
        help="run forward calls again before backward calls",
    )
    parser.add_argument("--width", type=int, default=16, help="columns of a layer")
    parser.add_argument("--rows", type=int, default=4, help="rows of a micro-batch")
    parser.add_argument("--rate", type=float, default=0.01, help="learning rate")


def finish(parser, args):
    """Fills in what follows from other arguments, and checks them."""
    for name in ("slices", "iterations", "chunks", "width", "rows"):
        if not 1 <= getattr(args, name) <= 1 << 20:
            parser.error(f"{name} is {getattr(args, name)}, expected 1 to 2^20")
    args.layout = args.layout or ("line" if args.chunks == 1 else "loop")
    if args.layout == "line" and args.chunks != 1:
        parser.error(f"the layout line is for 1 chunk, got {args.chunks}")
    if args.layout == "vee" and args.chunks != 2:
        parser.error(f"the layout vee is for 2 chunks, got {args.chunks}")
    return args


def generate(args):
    return "\n".join(program(args)) + "\n"
