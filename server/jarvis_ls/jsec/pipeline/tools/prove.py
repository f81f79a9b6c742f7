"""Look for evidence of a candidate by running its code."""

from __future__ import annotations

from jarvis_ls.core.words import Words, together
from jarvis_ls.jsec.pipeline.tools.service import candidate_of, examiner_of
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool

SECONDS = 900.0
"""The tool may wait for others that run something."""


@tool(
    actions=lambda a: [Action("execute", f"jsec prove {int(a['gid'])}")],
    timeout=SECONDS,
    sandboxed=True,
)
async def prove(context: ToolContext, gid: int) -> str:
    """Build and run the code of a candidate in the sandbox, on a copy, to see whether it can
    happen: reproduced (with a case), depends_on_caller, refuted, survived, or unproven and why.

    Args:
        gid: Number of the candidate.
    """
    candidate_of(context, gid)
    proof = await examiner_of(context).prove(gid)
    if proof is None:
        return Words("Nothing can be run here.")
    lines = [f"{proof.verdict}: {proof.message}"]
    lines += [Words("Assumed: {what}", what=assumption) for assumption in proof.assumptions]
    if proof.case:
        lines.append(f"case {proof.case}")
    return together([shown(line) for line in lines], "\n")
