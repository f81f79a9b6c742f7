"""No command line passes whose programs or redirections the rules do not name.

What a line does is told by real shells, see `tests.support.command_lines`.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ls.runtime.tools.permissions import PermissionRule, Permissions
from jarvis_ls.runtime.tools.tool import Action, ToolContext
from tests.support.command_lines import NEVER, NOTED, REAL, Oracle, command_lines

LINES = 300
"""How many are tried here; `npm run bench -- gate` tries 5,000."""

KNOWN = [name for name in (*REAL, *NOTED) if name not in NEVER]
names = st.just(KNOWN) | st.lists(st.sampled_from(KNOWN), unique=True)


def passes_wrongly(line: str, allowed: Sequence[str], oracle: Oracle) -> str | None:
    """Return what a line did that no rule names; empty when it passes, and None when it does not.

    Builtins of the shell are allowed: they start nothing.
    """
    builtins = "echo printf true false cd test command time set".split()
    rules = [
        PermissionRule("allow", kind="execute", target=f"{n} *") for n in (*allowed, *builtins)
    ]
    context = ToolContext((oracle.root,))
    decision = Permissions(rules).decide("t", [Action("execute", line)], context)
    if decision.effect != "allow":
        return None
    for shell in filter(shutil.which, ("bash", "dash")):
        happened = oracle.run(line, shell)
        ran = happened.programs.difference(allowed)
        if ran or happened.files:
            return f"{shell} ran {sorted(ran)} and wrote {sorted(happened.files)}"
    return ""


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(tmp_path_factory.mktemp("oracle"))


@settings(
    max_examples=LINES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(line=command_lines(), allowed=names)
def test_what_passes_does_nothing_that_no_rule_names(
    line: str, allowed: list[str], oracle: Oracle
) -> None:
    assert not passes_wrongly(line, allowed, oracle)


@pytest.mark.parametrize(
    ("line", "does"),
    [
        ("ls; rm x", {"ls", "rm"}),
        ("sort -oout=1 a", {"sort"}),
        ("awk -faw=1", {"awk", "rm"}),
        ("make -fmk=1", {"make", "rm"}),
        ('"ls /../evil"', {"evil"}),
        ("find . -name a > out -exec rm {} +", {"find", "rm"}),
    ],
)
def test_the_oracle_sees_what_a_line_does(line: str, does: set[str], oracle: Oracle) -> None:
    happened = oracle.run(line, "bash")
    assert happened.programs == does
    assert bool(happened.files) == ("out" in line)
    assert passes_wrongly(line, KNOWN, oracle) is None
