# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, Union, runtime_checkable

from . import _pathways
from ._errors import Error, InvalidArgument, NotFound, check_numbers
from ._types import dtype_of


class Port(NamedTuple):
    """An argument or a result of a program.

    `shape` is that of one step. A launch of n steps takes or returns a stepped value with
    n as an extra leading dimension. `carried_from` is the position of the result whose
    value a carried argument takes from the second step on, or -1.
    """

    name: str
    element: str
    shape: tuple[int, ...]
    stepped: bool
    carried_from: int

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the elements."""
        return dtype_of(self.element)


class Costs(NamedTuple):
    """What a plan costs.

    `peak_bytes` is the most memory of any device, `total_bytes` the sum over devices,
    `step_time` the time of a step in seconds. One step moves `ici_bytes` inside islands and
    `dcn_bytes` between them. `details` has the members of pathways::PlanCosts.
    """

    peak_bytes: int
    total_bytes: int
    step_time: float
    ici_bytes: int
    dcn_bytes: int
    details: dict[str, Any]


class ScheduleMemory(NamedTuple):
    """Memory of a device with one schedule, in bytes.

    `peak` is the most at any time, of `available`. `parameters` are arguments and arrays
    that calls update in place, `kept` results of calls that later calls read, `arriving`
    slots of arrays that other devices send: each the most at any time.
    """

    peak: int
    available: int
    parameters: int
    kept: int
    arriving: int


class ScheduleCosts(NamedTuple):
    """What a step costs with one schedule, before any run.

    `misfit` is the reason why the program cannot have the schedule, or None. Without one,
    `step_time` and `period`, by which steps follow each other, are in seconds; `bubble`
    and `period_bubble` are the parts of these in which devices wait; a step moves
    `ici_bytes` inside islands and `dcn_bytes` between them; `memory` is by device, and
    times of calls with the labels `estimated` are estimates.
    """

    schedule: str
    misfit: str | None = None
    step_time: float = 0.0
    period: float = 0.0
    bubble: float = 0.0
    period_bubble: float = 0.0
    ici_bytes: int = 0
    dcn_bytes: int = 0
    memory: Mapping[str, ScheduleMemory] = MappingProxyType({})
    estimated: tuple[str, ...] = ()

    @property
    def peak_bytes(self) -> int:
        """The most memory of any device."""
        return max((memory.peak for memory in self.memory.values()), default=0)

    @property
    def fits_memory(self) -> bool:
        """True if the program can have the schedule, and all devices have the memory."""
        return self.misfit is None and all(
            memory.peak <= memory.available for memory in self.memory.values()
        )


class Source(NamedTuple):
    """A program as text, with the options of modules of StableHLO.

    docs/from-jax.md describes the options. "" stands for none.
    """

    text: str
    file_name: str = "program.mlir"
    carry: str = ""
    stepped: str = ""
    elided: str = ""
    assign: str = ""
    slices: str = ""


@runtime_checkable
class HasSource(Protocol):
    """What can be compiled without more words: a traced program."""

    def __pathways_source__(self) -> Source:
        """Returns the text of the program."""


Program = Union[str, "os.PathLike[str]", Source, HasSource]


class Plan(_pathways.Plan):
    """A compiled program: what runs, where, and in which order.

    A plan contains executable code: load only plans that you trust.
    """

    __slots__ = ("remarks", "topology")

    # Remarks and warnings of the compiler, a line each.
    remarks: tuple[str, ...]
    # The machines that it was compiled for; None if that is not known.
    topology: str | None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Plan:
        """Reads a plan file. Errors: NotFound, InvalidArgument, Refused."""
        return cls._with_remarks(cls._read(path))

    @classmethod
    def parse(cls, data: bytes) -> Plan:
        """Parses the bytes of a plan file. Errors: InvalidArgument, Refused."""
        return cls._with_remarks(cls._parse(data))

    @staticmethod
    def _with_remarks(plan: Plan, remarks: str = "", topology: str | None = None) -> Plan:
        plan.remarks, plan.topology = tuple(remarks.splitlines()), topology
        return plan

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan file, completely or not at all. Errors: Unwritable."""
        self._write(path)

    def __bytes__(self) -> bytes:
        return self._bytes()

    @property
    def name(self) -> str:
        """Name of the program."""
        return self._program()

    @property
    def arguments(self) -> tuple[Port, ...]:
        return tuple(Port(*port) for port in self._arguments())

    @property
    def results(self) -> tuple[Port, ...]:
        return tuple(Port(*port) for port in self._results())

    @property
    def text(self) -> str:
        """The plan as text, which `compile` takes. Errors: NotFound without compiler."""
        return self._print()

    @property
    def report(self) -> dict[str, Any]:
        """What the compiler reported, as in pathways::Compiled: "kernels", ...

        It is empty for a plan that was read.
        """
        report: dict[str, Any] = json.loads(self._report())
        return report

    @property
    def order(self) -> str:
        """The order of the calls of loops that have a schedule, as text of a file of orders.

        It is empty without such a loop, and for a plan that was read. `report["orders"]`
        has the order of each loop.
        """
        return "".join(order["order"] for order in self.report.get("orders", ()))

    def costs(self, topology: str | None = None, *, steps: int = 1) -> Costs:
        """Computes what the plan costs on machines, which need not be there.

        `topology` None stands for those it was compiled for. The time of a step is that of
        a simulated launch of `steps` steps; 0: it is not computed. Errors: InvalidArgument;
        Refused if the plan does not fit the machines.
        """
        machines = self.topology if topology is None else topology
        details = json.loads(
            self._costs(None if machines is None else os.fsencode(machines), steps)
        )
        return Costs(
            details["peak_bytes"],
            details["total_bytes"],
            details["step_ns"] * 1e-9,
            details["ici_bytes"],
            details["dcn_bytes"],
            details,
        )

    @property
    def memory(self) -> dict[str, int]:
        """The most memory of each device that it uses, in bytes."""
        devices = self.costs(steps=0).details["devices"]
        return {device["device"]: device["peak_bytes"] for device in devices}

    @property
    def step_time(self) -> float:
        """Time of a step in a simulation of its machines, in seconds."""
        return self.costs().step_time

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        from ._display import plan_html

        return plan_html(self)

    def __reduce__(self) -> tuple[object, ...]:
        return Plan.parse, (bytes(self),)

    def __repr__(self) -> str:
        def listed(ports: tuple[Port, ...]) -> str:
            return ", ".join(
                f"{p.name}: {''.join(f'{n}x' for n in p.shape)}{p.element}" for p in ports
            )

        return f"<Plan {self.name}({listed(self.arguments)}) -> ({listed(self.results)})>"


def _unreadable(path: str, error: OSError | ValueError) -> Error:
    """What is wrong with a path, or with a text that was taken for one."""
    if "{" in path:
        return InvalidArgument(
            f"{path[:60]!r} has no line break, so it is the path of a program and no text"
        )
    if isinstance(error, FileNotFoundError):
        return NotFound(f"there is no program '{path}'")
    reason = error.strerror if isinstance(error, OSError) else error
    shown = repr(path) if len(path) <= 200 else f"{path[:200]!r}..."
    return InvalidArgument(f"cannot read program {shown}: {reason}")


def read_source(program: Program) -> Source:
    """Returns the text of a program. A string without line break is a path."""
    if isinstance(program, Source):
        return program
    if isinstance(program, str) and "\n" in program:
        return Source(program)
    if isinstance(program, (str, os.PathLike)):
        try:
            with open(program, encoding="utf-8") as file:
                return Source(file.read(), file_name=os.fspath(program))
        except (OSError, ValueError) as error:
            if isinstance(error, UnicodeDecodeError):
                reason = f"'{os.fspath(program)}' is not text of UTF-8"
                raise InvalidArgument(reason) from None
            raise _unreadable(os.fspath(program), error) from None
    if isinstance(program, HasSource):
        return program.__pathways_source__()
    raise InvalidArgument(
        f"cannot compile a {type(program).__name__}: expected text, a path or a program"
    )


_EXPLANATIONS = ("shardings", "reshards", "kernels", "import", "credits")
_ROUNDINGS = ("each op", "strict", "excess")


def compile(
    program: Program,
    topology: str | None = None,
    *,
    mesh: str | None = None,
    name: str | None = None,
    kernel_cache: str | os.PathLike[str] | None = None,
    oversubscribe: bool = False,
    steps_in_flight: int = 0,
    rounding: Literal["each op", "strict", "excess"] = "each op",
    carry: str | None = None,
    stepped: str | None = None,
    elided: str | None = None,
    assign: str | None = None,
    slices: str | None = None,
    explain: Iterable[
        Literal["shardings", "reshards", "kernels", "import", "credits"]
    ] = (),
    profile: str | os.PathLike[str] | None = None,
    kernel_cache_bytes: int = 0,
    schedule: str | None = None,
    label_costs: str | None = None,
) -> Plan:
    """Compiles a program for the machines of a topology (None: this machine).

    `program` is text of the `pw` dialect or of StableHLO, the path of such a text, or a
    traced program. `mesh` replaces sizes of slices ("SLICE:AXIS=N,..."). `name` is the
    program to compile if the text has several. With `oversubscribe`, virtual devices may
    share real ones. `rounding` is described in docs/kernels.md. `carry` to `slices` are the
    options of modules of StableHLO (docs/from-jax.md); they replace those of the program.
    `explain` adds to `Plan.remarks` and `Plan.report`. `profile` is a file of
    `Session.write_profile`. `kernel_cache` is a folder of at most `kernel_cache_bytes` (0:
    the default). `schedule` orders the only loop that has labels: the name of a schedule,
    such as "1f1b"; "auto", the fastest that fits in the memory of the devices, which a
    remark names; or "@" and the path of a file of orders (docs/schedules.md). `label_costs`
    replaces costs of calls by label ("*F=18.522ms,*B=36ms"; the last pattern that fits
    counts). Errors: ProgramError, InvalidArgument, NotFound; Refused if the schedule is
    "auto" and none fits in memory.
    """
    check_numbers(31, steps_in_flight=steps_in_flight)
    check_numbers(kernel_cache_bytes=kernel_cache_bytes)
    source = read_source(program)
    if rounding not in _ROUNDINGS:
        raise InvalidArgument(f"there is no rounding {rounding!r}, only {list(_ROUNDINGS)}")
    plan, remarks = Plan._compile(
        source.text,
        source.file_name,
        topology,
        mesh,
        name,
        None if kernel_cache is None else os.fspath(kernel_cache),
        oversubscribe,
        steps_in_flight,
        (source.carry if carry is None else carry) or None,
        (source.stepped if stepped is None else stepped) or None,
        (source.elided if elided is None else elided) or None,
        (source.assign if assign is None else assign) or None,
        (source.slices if slices is None else slices) or None,
        _ROUNDINGS.index(rounding),
        _explain_bits(explain),
        None if profile is None else os.fspath(profile),
        kernel_cache_bytes,
        schedule or None,
        label_costs or None,
    )
    return Plan._with_remarks(plan, remarks, topology)


def explain_schedules(
    program: Program,
    topology: str | None = None,
    *,
    mesh: str | None = None,
    name: str | None = None,
    kernel_cache: str | os.PathLike[str] | None = None,
    oversubscribe: bool = False,
    steps_in_flight: int = 0,
    profile: str | os.PathLike[str] | None = None,
    schedule: str | None = None,
    label_costs: str | None = None,
) -> tuple[ScheduleCosts, ...]:
    """Returns what a step costs with each schedule of the only loop that has labels.

    The times are those of a simulation, the memory is that of the plan; nothing runs. The
    options are those of `compile`. `schedule` is None, or "@" and the path of a file of
    orders, which comes last. Errors: ProgramError, InvalidArgument, NotFound.
    """
    check_numbers(31, steps_in_flight=steps_in_flight)
    source = read_source(program)
    rows = Plan._explain_schedules(
        source.text,
        source.file_name,
        topology,
        mesh,
        name,
        None if kernel_cache is None else os.fspath(kernel_cache),
        oversubscribe,
        steps_in_flight,
        source.carry or None,
        source.stepped or None,
        source.elided or None,
        source.assign or None,
        source.slices or None,
        0,
        0,
        None if profile is None else os.fspath(profile),
        0,
        schedule or None,
        label_costs or None,
    )
    return tuple(map(_schedule_costs, json.loads(rows)))


def _schedule_costs(row: dict[str, Any]) -> ScheduleCosts:
    if row["misfit"] is not None:
        return ScheduleCosts(row["schedule"], row["misfit"])
    return ScheduleCosts(
        row["schedule"],
        None,
        row["step_ns"] * 1e-9,
        row["period_ns"] * 1e-9,
        row["bubble"],
        row["period_bubble"],
        row["ici_bytes"],
        row["dcn_bytes"],
        {
            device["device"]: ScheduleMemory(
                device["peak_bytes"],
                device["memory_bytes"],
                device["parameter_bytes"],
                device["kept_bytes"],
                device["arriving_bytes"],
            )
            for device in row["devices"]
        },
        tuple(row["estimated"]),
    )


def _explain_bits(explain: Iterable[str]) -> int:
    bits = 0
    for name in (explain,) if isinstance(explain, str) else explain:
        if name not in _EXPLANATIONS:
            raise InvalidArgument(f"cannot explain {name!r}, only {list(_EXPLANATIONS)}")
        bits |= 1 << _EXPLANATIONS.index(name)
    return bits
