# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of programs, and labels of the calls in them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ._computation import bind, call_bound, definition_of, name_of, signature_of
from ._errors import InvalidArgument
from ._stablehlo import Function, Type, Value
from ._tensor_types import TensorType
from ._tree import Path, leaves_of, map_leaves, path_name

if TYPE_CHECKING:
    from ._numpy import Traced
    from ._program_trace import ProgramTrace

# The largest number of iterations, as that of a pw.for.
_MOST_TRIPS = 1 << 24

_LABEL = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class _Body(NamedTuple):
    """The body of a loop that was traced: its results by path."""

    function: Function
    tree: dict[str, Any]
    values: dict[Path, Value]


def _program(what: str) -> ProgramTrace:
    """Returns the program that is traced. Errors: InvalidArgument if there is none."""
    from ._program_trace import current

    program = current()
    if program is None:
        raise InvalidArgument(f"{what} is part of a pw.program, and none is traced here")
    return program


@contextlib.contextmanager
def label(name: str, *, recompute: bool = False) -> Iterator[None]:
    """Gives the calls inside of a `with` block, in the body of a `pw.loop`, a label that
    schedules know: "2F" is the forward call of stage 2, "2B" its backward call.

    With `recompute`, calls of the same slice with other labels do not read the results
    that were kept, but those of a second run of the calls. Errors: ProgramError.
    """
    from ._numpy import trace_error

    program = _program("pw.label")
    if not isinstance(name, str) or not _LABEL.fullmatch(name):
        raise trace_error(
            f"the label is {name!r}, expected 1 to 64 letters, digits, '_', '-' or '.'"
        )
    if program.main is program.entry:
        raise trace_error(
            f"the label '{name}' is outside of a loop, and names calls of iterations",
            "use it in the body of a pw.loop",
        )
    before = program.trace.label
    if before[0] is not None:
        raise trace_error(f"the label '{name}' is inside of the label '{before[0]}'")
    program.trace.label = (name, bool(recompute))
    program.labels.add(name)
    try:
        yield
    finally:
        program.trace.label = before


def loop(
    body: Callable[..., Mapping[str, Any]],
    *,
    stepped: Mapping[str, Any] | None = None,
    carried: Mapping[str, Any] | None = None,
    reversed: str | Sequence[str] = (),
    trips: int | None = None,
    schedule: str | None = None,
    label: str | None = None,
) -> dict[str, Any]:
    """Runs a function several times, in a program, as one loop of that.

    `body` is traced once. It takes arguments by the names in `stepped` and `carried`, and
    returns a dictionary. An iteration has its own index of the leading dimension of each
    array in `stepped`. An argument in `carried` begins with the value there; each later
    iteration has the result of that name of the one before. All other results are
    stacked in a new leading dimension. What else the body reads is the same in all
    iterations. Names may stand for trees of arrays.

    `reversed` names stepped arguments and results that count from the last index on.
    `trips` is the number of iterations; it is not needed if something is stepped.
    `schedule` is the name of a schedule, "auto" for the fastest that fits in the memory of
    the devices, or "@" and the path of a file of orders, for the calls with labels
    (`pw.label`). `label` names the loop in a loop around it.

    Returns a dictionary: the last value of what is carried, and what was stacked. Errors:
    ProgramError.
    """
    program = _program("pw.loop")
    words = (reversed,) if isinstance(reversed, str) else tuple(reversed)
    made = _Loop(program, body, dict(stepped or {}), dict(carried or {}), words)
    return made.run(trips, schedule, label)


class _Loop:
    """A loop in the making."""

    def __init__(
        self,
        program: ProgramTrace,
        body: Any,
        stepped: dict[str, Any],
        carried: dict[str, Any],
        reversed: tuple[str, ...],
    ) -> None:
        from ._numpy import trace_error

        if not callable(body):
            raise trace_error(f"the body of a loop is a function, not {body!r}")
        self.error = trace_error
        self.program, self.body, self.name = program, body, name_of(body)
        self.signature = signature_of(body)
        self.reversed = reversed
        both = set(stepped) & set(carried)
        if both:
            raise trace_error(f"'{min(both)}' of {self.name} is both stepped and carried")
        self.stepped = self._lift(stepped)
        self.carried = self._lift(carried)

    def _lift(self, tree: dict[str, Any]) -> dict[str, Any]:
        """Returns a tree of traced values."""
        from ._numpy import Traced

        trace = self.program.trace

        def lift(path: Path, leaf: Any) -> Any:
            if isinstance(leaf, Traced):
                if leaf._trace is not trace:
                    trace.check(leaf)
                return leaf
            if isinstance(leaf, (TensorType, str, bytes)) or leaf is None:
                raise self.error(
                    f"'{path_name(path)}' of {self.name} is {leaf!r}, expected an array"
                )
            with trace.at_user():
                return trace.lift(leaf)

        lifted: dict[str, Any] = map_leaves(tree, lift)
        return lifted

    def run(
        self, trips: int | None, schedule: str | None, label: str | None
    ) -> dict[str, Any]:
        for option, word in (("schedule", schedule), ("label", label)):
            if word is not None and (not isinstance(word, str) or not word):
                raise self.error(f"{option}= of {self.name} is {word!r}, expected a name")
        count = self._trips(trips)
        before = set(self.program.labels)
        self.program.labels.clear()
        body = self._trace()
        has_labels = bool(self.program.labels)
        self.program.labels |= before
        if schedule is not None and not has_labels:
            raise self.error(
                f"{self.name} has the schedule '{schedule}', but no calls with labels",
                'call computations in: with pw.label("0F")',
            )
        if label is not None:
            self.program.labels.add(label)
        carried = self._carried_results(body)
        rest = [path for path in body.values if path[0] not in self.carried]
        if not body.values:
            raise self.error(f"{self.name} returns nothing, and a loop has a result")
        self._check_reversed(rest)
        body.function.returns([body.values[path] for path in (*carried, *rest)])
        results = [(body.values[path].type, "carried") for path in carried]
        for path in rest:
            type = body.values[path].type
            stacked = type.with_shape((count, *type.shape))
            results.append((stacked, self._word(path)))
        operands = [(leaf._value, "carried") for _, leaf in leaves_of(self.carried)]
        for path, leaf in leaves_of(self.stepped):
            operands.append((leaf._value, self._word(path)))
        program = self.program
        with program.trace.at_user():
            values = program.main.loop(
                body.function, count, operands, results, schedule, label
            )
        return self._wrap(body, dict(zip((*carried, *rest), values)))

    def _word(self, path: Path) -> str:
        return "stepped reversed" if path[0] in self.reversed else "stepped"

    def _trips(self, trips: int | None) -> int:
        """Returns the number of iterations."""
        if trips is not None and not hasattr(trips, "__index__"):
            raise self.error(f"trips= of {self.name} is {trips!r}, expected an integer")
        count = None if trips is None else int(trips)
        what = f"trips= of {self.name}"
        for path, leaf in leaves_of(self.stepped):
            name = f"'{path_name(path)}' of {self.name}"
            if not leaf.shape:
                raise self.error(
                    f"{name} is stepped: it needs a value for each iteration, in a leading "
                    "dimension"
                )
            if count is not None and leaf.shape[0] != count:
                raise self.error(
                    f"{name} has {leaf.shape[0]} indices to step through, but {what} "
                    f"{'is' if what.startswith('trips') else 'has'} {count}"
                )
            if count is None:
                count, what = leaf.shape[0], name
        if count is None:
            raise self.error(
                f"{self.name} has no stepped argument, so the number of iterations is not "
                "known",
                "state it: trips=",
            )
        if not 1 <= count <= _MOST_TRIPS:
            raise self.error(
                f"{self.name} runs {count} times, expected a number from 1 to {_MOST_TRIPS}"
            )
        return count

    def _trace(self) -> _Body:
        """Traces the body once, into a function of its own."""
        from ._numpy import Traced
        from ._program_trace import lift_results

        program, trace = self.program, self.program.trace
        function = program.module.function(self.name, program.main)
        function.definition = definition_of(self.body)

        def argument(leaf: Traced, type: Type) -> Traced:
            value = function.argument(type)
            made = Traced(trace, value, leaf.dtype)
            made._slice = leaf._slice
            return made

        given = {
            **map_leaves(self.carried, lambda _, x: argument(x, x._value.type)),
            **map_leaves(
                self.stepped,
                lambda _, x: argument(x, x._value.type.with_shape(x.shape[1:])),
            ),
        }
        try:
            named = bind(self.name, self.signature, (), given)
        except InvalidArgument as error:
            raise self.error(error.message) from None
        outer, before = program.main, trace.label
        program.main = trace.function = function
        trace.label = (None, False)
        try:
            result = call_bound(self.body, self.signature, named)
            if not isinstance(result, Mapping):
                raise self.error(
                    f"{self.name} returns a value of {type(result).__name__}, expected a "
                    "dictionary with names of results"
                )
            tree = dict(result)
            values = lift_results(trace, tree, self.name)
        finally:
            program.main = trace.function = outer
            trace.label = before
        return _Body(function, tree, values)

    def _carried_results(self, body: _Body) -> list[Path]:
        """Returns the paths of the carried values, which the results must have, too."""
        paths = []
        for path, leaf in leaves_of(self.carried):
            if path not in body.values:
                names = ", ".join(f"'{path_name(p)}'" for p in body.values) or "nothing"
                raise self.error(
                    f"{self.name} carries '{path_name(path)}' to the next iteration, but "
                    f"returns {names}"
                )
            begin, next = leaf._value.type, body.values[path].type
            if begin != next:
                raise self.error(
                    f"{self.name} carries '{path_name(path)}', which begins as "
                    f"{TensorType(begin.shape, begin.element)}, but returns "
                    f"{TensorType(next.shape, next.element)}"
                )
            paths.append(path)
        for path in body.values:
            if path[0] in self.carried and path not in paths:
                raise self.error(
                    f"{self.name} returns '{path_name(path)}', but carries no such value"
                )
        return paths

    def _check_reversed(self, rest: Sequence[Path]) -> None:
        known = [str(name) for name in (*self.stepped, *(path[0] for path in rest))]
        for name in self.reversed:
            if name not in known:
                raise self.error(
                    f"reversed= names '{name}', but {self.name} has the stepped arguments "
                    f"and results {', '.join(dict.fromkeys(known)) or 'none'}"
                )

    def _wrap(self, body: _Body, values: Mapping[Path, Value]) -> dict[str, Any]:
        """Puts the results of the loop into what the body returned."""
        from ._numpy import Traced

        begins = dict(leaves_of(self.carried))

        def wrap(path: Path, leaf: Any) -> Traced:
            made = self.program._wrap(values[path])
            made._slice = leaf._slice if isinstance(leaf, Traced) else None
            if path in begins and begins[path]._slice is not None:
                made._slice = begins[path]._slice
            return made

        wrapped: dict[str, Any] = map_leaves(body.tree, wrap)
        return wrapped
