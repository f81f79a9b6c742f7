"""Variables that are declared without a value, and what reads them before they get one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Function, Unit
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.local.c.next_use import mention_behind
from jarvis_ls.jsec.local.c.statement_effects import Mention, is_word

SCALARS = frozenset(
    "char short int long unsigned signed float double bool _Bool size_t ssize_t int8_t "
    "uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t const time_t off_t "
    "wchar_t".split()
)
"""Words of the types of plain numbers."""

_READING = frozenset({"dereference", "test", "read", "return"})
_LASTING = (b"static", b"extern", b"thread_local", b"_Thread_local")
_ASSIGNED = re.compile(rb" ?=[^=]")
_LOOKS = 8
"""Times a name is looked for in the text behind its declaration."""

_MACRO_WORDS = "words in macros"
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Unset:
    """A variable that is read before it has a value."""

    name: str
    """Its name."""
    declared: Node
    """Its name where it is declared."""
    is_pointer: bool
    """Whether it is a pointer; else it is a plain number."""
    read: Mention
    """The first thing that is done to it."""


def declares_unset(node: Node) -> bool:
    """Return whether a declaration declares something without a value that is no array."""
    written = node.text or b""
    if b"=" in written and b"," not in written and b"/" not in written:
        return False
    return any(
        child.type in ("identifier", "pointer_declarator")
        for child in node.children_by_field_name("declarator")
    )


def first_reads(site: Site) -> Sequence[Unset]:
    """Those variables of a declaration that the code behind it reads first of all."""
    if site.function is None:
        return ()
    known = _unset_cache(site.function)
    at = site.node.start_byte
    if at not in known:
        known[at] = list(_first_reads(site, site.function))
    return known[at]


@once_per_function
def _unset_cache(function: Function) -> dict[int, list[Unset]]:  # noqa: ARG001 - the key
    """Return the results for the declarations of a function, shared by two rules."""
    return {}


def _first_reads(site: Site, function: Function) -> Iterator[Unset]:
    node, unit = site.node, site.unit
    if (node.text or b"").startswith(_LASTING):
        return
    words = text(field(node, "type")).split()
    number = bool(words) and SCALARS.issuperset(words)
    data, end = unit.source.data, function.end
    for child in node.children_by_field_name("declarator"):
        name: Node | None = child
        while name is not None and name.type == "pointer_declarator":
            name = field(name, "declarator")
        if name is None or name.type != "identifier" or (name == child and not number):
            continue
        if _set_first(data, name.text or b"", node.end_byte, end):
            continue
        read = mention_behind(unit, site.item, node, text(name))
        if read is not None and _is_read(read, unit) and text(name) not in _macro_words(unit):
            yield Unset(text(name), name, name != child, read)


def _set_first(data: bytes, name: bytes, start: int, end: int) -> bool:
    """Return whether the text that follows a declaration names the variable first where it is given
    a value, or its address is taken: told of nearly all without a look at the tree.
    """
    for _ in range(_LOOKS):
        at = data.find(name, start, end)
        if at < 0:
            return True
        start = at + len(name)
        if not is_word(data, at, start):
            continue
        before = data[at - 2 : at]
        if before.endswith((b"&", b"*")):
            return before.endswith(b"&") and before != b"&&"
        return _ASSIGNED.match(data, start) is not None
    return False


def _is_read(mention: Mention, unit: Unit) -> bool:
    """Return whether a mention needs a value. A function of C reads what it is given; in C++, and
    where nothing declares the function, it may as well set it.
    """
    if mention.does == "pass":
        return unit.language == "c" and mention.by in unit.facts.functions
    return mention.does in _READING


def _macro_words(unit: Unit) -> frozenset[str]:
    """Words in the bodies of the file's macros: such a macro may set a variable unseen."""
    known: frozenset[str] | None = unit.__dict__.get(_MACRO_WORDS)
    if known is None:
        facts = unit.facts
        bodies = [macro.body for macro in facts.function_macros.values()]
        bodies += [body for body in facts.macros.values() if not body.isidentifier()]
        known = frozenset(word for body in bodies for word in _WORD.findall(body))
        unit.__dict__[_MACRO_WORDS] = known
    return known
