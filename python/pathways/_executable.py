# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loaded programs, their runs and results."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from typing import Any, Literal, NamedTuple

from . import _pathways
from ._array import Array
from ._errors import InvalidArgument
from ._placement import Sharding
from ._plan import Port
from ._times import nanoseconds


class Results(_pathways.Results):
    """The results of a run by name, by position, and in order.

    Each one is an Array, which stays on the devices. Results whose names are no names of
    Python are read by `results["name"]`.
    """

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *filter(str.isidentifier, self._fields)]

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

        A simulation takes no account of the limit, nor of signals such as Ctrl-C, until
        the run has ended. Errors: RunError with the first cause; TimedOut.
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


class RecoveryReport(NamedTuple):
    """What recovery has cost. Times are in nanoseconds of the world's clock."""

    resumed_at: int
    losses: int
    moves: int
    repeated_steps: int
    checkpoints: int
    checkpoint_bytes: int
    checkpoint_ns: int
    run_ns: int


class FinishedRun(NamedTuple):
    """Results of `run_to_end` by name, and what recovery has cost."""

    results: dict[str, Array]
    report: RecoveryReport


_MODES = ("fail", "retry", "rebind")


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
        priority: int | None = None,
        **named: Any,
    ) -> Run:
        """Launches as a call does, and returns the run.

        `deadline` is in seconds from now; it orders launches if the cluster's policy goes by
        deadlines. `first_step` is the number of the first step. `priority` replaces that of
        the session. An argument whose name is that of an option is passed by position.
        """
        if steps == 0:
            raise InvalidArgument("the number of steps is 0, expected at least 1")
        return self._launch(
            arguments,
            named,
            0 if steps is None else steps,
            0 if deadline is None else nanoseconds(deadline),
            first_step,
            priority,
        )

    @property
    def memory(self) -> dict[str, int]:
        """Memory that the program reserves on each of its devices, in bytes."""
        memory = json.loads(self._describe())["memory"]
        return {device["device"]: device["bytes"] for device in memory}

    @property
    def shardings(self) -> dict[str, Sharding]:
        """Shardings of arguments and results by name, on the devices where it is now.

        An argument with this sharding does not move when a launch starts.
        """
        found = json.loads(self._describe())
        return {
            port["name"]: Sharding.from_json(port["sharding"])
            for port in (*found["results"], *found["arguments"])
        }

    def run_to_end(
        self,
        steps: int,
        *,
        first_step: int = 0,
        mode: Literal["fail", "retry", "rebind"] = "fail",
        checkpoint_every: int = 0,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        checkpoints_on_hosts: bool = False,
        resume: bool = False,
        max_losses: int = 0,
        timeout: float | None = None,
        oversubscribe: bool = False,
        **named: Any,
    ) -> FinishedRun:
        """Runs all steps through losses of hosts, and waits for the end.

        Carried values are checkpointed every `checkpoint_every` steps (0: only at the
        beginning), in memory or in `checkpoint_dir`. After a loss the run fails, goes on
        where it was once the host is back ("retry"), or on other devices ("rebind").
        `resume` begins at the checkpoint in the folder. `timeout` is the longest wait for
        devices in seconds. Errors: those of `launch`; RunError, Refused, AlreadyExists,
        Damaged, Unwritable.
        """
        if mode not in _MODES:
            raise InvalidArgument(f"there is no mode {mode!r}, only {list(_MODES)}")
        ports = self.arguments
        names = [port.name for port in ports]
        for name in named:
            if name not in names:
                raise InvalidArgument(f"the program has no argument {name!r}, only {names}")
        missing = [name for name in names if name not in named]
        if missing:
            raise InvalidArgument(f"arguments {missing} are missing")
        arrays = tuple(
            value
            if isinstance(value := named[port.name], Array)
            else self.session._put(value, 0, port.element, f"argument '{port.name}'")
            for port in ports
        )
        results, report = self._run_to_end(
            arrays,
            steps,
            first_step,
            _MODES.index(mode),
            max_losses,
            checkpoint_every,
            None if checkpoint_dir is None else os.fspath(checkpoint_dir),
            checkpoints_on_hosts,
            resume,
            0 if timeout is None else nanoseconds(timeout) or -1,
            oversubscribe,
        )
        by_name = {port.name: array for port, array in zip(self.results, results)}
        return FinishedRun(by_name, RecoveryReport(*report))

    def rebind(self, *avoid: str) -> None:
        """Moves the program to other devices: none of the islands, hosts and devices named.

        Without names it returns to the devices that it was loaded for. Errors:
        InvalidArgument, Refused.
        """
        self._rebind(avoid)

    def __repr__(self) -> str:
        return f"<Executable of {self.plan!r}>"
