"""Read what a script in the background has printed, wait for its end, or end it."""

from __future__ import annotations

from typing import Annotated

import pydantic

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.sandbox.background import SERVICE, BackgroundScripts
from jarvis_ls.runtime.tools.tool import ToolContext, tool

LONGEST_WAIT = 600
"""Seconds it may be waited for at a time."""
_ENDING = 60.0
"""Seconds that reading what an ended script has changed may take."""


@tool(timeout=LONGEST_WAIT + _ENDING + 10)
async def script_output(
    context: ToolContext,
    id: str,
    wait: Annotated[int, pydantic.Field(ge=0, le=LONGEST_WAIT)] = 0,
    end: bool = False,
) -> str:
    """Return what a background script has printed since you last read it, and its state.

    When it has ended you get what execute_script returns, with the files it changed.

    Args:
        id: Id that execute_script gave it.
        wait: Seconds to wait for its end.
        end: Whether to end it now, with all it started.
    """
    scripts = context.services.get(SERVICE)
    if not isinstance(scripts, BackgroundScripts):
        raise ToolRetry("Scripts cannot run in the background here.")
    script = scripts.find(id)
    if end:
        script.stop(Words("you ended it"))
    await script.wait(_ENDING if end else wait)
    return script.tell()
