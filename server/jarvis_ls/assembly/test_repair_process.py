"""A repair of tests in a process of its own, see `child_request`: the request is a `Wanted`, and
`{"doing": words}` says what it does.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.child_request import Tell, carry_out
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.words import to_json

_TASK = "editor"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be repaired."""

    root: str
    """A folder that the user trusts."""
    hint: str = ""
    """How to repair, in the user's words."""


def _repair(wanted: Wanted, tell: Tell) -> dict[str, Any]:
    from jarvis_ls.assembly.bootstrap import build
    from jarvis_ls.assembly.test_repair import repair_tests
    from jarvis_ls.tester.protocol import Candidates, Fixed, read_request

    root = Path(wanted.root)
    leave_out(root)
    assembly = build()
    group = assembly.tree_settings("").group("child")
    lacking = assembly.missing_model(group)
    asyncio.run(assembly.close())
    if lacking:
        return {"lacking": to_json(lacking)}
    values = {"project_root": str(root), "task_id": _TASK, "prompt_hint": wanted.hint}
    request = read_request(values)

    def tell_doing(what: str) -> None:
        tell({"doing": to_json(what)})

    done = asyncio.run(repair_tests(request, tell_doing))
    answer = done.answer
    patches = {patch.id: patch.text for patch in done.patches}
    found: list[dict[str, Any]] = []
    if isinstance(answer, Candidates):
        for candidate in answer.candidates:
            found.append(
                {
                    "id": candidate.id,
                    "description": candidate.description,
                    "risk": candidate.risk,
                    "files": candidate.files,
                    "diff": patches[candidate.id],
                }
            )
    passed = isinstance(answer, Fixed) and not answer.patch_set
    return {
        "lacking": "",
        "session": answer.session_id,
        "root": str(root),
        "passed": answer.validation_summary.tests_total if isinstance(answer, Fixed) else 0,
        "is_passed": passed,
        "candidates": found,
        "scope": list(answer.repairable_scope),
        "diagnosis": to_json(done.diagnosis),
        "action": to_json(done.action),
        "missing": list(done.missing),
    }


if __name__ == "__main__":
    sys.exit(carry_out(sys.argv[1:], Wanted, _repair))
