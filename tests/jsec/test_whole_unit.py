"""Functions that mention a word: found by a search through the file, not through each of them."""

from __future__ import annotations

from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.headers import facts_of
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.codeintel.top_level_items import items
from jarvis_ls.jsec.base.match_site import Placed, WholeUnit

TEXT = b"""
/* lock before anything */
int first(void) { return lock(); }
int second(void) { return 0; }
#if defined(A)
int third(void) { return unlock() + lock(); }
#endif
int lock_count;
int last(void) { return unlock(); }
/* lock behind everything */
"""


def unit_of(text: bytes) -> WholeUnit:
    root = parse(text, "c").root_node
    found = list(items(root, "c"))
    placed: dict[int, list[Placed]] = {}
    for item in found:
        if item.node.type == "function_definition":
            name = text[item.start : item.end].split(b"(")[0].split()[-1].decode()
            placed[item.start] = [(name, 0, item.end - item.start)]
    return WholeUnit(Unit(Source("a.c", text), "c", facts_of(root, "c")), found, placed)


def named(unit: WholeUnit, *words: bytes) -> list[str]:
    return [function.name for function in unit.mentioning(*words)]


def test_those_that_mention_a_word_are_found_in_order() -> None:
    unit = unit_of(TEXT)
    assert named(unit, b"lock") == ["first", "third", "last"]
    assert named(unit, b"unlock") == ["third", "last"]
    assert named(unit, b"return 0") == ["second"]
    assert named(unit, b"unlock", b"return 0") == ["second", "third", "last"]


def test_words_outside_of_functions_are_of_none() -> None:
    unit = unit_of(TEXT)
    assert named(unit, b"before anything") == []
    assert named(unit, b"behind everything") == []
    assert named(unit, b"lock_count") == []
    assert named(unit, b"nowhere") == []
    assert named(unit_of(b""), b"lock") == []
