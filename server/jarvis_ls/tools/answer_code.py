"""Placing a block of code of an answer in the file it is meant for: exactly, or not at all.

A diff goes where all its old lines are, whole definitions go where those of the same name are, and
other lines go between lines of the file that they begin and end with. What has no such place, or
several, is refused: people decide then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import Node, parse
from jarvis_ls.codeintel.symbols import Outline, Symbol
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.tools.loose_diff import indent_of, is_diff, place_diff, shifted
from jarvis_ls.tools.loose_snippet import has_gap, place_snippet
from jarvis_ls.tools.placing import squeezed

_AROUND = frozenset({"module", "impl", "trait"})
"""What is looked into: a block that names them often gives a part of what they hold."""
_IMPORTS = frozenset({"preproc_include", "use_declaration", "extern_crate_declaration"})
_ABOVE = frozenset({"comment", "line_comment", "block_comment", "attribute_item"})
"""What belongs to the definition that follows."""
_DEFINITIONS = frozenset(
    "function_definition declaration type_definition struct_specifier union_specifier "
    "enum_specifier class_specifier preproc_def preproc_function_def namespace_definition "
    "alias_declaration template_declaration function_item struct_item union_item enum_item "
    "trait_item impl_item type_item const_item static_item macro_definition mod_item ;".split()
)
_LEFT_OUT = re.compile(
    r"\s*(?://|/\*).*\b(?:rest of|existing|unchanged|remaining|omitted|same as before)\b", re.I
)
_SHOWN = 3
"""Names of definitions that are told."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A file with a block of code in its place."""

    text: str
    how: Words
    """What it replaces, for people."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """One definition with the comments and attributes right above it."""

    symbol: Symbol
    above: int
    """First byte of the line where those begin; that of the definition without any."""
    start: int
    """First byte of the definition's line."""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.symbol.kind, self.symbol.container, self.symbol.name


def place_code(text: str, code: str, language: LanguageName | None) -> Placed:
    """Return the text with the code in its place.

    Raises `ToolRetry` when it has no exact place, or several.
    """
    if not text.strip():
        return whole_file(code)
    if is_diff(code, text):
        return Placed(place_diff(text, code, exact=True)[0], Words("As the diff says."))
    if _leaves_out(text, code):
        raise ToolRetry("A comment of the code represents lines that stay.")
    if language is not None and not has_gap(code):
        placed = _place_definitions(text, code, language)
        if placed is not None:
            return placed
    after = place_snippet(text, code, exact=True)[0]
    return Placed(after, Words("Between the lines that it begins and ends with."))


def _leaves_out(text: str, code: str) -> bool:
    """Return whether a comment that the file has not seems to represent lines that stay, but is no
    gap that a snippet is placed around."""
    there = set(text.split("\n"))
    return any(
        _LEFT_OUT.match(line) and line not in there and not has_gap(line)
        for line in code.split("\n")
    )


def whole_file(code: str) -> Placed:
    """Return the code as all there is."""
    return Placed(code if code.endswith("\n") else f"{code}\n", Words("The whole file."))


def _place_definitions(text: str, code: str, language: LanguageName) -> Placed | None:
    """Return the text with definitions replaced by those of the code; None when it has others."""
    data, new = text.encode(), code.encode()
    tree = parse(new, language)
    if tree.root_node.has_error or not _is_whole(tree.root_node):
        return None
    wanted = list(_units(new, language))
    there = list(_units(data, language))
    found = [_same(unit, there) for unit in wanted]
    if any(len(places) > 1 for places in found) or not any(found):
        return None
    edits: list[tuple[int, int, bytes]] = []
    last: _Unit | None = None
    for unit, places in zip(wanted, found, strict=True):
        if places:
            last = places[0]
            edits.append(_replacement(data, last, new, unit))
        else:
            anchor = last or next(places[0] for places in found if places)
            if anchor.symbol.container != unit.symbol.container:
                return None
            edits.append(_insertion(data, anchor, new, unit, below=last is not None))
    edits += _imports(data, new, language)
    names = [unit.symbol.name for unit, places in zip(wanted, found, strict=True) if places]
    said = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return Placed(_apply_edits(data, edits).decode(), Words("In place of {names}.", names=said))


def _same(unit: _Unit, there: Sequence[_Unit]) -> list[_Unit]:
    """Return the definitions of the same name; for one outside of everything also methods."""
    found = [known for known in there if known.key == unit.key]
    if not found and not unit.symbol.container:
        kind, _, name = unit.key
        found = [u for u in there if (u.symbol.kind, u.symbol.name) == (kind, name)]
    return found


def _is_whole(root: Node) -> bool:
    """Return whether all a block has at its top are definitions and what stands around them."""
    known = _DEFINITIONS | _IMPORTS | _ABOVE
    return all(child.type in known for child in root.children)


def _units(data: bytes, language: LanguageName) -> Iterator[_Unit]:
    """Yield the definitions that are replaced as a whole, in order."""
    root = parse(data, language).root_node
    end = 0
    for symbol in Outline(data, language).symbols:
        if symbol.start < end or symbol.kind in _AROUND:
            continue
        end = symbol.end
        node = root.descendant_for_byte_range(symbol.start, symbol.end)
        first = _first_above(node, symbol)
        yield _Unit(symbol, _line_start(data, first), _line_start(data, symbol.start))


def _first_above(node: Node | None, symbol: Symbol) -> int:
    """Return where the comments and attributes begin that are right above a definition."""
    while node is not None and node.parent is not None and node.parent.start_byte == symbol.start:
        node = node.parent
    first = symbol.start
    while node is not None and (above := node.prev_sibling) is not None:
        row = above.end_point[0] - (1 if above.end_point[1] == 0 else 0)
        if above.type not in _ABOVE or row + 1 < node.start_point[0]:
            break
        first, node = above.start_byte, above
    return first


def _replacement(data: bytes, old: _Unit, new: bytes, unit: _Unit) -> tuple[int, int, bytes]:
    """Comments above stay unless the code has its own."""
    start = old.above if unit.above < unit.start else old.start
    return start, old.symbol.end, _like(data, old, new[unit.above : unit.symbol.end])


def _insertion(
    data: bytes, anchor: _Unit, new: bytes, unit: _Unit, *, below: bool
) -> tuple[int, int, bytes]:
    end = _line_end(new, unit.symbol.end)
    written = _like(data, anchor, new[unit.above : end])
    if below:
        at = _line_end(data, anchor.symbol.end)
        return at, at, b"\n\n" + written
    return anchor.above, anchor.above, written + b"\n\n"


def _imports(data: bytes, new: bytes, language: LanguageName) -> Iterator[tuple[int, int, bytes]]:
    """Yield the insertion of what the code includes and the file does not."""
    there = [n for n in parse(data, language).root_node.children if n.type in _IMPORTS]
    known = {_squeeze(data, node) for node in there}
    added = [
        new[node.start_byte : node.end_byte].rstrip(b"\n")
        for node in parse(new, language).root_node.children
        if node.type in _IMPORTS and _squeeze(new, node) not in known
    ]
    if added and there:
        at = _line_end(data, len(data[: there[-1].end_byte].rstrip(b"\n")))
        yield at, at, b"\n" + b"\n".join(added)
    elif added:
        yield 0, 0, b"\n".join(added) + b"\n\n"


def _squeeze(data: bytes, node: Node) -> str:
    return squeezed(data[node.start_byte : node.end_byte].decode("utf-8", "replace"))


def _like(data: bytes, old: _Unit, written: bytes) -> bytes:
    """Return lines with the indent of the file."""
    lines = written.decode().split("\n")
    there = data[old.start : _line_end(data, old.start)].decode()
    shift = indent_of(lines[0]), indent_of(there)
    return "\n".join(shifted(line, shift) for line in lines).encode()


def _apply_edits(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    parts: list[bytes] = []
    at = 0
    for start, end, written in sorted(edits, key=lambda edit: edit[:2]):
        if start < at:
            raise ToolRetry("Two parts of the code change the same lines.")
        parts += [data[at:start], written]
        at = end
    return b"".join([*parts, data[at:]])


def _line_start(data: bytes, at: int) -> int:
    """Return where the line of `at` begins, unless something else is before it there."""
    start = data.rfind(b"\n", 0, at) + 1
    return at if data[start:at].strip() else start


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


_COMMENT = re.compile(r"\s*(?://+|#+|/\*+|<!--|--|;+)\s*(?P<inner>.*?)\s*(?:\*/|-->)?\s*")
_HAS_SUFFIX = re.compile(r"[\w@+-][\w.@+-]*\.\w{1,10}")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\w./\\@+~-]*[\w+-]")
_LINES = re.compile(r"[:#]L?\d+(?:[-:]L?\d+)*$")
_NEW_SIDE = re.compile(r"^\+\+\+ (?:b/)?([^\s]+)", re.MULTILINE)
_FILE = re.compile(r"file(?:name)?:\s*", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+=(?:\"[^\"]*\"|'[^']*')|\S+")
_KEYS = re.compile(r"(?:title|file|filename|path|name)=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Names:
    """What an answer calls the file of a block."""

    sure: tuple[str, ...] = ()
    """In its info string, or in a comment that is its first line: may be a new file."""
    near: tuple[str, ...] = ()
    """In the words before it."""
    code: str = ""
    """The block without a first line that only names its file."""


def names_of(code: str, info: str, before: str) -> Names:
    """Return the names of files around a block of code, the last words before it first."""
    sure = [name for part in _WORD.findall(info) if (name := _name_in(part))]
    sure += [name for name in _NEW_SIDE.findall(code) if name != "/dev/null"]
    near = [_LINES.sub("", word) for word in _PATH.findall(before)]
    near = [word.rstrip(".") for word in near if word.strip(".")]
    names = Names(tuple(sure), tuple(dict.fromkeys(reversed(near))), code)
    head, _, rest = code.partition("\n")
    named = _COMMENT.fullmatch(head)
    inner = _FILE.sub("", named["inner"]) if named is not None else ""
    if rest and _is_name(inner):
        return replace(names, sure=(*names.sure, inner), code=rest.lstrip("\n"))
    return names


def _name_in(part: str) -> str:
    """Return the name of a file in a word of an info string; empty without one."""
    text = part.strip("{},")
    named = _KEYS.match(text)
    text = _LINES.sub("", text[named.end() :] if named else text).strip("\"'`")
    if named is not None:
        return text
    last = text.rpartition(":")[2]
    return last if _is_name(last) or ("/" in last and _PATH.fullmatch(last)) else ""


def _is_name(text: str) -> bool:
    last = text.replace("\\", "/").rpartition("/")[2]
    return bool(_PATH.fullmatch(text) and _HAS_SUFFIX.fullmatch(last))
