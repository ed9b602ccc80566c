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
from ._executable import Results as Results
from ._executable import Run as Run
from ._plan import Plan as Plan
from ._plan import Port as Port
from ._plan import Source as Source
from ._plan import compile as compile
from ._session import Session as Session
from ._session import connect as connect
from ._types import adapt, lock, unlock
from ._types import bf16 as bf16

__version__: str = _pathways.__version__

_pathways._register(make_error, adapt, lock, unlock, Run, Results, Array)
