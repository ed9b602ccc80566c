# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on elements. They broadcast, so that arrays can stand for scalars."""

import numpy as np

import elements
import special_functions as special
from elements import is_float, is_unsigned, round_to, width


def element_of(op):
    return op.types[0].element


def on_floats(function):
    """Computes in float64 and rounds once."""
    def run(op, *operands):
        wide = [np.asarray(x, np.float64) for x in operands]
        return round_to(function(*wide), element_of(op))
    return run


def rounded(function):
    """Computes in the type of the arrays: bits are lost as in a machine."""
    def run(op, *operands):
        return round_to(function(*operands), element_of(op))
    return run


def afz(x):
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, np.abs(whole) + 1,
                                np.abs(whole)), x)


def sign(op, x):
    if not is_float(element_of(op)):
        return np.sign(x)
    return np.where(np.isnan(x) | (x == 0), x, np.copysign(np.ones_like(x), x))


def absolute(op, x):
    return np.abs(x) if not is_unsigned(element_of(op)) else x


def popcnt(op, x):
    bits = elements.to_bits(x, element_of(op)).astype(np.uint64)
    count = np.zeros(np.shape(x), np.uint64)
    for i in range(width(element_of(op))):
        count += (bits >> np.uint64(i)) & np.uint64(1)
    return count.astype(elements.DTYPES[element_of(op)])


def count_leading_zeros(op, x):
    bits = elements.to_bits(x, element_of(op)).astype(np.uint64)
    size = width(element_of(op))
    count = np.full(np.shape(x), size, np.uint64)
    for i in range(size):
        is_set = ((bits >> np.uint64(i)) & np.uint64(1)) != 0
        count = np.where(is_set, np.uint64(size - 1 - i), count)
    return count.astype(elements.DTYPES[element_of(op)])


def add(op, x, y):
    return x | y if element_of(op) == "i1" else round_to(x + y, element_of(op))


def multiply(op, x, y):
    return x & y if element_of(op) == "i1" else round_to(x * y, element_of(op))


def larger(x, y, chooses_first):
    """The element that `chooses_first` says, a NaN, or the zero by its sign."""
    result = np.where(chooses_first, x, y)
    if np.result_type(x).kind != "f":
        return result
    return np.where(np.isnan(x), x, np.where(np.isnan(y), y, result))


def maximum(_, x, y):
    if np.result_type(x).kind != "f":
        return np.maximum(x, y)
    return larger(x, y, (x > y) | ((x == y) & ~np.signbit(x)))


def minimum(_, x, y):
    if np.result_type(x).kind != "f":
        return np.minimum(x, y)
    return larger(x, y, (x < y) | ((x == y) & np.signbit(x)))


def clamp(_, low, x, high):
    return minimum(None, maximum(None, x, low), high)


def quotient(x, y):
    """Integers: truncated, all ones for a divisor of 0, wrapped for MIN / -1."""
    safe = np.where(y == 0, y.dtype.type(1), y)
    if x.dtype.kind == "u":
        return np.where(y == 0, ~np.zeros_like(x), x // safe)
    safe = np.where(y == -1, y.dtype.type(1), safe)
    floor = x // safe
    is_low = (x - floor * safe != 0) & ((x < 0) != (safe < 0))
    result = floor + is_low.astype(x.dtype)
    return np.where(y == 0, x.dtype.type(-1), np.where(y == -1, -x, result))


def divide(op, x, y):
    if is_float(element_of(op)):
        return round_to(x / y, element_of(op))
    return quotient(np.asarray(x), np.asarray(y))


def remainder(op, x, y):
    if is_float(element_of(op)):
        return round_to(np.fmod(x, y), element_of(op))
    x, y = np.asarray(x), np.asarray(y)
    result = x - quotient(x, y) * y
    return np.where(y == 0, x, result)


def power(op, x, y):
    if is_float(element_of(op)):
        wide = np.power(np.asarray(x, np.float64), np.asarray(y, np.float64))
        return round_to(wide, element_of(op))
    x, y = np.broadcast_arrays(x, y)
    kind = x.dtype.type
    result, base = np.ones_like(x), x.copy()
    bits = elements.to_bits(y, element_of(op))
    for i in range(width(element_of(op))):
        is_set = ((bits >> bits.dtype.type(i)) & bits.dtype.type(1)) != 0
        result = np.where(is_set, result * base, result)
        base = base * base
    if x.dtype.kind == "u":
        return result
    odd = np.where(y % kind(2) != 0, kind(-1), kind(1))
    negative = np.where(x == 1, kind(1), np.where(x == -1, odd, kind(0)))
    return np.where(y < 0, negative, result)


def shift(fill, move):
    def run(op, x, y):
        element = element_of(op)
        amount = elements.to_bits(y, element)
        limit = width(element)
        bits = elements.to_bits(x, element)
        if fill == "sign" and not is_unsigned(element):
            bits = bits.view(f"i{limit // 8}")
        elif fill == "sign":
            bits = bits.view(f"i{limit // 8}")
        safe = np.minimum(amount, limit - 1).astype(bits.dtype)
        moved = move(bits, safe)
        out = move(move(bits, bits.dtype.type(limit - 1)), bits.dtype.type(1))
        result = np.where(amount >= limit, out, moved)
        return np.asarray(result, order="C").view(elements.DTYPES[element])
    return run


def compare(op, x, y):
    direction = str(op["comparison_direction"]).rstrip(">").split()[-1]
    kind = str(op["compare_type"]).rstrip(">").split()[-1]
    if kind == "TOTALORDER":
        element = op.operand_types[0].element
        x, y = elements.order_key(x, element), elements.order_key(y, element)
    tests = {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal,
             "GT": np.greater, "LE": np.less_equal, "LT": np.less}
    return tests[direction](x, y)


def convert(op, x):
    source, target = op.operand_types[0].element, element_of(op)
    return convert_elements(np.asarray(x), source, target)


def convert_elements(x, source, target):
    if target == "i1":
        return x != 0
    if not is_float(source) or is_float(target):
        return round_to(x, target)
    kind = elements.DTYPES[target]
    info = np.iinfo(kind)
    wide = np.trunc(x.astype(np.float64))
    # The largest number may not be a float, but the next one is.
    inside = (wide >= float(info.min)) & (wide < float(info.max // 2 + 1) * 2)
    exact = np.where(inside, wide, 0.0).astype(kind)
    edge = np.where(wide > 0, kind.type(info.max), kind.type(info.min))
    return np.where(np.isnan(x), kind.type(0), np.where(inside, exact, edge))


def reduce_precision(op, x):
    element = element_of(op)
    source_exponent, source_mantissa = elements.FORMATS[element]
    exponent, mantissa = op["exponent_bits"], op["mantissa_bits"]
    bits = elements.to_bits(x, element).astype(np.uint64)
    one = np.uint64(1)
    sign_mask = one << np.uint64(width(element) - 1)
    infinite = np.uint64((1 << source_exponent) - 1) << np.uint64(source_mantissa)
    sign_bit = bits & sign_mask
    if mantissa < source_mantissa:
        last = one << np.uint64(source_mantissa - mantissa)
        half = (last >> one) - one
        lowest = (bits & last) >> np.uint64(source_mantissa - mantissa)
        bits = (bits + lowest + half) & ~(last - one)
    if exponent < source_exponent:
        bias, source_bias = (1 << (exponent - 1)) - 1, (1 << (source_exponent - 1)) - 1
        shift_by = np.uint64(source_mantissa)
        own = bits & infinite
        too_large = own > (np.uint64(source_bias + bias) << shift_by)
        too_small = own <= (np.uint64(source_bias - bias) << shift_by)
        bits = np.where(too_large, sign_bit | infinite, bits)
        bits = np.where(too_small, sign_bit, bits)
    result = elements.from_bits(bits.astype(elements.bits_dtype(element)), element)
    nan = x
    if mantissa == 0:
        nan = np.copysign(elements.greatest(element), x)
    return np.where(np.isnan(x), nan, result).astype(x.dtype)


def select(_, pred, on_true, on_false):
    return np.where(pred, on_true, on_false)


def next_after(op, x, y):
    element = element_of(op)
    if element != "bf16":
        return np.nextafter(x, y)
    key = np.where(np.signbit(x), -1, 1) * (
        elements.to_bits(np.abs(x), element).astype(np.int64))
    key = np.where(y > x, key + 1, np.where(y < x, key - 1, key))
    bits = np.abs(key).astype(np.uint16)
    size = elements.from_bits(bits, element)
    moved = np.copysign(size, np.where(key == 0, y, key).astype(np.float32))
    moved = np.where(x == y, y, moved)
    return np.where(np.isnan(x) | np.isnan(y), np.float32(np.nan), moved)


def hyperbolic(is_cosh):
    def run(op, x):
        if element_of(op) == "f64":
            return np.cosh(x) if is_cosh else np.sinh(x)
        return round_to(special.sinh_cosh(x, is_cosh), element_of(op))
    return run


def logistic(x):
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "cbrt": np.cbrt, "cosine": np.cos, "exponential": np.exp,
    "exponential_minus_one": np.expm1, "log": np.log, "log_plus_one": np.log1p,
    "logistic": logistic, "rsqrt": lambda x: 1 / np.sqrt(x), "sine": np.sin,
    "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh, "atan2": np.arctan2,
}
CHLO_FUNCTIONS = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "bessel_i1e": special.bessel_i1e,
    "digamma": special.digamma, "erf": special.erf, "erf_inv": special.erf_inv,
    "erfc": special.erfc, "lgamma": special.lgamma, "square": np.square, "tan": np.tan,
    "polygamma": special.polygamma, "zeta": special.zeta,
}
PLAIN = {
    "abs": absolute, "negate": lambda op, x: -x, "sign": sign,
    "not": lambda op, x: ~x, "popcnt": popcnt,
    "count_leading_zeros": count_leading_zeros,
    "ceil": lambda op, x: np.ceil(x), "floor": lambda op, x: np.floor(x),
    "round_nearest_afz": lambda op, x: afz(x),
    "round_nearest_even": lambda op, x: np.rint(x),
    "real": lambda op, x: x, "imag": lambda op, x: np.zeros_like(x),
    "is_finite": lambda op, x: np.isfinite(x),
    "add": add, "multiply": multiply, "subtract": rounded(np.subtract),
    "divide": divide, "remainder": remainder, "power": power,
    "maximum": maximum, "minimum": minimum,
    "and": lambda op, x, y: x & y, "or": lambda op, x, y: x | y,
    "xor": lambda op, x, y: x ^ y,
    "shift_left": shift("zero", np.left_shift),
    "shift_right_logical": shift("zero", np.right_shift),
    "shift_right_arithmetic": shift("sign", np.right_shift),
    "compare": compare, "convert": convert, "select": select, "clamp": clamp,
    "reduce_precision": reduce_precision,
}
OPERATIONS = {
    **{"stablehlo." + name: on_floats(f) for name, f in FUNCTIONS.items()},
    **{"chlo." + name: on_floats(f) for name, f in CHLO_FUNCTIONS.items()},
    **{"stablehlo." + name: f for name, f in PLAIN.items()},
    "chlo.sinh": hyperbolic(False), "chlo.cosh": hyperbolic(True),
    "chlo.next_after": next_after,
    "chlo.is_inf": lambda op, x: np.isinf(x),
    "chlo.is_pos_inf": lambda op, x: x == np.inf,
    "chlo.is_neg_inf": lambda op, x: x == -np.inf,
}
