"""Prompts about a function, made of the templates in `prompts`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.words import filled
from jarvis_ls.harness.inputs import is_length
from jarvis_ls.harness.signature import Function, Signatures
from jarvis_ls.jc2r.libraries.records import Replacement
from jarvis_ls.jc2r.lift.rust import Source, below, field, name_of, read_sources
from jarvis_ls.jc2r.prepare.proposals import Interface
from jarvis_ls.jc2r.rewrite.hypotheses import Hypothesis
from jarvis_ls.jc2r.rewrite.journal import Attempt
from jarvis_ls.jc2r.rewrite.subject import Subject
from jarvis_ls.jc2r.rewrite.verdict import TITLES, Gate
from jarvis_ls.runtime.agent.prompts import as_data
from jarvis_ls.runtime.base.prompt_files import read_prompt
from jarvis_ls.runtime.base.redaction import redact

_NAME = re.compile(r"[A-Za-z_]\w*")
_TYPE_ITEMS = ("struct_item", "union_item", "enum_item", "type_item", "const_item")
_MOST_TYPES = 8_000
_MOST_CODE = 40_000
_MOST_CALLERS = 6
_MOST_DETAILS = 3_000
_MOST_ANSWER = 8_000


@dataclass(frozen=True, slots=True)
class Told:
    """What a model is told besides the code."""

    found: Signatures
    before: Sequence[Attempt] = ()
    """Its answers that failed."""
    notes: str = ""
    """The user's own words for every prompt."""
    library: Replacement | None = None
    """What libraries can do of it."""
    plan: Interface | None = None
    """What it is to be in Rust."""
    learned: Sequence[Hypothesis] = ()
    """What models have said of it and of what is near it."""


def brief(subject: Subject, crate: Path, told: Told) -> str:
    """Return the task of a model."""
    sources = read_sources(crate)
    values = {
        **_describe_code(subject, sources),
        "inner": subject.inner,
        "callers": as_data("\n".join(_callers(subject, sources)) or "Nothing in the crate."),
        "facts": as_data("\n".join(_facts(subject, told.found)) or "Nothing more."),
        "gates": ", ".join(str(TITLES[gate]) for gate in Gate),
        "plan": _describe_plan(told.plan),
        "library": _describe_library(told.library),
        "learned": _describe_learned(told.learned),
        "notes": _describe_notes(told.notes),
        "before": "\n\n".join(_earlier(told.before)),
    }
    return _fill("rewrite", values)


def brief_tests(subject: Subject, crate: Path, notes: str, wrong: str) -> str:
    """Return the task of a model that writes tests of a function; `wrong` is what was wrong with
    its last ones."""
    before = f"## Your last tests could not be used\n{as_data(redact(wrong[:_MOST_DETAILS]))}"
    values = {
        **_describe_code(subject, read_sources(crate)),
        "notes": _describe_notes(notes),
        "before": before if wrong else "",
    }
    return _fill("tests", values)


def brief_review(subject: Subject, crate: Path, after: str, notes: str) -> str:
    """Return the task of a model that reads a rewrite, `after`."""
    sources = read_sources(crate)
    values = {
        **_describe_code(subject, sources),
        "after": as_data(after[:_MOST_CODE]),
        "callers": as_data("\n".join(_callers(subject, sources)) or "Nothing in the crate."),
        "notes": _describe_notes(notes),
    }
    return _fill("review", values)


def _fill(name: str, values: Mapping[str, str]) -> str:
    text = filled(read_prompt("jarvis_ls.jc2r.rewrite", name), dict(values))
    return text.encode("utf-8", "backslashreplace").decode()


def _describe_code(subject: Subject, sources: Sequence[Source]) -> dict[str, str]:
    return {
        "place": f"{subject.file}:{subject.line}, {subject.name}",
        "name": subject.name,
        "c": as_data(subject.c[:_MOST_CODE]),
        "rust": as_data(subject.rust[:_MOST_CODE]),
        "types": as_data("\n\n".join(_find_used(subject, sources))),
    }


def _describe_notes(notes: str) -> str:
    text = notes.strip()
    return f"Additional notes of the user:\n{text}" if text else ""


def _describe_learned(learned: Sequence[Hypothesis]) -> str:
    if not learned:
        return ""
    lines = (
        f"{claim.name}: {claim.text}"
        + (f" (the answer that says so failed at gate {claim.gate})" if claim.gate else "")
        for claim in learned
    )
    return (
        "## What other agents have learned\nClaims of models about functions near this one, the"
        " latest last; nobody has checked them.\n" + as_data(redact("\n".join(lines)))
    )


def _describe_plan(plan: Interface | None) -> str:
    if plan is None or not plan.rust_signature:
        return ""
    of_type = f" of the type {plan.type}" if plan.type else ""
    who = "The user wants" if plan.source == "user" else "Planned is"
    told = as_data("\n".join(filter(None, [plan.rust_signature, plan.notes])))
    return (
        f"## Its interface in the end\n{who}, as a function{of_type} in {plan.module}:\n{told}\n"
        "Come as near to it as the types of the crate and the ways to answer below allow."
    )


def _describe_library(found: Replacement | None) -> str:
    if found is None:
        return ""
    named = [
        name if not version else f"{name} {version}"
        for name, version in zip(found.libraries, found.versions, strict=True)
    ]
    about = as_data("\n".join([*found.apis, found.notes]))
    return (
        f"## A library for it\nWrite it, with all that it calls, by means of {', '.join(named)};"
        f" what was proposed is:\n{about}\nOnly this function may name these crates. No import is"
        " needed: write whole paths. Where they give another result than the C, keep the C's."
    )


def _find_used(subject: Subject, sources: Sequence[Source]) -> Iterator[str]:
    """Yield the types that the Rust names and the heads of the functions that it may call."""
    wanted = set(_NAME.findall(subject.rust))
    size = 0
    for source in sources:
        for item in source.root.children:
            name = name_of(item)
            if item.type in _TYPE_ITEMS and name in wanted:
                told = source.text(item).decode("utf-8", "replace")
            elif item.type == "function_item" and name.removesuffix("_safe") in wanted:
                body = field(item, "body")
                end = item.end_byte if body is None else body.start_byte
                head = source.data[item.start_byte : end].decode("utf-8", "replace").strip()
                told = f"{head};  // in module {source.path.stem}"
            else:
                continue
            size += len(told)
            if name in (subject.name, subject.rust_name) or size > _MOST_TYPES:
                continue
            yield told


def _callers(subject: Subject, sources: Sequence[Source]) -> Iterator[str]:
    shown, rust_name = 0, subject.rust_name
    for source in sources:
        for call in below(source.root, "call_expression"):
            called = field(call, "function")
            if called is None or shown == _MOST_CALLERS:
                continue
            text = source.text(called).decode("utf-8", "replace")
            if text.rpartition("::")[2] == rust_name:
                shown += 1
                code = " ".join(source.text(call).decode("utf-8", "replace").split())
                yield f"{source.path.stem}: {code[:200]}"


def _facts(subject: Subject, found: Signatures) -> Iterator[str]:
    function = next((f for f in found.functions if (f.file, f.name) == subject.key), None)
    if function is None:
        return
    yield "It is static: only its file calls it." if function.static else "Other files may call it."
    if (function.file, function.name) in found.taken:
        yield "Its address is stored in a variable."
    if function.variables:
        yield f"It uses the variables {', '.join(function.variables)}."
    yield from _parameter_facts(function)


def _parameter_facts(function: Function) -> Iterator[str]:
    before = ""
    for parameter in function.parameters:
        kind = parameter.kind
        if kind.form == "pointer":
            how = "only read" if kind.const else "may be written"
            yield f"What {parameter.name} points to is {how} through it."
            before = parameter.name
        elif before and is_length(parameter.name, kind):
            yield f"{parameter.name} may be the number of elements that {before} points to."


def _earlier(attempts: Sequence[Attempt]) -> Iterator[str]:
    for number, attempt in enumerate(attempts, 1):
        what = f"failed at gate {attempt.gate}" if attempt.gate else "could not be used"
        yield (
            f"## Answer {number} {what}\n{as_data(redact(attempt.details[:_MOST_DETAILS]))}\n"
            f"{as_data(attempt.code[:_MOST_ANSWER])}"
        )
