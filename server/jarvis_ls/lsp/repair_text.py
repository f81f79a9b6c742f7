"""What came of a repair, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_ls.core.words import Words
from jarvis_ls.lsp.markdown import code_block, escape
from jarvis_ls.lsp.user_messages import Messages

if TYPE_CHECKING:
    from jarvis_ls.jsec.repair.repair import Attempt, Repair

REPAIR = Words("Fix with Jarvis")
_DETAILS = 3000


def summary(done: Repair, say: Messages) -> str:
    """Return the result in a sentence."""
    passed = done.passed
    if passed is None or passed.judgement is None:
        return say("Not repaired. {why}", why=say(done.diagnosis))
    files = ", ".join(change.path for change in passed.judgement.patch.changes)
    return say("A patch of {files} passed all gates.", files=files)


def page(done: Repair, say: Messages) -> str:
    """Return what was tried and what each gate said, in Markdown."""
    return "\n".join(_lines(done, say)) + "\n"


def _lines(done: Repair, say: Messages) -> Iterator[str]:
    from jarvis_ls.jsec.proof.said import NAMES

    finding = done.finding
    yield f"# {escape(finding.rule)}: {escape(finding.file)}:{finding.span.line}"
    yield ""
    yield escape(summary(done, say))
    yield ""
    if done.evidence is not None:
        verdict = say(NAMES[done.evidence.verdict])
        yield escape(say("{verdict}: {what}", verdict=verdict, what=say(done.evidence.message)))
        yield ""
    for number, attempt in enumerate(done.attempts, 1):
        yield from _attempt(number, attempt, say)


def _attempt(number: int, attempt: Attempt, say: Messages) -> Iterator[str]:
    from jarvis_ls.jsec.repair.repair import WHOSE
    from jarvis_ls.jsec.repair.verdict import STATES, TITLES

    yield f"## {escape(say(WHOSE[attempt.by], number=number))}"
    yield ""
    if attempt.explanation:
        yield from _block(attempt.explanation)
    if attempt.problem:
        yield escape(say(attempt.problem))
        yield ""
    if attempt.judgement is None:
        return
    yield f"| {say('Gate')} | | |"
    yield "| --- | --- | --- |"
    for result in attempt.judgement.results:
        cells = (say(TITLES[result.gate]), say(STATES[result.state]), say(result.message))
        yield f"| {' | '.join(_cell(cell) for cell in cells)} |"
    yield ""
    for result in attempt.judgement.results:
        if result.details:
            yield from _block(result.details[-_DETAILS:])
    yield from _block(attempt.judgement.patch.diff(), "diff")


def _cell(text: str) -> str:
    return escape(" ".join(text.split()))


def _block(text: str, language: str = "text") -> Iterator[str]:
    yield from (code_block(text.rstrip("\n"), language), "")
