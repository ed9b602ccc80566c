# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that run on a slice, and the frameworks that they are written for."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Literal, TypeVar, overload

from ._errors import InvalidArgument
from ._plan import read_source
from ._slice import Cut, Slice
from ._stablehlo import Place
from ._tree import leaves_of

Framework = Literal["numpy", "torch", "jax", "stablehlo"]
FRAMEWORKS = ("numpy", "torch", "jax", "stablehlo")

F = TypeVar("F", bound=Callable[..., Any])


def name_of(function: Any) -> str:
    """Returns a name for what is computed: that of the function or of the class."""
    if isinstance(function, str):
        return "text"
    if isinstance(function, functools.partial):
        return name_of(function.func)
    name = getattr(function, "__name__", type(function).__name__)
    return "function" if name == "<lambda>" else str(name)


def mentioned(function: Any) -> list[Any]:
    """Returns the values of the names that the code of a function uses from outside."""
    function = inspect.unwrap(getattr(function, "func", function))
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    names = getattr(function, "__globals__", {})
    found = [names[name] for name in code.co_names if name in names]
    for cell in getattr(function, "__closure__", None) or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not yet assigned
            continue
    return found


def definition_of(function: Any) -> Place | None:
    """Returns the place where a function is defined, or None if that is not known."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(function, torch.nn.Module):
        function = function.forward
    if not callable(function):
        return None
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return None
    return str(code.co_filename), int(code.co_firstlineno), 1


def _root_module(value: Any) -> str:
    is_module = isinstance(value, ModuleType)
    name = value.__name__ if is_module else getattr(value, "__module__", "")
    return str(name or "").partition(".")[0]


def framework_of(function: Any, arguments: Any = ()) -> Framework:
    """Returns what a function is written for: by its kind, by its arguments, or by the
    packages that its code mentions."""
    if isinstance(function, str):
        return "stablehlo"
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(function, torch.nn.Module):
        return "torch"
    if hasattr(function, "lower") and hasattr(function, "trace"):
        return "jax"
    if torch is not None and any(
        isinstance(leaf, torch.Tensor) for _, leaf in leaves_of(arguments)
    ):
        return "torch"
    used = [_root_module(value) for value in (function, *mentioned(function))]
    if "torch" in used or "functorch" in used:
        return "torch"
    if "jax" in used:
        return "jax"
    return "numpy"


class Computation:
    """A function whose work is done on a slice. See `pw.computation`."""

    def __init__(
        self,
        function: Any,
        on: Slice | None,
        split: Mapping[str, Cut] | None,
        static: Sequence[str],
        framework: Framework | None,
        name: str | None,
    ) -> None:
        if isinstance(function, (str, os.PathLike)):
            is_path = isinstance(function, os.PathLike) or "\n" not in function
            if is_path and name is None:
                name = os.path.splitext(os.path.basename(function))[0]
            function = read_source(function).text
        elif not callable(function):
            raise InvalidArgument(
                f"a computation is a function, a module, text or a path, not {function!r}"
            )
        if on is not None and not isinstance(on, Slice):
            raise InvalidArgument(f"on= must be a pw.Slice, got {on!r}")
        if framework is not None and framework not in FRAMEWORKS:
            raise InvalidArgument(
                f"framework= must be one of {FRAMEWORKS}, got {framework!r}"
            )
        self.function = function
        self.on = on
        self.split = dict(split or {})
        self.static = (static,) if isinstance(static, str) else tuple(static)
        self.framework = framework
        self.name = name or name_of(function)
        self.signature = signature_of(function)
        if self.signature is not None:
            check_names("static", self.static, self.signature)
        self._program: Any = None
        if not isinstance(function, str):
            functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """In a program: runs the function on its slice. Elsewhere: compiles and runs it
        as a program of its own."""
        from ._program import Program
        from ._program_trace import current

        program = current()
        if program is not None:
            return program.call(self, args, kwargs)
        if self._program is None:
            self._program = Program(self)
        return self._program(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<computation {self.name}{f' on {self.on.name}' if self.on else ''}>"


def signature_of(function: Any) -> inspect.Signature | None:
    """Returns the signature, or None if it is not known."""
    if isinstance(function, str):
        return None
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(function, torch.nn.Module):
        function = function.forward
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def check_names(option: str, names: Sequence[str], signature: inspect.Signature) -> None:
    kinds = [p.kind for p in signature.parameters.values()]
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return
    for name in names:
        if name.partition(".")[0] not in signature.parameters:
            raise InvalidArgument(
                f"{option}= names '{name}', but the function has "
                f"{', '.join(signature.parameters) or 'no arguments'}"
            )


def bind(
    function: str,
    signature: inspect.Signature | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> dict[str, Any]:
    """Returns the arguments of a call by name, in the order of the function."""
    if signature is None:
        return {**{f"arg{i}": value for i, value in enumerate(args)}, **kwargs}
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise InvalidArgument(f"{function}: {error}") from None
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        else:
            named[name] = value
    return named


def call_bound(
    function: Callable[..., Any],
    signature: inspect.Signature | None,
    named: Mapping[str, Any],
) -> Any:
    """Calls a function with what `bind` returned."""
    if signature is None:
        return function(*named.values())
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    rest = dict(named)
    is_positional = True
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            args.extend(rest.pop(name, ()))
            is_positional = False
        elif parameter.kind is parameter.VAR_KEYWORD or name not in rest:
            is_positional = False
        elif is_positional and parameter.kind is not parameter.KEYWORD_ONLY:
            args.append(rest.pop(name))
        else:
            kwargs[name] = rest.pop(name)
    return function(*args, **kwargs, **rest)


@overload
def computation(
    function: Any,
    *,
    on: Slice | None = None,
    split: Mapping[str, Cut] | None = None,
    static: Sequence[str] = (),
    framework: Framework | None = None,
    name: str | None = None,
) -> Computation: ...


@overload
def computation(
    function: None = None,
    *,
    on: Slice | None = None,
    split: Mapping[str, Cut] | None = None,
    static: Sequence[str] = (),
    framework: Framework | None = None,
    name: str | None = None,
) -> Callable[[Any], Computation]: ...


def computation(
    function: Any = None,
    *,
    on: Slice | None = None,
    split: Mapping[str, Cut] | None = None,
    static: Sequence[str] = (),
    framework: Framework | None = None,
    name: str | None = None,
) -> Any:
    """Makes a computation: a function that runs on the slice `on`, all of its devices
    together. Without `on` it runs where its operands are.

    `function` is a function over NumPy, a function or a module of PyTorch, a function of
    JAX (if JAX can be imported), or text of StableHLO with a function @main, or the path
    of such a text. Which one is found out; `framework` ("numpy", "torch", "jax",
    "stablehlo") states it. Also a decorator, bare or with options.

    Arguments are arrays, or trees of arrays. `static` names arguments that are values of
    Python and part of the program. `split` cuts arguments over axes of the slice: by
    name, an axis for the first dimension, or an axis, several or None for each
    dimension. What is not named, the compiler cuts.

    Called in a `pw.program`, it becomes a part of that. Called elsewhere, it is a program
    of its own, as if `pw.program` had been applied.
    """

    def make(function: Any) -> Computation:
        if isinstance(function, Computation):
            raise InvalidArgument(f"{function!r} is a computation already")
        return Computation(function, on, split, static, framework, name)

    return make if function is None else make(function)
