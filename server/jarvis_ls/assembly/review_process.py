"""A review in a process of its own: `python -m jarvis_ls.assembly.review_process REQUEST`.

`REQUEST` is JSON: a `Request`. The process writes one JSON object a line: `{"done": n, "total":
n}`, and as its last `{"result": {…}}` or `{"error": text}`. Texts are `Words` as JSON, so that the
one who started it says them in the user's language. Keys of models come by the environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

from jarvis_ls.core.errors import JarvisError, missing_package
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.serving import end_with_parent
from jarvis_ls.core.words import Words, to_json


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be reviewed."""

    root: str
    """A folder in the repository."""
    state: Literal["working", "staged"]
    """What is compared with the last commit: the files on the disk, or the index."""
    agents: bool = False
    """Whether agents with a model read the change as well."""


def main(arguments: list[str]) -> int:
    """Review; the exit status is 0 when it was done."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever else prints goes to standard error
    sys.stdout = sys.stderr
    end_with_parent()
    try:
        _tell(answers, {"result": _review(Request(**json.loads(arguments[0])), answers)})
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


def _review(request: Request, answers: TextIO) -> dict[str, Any]:
    from jarvis_ls.assembly.review_run import AgentsWanted, let_agents_read, review_repository
    from jarvis_ls.codeintel.change.difference import STAGED, WORKING

    root = Path(request.root)
    leave_out(root)
    state = STAGED if request.state == "staged" else WORKING
    reviewed = review_repository(root, "HEAD", state)
    lacking = ""
    if request.agents and reviewed.review.units:

        def tell(done: int, total: int) -> None:
            _tell(answers, {"done": done, "total": total})

        reading = let_agents_read(reviewed, AgentsWanted(), os.environ, tell)
        reviewed, lacking = asyncio.run(reading)
    review, keys = reviewed.review, reviewed.keys()
    return {
        "root": str(reviewed.repository.root),
        "files": len(review.units),
        "dismissed": review.dismissed,
        "lacking": to_json(lacking),
        "not_read": list(review.not_read),
        "problems": [to_json(reading.problem) for reading in review.readings if reading.problem],
        "issues": [
            {
                "key": keys[issue],
                "rule": issue.rule,
                "path": issue.path,
                "line": issue.line,
                "severity": issue.severity,
                "message": to_json(issue.message),
                "suggestion": to_json(issue.suggestion),
            }
            for issue in review.issues
        ],
    }


def _tell(answers: TextIO, said: dict[str, Any]) -> None:
    answers.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
