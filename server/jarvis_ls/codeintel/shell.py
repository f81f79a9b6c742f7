"""Taking a shell command line apart: what programs it runs, what files it redirects to.

Read with the grammar of bash, so that chains, pipes, substitutions, loops, functions, here
documents and quotes are seen for what they are. Whatever cannot be known before it runs (a
program named by a variable, `eval`, a broken quote) makes the line `opaque`: nobody may then
treat it as something they know.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from jarvis_ls.codeintel.shell_options import hides

MAX_DEPTH = 8
"""Levels of `sh -c` looked into."""

_OPAQUE_PROGRAMS = frozenset(
    {"eval", "source", ".", "exec", "builtin", "command", "coproc", "trap", "alias", "enable",
     "xargs", "parallel", "ssh", "watch", "script", "expect", "su", "chroot", "nsenter", "unshare",
     "bwrap", "docker", "podman", "read", "mapfile", "readarray", "getopts", "hash", "set",
     "shopt", "let", "busybox"}
)  # fmt: skip
_TRANSPARENT = {"time": 0, "nohup": 0, "nice": 0, "ionice": 0, "stdbuf": 0, "setsid": 0,
                "timeout": 1, "env": 0, "sudo": 0, "doas": 0}  # fmt: skip
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_WORDS = frozenset({"word", "number", "raw_string", "string", "concatenation"})


@dataclass(frozen=True, slots=True)
class Command:
    """One program that would run."""

    words: tuple[str, ...]
    """Program and arguments, quotes removed. Arguments only known at run time stand as written."""
    opaque: bool
    """Whether more than these words may run."""

    @property
    def text(self) -> str:
        """The words with single blanks between."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What a whole line would do."""

    commands: tuple[Command, ...]
    """Every program, also inside substitutions, loops, functions and `sh -c`."""
    writes: tuple[str, ...]
    """Files that redirections write; `?` when only known at run time."""
    reads: tuple[str, ...]
    """Files that redirections read."""
    opaque: bool
    """Whether the line may do more than is listed."""


def take_apart(line: str, depth: int = 0) -> CommandLine:
    """What `line` would do when a shell ran it."""
    root = _parser().parse(line.encode("utf-8", "replace")).root_node
    opaque = root.has_error or depth >= MAX_DEPTH or _CONTROL.search(line) is not None
    commands: list[Command] = []
    writes: list[str] = []
    reads: list[str] = []
    functions = set()
    for node in _walk(root):
        if node.type == "function_definition":
            functions.add(_text(node.child_by_field_name("name")))
        if node.type == "file_redirect":
            _redirect(node, writes, reads)
        if _changes_what_runs(node):
            opaque = True
        if node.type in ("command", "declaration_command", "unset_command"):
            for command, inner in _command(node, depth):
                commands.append(command)
                if inner is not None:
                    commands.extend(inner.commands)
                    writes.extend(inner.writes)
                    reads.extend(inner.reads)
                    opaque = opaque or inner.opaque
    # A function of the line may have the name of a program one knows.
    commands = [Command(c.words, c.opaque or c.words[0] in functions) for c in commands if c.words]
    opaque = opaque or any(command.opaque for command in commands)
    return CommandLine(tuple(commands), tuple(writes), tuple(reads), opaque)


def _changes_what_runs(node: tree_sitter.Node) -> bool:
    """Whether later words may mean another program (`PATH=.; ls`), or run what is not seen as
    such (here documents whose old-style substitutions the grammar takes for text)."""
    if node.type == "variable_assignment":
        return True
    if node.type == "for_statement":
        return not _text(node.child_by_field_name("variable")).islower()
    if node.type == "heredoc_redirect":
        start = next((_text(c) for c in node.children if c.type == "heredoc_start"), "")
        body = next((_text(c) for c in node.children if c.type == "heredoc_body"), "")
        return not any(quote in start for quote in "'\"\\") and "`" in body
    return False


def _command(node: tree_sitter.Node, depth: int) -> Iterator[tuple[Command, CommandLine | None]]:
    if node.type != "command":
        yield Command((_text(node.children[0]),), True), None
        return
    opaque = any(child.type == "variable_assignment" for child in node.named_children)
    words = []
    name = node.child_by_field_name("name")
    if name is None or not name.named_child_count:
        return
    program = _static(name.named_children[0])
    if not program:
        opaque = True
    words.append(program if program is not None else _text(name))
    for argument in node.children_by_field_name("argument"):
        value = _static(argument)
        opaque = opaque or value is None  # it may turn out to be an option
        words.append(value if value is not None else _text(argument))
    yield from _understood(tuple(words), opaque, depth)


def _understood(
    words: tuple[str, ...], opaque: bool, depth: int
) -> Iterator[tuple[Command, CommandLine | None]]:
    program = words[0].rpartition("/")[2]
    if program in _OPAQUE_PROGRAMS:
        yield Command(words, True), None
        return
    if program in _SHELLS:
        yield Command(words, True), _script_of(words, depth)
        return
    if program in _TRANSPARENT:
        rest = _behind(words[1:], _TRANSPARENT[program])
        yield Command(words, opaque or rest is None or program in ("sudo", "doas")), None
        if rest:
            yield from _understood(rest, opaque, depth)
        return
    yield Command(words, opaque or hides(program, words[1:])), None


def _script_of(words: tuple[str, ...], depth: int) -> CommandLine | None:
    for index, word in enumerate(words[1:-1], 1):
        if word.startswith("-") and word.endswith("c") and not word.startswith("--"):
            return take_apart(words[index + 1], depth + 1)
    return None


def _behind(words: tuple[str, ...], skipped: int) -> tuple[str, ...] | None:
    """The command behind `env`, `timeout 5` and the like; None when options hide it."""
    if words and words[0].startswith("-"):
        return None
    rest = words[skipped:]
    return None if rest and "=" in rest[0] else rest


def _redirect(node: tree_sitter.Node, writes: list[str], reads: list[str]) -> None:
    destination = node.child_by_field_name("destination")
    if destination is None:
        return
    operator = next((_text(c) for c in node.children if not c.is_named), "")
    value = _static(destination)
    if operator in (">&", "<&") and value is not None and (value.isdigit() or value == "-"):
        return
    target = reads if operator.startswith("<") and operator != "<>" else writes
    target.append(value if value is not None else "?")


def _static(node: tree_sitter.Node) -> str | None:
    """The word a shell would make of `node`, or None when it is only known at run time."""
    kind = node.type
    if kind not in _WORDS:
        return None
    written = _text(node)
    if kind == "raw_string":
        return written[1:-1]
    if kind == "concatenation":
        parts = [_static(child) for child in node.children]
        return None if None in parts else "".join(part for part in parts if part is not None)
    if kind == "string":
        if any(c.type not in ("string_content", '"') for c in node.children):
            return None
        inner = written[1:-1]
        return None if "$" in inner or "`" in inner else inner.replace('\\"', '"')
    if any(mark in written for mark in "*?[]{}~$`"):
        return written if "$" not in written and "`" not in written else None
    return written.replace("\\\n", "").replace("\\", "")


def _walk(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _text(node: tree_sitter.Node | None) -> str:
    return "" if node is None else (node.text or b"").decode("utf-8", "replace")


@functools.cache
def _parser() -> tree_sitter.Parser:
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
