# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random functions over PyTorch tensors.

A Program is a few calls, each on results of earlier ones, perhaps with gradients by
functorch. Values whose last bits may differ from PyTorch's, such as sums and
exponentials, are not exact: functions that jump or have a kink read exact values only.
The same program in f64 says how large errors may be.
"""

import functorch
import torch
import torch.nn.functional as F

LIMIT = 1e3  # Larger values on the way would make the comparison loose.
EPSILON = {torch.float64: 2.3e-16, torch.float32: 1.2e-7, torch.bfloat16: 8e-3}

SMOOTH = {
    "sin": torch.sin,
    "cos": torch.cos,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "exp": lambda x: torch.exp(-x * x),
    "exp2": lambda x: torch.exp2(torch.sin(x)),
    "expm1": lambda x: torch.expm1(torch.tanh(x)),
    "log": lambda x: torch.log(x * x + 1),
    "log1p": lambda x: torch.log1p(x * x),
    "log2": lambda x: torch.log2(x * x + 0.5),
    "sqrt": lambda x: torch.sqrt(x * x + 0.5),
    "rsqrt": lambda x: torch.rsqrt(x * x + 1),
    "reciprocal": lambda x: 1 / (x * x + 1),
    "square": torch.square,
    "neg": lambda x: -x,
    "pow3": lambda x: torch.tanh(x) ** 3,
    "erf": torch.erf,
    "atan": torch.atan,
    "asinh": torch.asinh,
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "softplus": F.softplus,
    "mish": F.mish,
    "logsigmoid": F.logsigmoid,
    "lgamma": lambda x: torch.lgamma(x * x + 1),
    "* 0.3": lambda x: x * 0.3,
    "+ 1": lambda x: x + 1,
    "2 -": lambda x: 2 - x,
    "/ 3": lambda x: x / 3,
}
KINKED = {
    "relu": F.relu,
    "abs": torch.abs,
    "clamp": lambda x: x.clamp(-1, 1.5),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "hardtanh": F.hardtanh,
    "hardswish": F.hardswish,
    "elu": F.elu,
    "relu6": F.relu6,
    "softshrink": F.softshrink,
    "threshold": lambda x: F.threshold(x, 0.2, 0.5),
}
JUMPS = {
    "floor": torch.floor,
    "round": torch.round,
    "trunc": torch.trunc,
    "sign": torch.sign,
    "frac": torch.frac,
    "> 0": lambda x: x > 0,
    "<= 1": lambda x: x <= 1,
    "isfinite": torch.isfinite,
    "long": lambda x: (x * 3).to(torch.int64),
    "argmax": lambda x: x.argmax(-1),
    "argsort": lambda x: x.argsort(-1),
    "any": lambda x: (x > 0.5).any(),
    "count": lambda x: torch.count_nonzero(x > 0, -1),
}
# Operations that move elements, and are exact.
MOVES = {
    "flat": lambda x: x.reshape(-1),
    "T": lambda x: x.transpose(0, -1),
    "permute": lambda x: x.permute(*range(1, x.dim()), 0),
    "unsqueeze": lambda x: x.unsqueeze(-2),
    "squeeze": lambda x: x.squeeze(),
    "expand": lambda x: x.expand(2, *x.shape),
    "flip": lambda x: x.flip(-1),
    "roll": lambda x: x.roll(1, -1),
    "cat": lambda x: torch.cat([x, x * 2], -1),
    "stack": lambda x: torch.stack([x, -x], 1),
    "[1:]": lambda x: x[1:],
    "[..., ::2]": lambda x: x[..., ::2],
    "[..., -1]": lambda x: x[..., -1],
    "[:, None]": lambda x: x[:, None],
    "repeat": lambda x: x.repeat(*[2] * x.dim()),
    "tril": lambda x: x.tril(-1),
    "triu": lambda x: x.triu(1),
    "diagonal": lambda x: x.diagonal(0, -1, -2),
    "diag_embed": lambda x: torch.diag_embed(x, 1),
    "unfold": lambda x: x.unfold(-1, 2, 1),
    "split": lambda x: x.split(2, -1)[0],
    "chunk": lambda x: x.chunk(2)[-1],
    "unbind": lambda x: x.unbind()[-1],
    "index": lambda x: x[torch.tensor([0, -1, 0])],
    "index last": lambda x: x[..., torch.tensor([[0], [-1]])],
    "index_select": lambda x: x.index_select(-1, torch.tensor([0, 0])),
    "pad": lambda x: F.pad(x, (1, 2), value=0.5),
    "tile": lambda x: x.tile(2, 1),
    "nearest": lambda x: F.interpolate(x.reshape(1, 1, -1), scale_factor=2),
}
# A normalization divides the error of its mean by the root of the variance and this term.
# With PyTorch's 1e-5, equal elements give PyTorch itself an error of 300 roundings.
NORM_EPSILON = 0.1
SUMS = {
    "sum": torch.sum,
    "sum -1": lambda x: x.sum(-1),
    "sum 0 keep": lambda x: x.sum(0, keepdim=True),
    "sum all": lambda x: x.sum((0, -1)),
    "mean": torch.mean,
    "mean -1": lambda x: x.mean(-1, keepdim=True),
    "var": lambda x: torch.var(x, -1),
    "std": lambda x: torch.sqrt(torch.var(x, 0, unbiased=False) + 1),
    "prod": lambda x: torch.tanh(x).prod(-1),
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "norm": lambda x: torch.norm(x + 2),
    "softmax": lambda x: torch.softmax(x, -1),
    "softmax 0": lambda x: torch.softmax(x, 0),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "cumsum": lambda x: torch.cumsum(x, 0),
    "cumsum -1": lambda x: torch.cumsum(x, -1),
    "logcumsumexp": lambda x: torch.logcumsumexp(x, -1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:], eps=NORM_EPSILON),
    "group_norm": lambda x: F.group_norm(x.reshape(1, 2, -1), 2, eps=NORM_EPSILON),
    "batch_norm": lambda x: F.batch_norm(
        x.reshape(2, -1), None, None, training=True, eps=NORM_EPSILON
    ),
    "gram": lambda x: x @ x.transpose(-1, -2),
    "outer": lambda x: torch.outer(x.flatten(), x.flatten()),
    "einsum": lambda x: torch.einsum("...i,...j->...ij", x, x),
    "avg_pool": lambda x: F.avg_pool1d(x.reshape(1, 1, -1), 2),
    "conv1d": lambda x: F.conv1d(x.reshape(1, 1, -1), x.reshape(1, 1, -1)[..., :2]),
    "conv2d": lambda x: F.conv2d(
        x.reshape(1, 1, *x.shape[-2:]), x.reshape(1, 1, *x.shape[-2:])[..., :2, :2], padding=1
    ),
    "cross_entropy": lambda x: F.cross_entropy(
        x, torch.arange(x.shape[0]) % x.shape[-1]
    ),
    "normalize": lambda x: F.normalize(x + 3, dim=-1),
    "bilinear": lambda x: F.interpolate(x.reshape(1, 1, -1), size=5, mode="linear"),
}
# Exact reads of order, of values that all differ.
ORDER = {
    "amax": lambda x: x.amax(-1),
    "amin": lambda x: x.amin(0, keepdim=True),
    "max": lambda x: x.max(-1)[0],
    "sort": lambda x: x.sort(-1)[0],
    "topk": lambda x: x.topk(2)[0],
    "median": lambda x: x.median(-1)[0],
    "max_pool": lambda x: F.max_pool1d(torch.cat([x, x]).reshape(1, 1, -1), 2),
    "cummax": lambda x: x.cummax(-1)[0],
}
PAIRS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
}
SMOOTH_PAIRS = {
    "/": lambda x, y: x / (y * y + 1),
    "hypot": lambda x, y: torch.sqrt(x * x + y * y + 1),
    "logaddexp": torch.logaddexp,
    "lerp": lambda x, y: torch.lerp(x, y, 0.3) if x.dtype == y.dtype else x + y,
    "addcmul": lambda x, y: torch.addcmul(x, x, y, value=0.5),
    "mse": F.mse_loss,
    "@": lambda x, y: x @ y,
    "linear": F.linear,
    "matmul t": lambda x, y: x @ y.transpose(-1, -2),
    "dot": lambda x, y: (x * y).sum(-1),
}
EXACT_PAIRS = {
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "where": lambda x, y: torch.where(x > y, x, y),
    "<": lambda x, y: x < y,
    "==": lambda x, y: x == y,
    "masked_fill": lambda x, y: x.masked_fill(y > 0, 0.25),
}
INTEGER_PAIRS = {
    "//": lambda x, y: torch.div(x, y.abs() + 1, rounding_mode="floor"),
    "trunc": lambda x, y: torch.div(x, y.abs() + 1, rounding_mode="trunc"),
    "%": lambda x, y: x % (y.abs() + 1),
    "&": lambda x, y: x & y,
    "|": lambda x, y: x | y,
    "^": lambda x, y: x ^ y,
}


def set_row(x):
    y = x.clone()
    y[0] = 0.5
    return y


def scale_column(x):
    y = x * 1
    y[..., -1] *= 3
    return y


def transposed_write(x):
    y = x.clone()
    y.transpose(0, -1)[0].add_(1)
    return y


def flat_write(x):
    y = x.clone()
    y.view(-1)[1:3].fill_(2)
    return y + 0


WRITES = {
    "y[0] = ": set_row,
    "y[..., -1] *=": scale_column,
    "y.T[0] +=": transposed_write,
    "y.view(-1)[1:3] =": flat_write,
    "add_": lambda x: x.clone().add_(1).mul_(2),
    "scatter": lambda x: x.scatter(-1, torch.zeros_like(x, dtype=torch.int64)[..., :1], 1.5),
    "gather": lambda x: x.gather(-1, torch.zeros_like(x, dtype=torch.int64)),
    "index_add": lambda x: x[:2].index_add(0, torch.zeros(2, dtype=torch.int64), x[:2]),
    "index_put": lambda x: x.index_put((torch.tensor([0]),), torch.tensor(0.5, dtype=x.dtype)),
}
KEEPS_EXACT = {"neg", "+ 1", "2 -", "square", "* 0.3"}

SHAPES = [(), (1,), (4,), (3, 4), (4, 3), (1, 4), (3, 1), (2, 3, 4), (2, 1, 3), (0,), (0, 3),
          (2, 0, 3), (1, 1)]
DTYPES = [torch.float32] * 6 + [torch.float64, torch.bfloat16, torch.int64, torch.int32,
                                torch.bool]


class Program:
    """Arguments and steps. A step is its text, a function, and the places of its inputs
    among arguments and results of earlier steps."""

    def __init__(self, arguments, steps, results, with_gradient):
        self.arguments, self.steps, self.results = arguments, steps, results
        self.with_gradient = with_gradient

    def __call__(self, *arguments):
        if not self.with_gradient:
            return self.run(*arguments)
        places = tuple(
            i for i, a in enumerate(self.arguments) if a.is_floating_point()
        )

        def loss(*arguments):
            total = 0
            results = self.run(*arguments)
            for y in results:
                if y.is_floating_point():
                    wide = y if y.dtype is torch.float64 else y.float()
                    weights = torch.linspace(0.5, 1.5, y.numel(), dtype=wide.dtype)
                    total = total + (wide * weights.reshape(y.shape)).sum().to(
                        torch.get_default_dtype()
                    )
            return total, results

        gradients, results = functorch.grad(loss, argnums=places, has_aux=True)(*arguments)
        return (*results, *gradients)

    def run(self, *arguments):
        values = list(arguments)
        for _, function, inputs in self.steps:
            values.append(function(*[values[i] for i in inputs]))
        return tuple(values[i] for i in self.results)

    def describe(self):
        lines = [
            f"  v{i} = {str(a.dtype).removeprefix('torch.')}{list(a.shape)}"
            for i, a in enumerate(self.arguments)
        ]
        for i, (text, _, inputs) in enumerate(self.steps, len(self.arguments)):
            lines.append(f"  v{i} = {text} ({', '.join(f'v{j}' for j in inputs)})")
        end = ", with gradients" if self.with_gradient else ""
        return "\n".join([*lines, f"  return {', '.join(f'v{i}' for i in self.results)}{end}"])

    def reference(self):
        """The results in f64."""
        torch.set_default_dtype(torch.float64)
        try:
            return self(*(a.double() if a.is_floating_point() else a for a in self.arguments))
        finally:
            torch.set_default_dtype(torch.float32)


class Generator:
    def __init__(self, rng):
        self.rng = rng  # of NumPy
        self.torch = torch.Generator().manual_seed(int(rng.integers(2**31)))

    def pick(self, table):
        name = str(self.rng.choice(list(table)))
        return name, table[name]

    def argument(self):
        shape = SHAPES[self.rng.integers(len(SHAPES))]
        dtype = DTYPES[self.rng.integers(len(DTYPES))]
        if dtype is torch.bool:
            return torch.rand(shape, generator=self.torch) < 0.5
        if not dtype.is_floating_point:
            return torch.randint(-9, 10, shape, generator=self.torch).to(dtype)
        return (torch.rand(shape, generator=self.torch) * 4 - 2).to(dtype)

    def step(self, values, exact):
        """Returns name, function, inputs, and if the result is exact."""
        i = int(self.rng.integers(len(values)))
        j = int(self.rng.integers(len(values)))
        x, y = values[i], values[j]
        kind = self.rng.random()
        if x.is_floating_point():
            if kind < 0.2:
                name, f = self.pick(SMOOTH)
                return name, f, [i], exact[i] and name in KEEPS_EXACT
            if kind < 0.3 and exact[i]:
                return *self.pick(KINKED), [i], exact[i]
            if kind < 0.35 and exact[i]:
                return *self.pick(JUMPS), [i], True
            if kind < 0.42 and exact[i]:
                return *self.pick(ORDER), [i], True
            if kind < 0.6:
                return *self.pick(SUMS), [i], False
            if kind < 0.67:
                return *self.pick(WRITES), [i], False
        if kind < 0.75:
            name, f = self.pick(MOVES)
            return name, f, [i], exact[i]
        if kind < 0.85 or x.dtype is torch.bool:
            return *self.pick(PAIRS), [i, j], exact[i] and exact[j]
        if kind < 0.9 and exact[i] and exact[j]:
            return *self.pick(EXACT_PAIRS), [i, j], True
        if not x.is_floating_point() and not y.is_floating_point():
            return *self.pick(INTEGER_PAIRS), [i, j], True
        return *self.pick(SMOOTH_PAIRS), [i, j], False

    def program(self):
        while True:
            program = self.attempt()
            if program is not None:
                return program

    def attempt(self):
        values = [self.argument() for _ in range(self.rng.integers(1, 4))]
        arguments = list(values)
        exact, steps = [True] * len(values), []
        for _ in range(60):
            name, f, inputs, is_exact = self.step(values, exact)
            try:
                y = f(*[v.clone() for v in (values[k] for k in inputs)])
            except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
                continue
            if not isinstance(y, torch.Tensor) or y.numel() > 300:
                continue
            if y.is_complex() or y.dtype not in {*DTYPES, torch.int8}:
                continue
            if y.is_floating_point() and y.numel():
                if not torch.isfinite(y).all() or y.abs().max() > LIMIT:
                    continue
            elif y.numel() and y.dtype is not torch.bool and y.abs().max() > 10**6:
                continue
            if y.dtype is torch.bfloat16 and not is_exact and self.rng.random() < 0.5:
                continue
            steps.append((name, f, inputs))
            values.append(y)
            exact.append(is_exact)
            if len(steps) >= self.rng.integers(2, 9):
                break
        if not steps:
            return None
        first = len(arguments)
        results = list(range(first, len(values)))
        is_smooth = any(a.is_floating_point() for a in arguments)
        with_gradient = bool(is_smooth and self.rng.random() < 0.5)
        if with_gradient and not any(values[i].is_floating_point() for i in results):
            with_gradient = False
        program = Program(arguments, steps, results, with_gradient)
        try:
            program.expected = [v.detach() for v in program(*[a.clone() for a in arguments])]
            program.exact_results = program.reference()
        except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
            return None
        for v in program.expected:
            if v.is_floating_point() and not torch.isfinite(v).all():
                return None
        # Errors are those of what was computed on the way.
        program.scale = max(
            (v.double().abs().max().item() for v in values if v.numel()), default=0.0
        )
        return program


def compare(program, got):
    """Returns what is wrong with results, or None."""
    inexact = [a.dtype for a in program.arguments if a.is_floating_point()]
    for place, (g, w, r) in enumerate(zip(got, program.expected, program.exact_results)):
        if g.dtype != w.dtype or g.shape != w.shape:
            return f"result {place}: {g.dtype} {tuple(g.shape)}, expected {w.dtype} {tuple(w.shape)}"
        if not w.numel():
            continue
        if not w.is_floating_point():
            if not torch.equal(g, w):
                return f"result {place}: got {g.tolist()}, expected {w.tolist()}"
            continue
        epsilon = max([EPSILON[w.dtype], *(EPSILON[d] for d in inexact)])
        if any(v.dtype is torch.float32 for v in program.expected):
            epsilon = max(epsilon, EPSILON[torch.float32])
        r = r.double()
        own = (w.double() - r).abs().max().item()
        scale = max(r.abs().max().item(), 0.1, 0.25 * program.scale)
        limit = 16 * own + 64 * epsilon * scale
        error = (g.double() - r).abs().max().item()
        if not error <= limit:
            return f"result {place}: off by {error:.3g}, at most {limit:.3g} (PyTorch: {own:.3g})"
    return None
