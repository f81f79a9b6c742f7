"""Say a text back."""

from __future__ import annotations

from jarvis_ls.runtime.tools.tool import ToolContext, tool


@tool(independent=True)
async def echo(context: ToolContext, text: str) -> str:  # noqa: ARG001 - every tool takes it
    """Give back a text unchanged. Only useful for checking that tools work.

    Args:
        text: What to give back.
    """
    return text
