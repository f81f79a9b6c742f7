"""Statements, structured where C is."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.ast import converted_from
from jarvis_ls.jc2r.translate.c_types import kind
from jarvis_ls.jc2r.translate.comments import Comments
from jarvis_ls.jc2r.translate.inline_assembly import REFUSED, Assembly
from jarvis_ls.jc2r.translate.loops import for_parts
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.rust_text import literal
from jarvis_ls.jc2r.translate.structured_goto import Jumps

CASES = ("CASE_STMT", "DEFAULT_STMT")
_BARRIER = re.compile(
    r'\s*(?:do\s*\{\s*)?(?:__)?asm(?:__)?\s*(?:(?:__)?volatile(?:__)?\s*)?\(\s*""\s*(?::[^=&;]*)?\)'
    r"\s*;?\s*(?:\}\s*while\s*\(\s*0\s*\)\s*;?)?\s*"
)
"""Assembly without any, which sets nothing."""


@dataclass
class Target:
    """Where `break` and `continue` go."""

    leave: str
    again: str


class Statements(Assembly):
    """Statements of one function."""

    targets: list[Target]
    before: list[str]
    """Lines a statement needs in front of it."""
    jumps: Jumps
    comments: Comments | None
    result: Any
    """The type the function returns."""
    file: str
    _numbers = 0
    _seen = 0
    """How far into the file comments have been carried over."""

    @abstractmethod
    def end(self) -> str:
        """Return what a function does when its end is reached."""

    def statement(self, cursor: Any) -> list[str]:
        """See `Initials`."""
        outer, self.before = self.before, []
        said = self._comments_before(cursor)
        name = cursor.kind.name
        method = getattr(self, f"_on_{name.lower()}", None)
        try:
            if method is not None:
                lines = method(cursor)
            elif cursor.kind.is_expression():
                lines = [self.effect(cursor)]
            else:
                raise Unsupported(name.lower().replace("_", " "))
        except Unsupported as error:
            error.line = error.line or cursor.location.line
            raise
        lines = [*said, *self._comments_behind(cursor), *self.before, *lines]
        self.before = outer
        return list(lines)

    def _comments_behind(self, cursor: Any) -> list[str]:
        """Return what is behind a statement on its line, to be above it."""
        end = cursor.extent.end
        if self.comments is None or end.file is None or end.file.name != self.file:
            return []
        if end.offset < self._seen:
            return []
        found, self._seen = self.comments.behind(end.offset)
        return found

    def _comments_before(self, cursor: Any) -> list[str]:
        if self.comments is None:
            return []
        start = cursor.extent.start
        if start.file is None or start.file.name != self.file or start.offset <= self._seen:
            return []
        found = self.comments.between(self._seen, start.offset)
        self._seen = start.offset
        return found

    def begin_comments(self, offset: int) -> None:
        """Comments before an offset are not of this function's body."""
        self._seen = offset

    def rest_of_comments(self, cursor: Any) -> list[str]:
        """Comments behind the last statement of a block."""
        if self.comments is None:
            return []
        end = cursor.extent.end
        if end.file is None or end.file.name != self.file or end.offset <= self._seen:
            return []
        found = self.comments.between(self._seen, end.offset)
        self._seen = end.offset
        return found

    def statements(self, block: Any) -> list[str]:
        """See `Initials`."""
        children = clang.children(block)
        spans = self.jumps.spans.get(block.hash, [])
        if not spans:
            return [line for child in children for line in self.statement(child)]
        head: list[str] = []
        lines: list[str] = []
        for place, child in enumerate(children):
            lines += [span.head for span in spans if span.first == place]
            covered = any(span.first <= place <= span.last for span in spans)
            if covered and child.kind.name == "DECL_STMT":
                declared, made = self._hoist(child)
                head += declared
                lines += made
            else:
                lines += self.statement(child)
            lines += [span.tail for span in reversed(spans) if span.last == place]
        return [*head, *lines]

    def _hoist(self, cursor: Any) -> tuple[list[str], list[str]]:
        """Return a declaration that must hold for a whole block, and what is done where it
        is.
        """
        head: list[str] = []
        lines = self._comments_before(cursor)
        outer, self.before = self.before, []
        for child in clang.children(cursor):
            if child.kind.name == "VAR_DECL":
                local = self.local(child, early=True)
                head += local.declared
                lines += [*self.before, *local.set]
                self.before = []
        self.before = outer
        return head, lines

    def _brace(self, cursor: Any) -> list[str]:
        if cursor.kind.name == "COMPOUND_STMT":
            return self.statements(cursor)
        return self.statement(cursor)

    def loop_condition(self, cursor: Any) -> str:
        """Return the condition of a loop, with what is needed in front of it each time."""
        outer, self.before = self.before, []
        code = self.condition(cursor)
        lines, self.before = self.before, outer
        if lines:
            return "{ " + "\n".join([*lines, code]) + " }"
        return code

    def _on_compound_stmt(self, cursor: Any) -> list[str]:
        return ["{", *self.statements(cursor), "}"]

    def _on_null_stmt(self, _cursor: Any) -> list[str]:
        return []

    def _on_label_stmt(self, cursor: Any) -> list[str]:
        return self.statement(clang.children(cursor)[-1])

    def _on_goto_stmt(self, cursor: Any) -> list[str]:
        return [self.jumps.goto[cursor.hash]]

    def _on_decl_stmt(self, cursor: Any) -> list[str]:
        lines: list[str] = []
        for child in clang.children(cursor):
            if child.kind.name == "VAR_DECL":
                local = self.local(child)
                lines += [*local.declared, *self.before, *local.set]
                self.before = []
        return lines

    def _on_return_stmt(self, cursor: Any) -> list[str]:
        values = clang.children(cursor)
        if not values:
            return [self.end() if kind(self.result) != "VOID" else "return;"]
        if kind(values[0].type) == "VOID":
            return [self.effect(values[0]), "return;"]
        if kind(self.result) == "VOID":  # which C compilers take with a warning
            return [self.effect(values[0]), "return;"]
        code = self.cast(self.value(values[0]), values[0].type, self.result)
        return [f"return {code};"]

    def _on_if_stmt(self, cursor: Any) -> list[str]:
        asked, yes, *no = clang.children(cursor)
        lines = [f"if {self.condition(asked)} {{", *self._brace(yes)]
        if no:
            lines += ["} else {", *self._brace(no[0])]
        return [*lines, "}"]

    def label(self) -> int:
        """Return a number that no other label has."""
        self._numbers += 1
        return self._numbers

    def _on_while_stmt(self, cursor: Any) -> list[str]:
        asked, body = clang.children(cursor)
        n = self.label()
        self.targets.append(Target(f"break 'l{n};", f"continue 'l{n};"))
        test = (
            "loop"
            if clang.constant(asked) not in (0, None)
            else f"while {self.loop_condition(asked)}"
        )
        lines = [f"'l{n}: {test} {{", *self._brace(body), "}"]
        self.targets.pop()
        return lines

    def _on_do_stmt(self, cursor: Any) -> list[str]:
        body, asked = clang.children(cursor)
        n = self.label()
        constant = clang.constant(asked)
        leave = f"break 'l{n};"
        self.targets.append(Target(leave, leave if constant == 0 else f"break 'c{n};"))
        inner = self._brace(body)
        self.targets.pop()
        if constant == 0:
            is_left = any(leave in line for line in inner)
            return [f"'l{n}: {{" if is_left else "{", *inner, "}"]
        if constant is None:
            test = [f"if !({self.loop_condition(asked)}) {{ break 'l{n}; }}"]
        else:
            test = []
        return [f"'l{n}: loop {{", *_continue_body(inner, n), *test, "}"]

    def _on_for_stmt(self, cursor: Any) -> list[str]:
        first, asked, step, body = for_parts(cursor)
        n = self.label()
        lines = ["{", *(self.statement(first) if first is not None else [])]
        test = f"while {self.loop_condition(asked)}" if asked is not None else "loop"
        self.targets.append(Target(f"break 'l{n};", f"break 'c{n};"))
        inner = self._brace(body)
        self.targets.pop()
        lines += [f"'l{n}: {test} {{", *_continue_body(inner, n)]
        if step is not None:
            lines += self.statement(step)
        return [*lines, "}", "}"]

    def _on_break_stmt(self, _cursor: Any) -> list[str]:
        return [self.targets[-1].leave]

    def _on_continue_stmt(self, _cursor: Any) -> list[str]:
        target = next((t for t in reversed(self.targets) if t.again), None)
        if target is None:
            raise Unsupported("continue outside of a loop")
        return [target.again]

    def _on_switch_stmt(self, cursor: Any) -> list[str]:
        asked, block = clang.children(cursor)
        rust = self.types.of(asked.type)
        n = self.label()
        head: list[str] = []
        groups = self._groups(block)
        self.targets.append(Target(f"break 's{n};", ""))
        bodies = []
        value = self.value(asked)
        for _, statements in groups:
            lines: list[str] = []
            for statement in statements:
                if statement.kind.name == "DECL_STMT":
                    declared, made = self._hoist(statement)
                    head += declared
                    lines += made
                else:
                    lines += self.statement(statement)
            bodies.append(lines)
        self.targets.pop()
        nested = _nested_groups([statements for _, statements in groups])
        leave = f"break 's{n};"
        arms: list[str] = []
        default = ["_ => {", *([leave] if nested else []), "}"]
        for at, (labels, _) in enumerate(groups):
            patterns = [self.pattern(label, rust) for label in labels if label is not None]
            code = [f"break 's{n}k{at};"] if at in nested else _arm(bodies[at], leave, nested)
            if None in labels:
                default = ["_ => {", *code, "}"]
            else:
                arms += [f"{' | '.join(patterns)} => {{", *code, "}"]
        lines = [f"'s{n}k{at}: {{" for at in reversed(nested)]
        lines += [f"match {value} {{", *arms, *default, "}"]
        for at in nested:
            lines += ["}", *bodies[at]]
        if any(leave in line for line in lines):
            lines = [f"'s{n}: {{", *lines, "}"]
        return ["{", *head, *lines, "}"] if head else lines

    def _groups(self, block: Any) -> list[tuple[list[Any], list[Any]]]:
        """Labels of a switch with the statements behind them."""
        groups: list[tuple[list[Any], list[Any]]] = []
        before: list[Any] = []
        children = clang.children(block) if block.kind.name == "COMPOUND_STMT" else [block]
        for child in children:
            if child.kind.name in CASES:
                labels: list[Any] = []
                while child.kind.name in CASES:
                    parts = clang.children(child)
                    labels.append(None if child.kind.name == "DEFAULT_STMT" else parts[:-1])
                    child = parts[-1]
                groups.append((labels, [*before, child]))
                before = []
            elif groups:
                groups[-1][1].append(child)
            elif child.kind.name == "DECL_STMT":  # never set, but seen below
                before.append(child)
        return groups

    @abstractmethod
    def assembly_of(self, statement: Any) -> list[str]:
        """Return what a statement of assembly may be written as."""

    def on_asm(self, _cursor: Any) -> list[str]:
        """Assembly is not read."""
        raise Unsupported(REFUSED)

    def pattern(self, labels: list[Any], rust: str) -> str:
        """Case labels as a pattern for a value of a Rust type."""
        return "..=".join(self._label(label, rust) for label in labels)

    def _label(self, label: Any, rust: str) -> str:
        number = clang.constant(label)
        if not isinstance(number, int):
            raise Unsupported("a case label that is not constant")
        written = converted_from(label)
        name = self.named_constant(written)
        if name and self.types.of(written.type) == rust:
            return name
        return literal(number, rust).strip("()")

    def _on_asm_stmt(self, cursor: Any) -> list[str]:
        written = self.assembly_of(cursor)
        barrier = (
            all(map(_BARRIER.fullmatch, written))
            if written
            else not list(cursor.get_tokens())
            and not any(child.kind.is_expression() for child in clang.children(cursor))
        )
        if barrier:  # for the compiler
            return ["core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);"]
        return self.assembly_statement(cursor)


def _nested_groups(groups: list[list[Any]]) -> list[int]:
    """Return which groups of a switch fall into the next one or are fallen into; each of them is a
    block inside of the one before, the others are arms.
    """
    falls = [not (body and _leaves(body[-1])) for body in groups[:-1]]
    return [at for at in range(len(groups)) if any(falls[max(at - 1, 0) : at + 1])]


def _leaves(cursor: Any) -> bool:
    """Return whether what is behind a statement is surely not reached from it."""
    name = cursor.kind.name
    children = clang.children(cursor)
    if name == "COMPOUND_STMT":
        return bool(children) and _leaves(children[-1])
    if name == "IF_STMT":
        return len(children) == 3 and all(_leaves(child) for child in children[1:])
    return name in ("BREAK_STMT", "CONTINUE_STMT", "RETURN_STMT", "GOTO_STMT")


def _arm(body: list[str], leave: str, nested: list[int]) -> list[str]:
    """Return a group as an arm; where blocks follow the `match`, it goes past them."""
    if nested:
        return [*body, leave] if body[-1:] != [leave] else body
    return body[:-1] if body[-1:] == [leave] else body


def _continue_body(inner: list[str], n: int) -> list[str]:
    """Return the body of a loop whose `continue` continues to what follows it."""
    wanted = f"break 'c{n};"
    if not any(wanted in line for line in inner):
        return inner
    return [f"'c{n}: {{", *inner, "}"]
