"""Which language a file is in, and the grammar of each."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Literal

import tree_sitter

LanguageName = Literal["c", "cpp", "rust"]

_BY_SUFFIX: dict[str, LanguageName] = {
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".c++": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
    ".hxx": "cpp",
    ".h++": "cpp",
    ".inl": "cpp",
    ".ipp": "cpp",
    ".tpp": "cpp",
    ".rs": "rust",
}

SUFFIXES = frozenset(_BY_SUFFIX)

HEADER_ENDS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp")
"""How the names of files end that others include."""

_CPP_LINE = re.compile(
    rb"[ \t]*(?:class[ \t]+\w+|namespace(?:[ \t]+\w+)?[ \t]*\{|template[ \t]*<|using[ \t]+\w"
    rb"|public[ \t]*:|private[ \t]*:|protected[ \t]*:|virtual[ \t])"
)
"""A header with such a line is C++ whatever its suffix says."""
_CPP_WORDS = (
    b"class",
    b"namespace",
    b"template",
    b"using",
    b"public",
    b"private",
    b"protected",
    b"virtual",
)


def options_for(language: LanguageName, options: Iterable[str]) -> list[str]:
    """Return options of a compiler for a file in C or C++ without a standard of the other language,
    which it would refuse."""
    is_cpp = language == "cpp"
    return [
        option for option in options if not option.startswith("-std=") or ("++" in option) is is_cpp
    ]


def language_of(path: str, data: bytes = b"") -> LanguageName | None:
    """Return the language of `path`, or None when we do not read such files.

    `data` is the start of the file; it tells C++ headers named `.h` from C ones.
    """
    suffix = PurePath(path).suffix
    name = _BY_SUFFIX.get(".cpp" if suffix == ".C" else suffix.lower())
    if name == "c" and suffix.lower() == ".h" and _is_cpp(data[:65536]):
        return "cpp"
    return name


def _is_cpp(head: bytes) -> bool:
    """Return whether a line of a header is C++: examined are the lines that hold a word of it."""
    for word in _CPP_WORDS:
        at = head.find(word)
        while at >= 0:
            if _CPP_LINE.match(head, head.rfind(b"\n", 0, at) + 1):
                return True
            at = head.find(word, at + 1)
    return False


@functools.cache
def grammar(name: LanguageName) -> tree_sitter.Language:
    """Return the tree-sitter grammar of a language, loaded on first use."""
    if name == "c":
        import tree_sitter_c

        return tree_sitter.Language(tree_sitter_c.language())
    if name == "cpp":
        import tree_sitter_cpp

        return tree_sitter.Language(tree_sitter_cpp.language())
    import tree_sitter_rust

    return tree_sitter.Language(tree_sitter_rust.language())


@functools.cache
def field_id(language: LanguageName, name: str) -> int:
    """Return the number of a field in a grammar: a child is found by it in a third of the time that
    it takes by the name of its field. Raises `KeyError` when the grammar has no such field.
    """
    number = grammar(language).field_id_for_name(name)
    if number is None:
        raise KeyError(name)
    return number
