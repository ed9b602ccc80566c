# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that only our graphs have. They are never called: they name lowerings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def _never(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("this operation only stands in graphs")


def strided_view(x: Any, strides: Any, size: Any, stride: Any, offset: int) -> Any:
    """A view of `x`, which has `strides` in memory, as as_strided makes it."""
    return _never()


def strided_scatter(
    x: Any, value: Any, strides: Any, size: Any, stride: Any, offset: int
) -> Any:
    """`x` with `value` in the place of strided_view."""
    return _never()


def batch_norm(*args: Any) -> Any:
    """native_batch_norm in training mode, with the new running mean and variance as
    results 3 and 4."""
    return _never()


strided_view.lowering_name = "pathways.strided_view.default"  # type: ignore[attr-defined]
strided_scatter.lowering_name = (  # type: ignore[attr-defined]
    "pathways.strided_scatter.default"
)
# The name of this operation in PyTorch 2.
batch_norm.lowering_name = (  # type: ignore[attr-defined]
    "aten._native_batch_norm_legit_functional.default"
)

aten: Any = torch.ops.aten  # type: ignore[attr-defined]

# In-place overloads whose other form has another name.
IN_PLACE: dict[str, Callable[..., Any]] = {
    "aten.bernoulli_.float": aten.bernoulli.p,
    "aten.normal_.default": aten.normal_functional.default,
}
