# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays on devices."""

from __future__ import annotations

import math
import os
from collections.abc import Generator
from typing import Any

from . import _pathways
from ._errors import InvalidArgument, Refused
from ._placement import Shard, Sharding, read_placement
from ._times import nanoseconds
from ._types import dtype_of


class Array(_pathways.Array):
    """An array that a session holds, perhaps the result of a run that has not ended.

    Type and shape are known at once. Reading values waits for the run, and raises its
    RunError if it failed.
    """

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the elements. bf16 is uint16 with a tag."""
        return dtype_of(self.element)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def sharding(self) -> Sharding | None:
        """How devices hold the array. None if this process or files hold it."""
        return read_placement(self)[0]

    @property
    def shards(self) -> tuple[Shard, ...]:
        """The shards in the order of the devices of `sharding`; none without one."""
        return read_placement(self)[1]

    def copy_to_host_async(self) -> None:
        """Does nothing: results move to this process when they are read.

        It is there for code that calls it before it reads.
        """

    def block_until_ready(self, timeout: float | None = None) -> Array:
        """Waits for the run that fills the array, at most `timeout` seconds.

        Errors: RunError, TimedOut.
        """
        self._wait(nanoseconds(timeout))
        return self

    async def ended(self) -> Array:
        """Waits in an event loop of asyncio, and returns the array. Errors: RunError."""
        from ._loops import in_thread

        if self.is_ready() or self.session.is_simulation:
            self._wait(-1)
        else:
            await in_thread(lambda: self._wait(-1))
        return self

    def __await__(self) -> Generator[Any, None, Array]:
        """Waits as `ended` does."""
        return self.ended().__await__()

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Waits, then writes the array to a new folder.

        Errors: AlreadyExists, Unwritable, RunError, Refused.
        """
        self._save(os.fsencode(folder))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Waits, then returns a copy of the whole array, which belongs to the caller.

        With `copy` False it returns what `view` does, or raises a ValueError.
        """
        self._wait(-1)
        import numpy as np

        if copy is False:
            if dtype is not None and np.dtype(dtype) != self.dtype:
                raise InvalidArgument(f"{self.element} is not {dtype} without a copy")
            try:
                return self.view()
            except Refused as error:
                raise InvalidArgument(str(error)) from error
        values = np.empty(self.shape, self.dtype)
        self._get(values.view(np.uint8) if values.ndim else values)
        return values if dtype is None else values.astype(dtype, copy=False)

    def view(self) -> Any:
        """Waits, then returns the values as a read-only array of NumPy, without a copy.

        Errors: Refused, with the reason, unless the values are dense in one piece of memory
        of this process; those of `block_until_ready`.
        """
        view = self._view()
        import numpy as np

        values = np.asarray(view)
        return values.view(self.dtype) if self.element == "bf16" else values

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Waits, then returns a capsule of DLPack.

        Version 1 shares the memory, read-only, where `view` can; the old one, which cannot
        say read-only, has a copy. Errors: BufferError if `copy` is False and there is no
        way without; those of `block_until_ready`.
        """
        if stream is not None or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("the values are in memory of the CPU, without streams")
        is_versioned = max_version is not None and max_version[0] >= 1
        try:
            return self._dlpack(is_versioned, 0 if copy is None else 1 if copy else 2)
        except Refused as error:
            raise BufferError(str(error)) from error

    def __dlpack_device__(self) -> tuple[int, int]:
        """Returns the CPU, where __dlpack__ makes the values available."""
        return (1, 0)

    def _repr_html_(self) -> str:
        """A picture for notebooks, which never waits."""
        from ._display import array_html

        return array_html(self)

    def item(self) -> Any:
        """Waits, then returns the only element as a number of Python.

        Errors: InvalidArgument if there are several or none.
        """
        if self.shape and math.prod(self.shape) != 1:
            raise InvalidArgument(
                f"an array of shape {self.shape} is no number; np.asarray(array) reads it"
            )
        values = self.__array__()
        if self.element == "bf16":
            # The upper half of an f32.
            import numpy as np

            return (values.reshape(1).astype(np.uint32) << 16).view(np.float32).item()
        return values.item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        """The truth of the only element, as in NumPy."""
        return bool(self.item())

    def __format__(self, spec: str) -> str:
        """Formats the only element, as f"{loss:.3f}" does; without a spec, str()."""
        return format(self.item(), spec) if spec else str(self)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        if self.session.closed:
            return "<Array of a closed session>"
        sizes = "".join(f"{n}x" for n in self.shape)
        return f"<Array {sizes}{self.element}{'' if self.is_ready() else ', not ready'}>"
