# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ufuncs as operations of StableHLO.

Each entry of ELEMENTWISE gets a Function, operands of one shape with the types of the
loop of NumPy, and these types (inputs, then outputs). What it returns is converted to
the types of the outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._stablehlo import BITS, FLOATS, UNSIGNED, Function, Value
from ._elements import DType, element_of

Emit = Callable[[Function, Sequence[Value], Sequence[DType]], Any]


def like(f: Function, number: Any, x: Value) -> Value:
    return f.constant(number, x.element, x.shape)


def is_float(x: Value) -> bool:
    return x.element in FLOATS


def is_nan(f: Function, x: Value) -> Value:
    return f.compare("NE", x, x) if is_float(x) else f.constant(False, "i1", x.shape)


def is_negative(f: Function, x: Value) -> Value:
    return f.compare("LT", x, like(f, 0, x))


def as_bool(f: Function, x: Value) -> Value:
    return x if x.element == "i1" else f.compare("NE", x, like(f, 0, x))


def sign_bit(f: Function, x: Value) -> Value:
    """True for negative numbers, -0 and NaNs with the sign."""
    if not is_float(x):
        return is_negative(f, x)
    bits = f.bitcast(x, x.type.with_element(f"i{BITS[x.element]}"))
    return is_negative(f, bits)


def with_sign(f: Function, x: Value, sign: Value) -> Value:
    size = f.unary("abs", x)
    return f.select(sign_bit(f, sign), f.unary("negate", size), size)


def _unary(name: str) -> Emit:
    return lambda f, v, t: f.unary(name, v[0])


def _chlo(name: str) -> Emit:
    return lambda f, v, t: f.chlo(name, v[0])


def _binary(name: str) -> Emit:
    return lambda f, v, t: f.binary(name, v[0], v[1])


def _compare(direction: str) -> Emit:
    return lambda f, v, t: f.compare(direction, v[0], v[1])


def _scale(factor: float) -> Emit:
    return lambda f, v, t: f.binary("multiply", v[0], like(f, factor, v[0]))


def _logical(name: str) -> Emit:
    return lambda f, v, t: f.binary(name, as_bool(f, v[0]), as_bool(f, v[1]))


def _in_f32(emit: Emit) -> Emit:
    """Computes f16 in f32, as NumPy does, and rounds once."""

    def wrapped(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Any:
        if not v or v[0].element != "f16":
            return emit(f, v, t)
        return emit(f, [f.convert(x, "f32") for x in v], t)

    return wrapped


def _true_divide(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    element = element_of(t[-1])
    assert element is not None
    return f.binary("divide", f.convert(v[0], element), f.convert(v[1], element))


def _logarithm(base: float) -> Emit:
    """The logarithm to a base, exact to the type for f16 and f32."""

    def emit(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
        x = f.convert(v[0], "f64")
        scaled = f.binary("multiply", f.unary("log", x), like(f, 1 / math.log(base), x))
        return f.convert(scaled, v[0].element)

    return emit


def _exp2(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    return f.binary("power", like(f, 2, v[0]), v[0])


def _absolute(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    x = v[0]
    return x if x.element == "i1" or x.element in UNSIGNED else f.unary("abs", x)


def _sign(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    x = v[0]
    if x.element in UNSIGNED:
        return f.convert(f.compare("NE", x, like(f, 0, x)), x.element)
    return f.unary("sign", x)


def _trunc_value(f: Function, x: Value) -> Value:
    # The sign of x, so that -0.5 becomes -0.
    down = f.unary("floor", f.unary("abs", x))
    return f.select(sign_bit(f, x), f.unary("negate", down), down)


def _rounding(name: str) -> Emit:
    def emit(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
        if not is_float(v[0]):
            return v[0]
        return _trunc_value(f, v[0]) if name == "trunc" else f.unary(name, v[0])

    return emit


def _modf(f: Function, v: Sequence[Value], t: Sequence[DType]) -> tuple[Value, Value]:
    x = v[0]
    whole = _trunc_value(f, x)
    infinite = f.compare("EQ", f.unary("abs", x), like(f, math.inf, x))
    part = f.select(infinite, like(f, 0, x), f.binary("subtract", x, whole))
    return with_sign(f, part, x), whole


def _divide_integers(f: Function, x: Value, y: Value) -> tuple[Value, Value]:
    """The quotient rounded down and the remainder with the sign of y; both are 0 if y
    is."""
    zero = like(f, 0, x)
    quotient, rest = f.binary("divide", x, y), f.binary("remainder", x, y)
    if x.element not in UNSIGNED:
        differ = f.compare("NE", is_negative(f, rest), is_negative(f, y))
        adjust = f.binary("and", f.compare("NE", rest, zero), differ)
        quotient = f.select(adjust, f.binary("subtract", quotient, like(f, 1, x)), quotient)
        rest = f.select(adjust, f.binary("add", rest, y), rest)
    by_zero = f.compare("EQ", y, zero)
    return f.select(by_zero, zero, quotient), f.select(by_zero, zero, rest)


def _divide_floats(f: Function, x: Value, y: Value) -> tuple[Value, Value]:
    zero, one = like(f, 0, x), like(f, 1, x)
    rest = f.binary("remainder", x, y)
    quotient = f.binary("divide", f.binary("subtract", x, rest), y)
    has_rest = f.compare("NE", rest, zero)
    differ = f.compare("NE", is_negative(f, rest), is_negative(f, y))
    adjust = f.binary("and", has_rest, differ)
    quotient = f.select(adjust, f.binary("subtract", quotient, one), quotient)
    rest = f.select(adjust, f.binary("add", rest, y), rest)
    rest = f.select(has_rest, rest, with_sign(f, zero, y))
    down = f.unary("floor", quotient)
    far = f.compare("GT", f.binary("subtract", quotient, down), like(f, 0.5, x))
    down = f.select(far, f.binary("add", down, one), down)
    ratio = f.binary("divide", x, y)
    down = f.select(f.compare("NE", quotient, zero), down, with_sign(f, zero, ratio))
    by_zero = f.compare("EQ", y, zero)
    nan = f.binary("remainder", x, y)
    return f.select(by_zero, ratio, down), f.select(by_zero, nan, rest)


def _divmod(f: Function, v: Sequence[Value], t: Sequence[DType]) -> tuple[Value, Value]:
    return (_divide_floats if is_float(v[0]) else _divide_integers)(f, v[0], v[1])


def _fmod(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    rest = f.binary("remainder", v[0], v[1])
    if is_float(rest):
        return rest
    return f.select(f.compare("EQ", v[1], like(f, 0, rest)), like(f, 0, rest), rest)


def _extreme(name: str) -> Emit:
    def emit(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
        if v[0].element == "i1":
            return f.binary("or" if name == "maximum" else "and", v[0], v[1])
        return f.binary(name, v[0], v[1])

    return emit


def _ignoring_nan(name: str) -> Emit:
    def emit(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
        value: Value = _extreme(name)(f, v, t)
        if not is_float(value):
            return value
        value = f.select(is_nan(f, v[1]), v[0], value)
        return f.select(is_nan(f, v[0]), v[1], value)

    return emit


def _is_inf(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    x = v[0]
    if not is_float(x):
        return f.constant(False, "i1", x.shape)
    return f.compare("EQ", f.unary("abs", x), like(f, math.inf, x))


def _is_finite(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    x = v[0]
    if not is_float(x):
        return f.constant(True, "i1", x.shape)
    return f.unary("is_finite", x, "i1")


def _hypot(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    a, b = f.unary("abs", v[0]), f.unary("abs", v[1])
    large, small = f.binary("maximum", a, b), f.binary("minimum", a, b)
    zero, inf = like(f, 0, a), like(f, math.inf, a)
    ratio = f.binary("divide", small, large)
    squares = f.binary("add", like(f, 1, a), f.binary("multiply", ratio, ratio))
    root = f.unary("sqrt", squares)
    value = f.select(f.compare("EQ", large, zero), zero, f.binary("multiply", large, root))
    infinite = f.binary("or", f.compare("EQ", a, inf), f.compare("EQ", b, inf))
    return f.select(infinite, inf, value)


def _log_add(base: float) -> Emit:
    def emit(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
        x, y = v
        large = f.binary("maximum", x, y)
        gap = f.unary("negate", f.unary("abs", f.binary("subtract", x, y)))
        if base == 2:
            gap = f.binary("multiply", gap, like(f, math.log(2), x))
        more = f.unary("log_plus_one", f.unary("exponential", gap))
        if base == 2:
            more = f.binary("multiply", more, like(f, 1 / math.log(2), x))
        # The gap of equal infinities is not a number.
        same = f.compare("EQ", x, y)
        equal = f.binary("add", x, like(f, 1 if base == 2 else math.log(2), x))
        return f.select(same, equal, f.binary("add", large, more))

    return emit


def _heaviside(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    x, at_zero = v
    step = f.select(is_negative(f, x), like(f, 0, x), like(f, 1, x))
    step = f.select(f.compare("EQ", x, like(f, 0, x)), at_zero, step)
    return f.select(is_nan(f, x), x, step)


def _spacing(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    x = v[0]
    away = like(f, math.inf, x)
    if x.element != "f16":  # NumPy always goes up from f16, else away from 0
        away = with_sign(f, away, x)
    gap = f.binary("subtract", f.chlo("next_after", x, away), x)
    return f.select(_is_inf(f, v, t), like(f, math.nan, x), gap)


def _copysign(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    return with_sign(f, v[0], v[1])


def _floor_divide(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    quotient: Value = _divmod(f, v, t)[0]
    return quotient


def _remainder(f: Function, v: Sequence[Value], t: Sequence[DType]) -> Value:
    rest: Value = _divmod(f, v, t)[1]
    return rest


ELEMENTWISE: dict[str, Emit] = {
    "add": _binary("add"),
    "subtract": _binary("subtract"),
    "multiply": _binary("multiply"),
    "divide": _true_divide,
    "true_divide": _true_divide,
    "floor_divide": _in_f32(_floor_divide),
    "remainder": _in_f32(_remainder),
    "divmod": _in_f32(_divmod),
    "fmod": _fmod,
    "power": _binary("power"),
    "float_power": _binary("power"),
    "negative": _unary("negate"),
    "positive": lambda f, v, t: v[0],
    "conjugate": lambda f, v, t: v[0],
    "absolute": _absolute,
    "fabs": _absolute,
    "sign": _sign,
    "rint": _rounding("round_nearest_even"),
    "floor": _rounding("floor"),
    "ceil": _rounding("ceil"),
    "trunc": _rounding("trunc"),
    "modf": _modf,
    "exp": _unary("exponential"),
    "exp2": _exp2,
    "expm1": _unary("exponential_minus_one"),
    "log": _unary("log"),
    "log2": _logarithm(2),
    "log10": _logarithm(10),
    "log1p": _unary("log_plus_one"),
    "logaddexp": _in_f32(_log_add(math.e)),
    "logaddexp2": _in_f32(_log_add(2)),
    "sqrt": _unary("sqrt"),
    "square": lambda f, v, t: f.binary("multiply", v[0], v[0]),
    "cbrt": _unary("cbrt"),
    "reciprocal": lambda f, v, t: f.binary("divide", like(f, 1, v[0]), v[0]),
    "sin": _unary("sine"),
    "cos": _unary("cosine"),
    "tan": _unary("tan"),
    "arcsin": _chlo("asin"),
    "arccos": _chlo("acos"),
    "arctan": _chlo("atan"),
    "arctan2": _binary("atan2"),
    "sinh": _chlo("sinh"),
    "cosh": _chlo("cosh"),
    "tanh": _unary("tanh"),
    "arcsinh": _chlo("asinh"),
    "arccosh": _chlo("acosh"),
    "arctanh": _chlo("atanh"),
    "hypot": _in_f32(_hypot),
    "degrees": _scale(180 / math.pi),
    "rad2deg": _scale(180 / math.pi),
    "radians": _scale(math.pi / 180),
    "deg2rad": _scale(math.pi / 180),
    "bitwise_and": _binary("and"),
    "bitwise_or": _binary("or"),
    "bitwise_xor": _binary("xor"),
    "invert": _unary("not"),
    "left_shift": _binary("shift_left"),
    "right_shift": lambda f, v, t: f.binary(
        "shift_right_logical" if v[0].element in UNSIGNED else "shift_right_arithmetic",
        v[0],
        v[1],
    ),
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "logical_not": lambda f, v, t: f.unary("not", as_bool(f, v[0])),
    "equal": _compare("EQ"),
    "not_equal": _compare("NE"),
    "less": _compare("LT"),
    "less_equal": _compare("LE"),
    "greater": _compare("GT"),
    "greater_equal": _compare("GE"),
    "maximum": _extreme("maximum"),
    "minimum": _extreme("minimum"),
    "fmax": _ignoring_nan("maximum"),
    "fmin": _ignoring_nan("minimum"),
    "isnan": lambda f, v, t: is_nan(f, v[0]),
    "isinf": _is_inf,
    "isfinite": _is_finite,
    "signbit": lambda f, v, t: sign_bit(f, v[0]),
    "copysign": _copysign,
    "nextafter": lambda f, v, t: f.chlo("next_after", v[0], v[1]),
    "spacing": _spacing,
    "heaviside": _heaviside,
}
