"""What agents concluded of a finding, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words, together
from jarvis_ls.lsp.user_messages import Messages

if TYPE_CHECKING:
    from jarvis_ls.lsp.verifying import Verification

VERIFY = Words("Verify with agents")
EXPLAIN = Words("Explain with Jarvis")
STAGES = {
    "": Words("scanning"),
    "clustering": Words("clustering"),
    "review": Words("reviewing"),
    "analysis": Words("analysing"),
    "verification": Words("verifying"),
}
_VERDICTS = {
    "reproduced": Words("Agents: a flaw, reproduced by a run."),
    "unproven": Words("Agents: a flaw, not yet shown by a run."),
    "undecided": Words("Agents: not decided."),
    "false_positive": Words("Agents: no flaw."),
}


def reference(finding: Finding, uri: str) -> dict[str, object]:
    """Return what the commands of our extension are told of a finding."""
    return {
        "uri": uri,
        "fingerprint": finding.fingerprint,
        "id": finding.id,
        "rule": finding.rule,
        "line": finding.span.line,
    }


def verdict_in_words(finding: Finding, say: Messages) -> str:
    """Return what agents concluded, in a sentence."""
    return say(_VERDICTS.get(finding.verdict, _VERDICTS["undecided"]))


def summary(done: Verification, say: Messages) -> str:
    """Return the result in a sentence or two."""
    if done.finding.conclusion is None:
        why = say(together(done.problems, " ")) if done.problems else ""
        return say("The agents came to no conclusion. {why}", why=why).strip()
    told = verdict_in_words(done.finding, say)
    notes = " ".join(done.finding.conclusion.notes.split())
    return f"{told} {notes}" if done.finding.verdict == "false_positive" and notes else told


def page(done: Verification, say: Messages) -> str:
    """Return all that agents said, in Markdown."""
    return "\n".join(_lines(done.finding, say)) + "\n"


def _lines(finding: Finding, say: Messages) -> Iterator[str]:
    told = finding.conclusion
    yield f"# {_escape(finding.rule)}: {_escape(finding.file)}:{finding.span.line}"
    yield ""
    yield f"**{verdict_in_words(finding, say)}** {_escape(say.text(finding.message))}"
    if told is None:
        return
    for title, text in (
        (Words("Preconditions"), told.preconditions),
        (Words("Trigger path"), told.trigger_path),
        (Words("Consequences"), told.consequences),
        (Words("What to do"), told.suggestions),
        (Words("Notes"), told.notes),
    ):
        if text.strip():
            yield from ("", f"## {say(title)}", "", *_block(text))


def _block(text: str) -> Iterator[str]:
    """Yield what a model wrote as a block whose fence no text inside can close."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    yield f"{ticks}text"
    yield text.strip("\n")
    yield ticks


def _escape(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>#|" else char for char in text)
