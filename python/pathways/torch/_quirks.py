# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that PyTorch 1.13 gets wrong, or not at all, when nothing is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Numbers = (bool, int, float)


def number_dtype(values: Any) -> torch.dtype:
    """The dtype that a tensor of these numbers has."""
    if any(isinstance(value, float) for value in values):
        return torch.get_default_dtype()
    is_bool = all(isinstance(value, bool) for value in values)
    return torch.bool if is_bool else torch.int64


def adjusted(name: str, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Returns arguments with which the call gives what PyTorch gives otherwise."""
    if name == "aten.full.default" and kwargs.get("dtype") is None:
        kwargs = {**kwargs, "dtype": number_dtype(args[1:2])}
    elif name.startswith("aten.arange.") and kwargs.get("dtype") is None:
        kwargs = {**kwargs, "dtype": number_dtype([*args, 1])}
    elif name.startswith(("aten.var", "aten.std")) and not args[0].dim():
        # The dimensions of a scalar are 0 and -1.
        if len(args) > 1 and not isinstance(args[1], bool):
            args = (args[0], [], *args[2:])
    return args, kwargs


def with_tensors(func: Any, args: Any) -> Any:
    """Returns arguments with tensors in the places of numbers, where the schema of the
    overload has tensors."""
    types = [str(argument.type) for argument in func._schema.arguments]
    return tuple(
        torch.scalar_tensor(x, dtype=number_dtype([x]))
        if isinstance(x, Numbers) and type == "Tensor"
        else x
        for x, type in zip(args, types)
    )


def one_hot(x: torch.Tensor, num_classes: int = -1) -> Any:
    """PyTorch looks at the values, to see if they are in range."""
    if num_classes <= 0:
        return NotImplemented
    classes = torch.arange(num_classes, dtype=x.dtype)
    return (x.unsqueeze(-1) == classes).to(torch.int64)


def repeat_interleave(
    x: torch.Tensor, repeats: Any, dim: int | None = None, **_: Any
) -> Any:
    """PyTorch makes a tensor of a number, and a shape of its values."""
    if not isinstance(repeats, int):
        return NotImplemented
    if dim is None:
        x, dim = x.flatten(), 0
    dim %= max(x.dim(), 1)
    shape = list(x.shape)
    shape.insert(dim + 1, repeats)
    return x.unsqueeze(dim + 1).expand(shape).flatten(dim, dim + 1)


def prelu(x: torch.Tensor, weight: torch.Tensor) -> Any:
    """PyTorch fails to find the shape for a vector, which has no channels."""
    if x.dim() > 1 or weight.numel() != 1:
        return NotImplemented
    return torch.where(x > 0, x, x * weight.reshape(()))


def multinomial(
    p: torch.Tensor, num_samples: int, replacement: bool = False, **kwargs: Any
) -> Any:
    """PyTorch has no way to find the shape but to draw from zeros, which fails. Of
    exponential times with these rates, the first ones are drawn."""
    if kwargs.get("generator") is not None:
        return NotImplemented
    if replacement:
        shape = [*p.shape[:-1], num_samples, p.shape[-1]]
        spread = p.unsqueeze(-2).expand(shape)
        return (spread / torch.empty_like(spread).exponential_()).argmax(-1)
    return torch.topk(p / torch.empty_like(p).exponential_(), num_samples)[1]


def cdist(
    x: torch.Tensor, y: torch.Tensor, p: float = 2.0, compute_mode: Any = None
) -> Any:
    """The kernel of PyTorch takes no part of its own tracing."""
    return torch.linalg.vector_norm(x.unsqueeze(-2) - y.unsqueeze(-3), p, -1)


# Functions of PyTorch, by name, that are traced in another way. NotImplemented: as always.
INSTEAD: dict[str, Callable[..., Any]] = {
    "cdist": cdist,
    "multinomial": multinomial,
    "one_hot": one_hot,
    "prelu": prelu,
    "repeat_interleave": repeat_interleave,
}
