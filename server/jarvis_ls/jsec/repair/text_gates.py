"""Gates that look at the texts of a patch and run nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.codeintel.symbols import Outline, Symbol
from jarvis_ls.codeintel.test_files import is_test_file
from jarvis_ls.core.words import either
from jarvis_ls.jsec.repair.patch import FileChange, Patch
from jarvis_ls.jsec.repair.verdict import Gate, GateResult, Limits, failed, passed

_SILENCERS = re.compile(
    r"no_sanitize|__SANITIZE_|address_sanitizer|undefined_behavior_sanitizer|leak_sanitizer"
    r"|memory_sanitizer|__(?:asan|lsan|ubsan|msan|sanitizer|wrap|real)_|\b[ALU][BS]?SAN_OPTIONS"
    r"|UBSAN_OPTIONS|\bJSEC_\w|FUZZING_BUILD_MODE|__OPTIMIZE__|__NO_OPTIMIZE__"
    r"|jsec-ignore|nosec|NOLINT"
    r"|\b(?:catch_unwind|set_hook|take_hook|debug_assertions|overflow_checks)\b"
    r"|\bjsec_probe\b|#!?\[cfg(?:_attr)?\([^\]]*\]?|\bcfg!"
)
"""Words by which code speaks to what examines it."""
_KEPT = frozenset({"function", "struct", "class", "union", "enum", "type", "macro", "variable"})
_NOTHING = re.compile(rb"return\b[\s()\w+-]*|\(\s*void\s*\)\s*\w+")
"""Statements that do nothing: the return of a constant or name, a parameter that is not used."""
_MOST_NAMED = 5
REPAIRED = frozenset({"c", "cpp", "rust"})
"""Languages whose findings are repaired."""
_BUILD_SCRIPT = "build.rs"
_TEST = re.compile(rb"\btest\b")


def check_scope(patch: Patch, allowed: Sequence[tuple[str, str]] | None = None) -> GateResult:
    """Return whether a patch changes code of the project and nothing that judges it. `allowed` are
    files and functions in them; None allows all."""
    if not patch.changes:
        return failed(Gate.SCOPE, "It changes nothing.")
    for change in patch.changes:
        language = language_of(change.path, change.before.data)
        if language not in REPAIRED or change.path.rpartition("/")[2] == _BUILD_SCRIPT:
            return failed(
                Gate.SCOPE,
                "{file} is not a source in C, C++ or Rust: builds and other files are not part of "
                "a repair.",
                file=change.path,
            )
        if is_test_file(change.before, language) or _changes_tests(change, language):
            return failed(
                Gate.SCOPE,
                "{file} is a test, or has tests that it changes; what judges a repair is not "
                "changed by it.",
                file=change.path,
            )
        if silencer := _silencer(change):
            return failed(
                Gate.SCOPE,
                "'{word}' in {file} would hide the flaw from what looks for it.",
                word=silencer,
                file=change.path,
            )
        if allowed is not None and (reason := _outside(change, language, allowed)):
            return reason
    if all(_is_code_same(change) for change in patch.changes):
        return failed(Gate.SCOPE, "It changes comments and white space only.")
    files = ", ".join(change.path for change in patch.changes)
    return passed(Gate.SCOPE, "It changes {files}.", files=files)


def check_size(patch: Patch, limits: Limits) -> GateResult:
    """Return whether a patch is within the limit of lines."""
    size = patch.size
    if size > limits.lines:
        return failed(
            Gate.SIZE,
            "Lines that go or come: {count} (limit {most}).",
            count=size,
            most=limits.lines,
        )
    return passed(
        Gate.SIZE, "Lines that go or come: {count} (limit {most}).", count=size, most=limits.lines
    )


def check_symbols(patch: Patch, limits: Limits) -> GateResult:
    """Return whether all that the changed files define is defined still, and no body is empty."""
    lost: list[str] = []
    emptied: list[str] = []
    for change in patch.changes:
        language = language_of(change.path, change.before.data)
        if language is None:
            continue
        after = Source(change.path, change.after)
        old, new = _definitions(change.before, language), _definitions(after, language)
        for (kind, name), symbol in old.items():
            held = new.get((kind, name))
            if held is None:
                lost.append(name)
            elif kind == "function" and _is_emptied(change.before, symbol, after, held, language):
                emptied.append(name)
    if lost and not limits.removal:
        return failed(Gate.SYMBOLS, "It removes {names}.", names=_list_names(lost))
    if emptied and not limits.removal:
        return failed(
            Gate.SYMBOLS, "It leaves nothing in the body of {names}.", names=_list_names(emptied)
        )
    if lost or emptied:
        return passed(
            Gate.SYMBOLS,
            "It removes or empties {names}, which was allowed.",
            names=_list_names([*lost, *emptied]),
        )
    return passed(Gate.SYMBOLS, "No function, type, macro or variable is lost or emptied.")


def _changes_tests(change: FileChange, language: LanguageName) -> bool:
    """Return whether tests that are written among the code are not what they were."""
    if language != "rust":
        return False
    before, after = (Counter(_inner_tests(data)) for data in (change.before.data, change.after))
    return bool(before - after)


def _inner_tests(data: bytes) -> Iterator[bytes]:
    """Yield the items of a file of Rust that are there for tests, with their attributes."""
    waiting = [parse(data, "rust").root_node]
    while waiting:
        is_test = False
        for node in waiting.pop().named_children:
            if node.type == "attribute_item":
                is_test = is_test or _TEST.search(node.text or b"") is not None
            elif is_test:
                yield node.text or b""
                is_test = False
            elif node.type in ("mod_item", "declaration_list", "impl_item"):
                waiting.append(node)


def _silencer(change: FileChange) -> str:
    """Return a word that a change adds and by which code hides from checks; empty without one."""
    new = change.after.decode("utf-8", "replace").split("\n")
    for _, _, start, end in change.changed_lines:
        for line in new[start:end]:
            found = _SILENCERS.search(line)
            if found and found[0] not in change.before.data.decode("utf-8", "replace"):
                return found[0]
    return ""


def _outside(
    change: FileChange, language: LanguageName, allowed: Sequence[tuple[str, str]]
) -> GateResult | None:
    """Return why a change is not within some functions; what is outside of all functions, such as
    an `#include`, may be changed in their files, and new functions may be added."""
    names = {name for file, name in allowed if file == change.path}
    if not names:
        files = dict.fromkeys(file for file, _ in allowed)
        return failed(
            Gate.SCOPE,
            "{file} is not on the path of the finding; change {files}.",
            file=change.path,
            files=either(list(files)) if files else change.path,
        )
    outline = Outline(change.before.data, language)
    functions = [symbol for symbol in outline.symbols if symbol.kind == "function"]
    for start, end, _, _ in change.changed_lines:
        for function in functions:
            if function.name in names or "" in names:
                continue
            if _touches(function, start, end):
                return failed(
                    Gate.SCOPE,
                    "It changes '{name}' in {file}, which is not on the path of the finding.",
                    name=function.name,
                    file=change.path,
                )
    return None


def _touches(function: Symbol, start: int, end: int) -> bool:
    """Return whether old lines, from 0, are in a function; without any, what comes between two."""
    if start == end:
        return function.line <= start < function.end_line
    return function.line <= end and start < function.end_line


def _is_code_same(change: FileChange) -> bool:
    language = language_of(change.path, change.before.data) or "c"
    old, new = (
        blank(data, language, literals=False).split() for data in (change.before.data, change.after)
    )
    return old == new


def _definitions(source: Source, language: LanguageName) -> dict[tuple[str, str], Symbol]:
    """Return what a file defines by kind and name; of one name the first counts."""
    found: dict[tuple[str, str], Symbol] = {}
    for symbol in Outline(source.data, language).symbols:
        if symbol.kind in _KEPT and symbol.name:
            found.setdefault((symbol.kind, symbol.name), symbol)
    return found


def _is_emptied(
    old: Source, before: Symbol, new: Source, after: Symbol, language: LanguageName
) -> bool:
    """Return whether a body did something and does nothing now but return a constant."""
    return _does_something(old, before, language) and not _does_something(new, after, language)


def _does_something(source: Source, symbol: Symbol, language: LanguageName) -> bool:
    body = blank(source.data[symbol.start : symbol.end], language)
    inside = body.partition(b"{")[2].rpartition(b"}")[0]
    statements = [part.strip() for part in re.split(rb"[;{}]", inside) if part.strip()]
    return any(_NOTHING.fullmatch(part) is None for part in statements)


def _list_names(names: Iterable[str]) -> str:
    shown = [f"'{name}'" for name in names]
    more = f" (+{len(shown) - _MOST_NAMED})" if len(shown) > _MOST_NAMED else ""
    return ", ".join(shown[:_MOST_NAMED]) + more
