# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of elements, and values of Python as arrays.

NumPy has no bf16. An array of it is one of uint16 whose dtype carries a tag, or of
ml_dtypes.bfloat16 where that package is imported.
"""

from __future__ import annotations

import sys
from typing import Any

from . import _pathways
from ._errors import Error, InvalidArgument

_NUMPY_NAMES = {
    "f32": "float32",
    "f64": "float64",
    "f16": "float16",
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "ui64": "uint64",
}
_ELEMENTS = {name: element for element, name in _NUMPY_NAMES.items()}
_TAG = "pathways"


def dtype_of(element: str) -> Any:
    """Returns the NumPy dtype of elements with this name ("f32", "bf16", ...)."""
    import numpy as np

    if element != "bf16":
        return np.dtype(_NUMPY_NAMES[element])
    ml_dtypes = sys.modules.get("ml_dtypes")
    if ml_dtypes is not None:
        return np.dtype(ml_dtypes.bfloat16)
    return _tagged()


def _tagged() -> Any:
    import numpy as np

    dtype: Any = np.dtype
    return dtype(np.uint16, metadata={_TAG: "bf16"})


def element_of(dtype: Any) -> str | None:
    """Returns the name of the elements of a NumPy dtype, None if there is none."""
    if dtype.metadata and dtype.metadata.get(_TAG):
        return str(dtype.metadata[_TAG])
    return "bf16" if dtype.name == "bfloat16" else _ELEMENTS.get(dtype.name)


def bf16(array: Any) -> Any:
    """Marks a NumPy array of uint16 as the bits of bf16. Shares its memory."""
    import numpy as np

    array = np.asarray(array)
    if array.dtype != np.uint16:
        raise InvalidArgument(f"the bits of bf16 are uint16, not {array.dtype}")
    return array.view(_tagged())


def _name(array: Any) -> str:
    return element_of(array.dtype) or str(array.dtype)


def adapt(value: Any, element: str | None, what: str) -> tuple[Any, str, Any]:
    """Returns a contiguous array of a value, the name of its elements, and their owner.

    `element` is the type that the value must have; numbers and lists of numbers, which
    have no type of their own, are converted to it. `what` names the value in errors. The
    owner is None if nothing else can change the elements.
    """
    import numpy as np

    owner = None
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidArgument(f"{what} is a masked array; array.filled(x) has all values")
    if isinstance(value, (bool, int, float, list, tuple)):
        array = _of_numbers(value, element, what)
    elif isinstance(value, (np.ndarray, np.generic)):
        array, owner = np.asarray(value), value
    elif hasattr(value, "__dlpack__"):
        array, owner = from_dlpack(value, what), value
    elif hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        array, owner = np.asarray(value), value
    else:
        try:
            array, owner = np.asarray(memoryview(value)), value
        except TypeError:
            raise InvalidArgument(
                f"{what} is a {type(value).__name__}, not an array, a number or a list"
            ) from None
    own = element_of(array.dtype)
    if own is None:
        raise InvalidArgument(f"{what} has elements of {array.dtype}, which Pathways lacks")
    if element is not None and own != element:
        raise InvalidArgument(
            f"{what} has elements of {own} ({array.dtype}), but the program takes {element}"
        )
    if own == "bf16":
        array = array.view(np.uint16)
    contiguous = np.asarray(array, array.dtype.newbyteorder("="), order="C")
    if not np.may_share_memory(contiguous, array):
        owner = None
    return contiguous, own, owner


def from_dlpack(value: Any, what: str = "the value") -> Any:
    """Returns an array of NumPy that shares the memory of a tensor, by DLPack."""
    import numpy as np

    # PyTorch 1 does not export booleans.
    is_boolean = str(getattr(value, "dtype", "")) == "torch.bool"
    if is_boolean:
        value = value.view(sys.modules["torch"].uint8)
    try:
        try:
            capsule = value.__dlpack__(max_version=(1, 0))
        except TypeError:  # from before version 1
            capsule = value.__dlpack__()
    except Error:
        raise
    except Exception as error:
        # A tensor of PyTorch that needs a gradient, for example.
        raise InvalidArgument(f"{what}: {type(value).__name__}: {error}") from error
    view = _pathways._from_dlpack(capsule)
    array = np.asarray(view)
    if view.element == "bf16":
        return array.view(_tagged())
    return array.view(np.bool_) if is_boolean else array


def describe(value: Any, element: str | None, what: str) -> tuple[str, tuple[int, ...]]:
    """Returns element and shape of a value whose elements do not matter."""
    own = getattr(value, "element", None)
    if isinstance(own, str):
        return own, tuple(value.shape)
    if isinstance(value, (bool, int, float, list, tuple)):
        array, own, _ = adapt(value, element, what)
        return own, tuple(array.shape)
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    own = element_of(dtype) if hasattr(dtype, "metadata") and dtype is not None else None
    if own is None or shape is None:
        array, own, _ = adapt(value, element, what)
        shape = array.shape
    return own, tuple(shape)


# Arrays that sessions read, by identity: the array, and how many times it is borrowed.
_locked: dict[int, tuple[Any, int]] = {}


def lock(owner: Any) -> bool:
    """Makes an array of NumPy read-only while a session reads it.

    Returns False for memory that others may change: it must be copied.
    """
    np = sys.modules.get("numpy")
    if np is None or not isinstance(owner, np.ndarray):
        return bool(memoryview(owner).readonly) if _has_buffer(owner) else False
    array, count = _locked.get(id(owner), (owner, 0))
    if count == 0 and not owner.flags.owndata and owner.flags.writeable:
        # NumPy would not make it writable again, and its owner can change it anyhow.
        return False
    if count == 0 and owner.flags.writeable:
        owner.setflags(write=False)
    elif count == 0:
        return True  # and it stays read-only afterwards
    _locked[id(owner)] = (array, count + 1)
    return True


def unlock(owner: Any) -> None:
    """Undoes a `lock` that returned True."""
    array, count = _locked.pop(id(owner), (owner, 0))
    if count > 1:
        _locked[id(owner)] = (array, count - 1)
    elif count == 1:
        array.setflags(write=True)


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def _of_numbers(value: Any, element: str | None, what: str) -> Any:
    """Converts numbers, and lists of them, which have no type of their own."""
    import numpy as np

    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidArgument(f"{what}: {error}") from None
    if element is None or array.dtype.kind not in "biuf":
        return array
    if element == "bf16":
        raise InvalidArgument(f"{what}: numbers are not converted to bf16; use pw.bf16")
    dtype = dtype_of(element)
    if array.dtype.kind == "f" and dtype.kind in "iub":
        raise InvalidArgument(f"{what} has floats, but the program takes {element}")
    converted = array.astype(dtype)
    if dtype.kind in "iub" and array.size and not np.array_equal(converted, array):
        raise InvalidArgument(f"{what} has numbers that {element} cannot hold")
    return converted
