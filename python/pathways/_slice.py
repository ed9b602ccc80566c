# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices of traced programs, and the one mesh that a module has for all of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from ._errors import InvalidArgument
from ._stablehlo import Sharding

# A cut of a dimension is the name of an axis, those of several (major first), or None.
Cut = Any


class Slice:
    """Devices that a part of a program runs on: a mesh with named axes.

        pw.Slice("s", data=2, model=4)      # 8 devices
        pw.Slice("one")                     # a single device
        pw.Slice("back", d=4, apart_from="front")

    `apart_from` names slices (or is a slice) that are on other islands. `spans` is the
    number of islands that the devices are on, in equal runs. Slices are equal if their
    names are; two slices of one program with one name must agree in everything.
    """

    __slots__ = ("name", "axes", "apart_from", "spans")

    name: str
    axes: tuple[tuple[str, int], ...]
    apart_from: tuple[str, ...]
    spans: int

    def __init__(
        self,
        name: str,
        *,
        apart_from: str | Slice | Sequence[str | Slice] | None = None,
        spans: int = 1,
        **axes: int,
    ) -> None:
        if not isinstance(name, str) or not name or not all(
            c.isalnum() or c in "_." for c in name
        ):
            raise InvalidArgument(
                f"the name of a slice has letters, digits, '_' and '.', got {name!r}"
            )
        sizes = []
        for axis, size in axes.items():
            if not axis.isidentifier():
                raise InvalidArgument(
                    f"the name of an axis of slice '{name}' is a name of Python, got "
                    f"{axis!r}"
                )
            try:
                count = operator.index(size)
            except TypeError:
                count = 0
            if count < 1:
                raise InvalidArgument(
                    f"axis '{axis}' of slice '{name}' has size {size!r}, expected a "
                    "positive integer"
                )
            sizes.append((axis, count))
        if isinstance(apart_from, (str, Slice)):
            apart_from = (apart_from,)
        elif not isinstance(apart_from, Iterable | None) or not all(
            isinstance(other, (str, Slice)) for other in apart_from or ()
        ):
            raise InvalidArgument(
                f"slice '{name}' is apart from {apart_from!r}, expected slices or their "
                "names"
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "axes", tuple(sizes))
        others = tuple(s.name if isinstance(s, Slice) else s for s in apart_from or ())
        if name in others:
            raise InvalidArgument(f"slice '{name}' cannot be apart from itself")
        object.__setattr__(self, "apart_from", others)
        if operator.index(spans) < 1 or self.size % operator.index(spans):
            raise InvalidArgument(
                f"slice '{name}' has {self.size} devices and spans {spans} islands, "
                "expected a positive number that divides the devices"
            )
        object.__setattr__(self, "spans", operator.index(spans))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a slice cannot be changed")

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(size for _, size in self.axes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slice) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        parts = [repr(self.name), *(f"{axis}={size}" for axis, size in self.axes)]
        if self.apart_from:
            parts.append(f"apart_from={self.apart_from!r}")
        if self.spans > 1:
            parts.append(f"spans={self.spans}")
        return f"pw.Slice({', '.join(parts)})"

    def same_as(self, other: Slice) -> bool:
        return (self.axes, self.apart_from, self.spans) == (
            other.axes,
            other.apart_from,
            other.spans,
        )


class Mesh:
    """The mesh of a module, whose axes make up the axes of each of its slices.

    The devices of all slices are counted in row-major order, so slices with as many
    devices have a common mesh if each product of trailing sizes divides the next one of
    all slices. An axis of a slice is a run of axes of the mesh.
    """

    def __init__(self, slices: Iterable[Slice]) -> None:
        self.slices = list(slices)
        first: Slice | None = None
        # The products of trailing sizes, of all slices.
        bounds = {1}
        for slice in self.slices:
            if first is not None and slice.size != first.size:
                raise InvalidArgument(
                    f"slice '{first.name}' has {first.size} devices and slice "
                    f"'{slice.name}' has {slice.size}: the slices of one traced program "
                    "have equal numbers of devices"
                )
            mine = self._bounds(slice)
            if first is not None and not self._is_chain(bounds | mine):
                raise InvalidArgument(
                    f"slices '{first.name}' {dict(first.axes)} and '{slice.name}' "
                    f"{dict(slice.axes)} have no common mesh: cut one of them by the sizes "
                    "of the other"
                )
            bounds |= mine
            first = first or slice
        order = sorted(bounds, reverse=True)
        self._steps = list(zip(order, order[1:]))
        self.axes = [(self._name(high, low), high // low) for high, low in self._steps]

    @staticmethod
    def _bounds(slice: Slice) -> set[int]:
        sizes = [size for _, size in slice.axes]
        return {math.prod(sizes[i:]) for i in range(len(sizes) + 1)}

    @staticmethod
    def _is_chain(bounds: set[int]) -> bool:
        order = sorted(bounds)
        return all(high % low == 0 for low, high in zip(order, order[1:]))

    def _name(self, high: int, low: int) -> str:
        """The name of an axis that a slice has, or of the part of one."""
        for slice in self.slices:
            for axis, (top, bottom) in self._runs(slice).items():
                if (top, bottom) == (high, low):
                    return axis if self._owner(axis) is slice else f"{slice.name}.{axis}"
        return f"part{low}"

    def _owner(self, axis: str) -> Slice:
        return next(s for s in self.slices if axis in dict(s.axes))

    @staticmethod
    def _runs(slice: Slice) -> dict[str, tuple[int, int]]:
        runs, below = {}, 1
        for axis, size in reversed(slice.axes):
            runs[axis] = (below * size, below)
            below *= size
        return runs

    def axes_of(self, axis: str, on: Slice | None, what: str) -> tuple[str, ...]:
        """Returns the axes of the mesh that make up an axis of a slice (None: of any)."""
        found: set[tuple[str, ...]] = set()
        for slice in self.slices if on is None else [on]:
            run = self._runs(slice).get(axis)
            if run is not None:
                found.add(
                    tuple(
                        name
                        for (name, _), (high, low) in zip(self.axes, self._steps)
                        if high <= run[0] and low >= run[1] and high > low
                    )
                )
        if not found:
            named = [a for s in self.slices if on in (None, s) for a, _ in s.axes]
            raise InvalidArgument(
                f"{what} names the axis '{axis}', but "
                + (f"slice '{on.name}' has " if on is not None else "the slices have ")
                + (", ".join(dict.fromkeys(named)) or "no axes")
            )
        if len(found) > 1:
            raise InvalidArgument(
                f"{what} names the axis '{axis}', which means different devices in "
                "different slices of the program"
            )
        return found.pop()

    def sharding(self, cut: Cut, rank: int, on: Slice | None, what: str) -> Sharding:
        """Returns the sharding for a `split=` of a value with `rank` dimensions: an axis
        of the first dimension, or for each dimension an axis, several, or None."""
        dims = [cut] if isinstance(cut, str) else cut
        if not isinstance(dims, (tuple, list)):
            raise InvalidArgument(f"{what} is {cut!r}, expected names of axes or None")
        if len(dims) > rank:
            raise InvalidArgument(
                f"{what} has {len(dims)} dimensions, but the value has {rank}"
            )
        parts: list[tuple[str, ...]] = []
        for dim in dims:
            names = (dim,) if isinstance(dim, str) else () if dim is None else dim
            if not isinstance(names, (tuple, list)) or not all(
                isinstance(name, str) for name in names
            ):
                raise InvalidArgument(f"{what} is {cut!r}, expected names of axes or None")
            parts.append(tuple(a for n in names for a in self.axes_of(n, on, what)))
        used = [axis for part in parts for axis in part]
        for axis in used:
            if used.count(axis) > 1:
                raise InvalidArgument(f"{what} cuts two dimensions along the axis '{axis}'")
        return Sharding((*parts, *((),) * (rank - len(parts))))


def islands(slices: Sequence[Slice]) -> str:
    """Returns the import option `slices`: all slices, with numbers of islands for those
    that are apart from others. As few islands as possible are used one after the other;
    slices with one number share an island."""
    names = {slice.name for slice in slices}
    apart: dict[str, set[str]] = {name: set() for name in names}
    for slice in slices:
        for other in slice.apart_from:
            if other not in names:
                raise InvalidArgument(
                    f"slice '{slice.name}' is apart from '{other}', but the program has no "
                    f"slice of that name, only {', '.join(sorted(names))}"
                )
            apart[slice.name].add(other)
            apart[other].add(slice.name)
    taken: dict[str, range] = {}
    items = []
    for slice in slices:
        if not apart[slice.name] and slice.spans == 1:
            items.append(slice.name)
            continue
        start = 0
        while True:
            wanted = range(start, start + slice.spans)
            if all(
                not set(wanted) & set(used)
                if name in apart[slice.name]
                else used == wanted or not set(wanted) & set(used)
                for name, used in taken.items()
            ):
                break
            start += 1
        taken[slice.name] = wanted
        last = f"-{wanted[-1]}" if slice.spans > 1 else ""
        items.append(f"{slice.name}:{wanted[0]}{last}")
    return ",".join(items)
