"""Macros as expressions and statements: their text with the arguments put in, parsed again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import Node, Tree, parse
from jarvis_ls.jsec.flow.library.c_tables import LIBRARY
from jarvis_ls.jsec.flow.lower.c.literals import LIMITS, with_unit_macro

_WORD: Final = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\s*##\s*|#\s*[A-Za-z_]\w*|[A-Za-z_]\w*"
)
_MAX_TEXT: Final = 2_000
_UNKNOWN_TEXT: Final = "__text_of_a_macro"
"""A name that nothing declares."""
_MAX_NESTING: Final = 6


def with_library_macros(facts: Facts) -> Facts:
    """Return declarations with the macros of libraries whose headers are not seen."""
    macros = {
        name: macro
        for name, macro in LIBRARY.macros.items()
        if name not in facts.functions and name not in facts.macros
    }
    return replace(facts, function_macros={**macros, **facts.function_macros})


class Macros:
    """The macros a file sees."""

    def __init__(self, facts: Facts, language: LanguageName) -> None:
        self.facts = facts
        self.language = language
        self._parsed: dict[str, Node | None] = {}
        self._trees: list[Tree] = []
        self._nesting = 0

    def expression(self, name: str) -> Node | None:
        """Return the expression a macro without parameters represents; `leave` when it is
        lowered.
        """
        body = self.facts.macros.get(name)
        if not body or body == name or len(body) > _MAX_TEXT or self._nesting >= _MAX_NESTING:
            return None
        return self._enter(self._parse(with_unit_macro(body, self.facts.macros)))

    def call(self, name: str, arguments: list[str]) -> Node | None:
        """Return the expression or statement a macro with parameters represents; `leave`
        afterwards.
        """
        macro = self.facts.function_macros.get(name)
        if macro is None or self._nesting >= _MAX_NESTING:
            return None
        places = dict(zip(macro.parameters, arguments, strict=False))
        if macro.parameters[-1:] == ("...",):
            places["__VA_ARGS__"] = ", ".join(arguments[len(macro.parameters) - 1 :])

        def put(match: re.Match[str]) -> str:
            word = match.group()
            if word.strip() == "##":
                return ""
            if word[0] == "#":
                return _quote(places.get(word[1:].strip(), ""), self.facts.macros)
            return places[word] if word in places else LIBRARY.words.get(word, word)

        body = _WORD.sub(put, macro.body)
        return self._enter(self._parse(body)) if len(body) <= _MAX_TEXT else None

    def leave(self) -> None:
        """Leave the text last entered."""
        self._nesting -= 1

    def _enter(self, node: Node | None) -> Node | None:
        if node is not None:
            self._nesting += 1
        return node

    def _parse(self, body: str) -> Node | None:
        if body in self._parsed:
            return self._parsed[body]
        tree, found = _parse(body, self.language)
        self._trees.append(tree)
        self._parsed[body] = found
        return found


def _quote(argument: str, macros: Mapping[str, str]) -> str:
    """Return what `#` makes of an argument. Of a macro it is its text where another macro hands it
    on, which is why most are written: that of a number is put in, any other is not known."""
    argument = argument.strip()
    known = macros.get(argument)
    if known is None and argument in LIMITS:
        known = str(LIMITS[argument][0])
    if known is None:
        quoted = argument.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        return f'"{quoted}"'
    return f'"{known}"' if known.isdigit() else _UNKNOWN_TEXT


@lru_cache(1_000)
def _parse(body: str, language: LanguageName) -> tuple[Tree, Node | None]:
    """Return the tree of a macro's text and what it represents; files of a program share
    headers.
    """
    tree = parse(f"void f(void){{\n{body};\n}}".encode(), language)
    return tree, None if tree.root_node.has_error else _only_statement(tree.root_node)


def _only_statement(root: Node) -> Node | None:
    function = root.named_children[0] if root.named_child_count else None
    block = function.child_by_field_name("body") if function is not None else None
    inside = [c for c in block.named_children if c.type != "comment"] if block is not None else []
    inside = [c for c in inside if c.type != "expression_statement" or c.named_child_count]
    if len(inside) != 1:
        return block if len(inside) > 1 else None
    if inside[0].type == "expression_statement":
        return inside[0].named_children[0]
    return inside[0] if inside[0].type.endswith("statement") else None
