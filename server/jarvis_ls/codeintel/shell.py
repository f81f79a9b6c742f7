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

from jarvis_ls.codeintel.shell_options import has_dangerous_options, hides

MAX_DEPTH = 8
"""Levels of `sh -c` looked into."""

_OPAQUE_PROGRAMS = frozenset(
    {
        "eval",
        "source",
        ".",
        "exec",
        "builtin",
        "command",
        "coproc",
        "trap",
        "alias",
        "enable",
        "xargs",
        "parallel",
        "ssh",
        "watch",
        "script",
        "expect",
        "su",
        "chroot",
        "nsenter",
        "unshare",
        "bwrap",
        "docker",
        "podman",
        "read",
        "mapfile",
        "readarray",
        "getopts",
        "hash",
        "set",
        "shopt",
        "let",
        "busybox",
        "toybox",
        "bind",
        "complete",
        "compgen",
        "fc",
        # shells and editors that are not bash, and what runs programs for others or later
        "csh",
        "tcsh",
        "fish",
        "mksh",
        "yash",
        "osh",
        "nu",
        "elvish",
        "pwsh",
        "powershell",
        "cmd",
        "rbash",
        "ed",
        "ex",
        "vi",
        "vim",
        "nvim",
        "view",
        "emacs",
        "nano",
        "gdb",
        "lldb",
        "flock",
        "setarch",
        "taskset",
        "chrt",
        "numactl",
        "prlimit",
        "runuser",
        "runcon",
        "sg",
        "newgrp",
        "pkexec",
        "firejail",
        "rlwrap",
        "entr",
        "sem",
        "at",
        "batch",
        "crontab",
        "tmux",
        "screen",
        "systemd-run",
        "systemctl",
        "dbus-send",
        "gdbus",
        "busctl",
        "xdg-open",
        "open",
        "socat",
        "ncat",
        "nc",
    }
)
_TRANSPARENT = {
    "time": 0,
    "nohup": 0,
    "nice": 0,
    "ionice": 0,
    "stdbuf": 0,
    "setsid": 0,
    "timeout": 1,
    "env": 0,
    "sudo": 0,
    "doas": 0,
    "strace": 0,
    "ltrace": 0,
    "valgrind": 0,
    "fakeroot": 0,
    "eatmydata": 0,
    "unbuffer": 0,
}
_HARMLESS = frozenset({"echo", ":", "true", "false"})
"""Programs that do the same harmless thing with any words."""
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_WORDS = frozenset({"word", "number", "raw_string", "string", "concatenation"})
_COMPUTED = frozenset(
    {"variable_assignment", "subscript", "arithmetic_expansion", "c_style_for_statement"}
)
"""What sets variables, or works numbers out: bash runs what stands in brackets behind a name
(`a[$(rm x)]`), also when that comes from a variable."""
_PLAIN_EXPANSION = re.compile(r"\$\{(?:#?\w+|\w+(?::?[-+?]|%%?|##?)[^`$\[{]*)\}")
_NUMERIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_BRACES = re.compile(r"\{.*(?:,|\.\.).*\}", re.DOTALL)
_LOADER = re.compile(r"ld-linux.*|ld\.so.*|ld-musl.*")


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
    """Analyse what a shell would do with `line`."""
    root = tree(line)
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
    opaque = opaque or "?" in (*writes, *reads) or any(command.opaque for command in commands)
    return CommandLine(tuple(commands), tuple(writes), tuple(reads), opaque)


def tree(text: str) -> tree_sitter.Node:
    """Commands as the grammar of bash has them."""
    return _parser().parse(text.encode("utf-8", "replace")).root_node


def _changes_what_runs(node: tree_sitter.Node) -> bool:
    """Return whether later words may mean another program (`PATH=.; ls`), or run what is not seen
    as such (here documents whose old-style substitutions the grammar takes for text).
    """
    if node.type in _COMPUTED:
        return True
    if node.type == "compound_statement":
        return _text(node).startswith("((")
    if node.type == "expansion":
        return _PLAIN_EXPANSION.fullmatch(_text(node)) is None
    if node.type == "test_command":
        return any(_computes(inner, _text(node).startswith("[[")) for inner in _walk(node))
    if node.type == "for_statement":
        return not _text(node.child_by_field_name("variable")).islower()
    if node.type == "heredoc_redirect":
        start = next((_text(c) for c in node.children if c.type == "heredoc_start"), "")
        body = next((_text(c) for c in node.children if c.type == "heredoc_body"), "")
        return not any(quote in start for quote in "'\"\\") and "`" in body
    return False


def _computes(node: tree_sitter.Node, double: bool) -> bool:
    """Return whether a part of a test may run what its operands say."""
    if node.type == "unary_expression":
        return any(_text(child) in ("-v", "-R") for child in node.children)
    if node.type == "binary_expression" and double:
        operator = _text(node.child_by_field_name("operator"))
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        return operator in _NUMERIC and not all(
            re.fullmatch(r"-?\d+|\$[?#]", _text(side)) for side in sides
        )
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
    if not program or re.search(r"[*?\[{]", _unquote(name.named_children[0])):
        opaque = True
    words.append(program if program is not None else _text(name))
    for argument in node.children_by_field_name("argument"):
        value, bare = _static(argument), _unquote(argument)
        if program not in _HARMLESS:
            opaque = opaque or value is None or _may_be_option(words[0], bare)
        words.append(value if value is not None else _text(argument))
    yield from _understood(tuple(words), opaque, depth)


def _may_be_option(program: str, bare: str) -> bool:
    """Return whether the shell may make options of an argument: by braces, or because a file that a
    pattern matches has the name of one."""
    if re.match(r"-[^{]*\{|\{", bare) and _BRACES.search(bare):
        return True
    return has_dangerous_options(program) and bool(
        re.match(r"[*?\[]|-.*[*?\[]", bare) or _BRACES.search(bare)
    )


def _understood(
    words: tuple[str, ...], opaque: bool, depth: int
) -> Iterator[tuple[Command, CommandLine | None]]:
    program = words[0].rpartition("/")[2]
    if program in _OPAQUE_PROGRAMS or _LOADER.fullmatch(program):
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
    """Return the command behind `env`, `timeout 5` and the like; None when options hide it."""
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
    """Return the word a shell would make of `node`, or None when it is only known at run time."""
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


def _unquote(node: tree_sitter.Node) -> str:
    """Return a word with what is quoted left out, so that marks in it are those the shell acts
    on.
    """
    if node.type == "raw_string" or node.type == "string":
        return "_" if len(_text(node)) > 2 else ""
    if node.type == "concatenation":
        return "".join(map(_unquote, node.children))
    return re.sub(r"\\.", "_", _text(node), flags=re.DOTALL)


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
