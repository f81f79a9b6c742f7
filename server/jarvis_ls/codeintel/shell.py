"""Taking a shell command line apart: what programs it runs, what files it redirects to.

Read with the grammar of bash, so that chains, pipes, substitutions, loops, functions, here
documents and quotes are seen for what they are; only what this reader knows counts as read. What
remains is named as a doubt. A `hidden` one says that no one knows what is run or written (a
program named by a variable, a broken quote); any other, that a program one knows may do more than
its words say (`make -f x`, `tar -I x`, `PATH=. ls`).
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import tree_sitter

from jarvis_ls.codeintel.shell_options import doubtful, has_options_that_do_more
from jarvis_ls.codeintel.shell_words import Word, read_word, text, walk
from jarvis_ls.codeintel.shell_wrappers import WRAPPERS, inner_of_find, wrapped

MAX_DEPTH = 8
"""Levels of `sh -c` looked into."""

_DEEPEST = 150
"""Levels of the syntax tree looked into."""
_ROUNDS = 64
"""How often a body is read at most, once for each value of the variables of its loops."""
_FOLDERS = 16
"""In how many folders a line may be at most, until it is taken to be anywhere."""


class Why(str, Enum):
    """Why a part of a command line is in doubt."""

    SYNTAX = "syntax"
    """It cannot be read."""
    CHARACTER = "character"
    """A control character or another blank than the shell's."""
    PROGRAM = "program"
    """Which program runs is only known at run time."""
    CODE = "code"
    """What a shell is given to run is only known at run time."""
    FILE = "file"
    """Which file a redirection opens is only known at run time."""
    OPTION = "option"
    """A program may run or write more than its words say."""
    VALUE = "value"
    """An argument is only known at run time, and may be an option."""
    MEANING = "meaning"
    """Later words may mean something else."""


_HIDDEN = frozenset({Why.SYNTAX, Why.CHARACTER, Why.PROGRAM, Why.CODE, Why.FILE})


@dataclass(frozen=True, slots=True)
class Doubt:
    """A part of a command line of which is not known what it does."""

    part: str
    """The part, as written."""
    why: Why

    @property
    def hidden(self) -> bool:
        """Return whether it is not even known which program runs, or which file is written."""
        return self.why in _HIDDEN


@dataclass(frozen=True, slots=True)
class Command:
    """One program that would run."""

    words: tuple[str, ...]
    """Program and arguments, quotes removed. Arguments only known at run time are as written."""
    written: str
    """The same as they are in the line, with their quotes."""
    doubts: tuple[Doubt, ...] = ()
    """What more it may run or write."""

    @property
    def opaque(self) -> bool:
        """Return whether more than these words may run."""
        return bool(self.doubts)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What a whole line would do."""

    commands: tuple[Command, ...]
    """Every program, also inside substitutions, loops, functions and `sh -c`."""
    writes: tuple[str, ...]
    """Files that redirections write, from the folder where the line starts."""
    reads: tuple[str, ...]
    """Files that redirections read."""
    doubts: tuple[Doubt, ...]
    """Those that belong to no single command."""

    @property
    def all_doubts(self) -> tuple[Doubt, ...]:
        """Also those of single commands."""
        return (*self.doubts, *(doubt for command in self.commands for doubt in command.doubts))

    @property
    def opaque(self) -> bool:
        """Return whether the line may do more than is listed."""
        return bool(self.all_doubts)

    @property
    def hidden(self) -> Doubt | None:
        """The first part that cannot be read."""
        return next((doubt for doubt in self.all_doubts if doubt.hidden), None)


def take_apart(line: str, depth: int = 0, folders: Iterable[str] = ("",)) -> CommandLine:
    """Analyse what a shell would do with `line`, started in one of `folders`."""
    root = tree(line)
    doubt = _unreadable(root, line)
    if doubt is not None and (closed := _close_heredoc(line)) is not None:
        root, doubt = closed, None
    if doubt is not None or depth >= MAX_DEPTH:
        found = [doubt or Doubt(line, Why.CODE)]
        visible = [Command((word,), word) for word in dict.fromkeys(_visible_programs(root))]
        return CommandLine(tuple(visible), (), (), tuple(found))
    reader = _Reader(root, depth, list(folders))
    reader.visit(root)
    return reader.line()


def tree(text: str) -> tree_sitter.Node:
    """Commands as the grammar of bash has them."""
    return _parser().parse(text.encode("utf-8", "replace")).root_node


_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")


def _unreadable(root: tree_sitter.Node, line: str) -> Doubt | None:
    """Return why a line cannot be read at all; None when it can."""
    if match := _CONTROL.search(line):
        return Doubt(match[0], Why.CHARACTER)
    data, at, deepest = line.encode("utf-8", "replace"), 0, 0
    within = 0  # where the string or here document ends that is being read: its text has no nodes
    stack = [(root, 0)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        if node.is_error or node.is_missing or deepest > _DEEPEST:
            return Doubt(text(node) or text(node.parent), Why.SYNTAX)
        if node.child_count:
            if node.type in ("heredoc_body", "string"):
                within = max(within, node.end_byte)
            stack.extend((child, level + 1) for child in reversed(node.children))
            continue
        gap = data[at : node.start_byte]
        if not _GAP.fullmatch(gap) and (node.start_byte > within or _acts(gap)):
            return Doubt(gap.decode("utf-8", "replace"), Why.SYNTAX)
        at = max(at, node.end_byte)
    if root.has_error or not _GAP.fullmatch(data[at:]):
        return Doubt(data[at:].decode("utf-8", "replace") or line, Why.SYNTAX)
    return None


def _acts(gap: bytes) -> bool:
    """Return whether the shell would act on text that has no nodes."""
    return _RUNS_INSIDE.search(gap.decode("utf-8", "replace")) is not None


_HEREDOC = re.compile(r"<<-?[ \t]*(\\?\w+|'[^'\n]+'|\"[^\"\n]+\")")


def _close_heredoc(line: str) -> tree_sitter.Node | None:
    """Return the tree of a line whose last here document only the end of the line ends."""
    for match in _HEREDOC.finditer(line):
        name = match[1].strip("'\"\\")
        closed = f"{line.removesuffix(chr(10))}\n{name}"
        if name in line[match.end() :].split("\n"):
            continue
        root = tree(closed)
        ends = [node for node in walk(root) if node.type == "heredoc_end"]
        if _unreadable(root, closed) is None and ends and ends[-1].end_byte == root.end_byte:
            return root
    return None


def _visible_programs(root: tree_sitter.Node) -> list[str]:
    return [text(node) for node in walk(root) if node.type == "command_name"]


_THROUGH = frozenset(
    """
    program list negated_command do_group if_statement elif_clause else_clause case_statement
    case_item string concatenation word number string_content simple_expansion variable_name
    special_variable_name brace_expression regex extglob_pattern file_descriptor test_operator
    binary_expression unary_expression ternary_expression postfix_expression
    parenthesized_expression heredoc_content command_name herestring_redirect variable_assignments
    """.split()
)
"""Nodes that do nothing beside what is in them."""
_INERT = frozenset({"comment", "raw_string", "heredoc_start", "heredoc_end"})
_RUNS_INSIDE = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$[({]|[<>]\()")
"""What the shell acts on, and the grammar should have seen."""
_RESERVED = frozenset(
    "if then else elif fi do done while until for case esac select function in { } [[ ]] ! "
    "coproc".split()
)
_PLAIN_EXPANSION = re.compile(r"\$\{(?:#?\w+|\w+(?::?[-+?]|%%?|##?)[^`$\[{]*)\}")
_NUMERIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_BRACES = re.compile(r"\{.*(?:,|\.\.).*\}", re.DOTALL)
_LOADER = re.compile(r"ld-linux.*|ld\.so.*|ld-musl.*")
_HARMLESS = frozenset({"echo", ":", "true", "false"})
"""Programs that do the same harmless thing with any words."""
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
_SET_FLAGS = re.compile(r"[-+](?:[euxvfC]+|[euxvfC]*o)")
_SET_NAMES = frozenset("pipefail errexit nounset xtrace verbose noglob noclobber".split())
_OWN_FILES = re.compile(r"/dev/(?:null|stdin|stdout|stderr|tty|fd/\d+)")
_SETS_VARIABLES = frozenset(
    "read mapfile readarray getopts eval source . let wait unset declare local typeset trap alias "
    "printf export readonly".split()
)
_ENVIRONMENT = {
    name: re.compile(r"[\w.:/+-]*" if value == "text" else r"(?:[a-z_]+=\d+[:,]?)*", re.ASCII)
    for names, value in (
        (
            "LANG LC_ALL LC_CTYPE LC_COLLATE TZ NO_COLOR CI CLICOLOR FORCE_COLOR COLUMNS LINES V "
            "VERBOSE DEBUG RUST_BACKTRACE RUST_LOG RUST_TEST_THREADS CARGO_TERM_COLOR "
            "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED OMP_NUM_THREADS MALLOC_CHECK_ "
            "DEBIAN_FRONTEND GTEST_COLOR NODE_ENV CTEST_OUTPUT_ON_FAILURE",
            "text",
        ),
        ("ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS LSAN_OPTIONS MSAN_OPTIONS", "numbers"),
    )
    for name in names.split()
}
"""Variables that make no program run or write more, with the values they may have for that."""
_OWN_VARIABLE = re.compile(r"(?!\w+_proxy$)[a-z_][a-z0-9_]*|[A-Z]", re.ASCII)
"""Names of variables that are the line's own, and no other program's."""


class _Reader:
    """Reads one line from front to back."""

    def __init__(self, root: tree_sitter.Node, depth: int, folders: list[str]) -> None:
        self._depth = depth
        self._folders = folders
        self._anywhere = False
        self._known: dict[str, str] = {}
        self._commands: list[Command] = []
        self._writes: list[str] = []
        self._reads: list[str] = []
        self._doubts: list[Doubt] = []
        self._repeated = 0
        self._rounds = 1
        nodes = walk(root)
        self._functions = {
            text(n.child_by_field_name("name")) for n in nodes if n.type == "function_definition"
        }
        self._assigned = Counter(
            text(n.child_by_field_name("name" if n.type == "variable_assignment" else "variable"))
            for n in nodes
            if n.type in ("variable_assignment", "for_statement")
        )
        self._tracks = not any(map(_sets_variables, nodes)) and "IFS" not in self._assigned

    def line(self) -> CommandLine:
        """Return what was read."""
        return CommandLine(
            tuple(dict.fromkeys(self._commands)),
            tuple(dict.fromkeys(self._writes)),
            tuple(dict.fromkeys(self._reads)),
            tuple(dict.fromkeys(self._doubts)),
        )

    def visit(self, node: tree_sitter.Node) -> None:
        """Read a node and all that is in it."""
        if not node.is_named or node.type in _INERT:
            return
        reads = getattr(self, f"_visit_{node.type}", None)
        if reads is not None:
            reads(node)
        elif node.type in _THROUGH:
            if not node.child_count and _RUNS_INSIDE.search(text(node)):
                self._doubt(node, Why.SYNTAX)
            self._inside(node)
        else:
            self._doubt(node, Why.SYNTAX)

    def _inside(self, node: tree_sitter.Node) -> None:
        for child in node.named_children:
            self.visit(child)

    def _doubt(self, part: tree_sitter.Node | str, why: Why) -> None:
        written = part if isinstance(part, str) else text(part)
        self._doubts.append(Doubt(written, why))

    # Statements

    def _visit_subshell(self, node: tree_sitter.Node) -> None:
        before = (self._folders, self._anywhere, self._known)
        self._known = dict(self._known)
        self._inside(node)
        self._folders, self._anywhere, self._known = before

    _visit_process_substitution = _visit_subshell

    def _visit_command_substitution(self, node: tree_sitter.Node) -> None:
        if text(node).startswith("`") and "\\" in text(node):
            self._doubt(node, Why.SYNTAX)
        self._visit_subshell(node)

    def _visit_pipeline(self, node: tree_sitter.Node) -> None:
        for child in node.named_children:
            before = (self._folders, self._anywhere)
            self.visit(child)
            self._folders, self._anywhere = before

    def _visit_while_statement(self, node: tree_sitter.Node) -> None:
        self._repeated += 1
        self._inside(node)
        self._repeated -= 1

    _visit_function_definition = _visit_while_statement

    def _visit_c_style_for_statement(self, node: tree_sitter.Node) -> None:
        self._doubt(node, Why.MEANING)
        self._visit_while_statement(node)

    def _visit_compound_statement(self, node: tree_sitter.Node) -> None:
        if text(node).startswith("(("):
            self._doubt(node, Why.MEANING)
        self._inside(node)

    def _visit_for_statement(self, node: tree_sitter.Node) -> None:
        name = text(node.child_by_field_name("variable"))
        if not _OWN_VARIABLE.fullmatch(name):
            self._doubt(name, Why.MEANING)
        values = node.children_by_field_name("value")
        for value in values:
            self.visit(value)
        body = node.child_by_field_name("body")
        if body is None:
            self._doubt(node, Why.SYNTAX)
            return
        words = [read_word(value, self._known).file for value in values]
        rounds = self._rounds
        self._repeated += 1
        if words and None not in words and self._can_track(name, rounds * len(words)):
            self._rounds *= len(words)
            for word in words:
                self._known[name] = word or ""
                self.visit(body)
            del self._known[name]
        else:
            self.visit(body)
        self._rounds = rounds
        self._repeated -= 1

    def _can_track(self, name: str, rounds: int) -> bool:
        """Return whether a variable has only the value it is given here, until the end."""
        own = self._tracks and self._assigned[name] == 1 and _OWN_VARIABLE.fullmatch(name)
        return bool(own) and rounds <= _ROUNDS

    def _visit_test_command(self, node: tree_sitter.Node) -> None:
        double = text(node).startswith("[[")
        for inner in walk(node):
            if _computes(inner, double):
                self._doubt(node, Why.MEANING)
            if inner.type == "binary_expression":
                operator = next((text(c) for c in inner.children if not c.is_named), "")
                right = inner.child_by_field_name("right")
                if operator in ("<", ">") and right is not None:  # for other shells it redirects
                    self._open(operator, read_word(right, self._known))
        self._inside(node)

    # Variables

    def _visit_variable_assignment(self, node: tree_sitter.Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        word = self._assign(node)
        if value is None or word is None or name is None or not _is_first(node):
            return
        if word.value is not None and self._can_track(text(name), 1):
            self._known[text(name)] = word.value

    def _assign(self, node: tree_sitter.Node, *, exported: bool = False) -> Word | None:
        """Read an assignment; return its value when it changes the meaning of nothing."""
        self._inside(node)
        name, value = text(node.child_by_field_name("name")), node.child_by_field_name("value")
        if name in ("CDPATH", "HOME", "OLDPWD", "PWD"):
            self._anywhere = True
        word = Word("", "", "") if value is None else read_word(value, self._known)
        harmless = _ENVIRONMENT.get(name)
        if harmless is not None and word.value is not None and harmless.fullmatch(word.value):
            return word
        if not exported and _OWN_VARIABLE.fullmatch(name) and "+=" not in text(node):
            return None if word.bare.startswith("~") else word
        self._doubt(node, Why.MEANING)
        return None

    def _visit_declaration_command(self, node: tree_sitter.Node) -> None:
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assign(child, exported=True)
            else:
                self.visit(child)
                self._doubt(node, Why.MEANING)

    def _visit_computed(self, node: tree_sitter.Node) -> None:
        """Read what sets variables or works numbers out: bash runs what is in brackets behind
        a name (`a[$(rm x)]`), also when that comes from a variable."""
        self._doubt(node, Why.MEANING)
        self._inside(node)

    _visit_subscript = _visit_array = _visit_arithmetic_expansion = _visit_computed
    _visit_unset_command = _visit_computed

    def _visit_expansion(self, node: tree_sitter.Node) -> None:
        if not _PLAIN_EXPANSION.fullmatch(text(node)):
            self._doubt(node, Why.MEANING)
        self._inside(node)

    def _visit_ansi_c_string(self, node: tree_sitter.Node) -> None:
        """Read nothing: its value is unknown to `read_word`, which says so where it matters."""

    _visit_translated_string = _visit_computed

    # Redirections

    def _visit_redirected_statement(self, node: tree_sitter.Node) -> None:
        body = node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        if body is not None and body.type == "command":
            self._visit_command(body, redirects)
            return
        if body is not None:
            self.visit(body)
        for more in self._redirect_all(redirects):
            self._doubt(more, Why.SYNTAX)

    def _redirect_all(self, nodes: Iterable[tree_sitter.Node]) -> list[tree_sitter.Node]:
        """Read redirections; return the words behind them, which belong to the command."""
        behind: list[tree_sitter.Node] = []
        for node in nodes:
            if node.type == "file_redirect":
                behind.extend(self._redirect(node))
            elif node.type == "heredoc_redirect":
                behind.extend(self._heredoc(node))
            else:
                self.visit(node)
        return behind

    def _visit_file_redirect(self, node: tree_sitter.Node) -> None:
        for more in self._redirect(node):
            self._doubt(more, Why.SYNTAX)

    def _visit_heredoc_redirect(self, node: tree_sitter.Node) -> None:
        for more in self._heredoc(node):
            self._doubt(more, Why.SYNTAX)

    def _redirect(self, node: tree_sitter.Node) -> list[tree_sitter.Node]:
        destinations = node.children_by_field_name("destination")
        operator = next((text(c) for c in node.children if not c.is_named), "")
        for destination in destinations:
            self.visit(destination)
        if operator.endswith("-") or not destinations:
            return destinations
        self._open(operator, read_word(destinations[0], self._known))
        return destinations[1:]

    def _open(self, operator: str, target: Word) -> None:
        file = target.file
        if operator in (">&", "<&") and file is not None and re.fullmatch(r"\d+-?|-", file):
            return
        if file is None or not file or (self._anywhere and not file.startswith("/")):
            self._doubt(target.written, Why.FILE)
        elif not _OWN_FILES.fullmatch(file):
            reads = operator.startswith("<") and operator != "<>"
            (self._reads if reads else self._writes).extend(self._places(file))

    def _places(self, file: str) -> list[str]:
        """Return where a file is, from the folder in which the line started."""
        if file.startswith("/"):
            return [file]
        return [f"{folder}/{file}" if folder else file for folder in self._folders]

    def _heredoc(self, node: tree_sitter.Node) -> list[tree_sitter.Node]:
        start = next((text(c) for c in node.children if c.type == "heredoc_start"), "")
        end = next((text(c) for c in node.children if c.type == "heredoc_end"), "")
        body = next((c for c in node.children if c.type == "heredoc_body"), None)
        match = re.fullmatch(r"\\?(\w+)|'([^'\n\\]+)'|\"([^\"\n\\$`]+)\"", start)
        name = match[match.lastindex or 0] if match else ""
        lines = [line.lstrip("\t") for line in text(body).split("\n")]
        if not match or end.strip() != name or name in lines:
            self._doubt(start, Why.SYNTAX)
        elif body is not None and not start.startswith(("'", '"', "\\")):
            if "`" in text(body) or (not body.child_count and _RUNS_INSIDE.search(text(body))):
                self._doubt(body, Why.SYNTAX)
            self._inside(body)
        others = [c for c in node.named_children if c.type not in ("heredoc_body", *_INERT)]
        arguments = [c for c in others if c in node.children_by_field_name("argument")]
        for other in arguments:
            self.visit(other)
        return arguments + self._redirect_all(c for c in others if c not in arguments)

    # Commands

    def _visit_command(
        self, node: tree_sitter.Node, redirects: Sequence[tree_sitter.Node] = ()
    ) -> None:
        place = len(self._commands)
        name = node.child_by_field_name("name")
        arguments = node.children_by_field_name("argument")
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assign(child, exported=True)
            elif child not in arguments and child != name:
                arguments.extend(self._redirect_all([child]))
            else:
                self.visit(child)
        arguments.sort(key=lambda argument: argument.start_byte)
        arguments.extend(self._redirect_all(redirects))
        if name is not None and name.named_child_count:
            words = [read_word(part, self._known) for part in (name.named_children[0], *arguments)]
            self._run(words, place)

    def _run(self, words: list[Word], place: int, *, more: bool = False) -> None:
        """Read a command, to be listed at a place; `more` words may follow that no one sees."""
        program = words[0]
        if program.file is None and not program.bare.startswith("~"):
            self._record(words, [Doubt(program.written, Why.PROGRAM)], place)
            return
        named = program.text
        if not named or program.bare in _RESERVED:
            self._record(words, [Doubt(program.written or "''", Why.SYNTAX)], place)
            return
        doubts = [Doubt(named, Why.MEANING)] if named in self._functions else []
        if more and named not in _HARMLESS:
            doubts.append(Doubt(program.written, Why.VALUE))
        base = named.rpartition("/")[2]
        if named == "set" and _sets_flags(words[1:]):
            return
        if named in ("cd", "pushd", "popd"):
            self._change_folder(words)
        elif named in ("eval", "trap"):
            doubts += self._script(words[1:2] if named == "trap" else words[1:])
            doubts.append(Doubt(named, Why.OPTION))
        elif base in _SHELLS:
            doubts += self._shell(words)
        elif base in WRAPPERS:
            doubts += self._wrapper(base, words)
        elif base == "find":
            for start, end in inner_of_find([word.text for word in words]):
                self._run(words[start:end], len(self._commands))
        self._record(words, doubts + self._own_doubts(named, words[1:]), place)

    def _record(self, words: Sequence[Word], doubts: Sequence[Doubt], place: int) -> None:
        self._commands.insert(
            place,
            Command(
                tuple(word.text for word in words),
                " ".join(word.written for word in words),
                tuple(dict.fromkeys(doubts)),
            ),
        )

    def _own_doubts(self, program: str, arguments: Sequence[Word]) -> list[Doubt]:
        base = program.rpartition("/")[2]
        if program in _HARMLESS or base in WRAPPERS or program in ("eval", "trap"):
            return []
        found = [
            Doubt(word.written, Why.VALUE)
            for word in arguments
            if word.value is None or _may_be_option(program, word.bare)
        ]
        if _LOADER.fullmatch(base):
            found.append(Doubt(program, Why.OPTION))
        options = doubtful(program, [word.text for word in arguments])
        found += [Doubt(option or program, Why.OPTION) for option in options]
        return found

    def _change_folder(self, words: Sequence[Word]) -> None:
        target = words[1].file if len(words) == 2 and words[0].text == "cd" else None
        within = self._repeated and target is not None and not target.startswith("/")
        if not target or target.startswith("-") or within or len(self._folders) > _FOLDERS:
            self._anywhere = True
        else:
            self._folders = list(dict.fromkeys([*self._folders, *self._places(target)]))

    def _shell(self, words: Sequence[Word]) -> list[Doubt]:
        for place, word in enumerate(words[1:], 2):
            if re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", word.text):
                rest = [w for w in words[place:] if not w.text.startswith(("-", "+"))]
                return self._script(rest[:1])
        return []

    def _script(self, words: Sequence[Word]) -> list[Doubt]:
        """Read what a shell is given to run."""
        unknown = [word for word in words if word.value is None]
        if unknown:
            return [Doubt(unknown[0].written, Why.CODE)]
        script = " ".join(word.text for word in words)
        inner = take_apart(script, self._depth + 1, self._folders)
        self._commands.extend(inner.commands)
        self._writes.extend(inner.writes)
        self._reads.extend(inner.reads)
        self._doubts.extend(inner.doubts)
        if self._anywhere and any(not f.startswith("/") for f in (*inner.writes, *inner.reads)):
            self._doubt(script, Why.FILE)
        return []

    def _wrapper(self, name: str, words: list[Word]) -> list[Doubt]:
        """Read the command behind `env`, `timeout 5` and the like."""
        rest = wrapped(name, [word.text for word in words[1:]])
        if rest is None:
            return [Doubt(words[0].written, Why.OPTION)]
        found: list[Doubt] = []
        inner = words[1 + rest.start :]
        for text_ in rest.assignments:
            key, _, value = text_.partition("=")
            if key not in _ENVIRONMENT or not _ENVIRONMENT[key].fullmatch(value):
                found.append(Doubt(text_, Why.MEANING))
        if rest.more:
            found.append(Doubt(words[0].written, Why.OPTION))
        if any(word.value is None for word in words[1 : 1 + rest.start]):
            found.append(Doubt(words[0].written, Why.VALUE))
        if inner:
            self._run(inner, len(self._commands), more=rest.appends)
        return found


def _sets_variables(node: tree_sitter.Node) -> bool:
    """Return whether a node may set variables in other ways than a plain assignment."""
    if node.type == "command_name":
        return text(node) in _SETS_VARIABLES or text(node) in ("command", "builtin")
    if node.type in ("declaration_command", "unset_command", "c_style_for_statement", "subscript"):
        return True
    if node.type in ("arithmetic_expansion", "expansion"):
        return "=" in text(node)
    return node.type == "compound_statement" and text(node).startswith("((")


def _is_first(node: tree_sitter.Node) -> bool:
    """Return whether a statement always runs, before all that is written behind it."""
    parent = node.parent
    while parent is not None and parent.type in ("list", "variable_assignments"):
        if parent.children[0] != node:
            return False
        node, parent = parent, parent.parent
    return parent is not None and parent.type == "program"


def _sets_flags(words: Sequence[Word]) -> bool:
    """Return whether `set` only makes the shell stricter, or show what it does."""
    rest = [word.text for word in words]
    while rest:
        flags = rest.pop(0)
        if not _SET_FLAGS.fullmatch(flags):
            return False
        if flags.endswith("o") and (not rest or rest.pop(0) not in _SET_NAMES):
            return False
    return bool(words)


def _computes(node: tree_sitter.Node, double: bool) -> bool:
    """Return whether a part of a test may run what its operands say."""
    if node.type == "unary_expression":
        return any(text(child) in ("-v", "-R") for child in node.children)
    if node.type == "binary_expression" and double:
        operator = text(node.child_by_field_name("operator"))
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        return operator in _NUMERIC and not all(
            re.fullmatch(r"-?\d+|\$[?#]", text(side)) for side in sides
        )
    return False


def _may_be_option(program: str, bare: str) -> bool:
    """Return whether the shell may make options of an argument: by braces, or because a file that a
    pattern matches has the name of one."""
    if re.match(r"-[^{]*\{|\{", bare) and _BRACES.search(bare):
        return True
    return has_options_that_do_more(program) and bool(
        re.match(r"[*?\[]|-.*[*?\[]", bare) or _BRACES.search(bare)
    )


@functools.cache
def _parser() -> tree_sitter.Parser:
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
