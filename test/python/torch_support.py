# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs PyTorch functions as programs, and compares them with PyTorch.

Many functions become one program: compiling is what takes time.
"""

import os
import sys

try:
    import numpy as np
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import torch.utils._pytree as pytree

import pathways as pw
import pathways.torch as pt
from pathways._stablehlo import Module
from pathways.torch._seeds import SEED, Seeds

torch.set_num_threads(1)

EPSILON = {
    torch.float64: 2.2e-16,
    torch.float32: 1.2e-7,
    torch.bfloat16: 7.8e-3,
    torch.float16: 9.8e-4,
}


def seed_of_run(default=None):
    """The seed of a random test: it is printed, and PATHWAYS_TEST_SEED sets it."""
    text = os.environ.get("PATHWAYS_TEST_SEED")
    seed = int(text) if text else default
    if seed is None:
        seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed: {seed}", flush=True)
    return seed


def to_numpy(tensor):
    tensor = tensor.detach().contiguous()
    if tensor.dtype is torch.bfloat16:
        return pw.bf16(tensor.view(torch.int16).numpy().view(np.uint16))
    return tensor.numpy()


def to_tensor(array, dtype):
    data = np.array(np.asarray(array))
    if dtype is torch.bfloat16:
        return torch.from_numpy(data.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(data).reshape(data.shape)


def tensors_of(tree):
    return [x for x in pytree.tree_flatten(tree)[0] if isinstance(x, torch.Tensor)]


def largest(x):
    """The largest finite absolute value."""
    if not x.is_floating_point() or not x.numel():
        return 0.0
    values = x.detach().double().abs()
    return values.where(torch.isfinite(values), torch.zeros(())).max().item()


class Case:
    """A function, its arguments, and the results of PyTorch. `terms` is the number of
    terms of the largest sums, which the tolerance grows with."""

    def __init__(self, function, args, name="", terms=None, looser=1.0):
        self.function, self.args, self.name = function, args, name
        self.looser = looser
        self.tensors = tensors_of(args)
        clones = pytree.tree_map(
            lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x, args
        )
        self.expected = tensors_of(function(*clones))
        sizes = [x.numel() for x in self.tensors] or [1]
        self.terms = terms if terms is not None else max(sizes)
        # Sums may cancel: their errors are those of their terms.
        self.scale = max((largest(x) for x in self.tensors), default=0.0)


class Batch:
    """Functions that run as one program."""

    def __init__(self, cases, mesh=(), split=None):
        self.cases = cases
        self.mesh, self.split = mesh, split

    def source(self):
        module = Module("batch", self.mesh)
        function = module.function("main")
        self.captured = [pt.capture(case.function, case.args) for case in self.cases]
        values = []
        for i, captured in enumerate(self.captured):
            values.append(
                [
                    function.argument(
                        type, f"a{i}_{j}", self.split(type) if self.split else None
                    )
                    for j, type in enumerate(captured.arguments)
                ]
            )
        seeds = Seeds(function, function.argument(SEED, "seed"))
        results, names = [], []
        for i, captured in enumerate(self.captured):
            out = pt.lower_graph(captured.module, function, values[i], seed=seeds)
            out = out[: len(captured.result_paths)]
            results += out
            names += [f"r{i}_{j}" for j in range(len(out))]
        self.counts = [len(c.result_paths) for c in self.captured]
        results.append(seeds.next())
        function.returns(results, [*names, "next_seed"])
        return pw.Source(module.text()) if hasattr(pw, "Source") else module.text()

    def inputs(self):
        inputs = {"seed": np.uint64(7)}
        for i, case in enumerate(self.cases):
            for j, tensor in enumerate(case.tensors):
                inputs[f"a{i}_{j}"] = to_numpy(tensor)
        return inputs

    def run(self, session):
        source = self.source()
        plan = pw.compile(source, topology=session.topology)
        executable = session.load(plan)
        inputs = self.inputs()
        wanted = {port.name for port in executable.arguments}
        out = executable(**{k: v for k, v in inputs.items() if k in wanted})
        results = []
        for i, case in enumerate(self.cases):
            results.append(
                [
                    to_tensor(out[f"r{i}_{j}"], case.expected[j].dtype)
                    if j < len(case.expected)
                    else np.asarray(out[f"r{i}_{j}"])
                    for j in range(self.counts[i])
                ]
            )
        return results


def difference(got, case, index):
    """Returns what is wrong with a result, or None."""
    want = case.expected[index]
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"got {got.dtype} {tuple(got.shape)}, expected {want.dtype} {tuple(want.shape)}"
    if not want.is_floating_point():
        wrong = got != want
    else:
        a, b = got.double(), want.double()
        unit = EPSILON[want.dtype]
        finite = b[torch.isfinite(b)].abs()
        scale = max([finite.max().item() if finite.numel() else 0.0, case.scale])
        limit = unit * case.looser * (8 * b.abs() + (4 + case.terms) * scale * 0.5)
        same = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit)
        wrong = ~same
    if not wrong.any():
        return None
    where = wrong.nonzero()[0].tolist()
    return (
        f"{int(wrong.sum())} of {want.numel()} differ, first at {where}: "
        f"got {got[tuple(where)].item()}, expected {want[tuple(where)].item()}"
    )


def check(cases, session, size=40):
    """Returns a list of what is wrong, a line each. Programs that do not compile are
    halved until those that fail are found."""
    wrong = []
    for start in range(0, len(cases), size):
        wrong += check_batch(cases[start : start + size], session)
    return wrong


def check_batch(cases, session):
    try:
        results = Batch(cases).run(session)
    except Exception as failure:  # the message is the result of the check
        if len(cases) == 1:
            return [f"{cases[0].name}: {type(failure).__name__}: {failure}"]
        half = len(cases) // 2
        return check_batch(cases[:half], session) + check_batch(cases[half:], session)
    wrong = []
    for case, got in zip(cases, results):
        for i in range(len(case.expected)):
            text = difference(got[i], case, i)
            if text:
                wrong.append(f"{case.name}: result {i}: {text}")
    return wrong
