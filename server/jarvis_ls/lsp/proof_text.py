"""What running the code has shown, in words."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from jarvis_ls.core.finding import Proof
from jarvis_ls.core.words import Words, together
from jarvis_ls.jsec.proof.evidence import Case, Evidence, Strength, Verdict
from jarvis_ls.jsec.proof.said import NAMES, STRENGTHS, how_it_was_run
from jarvis_ls.lsp.markdown import code_block, escape
from jarvis_ls.lsp.protocol.extensions import ProofItem
from jarvis_ls.lsp.user_messages import Messages

if TYPE_CHECKING:
    from jarvis_ls.lsp.protocol.extensions import ProofVerdict

PROVE = Words("Prove by running (sandbox)")
REPLAY = Words("Replay the run")
CASE_COMMANDS = (
    (Words("Open the input"), "jarvisLs.openCase"),
    (REPLAY, "jarvisLs.replay"),
    (Words("Save as regression test"), "jarvisLs.saveTest"),
)
"""What can be done with a run, and the commands of our extension for it."""
_SHOWN = 20_000
"""Bytes of an input that a page shows."""


def verdict_in_words(proof: Proof) -> str:
    """Return the name of a verdict, in `Words`."""
    return NAMES[Verdict(proof.verdict)]


def proof_in_words(proof: Proof, say: Messages) -> str:
    """Return the verdict, what was shown, how that is known and what it assumes."""
    verdict = say(verdict_in_words(proof))
    parts = [say("{verdict}: {what}", verdict=_capital(verdict), what=say(proof.message))]
    if proof.strength:
        parts.append(say("Known because: {how}.", how=STRENGTHS[Strength(proof.strength)]))
    parts += [say("Assumed: {what}", what=assumption) for assumption in proof.assumptions]
    return " ".join(parts)


def to_proof_item(proof: Proof, say: Messages) -> ProofItem:
    """Return what was shown as the findings view has it."""
    return ProofItem(
        verdict=cast("ProofVerdict", proof.verdict),
        name=say(verdict_in_words(proof)),
        text=proof_in_words(proof, say),
        case=proof.case,
    )


def summary(examined: Sequence[Evidence], say: Messages) -> str:
    """Return how many findings were examined, and with what results."""
    if len(examined) == 1:
        (only,) = examined
        name = _capital(say(NAMES[only.verdict]))
        return say("{verdict}: {what}", verdict=name, what=only.message)
    counts = Counter(evidence.verdict for evidence in examined)
    parts = [
        Words("{count} {verdict}", count=counts[verdict], verdict=NAMES[verdict])
        for verdict in Verdict
        if counts[verdict]
    ]
    if not parts:
        return say("No finding was examined.")
    told = together(parts, ", ")
    return say("{count} examined: {parts}.", count=len(examined), parts=told)


def case_page(evidence: Evidence, case: Case, say: Messages) -> str:
    """Return everything a run was given, in Markdown."""
    return "\n".join(_case_lines(evidence, case, say)) + "\n"


def shown_bytes(data: bytes) -> str:
    """Return bytes as text; as base64 when they are none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if any(ord(char) < ord(" ") and char not in "\t\r\n" for char in text):
        return base64.encodebytes(data).decode("ascii")
    return text


def _case_lines(evidence: Evidence, case: Case, say: Messages) -> Iterator[str]:
    yield f"# {say('Case {name}', name=case.id)}"
    yield ""
    yield f"**{_capital(say(NAMES[evidence.verdict]))}**"
    yield from _block(say(evidence.message))
    if evidence.report is not None:
        where = f"{evidence.report.file}:{evidence.report.line}"
        yield f"## {say('What the run reported')}"
        yield from _block(f"{where}\n{evidence.report.text}")
    yield f"## {say('How it was run')}"
    yield from _block(say(how_it_was_run(case)))
    for number, argument in enumerate(case.arguments, 1):
        data = argument.encode("utf-8", "surrogateescape")
        yield from _input(say("Argument {number}", number=number), data, say)
    if case.stdin:
        yield from _input(say("Standard input"), case.stdin, say)
    for name, data in case.files:
        yield from _input(say("File {name}", name=escape(name)), data, say)
    if case.environment:
        yield f"## {say('Environment')}"
        yield from _block("\n".join(f"{name}={value}" for name, value in case.environment))
    if case.build.harness:
        yield f"## {say('Program that calls the function')}"
        yield from _block(case.build.harness, "c")
    yield f"## {say('At the terminal')}"
    yield from _block(f"jsec replay {case.id}", "sh")


def _input(title: str, data: bytes, say: Messages) -> Iterator[str]:
    yield f"## {title} · {say('{count} bytes', count=len(data))}"
    yield from _block(shown_bytes(data[:_SHOWN]))
    if len(data) > _SHOWN:
        yield say("The first {count} bytes are shown.", count=_SHOWN)
        yield ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _block(text: str, language: str = "text") -> Iterator[str]:
    yield from ("", code_block(text.rstrip("\n"), language), "")
