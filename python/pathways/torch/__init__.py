# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch functions and modules as programs."""

from __future__ import annotations

from pathways.torch._errors import TraceError as TraceError
from pathways.torch._lower import lower_graph as lower_graph
from pathways.torch._optimizers import SGD as SGD
from pathways.torch._optimizers import Adam as Adam
from pathways.torch._optimizers import AdamW as AdamW
from pathways.torch._optimizers import Optimizer as Optimizer
from pathways.torch._registry import Context as Context
from pathways.torch._registry import lowers as lowers
from pathways.torch._registry import operations as operations
from pathways.torch._trace import Captured as Captured
from pathways.torch._trace import Traced as Traced
from pathways.torch._trace import capture as capture
from pathways.torch._trace import trace as trace
from pathways.torch._training import StepResult as StepResult
from pathways.torch._training import TrainExecutable as TrainExecutable
from pathways.torch._training import TrainPlan as TrainPlan
from pathways.torch._training import TrainStep as TrainStep
from pathways.torch._training import train_step as train_step
from pathways.torch._training_state import to_tensor as to_tensor
