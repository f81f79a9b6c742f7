"""What a change of an agent loses, and who has to agree before that is kept.

Counted from bytes before and after, so it does not matter by what the files were changed. What was
agreed to is not asked again. A lost test is never agreed to by a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jarvis_ls.codeagent.patch_text import patch_text
from jarvis_ls.codeintel.change.deletion_guard import (
    GuardReport,
    Limits,
    Loss,
    Lost,
    guard_deletions,
)
from jarvis_ls.core.words import filled
from jarvis_ls.runtime.base.prompt_files import read_prompt
from jarvis_ls.runtime.edits.file_change import FileChange

YES, NO = "<!!!YES!!!>", "<!!!NO!!!>"
_MOST_DIFF = 40_000
"""Characters of a change that the judge reads."""
_MOST_NAMED = 40


@dataclass
class Agreed:
    """The losses that somebody has agreed to."""

    limits: Limits = field(default_factory=Limits)
    losses: list[Lost] = field(default_factory=list)
    """In the order they were agreed to."""

    def new(self, report: GuardReport) -> list[Lost]:
        """Return what nobody has agreed to yet; a number of lines counts again when it has grown by
        as much as is allowed without a question."""
        known = {_key(loss): loss.lines for loss in self.losses}
        return [
            loss
            for loss in report.losses
            if _key(loss) not in known
            or (
                loss.loss is Loss.NET_LINES
                and loss.lines > known[_key(loss)] + self.limits.net_lines
            )
        ]

    def add(self, losses: Sequence[Lost]) -> None:
        """Keep that these were agreed to."""
        again = {_key(loss) for loss in losses}
        self.losses = [*(loss for loss in self.losses if _key(loss) not in again), *losses]


def find_losses(changes: Sequence[FileChange], limits: Limits) -> GuardReport:
    """Return what changes lose; what is no text is left out."""
    before, after = contents_of(changes)
    for path in before.keys() | after.keys():
        if any(b"\0" in held.get(path, b"")[:8192] for held in (before, after)):
            before.pop(path, None)
            after.pop(path, None)
    return guard_deletions(before, after, limits)


def contents_of(changes: Iterable[FileChange]) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return what changed files hold before and after, by path; links are left out."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    for change in changes:
        for state, contents in ((change.before, before), (change.after, after)):
            if state is not None and state.kind == "file":
                contents[change.path] = state.data
    return before, after


def judge_prompt(
    report: GuardReport, losses: Sequence[Lost], task: str, changes: Sequence[FileChange]
) -> str:
    """Return what is asked of a model that judges in the user's place."""
    diff = patch_text(changes)
    if len(diff) > _MOST_DIFF:
        half = _MOST_DIFF // 2
        diff = f"{diff[:half]}\n[… cut …]\n{diff[-half:]}"
    named = [f"- {loss.reason}" for loss in losses[:_MOST_NAMED]]
    if len(losses) > _MOST_NAMED:
        named.append(f"- and {len(losses) - _MOST_NAMED} more")
    values = {
        "losses": "\n".join(named),
        "added": str(report.added),
        "deleted": str(report.deleted),
        "task": task,
        "diff": diff,
    }
    text = read_prompt("jarvis_ls.codeagent", "judge")
    return filled(text, {name: _strip_marks(value) for name, value in values.items()}).strip()


def read_verdict(answer: str) -> bool:
    """Return whether a judge agrees; anything but a clear yes is a no."""
    return YES in answer and NO not in answer


def _strip_marks(text: str) -> str:
    """Return material in which no mark can be taken for one of ours."""
    return text.replace("<!!!", "<! !!")


def _key(loss: Lost) -> tuple[Loss, str, str]:
    return loss.loss, loss.path, loss.name
