"""Which language a file is in, and the grammar of each."""

from __future__ import annotations

import functools
import re
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

# A header with one of these on a line of its own kind is C++ whatever its suffix says.
_CPP_MARKER = re.compile(
    rb"^[ \t]*(?:class[ \t]+\w+|namespace(?:[ \t]+\w+)?[ \t]*\{|template[ \t]*<|using[ \t]+\w"
    rb"|public[ \t]*:|private[ \t]*:|protected[ \t]*:|virtual[ \t])",
    re.MULTILINE,
)


def language_of(path: str, data: bytes = b"") -> LanguageName | None:
    """The language of `path`, or None when we do not read such files.

    `data` is the start of the file; it tells C++ headers named `.h` from C ones.
    """
    suffix = PurePath(path).suffix
    name = _BY_SUFFIX.get(".cpp" if suffix == ".C" else suffix.lower())
    if name == "c" and suffix.lower() == ".h" and _CPP_MARKER.search(data[:65536]):
        return "cpp"
    return name


@functools.cache
def grammar(name: LanguageName) -> tree_sitter.Language:
    """The tree-sitter grammar of a language, loaded on first use."""
    if name == "c":
        import tree_sitter_c

        return tree_sitter.Language(tree_sitter_c.language())
    if name == "cpp":
        import tree_sitter_cpp

        return tree_sitter.Language(tree_sitter_cpp.language())
    import tree_sitter_rust

    return tree_sitter.Language(tree_sitter_rust.language())
