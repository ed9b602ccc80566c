#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the programs of this folder, in the form in which JAX prints them.

    make_programs.py           writes the files
    make_programs.py --check   says whether they are what it would write

The comment of each function is the program in JAX. JAX is not needed.
"""

import pathlib
import sys

from jax_text import Function, Value, module, sharding, type_of

FOLDER = pathlib.Path(__file__).resolve().parent
BATCH, PIXELS, HIDDEN, CLASSES = 32, 64, 32, 10
LAYERS, WIDTH, ROWS = 6, 16, 8


def alias(result):
    return f"tf.aliasing_output = {result} : i32"


# Parts of several programs.

def one_hot(classes, rows):
    """jax.nn.one_hot, a function of its own."""
    f = Function("_one_hot")
    labels = f.argument((rows,), "i32")
    column = f.broadcast(labels, [0], (rows, 1))
    numbers = f.broadcast(f.iota(classes), [1], (1, classes))
    equal = f.compare("EQ", f.broadcast(column, [0, 1], (rows, classes)),
                      f.broadcast(numbers, [0, 1], (rows, classes)), "SIGNED")
    return f.text([f.convert(equal, "f32")])


def add_bias(f, x, bias):
    row = f.broadcast(bias, [len(x.shape) - 1], (1,) * (len(x.shape) - 1) + bias.shape)
    return f.binary("add", x, f.broadcast(row, range(len(x.shape)), x.shape))


def cross_entropy(f, logits, targets):
    """The mean loss of rows, and its gradient for the logits."""
    rows, classes = logits.shape
    def whole(column):
        spread = f.broadcast(column, [0], (rows, 1))
        return f.broadcast(spread, [0, 1], (rows, classes))
    largest = f.reduce(logits, "maximum", [1])
    shifted = f.binary("subtract", logits, whole(largest))
    powers = f.unary("exponential", shifted)
    total = f.reduce(powers, "add", [1])
    logs = f.binary("subtract", shifted, whole(f.unary("log", total)))
    chosen = f.reduce(f.binary("multiply", targets, logs), "add", [0, 1])
    loss = f.unary("negate", f.binary("divide", chosen, f.constant(f"{rows}.0")))
    softmax = f.binary("divide", powers, whole(total))
    return loss, f.scale(f.binary("subtract", softmax, targets), repr(1.0 / rows))


def descend(f, parameter, gradient, rate):
    return f.binary("subtract", parameter, f.scale(gradient, rate))


def train():
    """A step of training, with its state donated, on a mesh.

    def loss(state, x, y):
        h = jnp.tanh(x @ state["w1"] + state["b1"])
        logs = jax.nn.log_softmax(h @ state["w2"] + state["b2"])
        return -jnp.mean(jnp.sum(jax.nn.one_hot(y, 10) * logs, axis=1))

    def step(state, x, y):
        value, gradient = jax.value_and_grad(loss)(state, x, y)
        return jax.tree.map(lambda p, g: p - 0.5 * g, state, gradient), value

    mesh = jax.make_mesh((2, 2), ("data", "model"))
    """
    f = Function("main", is_public=True)
    def state(shape, name, number, *dims):
        return f.argument(shape, location=f"state['{name}']", attributes=sharding(
            "mesh", *dims) + ", " + alias(number))
    b1 = state((HIDDEN,), "b1", 0, "model")
    b2 = state((CLASSES,), "b2", 1, None)
    w1 = state((PIXELS, HIDDEN), "w1", 2, None, "model")
    w2 = state((HIDDEN, CLASSES), "w2", 3, "model", None)
    x = f.argument((BATCH, PIXELS), location="x",
                   attributes=sharding("mesh", "data", None))
    y = f.argument((BATCH,), "i32", "y", sharding("mesh", "data"))
    h = f.unary("tanh", add_bias(f, f.dot(x, w1, 1, 0), b1))
    logits = add_bias(f, f.dot(h, w2, 1, 0), b2)
    targets, = f.call("_one_hot", [y], [((BATCH, CLASSES), "f32")])
    loss, d_logits = cross_entropy(f, logits, targets)
    d_w2, d_b2 = f.dot(h, d_logits, 0, 0), f.reduce(d_logits, "add", [0])
    slope = f.binary("subtract", f.full("1.000000e+00", h.shape),
                     f.binary("multiply", h, h))
    d_z = f.binary("multiply", f.dot(d_logits, w2, 1, 1), slope)
    d_w1, d_b1 = f.dot(x, d_z, 0, 0), f.reduce(d_z, "add", [0])
    rate = "5.000000e-01"
    results = [descend(f, p, g, rate) for p, g in ((b1, d_b1), (b2, d_b2), (w1, d_w1),
                                                   (w2, d_w2))] + [loss]
    names = [f"result[0]['{name}']" for name in ("b1", "b2", "w1", "w2")] + ["result[1]"]
    cuts = [("model",), (None,), (None, "model"), ("model", None), ()]
    text = f.text(results, names, [sharding("mesh", *dims) for dims in cuts])
    return module("jit_step", [text, one_hot(CLASSES, BATCH)],
                  [("data", 2), ("model", 2)], 4)


def scan():
    """Layers with stacked weights, and the gradient, as two loops.

    def loss(state, x, y):
        def layer(h, p):
            return jnp.tanh(h @ p["w"] + p["b"]), None
        h, _ = jax.lax.scan(layer, x, state)
        return jnp.mean((h - y) ** 2)

    def step(state, x, y):
        value, gradient = jax.value_and_grad(loss)(state, x, y)
        return jax.tree.map(lambda p, g: p - 0.2 * g, state, gradient), value
    """
    f = Function("main", is_public=True)
    b = f.argument((LAYERS, WIDTH), location="state['b']", attributes=alias(0))
    w = f.argument((LAYERS, WIDTH, WIDTH), location="state['w']", attributes=alias(1))
    x = f.argument((ROWS, WIDTH), location="x")
    y = f.argument((ROWS, WIDTH), location="y")
    zeros = f.full("0.000000e+00", (LAYERS, ROWS, WIDTH))
    def forward(constants, at, zero, carried):
        h, inputs, slopes = carried
        bias, weights = (f.row(stack, at, zero) for stack in constants)
        out = f.unary("tanh", add_bias(f, f.dot(h, weights, 1, 0), bias))
        slope = f.binary("subtract", f.full("1.000000e+00", out.shape),
                         f.binary("multiply", out, out))
        return [out, f.set_row(inputs, h, at, zero), f.set_row(slopes, slope, at, zero)]
    h, inputs, slopes = f.loop(LAYERS, [b, w], [x, zeros, zeros], forward)
    error = f.binary("subtract", h, y)
    total = f.reduce(f.binary("multiply", error, error), "add", [0, 1])
    loss = f.binary("divide", total, f.constant(f"{ROWS * WIDTH}.0"))
    gradient = f.scale(error, repr(2.0 / (ROWS * WIDTH)))
    d_b, d_w = f.full("0.000000e+00", b.shape), f.full("0.000000e+00", w.shape)
    def backward(constants, step, zero, carried):
        weights, inputs, slopes = constants
        d_h, d_b, d_w = carried
        last = f.binary("subtract", f.constant(LAYERS, (), "i32"), step)
        at = f.binary("subtract", last, f.constant(1, (), "i32"))
        d_z = f.binary("multiply", d_h, f.row(slopes, at, zero))
        d_b = f.set_row(d_b, f.reduce(d_z, "add", [0]), at, zero)
        d_w = f.set_row(d_w, f.dot(f.row(inputs, at, zero), d_z, 0, 0), at, zero)
        return [f.dot(d_z, f.row(weights, at, zero), 1, 1), d_b, d_w]
    _, d_b, d_w = f.loop(LAYERS, [w, inputs, slopes], [gradient, d_b, d_w], backward)
    rate = "2.000000e-01"
    results = [descend(f, b, d_b, rate), descend(f, w, d_w, rate), loss]
    return module("jit_step", [f.text(results, ["result[0]['b']", "result[0]['w']",
                                                "result[1]"])])


def manual(f, values, cuts, results, result_cuts, body):
    """sdy.manual_computation over the axis x of 4 devices."""
    def local(value, dims):
        return tuple(n // 4 if axis else n for n, axis in zip(value, dims))
    def cut_text(cuts):
        parts = ", ".join(sharding("mesh", *dims).split("#sdy.sharding")[1]
                          for dims in cuts)
        return f"[{parts}]"
    inner = [(f"%argm{i}", local(v.shape, dims)) for i, (v, dims)
             in enumerate(zip(values, cuts))]
    arguments = [Value(*of) for of in inner]
    header = ", ".join(f"{v.name}: {v.type}" for v in arguments)
    operands = ", ".join(v.name for v in values)
    types = ", ".join(v.type for v in values)
    out_types = ", ".join(Value("", shape).type for shape in results)
    name = f"%{f.count}"
    f.count += 1
    f.add_line(f"{name}:{len(results)} = sdy.manual_computation({operands}) "
               f"in_shardings={cut_text(cuts)} out_shardings={cut_text(result_cuts)} "
               f'manual_axes={{"x"}} ({header}) {{')
    outer, f.indent = f.indent, f.indent + "  "
    f.returns("sdy.return", body(arguments))
    f.indent = outer
    f.add_line(f"}} : ({types}) -> ({out_types})")
    return [Value(f"{name}#{i}", shape) for i, shape in enumerate(results)]


CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>"
GROUPS = "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"


def shard_map():
    """A layer whose collectives are written by hand.

    @partial(jax.shard_map, mesh=jax.make_mesh((4,), ("x",)),
             in_specs=(P("x", None), P("x", None)),
             out_specs=(P("x", None), P("x", None), P(None, "x"), P()))
    def f(x, w):
        h = jnp.tanh(x @ jax.lax.all_gather(w, "x", tiled=True))
        shifted = jax.lax.ppermute(h, "x", [(i, (i + 1) % 4) for i in range(4)])
        gram = jax.lax.psum_scatter(h.T @ h, "x", tiled=True)
        columns = jax.lax.all_to_all(h, "x", 1, 0, tiled=True)
        return shifted, gram, columns, jax.lax.psum(jnp.sum(h), "x")
    """
    f = Function("main", is_public=True)
    x = f.argument((ROWS, WIDTH), location="x", attributes=sharding("mesh", "x", None))
    w = f.argument((WIDTH, WIDTH), location="w", attributes=sharding("mesh", "x", None))
    def body(arguments):
        rows, part = arguments
        whole, = f.generic("all_gather", [part], "all_gather_dim = 0 : i64, "
                           f"{CHANNEL.format(1)}, {GROUPS}, use_global_device_ids",
                           [((WIDTH, WIDTH), "f32")], None)
        h = f.unary("tanh", f.dot(rows, whole, 1, 0))
        shifted, = f.generic("collective_permute", [h], f"{CHANNEL.format(2)}, "
                             "source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], "
                             "[3, 0]]> : tensor<4x2xi64>", [(h.shape, "f32")], None)
        gram = f.dot(f.transpose(h, [1, 0]), h, 1, 0)
        gram, = f.generic("reduce_scatter", [gram], f"{CHANNEL.format(3)}, {GROUPS}, "
                          "scatter_dimension = 0 : i64, use_global_device_ids",
                          [((WIDTH // 4, WIDTH), "f32")], f.scalar_region("add"))
        columns, = f.generic("all_to_all", [h], f"{CHANNEL.format(4)}, "
                             f"concat_dimension = 0 : i64, {GROUPS}, "
                             "split_count = 4 : i64, split_dimension = 1 : i64",
                             [((ROWS, WIDTH // 4), "f32")], None)
        total = f.reduce(h, "add", [0, 1])
        total, = f.generic("all_reduce", [total], f"{CHANNEL.format(5)}, {GROUPS}, "
                           "use_global_device_ids", [((), "f32")],
                           f.scalar_region("add"))
        return [shifted, gram, columns, total]
    results = manual(f, [x, w], [("x", None), ("x", None)],
                     [(ROWS, WIDTH), (WIDTH, WIDTH), (ROWS, WIDTH), ()],
                     [("x", None), ("x", None), (None, "x"), ()], body)
    text = f.text(results, [f"result[{i}]" for i in range(4)])
    return module("jit_f", [text], [("x", 4)], 4)


def convolve(f, x, w, dims, shape, window=""):
    return f.emit(f"stablehlo.convolution({x.name}, {w.name}) dim_numbers = {dims}, "
                  f"window = {{{window}}} {{batch_group_count = 1 : i64, "
                  "feature_group_count = 1 : i64, precision_config = [#stablehlo<precision "
                  f"DEFAULT>, #stablehlo<precision DEFAULT>]}} : ({x.type}, {w.type}) -> "
                  f"{type_of(shape)}", shape)


WINDOW = ("padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, "
          "1>, window_strides = array<i64: 1, 2, 2, 1>")


def convolutions():
    """A step of training of a network with convolutions and pooling.

    def loss(state, x, y):
        h = jax.nn.relu(conv(x, state["k1"], "SAME"))         # 8 x 8 x 4
        h = reduce_window(h, -inf, max, (1, 2, 2, 1), (1, 2, 2, 1))
        h = jax.nn.relu(conv(h, state["k2"], "VALID"))        # 2 x 2 x 8
        logs = jax.nn.log_softmax(h.reshape(-1, 32) @ state["w"])
        return -jnp.mean(jnp.sum(jax.nn.one_hot(y, 10) * logs, axis=1))
    """
    f = Function("main", is_public=True)
    def state(shape, name, number):
        return f.argument(shape, location=f"state['{name}']", attributes=sharding(
            "mesh", *[None] * len(shape)) + ", " + alias(number))
    k1, k2 = state((3, 3, 1, 4), "k1", 0), state((3, 3, 4, 8), "k2", 1)
    w = state((32, CLASSES), "w", 2)
    x = f.argument((BATCH, 8, 8, 1), location="x",
                   attributes=sharding("mesh", "data", None, None, None))
    y = f.argument((BATCH,), "i32", "y", sharding("mesh", "data"))
    plain = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
    def relu(value):
        return f.binary("maximum", value, f.full("0.000000e+00", value.shape))
    c1 = relu(convolve(f, x, k1, plain, (BATCH, 8, 8, 4), "pad = [[1, 1], [1, 1]]"))
    low = f.constant("0xFF800000")
    pooled, = f.generic("reduce_window", [c1, low], WINDOW, [((BATCH, 4, 4, 4), "f32")],
                        f.scalar_region("maximum"))
    c2 = relu(convolve(f, pooled, k2, plain, (BATCH, 2, 2, 8)))
    flat = f.reshape(c2, (BATCH, 32))
    targets, = f.call("_one_hot", [y], [((BATCH, CLASSES), "f32")])
    loss, d_logits = cross_entropy(f, f.dot(flat, w, 1, 0), targets)
    d_w = f.dot(flat, d_logits, 0, 0)
    def d_relu(gradient, value):
        zeros = f.full("0.000000e+00", value.shape)
        return f.select(f.compare("GT", value, zeros, "FLOAT"), gradient, zeros)
    d_c2 = d_relu(f.reshape(f.dot(d_logits, w, 1, 1), c2.shape), c2)
    # Gradients of filters swap batches and features.
    swapped = "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]"
    d_k2 = convolve(f, pooled, d_c2, swapped, k2.shape)
    d_pooled = convolve(f, d_c2, k2, "[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]",
                        pooled.shape, "pad = [[2, 2], [2, 2]], reverse = [true, true]")
    zero = f.constant("0.000000e+00")
    regions = f.scalar_region("GE") + ", "
    f.count += 1
    regions += f.scalar_region("add")
    d_c1, = f.generic("select_and_scatter", [c1, d_pooled, zero], WINDOW,
                      [(c1.shape, "f32")], regions)
    d_k1 = convolve(f, x, d_relu(d_c1, c1), swapped, k1.shape, "pad = [[1, 1], [1, 1]]")
    rate = "5.000000e-01"
    results = [descend(f, k1, d_k1, rate), descend(f, k2, d_k2, rate),
               descend(f, w, d_w, rate), loss]
    names = [f"result[0]['{name}']" for name in ("k1", "k2", "w")] + ["result[1]"]
    text = f.text(results, names)
    return module("jit_step", [text, one_hot(CLASSES, BATCH)], [("data", 4)], 4)


PROGRAMS = {"train": train, "scan": scan, "shard_map": shard_map,
            "convolutions": convolutions}


def text_of(name):
    """The file: the program in JAX as a comment, then the module."""
    make = PROGRAMS[name]
    lines = [line.removeprefix("    ") for line in make.__doc__.strip().split("\n")]
    lines += ["", "Written by make_programs.py."]
    return "".join(f"// {line}".rstrip() + "\n" for line in lines) + make()


def main(arguments):
    stale = []
    for name in PROGRAMS:
        path = FOLDER / f"{name}.mlir"
        text = text_of(name)
        if arguments == ["--check"]:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(path.name)
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        print("not what make_programs.py writes: " + ", ".join(stale))
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
