# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on each element: arithmetic, comparisons, logic and choices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pathways._stablehlo import Value
from pathways.torch._registry import Context, is_float, lowers
from pathways.torch._terms import Term, terms, wide_terms

Number = bool | int | float
Operand = Value | bool | int | float


def enter(formula: Callable[..., Any], names: str) -> None:
    lowers(*("aten." + name for name in names.split()))(formula)


# These operations have one operand and compute floats.


def float_formula(formula: Callable[[Term], Term]) -> Callable[[Context, Value], Value]:
    """An operation that computes floats, also of integers."""

    def lower(c: Context, x: Value) -> Value:
        element = c.to_float(x.element)
        (t,) = terms(c, c.wide(element), x)
        return c.convert(formula(t).v, element)

    return lower


for _name, _formula in {
    "exp": Term.exp,
    "exp2": lambda x: x.term(2) ** x,
    "expm1": lambda x: x.call("exponential_minus_one"),
    "log": Term.log,
    "log2": lambda x: x.log() * (1 / math.log(2)),
    "log10": lambda x: x.log() * (1 / math.log(10)),
    "log1p": lambda x: x.call("log_plus_one"),
    "sqrt": lambda x: x.call("sqrt"),
    "rsqrt": lambda x: x.call("rsqrt"),
    "sin": lambda x: x.call("sine"),
    "cos": lambda x: x.call("cosine"),
    "tan": lambda x: x.call("tan"),
    "asin": lambda x: x.chlo("asin"),
    "acos": lambda x: x.chlo("acos"),
    "atan": lambda x: x.chlo("atan"),
    "sinh": lambda x: x.chlo("sinh"),
    "cosh": lambda x: x.chlo("cosh"),
    "tanh": Term.tanh,
    "asinh": lambda x: x.chlo("asinh"),
    "acosh": lambda x: x.chlo("acosh"),
    "atanh": lambda x: x.chlo("atanh"),
    "sigmoid": Term.sigmoid,
    "erf": lambda x: x.chlo("erf"),
    "erfc": lambda x: x.chlo("erfc"),
    "erfinv special_erfinv": lambda x: x.chlo("erf_inv"),
    "lgamma": lambda x: x.chlo("lgamma"),
    # The digamma function of 0 is infinite in PyTorch, with the sign of -0.
    "digamma": lambda x: x.equals(0).select(-1 / x, x.chlo("digamma")),
    "reciprocal": lambda x: 1 / x,
    "deg2rad": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "sinc": lambda x: x.equals(0).select(1, (x * math.pi).call("sine") / (x * math.pi)),
}.items():
    enter(float_formula(_formula), _name)


@lowers("aten.logit")
def logit(c: Context, x: Value, eps: float | None = None) -> Value:
    element = c.to_float(x.element)
    (t,) = terms(c, c.wide(element), x)
    if eps is not None:
        t = t.max(eps).min(1 - eps)
    return c.convert((t / (1 - t)).log().v, element)


@lowers("aten.logit_backward")
def logit_backward(
    c: Context, gradient: Value, x: Value, eps: float | None = None
) -> Value:
    g, t = wide_terms(c, c.result.element, gradient, x)
    low, high, outside = (0.0, 1.0, math.nan) if eps is None else (eps, 1 - eps, 0.0)
    slope = ((t < low) | (t > high)).select(outside, g / (t * (1 - t)))
    return c.convert(slope.v, c.result.element)


@lowers("aten.polygamma")
def polygamma(c: Context, n: int, x: Value) -> Value:
    element = c.to_float(x.element)
    if n == 0:
        return c.f.chlo("digamma", c.convert(x, element))
    y = c.convert(x, c.wide(element))
    return c.convert(c.f.chlo("polygamma", c.like(n, y), y), element)


# These operations have one operand of any element type.


@lowers("aten.neg")
def neg(c: Context, x: Value) -> Value:
    return c.f.unary("negate", x)


@lowers("aten.abs")
def absolute(c: Context, x: Value) -> Value:
    return Term(c, x).abs().v


@lowers("aten.sign", "aten.sgn")
def sign(c: Context, x: Value) -> Value:
    if x.element == "i1":
        return x
    if x.element.startswith("u"):
        return Term(c, x).min(1).v
    # The sign of a NaN is 0 in PyTorch.
    t = Term(c, x)
    s = t.call("sign")
    return (t.is_nan().select(0, s) if is_float(x.element) else s).v


@lowers("aten.ceil", "aten.floor", "aten.trunc", "aten.fix", "aten.round.default")
def rounded(c: Context, x: Value) -> Value:
    if not is_float(x.element):
        return x
    name = c.name.split(".")[1]
    if name in ("trunc", "fix"):
        return Term(c, x).trunc().v
    return c.f.unary("round_nearest_even" if name == "round" else name, x)


@lowers("aten.round.decimals")
def round_decimals(c: Context, x: Value, *, decimals: int) -> Value:
    if not is_float(x.element):
        return x
    (t,) = terms(c, c.wide(x.element), x)
    scale = 10.0 ** abs(decimals)
    if decimals < 0:
        t = (t / scale).call("round_nearest_even") * scale
    else:
        t = (t * scale).call("round_nearest_even") / scale
    return c.convert(t.v, x.element)


@lowers("aten.frac")
def frac(c: Context, x: Value) -> Value:
    t = Term(c, x)
    return (t - t.trunc()).v


@lowers("aten.square")
def square(c: Context, x: Value) -> Value:
    return (Term(c, x) * Term(c, x)).v


@lowers("aten.isnan")
def isnan(c: Context, x: Value) -> Value:
    if not is_float(x.element):
        return c.constant(False, "i1", x.shape)
    return Term(c, x).is_nan().v


@lowers("aten.isinf", "aten.isposinf", "aten.isneginf")
def isinf(c: Context, x: Value) -> Value:
    if not is_float(x.element):
        return c.constant(False, "i1", x.shape)
    name = c.name.split(".")[1]
    t = Term(c, x).abs() if name == "isinf" else Term(c, x)
    return t.equals(-math.inf if name == "isneginf" else math.inf).v


@lowers("aten.isfinite")
def isfinite(c: Context, x: Value) -> Value:
    if not is_float(x.element):
        return c.constant(True, "i1", x.shape)
    return (Term(c, x).abs() < math.inf).v


@lowers("aten.signbit")
def signbit(c: Context, x: Value) -> Value:
    if x.element == "i1" or x.element.startswith("u"):
        return c.constant(False, "i1", x.shape)
    return negative(Term(c, x)).v


def negative(t: Term) -> Term:
    """True where the sign bit is set."""
    if not is_float(t.v.element):
        return t < 0
    bits = {"f16": "i16", "bf16": "i16", "f32": "i32", "f64": "i64"}[t.v.element]
    return Term(t.c, t.c.f.bitcast(t.v, t.v.type.with_element(bits))) < 0


FLOAT_MAX = {
    "f16": 65504.0,
    "bf16": 3.3895313892515355e38,
    "f32": 3.4028234663852886e38,
    "f64": 1.7976931348623157e308,
}


@lowers("aten.nan_to_num")
def nan_to_num(
    c: Context,
    x: Value,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Value:
    if not is_float(x.element):
        return x
    t = Term(c, x)
    highest = FLOAT_MAX[x.element]
    t = t.is_nan().select(nan or 0.0, t)
    t = t.equals(math.inf).select(highest if posinf is None else posinf, t)
    return t.equals(-math.inf).select(-highest if neginf is None else neginf, t).v


@lowers(
    "aten.clone",
    "aten.detach",
    "aten.alias",
    "aten.lift_fresh_copy",
    "aten.lift_fresh",
    "aten.lift",
    "aten.positive",
    "aten.contiguous",
    "aten.detach_copy",
    "aten.alias_copy",
)
def identity(c: Context, x: Value) -> Value:
    return x


@lowers("aten._to_copy")
def to_copy(c: Context, x: Value, *, dtype: Any = None) -> Value:
    return c.convert(x, c.result.element)


@lowers("aten.type_as", "aten.to")
def to(c: Context, x: Value, *_: Any, **__: Any) -> Value:
    return c.convert(x, c.result.element)


@lowers("aten.copy")
def copy(c: Context, x: Value, source: Value, non_blocking: bool = False) -> Value:
    return c.expand(c.convert(source, x.element), x.shape)


@lowers("aten.fill")
def fill(c: Context, x: Value, value: Operand) -> Value:
    return c.expand(c.cast(value, x.element), x.shape)


@lowers("aten.zero")
def zero(c: Context, x: Value) -> Value:
    return c.like(0, x)


# Arithmetic.


@lowers(
    "aten.add.Tensor", "aten.add.Scalar", "aten.sub.Tensor", "aten.sub.Scalar", "aten.rsub"
)
def add(c: Context, x: Operand, y: Operand, alpha: Number = 1) -> Value:
    name = c.name.split(".")[1]
    element = c.promote(x, y)
    a, b = terms(c, element, x, y) if alpha == 1 else wide_terms(c, element, x, y)
    if name == "rsub":
        a, b = b, a
    if alpha != 1:
        (factor,) = wide_terms(c, element, alpha)
        b = b * Term(c, c.expand(factor.v, b.v.shape))
    return c.convert((a + b if name == "add" else a - b).v, element)


@lowers("aten.mul.Tensor", "aten.mul.Scalar")
def mul(c: Context, x: Operand, y: Operand) -> Value:
    element = c.promote(x, y)
    a, b = terms(c, element, x, y)
    return (a * b).v


@lowers(
    "aten.div.Tensor",
    "aten.div.Scalar",
    "aten.div.Tensor_mode",
    "aten.div.Scalar_mode",
    "aten.true_divide",
    "aten.floor_divide",
)
def div(c: Context, x: Operand, y: Operand, *, rounding_mode: str | None = None) -> Value:
    if c.name.startswith("aten.floor_divide"):
        rounding_mode = "floor"
    element = c.promote(x, y)
    if rounding_mode is None:
        a, b = terms(c, c.to_float(element), x, y)
        return (a / b).v
    a, b = wide_terms(c, element, x, y)
    if not is_float(element):
        return (a / b if rounding_mode == "trunc" else floor_quotient(a, b)).v
    if rounding_mode == "trunc":
        return c.convert((a / b).trunc().v, element)
    return c.convert(float_floor_quotient(a, b).v, element)


def floor_quotient(a: Term, b: Term) -> Term:
    if a.v.element.startswith("u"):
        return a / b
    rest = a % b
    is_below = rest.differs(0) & ((rest < 0) ^ (b < 0))
    return is_below.select(a / b - 1, a / b)


def float_floor_quotient(a: Term, b: Term) -> Term:
    """The quotient as Python rounds it: it is not the rounded quotient if that is just
    below a whole number."""
    rest = a % b
    quotient = (a - rest) / b
    is_below = rest.differs(0) & ((rest < 0) ^ (b < 0))
    quotient = is_below.select(quotient - 1, quotient)
    whole = quotient.call("floor")
    whole = (quotient - whole > 0.5).select(whole + 1, whole)
    whole = quotient.equals(0).select(a / b * 0, whole)
    return b.equals(0).select(a / b, whole)


@lowers("aten.remainder", "aten.fmod")
def remainder(c: Context, x: Operand, y: Operand) -> Value:
    element = c.promote(x, y)
    a, b = wide_terms(c, element, x, y)
    rest = a % b
    if c.name.startswith("aten.remainder") and not element.startswith("u"):
        rest = (rest.differs(0) & ((rest < 0) ^ (b < 0))).select(rest + b, rest)
    return c.convert(rest.v, element)


@lowers("aten.pow", "aten.float_power")
def power(c: Context, x: Operand, y: Operand) -> Value:
    element = c.result.element
    wide = c.wide(element)
    if isinstance(x, Value) and not isinstance(y, Value):
        (t,) = terms(c, wide, x)
        known: dict[Number, Callable[[], Term]] = {
            0: lambda: t.term(1),
            1: lambda: t,
            2: lambda: t * t,
            3: lambda: t * t * t,
        }
        if is_float(element):
            known |= {
                0.5: lambda: t.call("sqrt"),
                -0.5: lambda: t.call("rsqrt"),
                -1: lambda: 1 / t,
                -2: lambda: 1 / (t * t),
            }
        elif y < 0:
            c.error(f"integers to the power of {y} are no integers")
        if y in known:
            return c.convert(known[y]().v, element)
    a, b = terms(c, wide, x, y)
    return c.convert((a**b).v, element)


def binary_formula(
    formula: Callable[[Term, Term], Term], is_floating: bool = False
) -> Callable[[Context, Operand, Operand], Value]:
    def lower(c: Context, x: Operand, y: Operand) -> Value:
        element = c.promote(x, y)
        if is_floating:
            element = c.to_float(element)
        a, b = wide_terms(c, element, x, y)
        return c.convert(formula(a, b).v, element)

    return lower


def logaddexp(a: Term, b: Term, base: float = math.e) -> Term:
    high, low = a.max(b), a.min(b)
    difference = (low - high) * math.log(base)
    sum = high + difference.exp().call("log_plus_one") * (1 / math.log(base))
    return (a.equals(b) & a.abs().equals(math.inf)).select(a, sum)


def hypot(a: Term, b: Term) -> Term:
    high, low = a.abs().max(b.abs()), a.abs().min(b.abs())
    ratio = low / high
    length = high * (1 + ratio * ratio).call("sqrt")
    is_infinite = a.abs().equals(math.inf) | b.abs().equals(math.inf)
    return is_infinite.select(math.inf, high.equals(0).select(high, length))


def copysign(a: Term, b: Term) -> Term:
    return (negative(a) ^ negative(b)).select(-a, a)


def xlogy(a: Term, b: Term) -> Term:
    return b.is_nan().select(b, a.equals(0).select(0, a * b.log()))


_TWO: tuple[tuple[str, Callable[[Term, Term], Term], bool], ...] = (
    ("maximum max.other", Term.max, False),
    ("minimum min.other", Term.min, False),
    ("fmax", lambda a, b: a.is_nan().select(b, b.is_nan().select(a, a.max(b))), False),
    ("fmin", lambda a, b: a.is_nan().select(b, b.is_nan().select(a, a.min(b))), False),
    ("atan2", lambda a, b: Term(a.c, a.c.f.binary("atan2", a.v, b.v)), True),
    ("hypot", hypot, False),
    ("copysign", copysign, True),
    ("xlogy special_xlogy", xlogy, True),
    ("logaddexp", logaddexp, True),
    ("logaddexp2", lambda a, b: logaddexp(a, b, 2.0), True),
    (
        "heaviside",
        lambda a, b: a.equals(0).select(b, (a > 0).to(a.v.element)),
        False,
    ),
)
for _name, _two, _is_floating in _TWO:
    enter(binary_formula(_two, _is_floating), _name)


@lowers("aten.nextafter")
def nextafter(c: Context, x: Value, y: Value) -> Value:
    a, b = c.operands(c.promote(x, y), x, y)
    return c.f.chlo("next_after", a, b)


@lowers("aten.lerp")
def lerp(c: Context, x: Value, y: Value, weight: Operand) -> Value:
    a, b, w = wide_terms(c, x.element, x, y, weight)
    near, far = a + w * (b - a), b - (b - a) * (1 - w)
    return c.convert((w.abs() < 0.5).select(near, far).v, x.element)


@lowers("aten.addcmul", "aten.addcdiv")
def addc(c: Context, x: Value, a: Value, b: Value, *, value: Number = 1) -> Value:
    element = c.promote(x, a, b)
    s, p, q = wide_terms(c, element, x, a, b)
    if value != 1:
        p = p * value
    return c.convert((s + (p * q if "addcmul" in c.name else p / q)).v, element)


# Comparisons and logic.

_DIRECTIONS = {
    "eq": "EQ",
    "ne": "NE",
    "lt": "LT",
    "le": "LE",
    "gt": "GT",
    "ge": "GE",
    "not_equal": "NE",
    "less": "LT",
    "less_equal": "LE",
    "greater": "GT",
    "greater_equal": "GE",
}


@lowers(*(f"aten.{name}.{kind}" for name in _DIRECTIONS for kind in ("Tensor", "Scalar")))
def compare(c: Context, x: Operand, y: Operand) -> Value:
    a, b = c.operands(c.promote(x, y), x, y)
    return c.f.compare(_DIRECTIONS[c.name.split(".")[1]], a, b)


@lowers("aten.logical_not")
def logical_not(c: Context, x: Value) -> Value:
    return c.f.unary("not", c.convert(x, "i1"))


@lowers("aten.bitwise_not")
def bitwise_not(c: Context, x: Value) -> Value:
    return c.f.unary("not", x)


@lowers("aten.logical_and", "aten.logical_or", "aten.logical_xor")
def logical(c: Context, x: Value, y: Value) -> Value:
    a, b = c.broadcast(c.convert(x, "i1"), c.convert(y, "i1"))
    return c.f.binary(c.name.split(".")[1].removeprefix("logical_"), a, b)


_BITS = {
    "bitwise_and": "and",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
    "__and__": "and",
    "__or__": "or",
    "__xor__": "xor",
    "bitwise_left_shift": "shift_left",
    "__lshift__": "shift_left",
    "bitwise_right_shift": "shift_right_arithmetic",
    "__rshift__": "shift_right_arithmetic",
}


@lowers(*("aten." + name for name in _BITS))
def bitwise(c: Context, x: Operand, y: Operand) -> Value:
    element = c.promote(x, y)
    if is_float(element):
        c.error("floats have no bits to combine")
    name = _BITS[c.name.split(".")[1]]
    if name == "shift_right_arithmetic" and element.startswith("u"):
        name = "shift_right_logical"
    a, b = c.operands(element, x, y)
    return c.f.binary(name, a, b)


# Choices.


@lowers("aten.where")
def where(c: Context, condition: Value, x: Operand, y: Operand) -> Value:
    element = c.result.element
    mask = c.convert(condition, "i1")
    p, a, b = c.broadcast(mask, c.cast(x, element), c.cast(y, element))
    return c.f.select(p, a, b)


@lowers("aten.masked_fill")
def masked_fill(c: Context, x: Value, mask: Value, value: Operand) -> Value:
    p, a, b = c.broadcast(c.convert(mask, "i1"), x, c.cast(value, x.element))
    return c.f.select(p, b, a)


@lowers("aten.clamp", "aten.clip")
def clamp(
    c: Context, x: Value, low: Operand | None = None, high: Operand | None = None
) -> Value:
    element = c.result.element
    limits = [limit for limit in (low, high) if limit is not None]
    t, *bounds = terms(c, element, x, *limits)
    if low is not None:
        t = t.max(bounds.pop(0))
    return t.min(bounds[0]).v if high is not None else t.v


@lowers("aten.clamp_min")
def clamp_min(c: Context, x: Value, low: Operand) -> Value:
    t, bound = terms(c, c.result.element, x, low)
    return t.max(bound).v


@lowers("aten.clamp_max")
def clamp_max(c: Context, x: Value, high: Operand) -> Value:
    t, bound = terms(c, c.result.element, x, high)
    return t.min(bound).v
