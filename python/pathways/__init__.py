# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs over sharded arrays, on the devices of a cluster.

    import numpy as np, pathways as pw

    with pw.Session("2x1x4") as s:
        f = s.load(pw.compile("examples/golden/program.mlir", topology=s.topology))
        out = f(v=np.array([1, 2], np.float32))  # returns at once
        print(np.asarray(out.y), np.asarray(out.z))  # waits
"""

from __future__ import annotations

from . import _pathways
from ._array import Array as Array
from ._computation import Computation as Computation
from ._computation import computation as computation
from ._default_session import default_session as default_session
from ._errors import AlreadyExists as AlreadyExists
from ._errors import Damaged as Damaged
from ._errors import Error as Error
from ._errors import InternalError as InternalError
from ._errors import InvalidArgument as InvalidArgument
from ._errors import NotFound as NotFound
from ._errors import ProgramError as ProgramError
from ._errors import Refused as Refused
from ._errors import RunError as RunError
from ._errors import TimedOut as TimedOut
from ._errors import Unwritable as Unwritable
from ._errors import make_error
from ._executable import Executable as Executable
from ._executable import FinishedRun as FinishedRun
from ._executable import RecoveryReport as RecoveryReport
from ._executable import Results as Results
from ._executable import Run as Run
from ._placement import Shard as Shard
from ._placement import Sharding as Sharding
from ._plan import Costs as Costs
from ._plan import Plan as Plan
from ._plan import Port as Port
from ._plan import ScheduleCosts as ScheduleCosts
from ._plan import ScheduleMemory as ScheduleMemory
from ._plan import Source as Source
from ._plan import compile as compile
from ._plan import explain_schedules as explain_schedules
from ._program import Program as Program
from ._program import TracedProgram as TracedProgram
from ._program import program as program
from ._program_loop import label as label
from ._program_loop import loop as loop
from ._session import ReservedSlice as ReservedSlice
from ._session import Session as Session
from ._session import connect as connect
from ._session import saved_names as saved_names
from ._slice import Slice as Slice
from ._tensor_types import TensorType as TensorType
from ._tensor_types import bf16 as bf16
from ._tensor_types import f16 as f16
from ._tensor_types import f32 as f32
from ._tensor_types import f64 as f64
from ._tensor_types import i1 as i1
from ._tensor_types import i8 as i8
from ._tensor_types import i16 as i16
from ._tensor_types import i32 as i32
from ._tensor_types import i64 as i64
from ._tensor_types import ui8 as ui8
from ._tensor_types import ui16 as ui16
from ._tensor_types import ui32 as ui32
from ._tensor_types import ui64 as ui64
from ._trace_error import TraceError as TraceError
from ._types import adapt, describe, lock, unlock

__version__: str = _pathways.__version__

_pathways._register(make_error, adapt, describe, lock, unlock, Run, Results, Array)


def __getattr__(name: str) -> object:
    """Imports pathways.torch, and PyTorch with it, when it is first asked for."""
    if name == "torch":
        import importlib

        return importlib.import_module("pathways.torch")
    raise AttributeError(f"module 'pathways' has no attribute '{name}'")
