"""Run a case of a reproduced candidate again."""

from __future__ import annotations

import re

from jarvis_ls.core.words import Words
from jarvis_ls.jsec.pipeline.tools.prove import SECONDS
from jarvis_ls.jsec.pipeline.tools.service import examiner_of
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool

_NAME = re.compile("[0-9a-f]{12}")


@tool(
    actions=lambda a: [Action("execute", f"jsec replay {_check(a['case'])}")],
    timeout=SECONDS,
    sandboxed=True,
)
async def replay(context: ToolContext, case: str) -> str:
    """Run a case again and tell what it shows.

    Args:
        case: Its name, as `prove` and `trace` give it.
    """
    told = await examiner_of(context).replay(_check(case))
    return shown(told) if told else Words("Nothing can be run here.")


def _check(case: str) -> str:
    if not _NAME.fullmatch(case):
        raise ToolRetry("{case} is not the name of a case.", case=repr(case))
    return case
