# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where arrays are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ._array import Array


class Sharding(NamedTuple):
    """How an array is divided over devices, which form a mesh.

    `mesh` has the axes of the mesh with their sizes, major axis first, and `devices` the
    names of the devices, row-major over it. For each dimension of the array `dims` has the
    axes that cut it. Over the axes in `partial` shards hold contributions, which
    `reduction` ("add", ...) combines. Axes that appear nowhere hold copies.
    """

    mesh: tuple[tuple[str, int], ...]
    devices: tuple[str, ...]
    dims: tuple[tuple[str, ...], ...]
    partial: tuple[str, ...] = ()
    reduction: str = ""

    @classmethod
    def from_json(cls, value: Any) -> Sharding:
        return cls(
            tuple((str(name), int(size)) for name, size in value["mesh"]),
            tuple(value.get("devices", ())),
            tuple(tuple(axes) for axes in value["dims"]),
            tuple(value.get("partial", ())),
            str(value.get("reduction", "")),
        )

    def to_json(self) -> str:
        """Returns the text that the C API takes."""
        members: dict[str, Any] = {
            "mesh": self.mesh,
            "devices": self.devices,
            "dims": self.dims,
        }
        if self.partial:
            members |= {"partial": self.partial, "reduction": self.reduction}
        return json.dumps(members)


class Shard(NamedTuple):
    """The part of an array that one device holds.

    `offset` and `shape` are in elements of the whole array.
    """

    array: Array
    number: int
    device: str
    offset: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def data(self) -> Any:
        """Waits, then returns a copy of the values of this shard alone."""
        import numpy as np

        values: Any = np.empty(self.shape, self.array.dtype)
        bytes_of = values.reshape(-1).view(np.uint8)
        self.array._get_shard(self.number, self.shape, bytes_of)
        return values

    def __repr__(self) -> str:
        parts = ", ".join(f"{o}:{o + n}" for o, n in zip(self.offset, self.shape))
        return f"<Shard {self.number} on {self.device}: [{parts}]>"


def read_placement(array: Array) -> tuple[Sharding | None, tuple[Shard, ...]]:
    """Returns sharding and shards of an array; None and none if no device holds it."""
    value = json.loads(array._placement())
    if value["sharding"] is None:
        return None, ()
    return Sharding.from_json(value["sharding"]), tuple(
        Shard(array, i, shard["device"], tuple(shard["offset"]), tuple(shard["shape"]))
        for i, shard in enumerate(value["shards"])
    )
