"""A review in a process of its own, see `child_request`: the request is a `Request`, and
`{"done": n, "total": n}` says how far the agents are.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jarvis_ls.core.child_request import Tell, carry_out
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.words import to_json


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be reviewed."""

    root: str
    """A folder in the repository."""
    state: Literal["working", "staged"]
    """What is compared with the last commit: the files on the disk, or the index."""
    agents: bool = False
    """Whether agents with a model read the change as well."""
    trusted: bool = False
    """Whether the memory of the folder may be used."""


def _review(request: Request, tell: Tell) -> dict[str, Any]:
    from jarvis_ls.assembly.review_run import AgentsWanted, let_agents_read, review_repository
    from jarvis_ls.codeintel.change.difference import STAGED, WORKING

    root = Path(request.root)
    leave_out(root)
    state = STAGED if request.state == "staged" else WORKING
    reviewed = review_repository(root, "HEAD", state, trusted=request.trusted)
    lacking = ""
    if request.agents and reviewed.review.units:

        def tell_done(done: int, total: int) -> None:
            tell({"done": done, "total": total})

        reading = let_agents_read(reviewed, AgentsWanted(), os.environ, tell_done)
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
                "accepted": issue.is_accepted,
            }
            for issue in review.issues
        ],
    }


if __name__ == "__main__":
    sys.exit(carry_out(sys.argv[1:], Request, _review))
