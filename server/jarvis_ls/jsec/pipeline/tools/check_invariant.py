"""Check an invariant of a candidate."""

from __future__ import annotations

from jarvis_ls.core.words import Words
from jarvis_ls.jsec.pipeline.tools.prove import SECONDS
from jarvis_ls.jsec.pipeline.tools.service import candidate_of, examiner_of
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool


@tool(
    actions=lambda a: [Action("execute", f"jsec prove {int(a['gid'])} --invariant")],
    timeout=SECONDS,
    sandboxed=True,
)
async def check_invariant(context: ToolContext, gid: int, expression: str) -> str:
    """Check whether an expression holds whenever the statement of a candidate is reached: proven
    on all paths, survived runs, broken by an input, or undecided. Name the id of a proven one that
    rules the candidate out in `invariant`.

    Args:
        gid: Number of the candidate.
        expression: Of C, over what is visible at the statement, such as `length <= sizeof buffer`.
    """
    candidate_of(context, gid)
    told = await examiner_of(context).check_invariant(gid, expression)
    return shown(told) if told else Words("Nothing can be run here.")
