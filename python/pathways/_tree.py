# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trees of values: tuples, lists, named tuples and dictionaries, in any depth.

None has no leaf. A leaf has a path: the positions and keys on the way to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Path = tuple[Any, ...]


def leaves_of(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yields the leaves with their paths."""
    if tree is None:
        return
    if isinstance(tree, Mapping):
        for key, child in tree.items():
            yield from leaves_of(child, (*path, key))
    elif isinstance(tree, (tuple, list)):
        names: Sequence[Any] = getattr(tree, "_fields", range(len(tree)))
        for name, child in zip(names, tree):
            yield from leaves_of(child, (*path, name))
    else:
        yield path, tree


def map_leaves(tree: Any, change: Callable[[Path, Any], Any], path: Path = ()) -> Any:
    """Returns the tree with other leaves."""
    if tree is None:
        return None
    if isinstance(tree, Mapping):
        return {k: map_leaves(v, change, (*path, k)) for k, v in tree.items()}
    if isinstance(tree, (tuple, list)):
        names: Sequence[Any] = getattr(tree, "_fields", range(len(tree)))
        parts = [map_leaves(v, change, (*path, n)) for n, v in zip(names, tree)]
        if hasattr(tree, "_fields"):
            return type(tree)(*parts)
        return tuple(parts) if isinstance(tree, tuple) else parts
    return change(path, tree)


def path_name(path: Path) -> str:
    """Returns "state.w" or "layers.0.w"."""
    return ".".join(str(part) for part in path)


def result_name(path: Path) -> str:
    """Returns the name of a result: a key of a dictionary, else result0, result1, ..."""
    if path and isinstance(path[0], str):
        return path_name(path)
    return path_name((f"result{path[0] if path else 0}", *path[1:]))
