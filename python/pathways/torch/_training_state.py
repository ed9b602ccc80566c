# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""State of training between PyTorch and arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from pathways._errors import InvalidArgument
from pathways._types import bf16, element_of
from pathways.torch._optimizers import Adam, Optimizer
from pathways.torch._training_program import COUNT_NAME, SEED_NAME

# The part of an optimizer's state that PyTorch does not have, and does not read.
EXTRA = "pathways"


def to_array(x: Any) -> Any:
    """Returns what a launch takes for a tensor: an array that shares its memory."""
    if not isinstance(x, torch.Tensor):
        return x
    x = x.detach()
    if x.dtype is torch.bfloat16:
        return bf16(x.contiguous().view(torch.int16).numpy().view(np.uint16))
    return x.numpy()


def to_tensor(x: Any) -> torch.Tensor:
    """Waits, then returns a tensor with the values of an array, such as a loss."""
    values = np.asarray(x)
    if getattr(x, "element", None) == "bf16" or element_of(values.dtype) == "bf16":
        return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
    if values.dtype == np.uint64:
        values = values.view(np.int64)
    return torch.from_numpy(values)


def export_optimizer(
    rules: Mapping[str, Optimizer], values: Mapping[str, torch.Tensor]
) -> dict[str, Any]:
    count = int(values[COUNT_NAME])
    state: dict[int, dict[str, Any]] = {}
    groups: dict[Optimizer, list[int]] = {}
    for i, (name, rule) in enumerate(rules.items()):
        groups.setdefault(rule, []).append(i)
        if count == 0:
            continue
        slots: dict[str, Any] = {slot: values[f"{name}:{slot}"] for slot in rule.states}
        if isinstance(rule, Adam):
            slots = {"step": torch.tensor(float(count)), **slots}
        if slots:
            state[i] = slots
    extra: dict[str, Any] = {"step": count}
    if SEED_NAME in values:
        extra["seed"] = int(values[SEED_NAME]) % (1 << 64)
    return {
        "state": state,
        "param_groups": [
            {**dataclasses.asdict(rule), "params": places}
            for rule, places in groups.items()
        ],
        EXTRA: extra,
    }


def import_optimizer(
    rules: Mapping[str, Optimizer], optimizer: Mapping[str, Any], order: Sequence[str]
) -> dict[str, Any]:
    """Returns the tensors of the state by name, and perhaps the seed. `order` are the
    names of the parameters in the order of the dictionary."""
    if "state" not in optimizer or "param_groups" not in optimizer:
        raise InvalidArgument("this is no state_dict() of an optimizer of torch.optim")
    places = [i for group in optimizer["param_groups"] for i in group["params"]]
    if len(places) != len(order):
        raise InvalidArgument(
            f"the state has {len(places)} parameters, the optimizer {len(order)}"
        )
    extra = optimizer.get(EXTRA, {})
    counts = {int(s["step"]) for s in optimizer["state"].values() if "step" in s}
    if len(counts) > 1:
        raise InvalidArgument(
            f"parameters were updated {sorted(counts)} times; a step updates all of them"
        )
    found = bool(optimizer["state"])
    count = int(extra.get("step", max(counts, default=int(found))))
    values: dict[str, Any] = {COUNT_NAME: torch.tensor(count)}
    if "seed" in extra:
        values[SEED_NAME] = int(extra["seed"])
    names = dict(zip(places, order))
    for place, name in names.items():
        rule = rules.get(name)
        slots = optimizer["state"].get(place, {})
        for slot in rule.states if rule is not None else ():
            value = slots.get(slot)
            if value is not None:
                values[f"{name}:{slot}"] = value
            elif count:
                raise InvalidArgument(f"the state of {name!r} lacks {slot!r}")
    return values
