"""Names for the linker, where nothing links to them.

A function or variable of a program is called by that program alone: nothing links to an executable;
and where nothing but programs is made of a project, that is true of all of it. One
keeps its name for the linker where something of the crate knows it by that: a declaration in
`sys.rs`, which other modules use, the C that is left, a test, or assembly; and where the C
library calls it in place of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Source, below, name_of
from jarvis_ls.jc2r.translate.libc_symbols import MEMORY

_WORD = re.compile(rb"\w+")
_NAMED = re.compile(rb'#\[(?:no_mangle|export_name = "(\w+)")\]')
_ITEMS = ("function_item", "static_item")


def exports(
    sources: list[Source], others: Iterable[bytes], excluded: Set[str], *, library: bool
) -> dict[int, bytes]:
    """Return new texts by the index of their file. `others` are texts beside the modules that may
    know names: C and tests; `library` says whether more than programs are made of the project."""
    known = {word for text in others for word in _WORD.findall(text)}
    for source in sources:
        known |= _words_of_macros(source) | _outside_names(source)
    made = {}
    for number, source in enumerate(sources):
        if library and source.path.parent.name != "bin":
            continue
        text = _without_names(source, known, excluded)
        if text != source.data:
            made[number] = text
    return made


def _without_names(source: Source, known: Set[bytes], excluded: Set[str]) -> bytes:
    parts, at = [], 0
    for item in source.root.children:
        if item.type not in _ITEMS or name_of(item) in excluded:
            continue
        attributes = list(_attributes(item))
        if any(b"naked" in source.text(attribute) for attribute in attributes):
            continue  # it is called by its name only
        for attribute in reversed(attributes):
            match = _NAMED.fullmatch(source.text(attribute).strip())
            if match is None:
                continue
            linked = match[1] or name_of(item).removeprefix("r#").encode()
            if linked in known or linked.decode() in MEMORY:
                continue
            parts.append(source.data[at : attribute.start_byte])
            at = attribute.end_byte
    return b"".join([*parts, source.data[at:]])


def _attributes(item: Node) -> Iterator[Node]:
    before = item.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        if before.type == "attribute_item":
            yield before
        before = before.prev_sibling


def _outside_names(source: Source) -> set[bytes]:
    """Return what a file declares to be elsewhere."""
    return {
        name_of(item).encode()
        for block in below(source.root, "foreign_mod_item")
        for item in below(block, "function_signature_item", "static_item")
    }


def _words_of_macros(source: Source) -> set[bytes]:
    """Return the words in assembly."""
    return {
        word
        for macro in below(source.root, "macro_invocation")
        if b"asm!" in source.text(macro)[:40]
        for word in _WORD.findall(source.text(macro))
    }
