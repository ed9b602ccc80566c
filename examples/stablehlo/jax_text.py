# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes StableHLO in the form in which jax.jit(f).lower(...).as_text() prints it."""

COMMUTE = {"maximum": "0xFF800000", "add": "0.000000e+00"}


def type_of(shape, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def listed(numbers):
    return "[" + ", ".join(str(n) for n in numbers) + "]"


class Value:
    """A name with its type."""

    def __init__(self, name, shape, element="f32"):
        self.name, self.shape, self.element = name, tuple(shape), element

    @property
    def type(self):
        return type_of(self.shape, self.element)


class Function:
    """A function in the making. Methods add operations and return their results."""

    def __init__(self, name, is_public=False):
        self.name, self.is_public = name, is_public
        self.arguments, self.lines, self.indent = [], [], "    "
        self.count = self.constants = self.loops = 0
        self.attributes = ""

    # Ends.
    def argument(self, shape, element="f32", location=None, attributes=""):
        value = Value(f"%arg{len(self.arguments)}", shape, element)
        text = f"{value.name}: {value.type}"
        if attributes:
            text += f" {{{attributes}}}"
        if location:
            text += f' loc("{location}")'
        self.arguments.append(text)
        return value

    def text(self, results, infos=None, attributes=None):
        """The whole function. `infos` name the results."""
        outs = []
        for i, value in enumerate(results):
            parts = [f'jax.result_info = "{infos[i]}"'] if infos else []
            if attributes and attributes[i]:
                parts.append(attributes[i])
            outs.append(value.type + (f" {{{', '.join(parts)}}}" if parts else ""))
        self.returns("return", results)
        joined = (",\n      " if self.is_public else ", ").join(self.arguments)
        outs = outs[0] if len(outs) == 1 and not infos else f"({', '.join(outs)})"
        kind = "public" if self.is_public else "private"
        return (f"  func.func {kind} @{self.name}({joined}) -> {outs} {{\n" +
                "\n".join(self.lines) + "\n  }\n")

    def add_line(self, text):
        self.lines.append(self.indent + text)

    def returns(self, terminator, values):
        names = ", ".join(value.name for value in values)
        types = ", ".join(value.type for value in values)
        self.add_line(f"{terminator} {names} : {types}")

    def emit(self, text, shape, element="f32"):
        name = f"%{self.count}"
        self.count += 1
        if self.attributes:
            # Attributes stand in front of the types.
            head, _, types = text.rpartition(" : ")
            text = f"{head} {{{self.attributes}}} : {types}"
        self.add_line(f"{name} = {text}")
        return Value(name, shape, element)

    # Operations.
    def constant(self, text, shape=(), element="f32"):
        stem = "%c" if element.startswith("i") else "%cst"
        name = stem + (f"_{self.constants}" if self.constants else "")
        self.constants += 1
        value = Value(name, shape, element)
        self.add_line(f"{name} = stablehlo.constant dense<{text}> : {value.type}")
        return value

    def unary(self, name, x):
        return self.emit(f"stablehlo.{name} {x.name} : {x.type}", x.shape, x.element)

    def binary(self, name, x, y):
        assert x.shape == y.shape, (name, x.shape, y.shape)
        return self.emit(f"stablehlo.{name} {x.name}, {y.name} : {x.type}", x.shape,
                         x.element)

    def full(self, text, shape, element="f32"):
        return self.broadcast(self.constant(text, (), element), (), shape)

    def broadcast(self, x, dims, shape):
        result = type_of(shape, x.element)
        return self.emit(f"stablehlo.broadcast_in_dim {x.name}, dims = {listed(dims)} : "
                         f"({x.type}) -> {result}", shape, x.element)

    def scale(self, x, text):
        return self.binary("multiply", x, self.full(text, x.shape))

    def convert(self, x, element):
        return self.emit(f"stablehlo.convert {x.name} : ({x.type}) -> "
                         f"{type_of(x.shape, element)}", x.shape, element)

    def reshape(self, x, shape):
        return self.emit(f"stablehlo.reshape {x.name} : ({x.type}) -> "
                         f"{type_of(shape, x.element)}", shape, x.element)

    def transpose(self, x, dims):
        shape = [x.shape[d] for d in dims]
        return self.emit(f"stablehlo.transpose {x.name}, dims = {listed(dims)} : "
                         f"({x.type}) -> {type_of(shape, x.element)}", shape, x.element)

    def dot(self, x, y, left, right):
        shape = [n for d, n in enumerate(x.shape) if d != left]
        shape += [n for d, n in enumerate(y.shape) if d != right]
        return self.emit(f"stablehlo.dot_general {x.name}, {y.name}, contracting_dims = "
                         f"[{left}] x [{right}], precision = [DEFAULT, DEFAULT] : "
                         f"({x.type}, {y.type}) -> {type_of(shape)}", shape)

    def reduce(self, x, name, dims):
        init = self.constant(COMMUTE[name])
        shape = [n for d, n in enumerate(x.shape) if d not in dims]
        return self.emit(f"stablehlo.reduce({x.name} init: {init.name}) applies "
                         f"stablehlo.{name} across dimensions = {listed(dims)} : "
                         f"({x.type}, tensor<f32>) -> {type_of(shape)}", shape)

    def compare(self, direction, x, y, kind):
        return self.emit(f"stablehlo.compare  {direction}, {x.name}, {y.name},  {kind} : "
                         f"({x.type}, {y.type}) -> {type_of(x.shape, 'i1')}", x.shape,
                         "i1")

    def select(self, p, x, y):
        return self.emit(f"stablehlo.select {p.name}, {x.name}, {y.name} : {p.type}, "
                         f"{x.type}", x.shape, x.element)

    def iota(self, size, element="i32"):
        return self.emit(f"stablehlo.iota dim = 0 : {type_of((size,), element)}", (size,),
                         element)

    def slice(self, x, first, limit):
        """Rows from `first` to `limit`."""
        parts = [f"{first}:{limit}"] + [f"0:{n}" for n in x.shape[1:]]
        shape = (limit - first,) + x.shape[1:]
        return self.emit(f"stablehlo.slice {x.name} [{', '.join(parts)}] : ({x.type}) -> "
                         f"{type_of(shape, x.element)}", shape, x.element)

    def row(self, x, at, zero):
        """Row `at`, a scalar, by a dynamic slice."""
        shape = (1,) + x.shape[1:]
        names = [x.name, at.name] + [zero.name] * (len(x.shape) - 1)
        types = ", ".join([x.type] + [at.type] * len(x.shape))
        part = self.emit(f"stablehlo.dynamic_slice {', '.join(names)}, sizes = "
                         f"{listed(shape)} : ({types}) -> {type_of(shape)}", shape)
        return self.reshape(part, x.shape[1:])

    def set_row(self, x, value, at, zero):
        part = self.broadcast(value, range(1, len(x.shape)), (1,) + value.shape)
        names = [x.name, part.name, at.name] + [zero.name] * (len(x.shape) - 1)
        types = ", ".join([x.type, part.type] + [at.type] * len(x.shape))
        return self.emit(f"stablehlo.dynamic_update_slice {', '.join(names)} : ({types}) "
                         f"-> {x.type}", x.shape)

    def call(self, name, values, results):
        types = ", ".join(value.type for value in values)
        outs = ", ".join(type_of(*of) for of in results)
        outs = outs if len(results) == 1 else f"({outs})"
        operands = ", ".join(value.name for value in values)
        attributes = f" {{{self.attributes}}}" if self.attributes else ""
        text = f"call @{name}({operands}){attributes} : ({types}) -> {outs}"
        return self.several(text, results)

    def several(self, text, results):
        name = f"%{self.count}"
        self.count += 1
        if len(results) == 1:
            self.add_line(f"{name} = {text}")
            return [Value(name, *results[0])]
        self.add_line(f"{name}:{len(results)} = {text}")
        return [Value(f"{name}#{i}", *of) for i, of in enumerate(results)]

    def generic(self, name, values, properties, results, region):
        """An operation with a region of one operation on two scalars."""
        types = ", ".join(value.type for value in values)
        outs = ", ".join(type_of(*of) for of in results)
        operands = ", ".join(value.name for value in values)
        text = f'"stablehlo.{name}"({operands}) <{{{properties}}}>'
        if region:
            text += f" ({region})"
        return self.several(f"{text} : ({types}) -> {outs}", results)

    def scalar_region(self, name):
        x, y, z = (f"%r{self.count}_{i}" for i in range(3))
        pad = "\n" + self.indent
        if name in ("GE", "GT"):
            body = (f"{z} = stablehlo.compare  {name}, {x}, {y},  FLOAT : (tensor<f32>, "
                    f"tensor<f32>) -> tensor<i1>{pad}  stablehlo.return {z} : tensor<i1>")
        else:
            body = (f"{z} = stablehlo.{name} {x}, {y} : tensor<f32>{pad}"
                    f"  stablehlo.return {z} : tensor<f32>")
        return (f"{{{pad}^bb0({x}: tensor<f32>, {y}: tensor<f32>):{pad}  {body}{pad}}}")

    def loop(self, count, constants, carried, body):
        """A scan of `count` steps: `body` gets the constants, the number of the step, a
        zero, and the carried values, of which it returns the next ones."""
        self.loops += 1
        zero = self.constant(0, (), "i32")
        operands = constants + [zero] + carried
        stem = f"%iterArg{'' if self.loops == 1 else self.loops}"
        inner = [Value(f"{stem}_{i}", v.shape, v.element) for i, v in enumerate(operands)]
        pairs = ", ".join(f"{a.name} = {b.name}" for a, b in zip(inner, operands))
        types = ", ".join(value.type for value in operands)
        name = f"%{self.count}"
        self.count += 1
        self.add_line(f"{name}:{len(operands)} = stablehlo.while({pairs}) : {types}")
        outer, self.indent = self.indent, self.indent + "  "
        at = inner[len(constants)]
        self.lines.append(outer + " cond {")
        limit = self.constant(count, (), "i32")
        self.returns("stablehlo.return", [self.compare("LT", at, limit, "SIGNED")])
        self.lines.append(outer + "} do {")
        zero = self.constant(0, (), "i32")
        results = body(inner[:len(constants)], at, zero, inner[len(constants) + 1:])
        after = self.binary("add", at, self.constant(1, (), "i32"))
        self.returns("stablehlo.return", inner[:len(constants)] + [after] + results)
        self.indent = outer
        self.add_line("}")
        return [Value(f"{name}#{len(constants) + 1 + i}", v.shape, v.element)
                for i, v in enumerate(carried)]


def sharding(mesh, *dims):
    """`dims`: for each dimension the name of an axis, or None."""
    parts = ", ".join("{}" if axis is None else f'{{"{axis}"}}' for axis in dims)
    return f"sdy.sharding = #sdy.sharding<@{mesh}, [{parts}]>"


def module(name, functions, mesh=None, count=1):
    """`mesh` is a list of axes with sizes; `count` is the number of devices."""
    text = (f"module @{name} attributes {{mhlo.num_partitions = {count} : i32, "
            "mhlo.num_replicas = 1 : i32} {\n")
    if mesh:
        axes = ", ".join(f'"{axis}"={size}' for axis, size in mesh)
        text += f"  sdy.mesh @mesh = <[{axes}]>\n"
    return text + "".join(functions) + "}\n"
