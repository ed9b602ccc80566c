# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trace of one function: where the user's code is, constants, and what it must not
do while it is traced."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from .._trace_error import TraceError
from .._stablehlo import Function, Place, Type, Value
from ._elements import DType, dtype_of, element_of

if TYPE_CHECKING:
    from .._slice import Slice
    from ._traced import Traced

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_RANDOM = os.path.abspath(random.__file__)

# Objects whose methods draw random numbers.
_DRAWS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)

_NOTHING: AbstractContextManager[None] = contextlib.nullcontext()

_is_user: dict[CodeType, bool] = {}
_places: dict[tuple[CodeType, int], Place] = {}
_MOST_PLACES = 10_000


def _is_user_code(code: CodeType) -> bool:
    known = _is_user.get(code)
    if known is None:
        file = code.co_filename
        known = not (
            file.startswith((_OURS, _NUMPY, "<__array_function__"))
            or file == _RANDOM
            or file.endswith(os.sep + "contextlib.py")
        )
        _is_user[code] = known
    return known


def user_place(frame: FrameType | None) -> Place | None:
    """Returns the place of the innermost call of the user's code in a stack."""
    while frame is not None and not _is_user_code(frame.f_code):
        frame = frame.f_back
    if frame is None:
        return None
    key = (frame.f_code, frame.f_lasti)
    place = _places.get(key)
    if place is None:
        if len(_places) >= _MOST_PLACES:
            _places.clear()
            _is_user.clear()
        positions = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
        _, _, column, _ = next(positions, (None, None, None, None))
        place = (frame.f_code.co_filename, frame.f_lineno or 1, (column or 0) + 1)
        _places[key] = place
    return place


def trace_error(message: str, hint: str = "") -> TraceError:
    """Returns an error at the line of the user's code that is running."""
    return TraceError(message, user_place(sys._getframe(1)), hint)


class Trace:
    """The trace of a function into a Function of StableHLO. Operations run on the slice
    of their operands, or on `default` if these have none."""

    def __init__(self, function: Function, default: Slice | None = None) -> None:
        self.function = function
        self.default = default
        self.has_ended = False
        self.slice: Slice | None = None  # of the operations that are added now
        # The label of the calls that are added now, and if they run again.
        self.label: tuple[str | None, bool] = (None, False)
        self._is_inside = False
        self._numbers: dict[Any, np.ndarray[Any, DType]] = {}

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Traces what is called inside. Random numbers that are drawn there would be
        constants of the program, so drawing them is an error."""
        before = sys.getprofile()
        sys.setprofile(_guard)
        try:
            yield
        except TraceError:
            raise
        except Exception as error:
            # NumPy replaces some errors by others that say less.
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, TraceError):
                cause = cause.__cause__ or cause.__context__
            if isinstance(cause, TraceError):
                raise cause from None
            raise
        finally:
            _set_profile(before)
            self.has_ended = True

    def at_user(self, slice: Slice | None = None) -> AbstractContextManager[None]:
        """Operations that are added inside have the place of the user's code, and run on
        that slice. Inside of another such block, that one counts."""
        return _NOTHING if self._is_inside else self._at_user(slice, sys._getframe(1))

    @contextlib.contextmanager
    def _at_user(self, slice: Slice | None, frame: FrameType) -> Iterator[None]:
        self._is_inside = True
        # Our own code needs no guard, and is faster without it.
        is_guarded = sys.getprofile() is _guard
        if is_guarded:
            sys.setprofile(None)
        function = self.function
        function.place = user_place(frame)
        self.slice = slice if slice is not None else self.default
        try:
            if self.slice is None and self.label[0] is None:
                yield
            else:
                name = None if self.slice is None else self.slice.name
                with function.stage(name, *self.label):
                    yield
        finally:
            self._is_inside, self.slice = False, None
            if is_guarded:
                sys.setprofile(_guard)

    def type_of(self, dtype: DType, shape: tuple[int, ...]) -> Type:
        element = element_of(dtype)
        if element is None:
            raise trace_error(
                f"a value of type {dtype} cannot be part of a program",
                "programs have bool, int8 to int64, uint8 to uint64, float16, float32 "
                "and float64",
            )
        return Type(shape, element)

    def constant(self, value: Any) -> Value:
        """Adds a constant with the elements of an array, a scalar or a list."""
        array = self.as_array(value)
        type = self.type_of(array.dtype, array.shape)
        little = array.dtype.newbyteorder("<")
        data = np.ascontiguousarray(array, little).tobytes()
        first = data[: array.dtype.itemsize]
        if array.size > 0 and data == first * array.size:
            return self.function.constant(
                np.frombuffer(first, little)[0], type.element, array.shape
            )
        return self.function.constant_bytes(data, type)

    def converted(self, value: Any, dtype: DType) -> Value:
        """Adds a constant of that type. NumPy converts constants before it computes."""
        is_number = isinstance(value, (bool, int, float))
        key = (type(value), repr(value) if is_number else "", dtype)
        array = self._numbers.get(key) if is_number else None
        if array is None:
            with np.errstate(all="ignore"):
                array = np.asarray(value).astype(dtype)
            if is_number:
                self._numbers[key] = array
        if is_number:
            element = self.type_of(dtype, ()).element
            return self.function.constant(array[()], element)
        return self.constant(array)

    def as_array(self, value: Any) -> np.ndarray[Any, DType]:
        """Returns a value that is not traced as an array."""
        try:
            array = np.asarray(value)
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, TraceError):
                raise
            raise trace_error(f"{_describe(value)} is not an array: {error}") from None
        if element_of(array.dtype) is None:
            raise trace_error(
                f"{_describe(value)} of type {array.dtype} cannot be part of a program",
                "programs have bool, int8 to int64, uint8 to uint64, float16, float32 "
                "and float64",
            )
        return array

    def lift(self, value: Any) -> Traced:
        """Returns a traced value as it is, and makes a constant of any other one."""
        from ._traced import Traced

        if isinstance(value, Traced):
            self.check(value)
            return value
        array = self.as_array(value)
        return Traced(self, self.constant(array), array.dtype)

    def check(self, value: Traced, is_cast: bool = False) -> None:
        """Raises an error for a value that this trace cannot compute with."""
        if value._value.element == "bf16" and not is_cast:
            raise trace_error(
                "NumPy has no bf16", "cast the value first: .astype(np.float32)"
            )
        if value._trace is self:
            if self.has_ended:
                raise trace_error(
                    "a traced value is used after the function that it belongs to has "
                    "returned",
                    "return it from that function",
                )
            return
        raise trace_error(
            "a traced value of another function is used here",
            "pass it to this function as an argument",
        )

    def wrap(self, value: Value, dtype: DType | None = None) -> Traced:
        from ._traced import Traced

        if dtype is None:
            dtype = dtype_of(value.element)
            assert dtype is not None, value.element
        return Traced(self, value, dtype)


def _describe(value: Any) -> str:
    text = type(value).__name__
    return "an array" if isinstance(value, np.ndarray) else f"a value of {text}"


# Methods of generators that draw nothing.
_HARMLESS = {"seed", "get_state", "set_state", "getstate", "setstate", "__init__", "spawn"}


# Functions of PyTorch that draw.
_TORCH_DRAWS = set(
    "rand randn randint randperm normal bernoulli multinomial rand_like randn_like "
    "randint_like uniform_ normal_ random_".split()
)


def _module_of(called: Any, owner: Any) -> str:
    return str(getattr(called, "__module__", "")) + str(type(owner).__module__) + str(
        getattr(owner, "__module__", "")
    )


def _guard(frame: FrameType, event: str, called: Any) -> None:
    """The profiler of Python while a function is traced: it sees all calls in C."""
    if event != "c_call":
        return
    owner = getattr(called, "__self__", None)
    if isinstance(owner, _DRAWS):
        if called.__name__ in _HARMLESS:
            return
    elif called.__name__ == "urandom":
        if frame.f_code.co_filename != _RANDOM:
            return
    elif called.__name__ not in _TORCH_DRAWS or "torch" not in _module_of(called, owner):
        return
    above: FrameType | None = frame
    while above is not None and above.f_code.co_filename != "<frozen importlib._bootstrap>":
        above = above.f_back
    if above is not None:
        return  # a module draws what it needs for itself while it is imported
    raise TraceError(
        f"{called.__name__}() draws random numbers while a function is traced: every run "
        "would have the same ones",
        user_place(frame),
        "pass random numbers as an argument, or compute them from a seed argument",
    )


@contextlib.contextmanager
def unguarded() -> Iterator[None]:
    """Lets the code inside draw random numbers: the tracers of other frameworks."""
    before = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        _set_profile(before)


def _set_profile(profile: Any) -> None:
    """Sets the profiler that sys.getprofile returned: a function, or one of cProfile."""
    if profile is None or callable(profile):
        sys.setprofile(profile)
    else:
        sys.setprofile(None)
        profile.enable()
