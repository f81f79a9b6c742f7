"""Which tools the agents of the pipeline have beside those that look, and how these know what there
is: `services["examiner"]` holds the `Examiner`.
"""

from __future__ import annotations

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.pipeline.examiner import Examiner
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.tools.tool import Tool, ToolContext

SERVICE = "examiner"
RUNNING = ("prove", "replay", "check_invariant")
"""Names of the tools that run code; they are there in a trusted workspace only."""


def pipeline_tools(*, can_run: bool) -> list[Tool]:
    """Return the tools; `can_run` says whether those that run code are among them."""
    from jarvis_ls.jsec.pipeline import tools
    from jarvis_ls.tools.discover import tools_of

    return [tool for tool in tools_of(tools) if can_run or tool.spec.name not in RUNNING]


def examiner_of(context: ToolContext) -> Examiner:
    """Return the examiner. Raises `JarvisError` where there is none."""
    examiner = context.services.get(SERVICE)
    if not isinstance(examiner, Examiner):
        raise JarvisError("There are no candidates here.")
    return examiner


def candidate_of(context: ToolContext, gid: int) -> Finding:
    """Return a candidate. Raises `ToolRetry` when there is none of that number."""
    finding = examiner_of(context).candidate(gid)
    if finding is None:
        raise ToolRetry("There is no candidate {gid}.", gid=gid)
    return finding
