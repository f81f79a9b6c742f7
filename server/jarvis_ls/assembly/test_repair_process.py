"""A repair of tests in a process of its own: `python -m jarvis_ls.assembly.test_repair_process
REQUEST`.

`REQUEST` is JSON: a `Wanted`. The process writes one JSON object a line: `{"doing": words}`, and as
its last `{"result": {…}}` or `{"error": text}`. Keys of models come by the environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from jarvis_ls.core.errors import JarvisError, missing_package
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.serving import end_with_parent
from jarvis_ls.core.words import Words, to_json

_TASK = "editor"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be repaired."""

    root: str
    """A folder that the user trusts."""
    hint: str = ""
    """How to repair, in the user's words."""


def main(arguments: list[str]) -> int:
    """Repair; the exit status is 0 when there is an answer."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever else prints goes to standard error
    sys.stdout = sys.stderr
    end_with_parent()
    try:
        _tell(answers, {"result": _repair(Wanted(**json.loads(arguments[0])), answers)})
    except JarvisError as error:
        _tell(answers, {"error": to_json(str(error))})
        return 2
    except ModuleNotFoundError as error:
        name = missing_package(error)
        needs = Words("{name} is missing: pip install 'jarvis-ls[agent,migrate]'", name=name)
        _tell(answers, {"error": to_json(needs)})
        return 2
    except Exception as error:  # noqa: BLE001 - a boundary: the parent gets it, the log all of it
        traceback.print_exc()
        _tell(answers, {"error": f"{type(error).__name__}: {error}"})
        return 3
    return 0


def _repair(wanted: Wanted, answers: TextIO) -> dict[str, Any]:
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

    def tell(what: str) -> None:
        _tell(answers, {"doing": to_json(what)})

    done = asyncio.run(repair_tests(request, tell))
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


def _tell(answers: TextIO, said: dict[str, Any]) -> None:
    answers.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
