# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch functions and modules as programs."""

from __future__ import annotations

from pathways.torch._errors import TraceError as TraceError
from pathways.torch._lower import lower_graph as lower_graph
from pathways.torch._registry import Context as Context
from pathways.torch._registry import lowers as lowers
from pathways.torch._trace import Captured as Captured
from pathways.torch._trace import Traced as Traced
from pathways.torch._trace import capture as capture
from pathways.torch._trace import trace as trace
