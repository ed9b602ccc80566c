# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loaded programs, their runs and results."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from . import _pathways
from ._array import Array
from ._plan import Port
from ._times import nanoseconds


class Results(_pathways.Results):
    """The results of a run by name, by position, and in order.

    Each one is an Array, which stays on the devices. Results whose names are no names of
    Python are read by `results["name"]`.
    """

    __slots__ = ()

    def _asdict(self) -> dict[str, Array]:
        """Returns a dict from names to arrays."""
        return {name: self[name] for name in self._fields}

    def __await__(self) -> Generator[Any, None, Results]:
        """Waits for the run in an event loop of asyncio, and returns the results."""
        yield from self._run.ended().__await__()
        return self

    def __repr__(self) -> str:
        return "Results(" + ", ".join(f"{n}={self[n]!r}" for n in self._fields) + ")"


class Run(_pathways.Run):
    """A launch in flight, which goes on if nothing refers to it any more."""

    __slots__ = ()

    @property
    def results(self) -> Results:
        """The results, which never wait for the run."""
        return self._results

    def wait(self, timeout: float | None = None) -> Results:
        """Waits for the end of the run, at most `timeout` seconds.

        Errors: RunError with the first cause; TimedOut.
        """
        self._wait(nanoseconds(timeout))
        return self._results

    async def ended(self) -> Results:
        """Waits in an event loop of asyncio, and returns the results.

        A simulation makes progress only in calls that wait: there the loop stands still.
        Errors: RunError.
        """
        from ._loops import run_end

        if self.is_ready() or self.session.is_simulation:
            self._wait(-1)
        else:
            await run_end(self)
        return self._results

    def __await__(self) -> Generator[Any, None, Results]:
        """Waits as `ended` does."""
        return self.ended().__await__()

    def __repr__(self) -> str:
        return f"<Run of {self.executable.name}{'' if self.is_ready() else ', in flight'}>"


class Executable(_pathways.Executable):
    """A loaded program.

    A call launches it and returns its Results at once. It takes every argument, by
    position or by name: an Array, an array of NumPy or DLPack, a number, or a list. The
    number of steps is the leading dimension of stepped arguments, otherwise 1. Errors:
    InvalidArgument that names the argument; Refused; RunError if the run that fills an
    argument has failed.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """Name of the program."""
        return self.plan.name

    @property
    def arguments(self) -> tuple[Port, ...]:
        return self.plan.arguments

    @property
    def results(self) -> tuple[Port, ...]:
        return self.plan.results

    def launch(
        self,
        *arguments: Any,
        steps: int | None = None,
        deadline: float | None = None,
        first_step: int = 0,
        **named: Any,
    ) -> Run:
        """Launches as a call does, and returns the run.

        `deadline` is in seconds from now; it orders launches if the cluster's policy goes by
        deadlines. `first_step` is the number of the first step. An argument whose name is
        that of an option is passed by position.
        """
        return self._launch(
            arguments,
            named,
            0 if steps is None else steps,
            0 if deadline is None else nanoseconds(deadline),
            first_step,
        )

    def rebind(self, *avoid: str) -> None:
        """Moves the program to other devices: none of the islands, hosts and devices named.

        Without names it returns to the devices that it was loaded for. Errors:
        InvalidArgument, Refused.
        """
        self._rebind(avoid)

    def __repr__(self) -> str:
        return f"<Executable of {self.plan!r}>"
