# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of training steps.

A step is one program: the forward and the backward pass of one or several micro-batches,
and the update of the parameters by the optimizer. Its state (parameters, buffers, state of
the optimizer, count of steps, seed) goes in as its first arguments and comes out as its
first results, so it stays on the devices.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.fx.node import Node

from pathways._plan import Source
from pathways._stablehlo import Function, Module, Sharding, Type, Value
from pathways.torch._errors import TraceError
from pathways.torch._lower import lower_graph
from pathways.torch._optimizers import PER_STEP, Optimizer, apply
from pathways.torch._registry import element_of
from pathways.torch._seeds import SEED, Seeds
from pathways.torch._step_graph import STAGE, Stage, StepGraph, capture_eval
from pathways.torch._trace import path_name, sharding_of
from pathways.torch.ops._parts import add, full, multiply, scale, total, wide

COUNT = Type((), "i64")
RATE = Type((), "f32")


class Layout(NamedTuple):
    """Where a program runs: the axes of its mesh, its slices (none: one without a name)
    with the island of each, the cut of tensors by pattern, and that of the batch."""

    axes: tuple[tuple[str, int], ...]
    slices: tuple[str, ...]
    islands: str
    split: Mapping[str, Any]
    batch: tuple[str, ...]

    def sharding(self, name: str, type: Type) -> Sharding | None:
        """The cut of a tensor. There is none for numbers, which a pattern such as "*" may
        fit, too."""
        if not type.shape:
            return None
        axes = {axis for axis, _ in self.axes}
        made: Sharding | None = sharding_of(name, type, self.split, axes)
        return made

    def batch_sharding(self, type: Type) -> Sharding | None:
        if not self.batch or not type.shape:
            return None
        return Sharding((self.batch, *[()] * (len(type.shape) - 1)))

    def check_patterns(self, names: Sequence[str]) -> None:
        """Raises TraceError for a pattern that fits no tensor."""
        for pattern in self.split:
            if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
                raise TraceError(
                    f"split of {pattern!r} fits no parameter; there are {', '.join(names)}"
                )

    def remarks(self, tensors: Sequence[tuple[str, Type]]) -> list[str]:
        """Says which cuts are not even."""
        sizes = dict(self.axes)
        found = []
        for name, type in tensors:
            sharding = self.sharding(name, type)
            for d, axes in enumerate(sharding.dims if sharding else ()):
                parts = 1
                for axis in axes:
                    parts *= sizes[axis]
                if type.shape[d] % parts:
                    found.append(
                        f"{name}: dimension {d} of {type.shape[d]} is cut into {parts} "
                        "parts that are not equal"
                    )
        return found


class StateTensor(NamedTuple):
    """A part of the state. `of` is the parameter that a tensor of the optimizer belongs
    to, and `slot` its name there; "" for what is no such tensor."""

    name: str
    type: Type
    of: str = ""
    slot: str = ""


COUNT_NAME = "optimizer.step"
SEED_NAME = "random.seed"


class StepProgram(NamedTuple):
    """A step as text, and the names and types of its arguments and results. The state
    comes first, on both sides; `inputs` and perhaps the learning rate follow, and the
    loss."""

    text: str
    state: list[StateTensor]
    inputs: list[tuple[str, Type]]
    takes_rate: bool
    islands: str
    remarks: list[str]

    @property
    def source(self) -> Source:
        last = len(self.state) - 1
        carry = f"0-{last}:0-{last}" if self.state else ""
        return Source(self.text, "train_step.mlir", carry=carry, slices=self.islands)


def state_of(
    tensors: Mapping[str, torch.Tensor], rules: Mapping[str, Optimizer], has_seed: bool
) -> list[StateTensor]:
    """The state of a step in the order of its arguments."""
    state = [
        StateTensor(name, Type(tuple(t.shape), element_of(t.dtype)))
        for name, t in tensors.items()
    ]
    for name, rule in rules.items():
        type = Type(tuple(tensors[name].shape), element_of(tensors[name].dtype))
        state += [StateTensor(f"{name}:{slot}", type, name, slot) for slot in rule.states]
    state.append(StateTensor(COUNT_NAME, COUNT))
    if has_seed:
        state.append(StateTensor(SEED_NAME, SEED))
    return state


class Pipeline(NamedTuple):
    """The order of the micro-batches of a step: the name of a schedule, or "@" and the
    path of a file of orders; and patterns of the labels that run again."""

    schedule: str
    recompute: tuple[str, ...] = ()

    def is_recomputed(self, label: str) -> bool:
        return any(fnmatch.fnmatchcase(label, pattern) for pattern in self.recompute)

    def check(self, labels: Sequence[str]) -> None:
        """Raises TraceError for a pattern that fits no label."""
        for pattern in self.recompute:
            if not any(fnmatch.fnmatchcase(label, pattern) for label in labels):
                raise TraceError(
                    f"recompute of {pattern!r} fits no label of a forward call; there are "
                    f"{', '.join(labels)}"
                )


class _Marks:
    """Marks operations with the slice and the label of their stage."""

    def __init__(self, f: Function, slices: Sequence[str]) -> None:
        self.f, self.slices = f, slices

    def enter(
        self, stage: int, label: str | None = None, recompute: bool = False
    ) -> None:
        if self.slices:
            slice = self.slices[min(stage, len(self.slices) - 1)]
            self.f.enter_stage(slice, label, recompute)

    def leave(self) -> None:
        self.f.enter_stage(None)

    def of_graph(self, micro_batch: int) -> Callable[[Node], None]:
        def before(node: Node) -> None:
            stage = node.meta.get(STAGE)
            if stage is None:
                self.enter(0)
            else:
                kind = "B" if stage.is_backward else "F"
                self.enter(stage.number, f"{micro_batch}{kind}")

        return before

    def of_stages(self, pipeline: Pipeline) -> Callable[[Node], None]:
        """Marks the operations of one iteration with labels such as "2F" and "2B"."""

        def before(node: Node) -> None:
            stage = node.meta.get(STAGE, Stage(0, False))
            label = f"{stage.number}{'B' if stage.is_backward else 'F'}"
            again = not stage.is_backward and pipeline.is_recomputed(label)
            self.enter(stage.number, label, again)

        return before


def step_program(
    title: str,
    graph: StepGraph,
    inputs: Sequence[tuple[str, Type]],
    rules: Mapping[str, Optimizer],
    layout: Layout,
    micro_batches: int,
    clip_norm: float | None,
    pipeline: Pipeline | None = None,
) -> StepProgram:
    """Writes the program of a step. `inputs` have the types of a whole batch, of which
    `graph` takes one micro-batch."""
    has_seed = graph.captured.uses_seed
    state = state_of(graph.tensors, rules, has_seed)
    takes_rate = any(rule.lr == PER_STEP for rule in rules.values())
    layout.check_patterns([name for name in graph.tensors])
    module = Module(title, layout.axes)
    f = module.function("main")
    shardings = [layout.sharding(s.of or s.name, s.type) for s in state]
    values = {
        s.name: f.argument(s.type, s.name, sharding, is_donated=True)
        for s, sharding in zip(state, shardings)
    }
    data = [f.argument(t, name, layout.batch_sharding(t)) for name, t in inputs]
    rate = f.argument(RATE, "lr") if takes_rate else None
    seeds = Seeds(f, values[SEED_NAME]) if has_seed else None
    marks = _Marks(f, layout.slices)

    if pipeline is None:
        loss, gradients = _passes(
            f, graph, values, data, layout, marks, micro_batches, seeds
        )
    else:
        loss, gradients = _scheduled_passes(
            f, graph, values, data, layout, micro_batches, seeds, pipeline
        )
    if micro_batches > 1:
        loss, gradients = _means(f, graph, layout, marks, micro_batches, loss, gradients)
    stages = graph.stages() if layout.slices else {}
    if clip_norm is not None:
        gradients = _clipped(f, gradients, clip_norm, stages, marks)
    new = dict(values)
    count = add(f, values[COUNT_NAME], full(f, values[COUNT_NAME], 1))
    new[COUNT_NAME] = count
    _update(f, rules, new, gradients, count, rate, stages, marks)
    if seeds is not None:
        new[SEED_NAME] = seeds.next()
    for name in graph.changed:
        new[name] = values[name]
    for name in graph.tensors:
        new.setdefault(name, values[name])
    f.returns(
        [new[s.name] for s in state] + [loss],
        [f"new.{s.name}" for s in state] + ["loss"],
        [*shardings, None],
    )
    return StepProgram(
        module.text(),
        state,
        list(inputs),
        takes_rate,
        layout.islands,
        layout.remarks([(s.name, s.type) for s in state if not s.of]),
    )


def _passes(
    f: Function,
    graph: StepGraph,
    values: dict[str, Value],
    data: Sequence[Value],
    layout: Layout,
    marks: _Marks,
    micro_batches: int,
    seeds: Seeds | None,
) -> tuple[Value, dict[str, Value]]:
    """Computes the sums of losses and gradients over the micro-batches. Buffers that
    change get their new values in `values`."""
    loss: Value | None = None
    sums: dict[str, Value] = {}
    stages = graph.stages() if layout.slices else {}
    for i in range(micro_batches):
        part = [_micro_batch(f, x, i, micro_batches, layout) for x in data]
        results = lower_graph(
            graph.module,
            f,
            [*(values[name] for name in graph.tensors), *part],
            seed=seeds,
            before=marks.of_graph(i),
        )
        marks.leave()
        results = [results[place] for place in graph.results]
        loss = results[0] if loss is None else add(f, loss, results[0])
        for name, gradient in zip(graph.trained, results[1:]):
            marks.enter(stages.get(name, 0))
            sums[name] = add(f, sums[name], gradient) if name in sums else gradient
        marks.leave()
        for name, value in zip(graph.changed, results[1 + len(graph.trained) :]):
            values[name] = value
    assert loss is not None
    return loss, sums


def _means(
    f: Function,
    graph: StepGraph,
    layout: Layout,
    marks: _Marks,
    micro_batches: int,
    loss: Value,
    sums: Mapping[str, Value],
) -> tuple[Value, dict[str, Value]]:
    """Returns the means of the loss and of the gradients."""
    stages = graph.stages() if layout.slices else {}
    means = {}
    loss = scale(f, loss, 1 / micro_batches)
    for name, gradient in sums.items():
        marks.enter(stages.get(name, 0))
        means[name] = scale(f, gradient, 1 / micro_batches)
    marks.leave()
    return loss, means


def _scheduled_passes(
    f: Function,
    graph: StepGraph,
    values: dict[str, Value],
    data: Sequence[Value],
    layout: Layout,
    micro_batches: int,
    seeds: Seeds | None,
    pipeline: Pipeline,
) -> tuple[Value, dict[str, Value]]:
    """Computes what `_passes` does by a loop over the micro-batches, whose calls have the
    labels of their stages. The sums and the buffers that change are carried."""
    stages = graph.stages()
    nodes = graph.module.graph.nodes
    count = 1 + max(node.meta[STAGE].number for node in nodes if STAGE in node.meta)
    pipeline.check([f"{stage}F" for stage in range(count)])
    stacked = [_stacked(f, x, micro_batches, layout) for x in data]
    # Minus zero plus x is x in all its bits, as if there were no sum before.
    begins = {name: full(f, values[name], -0.0) for name in graph.trained}
    loss_type = graph.loss_type
    begin_loss = f.constant(-0.0, loss_type.element)
    body = f.module.function("micro_batch", f)
    loss_sum = body.argument(loss_type)
    sums = {name: body.argument(begins[name].type) for name in graph.trained}
    now = dict(values)
    for name in graph.changed:
        now[name] = body.argument(values[name].type)
    part = [body.argument(x.type.with_shape(x.shape[1:])) for x in stacked]
    own_seeds = None
    if seeds is not None:
        own_seeds = Seeds(body, values[SEED_NAME])
        own_seeds.first = body.argument(SEED)
    marks = _Marks(body, layout.slices)
    results = lower_graph(
        graph.module,
        body,
        [*(now[name] for name in graph.tensors), *part],
        seed=own_seeds,
        before=marks.of_stages(pipeline),
    )
    results = [results[place] for place in graph.results]
    marks.enter(count - 1, f"{count - 1}F")
    outputs = [add(body, loss_sum, results[0])]
    for name, gradient in zip(graph.trained, results[1:]):
        stage = stages.get(name, 0)
        marks.enter(stage, f"{stage}B")
        outputs.append(add(body, sums[name], gradient))
    marks.leave()
    outputs += results[1 + len(graph.trained) :]
    body.returns(outputs)
    carried = [begin_loss, *begins.values(), *(values[name] for name in graph.changed)]
    operands = [(value, "carried") for value in carried]
    operands += [(value, "stepped") for value in stacked]
    if own_seeds is not None:
        assert seeds is not None
        operands.append((seeds.firsts(micro_batches, own_seeds.count), "stepped"))
    made = f.loop(
        body,
        micro_batches,
        operands,
        [(value.type, "carried") for value in outputs],
        pipeline.schedule,
    )
    values.update(zip(graph.changed, made[1 + len(begins) :]))
    return made[0], dict(zip(begins, made[1:]))


def _stacked(f: Function, x: Value, count: int, layout: Layout) -> Value:
    """Returns the micro-batches of `x` in a new leading dimension."""
    stacked = f.reshape(x, (count, x.shape[0] // count, *x.shape[1:]))
    sharding = layout.batch_sharding(x.type)
    if sharding is None:
        return stacked
    return f.constrain(stacked, Sharding(((), *sharding.dims)))


def _micro_batch(f: Function, x: Value, index: int, count: int, layout: Layout) -> Value:
    if count == 1:
        return x
    size = x.shape[0] // count
    starts, limits = [0] * x.rank, list(x.shape)
    starts[0], limits[0] = index * size, (index + 1) * size
    part = f.slice(x, starts, limits)
    sharding = layout.batch_sharding(part.type)
    return part if sharding is None else f.constrain(part, sharding)


def _clipped(
    f: Function,
    gradients: dict[str, Value],
    limit: float,
    stages: Mapping[str, int],
    marks: _Marks,
) -> dict[str, Value]:
    """As torch.nn.utils.clip_grad_norm_: the norm is that of all gradients together."""
    square: Value | None = None
    for name, g in gradients.items():
        marks.enter(stages.get(name, 0))
        exact = f.convert(g, wide(g.element))
        part = f.convert(total(f, multiply(f, exact, exact), range(g.rank)), "f32")
        marks.leave()
        square = part if square is None else add(f, square, part)
    assert square is not None
    norm = f.unary("sqrt", square)
    factor = f.binary("divide", full(f, norm, limit), add(f, norm, full(f, norm, 1e-6)))
    factor = f.binary("minimum", factor, full(f, factor, 1))
    clipped = {}
    for name, g in gradients.items():
        marks.enter(stages.get(name, 0))
        clipped[name] = multiply(f, g, f.broadcast(f.convert(factor, g.element), g.shape))
    marks.leave()
    return clipped


def _update(
    f: Function,
    rules: Mapping[str, Optimizer],
    values: dict[str, Value],
    gradients: Mapping[str, Value],
    count: Value,
    rate: Value | None,
    stages: Mapping[str, int],
    marks: _Marks,
) -> None:
    """Replaces the parameters, and their state in the optimizer, in `values`."""
    exact_count = f.convert(count, "f64")
    scalars: dict[Optimizer, dict[str, Value]] = {}
    for name, rule in rules.items():
        if rule not in scalars:
            if rule.lr == PER_STEP:
                assert rate is not None
                lr = f.convert(rate, "f64")
            else:
                lr = f.constant(rule.lr, "f64")
            scalars[rule] = dict(rule.scalars(f, exact_count, lr))
        keys = [f"{name}:{slot}" for slot in rule.states]
        marks.enter(stages.get(name, 0))
        p, state = apply(
            f, rule, values[name], gradients[name], [values[k] for k in keys], scalars[rule]
        )
        marks.leave()
        values[name] = p
        values.update(zip(keys, state))


class EvalProgram(NamedTuple):
    """What the module returns in eval mode: `tensors` are the names of the arguments that
    the state of a step has, and `unflatten` puts results into the module's structure."""

    source: Source
    tensors: list[str]
    unflatten: Callable[[Sequence[Any]], Any]


def eval_program(
    title: str,
    module: torch.nn.Module,
    inputs: Sequence[tuple[str, Type]],
    layout: Layout,
    cuts: Sequence[str],
    autocast: torch.dtype | None,
) -> EvalProgram:
    captured, tensors = capture_eval(module, [t for _, t in inputs], cuts, autocast)
    text = Module(title, layout.axes)
    f = text.function("main")
    types = {
        name: Type(tuple(t.shape), element_of(t.dtype)) for name, t in tensors.items()
    }
    arguments = [f.argument(t, n, layout.sharding(n, t)) for n, t in types.items()]
    arguments += [f.argument(t, name, layout.batch_sharding(t)) for name, t in inputs]
    seed = Seeds(f, f.constant(0, "ui64")) if captured.uses_seed else None
    marks = _Marks(f, layout.slices)
    results = lower_graph(
        captured.module, f, arguments, seed=seed, before=marks.of_graph(0)
    )
    marks.leave()
    count = len(captured.result_paths)
    names = [
        path_name(["result", *path]) for path in captured.result_paths
    ]
    f.returns(results[:count], names)
    return EvalProgram(
        Source(text.text(), "eval.mlir", slices=layout.islands),
        list(tensors),
        captured.unflatten,
    )
