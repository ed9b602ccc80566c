# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of StableHLO in the making.

A Module has functions, a Function has operations. Each method of a Function that is
named like an operation of StableHLO adds that operation, with the result type that the
specification gives, and returns its Value. Operands must have fitting types already:
promotion and broadcasting are the work of the tracers (_elementwise.py). A wrong type
is an AssertionError here, and an error with its line in the compiler.
"""

from __future__ import annotations

import contextlib
import functools
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ._trace_error import TraceError

# A place in the user's code: file, line and column.
Place = tuple[str, int, int]

FLOATS = ("f16", "bf16", "f32", "f64")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("ui8", "ui16", "ui32", "ui64")
INTEGERS = SIGNED + UNSIGNED

BITS = {"i1": 1, "bf16": 16} | {
    name: int(name.strip("fui")) for name in FLOATS + INTEGERS if name != "bf16"
}
_FLOAT_FORMAT = {"f16": ("<e", "<H"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}


class Type(NamedTuple):
    """The type of a tensor: its shape and the name of its elements in MLIR."""

    shape: tuple[int, ...]
    element: str

    @functools.lru_cache(maxsize=10_000)
    def __str__(self) -> str:
        return "tensor<" + "".join(f"{n}x" for n in self.shape) + self.element + ">"

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def with_shape(self, shape: Sequence[int]) -> Type:
        return Type(tuple(shape), self.element)

    def with_element(self, element: str) -> Type:
        return Type(self.shape, element)


class Value:
    """The result of an operation, or an argument, of one function."""

    __slots__ = ("function", "name", "type")

    def __init__(self, function: Function, name: str, type: Type) -> None:
        self.function, self.name, self.type = function, name, type

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.shape

    @property
    def element(self) -> str:
        return self.type.element

    @property
    def rank(self) -> int:
        return len(self.type.shape)


def quoted(text: str) -> str:
    """Returns a string literal of MLIR."""
    escaped = "".join(
        c if " " <= c <= "~" and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode())
        for c in text
    )
    return f'"{escaped}"'


def scalar_text(value: Any, element: str) -> str:
    """Returns the literal of one element, exact in all its bits."""
    if element == "i1":
        return "true" if value else "false"
    if element in INTEGERS:
        return str(int(value))
    number = float(value)
    if element == "bf16":
        return f"0x{_bf16_bits(number):04X}"
    as_float, as_bits = _FLOAT_FORMAT[element]
    try:
        data = struct.pack(as_float, number)
    except OverflowError:
        data = struct.pack(as_float, math.copysign(math.inf, number))
    (bits,) = struct.unpack(as_bits, data)
    return f"0x{bits:0{BITS[element] // 4}X}"


def _bf16_bits(number: float) -> int:
    if math.isnan(number):
        return 0x7FC0
    try:
        data = struct.pack("<f", number)
    except OverflowError:
        data = struct.pack("<f", math.copysign(math.inf, number))
    (bits,) = struct.unpack("<I", data)
    rounded: int = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return rounded


def _location(place: Place | None) -> str:
    return f" loc({quoted(place[0])}:{place[1]}:{place[2]})" if place is not None else ""


def _numbers(numbers: Sequence[int]) -> str:
    return "[" + ", ".join(str(n) for n in numbers) + "]"


def _array(numbers: Sequence[int], element: str = "i64") -> str:
    return f"array<{element}" + (": " if numbers else "") + ", ".join(
        str(n).lower() for n in numbers
    ) + ">"


def _table(rows: Sequence[Sequence[int]], columns: int) -> str:
    """A two-dimensional attribute of i64."""
    if not rows:
        return f"dense<> : tensor<0x{columns}xi64>"
    return (
        f"dense<[{', '.join(_numbers(row) for row in rows)}]> : "
        f"tensor<{len(rows)}x{columns}xi64>"
    )


class Sharding(NamedTuple):
    """For each dimension the axes of the mesh that cut it, major axis first."""

    dims: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        dims = ", ".join("{" + ", ".join(f'"{a}"' for a in axes) + "}" for axes in self.dims)
        return f"#sdy.sharding<@mesh, [{dims}]>"


class Module:
    """A module: a mesh, if any, and functions. The first one is @main."""

    def __init__(self, name: str = "main", mesh: Sequence[tuple[str, int]] = ()) -> None:
        self.name = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        self.mesh = tuple(mesh)
        self.functions: list[Function] = []
        # Lines that define names of attributes and locations.
        self.aliases: list[str] = []

    def function(self, name: str, outer: Function | None = None) -> Function:
        """Adds a function, whose name gets a number if there is one like it. It is the
        body of a loop in `outer`, if that is given."""
        taken = {function.name for function in self.functions}
        stem = "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "f"
        unique, count = stem, 0
        while unique in taken or (unique == "main" and bool(taken)):
            count += 1
            unique = f"{stem}_{count}"
        made = Function(self, unique, not self.functions, outer)
        self.functions.append(made)
        return made

    def text(self) -> str:
        partitions = math.prod(size for _, size in self.mesh)
        lines = [
            *self.aliases,
            f"module @{self.name} attributes {{mhlo.num_partitions = {partitions} : i32, "
            "mhlo.num_replicas = 1 : i32} {",
        ]
        if self.mesh:
            axes = ", ".join(f'"{axis}"={size}' for axis, size in self.mesh)
            lines.append(f"  sdy.mesh @mesh = <[{axes}]>")
        lines += [function.text() for function in self.functions]
        return "\n".join(lines) + "\n}\n"


class Function:
    """A function. Operations that are added have the place `place`, and the attributes
    of the stage that `stage` sets. The body of a loop may use values of the function
    `outer` around it, which become arguments (`captured`)."""

    def __init__(
        self, module: Module, name: str, is_public: bool, outer: Function | None = None
    ) -> None:
        self.module, self.name, self.is_public = module, name, is_public
        self.outer = outer
        self.captured: dict[Value, Value] = {}
        self.place: Place | None = None
        self.definition: Place | None = None  # of the function itself
        self._stage = ""
        self._arguments: list[str] = []
        self._results: list[str] = []
        self.argument_types: list[Type] = []
        self.result_types: list[Type] = []
        self._lines: list[str] = []
        self._indent = "    "
        self._count = 0
        self._constants: dict[tuple[str, Type, str], Value] = {}

    # Ends.

    def own(self, value: Value) -> Value:
        """Returns the value of this function for `value`, which may be one of a function
        around it. Errors: TraceError for a value of another function."""
        if value.function is self:
            return value
        if self.outer is None:
            raise TraceError(
                "a value that the body of a loop computes is used outside of the body",
                self.place,
                "return it from the body",
            )
        value = self.outer.own(value)
        if value not in self.captured:
            self.captured[value] = self.argument(value.type)
        return self.captured[value]

    def argument(
        self,
        type: Type,
        name: str | None = None,
        sharding: Sharding | None = None,
        is_donated: bool = False,
    ) -> Value:
        value = Value(self, f"%arg{len(self._arguments)}", type)
        attributes = []
        if sharding is not None:
            attributes.append(f"sdy.sharding = {sharding}")
        if is_donated:
            attributes.append("jax.buffer_donor = true")
        text = f"{value.name}: {type}"
        if attributes:
            text += f" {{{', '.join(attributes)}}}"
        if name is not None:
            text += f" loc({quoted(name)})"
        self._arguments.append(text)
        self.argument_types.append(type)
        return value

    def returns(
        self,
        values: Sequence[Value],
        names: Sequence[str | None] | None = None,
        shardings: Sequence[Sharding | None] | None = None,
    ) -> None:
        """Ends the function."""
        for i, value in enumerate(values):
            attributes = []
            if names and names[i] is not None:
                attributes.append(f"jax.result_info = {quoted(str(names[i]))}")
            if shardings and shardings[i] is not None:
                attributes.append(f"sdy.sharding = {shardings[i]}")
            braces = f" {{{', '.join(attributes)}}}" if attributes else ""
            self._results.append(f"{value.type}{braces}")
            self.result_types.append(value.type)
        self._end("return", values)

    def text(self) -> str:
        kind = "public" if self.is_public else "private"
        results = f" -> ({', '.join(self._results)})" if self._results else ""
        return "\n".join(
            [f"  func.func {kind} @{self.name}({', '.join(self._arguments)}){results} {{"]
            + self._lines
            + ["  }" + _location(self.definition)]
        )

    def __len__(self) -> int:
        return len(self._lines)

    @contextlib.contextmanager
    def stage(
        self, slice_name: str | None, label: str | None = None, recompute: bool = False
    ) -> Iterator[None]:
        """Marks the operations that are added inside: they run on that slice, in calls
        with that label, which perhaps run again instead of keeping their results."""
        before = self._stage
        self.enter_stage(slice_name, label, recompute)
        try:
            yield
        finally:
            self._stage = before

    def enter_stage(
        self, slice_name: str | None, label: str | None = None, recompute: bool = False
    ) -> None:
        """Marks the operations that are added from here on; None: no longer."""
        marks = []
        if label is not None:
            marks.append(f"pw_label = {quoted(label)}")
        if recompute:
            marks.append('pw_recompute = "true"')
        if slice_name is not None:
            marks.append(f"pw_slice = {quoted(slice_name)}")
        self._stage = (
            f"{{mhlo.frontend_attributes = {{{', '.join(marks)}}}}}" if marks else ""
        )

    # Operations in general.

    def generic(
        self,
        name: str,
        operands: Sequence[Value],
        results: Sequence[Type],
        properties: str = "",
        regions: Sequence[str] = (),
        attributes: str = "",
    ) -> list[Value]:
        """Adds an operation in the generic form of MLIR. A region is made by `region`."""
        text = f'"{name}"({", ".join(self.own(v).name for v in operands)})'
        if properties:
            text += f" <{{{properties}}}>"
        if regions:
            text += f" ({', '.join(regions)})"
        if attributes:
            text += f" {{{attributes}}}"
        elif self._stage:
            text += f" {self._stage}"
        types = ", ".join(str(v.type) for v in operands)
        outs = ", ".join(str(t) for t in results)
        return self._add(f"{text} : ({types}) -> ({outs})", results)

    def region(
        self, arguments: Sequence[Type], body: Callable[[list[Value]], Sequence[Value]]
    ) -> str:
        """Returns a region: `body` gets its arguments and returns its results."""
        lines, indent, constants = self._lines, self._indent, self._constants
        self._lines, self._indent, self._constants = [], indent + "  ", dict(constants)
        inner = []
        for type in arguments:
            inner.append(Value(self, f"%r{self._count}", type))
            self._count += 1
        results = body(inner)
        self._end("stablehlo.return", results)
        text = "\n".join(self._lines)
        self._lines, self._indent, self._constants = lines, indent, constants
        header = ", ".join(f"{v.name}: {v.type}" for v in inner)
        label = f"\n{indent}^bb0({header}):" if inner else ""
        return f"{{{label}\n{text}\n{indent}}}"

    def _end(self, terminator: str, values: Sequence[Value]) -> None:
        text = terminator
        if values:
            names = ", ".join(self.own(v).name for v in values)
            text += f" {names} : {', '.join(str(v.type) for v in values)}"
        self._lines.append(self._indent + text)

    def _add(self, text: str, results: Sequence[Type]) -> list[Value]:
        name = f"%{self._count}"
        self._count += 1
        text += _location(self.place)
        if len(results) == 1:
            self._lines.append(f"{self._indent}{name} = {text}")
            return [Value(self, name, results[0])]
        head = f"{name}:{len(results)} = " if results else ""
        self._lines.append(f"{self._indent}{head}{text}")
        return [Value(self, f"{name}#{i}", type) for i, type in enumerate(results)]

    def _one(
        self,
        name: str,
        operands: Sequence[Value],
        result: Type,
        properties: str = "",
        regions: Sequence[str] = (),
    ) -> Value:
        return self.generic(f"stablehlo.{name}", operands, [result], properties, regions)[0]

    # Constants.

    def constant(self, value: Any, element: str, shape: Sequence[int] = ()) -> Value:
        """A tensor whose elements are all `value`."""
        return self._constant(scalar_text(value, element), Type(tuple(shape), element))

    def constant_bytes(self, data: bytes, type: Type) -> Value:
        """A tensor with these elements, row-major and little-endian. Elements of i1 are
        one byte each, 0 or 1."""
        if type.size == 0:
            return self._constant("", type)
        if type.element == "i1":
            packed = bytearray((type.size + 7) // 8)
            for i, byte in enumerate(data):
                packed[i // 8] |= (byte & 1) << (i % 8)
            if type.size == 1:  # one byte stands for all elements of a splat
                return self._constant("true" if data[0] else "false", type)
            if all(data) or not any(data):
                return self._constant("true" if data[0] else "false", type)
            data = bytes(packed)
        return self._constant(f'"0x{data.hex().upper()}"', type)

    def _constant(self, text: str, type: Type) -> Value:
        key = (text, type, self._stage)
        if key not in self._constants:
            attributes = f" {self._stage}" if self._stage else ""
            place, self.place = self.place, None
            (value,) = self._add(
                f'"stablehlo.constant"() <{{value = dense<{text}> : {type}}}>{attributes} '
                f": () -> {type}",
                [type],
            )
            self.place = place
            self._constants[key] = value
        return self._constants[key]

    # Operations by name.

    def unary(self, name: str, x: Value, element: str | None = None) -> Value:
        """abs, exponential, negate, not, sine, tanh, ... of equal operand and result."""
        return self._one(name, [x], x.type if element is None else x.type.with_element(element))

    def chlo(self, name: str, *operands: Value, element: str | None = None) -> Value:
        """An operation of chlo on operands of one type: erf, erf_inv, lgamma, digamma,
        sinh, cosh, asin, acos, atan, next_after, ..."""
        type = operands[0].type
        result = type if element is None else type.with_element(element)
        return self.generic(f"chlo.{name}", operands, [result])[0]

    def binary(self, name: str, x: Value, y: Value) -> Value:
        """add, multiply, maximum, power, shift_left, and, ... on equal types."""
        assert x.type == y.type, (name, x.type, y.type)
        return self._one(name, [x, y], x.type)

    def compare(self, direction: str, x: Value, y: Value) -> Value:
        """`direction` is EQ, NE, LT, LE, GT or GE."""
        assert x.type == y.type, (direction, x.type, y.type)
        if x.element in FLOATS:
            kind = "FLOAT"
        elif x.element in UNSIGNED or x.element == "i1":
            kind = "UNSIGNED"
        else:
            kind = "SIGNED"
        return self._one(
            "compare",
            [x, y],
            x.type.with_element("i1"),
            f"comparison_direction = #stablehlo<comparison_direction {direction}>, "
            f"compare_type = #stablehlo<comparison_type {kind}>",
        )

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        assert x.type == y.type and condition.shape in ((), x.shape), (x.type, y.type)
        return self._one("select", [condition, x, y], x.type)

    def clamp(self, low: Value, x: Value, high: Value) -> Value:
        return self._one("clamp", [low, x, high], x.type)

    def convert(self, x: Value, element: str) -> Value:
        if element == x.element:
            return x
        return self._one("convert", [x], x.type.with_element(element))

    def bitcast(self, x: Value, result: Type) -> Value:
        return self._one("bitcast_convert", [x], result)

    def iota(self, type: Type, dim: int) -> Value:
        return self._one("iota", [], type, f"iota_dimension = {dim} : i64")

    def broadcast_in_dim(self, x: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
        """Dimension i of `x` becomes dimension dims[i]."""
        if tuple(shape) == x.shape and list(dims) == list(range(x.rank)):
            return x
        return self._one(
            "broadcast_in_dim",
            [x],
            x.type.with_shape(shape),
            f"broadcast_dimensions = {_array(dims)}",
        )

    def broadcast(self, x: Value, shape: Sequence[int]) -> Value:
        """Broadcasts by the rules of NumPy: dimensions are aligned at the end."""
        shape = tuple(shape)
        first = len(shape) - x.rank
        return self.broadcast_in_dim(x, shape, range(first, len(shape)))

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        if tuple(shape) == x.shape:
            return x
        assert math.prod(shape) == x.type.size, (x.type, shape)
        return self._one("reshape", [x], x.type.with_shape(shape))

    def transpose(self, x: Value, dims: Sequence[int]) -> Value:
        """Dimension i of the result is dimension dims[i] of `x`."""
        if list(dims) == list(range(x.rank)):
            return x
        shape = [x.shape[d] for d in dims]
        return self._one(
            "transpose", [x], x.type.with_shape(shape), f"permutation = {_array(dims)}"
        )

    def reverse(self, x: Value, dims: Sequence[int]) -> Value:
        return self._one("reverse", [x], x.type, f"dimensions = {_array(dims)}")

    def slice(
        self,
        x: Value,
        starts: Sequence[int],
        limits: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> Value:
        strides = list(strides) if strides is not None else [1] * x.rank
        shape = [
            max(0, -(-(limit - start) // stride))
            for start, limit, stride in zip(starts, limits, strides)
        ]
        if tuple(shape) == x.shape:
            return x
        return self._one(
            "slice",
            [x],
            x.type.with_shape(shape),
            f"limit_indices = {_array(limits)}, start_indices = {_array(starts)}, "
            f"strides = {_array(strides)}",
        )

    def dynamic_slice(self, x: Value, starts: Sequence[Value], sizes: Sequence[int]) -> Value:
        return self._one(
            "dynamic_slice",
            [x, *starts],
            x.type.with_shape(sizes),
            f"slice_sizes = {_array(sizes)}",
        )

    def dynamic_update_slice(self, x: Value, update: Value, starts: Sequence[Value]) -> Value:
        return self._one("dynamic_update_slice", [x, update, *starts], x.type)

    def pad(
        self,
        x: Value,
        value: Value,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int] | None = None,
    ) -> Value:
        """Negative amounts cut."""
        interior = list(interior) if interior is not None else [0] * x.rank
        shape = [
            a + n + max(n - 1, 0) * i + b for n, a, b, i in zip(x.shape, low, high, interior)
        ]
        return self._one(
            "pad",
            [x, value],
            x.type.with_shape(shape),
            f"edge_padding_high = {_array(high)}, edge_padding_low = {_array(low)}, "
            f"interior_padding = {_array(interior)}",
        )

    def concatenate(self, values: Sequence[Value], dim: int) -> Value:
        if len(values) == 1:
            return values[0]
        shape = list(values[0].shape)
        shape[dim] = sum(v.shape[dim] for v in values)
        return self._one(
            "concatenate", values, values[0].type.with_shape(shape), f"dimension = {dim} : i64"
        )

    def dot_general(
        self,
        x: Value,
        y: Value,
        contract: tuple[Sequence[int], Sequence[int]],
        batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
        element: str | None = None,
    ) -> Value:
        """Batch dimensions come first in the result, then those of `x`, then of `y`."""
        shape = [x.shape[d] for d in batch[0]]
        for value, used in ((x, [*batch[0], *contract[0]]), (y, [*batch[1], *contract[1]])):
            shape += [n for d, n in enumerate(value.shape) if d not in used]
        return self._one(
            "dot_general",
            [x, y],
            Type(tuple(shape), element or x.element),
            "dot_dimension_numbers = #stablehlo.dot<"
            f"lhs_batching_dimensions = {_numbers(batch[0])}, "
            f"rhs_batching_dimensions = {_numbers(batch[1])}, "
            f"lhs_contracting_dimensions = {_numbers(contract[0])}, "
            f"rhs_contracting_dimensions = {_numbers(contract[1])}>",
        )

    def combine_region(self, name: str, element: str) -> str:
        """The region that combines two scalars by a binary operation."""
        scalar = Type((), element)
        return self.region(
            [scalar, scalar], lambda values: [self.binary(name, values[0], values[1])]
        )

    def reduce(
        self,
        values: Sequence[Value],
        inits: Sequence[Value],
        dims: Sequence[int],
        body: Callable[[list[Value]], Sequence[Value]],
    ) -> list[Value]:
        """`body` gets the values so far, then the new ones, as scalars."""
        results = [
            v.type.with_shape([n for d, n in enumerate(v.shape) if d not in dims])
            for v in values
        ]
        scalars = [v.type.with_shape(()) for v in values]
        region = self.region(scalars + scalars, body)
        return self.generic(
            "stablehlo.reduce",
            [*values, *inits],
            results,
            f"dimensions = {_array(sorted(dims))}",
            [region],
        )

    def reduce_by(self, name: str, x: Value, init: Value, dims: Sequence[int]) -> Value:
        """add, multiply, maximum, minimum, and, or, xor."""
        return self.reduce(
            [x], [init], dims, lambda values: [self.binary(name, values[0], values[1])]
        )[0]

    def reduce_window(
        self,
        name: str,
        x: Value,
        init: Value,
        sizes: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[tuple[int, int]],
        base_dilations: Sequence[int] | None = None,
        window_dilations: Sequence[int] | None = None,
    ) -> Value:
        return self.reduce_windows(
            [x],
            [init],
            sizes,
            strides,
            padding,
            lambda values: [self.binary(name, values[0], values[1])],
            base_dilations,
            window_dilations,
        )[0]

    def reduce_windows(
        self,
        values: Sequence[Value],
        inits: Sequence[Value],
        sizes: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[tuple[int, int]],
        body: Callable[[list[Value]], Sequence[Value]],
        base_dilations: Sequence[int] | None = None,
        window_dilations: Sequence[int] | None = None,
    ) -> list[Value]:
        """`body` gets the values so far, then the new ones, as scalars."""
        ones = [1] * values[0].rank
        base, window = base_dilations or ones, window_dilations or ones
        shape = []
        for d, n in enumerate(values[0].shape):
            padded = (max(n - 1, 0) * base[d] + min(n, 1)) + sum(padding[d])
            reach = (sizes[d] - 1) * window[d] + 1 if sizes[d] else 0
            shape.append(0 if padded < reach else (padded - reach) // strides[d] + 1)
        scalars = [v.type.with_shape(()) for v in values]
        return self.generic(
            "stablehlo.reduce_window",
            [*values, *inits],
            [v.type.with_shape(shape) for v in values],
            f"base_dilations = {_array(base)}, padding = {_table(padding, 2)}, "
            f"window_dilations = {_array(window)}, window_dimensions = {_array(sizes)}, "
            f"window_strides = {_array(strides)}",
            [self.region(scalars + scalars, body)],
        )

    def select_and_scatter(
        self,
        x: Value,
        source: Value,
        init: Value,
        sizes: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[tuple[int, int]],
        is_chosen: Callable[[list[Value]], Value],
    ) -> Value:
        """Adds the elements of `source`, one for each window of `x`, at the element that
        the window keeps: of a pair, the first one if `is_chosen` is true."""
        scalar = x.type.with_shape(())
        return self._one(
            "select_and_scatter",
            [x, source, init],
            x.type,
            f"padding = {_table(padding, 2)}, window_dimensions = {_array(sizes)}, "
            f"window_strides = {_array(strides)}",
            [
                self.region([scalar, scalar], lambda pair: [is_chosen(pair)]),
                self.combine_region("add", x.element),
            ],
        )

    def convolution(
        self,
        x: Value,
        kernel: Value,
        strides: Sequence[int],
        padding: Sequence[tuple[int, int]],
        x_dilation: Sequence[int],
        kernel_dilation: Sequence[int],
        numbers: str,
        result: Type,
        feature_groups: int = 1,
        batch_groups: int = 1,
        reversal: Sequence[bool] | None = None,
    ) -> Value:
        """`numbers` are the dimension numbers as MLIR prints them:
        "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]"."""
        spatial = len(strides)
        turned = _array([int(r) for r in reversal or [False] * spatial], "i1")
        turned = turned.replace("1,", "true,").replace("0,", "false,")
        turned = turned.replace("1>", "true>").replace("0>", "false>")
        return self._one(
            "convolution",
            [x, kernel],
            result,
            f"batch_group_count = {batch_groups} : i64, "
            f"dimension_numbers = #stablehlo.conv<{numbers}>, "
            f"feature_group_count = {feature_groups} : i64, "
            f"lhs_dilation = {_array(x_dilation)}, padding = {_table(padding, 2)}, "
            f"rhs_dilation = {_array(kernel_dilation)}, window_reversal = {turned}, "
            f"window_strides = {_array(strides)}",
        )

    def gather(
        self,
        x: Value,
        indices: Value,
        result: Type,
        offset_dims: Sequence[int],
        collapsed: Sequence[int],
        start_index_map: Sequence[int],
        index_vector_dim: int,
        sizes: Sequence[int],
        batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
    ) -> Value:
        """`batch`: the batching dimensions of `x`, and of `indices`."""
        return self._one(
            "gather",
            [x, indices],
            result,
            "dimension_numbers = #stablehlo.gather<"
            f"offset_dims = {_numbers(offset_dims)}, "
            f"collapsed_slice_dims = {_numbers(collapsed)}, "
            f"operand_batching_dims = {_numbers(batch[0])}, "
            f"start_indices_batching_dims = {_numbers(batch[1])}, "
            f"start_index_map = {_numbers(start_index_map)}, "
            f"index_vector_dim = {index_vector_dim}>, "
            f"indices_are_sorted = false, slice_sizes = {_array(sizes)}",
        )

    def scatter(
        self,
        x: Value,
        indices: Value,
        updates: Value,
        window_dims: Sequence[int],
        inserted: Sequence[int],
        index_map: Sequence[int],
        index_vector_dim: int,
        body: Callable[[list[Value]], Sequence[Value]],
        batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
        is_unique: bool = False,
    ) -> Value:
        """`body` gets the old and the new element, and returns the one to store."""
        scalar = x.type.with_shape(())
        return self._one(
            "scatter",
            [x, indices, updates],
            x.type,
            "indices_are_sorted = false, "
            "scatter_dimension_numbers = #stablehlo.scatter<"
            f"update_window_dims = {_numbers(window_dims)}, "
            f"inserted_window_dims = {_numbers(inserted)}, "
            f"input_batching_dims = {_numbers(batch[0])}, "
            f"scatter_indices_batching_dims = {_numbers(batch[1])}, "
            f"scatter_dims_to_operand_dims = {_numbers(index_map)}, "
            f"index_vector_dim = {index_vector_dim}>, "
            f"unique_indices = {str(is_unique).lower()}",
            [self.region([scalar, scalar], body)],
        )

    def sort(
        self,
        values: Sequence[Value],
        dim: int,
        body: Callable[[list[Value]], Value],
        is_stable: bool = True,
    ) -> list[Value]:
        """`body` gets a pair of scalars for each operand, and returns if the first of
        each pair comes first."""
        scalars = [v.type.with_shape(()) for v in values for _ in range(2)]
        region = self.region(scalars, lambda pairs: [body(pairs)])
        return self.generic(
            "stablehlo.sort",
            values,
            [v.type for v in values],
            f"dimension = {dim} : i64, is_stable = {str(is_stable).lower()}",
            [region],
        )

    def call(self, callee: Function, operands: Sequence[Value]) -> list[Value]:
        """Calls a function that has ended."""
        assert [v.type for v in operands] == callee.argument_types, callee.name
        names = ", ".join(self.own(v).name for v in operands)
        types = ", ".join(str(v.type) for v in operands)
        outs = ", ".join(str(t) for t in callee.result_types)
        attributes = f" {self._stage}" if self._stage else ""
        return self._add(
            f"func.call @{callee.name}({names}){attributes} : ({types}) -> ({outs})",
            callee.result_types,
        )

    def loop(
        self,
        body: Function,
        trips: int,
        operands: Sequence[tuple[Value, str]],
        results: Sequence[tuple[Type, str]],
        schedule: str | None = None,
        label: str | None = None,
    ) -> list[Value]:
        """Runs `body`, which has ended and whose `outer` is this function, `trips` times.
        Its first arguments are `operands`, which are "carried", "stepped" or "stepped
        reversed", as are its `results`."""
        given = [*(value for value, _ in operands), *body.captured]
        words = [*(word for _, word in operands), *["captured"] * len(body.captured)]
        config = [
            f"trips = {trips} : i64",
            f"operands = [{', '.join(map(quoted, words))}]",
            f"results = [{', '.join(quoted(word) for _, word in results)}]",
        ]
        for key, word in (("schedule", schedule), ("label", label)):
            if word is not None:
                config.append(f"{key} = {quoted(word)}")
        types = ", ".join(str(v.type) for v in given)
        outs = ", ".join(str(type) for type, _ in results)
        return self._add(
            f'"stablehlo.custom_call"({", ".join(self.own(v).name for v in given)}) '
            f"<{{api_version = 4 : i32, backend_config = {{{', '.join(config)}}}, "
            f'call_target_name = "pw.for", called_computations = [@{body.name}]}}> '
            f": ({types}) -> ({outs})",
            [type for type, _ in results],
        )

    def constrain(self, x: Value, sharding: Sharding) -> Value:
        """Fixes how the compiler cuts a value."""
        text = f"sdy.sharding_constraint {self.own(x).name} {str(sharding)[len('#sdy.sharding'):]}"
        return self._add(f"{text} : {x.type}", [x.type])[0]
