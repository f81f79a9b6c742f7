"""All rungs, the cheapest first.

Most refutations take less than a second, and runs of a whole program ten: z3 is asked briefly
before them, and for longer behind them. Eva may take all that is left, and gives nothing where it
does not come to its end.
"""

from __future__ import annotations

from jarvis_ls.jsec.proof.rungs.eva import Eva
from jarvis_ls.jsec.proof.rungs.failing_calls import FailingCalls
from jarvis_ls.jsec.proof.rungs.function_harness import FunctionHarness
from jarvis_ls.jsec.proof.rungs.ignored_failures import IgnoredFailures
from jarvis_ls.jsec.proof.rungs.removed_checks import RemovedChecks
from jarvis_ls.jsec.proof.rungs.rung import Rung
from jarvis_ls.jsec.proof.rungs.rust_runs import RustRuns
from jarvis_ls.jsec.proof.rungs.signal_handlers import SignalHandlers
from jarvis_ls.jsec.proof.rungs.survived_runs import SurvivedRuns
from jarvis_ls.jsec.proof.rungs.symbolic import Symbolic
from jarvis_ls.jsec.proof.rungs.unset_memory import UnsetMemory
from jarvis_ls.jsec.proof.rungs.whole_program import WholeProgram

RUNGS: tuple[Rung, ...] = (
    FailingCalls(),
    SignalHandlers(),
    UnsetMemory(),
    Symbolic(seconds=1.0),
    WholeProgram(),
    Symbolic(),
    IgnoredFailures(),
    FunctionHarness(),
    RemovedChecks(),
    Eva(),
    RustRuns(),
    SurvivedRuns(),
)
