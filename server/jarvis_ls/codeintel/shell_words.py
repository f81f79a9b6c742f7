"""What a shell makes of single words: their text, where it is known before they run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

import tree_sitter

_PLAIN = frozenset({"word", "number", "file_descriptor", "variable_name", "extglob_pattern"})
_MARKS = re.compile(r"[*?\[\]{}~]")
_SAFE = re.compile(r"[\w./:=@%+,-]+", re.ASCII)
"""What stays one word, the same, where it is without quotes."""
_NUMBERS = re.compile(
    r"\$\(\s*(?:nproc(?: --all)?|getconf _NPROCESSORS_ONLN|id -[ug]|date \+%[sYmdHMSjF])\s*\)"
)
"""Commands whose output is a number, or a date."""
_COUNTS = frozenset({"$?", "$#", "$$", "$!"})


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    value: str | None
    """What the shell makes of it, patterns as written; None where only running it would tell."""
    written: str
    """As it is in the line; with the value where that is a variable's."""
    bare: str
    """With what is quoted left out, so that marks in it are those the shell acts on."""

    @property
    def text(self) -> str:
        """The value, or what is written."""
        return self.written if self.value is None else self.value

    @property
    def file(self) -> str | None:
        """The file it names when a redirection opens it; None when that is not known."""
        return None if self.value is None or _MARKS.search(self.bare) else self.value


def read_word(node: tree_sitter.Node, known: Mapping[str, str]) -> Word:
    """Return the word of a node; `known` are variables that have one value there."""
    value, written = _literal(node, known, quoted=False), text(node)
    if value is not None and "$" in written and any(_name(n) in known for n in walk(node)):
        written = shlex.quote(value)
    return Word(value, written, unquote(node))


def unquote(node: tree_sitter.Node) -> str:
    """Return a word with what is quoted left out, so that marks in it are those the shell acts
    on.
    """
    if node.type in ("raw_string", "string", "ansi_c_string", "translated_string"):
        return "_" if len(text(node)) > 2 else ""
    if node.type == "concatenation":
        return "".join(map(unquote, node.children))
    if node.type in ("simple_expansion", "expansion", "command_substitution"):
        return "_"
    return re.sub(r"\\.", "_", text(node), flags=re.DOTALL)


def walk(root: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return a node and all below it, in order."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(reversed(node.children))
    return found


def text(node: tree_sitter.Node | None) -> str:
    """Return the text of a node; empty for none."""
    return "" if node is None else (node.text or b"").decode("utf-8", "replace")


def _literal(node: tree_sitter.Node, known: Mapping[str, str], *, quoted: bool) -> str | None:
    kind, written = node.type, text(node)
    if kind == "raw_string":
        return written[1:-1]
    if kind == "string":
        return _of_string(node, known)
    if kind == "concatenation":
        parts = [_literal(child, known, quoted=quoted) for child in node.children]
        return None if None in parts else "".join(part for part in parts if part is not None)
    if kind in ("simple_expansion", "expansion"):
        return _of_variable(node, known, quoted=quoted)
    if kind == "command_substitution":
        return "0" if _NUMBERS.fullmatch(written) else None
    if kind in _PLAIN or not node.is_named:
        return None if re.search(r"(?<!\\)[$`]", written) else _unescape(written)
    return written if kind in ("brace_expression", "process_substitution") else None


def _of_string(node: tree_sitter.Node, known: Mapping[str, str]) -> str | None:
    """Return the value of a word in double quotes, whose parts may have gaps of blanks between."""
    found, data = [], node.text or b""
    at = node.start_byte + 1
    for child in node.children:
        if child.type == '"':
            continue
        found.append(data[at - node.start_byte : child.start_byte - node.start_byte].decode())
        if child.type == "string_content":
            found.append(re.sub(r"\\\n|\\([\"\\$`])", r"\1", text(child)))
        elif (value := _literal(child, known, quoted=True)) is not None:
            found.append(value)
        else:
            return None
        at = child.end_byte
    found.append(data[at - node.start_byte : -1].decode())
    return "".join(found)


def _of_variable(node: tree_sitter.Node, known: Mapping[str, str], *, quoted: bool) -> str | None:
    if text(node) in _COUNTS:
        return "0"
    value = known.get(_name(node))
    return value if value is not None and (quoted or _SAFE.fullmatch(value)) else None


def _name(node: tree_sitter.Node) -> str:
    """Return the variable that a plain `$x` or `${x}` represents; empty for anything else."""
    if node.type not in ("simple_expansion", "expansion"):
        return ""
    match = re.fullmatch(r"\$(\w+)|\$\{(\w+)\}", text(node))
    return (match[1] or match[2]) if match else ""


def _unescape(written: str) -> str:
    return re.sub(r"\\\n|\\(.)", lambda match: match[1] or "", written, flags=re.DOTALL)
