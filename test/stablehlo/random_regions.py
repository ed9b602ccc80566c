# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random operations with regions: reductions, windows, scatter, sort, control flow."""

import numpy as np

from elements import greatest, is_float, least
from random_case import ALL, NUMBERS, array_of, list_of, pairs_of, text_of

# Operations whose order does not matter, with values that keep sums exact.
COMBINERS = {"add": "small", "maximum": "any", "minimum": "any", "multiply": "signs",
             "and": "any", "or": "any", "xor": "any"}


def combiner(case, element):
    if element == "i1":
        return case.pick(["add", "multiply", "maximum", "minimum", "and", "or", "xor"])
    names = ["add", "add", "maximum", "minimum", "multiply"]
    return case.pick(names if is_float(element) else names + ["and", "or", "xor"])


def terms_of(case, shape, element, name):
    """Values whose combination does not depend on the order."""
    if element == "i1":
        return case.values(shape, element)
    if not is_float(element):
        return case.values(shape, element)
    if name == "add":
        # Sums of bf16 are exact up to 256.
        return np.clip(case.values(shape, element, "small"), -1, 2)
    if name == "multiply":
        signs = case.values(shape, "f32", "unit") < 0
        halves = np.where(case.random.random(shape) < 0.05, 2, 1)
        return np.where(signs, -halves, halves).astype(
            case.values((), element, "small").dtype)
    return case.values(shape, element)


def start_of(case, element, name, is_once=True):
    """The identity, or another value. Values that do not enter a result exactly once
    must not change it."""
    if case.chance(0.3) and (is_once or name in ("maximum", "minimum", "and", "or")):
        return terms_of(case, (), element, name)
    kind = case.values((), element, "small").dtype
    if name == "maximum":
        return np.asarray(least(element))
    if name == "minimum":
        return np.asarray(greatest(element))
    if name == "multiply":
        return np.ones((), kind)
    if name == "and":
        return ~np.zeros((), kind)
    return np.zeros((), kind)


def combine(case, name, element, x, y):
    """Emits a combination of scalars: one operation, or several that mean the same."""
    kind = text_of((), element)
    way = case.below(4)
    if way == 1 and name in ("add", "multiply", "maximum", "minimum", "and", "or", "xor"):
        x, y = y, x
    if way == 2 and name == "add" and element != "i1":
        # x + y = x - (-y), which is exact too.
        y = case.emit(f"stablehlo.negate {y} : {kind}")[0]
        return case.emit(f"stablehlo.subtract {x}, {y} : {kind}")[0]
    if way == 2 and name in ("maximum", "minimum") and not is_float(element):
        direction = "GT" if name == "maximum" else "LE"
        test = case.op("compare", f"{direction}, {x}, {y}", [((), element)] * 2,
                       ((), "i1"))
        return case.emit(f"stablehlo.select {test}, {x}, {y} : tensor<i1>, {kind}")[0]
    if way == 2 and name == "and":
        x, y = (case.emit(f"stablehlo.not {v} : {kind}")[0] for v in (x, y))
        both = case.emit(f"stablehlo.or {x}, {y} : {kind}")[0]
        return case.emit(f"stablehlo.not {both} : {kind}")[0]
    return case.emit(f"stablehlo.{name} {x}, {y} : {kind}")[0]


def argmax(case, elements):
    """Combines pairs of a value and its number, as argmax does."""
    direction = case.pick(["GT", "LT"])
    def build(names):
        x, i, y, j = names
        value, number = elements
        types = [((), value)] * 2
        better = case.op("compare", f"{direction}, {x}, {y}", types, ((), "i1"))
        equal = case.op("compare", f"EQ, {x}, {y}", types, ((), "i1"))
        lower = case.op("compare", f"LT, {i}, {j}", [((), number)] * 2, ((), "i1"))
        tie = case.emit(f"stablehlo.and {equal}, {lower} : tensor<i1>")[0]
        first = case.emit(f"stablehlo.or {better}, {tie} : tensor<i1>")[0]
        results = [case.emit(f"stablehlo.select {first}, {a}, {b} : tensor<i1>, "
                             f"{text_of((), of)}")[0]
                   for a, b, of in ((x, y, value), (i, j, number))]
        return results, [((), value), ((), number)]
    return case.region([((), e) for e in elements] * 2, build)


def reduction_parts(case, shape, is_once=True):
    """Inputs, init values and a region; and the element types."""
    if case.chance(0.15) and int(np.prod(shape, dtype=int)) > 0:
        value = case.pick([e for e in NUMBERS if e != "i1"])
        number = case.pick(["i32", "i64", "ui32"])
        numbers = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
        values = [case.values(shape, value, "small"), numbers.astype(
            {"i32": np.int32, "i64": np.int64, "ui32": np.uint32}[number])]
        region = argmax(case, (value, number))
        first = values[0].reshape(-1)[0]
        return (values, [np.array(first), np.array(0, values[1].dtype)], region,
                [value, number])
    chosen = [case.pick(ALL) for _ in range(case.pick([1, 1, 1, 2, 3]))]
    names = [combiner(case, element) for element in chosen]
    values = [terms_of(case, shape, e, name) for e, name in zip(chosen, names)]
    inits = [start_of(case, e, name, is_once) for e, name in zip(chosen, names)]
    def build(arguments):
        count = len(chosen)
        results = [combine(case, name, e, arguments[i], arguments[i + count])
                   for i, (name, e) in enumerate(zip(names, chosen))]
        return results, [((), e) for e in chosen]
    region = case.region([((), e) for e in chosen] * 2, build)
    return values, inits, region, chosen


def finish(case, name, properties, parts, shape, result):
    values, inits, region, chosen = parts
    names = [case.given(value, e) for value, e in zip(values + inits, chosen * 2)]
    types = [(shape, e) for e in chosen] + [((), e) for e in chosen]
    results = case.generic(name, names, properties, types,
                           [(result, e) for e in chosen], [region])
    for of, e in zip(results, chosen):
        case.output(of, result, e)


def reduce(case):
    shape = case.shape(0, 4)
    if case.chance(0.1):
        shape = (case.pick([64, 100, 257]), case.between(1, 3))
    dims = case.subset(range(len(shape)), case.between(0, len(shape)))
    result = tuple(size for d, size in enumerate(shape) if d not in dims)
    finish(case, "stablehlo.reduce", f"dimensions = {array_of(dims)}",
           reduction_parts(case, shape), shape, result)


def reduce_short(case):
    """The form that JAX prints for one operation."""
    element = case.pick(ALL)
    name = combiner(case, element)
    shape = case.shape(0, 4)
    dims = case.subset(range(len(shape)), case.between(0, len(shape)))
    result = tuple(size for d, size in enumerate(shape) if d not in dims)
    x = case.given(terms_of(case, shape, element, name), element)
    init = case.given(start_of(case, element, name), element)
    y = case.emit(f"stablehlo.reduce({x} init: {init}) applies stablehlo.{name} across "
                  f"dimensions = {list_of(dims)} : ({text_of(shape, element)}, "
                  f"{text_of((), element)}) -> {text_of(result, element)}")[0]
    case.output(y, result, element)


def optional(case, name, numbers, default):
    """An attribute that may be left out if all its numbers are the default."""
    if all(n == default for n in numbers) and case.chance(0.5):
        return []
    return [f"{name} = {array_of(numbers)}"]


def window_of(case, shape, plain=False):
    """Lists of a window, and the number of windows."""
    while True:
        size = [case.between(1, 3) for _ in shape]
        strides = [case.pick([1, 1, 2, 3]) for _ in shape]
        base = [1 if plain else case.pick([1, 1, 2]) for _ in shape]
        dilation = [1 if plain else case.pick([1, 1, 2]) for _ in shape]
        padding = [[case.pick([0, 0, 1, 2, -1]) for _ in range(2)] for _ in shape]
        if case.chance(0.2) and len(shape):
            # A cumulative reduction.
            at = case.below(len(shape))
            if shape[at] > 0:
                size = [1] * len(shape)
                strides, base, dilation = list(size), list(size), list(size)
                padding = [[0, 0] for _ in shape]
                size[at] = shape[at]
                padding[at][case.below(2)] = shape[at] - 1
        if plain:
            padding = [[max(n, 0) for n in pair] for pair in padding]
        counts = []
        for n, w, s, b, d, (low, high) in zip(shape, size, strides, base, dilation,
                                              padding):
            whole = (0 if n == 0 else (n - 1) * b + 1) + low + high
            needed = (w - 1) * d + 1
            if whole < 0:
                break
            counts.append(0 if whole == 0 or needed > whole else
                          (whole - needed) // s + 1)
        if len(counts) == len(shape):
            return size, strides, base, dilation, padding, tuple(counts)


def reduce_window(case):
    shape = case.shape(1, 4, 150)
    size, strides, base, dilation, padding, counts = window_of(case, shape)
    properties = [f"window_dimensions = {array_of(size)}"]
    properties += optional(case, "window_strides", strides, 1)
    properties += optional(case, "base_dilations", base, 1)
    properties += optional(case, "window_dilations", dilation, 1)
    if case.chance(0.8) or np.any(padding):
        properties.append(f"padding = {pairs_of(padding)}")
    finish(case, "stablehlo.reduce_window", ", ".join(properties),
           reduction_parts(case, shape, is_once=False), shape, counts)


def select_and_scatter(case):
    element = case.pick(NUMBERS)
    shape = case.shape(1, 4, 150)
    size, strides, _, _, padding, counts = window_of(case, shape, plain=True)
    name = case.pick(["add", "add", "maximum"])
    x = case.given(case.values(shape, element, "small"), element)
    source = case.given(terms_of(case, counts, element, name), element)
    init = case.given(start_of(case, element, name), element)
    direction = case.pick(["GE", "GT", "LE", "LT"])
    scalar = ((), element)
    choose = case.region([scalar] * 2, lambda names: (
        [case.op("compare", f"{direction}, {names[0]}, {names[1]}", [scalar] * 2,
                 ((), "i1"))], [((), "i1")]))
    add = case.region([scalar] * 2, lambda names: (
        [combine(case, name, element, *names)], [scalar]))
    properties = [f"window_dimensions = {array_of(size)}"]
    properties += optional(case, "window_strides", strides, 1)
    if case.chance(0.8) or np.any(padding):
        properties.append(f"padding = {pairs_of(padding)}")
    y = case.generic("stablehlo.select_and_scatter", [x, source, init],
                     ", ".join(properties), [(shape, element), (counts, element), scalar],
                     [(shape, element)], [choose, add])[0]
    case.output(y, shape, element)


def map_(case):
    chosen = [case.pick(ALL) for _ in range(case.between(1, 2))]
    shape = case.shape()
    names = [case.input(shape, e) for e in chosen]
    def build(arguments):
        x, y = arguments[0], arguments[-1]
        kind = text_of((), chosen[0])
        if case.chance(0.3) and chosen[0] != "i1":
            x = case.emit(f"stablehlo.negate {x} : {kind}")[0]
        if chosen[0] == chosen[-1]:
            return [combine(case, combiner(case, chosen[0]), chosen[0], x, y)], [
                ((), chosen[0])]
        y = case.op("convert", y, [((), chosen[-1])], ((), "i1"))
        other = case.scalar(1, chosen[0])
        return [case.emit(f"stablehlo.select {y}, {x}, {other} : tensor<i1>, {kind}")[0]
                ], [((), chosen[0])]
    region = case.region([((), e) for e in chosen], build)
    y = case.generic("stablehlo.map", names, f"dimensions = {array_of(range(len(shape)))}",
                     [(shape, e) for e in chosen], [(shape, chosen[0])], [region])[0]
    case.output(y, shape, chosen[0])


def sort(case):
    chosen = [case.pick(NUMBERS)] + [case.pick(ALL) for _ in range(case.below(3))]
    shape = case.shape(1, 3)
    if case.chance(0.15):
        shape = (case.pick([100, 300]),)
    dim = case.below(len(shape))
    direction = case.pick(["LT", "GT"])
    two_keys = len(chosen) > 1 and chosen[1] != "i1" and case.chance(0.4)
    def order(x, y, element):
        kind = ", TOTALORDER" if is_float(element) else ""
        return case.op("compare", f"{direction}, {x}, {y}{kind}", [((), element)] * 2,
                       ((), "i1"))
    def build(names):
        first = order(names[0], names[1], chosen[0])
        if not two_keys:
            return [first], [((), "i1")]
        kind = ", TOTALORDER" if is_float(chosen[0]) else ""
        equal = case.op("compare", f"EQ, {names[0]}, {names[1]}{kind}",
                        [((), chosen[0])] * 2, ((), "i1"))
        second = order(names[2], names[3], chosen[1])
        return [case.emit(f"stablehlo.select {equal}, {second}, {first} : tensor<i1>, "
                          "tensor<i1>")[0]], [((), "i1")]
    region = case.region([((), e) for e in chosen for _ in range(2)], build)
    style = case.pick(["any", "small", "special"])
    names = [case.input(shape, e, style) for e in chosen]
    types = [(shape, e) for e in chosen]
    stable = "true" if case.chance(0.5) else "false"
    written = dim - len(shape) if case.chance(0.3) else dim
    results = case.generic("stablehlo.sort", names,
                           f"dimension = {written} : i64, is_stable = {stable}", types,
                           types, [region])
    for result, e in zip(results, chosen):
        case.output(result, shape, e)


def top_k(case):
    element = case.pick(NUMBERS)
    shape = case.shape(1, 3)
    k = case.between(0, shape[-1])
    x = case.input(shape, element)
    result = shape[:-1] + (k,)
    values, indices = case.emit(
        f"chlo.top_k({x}, k = {k}) : {text_of(shape, element)} -> "
        f"({text_of(result, element)}, {text_of(result, 'i32')})", 2)
    case.output(values, result, element)
    case.output(indices, result, "i32")


# Control flow.

def step(case, x, shape, element):
    """An exact operation on a carried value."""
    kind = text_of(shape, element)
    if element == "i1":
        return case.emit(f"stablehlo.not {x} : {kind}")[0]
    name = case.pick(["add", "maximum", "subtract"])
    y = case.constant(case.values(shape, element, "small"), element)
    return case.emit(f"stablehlo.{name} {x}, {y} : {kind}")[0]


def loop_on(case, counter, bound, carried, body):
    """A while loop from 0 to `bound`; `body` gets the names of all carried values."""
    types = [((), counter)] + [of for _, of in carried]
    zero = case.scalar(0, counter)
    names = [case.name() for _ in types]
    outer, case.lines = case.lines, []
    test = case.op("compare", f"LT, {names[0]}, {bound}", [((), counter)] * 2, ((), "i1"))
    cond = "\n".join(case.lines + [f"stablehlo.return {test} : tensor<i1>"])
    case.lines = []
    results = body(names)
    one = case.scalar(1, counter)
    after = case.emit(f"stablehlo.add {names[0]}, {one} : {text_of((), counter)}")[0]
    kinds = ", ".join(text_of(*of) for of in types)
    case.lines.append(f"stablehlo.return {', '.join([after] + results)} : {kinds}")
    inner = "\n".join(case.lines)
    case.lines = outer
    operands = [zero] + [name for name, _ in carried]
    pairs = ", ".join(f"{a} = {b}" for a, b in zip(names, operands))
    return case.emit(f"stablehlo.while({pairs}) : {kinds}\n cond {{\n{cond}\n}} do {{\n"
                     f"{inner}\n}}", max(2, len(types)))


def counted_while(case):
    counter = case.pick(["i32", "i64", "ui32", "i8"])
    shapes = [case.shape(0, 2, 60) for _ in range(case.between(1, 3))]
    chosen = [case.pick(ALL) for _ in shapes]
    carried = [(case.input(shape, e, "small"), (shape, e))
               for shape, e in zip(shapes, chosen)]
    count = case.given(np.array(case.between(0, 5)).astype(
        np.dtype({"i32": "int32", "i64": "int64", "ui32": "uint32", "i8": "int8"}[
            counter])), counter)
    def body(names):
        results = [step(case, x, *of) for x, (_, of) in zip(names[1:], carried)]
        if case.chance(0.3):
            # What does not change is returned as it came.
            results[0] = names[1]
        return results
    results = loop_on(case, counter, count, carried, body)
    for result, (_, of) in zip(results[1:], carried):
        case.output(result, *of)


def scan(case):
    """A loop over rows that are read and written by slices, as scan is printed."""
    element, rows = case.pick(NUMBERS), case.between(1, 5)
    shape = case.shape(0, 2, 40)
    whole = (rows,) + shape
    xs = case.input(whole, element, "small")
    ys = case.constant(np.zeros(whole, case.values((), element, "small").dtype), element)
    state = case.input(shape, element, "small")
    bound = case.scalar(rows, "i32")
    carried = [(xs, (whole, element)), (state, (shape, element)), (ys, (whole, element))]
    def body(names):
        i, xs, state, ys = names
        zero = case.scalar(0, "i32")
        at = [i] + [zero] * len(shape)
        row = (1,) + shape
        part = case.op("dynamic_slice", f"{', '.join([xs] + at)}, sizes = {list_of(row)}",
                       [(whole, element)] + [((), "i32")] * len(whole), (row, element))
        flat = case.op("reshape", part, [(row, element)], (shape, element))
        new = case.emit(f"stablehlo.add {state}, {flat} : {text_of(shape, element)}")[0]
        part = case.op("reshape", new, [(shape, element)], (row, element))
        ys = case.op("dynamic_update_slice", ", ".join([ys, part] + at),
                     [(whole, element), (row, element)] + [((), "i32")] * len(whole),
                     (whole, element))
        return [xs, new, ys]
    results = loop_on(case, "i32", bound, carried, body)
    case.output(results[2], shape, element)
    case.output(results[3], whole, element)


def searching_while(case):
    """A loop whose end depends on data: the total doubles until it is large."""
    element = case.pick(["f32", "i32", "f64", "i64"])
    start = case.given(case.values((), element, "positive"), element)
    limit = case.scalar(1000, element)
    kind = text_of((), element)
    x, n = case.name(), case.name()
    outer, case.lines = case.lines, []
    test = case.op("compare", f"LT, {x}, {limit}", [((), element)] * 2, ((), "i1"))
    cond = "\n".join(case.lines + [f"stablehlo.return {test} : tensor<i1>"])
    case.lines = []
    twice = case.emit(f"stablehlo.add {x}, {x} : {kind}")[0]
    one = case.scalar(1, "i32")
    more = case.emit(f"stablehlo.add {n}, {one} : tensor<i32>")[0]
    case.lines.append(f"stablehlo.return {twice}, {more} : {kind}, tensor<i32>")
    body = "\n".join(case.lines)
    case.lines = outer
    zero = case.scalar(0, "i32")
    results = case.emit(f"stablehlo.while({x} = {start}, {n} = {zero}) : {kind}, "
                        f"tensor<i32>\n cond {{\n{cond}\n}} do {{\n{body}\n}}", 2)
    case.output(results[0], (), element)
    case.output(results[1], (), "i32")


def branch(case):
    chosen = [(case.shape(0, 2, 60), case.pick(ALL)) for _ in range(case.between(1, 2))]
    values = [case.input(*of, "small") for of in chosen]
    is_case = case.chance(0.5)
    count = case.between(1, 4) if is_case else 2
    if is_case:
        index = case.given(np.array(case.between(-1, count), np.int32), "i32")
    else:
        index = case.input((), "i1")
    regions = [case.region([], lambda _: (
        [step(case, x, *of) if case.chance(0.8) else x for x, of in zip(values, chosen)],
        chosen)) for _ in range(count)]
    results = case.generic("stablehlo.case" if is_case else "stablehlo.if", [index], "",
                           [((), "i32" if is_case else "i1")], chosen, regions)
    for result, of in zip(results, chosen):
        case.output(result, *of)


def call(case):
    shape, element = case.shape(), case.pick(ALL)
    kind, name = text_of(shape, element), f"f{case.seed}"
    outer, case.lines = case.lines, []
    result = step(case, "%arg0", shape, element)
    body = "\n".join(case.lines)
    case.lines = outer
    case.functions.append(f"func.func private @{name}(%arg0: {kind}) -> {kind} {{\n{body}"
                          f"\nreturn {result} : {kind}\n}}")
    x = case.input(shape, element, "small")
    if case.chance(0.5):
        y = case.emit(f"func.call @{name}({x}) : ({kind}) -> {kind}")[0]
        y = case.emit(f"func.call @{name}({y}) : ({kind}) -> {kind}")[0]
    else:
        y = case.emit(f'stablehlo.composite "random.f" {x} {{decomposition = @{name}}} : '
                      f"({kind}) -> {kind}")[0]
    y, z = case.emit(f"stablehlo.optimization_barrier {y}, {x} : {kind}, {kind}", 2)
    case.output(y, shape, element)
    case.output(z, shape, element)


GENERATORS = [(reduce, 5), (reduce_short, 3), (reduce_window, 5), (select_and_scatter, 3),
              (map_, 2), (sort, 4), (top_k, 1), (counted_while, 2), (scan, 2),
              (searching_while, 1), (branch, 2), (call, 1)]
