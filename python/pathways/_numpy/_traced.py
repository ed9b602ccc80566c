# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values that a function over NumPy computes with while it is traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy

from .._stablehlo import Value
from ._context import Trace, trace_error
from ._elements import DType
from ._registry import np

if TYPE_CHECKING:
    from .._slice import Slice

_HINT_BRANCH = "write np.where(condition, a, b), which computes both sides"


def _refuse(what: str, hint: str) -> NoReturn:
    raise trace_error(
        f"{what} needs the value of an array that is known only when the program runs", hint
    )


def _binary(ufunc: numpy.ufunc) -> Callable[[Traced, Any], Any]:
    def method(self: Traced, other: Any) -> Any:
        if getattr(type(other), "__array_ufunc__", ufunc) is None:
            return NotImplemented
        return ufunc(self, other)

    return method


def _reflected(ufunc: numpy.ufunc) -> Callable[[Traced, Any], Any]:
    def method(self: Traced, other: Any) -> Any:
        return ufunc(other, self)

    return method


def _in_place(symbol: str) -> Callable[[Traced, Any], Any]:
    def method(self: Traced, other: Any) -> Any:
        raise trace_error(
            f"'{symbol}=' writes into an array, and values of a program never change",
            f"write x = x {symbol} y",
        )

    return method


def _unary(ufunc: numpy.ufunc) -> Callable[[Traced], Any]:
    def method(self: Traced) -> Any:
        return ufunc(self)

    return method


def _method(name: str) -> Callable[..., Any]:
    """The method that calls the function of NumPy with this name."""
    function = getattr(np, name)

    def method(self: Traced, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = name
    return method


def _writing(name: str, hint: str) -> Callable[..., Any]:
    def method(self: Traced, *args: Any, **kwargs: Any) -> Any:
        raise trace_error(
            f".{name}() writes into an array, and values of a program never change", hint
        )

    return method


def _reading(name: str, hint: str) -> Callable[..., Any]:
    def method(self: Traced, *args: Any, **kwargs: Any) -> Any:
        _refuse(f".{name}()", hint)

    return method


class Traced:
    """An array that a program computes, in place of an ndarray.

    It has a shape and a type, and takes part in ufuncs, functions of NumPy, operators,
    indexing and most methods of ndarray. What needs its elements is an error.
    """

    __slots__ = ("_trace", "_value", "_dtype", "_slice", "_example")
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000.0

    def __init__(self, trace: Trace, value: Value, dtype: DType) -> None:
        self._trace, self._value, self._dtype = trace, value, dtype
        self._slice: Slice | None = trace.slice
        # A number that gives results the same types as this one, if one is known.
        self._example: Any = None

    # These attributes are known while the function is traced.

    @property
    def shape(self) -> tuple[int, ...]:
        return self._value.shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def ndim(self) -> int:
        return self._value.rank

    @property
    def size(self) -> int:
        return self._value.type.size

    @property
    def itemsize(self) -> int:
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise trace_error("len() of a value without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        shape = ", ".join(str(n) for n in self.shape)
        return f"<traced {self._dtype.name}[{shape}]>"

    # The protocols of NumPy.

    def __array_ufunc__(
        self, ufunc: numpy.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        from ._ufuncs import apply_ufunc

        return apply_ufunc(self._trace, ufunc, method, inputs, kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        from ._functions import apply_function

        return apply_function(self._trace, function, args, kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        _refuse(
            "np.asarray(), or a function that calls it,",
            "use the value itself; np.stack() makes an array of several values, and "
            ".astype() another type",
        )

    # Python asks for the value.

    def __bool__(self) -> bool:
        _refuse("bool(), as in 'if', 'while', 'and', 'or', 'not' and 'in',", _HINT_BRANCH)

    def __float__(self) -> float:
        _refuse("float()", "use the value itself, or .astype(float)")

    def __int__(self) -> int:
        _refuse("int()", "use the value itself, or .astype(int)")

    def __complex__(self) -> complex:
        _refuse("complex()", "complex numbers are not available in programs")

    def __index__(self) -> int:
        _refuse(
            "a Python index, as in range() or in the index of a list,",
            "use np.take(), or an array in place of the list",
        )

    def __format__(self, spec: str) -> str:
        if spec:
            _refuse("a formatted number", "return the value, and print it after the run")
        return repr(self)

    tolist = _reading("tolist", "return the value, and call .tolist() on the result")
    item = _reading("item", "use the value itself")
    tobytes = _reading("tobytes", "return the value, and call .tobytes() on the result")
    nonzero = _reading("nonzero", "the shape of its result depends on values: use np.where")

    # In-place writes.

    def __setitem__(self, index: Any, value: Any) -> None:
        raise trace_error(
            "x[...] = y writes into an array, and values of a program never change",
            "write x = np.where(mask, y, x), or np.concatenate of the parts",
        )

    sort = _writing("sort", "write x = np.sort(x)")
    partition = _writing("partition", "write x = np.sort(x)")
    fill = _writing("fill", "write x = np.full_like(x, value)")
    put = _writing("put", "write x = np.where(mask, y, x)")
    itemset = _writing("itemset", "write x = np.where(mask, y, x)")
    resize = _writing("resize", "write x = np.reshape(x, shape)")

    # Operators.

    __add__, __radd__ = _binary(np.add), _reflected(np.add)
    __sub__, __rsub__ = _binary(np.subtract), _reflected(np.subtract)
    __mul__, __rmul__ = _binary(np.multiply), _reflected(np.multiply)
    __truediv__, __rtruediv__ = _binary(np.true_divide), _reflected(np.true_divide)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide), _reflected(np.floor_divide)
    __mod__, __rmod__ = _binary(np.remainder), _reflected(np.remainder)
    __divmod__, __rdivmod__ = _binary(np.divmod), _reflected(np.divmod)
    __matmul__, __rmatmul__ = _binary(np.matmul), _reflected(np.matmul)
    __and__, __rand__ = _binary(np.bitwise_and), _reflected(np.bitwise_and)
    __or__, __ror__ = _binary(np.bitwise_or), _reflected(np.bitwise_or)
    __xor__, __rxor__ = _binary(np.bitwise_xor), _reflected(np.bitwise_xor)
    __lshift__, __rlshift__ = _binary(np.left_shift), _reflected(np.left_shift)
    __rshift__, __rrshift__ = _binary(np.right_shift), _reflected(np.right_shift)
    __lt__, __le__ = _binary(np.less), _binary(np.less_equal)
    __gt__, __ge__ = _binary(np.greater), _binary(np.greater_equal)
    __eq__ = _binary(np.equal)  # type: ignore[assignment]
    __ne__ = _binary(np.not_equal)  # type: ignore[assignment]
    __neg__, __pos__ = _unary(np.negative), _unary(np.positive)
    __abs__, __invert__ = _unary(np.absolute), _unary(np.invert)

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        from ._ufuncs import power

        if modulus is not None:
            raise trace_error("pow() with a modulus is not available for arrays")
        return power(self, exponent)

    __rpow__ = _reflected(np.power)

    __iadd__, __isub__, __imul__ = _in_place("+"), _in_place("-"), _in_place("*")
    __itruediv__, __ifloordiv__ = _in_place("/"), _in_place("//")
    __imod__, __ipow__, __imatmul__ = _in_place("%"), _in_place("**"), _in_place("@")
    __iand__, __ior__, __ixor__ = _in_place("&"), _in_place("|"), _in_place("^")
    __ilshift__, __irshift__ = _in_place("<<"), _in_place(">>")

    # Indexing.

    def __getitem__(self, index: Any) -> Traced:
        from ._indexing import get_item

        with self._trace.at_user(self._slice):
            return get_item(self._trace, self, index)

    def __iter__(self) -> Iterator[Traced]:
        if not self.shape:
            raise trace_error("a value without dimensions cannot be iterated over")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, item: Any) -> bool:
        _refuse("'in'", "write np.any(x == value)")

    # Methods.

    sum, prod, mean = _method("sum"), _method("prod"), _method("mean")
    var, std, ptp = _method("var"), _method("std"), _method("ptp")
    max, min = _method("amax"), _method("amin")
    any, all = _method("any"), _method("all")
    argmax, argmin, argsort = _method("argmax"), _method("argmin"), _method("argsort")
    cumsum, cumprod = _method("cumsum"), _method("cumprod")
    round, dot = _method("around"), _method("dot")
    ravel, squeeze = _method("ravel"), _method("squeeze")
    swapaxes, repeat, take = _method("swapaxes"), _method("repeat"), _method("take")
    trace, diagonal, copy = _method("trace"), _method("diagonal"), _method("copy")
    flatten, conj, conjugate = _method("ravel"), _method("conj"), _method("conj")

    def clip(
        self, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any
    ) -> Any:
        return np.clip(self, min, max, out, **kwargs)

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        sizes = shape[0] if len(shape) == 1 else shape
        return np.reshape(self, sizes, order=order)

    def transpose(self, *axes: Any) -> Any:
        if not axes or axes == (None,):
            return np.transpose(self)
        return np.transpose(self, axes[0] if len(axes) == 1 else axes)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Traced:
        from ._ufuncs import convert

        return convert(self, np.dtype(dtype))

    @property
    def T(self) -> Any:
        return np.transpose(self)

    @property
    def real(self) -> Traced:
        return self

    @property
    def imag(self) -> Any:
        return np.zeros_like(self)

    def to(self, slice: Slice) -> Traced:
        """Moves the value to another slice of the program."""
        from .._program_trace import move

        return move(self, slice)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"a traced array has no attribute '{name}'")
        raise trace_error(
            f"the attribute '{name}' of arrays is not available in traced functions"
        )
