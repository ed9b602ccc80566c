# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training of PyTorch modules.

    train = train_step(module, F.cross_entropy, AdamW(lr=3e-4))
    with pathways.Session() as session:
        step = session.load(train.compile(x, y))
        for x, y in batches:
            losses.append(step(x, y).loss)
        module.load_state_dict(step.state_dict())
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from pathways._array import Array
from pathways._errors import InvalidArgument
from pathways._executable import Executable
from pathways._plan import Plan, compile
from pathways._session import Session
from pathways._slice import Slice, islands
from pathways._stablehlo import Type
from pathways.torch._errors import TraceError
from pathways.torch._optimizers import PER_STEP, Optimizer, as_optimizers
from pathways.torch._registry import element_of
from pathways.torch._step_graph import capture_step, check_cuts
from pathways.torch._trace import argument_names, example_type, named_tensors
from pathways.torch._training_program import (
    COUNT_NAME,
    SEED_NAME,
    EvalProgram,
    Layout,
    Pipeline,
    StepProgram,
    eval_program,
    step_program,
)
from pathways.torch._training_state import (
    export_optimizer,
    import_optimizer,
    to_array,
    to_tensor,
)

Loss = Callable[..., Any]


class StepResult(NamedTuple):
    """What a step returns. The loss is that before the update; it stays on a device until
    it is read."""

    loss: Array


def make_pipeline(schedule: Any, recompute: Any) -> Pipeline | None:
    """Returns the options for the order of micro-batches, or None without a schedule."""
    patterns = (recompute,) if isinstance(recompute, str) else tuple(recompute)
    if schedule is None:
        if patterns:
            raise ValueError(
                f"recompute is {list(patterns)}, but there is no schedule; give schedule="
            )
        return None
    if not isinstance(schedule, str):
        raise TypeError(f"the schedule is a name or @ and a path, not {schedule!r}")
    if not schedule:
        raise ValueError("the schedule is empty; give its name, or @ and a path")
    return Pipeline(schedule, patterns)


def slice_layout(
    on: Any,
    split: Mapping[str, Any] | None,
    batch: str | Sequence[str] | None,
    stages: int,
) -> Layout:
    """Returns the layout for slices, each with a name and axes, for axes alone, or None,
    which is one device. A slice may be that of several stages."""
    given = list(on) if isinstance(on, (list, tuple)) else [on]
    if stages > 1 and len(given) != stages:
        raise ValueError(
            f"there are {stages} stages and {len(given)} slices; give on=[...] a slice for "
            "each stage"
        )
    if stages == 1 and len(given) > 1:
        raise ValueError(
            f"there are {len(given)} slices and one stage; cut=[...] says where the others "
            "begin"
        )
    slices: list[Slice] = []
    for one in given:
        if isinstance(one, Slice):
            slices.append(one)
        else:
            before = [slice.name for slice in slices]
            if one is not None and not isinstance(one, Mapping):
                raise TypeError(
                    f"on= is a pw.Slice, or its axes with their sizes, not {one!r}"
                )
            axes = {str(axis): int(size) for axis, size in (one or {}).items()}
            slices.append(Slice(f"stage{len(slices)}", apart_from=before, **axes))
    names = [slice.name for slice in slices]
    different: list[Slice] = []
    for slice in slices:
        if not any(slice == other and slice.same_as(other) for other in different):
            different.append(slice)
    meshes = [slice.axes for slice in slices]
    if len(set(meshes)) > 1:
        raise ValueError(f"the slices of a step have equal axes, not {meshes}")
    if len(set(names)) < len(different):
        raise ValueError(f"two slices have the same name: {names}")
    axes_of = dict(meshes[0])
    along = (batch,) if isinstance(batch, str) else tuple(batch or ())
    for axis in along:
        if axis not in axes_of:
            raise ValueError(
                f"the batch is cut along {axis!r}, but the slice has the axes "
                f"{', '.join(axes_of) or 'none'}"
            )
    return Layout(
        meshes[0],
        tuple(names) if stages > 1 else (),
        islands(different),
        dict(split or {}),
        along,
    )


class TrainStep:
    """A training step of a module, to be compiled for batches of a shape."""

    def __init__(
        self,
        module: torch.nn.Module,
        loss: Loss | None,
        optimizer: Optimizer | torch.optim.Optimizer,
        layout: Layout,
        cuts: tuple[str, ...],
        micro_batches: int,
        clip_norm: float | None,
        autocast: torch.dtype | None,
        seed: int,
        pipeline: Pipeline | None = None,
    ) -> None:
        self.module, self.loss, self.optimizer = module, loss, optimizer
        self.layout, self.cuts, self.micro_batches = layout, cuts, micro_batches
        self.clip_norm, self.autocast, self.seed = clip_norm, autocast, seed
        self.pipeline = pipeline
        self.rules = as_optimizers(optimizer, dict(module.named_parameters()))
        if not self.rules:
            raise ValueError("the optimizer has no parameter that requires gradients")

    @property
    def is_cut(self) -> bool:
        """True if the inputs are cut into micro-batches."""
        return self.micro_batches > 1 or self.pipeline is not None

    def trace(self, *inputs: Any) -> StepProgram:
        """Returns the program for inputs of these types, as text."""
        types = self._types(inputs)
        parts = [Type((t.shape[0] // self.micro_batches, *t.shape[1:]), t.element)
                 if self.is_cut else t for t in types]  # fmt: skip
        graph = capture_step(
            self.module, self.loss, parts, list(self.rules), self.cuts, self.autocast
        )
        names = self._names(len(types))
        return step_program(
            type(self.module).__name__,
            graph,
            list(zip(names, types)),
            self.rules,
            self.layout,
            self.micro_batches,
            self.clip_norm,
            self.pipeline,
        )

    def compile(
        self,
        *inputs: Any,
        topology: str | None = None,
        stepped: bool = False,
        **options: Any,
    ) -> TrainPlan:
        """Compiles the step for inputs of these types: what the module takes, then what
        the loss takes besides its result.

        With `stepped`, a call takes a batch for each of several steps, in a leading
        dimension, and returns as many losses; `inputs` are those of one step. `options` are
        those of pathways.compile. Raises TraceError for a module that cannot be traced, and
        the errors of pathways.compile.
        """
        program = self.trace(*inputs)
        source = program.source
        if stepped:
            names = [name for name, _ in program.inputs]
            names += ["lr"] if program.takes_rate else []
            source = source._replace(stepped=",".join([*names, "loss"]))
        return TrainPlan(self, program, compile(source, topology, **options))

    def _types(self, inputs: Sequence[Any]) -> list[Type]:
        if not inputs:
            raise InvalidArgument("a step is compiled for inputs: give a batch of examples")
        types = []
        for i, x in enumerate(inputs):
            known = example_type(x)
            if known is None:
                raise InvalidArgument(
                    f"input {i} is a {type(x).__name__}, expected a tensor or an array"
                )
            shape, dtype = known
            if self.is_cut and (not shape or shape[0] % self.micro_batches):
                raise InvalidArgument(
                    f"input {i} has the shape {tuple(shape)}, whose first dimension "
                    f"{self.micro_batches} micro-batches do not divide"
                )
            types.append(Type(tuple(shape), element_of(dtype)))
        return types

    def _names(self, count: int) -> list[str]:
        """Names of the inputs: those of the module's parameters, and `target`."""
        own = count if self.loss is None else count - 1
        paths: list[tuple[Any, ...]] = [(0, i) for i in range(own)]
        names = argument_names(self.module.forward, paths)
        taken = set(named_tensors(self.module)) | {"lr", COUNT_NAME, SEED_NAME}
        names += ["target"] * (count - own)
        return [f"{name}_" if name in taken else name for name in names]


class TrainPlan:
    """A compiled training step. Session.load makes an executable of it, which begins with
    the values that the module has then.

    `plan` is the compiled program and `program` its text; `remarks` says what the compiler
    remarked, and which cuts of tensors are not even.
    """

    def __init__(self, step: TrainStep, program: StepProgram, plan: Plan) -> None:
        self.step, self.program, self.plan = step, program, plan

    @property
    def remarks(self) -> tuple[str, ...]:
        return (*self.program.remarks, *self.plan.remarks)

    def __pathways_load__(self, session: Session, **options: Any) -> TrainExecutable:
        return TrainExecutable(session, self, session.load(self.plan, **options))


class TrainExecutable:
    """A loaded training step, and the state that it trains, which stays on the devices.

    Calls follow each other in the order in which they are made: each one takes the state
    that the one before left.
    """

    def __init__(self, session: Session, plan: TrainPlan, executable: Executable) -> None:
        self._session, self._plan, self._executable = session, plan, executable
        self._evals: dict[tuple[Type, ...], tuple[EvalProgram, Executable]] = {}
        self._state: dict[str, Array] = {}
        step = plan.step
        values: dict[str, Any] = dict(named_tensors(step.module))
        values[COUNT_NAME] = torch.tensor(0)
        for part in plan.program.state:
            if part.of:
                values[part.name] = torch.zeros_like(values[part.of])
        self._put(values)
        if any(part.name == SEED_NAME for part in plan.program.state):
            self._set_seed(step.seed)
        if isinstance(step.optimizer, torch.optim.Optimizer) and step.optimizer.state:
            names = {id(p): name for name, p in step.module.named_parameters()}
            order = [names[id(p)] for g in step.optimizer.param_groups for p in g["params"]]
            self._import(step.optimizer.state_dict(), order)

    @property
    def plan(self) -> Plan:
        return self._plan.plan

    @property
    def executable(self) -> Executable:
        """The program itself, which takes and returns the state as arrays."""
        return self._executable

    @property
    def step_count(self) -> int:
        """The number of steps so far. Waits for the last one."""
        return int(to_tensor(self._state[COUNT_NAME]))

    def __call__(self, *inputs: Any, lr: Any = None) -> StepResult:
        """Launches a step and returns at once. `lr` is the learning rate of an optimizer
        with lr="per step". Errors: InvalidArgument, Refused."""
        program = self._plan.program
        if len(inputs) != len(program.inputs):
            names = ", ".join(name for name, _ in program.inputs)
            raise InvalidArgument(f"the step takes {names}, got {len(inputs)} inputs")
        if callable(lr) or any(
            callable(x) and not hasattr(x, "shape") for x in inputs
        ):
            raise InvalidArgument("a step takes no closure: it computes the loss itself")
        if program.takes_rate != (lr is not None):
            raise InvalidArgument(
                f'the optimizer has lr="{PER_STEP}": give lr=... with each step'
                if program.takes_rate
                else f'the learning rate is part of the program; lr="{PER_STEP}" takes it '
                "with each step"
            )
        if lr is not None:
            import numpy

            lr = numpy.asarray(lr, numpy.float32)
        arguments = [self._state[part.name] for part in program.state]
        arguments += self._inputs(inputs)
        arguments += [lr] if lr is not None else []
        results = self._executable(*arguments)
        for i, part in enumerate(program.state):
            self._state[part.name] = results[i]
        return StepResult(results[len(program.state)])

    def eval(self, *inputs: Any) -> Any:
        """Returns what the module returns in eval mode with the present state: arrays on
        the devices, in the module's structure. Compiles at the first call for inputs of
        these types. Errors: TraceError, and those of compile and of a launch."""
        types = tuple(self._plan.step._types(inputs))
        if types not in self._evals:
            step = self._plan.step
            own = len(inputs)
            names = argument_names(step.module.forward, [(0, i) for i in range(own)])
            taken = set(named_tensors(step.module))
            names = [f"{name}_" if name in taken else name for name in names]
            made = eval_program(
                f"{type(step.module).__name__}_eval",
                step.module,
                list(zip(names, types)),
                step.layout,
                step.cuts,
                step.autocast,
            )
            self._evals[types] = made, self._session.load(made.source)
        program, executable = self._evals[types]
        arguments = [self._state[name] for name in program.tensors]
        results = executable(*arguments, *self._inputs(inputs))
        return program.unflatten([results[i] for i in range(len(results))])

    def _inputs(self, inputs: Sequence[Any]) -> list[Any]:
        """Copies tensors, which the caller may change after the call."""
        return [
            self._session.put(to_array(x), copy=True) if isinstance(x, torch.Tensor) else x
            for x in inputs
        ]

    # State.

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Returns parameters and buffers as module.state_dict() does. Waits for the last
        step. Errors: RunError if a step failed."""
        module = self._plan.step.module
        own = {id(t): name for name, t in named_tensors(module).items()}
        read = {name: to_tensor(self._state[name]) for name in own.values()}
        return {
            name: read[own[id(t)]] if id(t) in own else t.detach().clone()
            for name, t in module.state_dict(keep_vars=True).items()
        }

    def load_state_dict(
        self,
        state: Mapping[str, Any] | None = None,
        optimizer: Mapping[str, Any] | None = None,
    ) -> None:
        """Replaces the state: that of the module, and that of the optimizer, as
        `state_dict` and `optimizer_state_dict`, or PyTorch's own, return it. Errors:
        InvalidArgument for names, shapes or elements that differ."""
        if state is not None:
            module = self._plan.step.module
            own = {id(t): name for name, t in named_tensors(module).items()}
            kept = module.state_dict(keep_vars=True)
            if set(kept) != set(state):
                missing, extra = set(kept) - set(state), set(state) - set(kept)
                raise InvalidArgument(
                    f"the state lacks {sorted(missing) or 'nothing'} and has "
                    f"{sorted(extra) or 'nothing'} that the module lacks"
                )
            self._put({own[id(t)]: state[name] for name, t in kept.items() if id(t) in own})
        if optimizer is not None:
            self._import(optimizer, list(self._plan.step.rules))

    def optimizer_state_dict(self) -> dict[str, Any]:
        """Returns the state of the optimizer as the state_dict() of torch.optim has it,
        with parameters in the order of the module. "pathways" has the count of steps and
        the seed of the next one besides. Waits for the last step."""
        read = {
            part.name: to_tensor(self._state[part.name])
            for part in self._plan.program.state
            if part.of or part.name in (COUNT_NAME, SEED_NAME)
        }
        return export_optimizer(self._plan.step.rules, read)

    def _import(self, optimizer: Mapping[str, Any], order: list[str]) -> None:
        values = import_optimizer(self._plan.step.rules, optimizer, order)
        seed = values.pop(SEED_NAME, None)
        for part in self._plan.program.state:
            if part.of and part.name not in values:
                values[part.name] = torch.zeros_like(to_tensor(self._state[part.of]))
        self._put(values)
        if seed is not None and SEED_NAME in self._state:
            self._set_seed(seed)

    def _set_seed(self, seed: int) -> None:
        import numpy

        value = numpy.asarray(seed % (1 << 64), numpy.uint64)
        self._state[SEED_NAME] = self._session.put(value, copy=True)

    def _put(self, values: Mapping[str, Any]) -> None:
        types = {part.name: part.type for part in self._plan.program.state}
        arrays = {}
        for name, value in values.items():
            tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(value)
            own = Type(tuple(tensor.shape), element_of(tensor.dtype))
            if own != types[name]:
                raise InvalidArgument(f"{name} is {own}, expected {types[name]}")
            arrays[name] = self._session.put(to_array(tensor), copy=True)
        self._state.update(arrays)


def train_step(
    module: torch.nn.Module,
    loss: Loss | None,
    optimizer: Optimizer | torch.optim.Optimizer,
    *,
    on: Any = None,
    split: Mapping[str, Any] | None = None,
    batch: str | Sequence[str] | None = None,
    cut: Sequence[str] = (),
    micro_batches: int = 1,
    schedule: str | None = None,
    recompute: str | Sequence[str] = (),
    clip_norm: float | None = None,
    autocast: torch.dtype | str | None = None,
    seed: int = 0,
) -> TrainStep:
    """Returns a training step of a module, which is one program.

    `loss` takes what the module returns and a target, and returns a float without
    dimensions; None: the module returns the loss itself. `optimizer` is SGD, Adam or AdamW
    of pathways.torch, or of torch.optim with options that these have.

    `on` is a slice, or its axes with their sizes, or None for one device. `split` says for
    a pattern of names of parameters along which axes they are cut:
    {"*.weight": ("model", None)}; the compiler chooses the cut of all others. The state of
    the optimizer is cut as its parameter. `batch` are the axes along which the inputs are
    cut, in their first dimension.

    `cut` names submodules at whose first call a new stage begins; `on` is then a list with
    a slice for each stage, each on an island of its own; several stages may be on one
    pw.Slice. `micro_batches` is the number of equal parts of a batch whose gradients are
    accumulated; the loss is the mean of theirs. `schedule` is the order in which the
    slices run the micro-batches: a name, "auto" for the fastest that fits in the memory of
    the devices, or "@" and the path of a file of orders, for calls with labels such as "2F"
    and "2B", of stages from 0. `recompute` are patterns of
    labels of forward calls that run again instead of keeping what the backward call reads.
    `clip_norm` is the largest norm of all gradients together. `autocast` is the type of
    torch.autocast, such as torch.bfloat16 or "bf16". `seed` begins the random numbers.

    Errors: ValueError and TypeError for arguments that do not fit.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"a step trains a torch.nn.Module, not a {type(module).__name__}")
    cuts = (cut,) if isinstance(cut, str) else tuple(cut)
    check_cuts(module, cuts)
    if not hasattr(micro_batches, "__index__") or micro_batches < 1:
        raise ValueError(f"micro_batches is {micro_batches}, expected an integer from 1")
    if not hasattr(seed, "__index__"):
        raise TypeError(f"the seed is an integer, not {seed!r}")
    if not -(1 << 63) <= operator.index(seed) < 1 << 64:
        raise ValueError(f"the seed is {seed}, expected at least -2**63 and below 2**64")
    if clip_norm is not None and not hasattr(clip_norm, "__float__"):
        raise TypeError(f"clip_norm is a number, not {clip_norm!r}")
    if clip_norm is not None and not (clip_norm > 0 and math.isfinite(clip_norm)):
        raise ValueError(f"clip_norm is {clip_norm}, expected a finite number above 0")
    if isinstance(autocast, str):
        elements = {"bf16": torch.bfloat16, "bfloat16": torch.bfloat16}
        if autocast not in elements:
            raise ValueError(f'autocast is "{autocast}", expected "bf16"')
        autocast = elements[autocast]
    if autocast not in (None, torch.bfloat16):
        raise ValueError(f"autocast is {autocast}, but on CPUs it is torch.bfloat16 only")
    pipeline = make_pipeline(schedule, recompute)
    if pipeline is not None and not cuts:
        raise ValueError(
            f"the schedule is {schedule!r}, but there is one stage; cut=[...] says where "
            "others begin"
        )
    layout = slice_layout(on, split, batch, len(cuts) + 1)
    names = list(named_tensors(module))
    try:
        layout.check_patterns(names)
    except TraceError as error:
        raise ValueError(str(error)) from None
    return TrainStep(
        module,
        loss,
        optimizer,
        layout,
        cuts,
        micro_batches,
        clip_norm,
        autocast,
        seed,
        pipeline,
    )
