"""What refutations have in common: the program they are about, what they assume, and the code that
they die with."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_ls.codeintel import clang
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.words import Words, together
from jarvis_ls.jsec.proof.places import OUTSIDE, current_hashes
from jarvis_ls.jsec.proof.programs import (
    Program,
    find_closure,
    find_program,
    has_rivals,
    parser_flags,
)
from jarvis_ls.jsec.proof.symbolic.goal import MODERATE_STRING
from jarvis_ls.jsec.proof.symbolic.program import Program as Code
from jarvis_ls.jsec.proof.symbolic.syntax import Unsupported
from jarvis_ls.jsec.proof.workbench import Workbench

if TYPE_CHECKING:
    from jarvis_ls.jsec.proof.symbolic.refutation import Answer

_LANGUAGES = frozenset({"c", "cpp"})
_MOST_FILES = 12
"""Files of a program that are read; of a larger one only that of the finding."""


@dataclass(frozen=True, slots=True)
class Read:
    """A program that was read."""

    code: Code
    is_whole: bool
    """Whether it has all files that can call its functions."""


def missing_packages() -> str:
    """Return why nothing can be executed symbolically here, in `Words`; empty when it can."""
    if importlib.util.find_spec("z3") is None:
        return Words("Refuting by symbolic execution needs z3: pip install 'jarvis-ls[prove]'.")
    try:
        clang.cindex()
    except clang.ClangMissing as error:
        return str(error)
    return ""


def read_code(bench: Workbench, file: str) -> Read | None:
    """Return the program that a file is in; None when it cannot be read."""
    key = ("refuting", file)
    if key not in bench.results:
        bench.results[key] = read_changed(bench, file)
    known = bench.results[key]
    return known if isinstance(known, Read) else None


def read_changed(bench: Workbench, file: str, text: bytes | None = None) -> Read | str:
    """Return the program that a file is in, with `text` in its place when that is given; or, in
    `Words`, why it cannot be read."""
    build = find_closure(bench, file)
    if isinstance(build, str):
        return build
    files = [source for source in build.sources if language_of(source) in _LANGUAGES]
    is_whole = isinstance(find_program(bench, file), Program) and len(files) == len(build.sources)
    is_whole = is_whole and not has_rivals(bench, build)
    if len(files) > _MOST_FILES:
        files, is_whole = [file], False
    flags = parser_flags(bench, build)
    changed = (file, text) if text is not None else None
    why = ""
    for chosen, whole in ((files, is_whole), ([file], False)):
        try:
            code = Code(bench.root, chosen, flags, changed)
            return Read(code, whole and not code.begins_before_main)
        except (Unsupported, SkippedFile) as error:
            why = str(error)
    return Words("It could not be read: {error}", error=why)


def conclude(answer: Answer, name: str) -> str:
    """Return what was shown of a place in the function `name`, in `Words`."""
    if answer.level == 0:
        return Words(
            "No path through '{function}' leads to it, whatever it is called with: "
            "{count} conditions hold there (z3).",
            function=name,
            count=answer.shown,
        )
    if answer.level < 0:
        return Words(
            "No path from 'main' leads to it: {count} conditions hold there (z3).",
            count=answer.shown,
        )
    return Words(
        "No path leads to it from the functions that call '{function}', {callers}: {count} "
        "conditions hold there (z3).",
        function=name,
        callers=together([f"'{root}'" for root in answer.roots[:_MOST_NAMED]], ", "),
        count=answer.shown,
    )


_MOST_NAMED = 6


def assumptions(answer: Answer, name: str) -> tuple[str, ...]:
    """Return what a conclusion holds under, in `Words`."""
    found = [
        Words("Sizes of types, macros and headers are those of this machine."),
        Words("Nothing that goes wrong before it has changed other memory."),
        Words("No other thread and no signal handler changes its data."),
        Words("Functions of the C library do what the standard says."),
    ]
    if answer.strings > MODERATE_STRING:
        found.append(Words("No string is longer than 2 GiB."))
    elif answer.strings:
        found.append(Words("No string is longer than 256 MiB."))
    if any(language_of(file) == "cpp" for file, _ in answer.entered):
        found.append(Words("No exception is thrown by what is called."))
    if answer.level > 0:
        found.append(Words("Only functions of the project call '{function}'.", function=name))
    if answer.by_address:
        found.append(
            Words(
                "Calls by address in the project, and no others, come to the functions of their "
                "type whose address it uses: {functions}.",
                functions=together([f"'{name}'" for name in answer.by_address], ", "),
            )
        )
    if answer.level < 0:
        found.append(Words("The program begins in 'main' and consists of the project's files."))
    return tuple(found)


def hashes(bench: Workbench, read: Read, answer: Answer) -> tuple[tuple[str, str], ...]:
    """Return the hashes of what a conclusion speaks of: the functions that were executed, and what
    is outside of functions in their files. When callers matter, all of the program, for any part of
    it may become one."""
    found: dict[str, str] = {}
    entered: dict[str, set[str]] = {}
    for file, name in answer.entered:
        entered.setdefault(file, set()).add(name)
    for file in read.code.files:
        source = bench.source(file)
        if source is None:
            continue
        names = {""} if answer.level else {OUTSIDE} | entered.get(file, set())
        for name, hashes_ in current_hashes(source, names).items():
            if len(hashes_) == 1:
                found[f"{file}:{name}"] = next(iter(hashes_))
            else:
                found[f"{file}:"] = next(iter(current_hashes(source, {""})[""]))
    return tuple(sorted(found.items()))
