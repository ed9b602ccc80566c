# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pathways._stablehlo import Value
from pathways.torch._registry import Context, is_float, lowers

Number = bool | int | float
Operand = Value | bool | int | float

# Operations of one operand that are one of StableHLO, with the same element.
_SAME = {
    "neg": "negate",
    "ceil": "ceil",
    "floor": "floor",
    "bitwise_not": "not",
}


@lowers("aten.add", "aten.sub", "aten.rsub")
def add(c: Context, x: Operand, y: Operand, alpha: Number = 1) -> Value:
    name = c.name.split(".")[1]
    if name == "rsub":
        x, y = y, x
    element = c.promote(x, y)
    wide = c.wide(element) if alpha != 1 or not both(x, y) else element
    a, b = c.operands(wide, x, y)
    if alpha != 1:
        b = c.f.binary("multiply", b, c.like(alpha, b))
    return c.convert(c.f.binary("add" if name == "add" else "subtract", a, b), element)


def both(x: Operand, y: Operand) -> bool:
    return isinstance(x, Value) and isinstance(y, Value)


@lowers("aten.mul")
def mul(c: Context, x: Operand, y: Operand) -> Value:
    element = c.promote(x, y)
    a, b = c.operands(element if both(x, y) else c.wide(element), x, y)
    return c.convert(c.f.binary("multiply", a, b), element)


@lowers("aten.relu")
def relu(c: Context, x: Value) -> Value:
    return c.f.binary("maximum", x, c.like(0, x))
