# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random functions over NumPy.

A Case is a function of some arrays: a few calls of NumPy, each on results of earlier
ones. What may differ in its last bits (sums, exponentials) is not read by functions that
jump, such as floor, comparisons and sorting.
"""

import dataclasses

import numpy as np

DTYPES = [np.dtype(c) for c in "?bhilBHILefffdd"]
# Larger numbers than this would make the comparison loose.
LIMIT = {"e": 2e2, "f": 1e5, "d": 1e7}
TOLERANCE = {"e": 2e-2, "f": 2e-4, "d": 1e-9}


@dataclasses.dataclass
class Step:
    """A call: `function` of the values at `inputs`."""

    text: str
    function: object
    inputs: list


@dataclasses.dataclass
class Case:
    arguments: list
    steps: list
    results: list
    is_exact: list
    scale: float  # magnitude of what was computed on the way
    kinds: set  # types of floats on the way

    def __call__(self, *arguments):
        values = list(arguments)
        for step in self.steps:
            value = step.function(*[values[i] for i in step.inputs])
            # Some functions of NumPy return numbers of Python.
            values.append(np.asarray(value)[()] if isinstance(value, (int, float)) else value)
        return tuple(values[i] for i in self.results)

    def describe(self):
        lines = [f"  v{i} = {a.dtype}{list(a.shape)}" for i, a in enumerate(self.arguments)]
        for i, step in enumerate(self.steps, len(self.arguments)):
            inputs = ", ".join(f"v{j}" for j in step.inputs)
            lines.append(f"  v{i} = {step.text}({inputs})")
        return "\n".join([*lines, f"  return {', '.join(f'v{i}' for i in self.results)}"])

    def check(self, got, want):
        """Compares results; raises AssertionError."""
        for place, (g, w) in enumerate(zip(got, want, strict=True)):
            w, g = np.asarray(w), np.asarray(g)
            where = f"result {place} (v{self.results[place]})"
            assert g.dtype == w.dtype, f"{where} is {g.dtype}, expected {w.dtype}"
            assert g.shape == w.shape, f"{where} is {g.shape}, expected {w.shape}"
            if w.dtype.kind != "f" or self.is_exact[place]:
                np.testing.assert_array_equal(g, w, err_msg=where)
                continue
            limit = max(TOLERANCE[kind] for kind in (*self.kinds, w.dtype.char))
            np.testing.assert_allclose(
                g.astype(np.float64), w.astype(np.float64), rtol=limit,
                atol=limit * self.scale, err_msg=where)


def shape_of(rng, ranks=(0, 1, 1, 2, 2, 2, 3)):
    return tuple(int(n) for n in rng.choice([0, 1, 1, 2, 3, 4, 5], rng.choice(ranks),
                                            p=[.04, .16, .1, .2, .2, .2, .1]))


def values_of(rng, dtype, shape):
    """Small numbers, which all floats have: multiples of 1/4."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "u":
        return rng.integers(0, 7, shape).astype(dtype)
    if dtype.kind == "i":
        return rng.integers(-6, 7, shape).astype(dtype)
    return (rng.integers(-16, 17, shape) / 4).astype(dtype)


class Generator:
    def __init__(self, rng):
        self.rng = rng

    def case(self):
        while True:
            case = self._try()
            if case is not None:
                return case

    def _try(self):
        rng = self.rng
        dtype = rng.choice(DTYPES)
        base = shape_of(rng)
        self.values, self.exact, self.steps = [], [], []
        for _ in range(rng.integers(1, 4)):
            if rng.random() < 0.3:
                dtype = rng.choice(DTYPES)
            shape = base
            if rng.random() < 0.3:  # what can be broadcast
                shape = tuple(1 if rng.random() < 0.4 else n for n in base)
                shape = shape[rng.integers(0, len(shape) + 1):]
            if rng.random() < 0.15:
                shape = shape_of(rng)
            self.values.append(values_of(rng, dtype, shape))
            self.exact.append(True)
        count = len(self.values)
        for _ in range(60):
            if len(self.steps) >= count + 3:
                break
            self._step()
        if len(self.steps) < 2:
            return None
        used = {i for step in self.steps for i in step.inputs}
        results = [i for i in range(count, len(self.values)) if i not in used][-4:]
        scale = 1.0
        for value in self.values:
            if value.dtype.kind == "f":
                finite = np.abs(value[np.isfinite(value)].astype(np.float64))
                scale = max(scale, float(finite.max(initial=0)))
        return Case(self.values[:count], self.steps, results,
                    [self.exact[i] for i in results], scale,
                    {v.dtype.char for v in self.values if v.dtype.kind == "f"})

    def _step(self):
        rng = self.rng
        kind = rng.choice([self._unary, self._binary, self._reduce, self._shape, self._join,
                           self._choose, self._product, self._index, self._order],
                          p=[.2, .22, .12, .16, .06, .08, .06, .06, .04])
        i = self._pick()
        made = kind(i)
        if made is None:
            return
        text, function, inputs, is_exact = made
        try:
            with np.errstate(all="ignore"):
                value = function(*[self.values[j] for j in inputs])
        except (ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError):
            return
        value = np.asarray(value)
        if value.dtype.char not in "?bhilqBHILQefd" or value.size > 400 or value.ndim > 5:
            return
        if value.dtype.kind == "f":
            finite = np.abs(value[np.isfinite(value)].astype(np.float64))
            if finite.max(initial=0) > LIMIT[value.dtype.char]:
                return
            # An infinite number may be a large one that was rounded elsewhere.
            if not is_exact and finite.size != value.size:
                return
        elif value.dtype.kind in "iu" and value.size and np.abs(value.astype(float)).max() > 1e6:
            return
        self.values.append(value)
        self.exact.append(is_exact or value.dtype.kind != "f")
        self.steps.append(Step(text, function, inputs))

    def _pick(self):
        n = len(self.values)
        weights = np.arange(1, n + 1, dtype=float)
        return int(self.rng.choice(n, p=weights / weights.sum()))

    def _partner(self, i):
        """A value that can be broadcast with another one, or a number. The values of
        arrays without dimensions, which decide types in NumPy 1, are not known."""
        rng = self.rng
        if rng.random() < 0.3:
            numbers = [1, 2, -1, 3, 0.5, -2.5, True, np.float32(1.5), np.int8(3), 200]
            number = numbers[rng.integers(len(numbers))]
            return None, number
        fits = []
        for j, value in enumerate(self.values):
            try:
                x = self.values[i]
                np.broadcast_shapes(value.shape, x.shape)
                if (value.ndim == 0) == (x.ndim == 0) or value.dtype == x.dtype:
                    fits.append(j)
            except ValueError:
                pass
        return int(rng.choice(fits)), None

    # Kinds of steps. Each returns its text, the function, the inputs, and if the result
    # is exact, or None if it does not apply.

    def _unary(self, i):
        rng, exact = self.rng, self.exact[i]
        jumps = ["floor", "ceil", "trunc", "rint", "sign", "isnan", "isfinite", "isinf",
                 "signbit", "logical_not"]
        smooth = ["exp", "exp2", "expm1", "sin", "cos", "tanh", "arctan", "arcsinh", "sinh",
                  "cosh", "cbrt", "degrees", "deg2rad", "tan"]
        same = ["negative", "absolute", "square", "positive", "conjugate", "fabs"]
        name = rng.choice(["jump", "smooth", "same", "domain", "cast", "invert"],
                          p=[.2, .3, .2, .15, .1, .05])
        if name == "jump" and exact:
            name = rng.choice(jumps)
            return f"np.{name}", getattr(np, name), [i], True
        if name == "smooth":
            name = rng.choice(smooth)
            ufunc = getattr(np, name)
            return f"np.{name} of clip", lambda x: ufunc(np.clip(x, -4, 4)), [i], False
        if name == "same":
            name = rng.choice(same)
            return f"np.{name}", getattr(np, name), [i], exact
        if name == "domain":
            name = rng.choice(["log", "log2", "log10", "log1p", "sqrt", "reciprocal",
                               "arccosh"])
            ufunc = getattr(np, name)
            return (f"np.{name} of abs + 1.5", lambda x: ufunc(np.abs(x) + 1.5), [i],
                    exact and name in ("sqrt", "reciprocal"))
        if name == "cast" and exact:
            value = self.values[i]
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                return None
            dtype = rng.choice([np.dtype(c) for c in "?bhilefd"])
            return f"astype {dtype}", lambda x: x.astype(dtype), [i], True
        if name == "invert" and self.values[i].dtype.kind in "iub":
            return "~", lambda x: ~x, [i], True
        return None

    def _binary(self, i):
        rng = self.rng
        j, number = self._partner(i)
        exact = self.exact[i] and (j is None or self.exact[j])
        same = ["add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin"]
        jumps = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
                 "logical_and", "logical_or", "logical_xor", "copysign", "heaviside",
                 "floor_divide", "remainder", "fmod", "true_divide", "divmod"]
        integers = ["bitwise_and", "bitwise_or", "bitwise_xor", "gcd"]
        name = rng.choice(["same", "jump", "bits", "smooth"], p=[.45, .35, .1, .1])
        if name == "same":
            name = rng.choice(same)
        elif name == "jump" and exact:
            name = rng.choice(jumps)
        elif name == "bits":
            name = rng.choice(integers[:3])
        elif name == "smooth":
            name = rng.choice(["hypot", "arctan2", "logaddexp", "logaddexp2", "power"])
            exact = False
            if name == "arctan2" and not (self.exact[i] and (j is None or self.exact[j])):
                return None
        else:
            return None
        ufunc = getattr(np, name)
        part = int(rng.integers(2)) if name == "divmod" else None
        swap = rng.random() < 0.3

        def call(x, y=number):
            if name == "power":
                x, y = np.abs(x) + 1, np.clip(y, 0, 2).astype(np.result_type(x))
            made = ufunc(y, x) if swap and name != "power" else ufunc(x, y)
            return made if part is None else made[part]

        text = f"np.{name}{' swapped' if swap else ''}"
        if j is None:
            return f"{text} with {number!r}", call, [i], exact
        return text, call, [i, j], exact

    def _axis(self, x, many=False):
        rng = self.rng
        if x.ndim == 0 or rng.random() < 0.25:
            return None
        if many and rng.random() < 0.3:
            axes = rng.permutation(x.ndim)[: rng.integers(1, x.ndim + 1)]
            return tuple(int(a) - (x.ndim if rng.random() < 0.3 else 0) for a in axes)
        return int(rng.integers(-x.ndim, x.ndim))

    def _reduce(self, i):
        rng, x, exact = self.rng, self.values[i], self.exact[i]
        axis = self._axis(x, many=True)
        keep = bool(rng.random() < 0.4)
        name = rng.choice(["sum", "mean", "prod", "max", "min", "any", "all", "var", "std",
                           "argmax", "argmin", "cumsum", "cumprod", "count_nonzero", "ptp",
                           "median", "average", "nansum", "nanmax", "logaddexp"])
        function = getattr(np, name)
        if name in ("argmax", "argmin", "cumsum", "cumprod"):
            axis = axis[0] if isinstance(axis, tuple) else axis
        if name in ("any", "all", "argmax", "argmin", "count_nonzero") and not exact:
            return None
        if name in ("cumsum", "cumprod"):
            return f"np.{name} {axis}", lambda v: function(v, axis=axis), [i], False
        if name == "logaddexp":
            name = rng.choice(["add", "multiply", "maximum", "minimum", "logical_and",
                               "bitwise_or", "logical_or", "bitwise_xor"])
            ufunc = getattr(np, name)
            if name.startswith("logical") and not exact:
                return None
            return (f"np.{name}.reduce {axis}", lambda v: ufunc.reduce(v, axis=axis), [i],
                    exact and name not in ("add", "multiply"))
        same = name in ("max", "min", "any", "all", "argmax", "argmin", "ptp", "nanmax",
                        "count_nonzero")
        options = {"axis": axis, "keepdims": keep}
        if name == "nansum" or name == "average":
            options.pop("keepdims")
        if name == "ptp" and x.dtype.kind == "b":
            return None
        if name in ("sum", "prod", "mean") and rng.random() < 0.2:
            options["dtype"] = rng.choice([np.float64, np.float32])
        if name in ("sum", "prod") and rng.random() < 0.2:
            options["initial"] = 2
        if name in ("var", "std"):
            options["ddof"] = int(rng.integers(0, 2))
            count = np.mean(np.ones(x.shape), axis=axis, keepdims=True).size
            if x.size <= options["ddof"] * count:
                return None
        return f"np.{name} {options}", lambda v: function(v, **options), [i], exact and same

    def _shape(self, i):
        rng, x, exact = self.rng, self.values[i], self.exact[i]
        name = rng.choice(["reshape", "transpose", "swapaxes", "moveaxis", "expand_dims",
                           "squeeze", "broadcast_to", "repeat", "tile", "flip", "roll",
                           "pad", "tril", "diagonal", "ravel", "zeros_like", "full_like",
                           "rot90", "split", "diff", "atleast_2d", "trace", "diag"])
        axis = self._axis(x)
        one = axis if axis is not None else 0
        k = int(rng.integers(-2, 3))
        function = getattr(np, name)
        calls = {
            "reshape": lambda v: np.reshape(v, (-1, 1) if k > 0 else v.shape[::-1],
                                            order="F" if k == 0 else "C"),
            "transpose": lambda v: v.T,
            "swapaxes": lambda v: np.swapaxes(v, one, 0),
            "moveaxis": lambda v: np.moveaxis(v, one, -1),
            "expand_dims": lambda v: np.expand_dims(v, one),
            "squeeze": np.squeeze,
            "broadcast_to": lambda v: np.broadcast_to(v, (2, *v.shape)),
            "repeat": lambda v: np.repeat(v, abs(k), axis=axis),
            "tile": lambda v: np.tile(v, (abs(k), 2)),
            "flip": lambda v: np.flip(v, axis),
            "roll": lambda v: np.roll(v, k, axis),
            "tril": lambda v: np.tril(v, k),
            "diagonal": lambda v: np.diagonal(v, k),
            "diag": lambda v: np.diag(v, k),
            "ravel": lambda v: v.ravel("F" if k > 0 else "C"),
            "zeros_like": np.zeros_like,
            "full_like": lambda v: np.full_like(v, 3),
            "rot90": lambda v: np.rot90(v, k),
            "split": lambda v: np.array_split(v, 2, axis=one)[k % 2],
            "diff": lambda v: np.diff(v, axis=one),
            "atleast_2d": np.atleast_2d,
            "trace": lambda v: np.trace(v, k),
        }
        if name == "pad":
            widths = [(int(a), int(b)) for a, b in rng.integers(0, 3, (x.ndim, 2))]
            mode = str(rng.choice(["constant", "edge", "reflect", "symmetric", "wrap"]))
            return f"np.pad {widths} {mode}", lambda v: np.pad(v, widths, mode), [i], exact
        call = calls.get(name, function)
        is_exact = exact and name != "trace" or name == "zeros_like"
        return f"np.{name} {axis} {k}", call, [i], is_exact

    def _join(self, i):
        rng, x = self.rng, self.values[i]
        same = [j for j, v in enumerate(self.values) if v.shape == x.shape]
        inputs = [i, *(int(j) for j in rng.choice(same, rng.integers(0, 3)))]
        exact = all(self.exact[j] for j in inputs)
        axis = int(rng.integers(0, max(x.ndim, 1)))
        name = str(rng.choice(["concatenate", "stack", "vstack", "hstack", "column_stack"]))
        function = getattr(np, name)
        if name in ("concatenate", "stack"):
            return f"np.{name} {axis}", lambda *v: function(v, axis=axis), inputs, exact
        return f"np.{name}", lambda *v: function(v), inputs, exact

    def _choose(self, i):
        rng = self.rng
        j, number = self._partner(i)
        exact = self.exact[i] and (j is None or self.exact[j])
        name = rng.choice(["where", "clip", "round", "nan_to_num", "isclose"])
        if name == "where" and self.exact[i]:
            if j is None:
                return f"np.where > 0, {number!r}", lambda x: np.where(x > 0, x, number), [i], True
            return "np.where > 0", lambda x, y: np.where(x > 0, x, y), [i, j], exact
        if name == "clip":
            low = float(rng.integers(-3, 1)) if rng.random() < 0.5 else int(rng.integers(-3, 1))
            return f"np.clip {low!r}", lambda x: np.clip(x, low, low + 2), [i], self.exact[i]
        if name == "round" and self.exact[i]:
            digits = int(rng.integers(-1, 3))
            return f"np.round {digits}", lambda x: np.around(x, digits), [i], True
        if name == "nan_to_num" and self.exact[i]:
            return "np.nan_to_num", lambda x: np.nan_to_num(x, posinf=2, neginf=-2), [i], True
        if name == "isclose" and exact and j is not None:
            return "np.isclose", np.isclose, [i, j], True
        return None

    def _product(self, i):
        rng, x = self.rng, self.values[i]
        j = self._pick()
        y = self.values[j]
        exact = x.dtype.kind != "f" and y.dtype.kind != "f"
        name = rng.choice(["matmul", "matmul_t", "dot_t", "einsum", "outer", "tensordot",
                           "norm", "inner"])
        calls = {
            "matmul": np.matmul,
            "matmul_t": lambda a, b: a @ np.swapaxes(b, -1, -2),
            "dot_t": lambda a, b: np.dot(a, b.T),
            "outer": np.outer,
            "inner": np.inner,
            "tensordot": lambda a, b: np.tensordot(a, b, axes=([0], [0])),
        }
        if name == "norm":
            axis = self._axis(x)
            order = None if axis is None else rng.choice([None, 1, 2, np.inf])
            return (f"np.linalg.norm {order} {axis}",
                    lambda v: np.linalg.norm(v, ord=order, axis=axis), [i], False)
        if name == "einsum":
            spec = str(rng.choice(["ij,kj->ik", "ij,ij->i", "...i,...i->...", "i,j->ji",
                                   "ij,jk", "ij,ik->kj"]))
            return f"np.einsum {spec}", lambda a, b: np.einsum(spec, a, b), [i, j], exact
        return f"np.{name}", calls[name], [i, j], exact

    def _index(self, i):
        rng, x, exact = self.rng, self.values[i], self.exact[i]
        if x.ndim == 0:
            return "[None]", lambda v: v[None], [i], exact
        n = x.shape[0]
        if n == 0:
            return None
        places = rng.integers(-n, n, rng.integers(1, 4))
        name = rng.choice(["basic", "array", "mixed", "take", "traced", "along", "mask"])
        if name == "basic":
            part = slice(*[None if rng.random() < 0.4 else int(k) for k in
                           (*rng.integers(-n, n + 1, 2), rng.choice([-2, -1, 1, 2]))])
            index = (part, ..., None) if rng.random() < 0.5 else (int(places[0]), ...)
            return f"[{index}]", lambda v: v[index], [i], exact
        if name == "array":
            return f"[{places}]", lambda v: v[places], [i], exact
        if name == "mixed" and x.ndim > 1:
            return (f"[..., {places}, None]" if False else f"[:, {places[:1]}]",
                    lambda v: v[:, places[:1] * 0], [i], exact)
        if name == "take":
            mode = str(rng.choice(["wrap", "clip"]))
            return (f"np.take {places} {mode}",
                    lambda v: np.take(v, places * 2, axis=0, mode=mode), [i], exact)
        if name == "mask":
            mask = rng.random(n) < 0.5
            return f"[mask {mask}]", lambda v: v[mask], [i], exact
        indices = [j for j, v in enumerate(self.values)
                   if v.dtype.kind in "iu" and v.size < 20]
        if not indices:
            return None
        j = int(rng.choice(indices))
        if name == "traced":
            return ("[v % n]", lambda v, k: v[k.astype(np.int64) % v.shape[0]], [i, j], exact)
        if self.values[j].shape != x.shape:
            return None
        return ("np.take_along_axis", lambda v, k: np.take_along_axis(
            v, k.astype(np.int64) % v.shape[0], 0), [i, j], exact)

    def _order(self, i):
        if not self.exact[i]:
            return None
        axis = self._axis(self.values[i])
        name = self.rng.choice(["sort", "argsort", "searchsorted"])
        if name == "sort":
            return f"np.sort {axis}", lambda v: np.sort(v, axis=axis), [i], True
        if name == "argsort":
            return (f"np.argsort {axis}", lambda v: np.argsort(v, axis=axis, kind="stable"),
                    [i], True)
        return ("np.searchsorted", lambda v: np.searchsorted(np.arange(-3, 4), v), [i], True)
