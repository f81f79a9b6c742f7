"""One file under analysis, and the things in it that checks ask about: calls, functions,
variables. Everything beyond a name is worked out when first asked for.

Checks find here what is asked of calls (`calls`) and of plain nodes (`nodes`) too."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from jarvis_ls.codeintel.calls import arguments_of, name_in
from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.extract import c, rust
from jarvis_ls.codeintel.languages import LanguageName, field_id
from jarvis_ls.codeintel.nodes import field, operator_of, text, use_of, words_in
from jarvis_ls.codeintel.parse import Node, captures, compile_query
from jarvis_ls.codeintel.source import Source
from jarvis_ls.codeintel.top_level_items import Item, dead_range, is_dead_branch
from jarvis_ls.codeintel.variables import Variable

OWN_METHOD = "this->"
"""Stands before the name of a method that is called by its plain name."""

_MAX_CLIMB = 64
_FEW_WORDS = 24
"""So many words are found faster one by one than among all words of a function."""
_FEW_LOOKS = 100
"""Searches through a function from which on all its words are taken down."""
_LONGEST_PREFIX = 3
"""Letters before the name of what a function wraps."""
_KEPT = ("unit", "item", "node", "start", "end", "_of_item")


class Unit:
    """One file under analysis."""

    def __init__(self, source: Source, language: LanguageName, facts: Facts) -> None:
        self.source = source
        """The file's text."""
        self.language = language
        """The language it is parsed as."""
        self.facts = facts
        """Declarations of the file and of the project headers it includes."""
        self._spellings: dict[frozenset[str], frozenset[bytes]] = {}

    def text(self, node: Node) -> str:
        """Return the text of a node, read from the file: in half the time that the node takes to
        tell.
        """
        return self.source.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def spellings(self, names: frozenset[str]) -> frozenset[bytes]:
        """`names` and the macros of the file that represent one of them."""
        known = self._spellings.get(names)
        if known is None:
            found = names.union(*(self._macros_for.get(name, ()) for name in names))
            known = self._spellings[names] = frozenset(name.encode() for name in found)
        return known

    def is_own_method(self, name: str, function: Function) -> bool:
        """Return whether a plain call of `name` in a method may be one of another method: a class
        hides what functions of the same name there are."""
        return self.language == "cpp" and name in self._methods and function.is_method

    @cached_property
    def _methods(self) -> frozenset[str]:
        facts = self.facts
        defined = (name.rpartition("::")[2] for name in facts.functions if "::" in name)
        return frozenset((*facts.fields, *defined))

    @cached_property
    def _macros_for(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        facts = self.facts
        names = [name for name, written in facts.macros.items() if written.isidentifier()]
        for macro in (*names, *facts.function_macros):
            name, _ = facts.alias_of(macro)
            if name != macro:
                found.setdefault(name, []).append(macro)
        return found


@dataclass(slots=True, eq=False)
class Call:
    """A call of a named function."""

    unit: Unit
    item: Item
    node: Node
    """The call expression."""
    name: str
    """Last part of the name of what is called, seen through macros (`system` for `RUN`); in C++ all
    of it when it is qualified by anything but `std` (`fmt::sprintf`)."""
    written: str
    """The callee as written (`RUN`, `std::mem::transmute`, `value.unwrap`)."""
    is_method: bool = False
    """Called on a value (`value.unwrap()`, `p->close()`)."""
    receiver: Node | None = None
    """The value a method is called on."""
    function: Function | None = None
    """The function around it; None at file scope."""
    order: tuple[int, ...] | None = None
    """Where the macro that is called puts its arguments; None when it keeps their order."""
    _arguments: list[Node] | None = None
    _target: Node | None = None
    _knows_target: bool = False

    @property
    def arguments(self) -> list[Node]:
        """Argument expressions in the order of the function, comments left out."""
        if self._arguments is None:  # most calls are recognised by their name alone
            self._arguments = arguments_of(self.node, self.order)
        return self._arguments

    def arg(self, index: int) -> Node | None:
        """Return the argument at `index` (negative from the end), or None."""
        try:
            return self.arguments[index]
        except IndexError:
            return None

    @property
    def statement(self) -> Node | None:
        """The expression statement when the result of the call is dropped, else None."""
        parent = self.node.parent
        return parent if parent is not None and parent.type == "expression_statement" else None

    @property
    def is_wrapped(self) -> bool:
        """Return whether the function around it only gives the callee another name (`Chroot` for
        `chroot`, `xopen` for `open`): what it leaves out its callers may do."""
        if self.function is None:
            return False
        outer = self.function.name.rpartition("::")[2].lower()
        prefix = outer.removesuffix(self.name.lower())
        return len(prefix) < len(outer) and len(prefix.strip("_")) <= _LONGEST_PREFIX

    @property
    def target(self) -> Node | None:
        """The target of the result: a declared name or the left side of `=`; else None."""
        if not self._knows_target:  # many rules ask for it
            self._target, self._knows_target = self._find_target(), True
        return self._target

    def _find_target(self) -> Node | None:
        parent = use_of(self.node)
        if parent is None:
            return None
        if parent.type == "init_declarator":
            node = parent.child_by_field_name("declarator")
            for _ in range(8):
                if node is None or node.type == "identifier":
                    return node
                node = node.child_by_field_name("declarator")
        if parent.type == "assignment_expression" and operator_of(parent) == "=":
            return parent.child_by_field_name("left")
        if parent.type == "let_declaration":
            return parent.child_by_field_name("pattern")
        return None


class Function:
    """A function definition."""

    _looks = 0
    """How often its text was searched for words."""

    def __init__(
        self, unit: Unit, item: Item, node: Node, at_hand: Mapping[str, list[Node]] | None = None
    ) -> None:
        """`at_hand` has the nodes of the whole item that a query of it captured, of all kinds
        that `asked_of_items` names, in order; None when there was no such query."""
        self.unit = unit
        self.item = item
        self.node = node
        """The whole definition."""
        self.start = node.start_byte
        self.end = node.end_byte
        self._of_item = at_hand

    def forget(self) -> None:
        """Drop what was worked out. Much of it refers to the function, and so to the tree."""
        if len(self.__dict__) == len(_KEPT):
            return
        kept = {name: self.__dict__[name] for name in _KEPT}
        self.__dict__.clear()
        self.__dict__.update(kept)

    @cached_property
    def body(self) -> Node | None:
        """The block of the function."""
        return self.node.child_by_field_name("body")

    @cached_property
    def declarator(self) -> Node | None:
        """The C function declarator (name and parameters), or the Rust item itself."""
        if self.unit.language == "rust":
            return self.node
        node = self.node.child_by_field_name("declarator")
        for _ in range(_MAX_CLIMB):
            if node is None or node.type == "function_declarator":
                return node
            node = node.child_by_field_name("declarator") or (
                node.named_children[0] if node.named_child_count else None
            )
        return None

    @cached_property
    def name_node(self) -> Node | None:
        """The name's node."""
        if self.unit.language == "rust":
            return self.node.child_by_field_name("name")
        return field(self.declarator, "declarator")

    @cached_property
    def name(self) -> str:
        """The name, qualified as written (`Foo::bar`); empty when there is none."""
        return text(self.name_node)

    @cached_property
    def is_method(self) -> bool:
        """Defined in a class, or with a qualified name."""
        if "::" in self.name:
            return True
        outer = self.node.parent
        return outer is not None and outer.type == "field_declaration_list"

    @cached_property
    def is_static(self) -> bool:
        """Declared `static` (C) or without `pub` (Rust)."""
        words = [
            text(c)
            for c in self.node.children
            if c.type in ("storage_class_specifier", "visibility_modifier")
        ]
        if self.unit.language == "rust":
            return not words
        return "static" in words

    @property
    def declarations(self) -> list[Node]:
        """Declarations in the function, in order of position."""
        return self.nodes("decl")

    @cached_property
    def variables(self) -> dict[str, list[Variable]]:
        """Parameters and locals by name, in order of declaration."""

        found = rust.variables(self) if self.unit.language == "rust" else c.variables(self)
        by_name: dict[str, list[Variable]] = {}
        for variable in found:
            by_name.setdefault(variable.name, []).append(variable)
        for variables in by_name.values():
            if len(variables) > 1:
                variables.sort(key=_scope_start)
        return by_name

    @property
    def parameters(self) -> list[Variable]:
        """The parameters in order."""
        return [v for vs in self.variables.values() for v in vs if v.is_parameter]

    def variable(self, name: str, at: int) -> Variable | None:
        """Return the variable that `name` means at byte `at`, or None when it is not a local."""
        known = self.variables.get(name)
        if known is None:
            return None
        if len(known) == 1:  # nearly all
            start, end = known[0].scope
            return known[0] if start <= at < end else None
        index = bisect_right(known, at, key=_scope_start)
        for variable in reversed(known[max(0, index - _MAX_CLIMB) : index]):
            if at < variable.scope[1]:
                return variable
        outer = known[0]  # behind many closed scopes: a parameter is what remains
        return outer if outer.scope[0] <= at < outer.scope[1] else None

    @cached_property
    def _nodes(self) -> dict[str, list[Node]]:
        """The cached results of `nodes`."""
        return {}

    @cached_property
    def _captures(self) -> dict[str, Mapping[str, list[Node]]]:
        """The cached captures of queries of the function."""
        return {}

    def _of_kind(self, kind: str) -> list[Node]:
        language = self.unit.language
        if self._of_item is not None and kind in asked_of_items(language):
            every = self._of_item.get(kind, [])
            first = bisect_left(every, self.start, key=_start)
            return every[first : bisect_left(every, self.end, lo=first, key=_start)]
        query = detail_query(language, kind)
        if query not in self._captures:
            found = captures(compile_query(language, query), self.node)
            self._captures[query] = alive(found, dead_ranges(found.get("preproc", ())))
        return self._captures[query].get(kind, [])

    def nodes(self, kind: str) -> list[Node]:
        """Nodes of one kind of the language's detail query, in order of position.

        C kinds: `id, decl, assign, cleared` (an assignment of null or a number), `update, deref,
        index, member, return, call, if, loop, switch, case, ternary, binary, and, or, break,
        continue, goto, label, block, sizeof, cast, preproc, ifdef, function`, and in C++
        `range, try, throw, lambda`. Rust kinds: see
        `extract/rust.py`.
        """
        known = self._nodes.get(kind)
        if known is None:
            known = self._nodes[kind] = self._of_kind(kind)
        return known

    @cached_property
    def _words(self) -> frozenset[bytes]:
        return words_in(self.unit.source.data[self.start : self.end])

    def mentions(self, names: frozenset[str]) -> bool:
        """Return whether one of `names`, or a macro that represents one, is a word in the text. Far
        cheaper than `calls`: what mentions none of them need not be examined."""
        spellings = self.unit.spellings(names)
        if (
            len(spellings) <= _FEW_WORDS
            and "_words" not in self.__dict__
            and self._looks < _FEW_LOOKS
        ):
            self._looks += 1
            find, start, end = self.unit.source.data.find, self.start, self.end
            if all(find(word, start, end) < 0 for word in spellings):
                return False
        return not spellings.isdisjoint(self._words)

    @cached_property
    def _uses(self) -> dict[str, list[Node]]:
        uses: dict[str, list[Node]] = {}
        for node in self.nodes("id"):
            uses.setdefault(self.unit.text(node), []).append(node)
        return uses

    def uses(self, name: str, start: int = 0, end: int | None = None) -> list[Node]:
        """Occurrences of an identifier between two bytes, in order."""
        found = self._uses.get(name, [])
        if start == 0 and end is None:
            return found
        first = bisect_left(found, start, key=lambda n: n.start_byte)
        last = len(found) if end is None else bisect_left(found, end, key=lambda n: n.start_byte)
        return found[first:last]

    @cached_property
    def calls(self) -> list[Call]:
        """Calls in the function, in order, names seen through macros."""
        found = [call_at(self.unit, self.item, node, self) for node in self.nodes("call")]
        return [call for call in found if call is not None]

    @cached_property
    def conditions(self) -> list[Node]:
        """Expressions that decide a branch: of `if`, loops, `?:`, and arguments of asserts."""
        found = []
        for kind in ("if", "loop", "ternary", "switch"):
            for node in self.nodes(kind):
                condition = node.child_by_field_name("condition")
                if condition is not None:
                    found.append(condition)
        for call in self.calls:
            if "assert" in call.name.lower() or call.name.lower() in ("g_return_if_fail", "likely"):
                found.extend(call.arguments)
        found.sort(key=lambda n: n.start_byte)
        return found


def call_at(unit: Unit, item: Item, node: Node, function: Function | None = None) -> Call | None:
    """Return the call a `call_expression` node makes, or None when what is called has no name."""
    callee = node.child_by_field_id(field_id(unit.language, "function"))
    named = None if callee is None else name_in(callee)
    if callee is None or named is None:
        return None
    name_node, receiver = named
    name = "" if name_node is None else unit.text(name_node)
    order = None
    written = name
    if callee.type == "identifier":
        name, order = unit.facts.alias_of(name)
        if function is not None and unit.is_own_method(name, function):
            name = f"{OWN_METHOD}{name}"
    else:
        written = text(callee)
        if callee.type == "qualified_identifier" and not _is_of_library(written):
            name = written  # a namesake of a library function
    return Call(unit, item, node, name, written, receiver is not None, receiver, function, order)


def _is_of_library(written: str) -> bool:
    """Return whether a qualified name of C++ is of the standard library, or of no namespace."""
    return written.lstrip().startswith(("std::", "::"))


def detail_query(language: LanguageName, kind: str) -> str:
    """Return the patterns behind `Function.nodes` of a kind, and of others that are asked for with
    it.
    """

    if language == "rust":
        return rust.DETAIL_QUERY
    if kind == "id":
        return c.NAMES_QUERY
    if kind in c.CHANGES:
        return c.CHANGES_QUERY
    return c.DETAIL_QUERY if language == "c" else c.DETAIL_QUERY_CPP


def asked_of_items(language: LanguageName) -> Mapping[str, str]:
    """Return the patterns, by kind of node, that a query of a whole item is to capture for its
    functions: most functions are asked for some of them.
    """

    return {} if language == "rust" else c.CHANGES


def dead_ranges(directives: Iterable[Node]) -> list[tuple[int, int]]:
    """Return the bytes that those among some directives that are `#if 0` remove."""
    return [dead_range(node) for node in directives if is_dead_branch(node)]


def alive(
    found: Mapping[str, list[Node]], dead: Sequence[tuple[int, int]]
) -> Mapping[str, list[Node]]:
    """Nodes by kind without those that begin in a range of `dead`."""
    if not dead:
        return found
    return {
        kind: [n for n in nodes if not any(a <= n.start_byte < b for a, b in dead)]
        for kind, nodes in found.items()
    }


_start = attrgetter("start_byte")


def _scope_start(variable: Variable) -> int:
    return variable.scope[0]


class FunctionIndex:
    """Functions of one item by position, each made once."""

    def __init__(
        self,
        unit: Unit,
        item: Item,
        nodes: list[Node],
        at_hand: Mapping[str, list[Node]] | None = None,
    ) -> None:
        """`nodes` are the definitions in order of position; they may be nested. `at_hand` as for
        `Function`."""
        self.functions = [Function(unit, item, node, at_hand) for node in nodes]
        self._starts = [function.start for function in self.functions]
        self._around: list[int] = []
        """Index of the function around each function, -1 for none."""
        open_functions: list[int] = []
        for index, function in enumerate(self.functions):
            while open_functions and self.functions[open_functions[-1]].end <= function.start:
                open_functions.pop()
            self._around.append(open_functions[-1] if open_functions else -1)
            open_functions.append(index)

    def at(self, offset: int) -> Function | None:
        """Return the innermost function around a byte offset."""
        index = bisect_right(self._starts, offset) - 1
        while index >= 0:
            if offset < self.functions[index].end:
                return self.functions[index]
            index = self._around[index]
        return None
