# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX, where JAX can be imported."""

from __future__ import annotations

import importlib
from typing import Any

from ._computation import Computation, call_bound
from ._errors import InvalidArgument, NotFound
from ._tensor_types import TensorType
from ._tree import leaves_of, map_leaves

# Names of elements that jax.numpy spells in another way than NumPy.
_NAMES = {"bf16": "bfloat16", "i1": "bool"}


def lower(computation: Computation, types: Any) -> tuple[str, Any]:
    """Returns the text of StableHLO for arguments of these types, and the tree of results
    as JAX returns it."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        raise NotFound(
            f"{computation.name} is a function of JAX, which cannot be imported here: "
            "install JAX, or export the text where JAX is, by jax.jit(f).lower(...)"
            ".as_text(debug_info=True), and give that to pw.computation"
        ) from None

    def shape(_: Any, leaf: Any) -> Any:
        if not isinstance(leaf, TensorType):
            return leaf
        name = _NAMES.get(leaf.element)
        if leaf.element in ("i64", "ui64", "f64") and not jax.config.jax_enable_x64:
            raise InvalidArgument(
                f"an argument of {computation.name} has elements of {leaf.element}, which "
                "JAX takes only after jax.config.update('jax_enable_x64', True)"
            )
        return jax.ShapeDtypeStruct(leaf.shape, jax.numpy.dtype(name or leaf.dtype.name))

    shapes = [leaf for _, leaf in leaves_of(map_leaves(types, shape)) if _is_shape(leaf)]
    returned: list[Any] = []

    def flat(*arrays: Any) -> list[Any]:
        # JAX sorts dictionaries: the order of arguments and results is ours.
        values = iter(arrays)
        named = map_leaves(
            types, lambda _, leaf: next(values) if isinstance(leaf, TensorType) else leaf
        )
        result = call_bound(computation.function, computation.signature, named)
        returned[:] = [map_leaves(result, lambda *_: True)]
        return [leaf for _, leaf in leaves_of(result)]

    # Without keep_unused the text would lack arguments that are not used.
    lowered = jax.jit(flat, keep_unused=True).lower(*shapes)
    return lowered.as_text(debug_info=True), returned[0]


def _is_shape(leaf: Any) -> bool:
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype")
