# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of `python -m pathways`: run, explain, status."""

from __future__ import annotations

import argparse
import json
import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from pathways._display import type_text
from pathways._errors import (
    AlreadyExists,
    Damaged,
    Error,
    InvalidArgument,
    NotFound,
    ProgramError,
    Refused,
    Unwritable,
)
from pathways._executable import Executable
from pathways._plan import Plan, Port, compile
from pathways._session import Session, connect

_USAGE, _COMPILE, _REFUSED, _RUN = 2, 3, 4, 5
_INTERRUPTED = 130
_MAGIC = b"PWPLAN"
# Options of `compile` that are texts and flags of the commands as well.
_OPTIONS = ("mesh", "name", "profile", "kernel_cache")
_MODULE_OPTIONS = ("carry", "stepped", "elided", "assign", "slices")
_MOST_ROWS = 16

_FOOTER = """\
Exit codes: 0 success; 2 the command line or an input file is wrong; 3 the program does
not compile; 4 the plan was refused; 5 the run failed; 130 it was interrupted.
docs/from-jax.md describes --carry to --slices."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(_USAGE, f"error: {message}; {self.prog} --help says more\n")


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "python -m pathways",
        description="Programs over sharded arrays, on the devices of a cluster.",
        epilog=_FOOTER,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run a program or a plan")
    explain = commands.add_parser("explain", help="say what a program or a plan needs")
    status = commands.add_parser("status", help="print the devices of a running cluster")
    for command in (run, explain):
        command.add_argument(
            "file", help="text of the pw dialect or of StableHLO, or a plan", metavar="FILE"
        )
        command.add_argument(
            "--topology",
            help="ISLANDSxHOSTSxDEVICES, or a .textproto file; else this machine",
        )
        command.add_argument(
            "--oversubscribe",
            action="store_true",
            help="virtual devices may share real ones",
        )
        command.add_argument("--rounding", choices=("each op", "strict", "excess"))
        for name in (*_OPTIONS, *_MODULE_OPTIONS):
            command.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT")
    run.add_argument("--world", choices=("threads", "sim"), default="threads")
    run.add_argument("--processes", type=int, default=0, metavar="N", help="of hosts")
    run.add_argument("--seed", type=int, default=0, help="order of events of a simulation")
    run.add_argument(
        "--input", action="append", default=[], metavar="FILE.npz", help="arguments by name"
    )
    run.add_argument("--output", metavar="FILE.npz", help="results, instead of printing")
    run.add_argument("--steps", type=int, metavar="N")
    run.add_argument("--connect", metavar="ADDRESS", help="run on a running cluster")
    status.add_argument(
        "address", metavar="ADDRESS", help="HOST:PORT, unix:/PATH or unix:@NAME"
    )
    for command in (run, status):
        command.add_argument("--key", metavar="FILE", help="the cluster's key")
        command.add_argument("--trust-loopback", action="store_true")
    for command in (explain, status):
        command.add_argument("--json", action="store_true", help="print one line of JSON")
    return parser


def _read_plan(flags: argparse.Namespace, topology: str | None) -> Plan:
    """Reads a plan, or compiles a program."""
    try:
        with open(flags.file, "rb") as file:
            is_plan = file.read(len(_MAGIC)) == _MAGIC
    except FileNotFoundError:
        raise NotFound(f"there is no file '{flags.file}'") from None
    options: dict[str, Any] = {
        name: value
        for name in (*_OPTIONS, *_MODULE_OPTIONS, "rounding")
        if (value := getattr(flags, name)) is not None
    }
    if flags.oversubscribe:
        options["oversubscribe"] = True
    if not is_plan:
        return compile(Path(flags.file), topology, **options)
    if options:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        raise InvalidArgument(f"'{flags.file}' is a plan, which takes no {names}")
    return Plan.read(flags.file)


def _port_text(port: Port) -> str:
    each = " for each step" if port.stepped else ""
    return f"{port.name}: {type_text(port.element, port.shape)}{each}"


def _read_inputs(paths: Sequence[str], ports: Sequence[Port]) -> list[Any]:
    """Returns the arguments in order. Keys of files are names, or positions."""
    import numpy as np

    given: dict[str, Any] = {}
    for path in paths:
        try:
            with np.load(path, allow_pickle=False) as archive:
                if not hasattr(archive, "files"):
                    raise InvalidArgument(f"'{path}' is no .npz file")
                given.update(archive)
        except FileNotFoundError:
            raise NotFound(f"there is no file '{path}'") from None
        except Error:
            raise
        except IsADirectoryError:
            raise InvalidArgument(f"'{path}' is a folder") from None
        except Exception as error:  # of zipfile, zlib and NumPy, whose list is open
            raise InvalidArgument(f"cannot read '{path}' as .npz: {error}") from None
    values = []
    for i, port in enumerate(ports):
        keys = [key for key in (port.name, f"arg{i}", f"arr_{i}", str(i)) if key in given]
        if not keys:
            text = f"argument {_port_text(port)} is missing; give it with --input=FILE.npz"
            raise InvalidArgument(text)
        values.append(given.pop(keys[0]))
    if given:
        known = ", ".join(port.name for port in ports) or "none"
        unknown = next(iter(given))
        raise InvalidArgument(f"the program has no argument '{unknown}', only {known}")
    return values


def _write_outputs(path: str, results: Mapping[str, Any]) -> None:
    """Writes an archive as numpy.savez does, completely or not at all."""
    from numpy.lib import format

    write_array: Any = format.write_array
    part = f"{path}.{os.getpid()}.part"
    try:
        with zipfile.ZipFile(part, "x") as archive:
            for name, values in results.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    write_array(file, values, allow_pickle=False)
        os.replace(part, path)
    except OSError as error:
        if os.path.exists(part):
            os.unlink(part)
        raise Unwritable(f"cannot write '{path}': {error.strerror or error}") from None


def _run(flags: argparse.Namespace) -> int:
    import numpy as np

    if flags.connect:
        if flags.world != "threads" or flags.processes or flags.topology:
            raise InvalidArgument("a running cluster has a world, processes and a topology")
        session = connect(
            flags.connect, key=flags.key, trust_loopback=flags.trust_loopback
        )
    else:
        session = Session(
            flags.topology, world=flags.world, processes=flags.processes, seed=flags.seed
        )
    with session:
        plan = _read_plan(flags, session.topology)
        for remark in plan.remarks:
            print(remark, file=sys.stderr)
        arguments = _read_inputs(flags.input, plan.arguments)
        executable: Executable = session.load(plan)
        results = executable.launch(*arguments, steps=flags.steps).wait()
        values = {name: np.asarray(array) for name, array in results._asdict().items()}
        if flags.output:
            _write_outputs(flags.output, values)
        else:
            for name, array in results._asdict().items():
                text = np.array2string(values[name], separator=", ")
                print(f"{name}: {type_text(array.element, array.shape)} = {text}")
    return 0


def _sharding_text(port: Mapping[str, Any]) -> str:
    """Returns along which axes each dimension is cut: "[x, -] of x=2" for rows along x."""
    sharding = port["sharding"]
    mesh = " ".join(f"{axis}={size}" for axis, size in sharding["mesh"])
    dims = ", ".join("+".join(axes) or "-" for axes in sharding["dims"])
    return f"[{dims}] of {mesh}" if mesh else "one device"


def _explain(flags: argparse.Namespace) -> int:
    plan = _read_plan(flags, flags.topology)
    described = json.loads(plan._describe())
    costs = plan.costs(flags.topology)
    if flags.json:
        print(json.dumps({**described, "remarks": plan.remarks, "costs": costs.details}))
        return 0
    print(f"program {plan.name}")
    for kind, ports in (("arguments", plan.arguments), ("results", plan.results)):
        print(f"{kind}:")
        for port, json_port in zip(ports, described[kind]):
            source = plan.results[port.carried_from].name if port.carried_from >= 0 else ""
            carried = f", then {source} of the step before" if source else ""
            print(f"  {_port_text(port)}{carried}; cut {_sharding_text(json_port)}")
    print(f"memory: {costs.total_bytes:,} bytes, at most {costs.peak_bytes:,} on a device")
    print(f"step time: {costs.step_time * 1e6:,.1f} us in a simulation")
    print(f"moved by a step: {costs.ici_bytes:,} bytes inside islands, ", end="")
    print(f"{costs.dcn_bytes:,} between them")
    devices = costs.details["devices"]
    print(f"placement: {len(devices)} devices")
    for device in devices[:_MOST_ROWS]:
        print(
            f"  {device['device']}: {device['shards']} shards, {device['gangs']} gangs, "
            f"{device['peak_bytes']:,} bytes"
        )
    if len(devices) > _MOST_ROWS:
        print(f"  and {len(devices) - _MOST_ROWS} more; --json prints all")
    for remark in plan.remarks:
        print(remark)
    return 0


def _status(flags: argparse.Namespace) -> int:
    with connect(
        flags.address, key=flags.key, trust_loopback=flags.trust_loopback
    ) as session:
        devices, hosts = session.devices, session.hosts
        statistics = session.statistics()
    if flags.json:
        print(json.dumps({"devices": devices, "hosts": hosts, "statistics": statistics}))
        return 0
    available = sum(device["is_available"] for device in devices)
    print(f"{len(hosts)} hosts, {len(devices)} devices, {available} of them available")
    programs, array_bytes = statistics["programs"], statistics["array_bytes"]
    print(f"programs: {programs}, arrays: {array_bytes:,} bytes")
    for device in devices[: 4 * _MOST_ROWS]:
        state = "" if device["is_available"] else ", not available"
        print(
            f"  {device['name']}: {device['kind']}, {device['used_bytes']:,} of "
            f"{device['memory_bytes']:,} bytes used{state}"
        )
    if len(devices) > 4 * _MOST_ROWS:
        print(f"  and {len(devices) - 4 * _MOST_ROWS} more; --json prints all")
    return 0


def exit_code(error: Error) -> int:
    """Returns the exit code for an error: those of pw-run."""
    if isinstance(error, ProgramError):
        return _COMPILE
    if isinstance(error, Refused):
        return _REFUSED
    wrong = (InvalidArgument, NotFound, Unwritable, AlreadyExists, Damaged)
    return _USAGE if isinstance(error, wrong) else _RUN


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command, and returns its exit code. Prints errors to standard error."""
    flags = _make_parser().parse_args(arguments)
    command = {"run": _run, "explain": _explain, "status": _status}[flags.command]
    try:
        code = command(flags)
        sys.stdout.flush()
        return code
    except ProgramError as error:
        # Each diagnostic has the form FILE:LINE:COLUMN: error: ... already.
        is_place = error.place is not None
        print(error if is_place else f"error: {error}", file=sys.stderr)
        return _COMPILE
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return exit_code(error)
    except BrokenPipeError:
        # The reader of a pipe has enough: what is left to write is dropped.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        name = f"'{error.filename}': " if error.filename else ""
        print(f"error: {name}{error.strerror or error}", file=sys.stderr)
        return _USAGE
    except ModuleNotFoundError as error:
        print(f"error: {error}; install NumPy for this Python", file=sys.stderr)
        return _USAGE
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return _INTERRUPTED
