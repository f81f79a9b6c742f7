"""What is wrong in files as they are now: syntax, and findings."""

from __future__ import annotations

import asyncio

from jarvis_ls.codeintel.syntax_errors import syntax_errors
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.text_file import TextFile, read_text
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.code_analysis import analysis_of, finding_line
from jarvis_ls.tools.edit_checks import EditChecks, new_findings, new_syntax_errors

MOST = 40
"""Lines told of one file."""


@tool(
    actions=lambda a: [Action("read", path) for path in a["files"]],
    independent=True,
    timeout=120.0,
)
async def diagnostics(context: ToolContext, files: list[str], new_only: bool = False) -> str:
    """Tell syntax errors and findings of files as they are now.

    Args:
        new_only: Only what was not there before your first edit of the file in this session.
    """
    if not files:
        raise ToolRetry("Give at least one file.")
    parts = [await _of_file(path, new_only, context) for path in dict.fromkeys(files)]
    return together(parts, "\n")


async def _of_file(path: str, new_only: bool, context: ToolContext) -> str:
    file = await read_text(path, context)
    checks: EditChecks | None = context.services.get("after_edit")
    before = checks.first_text(file.place) if checks is not None else None
    if new_only and before is None:
        before = file.text
    lines: list[str] = await _syntax(file, before if new_only else None)
    lines += await _findings(file, before if new_only else None, context)
    name = shown(file.place.name)
    if not lines:
        return Words("{name}: nothing", name=name)
    left = [Words("… {count} more", count=len(lines) - MOST)] if len(lines) > MOST else []
    return together([Words("{name}:", name=name), *lines[:MOST], *left], "\n")


async def _syntax(file: TextFile, before: str | None) -> list[str]:
    if before is None:
        found = await asyncio.to_thread(syntax_errors, file.place.path, file.text) or []
    else:
        found = await asyncio.to_thread(new_syntax_errors, file.place.path, before, file.text)
    return [f"  {fault.line} syntax: {shown(fault.what)}" for fault in found]


async def _findings(file: TextFile, before: str | None, context: ToolContext) -> list[str]:
    texts = [file.text] if before is None else [before, file.text]
    known = await analysis_of(context).of_texts(file.place, texts)
    if known is None:
        return [Words("  findings: not analysed")]
    found = known[-1]
    if before is not None:
        found, _ = new_findings(before, file.text, known[0], known[1])
    return [f"  {shown(finding_line(item, shown(file.place.name)))}" for item in found]
