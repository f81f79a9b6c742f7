"""Functions compared one by one: the same inputs to the C, the C with sanitizers, and the Rust.

A case counts when the C does nothing undefined and says the same built two ways; only then is
the Rust asked. The smallest case that differs is kept as the example.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, reject, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.errors import Flaky, HypothesisException

from jarvis_ls.core.words import Words
from jarvis_ls.harness.call_case import Case
from jarvis_ls.harness.inputs import Inputs
from jarvis_ls.harness.process import Executor, Undefined, undefined_behaviour
from jarvis_ls.harness.signature import Function

SECONDS = 2.0
"""How long one call of the C may take; the sanitized C and the Rust have longer."""
LATE = "the time limit was reached"
"""Why a function has fewer cases than wanted, or none."""
BARREN = 40
"""Cases in a row that do not count before a function is given up."""


@dataclass
class Compared:
    """What was seen of one function."""

    function: Function
    state: str
    """`equal`, `differs`, `no_input` (no case counted), `unstable`, or `not_run`."""
    cases: int = 0
    """Cases that counted."""
    excluded: Counter[str] = field(default_factory=Counter)
    """Why other cases did not count, in words, and how many."""
    reason: str = ""
    example: dict[str, Any] | None = None
    """Of a difference: the request, what the C said and what the Rust said."""
    undefined: dict[Undefined, dict[str, Any]] = field(default_factory=dict)
    """Undefined behaviour of the C with the first request that led to it."""
    seconds: float = 0.0
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Requests that counted, each with what the C said under `expected`."""


class Differs(Exception):
    """The Rust says something else than the C."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much one function is tried."""

    cases: int
    """Cases to generate at most."""
    seed: int
    late: Callable[[], bool]
    """Whether the whole run is over."""
    seconds: float
    """Time for this function."""
    keep: int = 0
    """Requests that are kept for the mutants."""


def compare(
    function: Function,
    symbol: str,
    result: Any,
    inputs: Inputs,
    executors: tuple[Executor, Executor, Executor],
    budget: Budget,
) -> Compared:
    """Compare one function on generated cases; `executors` are those of the C, of the sanitized C
    and of the Rust.
    """
    found = Compared(function, "")
    trial = _Trial(found, symbol, result, executors, budget)
    started = time.monotonic()
    digest = hashlib.sha256(f"{budget.seed} {function.file} {function.name}".encode()).digest()

    @with_seed(int.from_bytes(digest[:8], "big"))
    @settings(
        max_examples=budget.cases,
        database=None,
        deadline=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
    )
    @given(st.data())
    def every(data: Any) -> None:
        case = inputs.draw(data.draw)  # drawn in any case: Hypothesis wants the same draws again
        if not trial.over():
            trial.run(case)

    try:
        every()
    except Differs:
        found.state = "differs"
    except (Flaky, HypothesisException) as error:
        found.state, found.reason = "unstable", str(error).partition("\n")[0]
    if not found.state:
        found.state = "equal" if found.cases else "no_input"
    if found.state == "no_input" and not found.reason:
        found.reason = _most_common(found.excluded)
    found.seconds = time.monotonic() - started
    return found


class _Trial:
    """Runs cases of one function until it is over."""

    def __init__(
        self,
        found: Compared,
        symbol: str,
        result: Any,
        executors: tuple[Executor, Executor, Executor],
        budget: Budget,
    ) -> None:
        self._until = time.monotonic() + budget.seconds
        self._found, self._symbol, self._result = found, symbol, result
        self._c, self._sanitized, self._rust = executors
        self._late, self._keep = budget.late, budget.keep
        self._barren = 0
        self._differs = False
        self._hung = 0
        self._tried: set[bytes] = set()
        """Digests of the requests so far."""
        self._kept: list[dict[str, Any]] = []
        """What the C said of the requests that are kept: another of the same says little more."""

    def over(self) -> bool:
        """Return whether no more cases are needed; never while a difference is made smaller."""
        if self._differs:
            return False
        if self._late():
            self._found.reason = LATE
            return True
        return self._barren >= BARREN or self._hung >= 3 or time.monotonic() >= self._until

    def run(self, case: Case) -> None:
        """Compare one case. Raises `Differs`."""
        request = case.to_json(self._symbol, self._result, SECONDS)
        if not self._differs:
            self._refuse_again(request)
        if why := self._unfit(request):
            self._found.excluded[why] += not self._differs
            self._barren += 1
            return
        said = self._rust.call({**request, "seconds": 3 * SECONDS})
        if said["end"] == "timeout" and not self._differs:  # on a busy machine that says little
            said = self._rust.call({**request, "seconds": 15 * SECONDS})
        if not self._differs:
            self._found.cases += 1
            self._barren = 0
        if said != self._expected:
            self._differs = True
            self._found.example = {"request": request, "c": self._expected, "rust": said}
            raise Differs
        if len(self._found.requests) < self._keep and self._expected not in self._kept:
            self._kept.append(self._expected)
            self._found.requests.append({**request, "expected": self._expected})

    def _refuse_again(self, request: dict[str, Any]) -> None:
        """Have another case drawn where Hypothesis gives one that was tried."""
        digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).digest()
        if digest in self._tried:
            reject()
        self._tried.add(digest)

    def _unfit(self, request: dict[str, Any]) -> str:
        """Return why a case does not count; empty when it does."""
        careful = self._sanitized.call({**request, "seconds": 3 * SECONDS})
        seen = undefined_behaviour(careful)
        if seen is not None:
            self._found.undefined.setdefault(seen, request)
            return Words("undefined behaviour in C: {what}", what=seen.what)
        if careful["end"].startswith("signal"):
            return Words("the C was terminated by {end}", end=careful["end"])
        if careful["end"] == "timeout":
            self._hung += 1
            return "the C timed out"
        self._expected = self._c.call(request)
        if self._expected["end"] == "timeout":
            self._hung += 1
            return "the C timed out"
        if careful != self._expected:
            return "the C is non-deterministic: it depends on addresses or on uninitialised memory"
        return ""


def _most_common(excluded: Counter[str]) -> str:
    if not excluded:
        return LATE
    return Words("no generated input was valid: {why}", why=excluded.most_common(1)[0][0])
