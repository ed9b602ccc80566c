# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random operations on elements and on shapes."""

import numpy as np

from elements import is_float, is_unsigned, round_to, width
from random_case import ALL, FLOATS, INTEGERS, NUMBERS, list_of, text_of

# Styles of values, and units in the last place in f32 and f64.
FUNCTIONS = {
    "cbrt": ("any", 4), "cosine": ("normal", 3), "exponential": ("normal", 2),
    "exponential_minus_one": ("normal", 3), "log": ("positive", 2),
    "log_plus_one": ("positive", 3), "logistic": ("normal", 4),
    "rsqrt": ("positive", 2), "sine": ("normal", 3), "sqrt": ("any", 0),
    "tan": ("unit", 4), "tanh": ("normal", 4),
}
CHLO_FUNCTIONS = {
    "acos": ("unit", 6), "acosh": ("positive", 8), "asin": ("unit", 6),
    "asinh": ("normal", 6), "atan": ("normal", 4), "atanh": ("unit", 6),
    "bessel_i1e": ("normal", 16), "cosh": ("normal", 6), "digamma": ("positive", 0),
    "erf": ("normal", 6), "erf_inv": ("unit", 16), "erfc": ("normal", 16),
    "lgamma": ("positive", 0), "sinh": ("normal", 6), "square": ("any", 0),
    "tan": ("unit", 4),
}
EXACT_FLOAT = ["abs", "negate", "ceil", "floor", "round_nearest_afz",
               "round_nearest_even", "sign", "real", "imag"]
EXACT_INT = ["abs", "negate", "sign", "not", "popcnt", "count_leading_zeros"]
BINARY_FLOAT = ["add", "subtract", "multiply", "divide", "maximum", "minimum",
                "remainder"]
BINARY_INT = BINARY_FLOAT + ["and", "or", "xor", "power", "shift_left",
                             "shift_right_arithmetic", "shift_right_logical"]
BINARY_BOOL = ["add", "multiply", "maximum", "minimum", "and", "or", "xor"]


def units(element, most):
    """f16 and bf16 are computed in f32 and rounded."""
    return most if element in ("f32", "f64") else min(most, 1)


def unary(case, name, element, style, compare, prefix="stablehlo."):
    shape = case.shape()
    x = case.input(shape, element, style)
    kind = text_of(shape, element)
    form = f"{kind} -> {kind}" if prefix == "chlo." else kind
    result = case.emit(f"{prefix}{name} {x} : {form}")[0]
    case.output(result, shape, element, compare)


def function(case):
    element = case.pick(FLOATS)
    name = case.pick(list(FUNCTIONS))
    style, most = FUNCTIONS[name]
    if case.chance(0.2):
        style = "special" if name not in ("sine", "cosine", "tan") else style
    case.kind = name
    unary(case, name, element, style, units(element, most) or "eq")


# These have zeros, near which only absolute errors are small.
ABSOLUTE = {"f32": 1e-4, "f64": 1e-10, "f16": 0.1, "bf16": 0.9}


def chlo_function(case):
    element = case.pick(FLOATS)
    name = case.pick(list(CHLO_FUNCTIONS))
    style, most = CHLO_FUNCTIONS[name]
    case.kind = "chlo." + name
    most = units(element, most) or "eq"
    if name in ("digamma", "lgamma"):
        most = ABSOLUTE[element]
    unary(case, name, element, style, most, "chlo.")


def chlo_other(case):
    element, shape = case.pick(FLOATS), case.shape()
    kind = text_of(shape, element)
    name = case.pick(["next_after", "polygamma", "zeta", "is_inf", "is_pos_inf",
                      "is_neg_inf"])
    case.kind = "chlo." + name
    if name.startswith("is_"):
        x = case.input(shape, element, "special")
        result = case.emit(f"chlo.{name} {x} : {kind} -> {text_of(shape, 'i1')}")[0]
        case.output(result, shape, "i1")
        return
    if name == "next_after":
        values = [case.values(shape, element) for _ in range(2)]
        most = "eq"
    elif name == "polygamma":
        values = [case.random.integers(1, 4, shape), case.values(shape, "f64", "positive")]
        most = units(element, 128)
    else:
        values = [case.random.random(shape) * 4 + 1.25,
                  case.values(shape, "f64", "positive") + 0.25]
        most = units(element, 128)
    x, y = (case.given(round_to(value, element), element) for value in values)
    result = case.emit(f"chlo.{name} {x}, {y} : {kind}, {kind} -> {kind}")[0]
    case.output(result, shape, element, most)


def exact_unary(case):
    element = case.pick(NUMBERS)
    name = case.pick(EXACT_FLOAT if is_float(element) else EXACT_INT)
    if name == "abs" and is_unsigned(element):
        name = "not"
    if name == "sign" and is_unsigned(element):
        name = "popcnt"
    case.kind = name
    unary(case, name, element, case.pick(["any", "special"]), "eq")


def binary(case):
    element = case.pick(ALL)
    if element == "i1":
        name = case.pick(BINARY_BOOL)
    elif is_float(element):
        name = case.pick(BINARY_FLOAT + ["power", "atan2"])
    else:
        name = case.pick(BINARY_INT)
    case.kind = name
    shape = case.shape()
    style = case.pick(["any", "any", "special"])
    compare = "eq"
    if is_float(element) and name in ("power", "atan2"):
        compare = units(element, 4)
        style = "any" if name == "atan2" else "positive"
    x, y = case.input(shape, element, style), case.input(shape, element, style)
    result = case.emit(f"stablehlo.{name} {x}, {y} : {text_of(shape, element)}")[0]
    case.output(result, shape, element, compare)


def compare(case):
    element, shape = case.pick(ALL), case.shape()
    direction = case.pick(["EQ", "NE", "GE", "GT", "LE", "LT"])
    kinds = (["FLOAT", "TOTALORDER"] if is_float(element) else
             ["UNSIGNED"] if is_unsigned(element) or element == "i1" else ["SIGNED"])
    kind = case.pick(kinds + ["NOTYPE", ""])
    values = [case.values(shape, element) for _ in range(2)]
    # Equal elements are rare otherwise.
    values[1] = np.where(case.random.random(shape) < 0.3, *values)
    x, y = (case.given(value, element) for value in values)
    of = (shape, element)
    result = case.op("compare", f"{direction}, {x}, {y}" + (f", {kind}" if kind else ""),
                     [of, of], (shape, "i1"))
    case.output(result, shape, "i1")


def select(case):
    element, shape = case.pick(ALL), case.shape()
    pred_shape = case.pick([shape, ()])
    p = case.input(pred_shape, "i1")
    x, y = case.input(shape, element), case.input(shape, element)
    result = case.emit(f"stablehlo.select {p}, {x}, {y} : {text_of(pred_shape, 'i1')}, "
                       f"{text_of(shape, element)}")[0]
    case.output(result, shape, element)


def clamp(case):
    element, shape = case.pick(NUMBERS), case.shape()
    shapes = [case.pick([shape, ()]), shape, case.pick([shape, ()])]
    names = [case.input(part, element) for part in shapes]
    result = case.op("clamp", ", ".join(names), [(part, element) for part in shapes],
                     (shape, element))
    case.output(result, shape, element)


def convert(case):
    source, target, shape = case.pick(ALL), case.pick(ALL), case.shape()
    x = case.input(shape, source, case.pick(["any", "special"]))
    result = case.op("convert", x, [(shape, source)], (shape, target))
    case.output(result, shape, target)


def bitcast_convert(case):
    source, target = case.pick(NUMBERS), case.pick(NUMBERS)
    shape = case.shape(0, 3, 200)
    wide, narrow = width(source), width(target)
    result = shape
    if wide > narrow:
        result = shape + (wide // narrow,)
    if wide < narrow:
        result, shape = shape, shape + (narrow // wide,)
    # Bits of a NaN are not kept by moves of floats.
    x = case.input(shape, source, "small" if is_float(target) else "any")
    if not is_float(source) and is_float(target):
        x = case.input(shape, source, "positive")
    y = case.op("bitcast_convert", x, [(shape, source)], (result, target))
    case.output(y, result, target)


def reduce_precision(case):
    element, shape = case.pick(FLOATS), case.shape()
    exponent, mantissa = case.between(1, 11), case.between(0, 30)
    x = case.input(shape, element)
    y = case.emit(f"stablehlo.reduce_precision {x}, format = e{exponent}m{mantissa} : "
                  f"{text_of(shape, element)}")[0]
    case.output(y, shape, element)


def is_finite(case):
    element, shape = case.pick(FLOATS), case.shape()
    x = case.input(shape, element, "special")
    y = case.op("is_finite", x, [(shape, element)], (shape, "i1"))
    case.output(y, shape, "i1")


def rounding_chain(case):
    """Several operations, each of which must round its result."""
    element, shape = case.pick(FLOATS), case.shape()
    kind = text_of(shape, element)
    names = [case.input(shape, element, "unit") for _ in range(3)]
    for _ in range(case.between(2, 5)):
        x, y = case.pick(names), case.pick(names)
        name = case.pick(["add", "subtract", "multiply"])
        names += case.emit(f"stablehlo.{name} {x}, {y} : {kind}")
    case.output(names[-1], shape, element)
    case.output(names[-2], shape, element)


# Shapes.

def broadcast_in_dim(case):
    element, shape = case.pick(ALL), case.shape()
    dims = case.subset(range(len(shape)), case.between(0, len(shape)))
    source = tuple(1 if case.chance(0.2) else shape[d] for d in dims)
    x = case.input(source, element)
    y = case.op("broadcast_in_dim", f"{x}, dims = {list_of(dims)}", [(source, element)],
                (shape, element))
    case.output(y, shape, element)


def transpose(case):
    element, shape = case.pick(ALL), case.shape()
    order = case.subset(range(len(shape)), len(shape))
    result = tuple(shape[d] for d in order)
    x = case.input(shape, element)
    y = case.op("transpose", f"{x}, dims = {list_of(order)}", [(shape, element)],
                (result, element))
    case.output(y, result, element)


def reverse(case):
    element, shape = case.pick(ALL), case.shape()
    dims = case.subset(range(len(shape)), case.between(0, len(shape)))
    x = case.input(shape, element)
    y = case.emit(f"stablehlo.reverse {x}, dims = {list_of(dims)} : "
                  f"{text_of(shape, element)}")[0]
    case.output(y, shape, element)


def regrouped(case, shape):
    """Another shape of as many elements."""
    total = int(np.prod(shape, dtype=int))
    if total == 0:
        return case.pick([shape, (0,), shape[::-1] + (1,)])
    result = []
    while total > 1 and len(result) < 4:
        factors = [n for n in range(1, total + 1) if total % n == 0]
        result.append(case.pick(factors))
        total //= result[-1]
    if total > 1:
        result.append(total)
    if case.chance(0.3):
        result.insert(case.below(len(result) + 1), 1)
    return tuple(result)


def reshape(case):
    element, shape = case.pick(ALL), case.shape()
    result = regrouped(case, shape)
    x = case.input(shape, element)
    y = case.op("reshape", x, [(shape, element)], (result, element))
    case.output(y, result, element)


def concatenate(case):
    element, shape = case.pick(ALL), case.shape(1, 4, 150)
    dim = case.below(len(shape))
    shapes = [shape[:dim] + (case.size(),) + shape[dim + 1:]
              for _ in range(case.between(1, 4))]
    names = [case.input(part, element) for part in shapes]
    result = shape[:dim] + (sum(part[dim] for part in shapes),) + shape[dim + 1:]
    y = case.op("concatenate", f"{', '.join(names)}, dim = {dim}",
                [(part, element) for part in shapes], (result, element))
    case.output(y, result, element)


def pad(case):
    element, shape = case.pick(ALL), case.shape(most=100)
    interior = [case.pick([0, 0, 1, 2]) for _ in shape]
    low, high, result = [], [], []
    for size, inner in zip(shape, interior):
        full = size + max(size - 1, 0) * inner
        lo, hi = (case.pick([0, 0, 1, 2, -1, -2, -full]) for _ in range(2))
        if full + lo + hi < 0:
            lo = hi = 0
        low.append(lo)
        high.append(hi)
        result.append(full + lo + hi)
    x, value = case.input(shape, element), case.input((), element)
    y = case.op("pad", f"{x}, {value}, low = {list_of(low)}, high = {list_of(high)}, "
                f"interior = {list_of(interior)}", [(shape, element), ((), element)],
                (tuple(result), element))
    case.output(y, tuple(result), element)


def slice_(case):
    element, shape = case.pick(ALL), case.shape()
    parts, result = [], []
    for size in shape:
        start = case.between(0, size)
        limit = case.between(start, size)
        stride = case.pick([1, 1, 2, 3])
        parts.append(f"{start}:{limit}" + (f":{stride}" if stride > 1 else ""))
        result.append(-(-(limit - start) // stride))
    x = case.input(shape, element)
    y = case.op("slice", f"{x} [{', '.join(parts)}]", [(shape, element)],
                (tuple(result), element))
    case.output(y, tuple(result), element)


def places(case, shape, element):
    """Scalar indices, some of which are out of range."""
    names = []
    for size in shape:
        low = 0 if is_unsigned(element) else -2
        value = case.between(low, size + 1)
        if case.chance(0.1):
            value = 200 if is_unsigned(element) else case.pick([-128, 127])
        names.append(case.given(np.array(value).astype(
            np.dtype(("u" if is_unsigned(element) else "") + f"int{width(element)}")),
            element))
    return names


def dynamic_slice(case):
    element, index, shape = case.pick(ALL), case.pick(INTEGERS), case.shape()
    sizes = tuple(case.between(0, size) for size in shape)
    x, names = case.input(shape, element), places(case, shape, index)
    y = case.op("dynamic_slice", f"{', '.join([x] + names)}, sizes = {list_of(sizes)}",
                [(shape, element)] + [((), index)] * len(shape), (sizes, element))
    case.output(y, sizes, element)


def dynamic_update_slice(case):
    element, index, shape = case.pick(ALL), case.pick(INTEGERS), case.shape()
    sizes = tuple(case.between(0, size) for size in shape)
    x, update = case.input(shape, element), case.input(sizes, element)
    names = places(case, shape, index)
    y = case.op("dynamic_update_slice", ", ".join([x, update] + names),
                [(shape, element), (sizes, element)] + [((), index)] * len(shape),
                (shape, element))
    case.output(y, shape, element)


def iota(case):
    element, shape = case.pick(NUMBERS), case.shape(1, 4)
    dim = case.below(len(shape))
    y = case.emit(f"stablehlo.iota dim = {dim} : {text_of(shape, element)}")[0]
    case.output(y, shape, element)


GENERATORS = [(function, 4), (chlo_function, 2), (chlo_other, 1), (exact_unary, 3),
              (binary, 6), (compare, 2), (select, 1), (clamp, 1), (convert, 4),
              (bitcast_convert, 2), (reduce_precision, 1), (is_finite, 1),
              (rounding_chain, 3), (broadcast_in_dim, 2), (transpose, 1), (reverse, 1),
              (reshape, 2), (concatenate, 2), (pad, 3), (slice_, 2), (dynamic_slice, 2),
              (dynamic_update_slice, 2), (iota, 1)]
