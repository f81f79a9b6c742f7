"""Whether input that flow followed to a flaw is the environment of the program's own user.

Who sets HOME or names a file on the command line may open that file without the program. That is a
flaw only where the program has more rights than its user, or serves others.
"""

from __future__ import annotations

from collections.abc import Callable

from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.flow.domain.fault import Fault, Step
from jarvis_ls.jsec.local.c.inputs import ENVIRONMENT, has_privileges, is_of_request

_INJECTIONS = frozenset(
    {
        "path-relative",
        "path-absolute",
        "search-path",
        "command-injection",
        "format-string",
        "integer-overflow",
        "integer-underflow",
        "truncation",
    }
)
_ENTERS = "Untrusted input enters through {name}."


def is_own_input(fault: Fault, texts: Callable[[str], Source | None]) -> bool:
    """Return whether the input of an injection is the environment or command line of a program
    that has no more rights than its user. `texts` gives the files of the program."""
    if fault.kind not in _INJECTIONS:
        return False
    entries = [step for step in fault.steps if step.message == _ENTERS]
    names = {dict(step.args).get("name", "").removesuffix("()") for step in entries}
    if not names or not names <= ENVIRONMENT:
        return False
    sources = {file: texts(file) for file in {fault.file, *(step.file for step in fault.steps)}}
    if any(source is not None and has_privileges(source.data) for source in sources.values()):
        return False
    return not any(_is_request(step, sources[step.file]) for step in entries)


def _is_request(step: Step, source: Source | None) -> bool:
    start, end = step.span
    return source is not None and is_of_request(source.data[start:end])
