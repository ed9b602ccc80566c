# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions over NumPy as functions of StableHLO.

The function is called once, with values of class Traced in place of its arrays. NumPy
asks them, by __array_ufunc__ and __array_function__, to stand in for it.
"""

from __future__ import annotations

from ._context import Trace as Trace
from ._context import trace_error as trace_error
from ._context import unguarded as unguarded
from ._context import user_place as user_place
from ._elements import dtype_of as dtype_of
from ._elements import element_of as element_of
from ._traced import Traced as Traced
