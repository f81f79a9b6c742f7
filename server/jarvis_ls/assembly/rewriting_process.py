"""A function of the crate rewritten by a model, or put back, in a process of its own, see
`child_request`: the request is a `Request`; lines say `{"stage": name}`, and what is done as
`{"done": n, "total": n, "what": words}`.

The process leads a group that is ended as a whole; what it has accepted by then is kept.
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
    """What to do with which function."""

    action: Literal["rewrite", "revert"]
    root: str
    """A folder that the user trusts."""
    function: str
    """`FILE:NAME`."""
    build_project: bool = False
    """Whether the project's own build may be run in a copy."""


def _do(request: Request, tell: Tell) -> dict[str, Any]:
    from jarvis_ls.jc2r.rewrite.report import describe
    from jarvis_ls.jc2r.rewrite.revert import revert_function
    from jarvis_ls.jc2r.rewrite.stage import TRANSPILE

    root = Path(request.root)
    leave_out(root)
    tell({"stage": TRANSPILE})
    if request.action == "revert":
        record = revert_function(root, request.function)
        return {"functions": 0, "left": 1, "told": to_json(describe(record))}
    done = asyncio.run(_rewrite(request, tell))
    if done.stopped:
        return {"functions": 0, "left": 1, "told": to_json(done.stopped)}
    record = done.records[0]
    changed = int(record.is_rewritten)
    return {"functions": changed, "left": 1 - changed, "told": to_json(describe(record))}


async def _rewrite(request: Request, tell: Tell) -> Any:
    from jarvis_ls.assembly.rewriting import open_writer
    from jarvis_ls.jc2r.equivalence.verify import Settings
    from jarvis_ls.jc2r.rewrite.stage import rewrite_project
    from jarvis_ls.jc2r.rewrite.verdict import TITLES, Gate
    from jarvis_ls.jc2r.rewrite.wanted import Step, Wanted

    gates = list(Gate)

    def tell_step(step: Step) -> None:
        done = 0 if step.gate is None else gates.index(step.gate)
        what = "" if step.gate is None else to_json(TITLES[step.gate])
        tell({"done": done, "total": len(gates), "what": what})

    wanted = Wanted((request.function,), again=True, build_project=request.build_project)
    async with open_writer(Path(request.root), "", os.environ) as writer:
        return await rewrite_project(
            Path(request.root), writer, wanted=wanted, settings=Settings(), tell=tell_step
        )


if __name__ == "__main__":
    sys.exit(carry_out(sys.argv[1:], Request, _do))
