# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formulas over Values: operators add operations, and numbers become constants."""

from __future__ import annotations

from pathways._stablehlo import Value
from pathways.torch._registry import Context

Number = bool | int | float


class Term:
    """A Value in a formula. Both operands of an operator have one type."""

    __slots__ = ("c", "v")

    def __init__(self, c: Context, v: Value) -> None:
        self.c, self.v = c, v

    def term(self, other: Term | Number) -> Term:
        if isinstance(other, Term):
            return other
        return Term(self.c, self.c.like(other, self.v))

    def _binary(self, name: str, x: Term, y: Term) -> Term:
        return Term(self.c, self.c.f.binary(name, x.v, y.v))

    def _compare(self, direction: str, y: Term | Number) -> Term:
        return Term(self.c, self.c.f.compare(direction, self.v, self.term(y).v))

    def __add__(self, y: Term | Number) -> Term:
        return self._binary("add", self, self.term(y))

    def __radd__(self, y: Number) -> Term:
        return self._binary("add", self.term(y), self)

    def __sub__(self, y: Term | Number) -> Term:
        return self._binary("subtract", self, self.term(y))

    def __rsub__(self, y: Number) -> Term:
        return self._binary("subtract", self.term(y), self)

    def __mul__(self, y: Term | Number) -> Term:
        return self._binary("multiply", self, self.term(y))

    def __rmul__(self, y: Number) -> Term:
        return self._binary("multiply", self.term(y), self)

    def __truediv__(self, y: Term | Number) -> Term:
        return self._binary("divide", self, self.term(y))

    def __rtruediv__(self, y: Number) -> Term:
        return self._binary("divide", self.term(y), self)

    def __mod__(self, y: Term | Number) -> Term:
        """The remainder with the sign of the first operand, as fmod."""
        return self._binary("remainder", self, self.term(y))

    def __pow__(self, y: Term | Number) -> Term:
        return self._binary("power", self, self.term(y))

    def __neg__(self) -> Term:
        return self.call("negate")

    def __and__(self, y: Term) -> Term:
        return self._binary("and", self, y)

    def __or__(self, y: Term) -> Term:
        return self._binary("or", self, y)

    def __xor__(self, y: Term) -> Term:
        return self._binary("xor", self, y)

    def __invert__(self) -> Term:
        return self.call("not")

    def __lt__(self, y: Term | Number) -> Term:
        return self._compare("LT", y)

    def __le__(self, y: Term | Number) -> Term:
        return self._compare("LE", y)

    def __gt__(self, y: Term | Number) -> Term:
        return self._compare("GT", y)

    def __ge__(self, y: Term | Number) -> Term:
        return self._compare("GE", y)

    def equals(self, y: Term | Number) -> Term:
        return self._compare("EQ", y)

    def differs(self, y: Term | Number) -> Term:
        return self._compare("NE", y)

    def is_nan(self) -> Term:
        return self.differs(self)

    def call(self, name: str) -> Term:
        """An operation of StableHLO with one operand."""
        return Term(self.c, self.c.f.unary(name, self.v))

    def chlo(self, name: str) -> Term:
        return Term(self.c, self.c.f.chlo(name, self.v))

    def abs(self) -> Term:
        is_unsigned = self.v.element == "i1" or self.v.element.startswith("u")
        return self if is_unsigned else self.call("abs")

    def exp(self) -> Term:
        return self.call("exponential")

    def log(self) -> Term:
        return self.call("log")

    def sigmoid(self) -> Term:
        return self.call("logistic")

    def tanh(self) -> Term:
        return self.call("tanh")

    def trunc(self) -> Term:
        return (self < 0).select(self.call("ceil"), self.call("floor"))

    def max(self, y: Term | Number) -> Term:
        return self._binary("maximum", self, self.term(y))

    def min(self, y: Term | Number) -> Term:
        return self._binary("minimum", self, self.term(y))

    def select(self, x: Term | Number, y: Term | Number) -> Term:
        """This is a condition. At least one of the operands is a Term."""
        if isinstance(x, Term):
            y = x.term(y)
        else:
            assert isinstance(y, Term)
            x = y.term(x)
        return Term(self.c, self.c.f.select(self.v, x.v, y.v))

    def to(self, element: str) -> Term:
        return Term(self.c, self.c.convert(self.v, element))


def terms(c: Context, element: str, *operands: Value | Number) -> list[Term]:
    """Converts operands to `element` and broadcasts them."""
    return [Term(c, v) for v in c.operands(element, *operands)]


def wide_terms(c: Context, element: str, *operands: Value | Number) -> list[Term]:
    """Converts operands to `element`, as PyTorch does, then to what a kernel computes in,
    and broadcasts them."""
    wide = c.wide(element)
    return [Term(c, c.convert(v, wide)) for v in c.operands(element, *operands)]
