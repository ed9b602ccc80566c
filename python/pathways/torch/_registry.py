# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of lowerings, and what they have in common.

A lowering is a function that the decorator `lowers` enters into the table under the
names of ATen overloads, such as "aten.add.Tensor", or of all overloads, "aten.relu". It
is called with a Context and with the arguments of the call. Tensors are Values, lists
stay lists, numbers and strings stay what they are, elements are torch.dtype. Arguments
that only concern memory (device, layout, memory_format, ...) are left out. It returns
the Value, or a sequence of Values for a tuple.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import torch

from pathways._errors import InvalidArgument
from pathways._stablehlo import FLOATS, INTEGERS, Function, Place, Type, Value
from pathways.torch._errors import TraceError

Lowering = Callable[..., Any]

TABLE: dict[str, Lowering] = {}

ELEMENTS: dict[torch.dtype, str] = {
    torch.bool: "i1",
    torch.uint8: "ui8",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
}
DTYPES = {element: dtype for dtype, element in ELEMENTS.items()}

# The highest limit of a slice stands for "to the end".
HUGE = 2**63 - 1


_F = TypeVar("_F", bound=Lowering)


def lowers(*names: str) -> Callable[[_F], _F]:
    """Enters a lowering for these ops."""

    def enter(lowering: _F) -> _F:
        for name in names:
            if name in TABLE:
                raise InvalidArgument(f"{name} has a lowering already")
            TABLE[name] = lowering
        return lowering

    return enter


def find(name: str) -> Lowering | None:
    """Returns the lowering of an overload, or None."""
    return TABLE.get(name) or TABLE.get(name.rpartition(".")[0])


def operations() -> list[str]:
    """Returns the names of the operations of ATen that have a lowering: "aten.add.Tensor"
    is one overload, "aten.relu" stands for all of them."""
    return sorted(TABLE)


def element_of(dtype: torch.dtype) -> str:
    if dtype not in ELEMENTS:
        raise TraceError(
            f"elements of {dtype} are not supported; "
            f"use one of {', '.join(str(d) for d in ELEMENTS)}"
        )
    return ELEMENTS[dtype]


def is_float(element: str) -> bool:
    return element in FLOATS


def category(element: str) -> int:
    """Returns 0 for bool, 1 for integers and 2 for floats."""
    return 2 if element in FLOATS else 1 if element in INTEGERS else 0


class Context:
    """The call of one op that is lowered into `f`. `results` are the types of its
    results, with None for results without users."""

    def __init__(
        self,
        function: Function,
        name: str,
        results: list[Type | None],
        place: Place | None,
        seeds: Callable[[], Value],
    ) -> None:
        self.f = function
        self.name = name
        self.results = results
        self.place = place
        self.seeds = seeds

    @property
    def result(self) -> Type:
        """The type of the only result."""
        (type,) = self.results
        assert type is not None, self.name
        return type

    def error(self, message: str) -> NoReturn:
        raise TraceError(f"{self.name}: {message}", self.place)

    # Constants.

    def constant(self, value: Any, element: str, shape: Sequence[int] = ()) -> Value:
        """A constant of `shape` with equal elements. A big one is broadcast."""
        if category(element) == 1:
            bits = int(element.strip("ui"))
            value = int(value) & ((1 << bits) - 1)
            if element.startswith("i") and value >> (bits - 1):
                value -= 1 << bits
        return self.f.broadcast(self.f.constant(value, element), shape)

    def like(self, value: Any, x: Value) -> Value:
        """A constant of the type of `x`."""
        return self.constant(value, x.element, x.shape)

    # Elements.

    def promote(self, *operands: Value | bool | int | float) -> str:
        """Returns the element that PyTorch computes these operands in: tensors with
        dimensions count before tensors without, and those before numbers, unless a
        later kind has a higher category (bool, integer, float)."""
        best = ""
        for kind in (
            [x.element for x in operands if isinstance(x, Value) and x.rank],
            [x.element for x in operands if isinstance(x, Value) and not x.rank],
            [number_element(x) for x in operands if not isinstance(x, Value)],
        ):
            joined = ""
            for element in kind:
                joined = join(joined, element) if joined else element
            if joined and (not best or category(joined) > category(best)):
                best = joined
        return best

    def to_float(self, element: str) -> str:
        """Returns the element of an op that computes floats."""
        return element if is_float(element) else default_float()

    def wide(self, element: str) -> str:
        """Returns the element that a kernel of PyTorch computes in."""
        return "f32" if element in ("f16", "bf16") else element

    def cast(self, x: Value | bool | int | float, element: str) -> Value:
        """Converts a tensor, or makes a scalar of a number."""
        if isinstance(x, Value):
            return self.convert(x, element)
        return self.constant(x, element)

    def convert(self, x: Value, element: str) -> Value:
        """Converts as C does: floats are cut to integers, and all that is not zero is
        true."""
        if x.element == element:
            return x
        if is_float(x.element) and element in ("i8", "i16", "ui8"):
            # C goes through i32, so that 300.0 becomes 44 as ui8.
            return self.f.convert(self.f.convert(x, "i64"), element)
        return self.f.convert(x, element)

    # Shapes.

    def broadcast(self, *operands: Value) -> list[Value]:
        """Broadcasts to the common shape, which is that of the result."""
        shape = broadcast_shape(self, [x.shape for x in operands])
        return [self.expand(x, shape) for x in operands]

    def expand(self, x: Value, shape: Sequence[int]) -> Value:
        """Broadcasts `x`: dimensions are aligned at the end, and those of 1 grow."""
        shape = tuple(shape)
        if x.shape == shape:
            return x
        first = len(shape) - x.rank
        stay = [d for d in range(x.rank) if x.shape[d] == shape[first + d]]
        if len(stay) < x.rank:
            x = self.f.reshape(x, [x.shape[d] for d in stay])
        return self.f.broadcast_in_dim(x, shape, [first + d for d in stay])

    def operands(self, element: str, *operands: Value | bool | int | float) -> list[Value]:
        """Converts to `element` and broadcasts."""
        return self.broadcast(*[self.cast(x, element) for x in operands])

    def dim(self, dim: int, rank: int) -> int:
        """Returns a dimension that counts from the front. A scalar has one."""
        return dim % max(rank, 1)

    def dims(self, dims: int | Sequence[int] | None, rank: int) -> list[int]:
        """Returns dimensions in order. None, and none, are all of them."""
        if dims is None or (not isinstance(dims, int) and not len(dims)):
            return list(range(rank))
        if isinstance(dims, int):
            dims = [dims]
        return sorted({d % max(rank, 1) for d in dims if rank})


def default_float() -> str:
    """Returns the element of numbers with a point."""
    return ELEMENTS[torch.get_default_dtype()]


_ORDER = ["i1", "ui8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"]


def join(a: str, b: str) -> str:
    """Returns the element that PyTorch promotes two tensors to."""
    if a == b:
        return a
    if {a, b} == {"ui8", "i8"}:
        return "i16"
    if {a, b} == {"f16", "bf16"}:
        return "f32"
    if category(a) != category(b):
        return a if category(a) > category(b) else b
    return max(a, b, key=_ORDER.index)


def number_element(x: bool | int | float) -> str:
    if isinstance(x, bool):
        return "i1"
    return "i64" if isinstance(x, int) else default_float()


def broadcast_shape(c: Context, shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for d, n in enumerate(shape, rank - len(shape)):
            if n != 1:
                if result[d] not in (1, n):
                    c.error(f"shapes do not fit: {', '.join(str(s) for s in shapes)}")
                result[d] = n
    return tuple(result)


def numel(shape: Sequence[int]) -> int:
    return math.prod(shape)
