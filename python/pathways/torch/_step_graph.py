# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The graph of one training step, forward and backward, with a stage for each operation.

The module is traced whole. A cut names a submodule: what runs from its first call on
belongs to the next stage. The backward operations come in the opposite order of the
forward ones, so one more place in the graph divides them: the first gradient of something
that was made before the cut. Hooks on tensors find it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.utils._pytree as pytree
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node
from torch.overrides import TorchFunctionMode

from pathways._stablehlo import Type
from pathways.torch._errors import TraceError
from pathways.torch._lines import graph_of
from pathways.torch._lower import type_of
from pathways.torch._registry import DTYPES
from pathways.torch._trace import Captured, capture, named_tensors, tensors_of

STAGE = "pathways.stage"

Loss = Callable[..., Any]


class Stage(NamedTuple):
    """The stage of an operation: its number, and if it computes gradients."""

    number: int
    is_backward: bool


class StepGraph(NamedTuple):
    """The graph of a step. Its arguments are `tensors`, then `inputs`; its results are
    the loss, the gradients of `trained` and the new values of `changed`."""

    captured: Captured
    tensors: dict[str, torch.Tensor]
    inputs: list[Type]
    trained: list[str]
    changed: list[str]
    results: list[int]
    """The place of each result among those of the graph."""

    @property
    def module(self) -> GraphModule:
        return self.captured.module

    @property
    def loss_type(self) -> Type:
        (output,) = (n for n in self.module.graph.nodes if n.op == "output")
        leaves = pytree.tree_flatten(output.args[0])[0]
        found = type_of(leaves[self.results[0]])
        assert found is not None
        return found

    def stages(self) -> dict[str, int]:
        """The stage of each tensor: that of the first operation that reads it."""
        placeholders = {}
        names = iter(self.tensors)
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                name = next(names, None)
                if name is not None:
                    placeholders[name] = node
        found = {}
        for name, node in placeholders.items():
            stages = [user.meta[STAGE].number for user in node.users if STAGE in user.meta]
            found[name] = min(stages, default=0)
        return found


class _Marks(TorchFunctionMode):
    """Finds the places in the graph where stages begin."""

    def __init__(self, module: torch.nn.Module, cuts: Sequence[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.module, self.cuts = module, list(cuts)
        self.stage = 0
        self.begins: list[tuple[Node, Stage]] = []
        self.backward: int | None = None
        self.last: torch.Tensor | None = None

    def begin(self, like: torch.Tensor, stage: Stage) -> None:
        graph = graph_of(like)
        assert graph is not None
        self.begins.append((next(iter(reversed(graph.nodes))), stage))

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        for x in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(x, torch.Tensor) and x.requires_grad and x.grad_fn is not None:
                x.register_hook(  # type: ignore[no-untyped-call]
                    self.gradient_of(self.stage)
                )
        return out

    def gradient_of(self, stage: int) -> Callable[[torch.Tensor], None]:
        def before_gradient(gradient: torch.Tensor) -> None:
            if self.backward is not None and stage < self.backward:
                self.backward = stage
                self.begin(gradient, Stage(stage, True))

        return before_gradient

    @contextlib.contextmanager
    def watching(self, example: torch.Tensor) -> Iterator[None]:
        """Watches the calls of the submodules that begin stages."""
        parts = dict(self.module.named_modules())
        handles = []
        for index, name in enumerate(self.cuts, 1):

            def enter(part: torch.nn.Module, inputs: Any, index: int = index) -> None:
                if index == self.stage + 1:
                    self.stage = index
                    self.begin(example, Stage(index, False))
                elif index > self.stage:
                    raise TraceError(
                        f"the stage that begins with {self.cuts[index - 1]!r} comes before "
                        f"that of {self.cuts[index - 2]!r}; cuts are in the order of calls"
                    )

            handles.append(parts[name].register_forward_pre_hook(enter))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def write(self, example: torch.Tensor) -> None:
        """Stores the stage of each node."""
        graph = graph_of(example)
        assert graph is not None
        begins = {node: stage for node, stage in self.begins}
        stage = Stage(0, False)
        for node in graph.nodes:
            if node.op == "call_function":
                node.meta[STAGE] = stage
            stage = begins.get(node, stage)


def fill_stages(module: GraphModule) -> None:
    """Gives operations that replace writes the stage of the operation before."""
    stage = Stage(0, False)
    for node in module.graph.nodes:
        if node.op == "call_function":
            stage = node.meta.setdefault(STAGE, stage)


def check_constants(module: GraphModule, tensors: dict[str, torch.Tensor]) -> None:
    """Raises TraceError for a tensor of the module that became a constant, because the
    module keeps it at a second place that is no parameter."""
    names = {t.data_ptr(): name for name, t in tensors.items() if t.numel()}
    for node in module.graph.nodes:
        if node.op == "get_attr":
            constant = getattr(module, str(node.target), None)
            if isinstance(constant, torch.Tensor) and constant.data_ptr() in names:
                raise TraceError(
                    f"the module reads {names[constant.data_ptr()]!r} from an attribute "
                    "that is neither a parameter nor a buffer: training would not change it"
                )


def check_cuts(module: torch.nn.Module, cuts: Sequence[str]) -> None:
    """Raises ValueError for a cut that is no submodule."""
    parts = dict(module.named_modules())
    for name in cuts:
        if name not in parts or not name:
            near = [part for part in parts if part and part.count(".") <= name.count(".")]
            raise ValueError(
                f"the cut {name!r} is no submodule; there are {', '.join(near) or 'none'}"
            )
    if len(set(cuts)) < len(cuts):
        raise ValueError(f"the cuts {list(cuts)} name a submodule twice")


def autocast_to(element: torch.dtype | None) -> contextlib.AbstractContextManager[Any]:
    if element is None:
        return contextlib.nullcontext()
    made: contextlib.AbstractContextManager[Any] = torch.autocast(  # type: ignore
        "cpu", dtype=element
    )
    return made


def example(type: Type) -> torch.Tensor:
    """A tensor of a type, without memory."""
    return torch.empty(type.shape, dtype=DTYPES[type.element], device="meta")


def capture_step(
    module: torch.nn.Module,
    loss: Loss | None,
    inputs: Sequence[Type],
    trained: Sequence[str],
    cuts: Sequence[str] = (),
    autocast: torch.dtype | None = None,
) -> StepGraph:
    """Traces a step: `loss` of what the module returns for all inputs but the last, and
    of that one. Without a loss the module returns it.

    Raises TraceError for a module that cannot be traced, a loss that is no scalar, and
    cuts that are not called.
    """
    tensors = named_tensors(module)
    changed: list[str] = []

    def step(tensors: dict[str, Any], *inputs: Any) -> tuple[Any, ...]:
        marks = _Marks(module, cuts)
        example = next(iter(tensors.values()))
        parts: Any = marks if cuts else contextlib.nullcontext()
        with tensors_of(module, tensors) as now, parts:
            with torch.enable_grad(), autocast_to(autocast):
                if cuts:
                    with marks.watching(example):
                        value = _loss_of(module, loss, inputs)
                else:
                    value = _loss_of(module, loss, inputs)
            if marks.stage < len(cuts):
                raise TraceError(
                    f"the stage that begins with {cuts[marks.stage]!r} is not reached: the "
                    "module does not call it"
                )
            replaced = {n: t for n, t in now().items() if t is not tensors[n]}
            gradients = _gradients(value, [tensors[n] for n in trained], marks, example)
        changed[:] = replaced
        value = value.detach()
        if cuts:
            marks.write(example)
        return value, gradients, list(replaced.values())

    captured = capture(step, (tensors, *map(example, inputs)))
    check_constants(captured.module, tensors)
    fill_stages(captured.module)
    names = list(tensors)
    count = 1 + len(trained)
    results = [*range(count + len(changed))]
    for i, result in captured.changed.items():
        if i >= len(names):
            raise TraceError(
                f"the module writes to its input {i - len(names)}: clone it first"
            )
        if names[i] in trained:
            raise TraceError(
                f"the module writes to its parameter {names[i]!r}, which the optimizer "
                "updates"
            )
        if names[i] not in changed:
            changed.append(names[i])
            results.append(result)
    types = captured.arguments[len(names) :]
    return StepGraph(captured, tensors, types, list(trained), changed, results)


def _loss_of(module: torch.nn.Module, loss: Loss | None, inputs: Sequence[Any]) -> Any:
    if loss is None:
        value = module(*inputs)
    else:
        value = loss(module(*inputs[:-1]), inputs[-1])
    if not isinstance(value, torch.Tensor):
        raise TraceError(f"the loss is a {type(value).__name__}, expected a tensor")
    if value.dim() or not value.is_floating_point():
        raise TraceError(
            f"the loss is a tensor of shape {tuple(value.shape)} and {value.dtype}, "
            "expected a float without dimensions"
        )
    return value


def _gradients(
    value: torch.Tensor, trained: list[Any], marks: _Marks, example: torch.Tensor
) -> list[Any]:
    """The gradients of the loss; zeros for parameters that it does not depend on."""
    if not value.requires_grad:
        raise TraceError(
            "the loss does not depend on any parameter that is trained"
            if trained
            else "no parameter is trained: all have requires_grad=False"
        )
    if marks.cuts:
        marks.backward = marks.stage
        marks.begin(example, Stage(marks.stage, True))
    found = torch.autograd.grad(value, trained, allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(trained, found)]


def capture_eval(
    module: torch.nn.Module,
    inputs: Sequence[Type],
    cuts: Sequence[str] = (),
    autocast: torch.dtype | None = None,
) -> tuple[Captured, dict[str, torch.Tensor]]:
    """Traces what the module returns in eval mode. The arguments of the graph are the
    tensors of the module, then the inputs."""
    tensors = named_tensors(module)

    def forward(tensors: dict[str, Any], *inputs: Any) -> Any:
        marks = _Marks(module, cuts)
        example = next(iter(tensors.values()))
        with tensors_of(module, tensors), torch.no_grad(), autocast_to(autocast):
            if not cuts:
                return module(*inputs)
            with marks.watching(example):
                out = module(*inputs)
        marks.write(example)
        return out

    was_training = {part: part.training for part in module.modules()}
    module.eval()
    try:
        captured = capture(forward, (tensors, *map(example, inputs)))
    finally:
        for part, training in was_training.items():
            part.training = training
    fill_stages(captured.module)
    for i in captured.changed:
        if i >= len(tensors):
            raise TraceError(f"the module writes to its input {i - len(tensors)}")
    return captured, tensors
