# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of arguments: pw.f32[32, 64], and pw.f32 for a scalar."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

from . import _types
from ._errors import Error, InvalidArgument


class TensorType:
    """Shape and elements of an array. `element` is a name such as "f32" or "ui8"."""

    __slots__ = ("shape", "element")

    shape: tuple[int, ...]
    element: str

    def __init__(self, shape: tuple[int, ...], element: str) -> None:
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "element", element)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a type cannot be changed")

    @property
    def dtype(self) -> Any:
        """The NumPy dtype; that of bf16 is uint16 with a tag."""
        return _types.dtype_of(self.element)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and (self.shape, self.element) == (
            other.shape,
            other.element,
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.element))

    def __repr__(self) -> str:
        sizes = ", ".join(str(n) for n in self.shape)
        return f"pw.{self.element}" + (f"[{sizes}]" if self.shape else "")

    def __getitem__(self, shape: int | tuple[int, ...]) -> TensorType:
        if self.shape:
            raise InvalidArgument(f"{self} has a shape")
        sizes = shape if isinstance(shape, tuple) else (shape,)
        try:
            checked = tuple(operator.index(n) for n in sizes)
        except TypeError:
            raise InvalidArgument(
                f"the sizes of pw.{self.element}{list(sizes)} must be integers"
            ) from None
        if any(n < 0 for n in checked):
            raise InvalidArgument(f"pw.{self.element}{list(sizes)} has a negative size")
        if math.prod(n for n in checked if n) >= 1 << 63:
            raise InvalidArgument(
                f"pw.{self.element}{list(sizes)} is too large, expected fewer than 2^63 "
                "elements"
            )
        return TensorType(checked, self.element)


class NumberType(TensorType):
    """The type of a number whose value says which types NumPy 1 gives to results.

    `example` is the number. Numbers that need the same types to hold them have equal
    types.
    """

    __slots__ = ("example", "_kind")

    example: Any
    _kind: Any

    def __init__(self, example: Any, element: str) -> None:
        import numpy as np

        super().__init__((), element)
        object.__setattr__(self, "example", example)
        kind: Any = np.min_scalar_type(example)
        if kind.kind in "iu":
            # 5 is a number of i8 and of ui8, and 200 is none of i8.
            kind = (kind, int(example) <= np.iinfo(f"i{kind.itemsize}").max)
        object.__setattr__(self, "_kind", kind)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and isinstance(other, NumberType) and (
            self._kind == other._kind
        )

    def __hash__(self) -> int:
        return hash((self.element, self._kind))


class Bf16(TensorType):
    """The type bf16, which is also a function: it marks an array of uint16 as bf16."""

    __slots__ = ()

    def __call__(self, array: Any) -> Any:
        """Marks a NumPy array of uint16 as the bits of bf16. Shares its memory."""
        return _types.bf16(array)


i1, i8, i16, i32, i64 = (TensorType((), name) for name in ("i1", "i8", "i16", "i32", "i64"))
ui8, ui16, ui32, ui64 = (TensorType((), name) for name in ("ui8", "ui16", "ui32", "ui64"))
f16, f32, f64 = (TensorType((), name) for name in ("f16", "f32", "f64"))
bf16 = Bf16((), "bf16")


def type_of(value: Any, what: str) -> TensorType | None:
    """Returns the type of an array, a number, or a list of numbers, or the type itself.
    None: the value is none of these. `what` names the value in errors."""
    if isinstance(value, TensorType):
        return value
    element = getattr(value, "element", None)
    if isinstance(element, str) and hasattr(value, "shape"):
        return TensorType(tuple(value.shape), element)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return TensorType(tuple(value.shape), _torch_element(value.dtype, what))
    if isinstance(value, (str, bytes)) or value is None:
        return None
    import numpy as np

    dtype = getattr(value, "dtype", None)
    if not isinstance(dtype, np.dtype):
        if not isinstance(value, (bool, int, float, complex)):
            return None
        value = np.asarray(value)
        dtype = value.dtype
    found = _types.element_of(dtype)
    if found is None:
        raise InvalidArgument(
            f"{what} has elements of {dtype}, which programs lack; they have bool, int8 to "
            "int64, uint8 to uint64, float16, bf16, float32 and float64"
        )
    return TensorType(tuple(value.shape), found)


def number_type_of(value: Any, type: TensorType) -> TensorType:
    """Returns the type of a value of which no more than this is known, or of which the
    value is: a number of Python or of NumPy, or an array of NumPy without dimensions."""
    import numpy as np

    if type.shape or type.element == "bf16":
        return type
    if not isinstance(value, (bool, int, float, np.generic, np.ndarray)):
        return type
    return NumberType(np.asarray(value)[()], type.element)


def _torch_element(dtype: Any, what: str) -> str:
    from .torch._registry import element_of

    try:
        return str(element_of(dtype))
    except (ValueError, Error) as error:
        raise InvalidArgument(f"{what}: {error}") from None
