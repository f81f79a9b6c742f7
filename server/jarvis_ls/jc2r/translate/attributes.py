"""Attributes that change what a definition does."""

from __future__ import annotations

import math
import re
import sys
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.names import Unsupported

_KNOWN = ("constructor", "destructor", "weak")
_ATTRIBUTE = re.compile(r"__attribute__\(\((\w+)")
_SECTION = re.compile(r'\bsection\("([^"\\]+)"\)')
_WORDS = re.compile(r"__attribute__\(\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\)\)|\[\[[^]]*\]\]")
_USED = re.compile(r"\b(?:used|retain)\b")
_ALIGNED = re.compile(r"\b(?:aligned|_Alignas)\b(?:\(([^()]*(?:\([^()]*\))?[^()]*)\))?")
_PRODUCT = re.compile(r"\(?\d+[uUlL]*(?: \* \d+[uUlL]*)*\)?")
_SHIFTED = re.compile(r"\(?(\d+)[uUlL]* << (\d+)[uUlL]*\)?")
_MOST = 16
"""What `aligned` without a number asks for: the most that a type of the machine needs."""
_ALIAS = re.compile(r'\balias\("(\w+)"\)')
_CLEANUP = re.compile(r"\bcleanup\((\w+)\)")
_REFUSED = ("ifunc", "naked", "alias", "weakref")


def attributes_of(cursor: Any) -> list[str]:
    """Return the attributes of a definition that matter. Raises `Unsupported` for those that are
    not translated, as is `weak` for variables.
    """
    if all(child.kind.name != "UNEXPOSED_ATTR" for child in clang.children(cursor)):
        return []
    words = [word.strip("_") for word in _ATTRIBUTE.findall(clang.printed(cursor))]
    known = _REFUSED if cursor.kind.name == "FUNCTION_DECL" else (*_REFUSED, "weak")
    refused = next((word for word in words if word in known), "")
    if refused:
        raise Unsupported("the attribute {word}", word=refused)
    return [word for word in dict.fromkeys(words) if word in _KNOWN]


def alias_of(cursor: Any) -> str:
    """Return the function for which a declaration is another name; empty when it is none."""
    return _named_in(_ALIAS, cursor)


def label_of(cursor: Any) -> str:
    """Return the name by which the linker knows what is declared; empty when that is its own."""
    if sys.platform == "darwin":  # where labels represent all of a name, and names for less
        return ""
    labels = [
        child.spelling for child in clang.children(cursor) if child.kind.name == "ASM_LABEL_ATTR"
    ]
    return "" if labels in ([], [cursor.spelling]) else labels[0]


def cleanup_of(variable: Any) -> str:
    """Return the function that is called when a variable is left; empty when there is none."""
    return _named_in(_CLEANUP, variable)


def _named_in(attribute: re.Pattern[str], cursor: Any) -> str:
    """Return the name that an attribute holds; empty when a declaration has none such."""
    if all(child.kind.name != "UNEXPOSED_ATTR" for child in clang.children(cursor)):
        return ""
    match = attribute.search(clang.printed(cursor))
    return "" if match is None else match[1]


def is_weak(cursor: Any) -> bool:
    """Return whether a definition gives way to others of its name; C may have one in each file."""
    if all(child.kind.name != "UNEXPOSED_ATTR" for child in clang.children(cursor)):
        return False
    return "weak" in (word.strip("_") for word in _ATTRIBUTE.findall(clang.printed(cursor)))


def section_of(variable: Any) -> str:
    """Return the section of the linker that a variable is in; empty when none is named."""
    return _named_in(_SECTION, variable)


def placement_attributes(cursor: Any) -> list[str]:
    """Attributes of Rust for where the linker puts a definition, and that it is kept where nothing
    names it: tables that files fill in together are made of such."""
    if all(child.kind.name != "UNEXPOSED_ATTR" for child in clang.children(cursor)):
        return []
    written = clang.printed(cursor)
    section = _SECTION.search(written)
    found = [f'#[link_section = "{section[1]}"]'] if section else []
    return (
        ["#[used]", *found]
        if cursor.kind.name == "VAR_DECL" and _USED.search("".join(_WORDS.findall(written)))
        else found
    )


def alignment_of(variable: Any) -> int:
    """To how many bytes a variable is aligned, when its own type asks for less; else 0. Raises
    `Unsupported` when that is not a number."""
    if all(child.kind.name != "ALIGNED_ATTR" for child in clang.children(variable)):
        return 0
    wanted = 0
    for match in _ALIGNED.finditer(clang.printed(variable)):
        wanted = max(wanted, _MOST if match[1] is None else _number(match[1]))
    return wanted if wanted > variable.type.get_align() else 0


def _number(text: str) -> int:
    if shifted := _SHIFTED.fullmatch(text):
        return int(shifted[1]) << int(shifted[2])
    if not _PRODUCT.fullmatch(text):
        raise Unsupported("a computed alignment")
    return math.prod(int(factor.rstrip("uUlL")) for factor in text.strip("()").split(" * "))
