# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers of training steps: SGD, Adam and AdamW.

They compute what torch.optim computes, and their state has the names that it has there.
The count of steps is one number for all parameters.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch

from pathways._stablehlo import Function, Value
from pathways.torch.ops._parts import add, divide, full, multiply, scale, subtract, wide

PER_STEP = "per step"


@dataclasses.dataclass(frozen=True)
class Optimizer:
    """What updates parameters. `lr` is a number, or "per step": then the step takes it as
    an argument `lr`, a number of f32."""

    lr: float | str
    weight_decay: float = 0.0
    maximize: bool = False

    # The class of torch.optim that computes the same.
    peer: ClassVar[type[torch.optim.Optimizer]] = torch.optim.Optimizer

    def __post_init__(self) -> None:
        if isinstance(self.lr, str):
            if self.lr != PER_STEP:
                raise ValueError(f'lr is a number or "{PER_STEP}", not "{self.lr}"')
        elif not self.lr >= 0:
            raise ValueError(f"lr is {self.lr}, expected a number from 0")
        if not self.weight_decay >= 0:
            raise ValueError(
                f"weight_decay is {self.weight_decay}, expected a number from 0"
            )

    @property
    def states(self) -> Sequence[str]:
        """The names of the tensors that each parameter has."""
        return ()

    def scalars(self, f: Function, count: Value, lr: Value) -> dict[str, Value]:
        """What depends on the number of the step alone. `count` is that number, from 1,
        and `lr` the learning rate, both f64."""
        return {"lr": lr}

    def update(
        self, f: Function, p: Value, g: Value, state: list[Value], s: Mapping[str, Value]
    ) -> tuple[Value, list[Value]]:
        """Returns the new parameter and the new state, from a gradient."""
        raise NotImplementedError


def _times(f: Function, x: Value, number: Value) -> Value:
    """Multiplies with a scalar of f64."""
    return multiply(f, x, f.broadcast(f.convert(number, x.element), x.shape))


def _mix(f: Function, old: Value, new: Value, keep: float) -> Value:
    return add(f, scale(f, old, keep), scale(f, new, 1 - keep))


@dataclasses.dataclass(frozen=True)
class SGD(Optimizer):
    """Stochastic gradient descent, with options as in torch.optim.SGD."""

    momentum: float = 0.0
    dampening: float = 0.0
    nesterov: bool = False
    peer: ClassVar[type[torch.optim.Optimizer]] = torch.optim.SGD

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.momentum >= 0:
            raise ValueError(f"momentum is {self.momentum}, expected a number from 0")
        if self.nesterov and (self.momentum <= 0 or self.dampening != 0):
            raise ValueError("nesterov needs a momentum and no dampening")

    @property
    def states(self) -> Sequence[str]:
        return ("momentum_buffer",) if self.momentum else ()

    def scalars(self, f: Function, count: Value, lr: Value) -> dict[str, Value]:
        # The first step keeps all of the gradient.
        is_first = f.compare("EQ", count, full(f, count, 1))
        gain = f.select(is_first, full(f, count, 1), full(f, count, 1 - self.dampening))
        return {"lr": lr, "gain": gain}

    def update(
        self, f: Function, p: Value, g: Value, state: list[Value], s: Mapping[str, Value]
    ) -> tuple[Value, list[Value]]:
        if self.maximize:
            g = f.unary("negate", g)
        if self.weight_decay:
            g = add(f, g, scale(f, p, self.weight_decay))
        if self.momentum:
            gain = g if self.dampening == 0 else _times(f, g, s["gain"])
            buffer = add(f, scale(f, state[0], self.momentum), gain)
            g = add(f, g, scale(f, buffer, self.momentum)) if self.nesterov else buffer
            state = [buffer]
        return subtract(f, p, _times(f, g, s["lr"])), state


@dataclasses.dataclass(frozen=True)
class Adam(Optimizer):
    """Adam, with options as in torch.optim.Adam."""

    lr: float | str = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    amsgrad: bool = False
    peer: ClassVar[type[torch.optim.Optimizer]] = torch.optim.Adam

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas are {self.betas}, expected two numbers from 0 to 1")
        if not self.eps >= 0:
            raise ValueError(f"eps is {self.eps}, expected a number from 0")

    @property
    def states(self) -> Sequence[str]:
        names = ("exp_avg", "exp_avg_sq")
        return (*names, "max_exp_avg_sq") if self.amsgrad else names

    def scalars(self, f: Function, count: Value, lr: Value) -> dict[str, Value]:
        rest = [
            subtract(f, full(f, count, 1), f.binary("power", full(f, count, beta), count))
            for beta in self.betas
        ]
        return {
            "lr": lr,
            "rate": divide(f, lr, rest[0]),
            "root": f.unary("sqrt", rest[1]),
            "decay": subtract(f, full(f, lr, 1), scale(f, lr, self.weight_decay)),
        }

    def decayed(
        self, f: Function, p: Value, g: Value, s: Mapping[str, Value]
    ) -> tuple[Value, Value]:
        """The parameter and the gradient with the decay of weights."""
        return p, add(f, g, scale(f, p, self.weight_decay))

    def update(
        self, f: Function, p: Value, g: Value, state: list[Value], s: Mapping[str, Value]
    ) -> tuple[Value, list[Value]]:
        if self.maximize:
            g = f.unary("negate", g)
        if self.weight_decay:
            p, g = self.decayed(f, p, g, s)
        average = _mix(f, state[0], g, self.betas[0])
        square = _mix(f, state[1], multiply(f, g, g), self.betas[1])
        after, greatest = [average, square], square
        if self.amsgrad:
            greatest = f.binary("maximum", square, state[2])
            after.append(greatest)
        root = f.broadcast(f.convert(s["root"], p.element), p.shape)
        size = divide(f, f.unary("sqrt", greatest), root)
        step = divide(f, average, add(f, size, full(f, size, self.eps)))
        return subtract(f, p, _times(f, step, s["rate"])), after


@dataclasses.dataclass(frozen=True)
class AdamW(Adam):
    """Adam with a decay of weights that does not go through the gradient, with options as
    in torch.optim.AdamW."""

    weight_decay: float = 1e-2
    peer: ClassVar[type[torch.optim.Optimizer]] = torch.optim.AdamW

    def decayed(
        self, f: Function, p: Value, g: Value, s: Mapping[str, Value]
    ) -> tuple[Value, Value]:
        return _times(f, p, s["decay"]), g


# Options of torch.optim that only say how it computes.
_IGNORED = {"foreach", "fused", "capturable", "params", "initial_lr"}


def _of_group(kind: type[Optimizer], group: Mapping[str, Any]) -> Optimizer:
    fields = {field.name for field in dataclasses.fields(kind)}
    options = {}
    for name, value in group.items():
        if name in fields:
            options[name] = float(value) if isinstance(value, torch.Tensor) else value
        elif name == "differentiable" and not value:
            continue
        elif name not in _IGNORED:
            raise ValueError(
                f"the option {name}={value!r} of torch.optim.{kind.peer.__name__} is not "
                f"supported; options are {', '.join(sorted(fields))}"
            )
    return kind(**options)


def as_optimizers(
    optimizer: Optimizer | torch.optim.Optimizer,
    parameters: Mapping[str, torch.nn.Parameter],
) -> dict[str, Optimizer]:
    """Returns the optimizer of each parameter that has one.

    Raises TypeError for what is no optimizer, or one that calls a closure, and ValueError
    for options that are not supported.
    """
    if isinstance(optimizer, Optimizer):
        return {name: optimizer for name, p in parameters.items() if p.requires_grad}
    own: tuple[type[Optimizer], ...] = (SGD, Adam, AdamW)
    kinds = {kind.peer: kind for kind in own}
    names = ", ".join(f"torch.optim.{peer.__name__}" for peer in kinds)
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(
            f"the optimizer is a {type(optimizer).__name__}, expected pathways.torch.SGD, "
            f"Adam or AdamW, or one of {names}"
        )
    if type(optimizer) not in kinds:
        raise TypeError(
            f"the optimizer torch.optim.{type(optimizer).__name__} is not supported: its "
            f"step calls a closure or has rules of its own; use one of {names}"
        )
    of_id = {id(p): name for name, p in parameters.items()}
    found: dict[str, Optimizer] = {}
    for group in optimizer.param_groups:
        rule = _of_group(kinds[type(optimizer)], group)
        for p in group["params"]:
            if id(p) not in of_id:
                raise ValueError(
                    f"the optimizer has a parameter of shape {tuple(p.shape)} that is not "
                    "one of the module"
                )
            if p.requires_grad:
                found[of_id[id(p)]] = rule
    return {name: found[name] for name in parameters if name in found}



def apply(
    f: Function,
    rule: Optimizer,
    p: Value,
    g: Value,
    state: Sequence[Value],
    scalars: Mapping[str, Value],
) -> tuple[Value, list[Value]]:
    """Updates in f32 what has f16 or bf16."""
    exact = wide(p.element)
    old = [f.convert(v, exact) for v in state]
    new, after = rule.update(f, f.convert(p, exact), f.convert(g, exact), old, scalars)
    return f.convert(new, p.element), [f.convert(v, p.element) for v in after]


