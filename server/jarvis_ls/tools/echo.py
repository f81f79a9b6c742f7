"""Say a text back."""

from __future__ import annotations

from jarvis_ls.runtime.tools.tool import ToolContext, tool


@tool(independent=True, offered=False)
async def echo(context: ToolContext, text: str) -> str:  # noqa: ARG001 - every tool takes it
    """Give back a text unchanged.

    Args:
        text: What to return.
    """
    return text
