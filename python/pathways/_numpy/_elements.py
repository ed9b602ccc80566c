# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements of MLIR and types of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

DType = np.dtype[Any]

_ELEMENTS = {
    "?": "i1",
    "b": "i8",
    "h": "i16",
    "B": "ui8",
    "H": "ui16",
    "e": "f16",
    "f": "f32",
    "d": "f64",
}

_DTYPES: dict[str, DType] = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}


def element_of(dtype: DType) -> str | None:
    """Returns the element of MLIR, or None for a type that no program can have:
    complex, extended, object, text, time, records."""
    if dtype.kind in "iu" and dtype.itemsize in (4, 8):
        return ("ui" if dtype.kind == "u" else "i") + str(8 * dtype.itemsize)
    return _ELEMENTS.get(dtype.char)


def dtype_of(element: str) -> DType | None:
    """Returns the type of NumPy, or None for bf16, which NumPy lacks."""
    return _DTYPES.get(element)


def is_float(dtype: DType) -> bool:
    return dtype.kind == "f"


def is_integer(dtype: DType) -> bool:
    return dtype.kind in "iu"
