# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Relates nodes of a graph to lines of the user's code while it is traced.

A graph of PyTorch 1.13 has no lines. Lines is a dispatch mode that is on top of the
tracer: it sees each call that becomes a node, finds the user's frame, and keeps it in
node.meta["pathways.place"]. All calls of a backward pass come from one line, that of the
call of grad. So the function mode Hooks puts a hook on each tensor of the forward pass;
the hook runs just before the gradient of what made the tensor is computed, and names it.
"""

from __future__ import annotations

import itertools
import os
import sys
from types import CodeType, FrameType
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch.fx.experimental import proxy_tensor
from torch.fx.graph import Graph
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from pathways._stablehlo import Place
from pathways.torch._errors import TraceError
from pathways.torch._quirks import INSTEAD, adjusted, with_tensors
from pathways.torch._rewrites import rewritten

aten: Any = torch.ops.aten  # type: ignore[attr-defined]

PLACE = "pathways.place"
BACKWARD = "pathways.backward"
# True for a tensor that the function found around it.
OUTSIDE = "pathways.outside"
# The name of the random numbers that an operation draws: the number of the trace and a
# count. Operations with one name draw the same numbers.
DRAW = "pathways.draw"

_traces = itertools.count()

_TORCH = os.path.dirname(torch.__file__) + os.sep
_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep
_OUTSIDE = (
    _TORCH,
    os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), "functorch") + os.sep,
    _OWN,
    "<",
)
_STANDARD = os.path.dirname(os.__file__) + os.sep
_AUTOGRAD = os.path.join(_TORCH, "autograd", "__init__.py")

# Functions that read the memory of a tensor, or hand it out.
_READS = {
    "numpy": "numpy()",
    "tolist": "tolist()",
    "__array__": "np.asarray",
    "data_ptr": "data_ptr()",
    "__dlpack__": "DLPack",
    "storage": "storage()",
    "untyped_storage": "untyped_storage()",
    "_typed_storage": "storage()",
}


def column(code: CodeType, instruction: int) -> int:
    """Returns the column, from 1, of an instruction."""
    position = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    return (position[2] or 0) + 1 if position else 1


def graph_of(out: Any) -> Graph | None:
    """Returns the graph that the tracer records the results of a call in."""
    for x in out if isinstance(out, (list, tuple)) else [out]:
        slots = getattr(proxy_tensor, "get_proxy_slots", lambda _: None)(x) if isinstance(
            x, torch.Tensor
        ) else None
        for slot in (slots or {}).values():
            graph: Graph = getattr(slot, "proxy", slot).node.graph
            return graph
    return None


class Lines(TorchDispatchMode):
    """Keeps the user's place of each call in the node that the tracer made of it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_user: dict[str, bool] = {}
        self.places: dict[tuple[CodeType, int], Place] = {}
        # The place and the name of the operation whose gradient is computed.
        self.forward: tuple[Place | None, str] | None = None
        self.last = ""
        # Tensors around the function, their constants, and their gradients before.
        self.lifted: dict[int, tuple[torch.Tensor, torch.Tensor, Any]] = {}
        self.number = next(_traces)
        self.draws: dict[bytes, int] = {}
        self.is_busy = False

    def frame(self) -> tuple[FrameType | None, bool]:
        """Returns the innermost frame of the user, and if it only asked for gradients."""
        frame: FrameType | None = sys._getframe(1)
        is_backward = False
        while frame is not None:
            name = frame.f_code.co_filename
            if self.is_of_user(name):
                return frame, is_backward
            if name == _AUTOGRAD and frame.f_code.co_name in ("grad", "backward"):
                is_backward = True
            frame = frame.f_back
        return None, is_backward

    def is_of_user(self, file: str) -> bool:
        known = self.is_user.get(file)
        if known is None:
            is_standard = file.startswith(_STANDARD) and "-packages" not in file
            known = self.is_user[file] = not (is_standard or file.startswith(_OUTSIDE))
        return known

    def place_of(self, failure: BaseException) -> Place | None:
        """Returns the user's innermost place in the traceback of a failure."""
        found: Place | None = None
        trace = failure.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if self.is_of_user(code.co_filename):
                place = (code.co_filename, trace.tb_lineno, column(code, trace.tb_lasti))
                found = place
            trace = trace.tb_next
        return found

    def restore(self) -> None:
        """Takes gradients away that a backward pass left in tensors around the function."""
        for tensor, _, gradient in self.lifted.values():
            if isinstance(tensor.grad, FakeTensor):
                tensor.grad = gradient

    def place(self) -> tuple[Place | None, bool]:
        frame, is_backward = self.frame()
        if frame is None:
            return None, is_backward
        key = (frame.f_code, frame.f_lasti)
        if key not in self.places:
            self.places[key] = (
                frame.f_code.co_filename,
                frame.f_lineno,
                column(frame.f_code, frame.f_lasti),
            )
        return self.places[key], is_backward

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = str(func)
        if name != "aten.lift_fresh.default":
            args = tuple([self.lifted_in(x) for x in args])
            kwargs = {key: self.lifted_in(x) for key, x in kwargs.items()}
        args, kwargs = adjusted(name, args, kwargs)
        if kwargs.get("generator") is not None:
            raise TraceError(
                f"{name} has a generator, whose state would be part of the program: leave "
                "it out, and the seed argument of the program is used",
                self.place()[0],
            )
        try:
            out = self.call(func, args, kwargs)
        except TraceError:
            raise
        except Exception as failure:
            self.explain(func, failure)
            raise
        draw = None
        if "nondeterministic_seeded" in {tag.name for tag in func.tags}:
            draw = (self.number, self.draw())
        self.annotate(name, out, draw=draw)
        return out

    def draw(self) -> int:
        """Returns a number for the state of PyTorch's generator, and advances it. Code that
        computes again what it dropped (torch.utils.checkpoint) sets the state back."""
        self.is_busy = True
        try:
            with no_dispatch():
                state = torch.get_rng_state().numpy().tobytes()
                torch.rand(1)
        finally:
            self.is_busy = False
        return self.draws.setdefault(state, len(self.draws))

    def call(self, func: Any, args: Any, kwargs: Any) -> Any:
        try:
            return func(*args, **kwargs)
        except RuntimeError as failure:
            if "Expected a value of type 'Tensor'" not in str(failure):
                raise
        return func(*with_tensors(func, args), **kwargs)

    def lifted_in(self, x: Any) -> Any:
        if isinstance(x, torch.Tensor):
            return x if isinstance(x, FakeTensor) else self.lift(x)
        if isinstance(x, (list, tuple)):
            return [self.lifted_in(one) for one in x]
        return x

    def lift(self, x: torch.Tensor) -> torch.Tensor:
        """Makes a constant of a tensor that the function finds around it."""
        known = self.lifted.get(id(x))
        if known is None:
            with no_dispatch():
                plain = x.detach()
                gradient = x.grad if x.is_leaf else None
            known = self.lifted[id(x)] = (x, aten.lift_fresh.default(plain), gradient)
            self.annotate("aten.lift_fresh.default", known[1], is_outside=True)
        return known[1]

    def annotate(
        self,
        name: str,
        out: Any,
        is_outside: bool = False,
        draw: tuple[int, int] | None = None,
    ) -> None:
        """Stores places in the nodes that were added since the last call."""
        graph = graph_of(out)
        if graph is None:
            return
        place, is_backward = self.place()
        forward = None
        if is_backward:
            if self.forward is not None:
                forward_place, forward = self.forward
                place = forward_place or place
        else:
            self.last = name
        for node in reversed(graph.nodes):
            if PLACE in node.meta or node.op == "placeholder":
                break
            node.meta[PLACE] = place
            if is_outside:
                node.meta[OUTSIDE] = True
            if draw is not None:
                node.meta[DRAW] = draw
            if forward is not None:
                node.meta[BACKWARD] = forward

    def explain(self, func: Any, failure: Exception) -> None:
        """Raises a TraceError for a call that cannot be traced for a reason we know."""
        tags = {tag.name for tag in getattr(func, "tags", ())}
        name = str(func)
        place, _ = self.place()
        kind = type(failure).__name__
        if "data_dependent_output" in tags or kind == "DataDependentOutputException":
            raise TraceError(
                "the value of a traced tensor is needed here, which has none while it is "
                "traced: if, while, float(), int(), bool() and .item() cannot depend on "
                "it; use torch.where, or compute with the tensor",
                place,
            ) from None
        if "dynamic_output_shape" in tags or kind == "DynamicOutputShapeException":
            raise TraceError(
                f"the shape of the result of {name} depends on values; all shapes must be "
                "known when a function is traced: use torch.where, or a mask",
                place,
            ) from None
        if isinstance(failure, NotImplementedError):
            raise TraceError(
                f"PyTorch cannot trace {name} without values: write it with other "
                "operations",
                place,
            ) from None


class Hooks(TorchFunctionMode):
    def __init__(self, lines: Lines) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lines = lines

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if self.lines.is_busy:
            return func(*args, **(kwargs or {}))
        if name in _READS and getattr(func, "__objclass__", torch.Tensor) in (
            torch.Tensor,
            torch._C._TensorBase,
        ):
            place, _ = self.lines.place()
            raise TraceError(
                f"{_READS[name]} of a traced tensor, which has no values while it is "
                "traced",
                place,
            )
        if name == "__set__" and getattr(func, "__self__", None) is torch.Tensor.data:
            raise TraceError(
                "an assignment to .data is not traced; use copy_()", self.lines.place()[0]
            )
        out = rewritten(func, args, kwargs or {})
        if out is None:
            out = NotImplemented
            if name in INSTEAD:
                out = INSTEAD[name](*args, **(kwargs or {}))
            if out is NotImplemented:
                out = func(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor):
            self.hook(out)
        elif isinstance(out, (tuple, list)):
            for one in out:
                if isinstance(one, torch.Tensor):
                    self.hook(one)
        return out

    def hook(self, x: torch.Tensor) -> None:
        if not x.requires_grad or x.grad_fn is None:
            return
        lines = self.lines
        forward = (lines.place()[0], lines.last)

        def before_gradient(_: Any) -> None:
            lines.forward = forward

        x.register_hook(before_gradient)  # type: ignore[no-untyped-call]
