# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of functions of NumPy on traced values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._trace_error import TraceError
from ._context import Trace, trace_error
from ._registry import FUNCTIONS
from ._traced import Traced
from ._ufuncs import slice_of

# Modules that fill FUNCTIONS.
from . import _choices, _indexing, _products, _reductions, _shapes, _sorting  # noqa: F401

_SHAPE_HINT = "its shape depends on values, and programs have fixed shapes"

# These functions cannot be traced; each text says what to do instead.
_HINTS: dict[str, str] = {
    "nonzero": f"{_SHAPE_HINT}: use np.where(condition, a, b)",
    "flatnonzero": f"{_SHAPE_HINT}: use np.where(condition, a, b)",
    "argwhere": f"{_SHAPE_HINT}: use np.where(condition, a, b)",
    "unique": f"{_SHAPE_HINT}: use np.sort",
    "compress": f"{_SHAPE_HINT}: use np.where(condition, a, b)",
    "extract": f"{_SHAPE_HINT}: use np.where(condition, a, b)",
    "partition": "use np.sort",
    "argpartition": "use np.argsort",
    "copyto": "it writes into an array, and so do np.full and np.fill: use np.where, "
    "np.full_like or np.broadcast_to",
    "put": "it writes into an array: use np.where",
    "place": "it writes into an array: use np.where",
    "putmask": "it writes into an array: use np.where",
    "put_along_axis": "it writes into an array: use np.where",
    "fill_diagonal": "it writes into an array: use np.where and np.eye",
    "array_repr": "return the value, and print it after the run",
    "array_str": "return the value, and print it after the run",
    "array2string": "return the value, and print it after the run",
    "save": "return the value, and save it after the run",
}


def _traced_in(values: Any) -> Iterator[Traced]:
    for value in values:
        if isinstance(value, Traced):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _traced_in(value)


def name_of(function: Callable[..., Any]) -> str:
    module = function.__module__.removeprefix("numpy")
    return f"np{module}.{function.__name__}" if module else f"np.{function.__name__}"


@functools.cache
def _after_out(function: Callable[..., Any]) -> tuple[int, tuple[str, ...]]:
    """Returns the position of the parameter `out`, and the names from there on."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        # A function in C, whose signature Python does not know.
        return 2, ("out",) if function in (np.dot, np.concatenate) else ()
    out = parameters.get("out")
    if out is None or out.kind is out.KEYWORD_ONLY:
        return 0, ()
    names = tuple(parameters)
    place = names.index("out")
    return place, names[place:]


def apply_function(
    trace: Trace,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """What Traced.__array_function__ returns."""
    name = name_of(function)
    handler = FUNCTIONS.get(function)
    if handler is None:
        raise trace_error(
            f"{name} is not available in traced functions",
            _HINTS.get(function.__name__, "compute its result by other functions of NumPy"),
        )
    kwargs = dict(kwargs)
    # The handlers have no `out`.
    place, names = _after_out(function)
    if names and len(args) > place:
        kwargs.update(zip(names, args[place:]))
        args = args[:place]
    if kwargs.pop("out", None) is not None:
        raise trace_error(
            f"{name} with out= writes into an array, and values of a program never change",
            "use its result",
        )
    operands = [*_traced_in(args), *_traced_in(kwargs.values())]
    for operand in operands:
        trace.check(operand)
    with trace.at_user(slice_of(operands, name)):
        try:
            return handler(trace, *args, **kwargs)
        except TraceError:
            raise
        except (TypeError, ValueError, IndexError) as error:
            text = str(error).replace(f"{handler.__name__}()", f"{name}()")
            raise trace_error(f"{name}: {text}") from error


assert np.sum in FUNCTIONS
