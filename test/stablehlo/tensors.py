# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on whole tensors.

Each function takes the operation, its operands, and a function that runs one of its
regions on arrays of elements.
"""

import re

import numpy as np

import elements
import elementwise
import random_bits
from elements import round_to
from generic_form import number_of, numbers_of

# Sums of more terms than this are exact and rounded once, as they are faster.
MOST_TERMS = 1 << 22


def dtype_of(op, i=0):
    return elements.DTYPES[op.types[i].element]


# Shapes.

def broadcast_in_dim(op, operands, _):
    shape = op.types[0].shape
    dims = op["broadcast_dimensions"]
    order = sorted(range(len(dims)), key=lambda i: dims[i])
    value = np.transpose(operands[0], order)
    sizes = [1] * len(shape)
    for i in order:
        sizes[dims[i]] = operands[0].shape[i]
    return np.broadcast_to(value.reshape(sizes), shape)


def pad_array(value, fill, low, high, interior):
    sizes = [max(0, lo + hi + size + max(size - 1, 0) * inner) for size, lo, hi, inner
             in zip(value.shape, low, high, interior)]
    result = np.full(sizes, fill, value.dtype)
    sources, targets = [], []
    for size, lo, inner, total in zip(value.shape, low, interior, sizes):
        place = lo + np.arange(size) * (inner + 1)
        kept = (place >= 0) & (place < total)
        sources.append(np.arange(size)[kept])
        targets.append(place[kept])
    if value.ndim == 0:
        return value
    result[np.ix_(*targets)] = value[np.ix_(*sources)]
    return result


def pad(op, operands, _):
    return pad_array(*operands, op["edge_padding_low"], op["edge_padding_high"],
                     op["interior_padding"])


def slice_(op, operands, _):
    return operands[0][tuple(
        slice(*part) for part in zip(op["start_indices"], op["limit_indices"],
                                     op["strides"]))]


def starts(indices, sizes, shape):
    return [min(max(int(i), 0), whole - size)
            for i, size, whole in zip(indices, sizes, shape)]


def dynamic_slice(op, operands, _):
    value, *indices = operands
    sizes = op["slice_sizes"]
    begin = starts(indices, sizes, value.shape)
    return value[tuple(slice(i, i + n) for i, n in zip(begin, sizes))]


def dynamic_update_slice(_, operands, __):
    value, update, *indices = operands
    begin = starts(indices, update.shape, value.shape)
    result = np.array(value)
    result[tuple(slice(i, i + n) for i, n in zip(begin, update.shape))] = update
    return result


def iota(op, _, __):
    shape, element = op.types[0]
    dim = op["iota_dimension"]
    numbers = np.arange(shape[dim])
    if not elements.is_float(element):
        numbers = numbers.astype(elements.DTYPES[element])
    sizes = [1] * len(shape)
    sizes[dim] = shape[dim]
    return np.broadcast_to(round_to(numbers, element).reshape(sizes), shape)


def bitcast_convert(op, operands, _):
    source, target = op.operand_types[0].element, op.types[0].element
    shape = op.types[0].shape
    # i1 counts as one bit.
    def bit_width(element):
        return 1 if element == "i1" else elements.width(element)
    wide, narrow = bit_width(source), bit_width(target)
    bits = elements.to_bits(operands[0], source)
    if wide == narrow:
        return elements.from_bits(bits, target)
    count = max(wide, narrow) // min(wide, narrow)
    small = np.dtype(f"uint{max(8, min(wide, narrow))}")
    if wide > narrow:
        parts = [(bits >> bits.dtype.type(i * narrow)) & bits.dtype.type(
            (1 << narrow) - 1) for i in range(count)]
        return elements.from_bits(np.stack(parts, -1).astype(small).reshape(shape),
                                  target)
    large = elements.bits_dtype(target)
    result = np.zeros(shape, large)
    for i in range(count):
        result |= bits[..., i].astype(large) << large.type(i * wide)
    return elements.from_bits(result, target)


# Indexed access.

def index_parts(indices, vector_dim):
    """The list of index components, each an array of the other dimensions."""
    if vector_dim == indices.ndim:
        indices = indices[..., None]
    moved = np.moveaxis(indices, vector_dim, 0)
    # Beyond int64 all places are out of range.
    if moved.dtype == np.uint64:
        moved = np.minimum(moved, np.uint64(np.iinfo(np.int64).max))
    return [part.astype(np.int64) for part in moved]


def gather(op, operands, _):
    value, indices = operands
    numbers = op["dimension_numbers"]
    offset_dims = numbers_of(numbers, "offset_dims")
    dropped = (numbers_of(numbers, "collapsed_slice_dims") +
               numbers_of(numbers, "operand_batching_dims"))
    vector_dim = number_of(numbers, "index_vector_dim")
    sizes = op["slice_sizes"]
    shape = op.types[0].shape
    grid = np.indices(shape)
    batch = [grid[d] for d in range(len(shape)) if d not in offset_dims]
    offsets = iter(grid[d] for d in offset_dims)
    parts = index_parts(indices, vector_dim)
    place = [np.zeros(shape, np.int64) for _ in value.shape]
    for component, dim in enumerate(numbers_of(numbers, "start_index_map")):
        start = parts[component][tuple(batch)]
        place[dim] += np.clip(start, 0, value.shape[dim] - sizes[dim])
    for dim, at in zip(numbers_of(numbers, "operand_batching_dims"),
                       numbers_of(numbers, "start_indices_batching_dims")):
        place[dim] += batch[at - (at > vector_dim)]
    for dim in range(value.ndim):
        if dim not in dropped:
            place[dim] += next(offsets)
    return value[tuple(place)] if value.size else np.zeros(shape, value.dtype)


def combine_at(results, places, updates, combine):
    """Combines updates with the elements at places, in order, where these repeat."""
    if places.size == 0:
        return
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    first = np.r_[True, ordered[1:] != ordered[:-1]]
    number = np.arange(places.size) - np.maximum.accumulate(
        np.where(first, np.arange(places.size), 0))
    for turn in range(int(number.max()) + 1):
        now = order[number == turn]
        at = places[now]
        combined = combine([result[at] for result in results],
                           [update[now] for update in updates])
        for result, values in zip(results, combined):
            result[at] = values


def scatter(op, operands, apply):
    count = len(operands) // 2
    inputs, indices, updates = operands[:count], operands[count], operands[count + 1:]
    numbers = op["scatter_dimension_numbers"]
    window_dims = numbers_of(numbers, "update_window_dims")
    dropped = (numbers_of(numbers, "inserted_window_dims") +
               numbers_of(numbers, "input_batching_dims"))
    vector_dim = number_of(numbers, "index_vector_dim")
    shape = inputs[0].shape
    grid = np.indices(updates[0].shape)
    batch = [grid[d] for d in range(len(grid)) if d not in window_dims]
    windows = iter(grid[d] for d in window_dims)
    parts = index_parts(indices, vector_dim)
    # Starts may be near the ends of int64, so clip them before offsets are added.
    bound = 1 << 40
    place = [np.zeros(updates[0].shape, np.int64) for _ in shape]
    for component, dim in enumerate(numbers_of(numbers, "scatter_dims_to_operand_dims")):
        place[dim] += np.clip(parts[component][tuple(batch)], -bound, bound)
    for dim, at in zip(numbers_of(numbers, "input_batching_dims"),
                       numbers_of(numbers, "scatter_indices_batching_dims")):
        place[dim] += batch[at - (at > vector_dim)]
    for dim in range(len(shape)):
        if dim not in dropped:
            place[dim] += next(windows)
    inside = np.ones(updates[0].shape, bool)
    flat = np.zeros(updates[0].shape, np.int64)
    for where, size in zip(place, shape):
        inside &= (where >= 0) & (where < size)
        flat = flat * size + where
    results = [np.array(value).reshape(-1) for value in inputs]
    combine_at(results, flat[inside], [update[inside] for update in updates],
               lambda old, new: apply(0, old + new))
    return [result.reshape(shape) for result in results]


# Products.

def sum_products(terms, lefts, rights, kind):
    """The sum over a range of products, term by term."""
    total = kind.type(0)
    for i in range(terms):
        product = lefts(i) * rights(i)
        total = total | product if kind == bool else total + product
    return total


def product_type(op):
    """The type in which products are added up."""
    element = op.types[0].element
    return np.dtype(np.float32) if element in ("f16", "bf16") else dtype_of(op)


def dot_general(op, operands, _):
    lhs, rhs = operands
    numbers = op["dot_dimension_numbers"]
    sides = []
    for side, value in (("lhs", lhs), ("rhs", rhs)):
        batch = numbers_of(numbers, side + "_batching_dimensions")
        inner = numbers_of(numbers, side + "_contracting_dimensions")
        free = [d for d in range(value.ndim) if d not in batch + inner]
        shape = [int(np.prod([value.shape[d] for d in dims], dtype=np.int64))
                 for dims in (batch, free, inner)]
        sides.append(np.transpose(value, batch + free + inner).reshape(shape))
    kind = product_type(op)
    left, right = (side.astype(kind) for side in sides)
    terms = left.shape[2]
    shape = (left.shape[0], left.shape[1], right.shape[1])
    if terms == 0:
        result = np.zeros(shape, kind)
    elif terms * np.prod(shape, dtype=np.int64) <= MOST_TERMS or kind.kind != "f":
        result = sum_products(terms, lambda k: left[:, :, None, k],
                              lambda k: right[:, None, :, k], kind)
    else:
        result = np.matmul(left.astype(np.float64),
                           right.astype(np.float64).transpose(0, 2, 1))
    return round_to(result, op.types[0].element).reshape(op.types[0].shape)


def conv_dims(text):
    """For each of input, kernel and output: its dimensions, features first."""
    orders = []
    for part, (outer, inner) in zip(re.findall(r"\[([^\]]*)\]", text),
                                    ("bf", "oi", "bf")):
        names = [name.strip() for name in part.split(",")]
        count = len(names) - 2
        orders.append([names.index(outer), names.index(inner)] +
                      [names.index(str(i)) for i in range(count)])
    return orders


def convolution(op, operands, _):
    input_order, kernel_order, output_order = conv_dims(op["dimension_numbers"])
    kind = product_type(op)
    lhs = np.transpose(operands[0], input_order).astype(kind)
    rhs = np.transpose(operands[1], kernel_order).astype(kind)
    rank = lhs.ndim - 2
    strides = op["window_strides"] or [1] * rank
    padding = op["padding"] if op["padding"] is not None else np.zeros((rank, 2), int)
    dilation = op["rhs_dilation"] or [1] * rank
    base = op["lhs_dilation"] or [1] * rank
    reversal = op["window_reversal"] or [False] * rank
    features, batches = op["feature_group_count"], op["batch_group_count"]
    lhs = pad_array(lhs, kind.type(0), [0, 0] + [int(p) for p in padding[:, 0]],
                    [0, 0] + [int(p) for p in padding[:, 1]],
                    [0, 0] + [d - 1 for d in base])
    rhs = np.flip(rhs, [i + 2 for i in range(rank) if reversal[i]])
    shape = [op.types[0].shape[d] for d in output_order]
    groups = features * batches
    n, c, outs = lhs.shape[0], rhs.shape[1], rhs.shape[0]
    # Dimensions: group, image, feature, place.
    if batches > 1:
        data = lhs.reshape((batches, n // batches) + lhs.shape[1:])
    else:
        data = np.moveaxis(lhs.reshape((n, features, c) + lhs.shape[2:]), 1, 0)
    kernel = rhs.reshape((groups, outs // groups) + rhs.shape[1:])
    terms = c * int(np.prod(rhs.shape[2:], dtype=np.int64))
    total = np.zeros((groups, data.shape[1], outs // groups) + tuple(shape[2:]), kind)
    is_small = terms * total.size <= MOST_TERMS or kind.kind != "f"
    if not is_small:
        total = total.astype(np.float64)
    for at in np.ndindex(*rhs.shape[2:]):
        part = data[(slice(None),) * 3 + tuple(
            slice(i * d, i * d + (size - 1) * stride + 1, stride) if size else
            slice(0, 0) for i, d, size, stride
            in zip(at, dilation, shape[2:], strides))]
        weights = kernel[(slice(None),) * 3 + at]
        if is_small:
            for i in range(c):
                scale = weights[:, None, :, i].reshape(
                    (groups, 1, outs // groups) + (1,) * rank)
                product = part[:, :, None, i] * scale
                total = total | product if kind == bool else total + product
        else:
            flat = part.astype(np.float64).reshape(part.shape[:3] + (-1,))
            product = np.matmul(weights.astype(np.float64)[:, None], flat)
            total += product.reshape(total.shape)
    joined = np.moveaxis(total, 0, 1)
    joined = joined.reshape((total.shape[1], outs) + tuple(shape[2:]))
    result = np.transpose(joined, np.argsort(output_order))
    return round_to(result, op.types[0].element).reshape(op.types[0].shape)


# Linear algebra.

def cholesky(op, operands, _):
    element = op.types[0].element
    a = operands[0].astype(np.float64)
    if not op["lower"]:
        a = np.swapaxes(a, -1, -2)
    factor = np.zeros_like(a)
    for j in range(a.shape[-1]):
        column = a[..., j:, j] - np.einsum("...ik,...k->...i", factor[..., j:, :j],
                                           factor[..., j, :j])
        pivot = column[..., :1]
        pivot = np.sqrt(np.where(pivot > 0, pivot, np.nan))
        factor[..., j:, j] = np.concatenate([pivot, column[..., 1:] / pivot], -1)
    if not op["lower"]:
        factor = np.swapaxes(factor, -1, -2)
    return round_to(factor, element)


def triangular_solve(op, operands, _):
    a, b = (value.astype(np.float64) for value in operands)
    if "NO_TRANSPOSE" not in op["transpose_a"]:
        a, is_lower = np.swapaxes(a, -1, -2), not op["lower"]
    else:
        is_lower = op["lower"]
    if not op["left_side"]:
        a, b, is_lower = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), not is_lower
    x = np.zeros_like(b)
    size = a.shape[-1]
    for i in range(size) if is_lower else reversed(range(size)):
        known = slice(0, i) if is_lower else slice(i + 1, size)
        rest = b[..., i, :] - np.einsum("...k,...kj->...j", a[..., i, known],
                                        x[..., known, :])
        x[..., i, :] = rest if op["unit_diagonal"] else rest / a[..., i, i, None]
    if not op["left_side"]:
        x = np.swapaxes(x, -1, -2)
    return round_to(x, op.types[0].element)


# Reductions.

def region_types(op, values):
    """`values` converted to the types that the region combines."""
    types = op.regions[0].types[:len(values)]
    return [elementwise.convert_elements(value, own.element, of.element)
            if own.element != of.element else value
            for value, own, of in zip(values, op.operand_types, types)]


def reduce(op, operands, apply):
    count = len(operands) // 2
    dims = sorted(op["dimensions"])
    values = region_types(op, operands[:count])
    totals = region_types(op, operands[count:])
    kept = [d for d in range(values[0].ndim) if d not in dims]
    shape = tuple(values[0].shape[d] for d in kept)
    terms = int(np.prod([values[0].shape[d] for d in dims], dtype=np.int64))
    rows = [np.transpose(value, dims + kept).reshape((terms,) + shape)
            for value in values]
    totals = [np.broadcast_to(total, shape) for total in totals]
    ops = op.regions[0].ops
    if terms > 2000 and len(ops) == 2 and ops[0].name == "stablehlo.add" and (
            op.types[0].element in ("f32", "f64")):
        return [round_to(totals[0] + rows[0].astype(np.float64).sum(0),
                         op.types[0].element)]
    for i in range(terms):
        totals = apply(0, totals + [row[i] for row in rows])
    return [np.broadcast_to(total, shape) for total in totals]


def window_lists(op, rank):
    padding = op["padding"]
    return (op["window_dimensions"] or [1] * rank, op["window_strides"] or [1] * rank,
            op["base_dilations"] or [1] * rank, op["window_dilations"] or [1] * rank,
            [[int(n) for n in pair] for pair in padding] if padding is not None
            else [[0, 0]] * rank)


def reduce_window(op, operands, apply):
    count = len(operands) // 2
    rank = operands[0].ndim
    window, strides, base, dilation, padding = window_lists(op, rank)
    values = region_types(op, operands[:count])
    totals = region_types(op, operands[count:])
    shape = op.types[0].shape
    padded = [pad_array(value, init, [p[0] for p in padding], [p[1] for p in padding],
                        [d - 1 for d in base])
              for value, init in zip(values, totals)]
    totals = [np.broadcast_to(total, shape) for total in totals]
    if 0 in shape:
        return totals
    for at in np.ndindex(*window):
        place = tuple(slice(i * d, i * d + (size - 1) * stride + 1, stride)
                      for i, d, size, stride in zip(at, dilation, shape, strides))
        totals = apply(0, totals + [value[place] for value in padded])
    return [np.broadcast_to(total, shape) for total in totals]


def select_and_scatter(op, operands, apply):
    value, source, init = operands
    window, strides, _, _, padding = window_lists(op, value.ndim)
    chosen = np.zeros(source.shape, value.dtype)
    where = np.full(source.shape, -1, np.int64)
    grid = np.indices(source.shape)
    for at in np.ndindex(*window):
        inside = np.ones(source.shape, bool)
        flat = np.zeros(source.shape, np.int64)
        place = []
        for out, i, stride, (low, _), size in zip(grid, at, strides, padding,
                                                  value.shape):
            dim = out * stride + i - low
            inside &= (dim >= 0) & (dim < size)
            flat = flat * size + dim
            place.append(np.clip(dim, 0, max(size - 1, 0)))
        if not value.size:
            continue
        candidate = value[tuple(place)]
        stays = np.broadcast_to(apply(0, [chosen, candidate])[0], source.shape)
        moves = inside & ((where < 0) | ~stays)
        chosen = np.where(moves, candidate, chosen)
        where = np.where(moves, flat, where)
    result = np.full(value.shape, init, value.dtype).reshape(-1)
    found = where >= 0
    combine_at([result], where[found], [source[found]],
               lambda old, new: apply(1, old + new))
    return result.reshape(value.shape)


def map_(op, operands, apply):
    return [np.broadcast_to(apply(0, operands)[0], op.types[0].shape)]


def sort(op, operands, apply):
    dim = op["dimension"]
    dim = -1 if dim is None else dim
    rows = [np.moveaxis(value, dim, -1) for value in operands]
    shape = rows[0].shape
    size = shape[-1]
    if rows[0].size == 0:
        return operands
    flat = [row.reshape(-1, size) for row in rows]
    def precedes(first, second):
        """For all pairs: whether `first` comes before `second`."""
        arguments = []
        for row in flat:
            arguments += [row[:, first, None], row[:, None, :]] if second else [
                row[:, None, :], row[:, first, None]]
        pairs = (flat[0].shape[0], flat[0][:, first].shape[1], size)
        return np.broadcast_to(apply(0, arguments)[0], pairs)
    rank = np.zeros(flat[0].shape, np.int64)
    step = max(1, (1 << 22) // flat[0].size)
    numbers = np.arange(size)
    for begin in range(0, size, step):
        part = slice(begin, begin + step)
        before, after = precedes(part, False), precedes(part, True)
        earlier = numbers[None, None, :] < numbers[None, part, None]
        rank[:, part] = ((before & ~after) | ((before == after) & earlier)).sum(-1)
    order = np.argsort(rank, axis=-1, kind="stable")
    results = [np.take_along_axis(row, order, -1).reshape(shape) for row in flat]
    return [np.moveaxis(result, -1, dim) for result in results]


def top_k(op, operands, _):
    value, element = operands[0], op.operand_types[0].element
    key = elements.order_key(value, element) if elements.is_float(element) else value
    order = np.argsort(~key, axis=-1, kind="stable")[..., :op.types[0].shape[-1]]
    return [np.take_along_axis(value, order, -1), order.astype(dtype_of(op, 1))]


# Normalization.

def along(vector, rank, dim):
    sizes = [1] * rank
    sizes[dim] = -1
    return vector.astype(np.float64).reshape(sizes)


def moments(x, dim):
    axes = tuple(d for d in range(x.ndim) if d != dim)
    mean = x.mean(axes, keepdims=True)
    return axes, mean, ((x - mean) ** 2).mean(axes, keepdims=True)


def batch_norm_inference(op, operands, _):
    x, dim = operands[0].astype(np.float64), op["feature_index"]
    scale, offset, mean, variance = (along(v, x.ndim, dim) for v in operands[1:])
    return round_to((x - mean) / np.sqrt(variance + op["epsilon"]) * scale + offset,
                    op.types[0].element)


def batch_norm_training(op, operands, _):
    x, dim = operands[0].astype(np.float64), op["feature_index"]
    scale, offset = (along(v, x.ndim, dim) for v in operands[1:])
    _, mean, variance = moments(x, dim)
    result = (x - mean) / np.sqrt(variance + op["epsilon"]) * scale + offset
    return [round_to(part, op.types[0].element)
            for part in (result, mean.reshape(-1), variance.reshape(-1))]


def batch_norm_grad(op, operands, _):
    x, dim = operands[0].astype(np.float64), op["feature_index"]
    scale, mean, variance = (along(v, x.ndim, dim) for v in operands[1:4])
    grad = operands[4].astype(np.float64)
    axes = tuple(d for d in range(x.ndim) if d != dim)
    root = np.sqrt(variance + op["epsilon"])
    normal = (x - mean) / root
    grad_scale = (grad * normal).sum(axes, keepdims=True)
    grad_offset = grad.sum(axes, keepdims=True)
    count = x.size // max(x.shape[dim], 1)
    grad_x = scale / root * (grad - (grad_offset + normal * grad_scale) / count)
    return [round_to(part, op.types[0].element)
            for part in (grad_x, grad_scale.reshape(-1), grad_offset.reshape(-1))]


OPERATIONS = {
    "chlo.top_k": top_k,
    **{"stablehlo." + name: run for name, run in {
        "constant": lambda op, *_: op["value"], "iota": iota,
        "broadcast_in_dim": broadcast_in_dim, "pad": pad, "slice": slice_,
        "transpose": lambda op, x, _: np.transpose(x[0], op["permutation"]),
        "reverse": lambda op, x, _: np.flip(x[0], op["dimensions"]),
        "reshape": lambda op, x, _: np.reshape(x[0], op.types[0].shape),
        "concatenate": lambda op, x, _: np.concatenate(x, op["dimension"]),
        "dynamic_slice": dynamic_slice, "dynamic_update_slice": dynamic_update_slice,
        "bitcast_convert": bitcast_convert, "gather": gather, "scatter": scatter,
        "dot_general": dot_general, "convolution": convolution, "cholesky": cholesky,
        "triangular_solve": triangular_solve, "reduce": reduce,
        "reduce_window": reduce_window, "select_and_scatter": select_and_scatter,
        "map": map_, "sort": sort, "batch_norm_inference": batch_norm_inference,
        "batch_norm_training": batch_norm_training, "batch_norm_grad": batch_norm_grad,
        "rng_bit_generator": random_bits.rng_bit_generator,
        "tuple": lambda op, x, _: [tuple(x)],
        "get_tuple_element": lambda op, x, _: [x[0][op["index"]]],
        "after_all": lambda *_: [()], "create_token": lambda *_: [()],
    }.items()},
}
