# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random products, indexed access, linear algebra, and random bits."""

import numpy as np

import elements
from elements import is_float, is_unsigned
from random_case import (ALL, FLOATS, INTEGERS, NUMBERS, array_of, list_of,
                         text_of)
from random_regions import combine, combiner, terms_of


def product_types(case):
    """Element types of operands and result."""
    element = case.pick(NUMBERS)
    if case.chance(0.15):
        wider = {"f16": "f32", "bf16": "f32", "f32": "f64", "i8": "i32", "ui8": "ui32",
                 "i16": "i32", "i32": "i64"}
        return element, wider.get(element, element)
    return element, element


def dot_general(case):
    element, result_element = product_types(case)
    batch = [case.between(1, 3) for _ in range(case.pick([0, 0, 1, 2]))]
    inner = [case.pick([0, 1, 2, 3, 5, 8, 17]) for _ in range(case.pick([0, 1, 1, 2]))]
    sides, dims = [], []
    free = [[case.pick([1, 2, 3, 4, 9, 16]) for _ in range(case.pick([0, 1, 1, 2]))]
            for _ in range(2)]
    if case.chance(0.05):
        free[0] = [0]
    elif case.chance(0.08):
        # Large enough for tiles.
        inner, free = [case.pick([64, 130, 257])], [[case.pick([33, 64, 100])]
                                                    for _ in range(2)]
    for part in free:
        labels = [("b", i) for i in range(len(batch))] + [
            ("c", i) for i in range(len(inner))] + [("f", i) for i in range(len(part))]
        labels = case.subset(labels, len(labels))
        sizes = {"b": batch, "c": inner, "f": part}
        # Free dimensions keep their order.
        free_order = iter(range(len(part)))
        labels = [("f", next(free_order)) if kind == "f" else (kind, i)
                  for kind, i in labels]
        sides.append(tuple(sizes[kind][i] for kind, i in labels))
        dims.append([[labels.index((kind, i)) for i in range(len(sizes[kind]))]
                     for kind in "bc"])
    names = [case.input(shape, element, "small") for shape in sides]
    result = tuple(batch + free[0] + free[1])
    text = ", ".join(names)
    if batch:
        text += f", batching_dims = {list_of(dims[0][0])} x {list_of(dims[1][0])}"
    text += f", contracting_dims = {list_of(dims[0][1])} x {list_of(dims[1][1])}"
    if case.chance(0.4):
        words = [case.pick(["DEFAULT", "HIGH", "HIGHEST"]) for _ in range(2)]
        text += f", precision = [{', '.join(words)}]"
    y = case.op("dot_general", text, [(shape, element) for shape in sides],
                (result, result_element))
    case.output(y, result, result_element)


def convolution(case):
    element, result_element = product_types(case)
    rank = case.pick([1, 1, 2, 2, 2, 3, 0])
    features = case.pick([1, 1, 1, 2, 3])
    batches = case.pick([1, 1, 1, 2]) if features == 1 else 1
    n, c = case.between(1, 2) * batches, case.between(1, 3)
    outs = case.between(1, 3)
    # Large enough for tiles.
    is_large = rank == 2 and case.chance(0.15)
    if is_large:
        c, outs = case.pick([8, 16, 19]), case.pick([8, 24, 33])
    outs *= features * batches
    while True:
        low = 9 if is_large else 1
        sizes = [case.between(low, low + 6) for _ in range(rank)]
        window = [case.between(1, 3) for _ in range(rank)]
        strides = [case.pick([1, 1, 2, 3]) for _ in range(rank)]
        base = [case.pick([1, 1, 1, 2, 3]) for _ in range(rank)]
        dilation = [case.pick([1, 1, 1, 2]) for _ in range(rank)]
        padding = [[case.pick([0, 0, 1, 2, -1]) for _ in range(2)] for _ in range(rank)]
        reversal = [case.chance(0.25) for _ in range(rank)]
        counts = []
        for size, w, s, b, d, pair in zip(sizes, window, strides, base, dilation, padding):
            whole = (size - 1) * b + 1 + sum(pair)
            needed = (w - 1) * d + 1
            if whole < 0:
                break
            counts.append(0 if whole == 0 or needed > whole else (whole - needed) // s + 1)
        if len(counts) == rank:
            break
    def arrange(first, second, spatial):
        labels = case.subset(list(range(rank + 2)), rank + 2)
        values = [first, second] + list(spatial)
        return labels, tuple(values[label] for label in labels)
    def words(labels, names):
        return "[" + ", ".join(names[i] if i < 2 else str(i - 2) for i in labels) + "]"
    lhs_labels, lhs = arrange(n, c * features, sizes)
    rhs_labels, rhs = arrange(outs, c, window)
    out_labels, out = arrange(n // batches, outs, counts)
    entries = []
    def entry(name, numbers, default):
        if any(number != default for number in numbers) or case.chance(0.3):
            entries.append(f"{name} = {list_of(numbers)}")
    entry("stride", strides, 1)
    if np.any(padding) or case.chance(0.3):
        entries.append("pad = [" + ", ".join(list_of(pair) for pair in padding) + "]")
    entry("lhs_dilate", base, 1)
    entry("rhs_dilate", dilation, 1)
    if any(reversal):
        entries.append("reverse = [" + ", ".join(
            "true" if r else "false" for r in reversal) + "]")
    x, w = case.input(lhs, element, "small"), case.input(rhs, element, "small")
    text = (f"({x}, {w}) dim_numbers = {words(lhs_labels, 'bf')}x"
            f"{words(rhs_labels, 'oi')}->{words(out_labels, 'bf')}, window = "
            f"{{{', '.join(entries)}}} {{batch_group_count = {batches} : i64, "
            f"feature_group_count = {features} : i64}}")
    y = case.op("convolution", text, [(lhs, element), (rhs, element)],
                (out, result_element))
    case.output(y, out, result_element)


# Indexed access.

def index_values(case, shape, element, limit):
    low = 0 if is_unsigned(element) else -2
    values = case.random.integers(low, limit + 2, shape)
    if case.chance(0.15):
        return case.values(shape, element)
    return values.astype(elements.DTYPES[element])


class Indexed:
    """Dimension numbers that gather and scatter have in common."""

    def __init__(self, case):
        rank = case.between(1, 4)
        self.shape = tuple(case.pick([1, 2, 3, 4, 6]) for _ in range(rank))
        dims = case.subset(range(rank), rank)
        batching = case.pick([0, 0, 0, 1, 2])
        self.batching = sorted(dims[:min(batching, rank - 1)])
        others = [d for d in dims if d not in self.batching]
        self.dropped = sorted(case.subset(others, case.between(0, len(others))))
        self.windows = [d for d in range(rank)
                        if d not in self.batching and d not in self.dropped]
        components = case.between(1, len(others))
        self.index_map = case.subset(others, components)
        # Dimensions of the indices without the vector, then with it.
        batch = [("batch", d) for d in self.batching] + [
            ("free", case.pick([1, 2, 3, 4])) for _ in range(case.below(3))]
        batch = case.subset(batch, len(batch))
        self.batch = [self.shape[d] if kind == "batch" else d for kind, d in batch]
        if case.chance(0.03) and self.batch and not self.batching:
            self.batch[0] = 0
        self.vector_dim = case.between(0, len(batch))
        indices = list(self.batch)
        if not (components == 1 and self.vector_dim == len(batch) and case.chance(0.5)):
            indices.insert(self.vector_dim, components)
        self.indices = tuple(indices)
        where = [batch.index(("batch", d)) for d in self.batching]
        self.indices_batching = [i + (i >= self.vector_dim) for i in where]
        self.sizes = [1 if d in self.batching or d in self.dropped else
                      case.between(1, self.shape[d]) for d in range(rank)]
        if case.chance(0.03) and self.windows:
            self.sizes[self.windows[0]] = 0
        # The dimensions of the result: the batch, and windows at sorted places.
        total = len(self.batch) + len(self.windows)
        self.offsets = sorted(case.subset(range(total), len(self.windows)))
        sizes, batch_sizes = iter([self.sizes[d] for d in self.windows]), iter(self.batch)
        self.result = tuple(next(sizes) if d in self.offsets else next(batch_sizes)
                            for d in range(total))

    def lists(self, names):
        values = (self.offsets, self.dropped, self.batching, self.indices_batching,
                  self.index_map)
        parts = [f"{name} = {list_of(value)}" for name, value in zip(names, values)
                 if value]
        if self.vector_dim:
            parts.append(f"index_vector_dim = {self.vector_dim}")
        return ", ".join(parts)


def gather(case):
    numbers, element, index = Indexed(case), case.pick(ALL), case.pick(INTEGERS)
    x = case.input(numbers.shape, element)
    at = case.given(index_values(case, numbers.indices, index, max(numbers.shape)), index)
    names = ("offset_dims", "collapsed_slice_dims", "operand_batching_dims",
             "start_indices_batching_dims", "start_index_map")
    y = case.generic("stablehlo.gather", [x, at], "dimension_numbers = #stablehlo.gather<"
                     f"{numbers.lists(names)}>, slice_sizes = {array_of(numbers.sizes)}",
                     [(numbers.shape, element), (numbers.indices, index)],
                     [(numbers.result, element)])[0]
    case.output(y, numbers.result, element)


def scatter(case):
    numbers, index = Indexed(case), case.pick(INTEGERS)
    chosen = [case.pick(ALL) for _ in range(case.pick([1, 1, 1, 2, 3]))]
    ways = [combiner(case, element) for element in chosen]
    is_update = case.chance(0.15)
    at = case.given(index_values(case, numbers.indices, index, max(numbers.shape)), index)
    inputs = [case.given(terms_of(case, numbers.shape, e, way), e)
              for e, way in zip(chosen, ways)]
    updates = [case.given(terms_of(case, numbers.result, e, way), e)
               for e, way in zip(chosen, ways)]
    def build(names):
        count = len(chosen)
        if is_update:
            return names[count:], [((), e) for e in chosen]
        return [combine(case, way, e, names[i], names[count + i])
                for i, (way, e) in enumerate(zip(ways, chosen))], [((), e) for e in chosen]
    region = case.region([((), e) for e in chosen] * 2, build)
    names = ("update_window_dims", "inserted_window_dims", "input_batching_dims",
             "scatter_indices_batching_dims", "scatter_dims_to_operand_dims")
    whole = [(numbers.shape, e) for e in chosen]
    types = whole + [(numbers.indices, index)] + [(numbers.result, e) for e in chosen]
    results = case.generic("stablehlo.scatter", inputs + [at] + updates,
                           "scatter_dimension_numbers = #stablehlo.scatter<"
                           f"{numbers.lists(names)}>", types, whole, [region])
    for result, e in zip(results, chosen):
        case.output(result, numbers.shape, e)


# Linear algebra.

TOLERANCES = {"f32": 1e-3, "f64": 1e-9, "f16": 0.2, "bf16": 0.9}


def cholesky(case):
    element = case.pick(FLOATS)
    batch, n = case.shape(0, 2, 6), case.between(0, 6)
    part = case.random.standard_normal(batch + (n, n))
    matrix = part @ np.swapaxes(part, -1, -2) + 3 * np.eye(n)
    shape = batch + (n, n)
    x = case.given(elements.round_to(matrix, element), element)
    lower = case.pick(["", ", lower = true"])
    y = case.emit(f"stablehlo.cholesky {x}{lower} : {text_of(shape, element)}")[0]
    case.output(y, shape, element, TOLERANCES[element])


def triangular_solve(case):
    element = case.pick(FLOATS)
    batch, n, m = case.shape(0, 2, 6), case.between(0, 6), case.between(0, 4)
    is_left = case.chance(0.5)
    a_shape, b_shape = batch + (n, n), batch + ((n, m) if is_left else (m, n))
    # The other triangle has values that must not be read.
    matrix = case.random.random(a_shape) * 0.3 + 2 * np.eye(n)
    a = case.given(elements.round_to(matrix, element), element)
    b = case.input(b_shape, element, "unit")
    words = ["true" if case.chance(0.5) else "false" for _ in range(2)]
    transpose = case.pick(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
    y = case.generic(
        "stablehlo.triangular_solve", [a, b],
        f"left_side = {'true' if is_left else 'false'}, lower = {words[0]}, "
        f"unit_diagonal = {words[1]}, transpose_a = #stablehlo<transpose {transpose}>",
        [(a_shape, element), (b_shape, element)], [(b_shape, element)])[0]
    case.output(y, b_shape, element, TOLERANCES[element])


def batch_norm(case):
    element = case.pick(FLOATS)
    shape = tuple(max(2, size) for size in case.shape(1, 4, 200))
    dim = case.below(len(shape))
    vector = ((shape[dim],), element)
    x = case.input(shape, element, "unit")
    whole = (shape, element)
    scale = case.input(*vector, "positive")
    properties = f"epsilon = 1.0e-3 : f32, feature_index = {dim} : i64"
    name = case.pick(["inference", "training", "grad"])
    others = [case.input(*vector, "unit")]
    if name != "training":
        others.append(case.input(*vector, "unit"))
    types = [whole, vector] + [vector] * len(others)
    if name == "inference":
        others.append(case.input(*vector, "positive"))
        types.append(vector)
    if name == "grad":
        others = [others[0], case.input(*vector, "positive"),
                  case.input(*whole, "unit")]
        types = [whole, vector, vector, vector, whole]
    outputs = [whole] if name == "inference" else [whole, vector, vector]
    results = case.generic("stablehlo.batch_norm_" + name, [x, scale] + others, properties,
                           types, outputs)
    tolerance = {"f32": 1e-2, "f64": 1e-8}.get(element, None)
    for result, of in zip(results, outputs):
        # Intermediate results of 16 bits are far from exact ones.
        if tolerance:
            case.output(result, *of, tolerance)


def rng_bit_generator(case):
    element = case.pick(NUMBERS)
    shape = case.shape(0, 3, 100)
    is_philox = case.chance(0.5)
    algorithm = "PHILOX" if is_philox else case.pick(["THREE_FRY", "DEFAULT"])
    size = case.pick([2, 3]) if is_philox else 2
    state = case.random.integers(0, 2 ** 64 - 1, size, np.uint64, endpoint=True)
    if case.chance(0.2):
        state[1] = np.uint64(2 ** 64 - 2)
    if is_float(element):
        # Bits of a NaN are not kept by moves of floats.
        element = "ui" + str(elements.width(element))
    x = case.given(state, "ui64")
    after, bits = case.emit(
        f"stablehlo.rng_bit_generator {x}, algorithm = {algorithm} : "
        f"({text_of((size,), 'ui64')}) -> ({text_of((size,), 'ui64')}, "
        f"{text_of(shape, element)})", 2)
    case.output(after, (size,), "ui64")
    case.output(bits, shape, element)


GENERATORS = [(dot_general, 7), (convolution, 7), (gather, 5), (scatter, 7),
              (cholesky, 1), (triangular_solve, 1), (batch_norm, 1),
              (rng_bit_generator, 2)]
