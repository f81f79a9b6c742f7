"""What agents concluded of a finding, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words, together
from jarvis_ls.jsec.report.spoken import verdict_in_words
from jarvis_ls.lsp.markdown import code_block, escape
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


def reference(finding: Finding, uri: str) -> dict[str, object]:
    """Return what the commands of our extension are told of a finding."""
    return {
        "uri": uri,
        "fingerprint": finding.fingerprint,
        "id": finding.id,
        "rule": finding.rule,
        "line": finding.span.line,
    }


def summary(done: Verification, say: Messages) -> str:
    """Return the result in a sentence or two."""
    if done.finding.conclusion is None:
        why = say(together(done.problems, " ")) if done.problems else ""
        return say("The agents came to no conclusion. {why}", why=why).strip()
    told = verdict_in_words(say, done.finding)
    notes = " ".join(done.finding.conclusion.notes.split())
    return f"{told} {notes}" if done.finding.verdict == "false_positive" and notes else told


def page(done: Verification, say: Messages) -> str:
    """Return all that agents said, in Markdown."""
    return "\n".join(_lines(done.finding, say)) + "\n"


def _lines(finding: Finding, say: Messages) -> Iterator[str]:
    told = finding.conclusion
    yield f"# {escape(finding.rule)}: {escape(finding.file)}:{finding.span.line}"
    yield ""
    yield f"**{verdict_in_words(say, finding)}** {escape(say.text(finding.message))}"
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
            yield from ("", f"## {say(title)}", "", code_block(text.strip("\n")))
