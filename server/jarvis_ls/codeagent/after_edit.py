"""Everything that listens to an edit, in order: preview, syntax, impact, then what takes longer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from jarvis_ls.codeagent.checks import Checks
from jarvis_ls.codeagent.edit_guard import Edit
from jarvis_ls.codeagent.impact_watch import ImpactWatch
from jarvis_ls.codeagent.preview import preview
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.edits.file_change import FileChange, text_of
from jarvis_ls.tools.edit_checks import new_syntax_errors

_FAULTS = 8


class AfterEdit:
    """See `Listener`."""

    def __init__(self, impact: ImpactWatch, checks: Checks | None) -> None:
        """Without `checks` nothing of the project is run."""
        self._impact = impact
        self.checks = checks
        self._last: Edit | None = None

    async def after_edit(self, edit: Edit) -> str:
        """See `Listener`."""
        self._last = edit
        parts: list[str] = []
        if not edit.is_proposed:  # tools for edits show what they did, and look for syntax errors
            parts.append(await asyncio.to_thread(preview, edit.touched))
            parts.append(await asyncio.to_thread(_syntax, edit.touched))
        parts.append(await self._impact.after_edit(edit))
        if self.checks is not None:
            parts.append(await self.checks.after_edit(edit, self._impact.report))
        return together([part for part in parts if part], "\n")

    async def finish(self) -> str:
        """Return the complaints about the last edit that were not told yet, when all is known."""
        if self.checks is None or self._last is None:
            return ""
        if self._impact.report is None:  # it was not known in time, so that no test was run
            report = await self._impact.measure(self._last)
            await self.checks.after_edit(self._last, report)
        return await self.checks.finish()

    def forget(self) -> None:
        """Start over: what was changed until now is written or taken back."""
        self._last = None
        if self.checks is not None:
            self.checks.forget()

    async def close(self) -> None:
        """End what runs."""
        await self._impact.close()
        if self.checks is not None:
            await self.checks.close()


def _syntax(touched: Sequence[FileChange]) -> str:
    lines: list[str] = []
    for change in touched:
        if change.after is None or not change.is_text:
            continue
        before = (text_of(change.before.data) if change.before is not None else "") or ""
        for fault in new_syntax_errors(change.path, before, text_of(change.after.data) or ""):
            lines.append(f"  {change.path}:{fault.line} {fault.what}")
    if not lines:
        return ""
    return together([Words("New syntax errors:"), *lines[:_FAULTS]], "\n")
