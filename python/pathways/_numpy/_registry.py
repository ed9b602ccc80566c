# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of NumPy that can be traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from ._elements import DType

# NumPy, whose functions take traced values in these modules.
np: Any = numpy

# Each function of NumPy has an implementation, which takes the trace and then the same
# arguments.
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}


Handler = TypeVar("Handler", bound=Callable[..., Any])


def implements(*functions: Callable[..., Any]) -> Callable[[Handler], Handler]:
    """Enters a handler for functions of NumPy."""

    def register(handler: Handler) -> Handler:
        for function in functions:
            FUNCTIONS[function] = handler
        return handler

    return register


def dummy(shape: Sequence[int], dtype: DType | type = bool) -> numpy.ndarray[Any, Any]:
    """An array of zeros that takes no memory, to ask NumPy for shapes and types."""
    return numpy.broadcast_to(numpy.zeros((), dtype), tuple(shape))


def axis_index(axis: Any, ndim: int) -> int:
    """Returns an axis as a number that is not negative, as np.sum takes it."""
    position = int(axis.__index__())
    if not -ndim <= position < ndim:
        raise IndexError(f"axis {position} is out of bounds for array of dimension {ndim}")
    return position % ndim


def axis_indices(axis: Any, ndim: int) -> list[int]:
    """Returns axes in ascending order; None stands for all of them."""
    if axis is None:
        return list(range(ndim))
    wanted = axis if isinstance(axis, (tuple, list)) else [axis]
    axes = [axis_index(a, ndim) for a in wanted]
    if len(set(axes)) < len(axes):
        raise ValueError(f"duplicate value in axis {axis}")
    return sorted(axes)
