#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes pipeline.mlir, a step of training in two stages and four micro-batches, and
microbatches.mlir, the same step with its micro-batches in a loop.

The modules have the form of the text of JAX for the code in their first comments. With
--check ARRAYS.npz, computes the same step in NumPy from the arguments in that file,
which have the names of the module, and prints the loss.
"""

import pathlib
import sys

MICRO_BATCHES, ROWS, INPUT, HIDDEN, OUTPUT = 4, 8, 4, 8, 2
RATE = 0.1

COMMENT = """\
// One step of gradient descent for a network of two stages, which computes four
// micro-batches one after the other. This is the text that
// jax.jit(step).lower(...).as_text(debug_info=True) returns, in our own words, for
//
//   def first(w, x): return jnp.tanh(x @ w)
//   def second(w, h, y): return jnp.sum((h @ w - y) ** 2) / 64
//
//   def loss(state, x, y, k):
//     h = xla_metadata_call2(first, {'pw_slice': 's0', 'pw_label': f'{k}F'},
//         ad_metadata={'pw_slice': 's0', 'pw_label': f'{k}B'})(state['first'], x)
//     return xla_metadata_call2(second, {'pw_slice': 's1', 'pw_label': f'{k}F'},
//         ad_metadata={'pw_slice': 's1', 'pw_label': f'{k}B'})(state['second'], h, y)
//
//   def step(state, x, y):
//     total, sums = 0.0, None
//     for k in range(4):
//       rows = slice(8 * k, 8 * k + 8)
//       value, gradient = jax.value_and_grad(loss)(state, x[rows], y[rows], k)
//       total += value
//       sums = gradient if sums is None else jax.tree.map(jnp.add, sums, gradient)
//     return jax.tree.map(lambda p, g: p - 0.1 * g, state, sums), total
//
// with its state donated. make_pipeline.py writes this file."""


LOOP_COMMENT = """\
// The step of pipeline.mlir as a loop over its micro-batches. This is the text that
// jax.jit(step).lower(...).as_text(debug_info=True) returns, in our own words, for
//
//   def loss(state, x, y):
//     h = xla_metadata_call2(first, {'pw_slice': 's0', 'pw_label': '0F'},
//         ad_metadata={'pw_slice': 's0', 'pw_label': '0B'})(state['first'], x)
//     return xla_metadata_call2(second, {'pw_slice': 's1', 'pw_label': '1F'},
//         ad_metadata={'pw_slice': 's1', 'pw_label': '1B'})(state['second'], h, y)
//
//   def step(state, x, y):
//     def body(carry, batch):
//       sums, total = carry
//       value, gradient = jax.value_and_grad(loss)(state, *batch)
//       return (jax.tree.map(jnp.add, sums, gradient), total + value), value
//     start = jax.tree.map(jnp.zeros_like, state), 0.0
//     (sums, total), losses = jax.lax.scan(body, start, (x, y))
//     return jax.tree.map(lambda p, g: p - 0.1 * g, state, sums), total, losses
//
// with its state donated. make_pipeline.py writes this file."""


def tensor(*shape):
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


W0, W1 = tensor(INPUT, HIDDEN), tensor(HIDDEN, OUTPUT)
X, H, Y = tensor(ROWS, INPUT), tensor(ROWS, HIDDEN), tensor(ROWS, OUTPUT)
ALL_X, ALL_Y = tensor(MICRO_BATCHES * ROWS, INPUT), tensor(MICRO_BATCHES * ROWS, OUTPUT)
STACKED_X, STACKED_Y = tensor(MICRO_BATCHES, ROWS, INPUT), tensor(MICRO_BATCHES, ROWS, OUTPUT)
LOSSES, SCALAR, INDEX = tensor(MICRO_BATCHES), tensor(), "tensor<i32>"

FUNCTIONS = f"""\
  func.func private @first(%w: {W0}, %x: {X}) -> {H} {{
    %z = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({X}, {W0}) -> {H}
    %h = stablehlo.tanh %z : {H}
    return %h : {H}
  }}
  func.func private @first_vjp(%x: {X}, %h: {H}, %dh: {H}) -> {W0} {{
    %one = stablehlo.constant dense<1.0> : {H}
    %h2 = stablehlo.multiply %h, %h : {H}
    %slope = stablehlo.subtract %one, %h2 : {H}
    %dz = stablehlo.multiply %dh, %slope : {H}
    %dw = stablehlo.dot_general %x, %dz, contracting_dims = [0] x [0] : ({X}, {H}) -> {W0}
    return %dw : {W0}
  }}
  func.func private @second(%w: {W1}, %h: {H}, %y: {Y}) -> ({SCALAR}, {Y}) {{
    %zero = stablehlo.constant dense<0.0> : {SCALAR}
    %p = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : ({H}, {W1}) -> {Y}
    %e = stablehlo.subtract %p, %y : {Y}
    %e2 = stablehlo.multiply %e, %e : {Y}
    %sum = stablehlo.reduce(%e2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : ({Y}, {SCALAR}) -> {SCALAR}
    %count = stablehlo.constant dense<64.0> : {SCALAR}
    %loss = stablehlo.divide %sum, %count : {SCALAR}
    return %loss, %e : {SCALAR}, {Y}
  }}
  func.func private @second_vjp(%w: {W1}, %h: {H}, %e: {Y}) -> ({W1}, {H}) {{
    %scale = stablehlo.constant dense<0.03125> : {Y}
    %dp = stablehlo.multiply %e, %scale : {Y}
    %dw = stablehlo.dot_general %h, %dp, contracting_dims = [0] x [0] : ({H}, {Y}) -> {W1}
    %dh = stablehlo.dot_general %dp, %w, contracting_dims = [1] x [1] : ({Y}, {W1}) -> {H}
    return %dw, %dh : {W1}, {H}
  }}
"""


def call(results, function, operands, types, stage, label):
    marks = f'{{mhlo.frontend_attributes = {{pw_label = "{label}", pw_slice = "{stage}"}}}}'
    return f"    {results} = call @{function}({operands}) {marks} : {types}"


def update(first, second):
    """Returns the lines that compute the next weights from sums of gradients."""
    lines = [f"    %rate = stablehlo.constant dense<{RATE}> : {SCALAR}"]
    for name, argument, total, shape in [("first", "%arg0", first, W0),
                                         ("second", "%arg1", second, W1)]:  # fmt: skip
        lines += [
            f"    %rate_{name} = stablehlo.broadcast_in_dim %rate, dims = [] : ({SCALAR}) -> {shape}",
            f"    %change_{name} = stablehlo.multiply %rate_{name}, {total} : {shape}",
            f"    %new_{name} = stablehlo.subtract {argument}, %change_{name} : {shape}",
        ]
    return lines


def make_module():
    lines = [
        COMMENT,
        "module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {",
        "  func.func public @main(",
        f"      %arg0: {W0} {{tf.aliasing_output = 0 : i32}} loc(\"state['first']\"),",
        f"      %arg1: {W1} {{tf.aliasing_output = 1 : i32}} loc(\"state['second']\"),",
        f'      %arg2: {ALL_X} loc("x"), %arg3: {ALL_Y} loc("y"))',
        f"      -> ({W0} {{jax.result_info = \"result[0]['first']\"}},",
        f"          {W1} {{jax.result_info = \"result[0]['second']\"}},",
        f'          {SCALAR} {{jax.result_info = "result[1]"}}) {{',
    ]
    sums = {}
    for k in range(MICRO_BATCHES):
        rows = f"{ROWS * k}:{ROWS * (k + 1)}"
        lines += [
            f"    %x{k} = stablehlo.slice %arg2 [{rows}, 0:{INPUT}] : ({ALL_X}) -> {X}",
            f"    %y{k} = stablehlo.slice %arg3 [{rows}, 0:{OUTPUT}] : ({ALL_Y}) -> {Y}",
            call(f"%h{k}", "first", f"%arg0, %x{k}", f"({W0}, {X}) -> {H}", "s0", f"{k}F"),
            call(f"%l{k}:2", "second", f"%arg1, %h{k}, %y{k}",
                 f"({W1}, {H}, {Y}) -> ({SCALAR}, {Y})", "s1", f"{k}F"),
            call(f"%g{k}:2", "second_vjp", f"%arg1, %h{k}, %l{k}#1",
                 f"({W1}, {H}, {Y}) -> ({W1}, {H})", "s1", f"{k}B"),
            call(f"%d{k}", "first_vjp", f"%x{k}, %h{k}, %g{k}#1",
                 f"({X}, {H}, {H}) -> {W0}", "s0", f"{k}B"),
        ]  # fmt: skip
        parts = {"first": (f"%d{k}", W0), "second": (f"%g{k}#0", W1),
                 "loss": (f"%l{k}#0", SCALAR)}  # fmt: skip
        for name, (part, shape) in parts.items():
            if k == 0:
                sums[name] = part
                continue
            lines.append(f"    %{name}{k} = stablehlo.add {sums[name]}, {part} : {shape}")
            sums[name] = f"%{name}{k}"
    lines += update(sums["first"], sums["second"])
    lines += [
        f"    return %new_first, %new_second, {sums['loss']} : {W0}, {W1}, {SCALAR}",
        "  }",
    ]
    return "\n".join(lines) + "\n" + FUNCTIONS + "}\n"


def zeros(name, shape):
    return f"    {name} = stablehlo.broadcast_in_dim %zero, dims = [] : ({SCALAR}) -> {shape}"


def batch(name, source, rows, columns):
    """Returns the lines that take a micro-batch of `source` at the index %k."""
    one, whole = tensor(1, rows, columns), tensor(MICRO_BATCHES, rows, columns)
    return [
        f"      %{name}_1 = stablehlo.dynamic_slice {source}, %k, %begin, %begin, sizes = [1, {rows}, {columns}] : ({whole}, {INDEX}, {INDEX}, {INDEX}) -> {one}",
        f"      %{name} = stablehlo.reshape %{name}_1 : ({one}) -> {tensor(rows, columns)}",
    ]


def make_loop():
    carried = [STACKED_X, STACKED_Y, W0, W1, INDEX, W0, W1, SCALAR, LOSSES]
    types = ", ".join(carried)
    inputs = f"{W0}, {W1}, {W0}, {W1}, {SCALAR}, {X}, {Y}"
    compare = f"({INDEX}, {INDEX}) -> tensor<i1>"
    lines = [
        LOOP_COMMENT,
        "module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {",
        "  func.func public @main(",
        f"      %arg0: {W0} {{tf.aliasing_output = 0 : i32}} loc(\"state['first']\"),",
        f"      %arg1: {W1} {{tf.aliasing_output = 1 : i32}} loc(\"state['second']\"),",
        f'      %arg2: {STACKED_X} loc("x"), %arg3: {STACKED_Y} loc("y"))',
        f"      -> ({W0} {{jax.result_info = \"result[0]['first']\"}},",
        f"          {W1} {{jax.result_info = \"result[0]['second']\"}},",
        f'          {SCALAR} {{jax.result_info = "result[1]"}},',
        f'          {LOSSES} {{jax.result_info = "result[2]"}}) {{',
        f"    %zero = stablehlo.constant dense<0.0> : {SCALAR}",
        zeros("%zero0", W0),
        zeros("%zero1", W1),
        zeros("%zeros", LOSSES),
        f"    %c = stablehlo.constant dense<0> : {INDEX}",
        f"    %0:9 = stablehlo.while(%x = %arg2, %y = %arg3, %w0 = %arg0, %w1 = %arg1, %i = %c, %sum0 = %zero0, %sum1 = %zero1, %total = %zero, %losses = %zeros) : {types}",
        "     cond {",
        f"      %end = stablehlo.constant dense<{MICRO_BATCHES}> : {INDEX}",
        f"      %more = stablehlo.compare LT, %i, %end, SIGNED : {compare}",
        "      stablehlo.return %more : tensor<i1>",
        "    } do {",
        f"      %begin = stablehlo.constant dense<0> : {INDEX}",
        f"      %size = stablehlo.constant dense<{MICRO_BATCHES}> : {INDEX}",
        f"      %negative = stablehlo.compare LT, %i, %begin, SIGNED : {compare}",
        f"      %wrapped = stablehlo.add %i, %size : {INDEX}",
        f"      %k = stablehlo.select %negative, %wrapped, %i : tensor<i1>, {INDEX}",
        *batch("rows_x", "%x", ROWS, INPUT),
        *batch("rows_y", "%y", ROWS, OUTPUT),
        f"      %next:4 = func.call @closed_call(%w0, %w1, %sum0, %sum1, %total, %rows_x, %rows_y) : ({inputs}) -> ({W0}, {W1}, {SCALAR}, {SCALAR})",
        f"      %loss = stablehlo.broadcast_in_dim %next#3, dims = [] : ({SCALAR}) -> {tensor(1)}",
        f"      %all = stablehlo.dynamic_update_slice %losses, %loss, %k : ({LOSSES}, {tensor(1)}, {INDEX}) -> {LOSSES}",
        f"      %one = stablehlo.constant dense<1> : {INDEX}",
        f"      %j = stablehlo.add %i, %one : {INDEX}",
        f"      stablehlo.return %x, %y, %w0, %w1, %j, %next#0, %next#1, %next#2, %all : {types}",
        "    }",
        *update("%0#5", "%0#6"),
        f"    return %new_first, %new_second, %0#7, %0#8 : {W0}, {W1}, {SCALAR}, {LOSSES}",
        "  }",
        f"  func.func private @closed_call(%w0: {W0}, %w1: {W1}, %sum0: {W0}, %sum1: {W1}, %total: {SCALAR}, %x: {X}, %y: {Y}) -> ({W0}, {W1}, {SCALAR}, {SCALAR}) {{",
        call("%h", "first", "%w0, %x", f"({W0}, {X}) -> {H}", "s0", "0F"),
        call("%l:2", "second", "%w1, %h, %y",
             f"({W1}, {H}, {Y}) -> ({SCALAR}, {Y})", "s1", "1F"),
        call("%g:2", "second_vjp", "%w1, %h, %l#1",
             f"({W1}, {H}, {Y}) -> ({W1}, {H})", "s1", "1B"),
        call("%d", "first_vjp", "%x, %h, %g#1", f"({X}, {H}, {H}) -> {W0}", "s0", "0B"),
        f"    %next0 = stablehlo.add %sum0, %d : {W0}",
        f"    %next1 = stablehlo.add %sum1, %g#0 : {W1}",
        f"    %next = stablehlo.add %total, %l#0 : {SCALAR}",
        f"    return %next0, %next1, %next, %l#0 : {W0}, {W1}, {SCALAR}, {SCALAR}",
        "  }",
    ]  # fmt: skip
    return "\n".join(lines) + "\n" + FUNCTIONS + "}\n"


def check(path):
    import numpy

    arrays = numpy.load(path)
    w0, w1 = arrays["state['first']"], arrays["state['second']"]
    x, y = arrays["x"], arrays["y"]
    h = numpy.tanh(x @ w0)
    e = h @ w1 - y
    print("loss", (e * e).sum() / 64)
    de = e / 32
    print(w1 - RATE * (h.T @ de))
    print(w0 - RATE * (x.T @ ((de @ w1.T) * (1 - h * h))))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(sys.argv[2])
    else:
        folder = pathlib.Path(__file__).resolve().parent
        (folder / "pipeline.mlir").write_text(make_module())
        (folder / "microbatches.mlir").write_text(make_loop())
