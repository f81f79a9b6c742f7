"""Statements, structured where C is."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.baseline.comments import Comments
from jarvis_ls.jc2r.baseline.expressions import Expressions
from jarvis_ls.jc2r.baseline.jumps import Jumps
from jarvis_ls.jc2r.baseline.kinds import (
    FUNCTIONS,
    element_of,
    is_array,
    is_open,
    is_pointer,
    is_record,
    kind,
    plain,
)
from jarvis_ls.jc2r.baseline.loops import for_parts
from jarvis_ls.jc2r.baseline.names import Names, Unsupported
from jarvis_ls.jc2r.baseline.text import literal

CASES = ("CASE_STMT", "DEFAULT_STMT")
_LARGE = 256
"""Arrays of so many bytes that are given no value are left without one."""


@dataclass
class Target:
    """Where `break` and `continue` go."""

    leave: str
    again: str


@dataclass
class Local:
    """A variable of the function as Rust declares it."""

    declared: list[str]
    """What must be there wherever it is used."""
    set: list[str]
    """What is done where it is declared in C."""


class Statements(Expressions):
    """Statements of one function."""

    names: Names
    locals: dict[int, str]
    """Places by the hash of what C declares."""
    sizes: dict[int, list[str]]
    """Dimensions of arrays of variable length."""
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
        """What a function does when its end is reached."""

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
        lines = [*said, *self.before, *lines]
        self.before = outer
        return list(lines)

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
                declared, made = self._hoisted(child)
                head += declared
                lines += made
            else:
                lines += self.statement(child)
            lines += [span.tail for span in reversed(spans) if span.last == place]
        return [*head, *lines]

    def _hoisted(self, cursor: Any) -> tuple[list[str], list[str]]:
        """A declaration that must hold for a whole block, and what is done where it stands."""
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

    def _braced(self, cursor: Any) -> list[str]:
        if cursor.kind.name == "COMPOUND_STMT":
            return self.statements(cursor)
        return self.statement(cursor)

    def asked(self, cursor: Any) -> str:
        """The condition of a loop, with what is needed in front of it each time."""
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

    def local(self, cursor: Any, *, early: bool = False) -> Local:
        """A variable; with `early` it is declared before it is set."""
        storage = cursor.storage_class.name
        if storage == "EXTERN" or kind(cursor.type) in FUNCTIONS:
            return Local([], [])
        if is_open(cursor.type):
            return self._open_array(cursor)
        if is_pointer(cursor.type) and is_open(plain(cursor.type).get_pointee()):
            first = self._dimensions(cursor)
        else:
            first = Local([], [])
        name = self.names.give(cursor.spelling)
        rust = self.types.of(cursor.type)
        value = clang.initializer(cursor)
        if storage == "STATIC":
            return self._static(cursor, name, rust, value)
        if value is None and cursor.type.get_size() >= _LARGE and (
            is_array(cursor.type) or is_record(cursor.type)
        ):  # fmt: skip
            self.locals[cursor.hash] = f"(*{name}.as_mut_ptr())"
            return Local([f"let mut {name}: core::mem::MaybeUninit<{rust}> ="
                          " core::mem::MaybeUninit::uninit();"], [])  # fmt: skip
        if not early and value is not None and not _names_itself(cursor, value):
            code = self.initial(cursor.type, value)  # the name of before is not shadowed yet
            self.locals[cursor.hash] = name
            return Local(first.declared, [*first.set, f"let mut {name}: {rust} = {code};"])
        self.locals[cursor.hash] = name
        declared = f"let mut {name}: {rust} = {self.zero(cursor.type)};"
        if value is None:
            return Local([*first.declared, declared], first.set)
        code = self.initial(cursor.type, value)
        return Local([*first.declared, declared], [*first.set, f"{name} = {code};"])

    def _static(self, cursor: Any, name: str, rust: str, value: Any) -> Local:
        code = self.initial(cursor.type, value) if value is not None else self.zero(cursor.type)
        if clang.is_thread_local(cursor):
            self.locals[cursor.hash] = thread_place(name)
            return Local([thread_local(name, rust, code)], [])
        self.locals[cursor.hash] = name
        return Local([f"static mut {name}: {rust} = unsafe {{ {code} }};"], [])

    def _open_array(self, cursor: Any) -> Local:
        """An array of variable length: memory of its own, and a pointer to its beginning."""
        sizes = self._dimensions(cursor)
        name = self.names.give(cursor.spelling)
        memory = self.names.give(f"{cursor.spelling}_memory")
        element = self.types.of(element_of(cursor.type))
        self.locals[cursor.hash] = name
        count = " * ".join(self.sizes[cursor.hash])
        held = f"core::mem::MaybeUninit<{element}>"
        rust = self.types.of(cursor.type)
        declared = [*sizes.declared, f"let mut {memory}: Vec<{held}> = Vec::new();",
                    f"let mut {name}: {rust} = core::ptr::null_mut();"]  # fmt: skip
        return Local(declared, [
            *sizes.set, f"{memory} = Vec::with_capacity({count});",
            f"{name} = {memory}.as_mut_ptr() as {rust};",
        ])  # fmt: skip

    def _dimensions(self, cursor: Any) -> Local:
        """Variables for the dimensions of an array of variable length, or of a pointer to one."""
        layers = _layers(cursor.type)
        value = clang.initializer(cursor) if cursor.kind.name == "VAR_DECL" else None
        given = [one for one in clang.children(cursor) if one.kind.is_expression()
                 and (value is None or one.hash != value.hash)]  # fmt: skip
        given.reverse()  # libclang goes from the inside out
        needed = [one for one in layers if one != -1]
        all_given = len(given) == len(needed)
        if not all_given and len(given) != needed.count(None):
            raise Unsupported("an array of variable length behind a typedef")
        local = Local([], [])
        sizes: list[str] = []
        for layer in layers:
            if layer == -1:
                sizes.append("0usize")
                continue
            expression = given.pop(0) if all_given or layer is None else None
            if layer is not None:
                sizes.append(f"{layer}usize")
                continue
            name = self.names.give(f"{cursor.spelling}_size")
            local.declared.append(f"let mut {name}: usize = 0;")
            local.set.append(f"{name} = ({self.value(expression)}) as usize;")
            sizes.append(name)
        self.sizes[cursor.hash] = sizes
        return local

    def sizes_of(self, declared: Any) -> list[str]:
        """See `Places`."""
        if declared.hash not in self.sizes:
            raise Unsupported("an array of variable length of unknown size")
        return self.sizes[declared.hash]

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
        lines = [f"if {self.condition(asked)} {{", *self._braced(yes)]
        if no:
            lines += ["} else {", *self._braced(no[0])]
        return [*lines, "}"]

    def label(self) -> int:
        """A number that no other label has."""
        self._numbers += 1
        return self._numbers

    def _on_while_stmt(self, cursor: Any) -> list[str]:
        asked, body = clang.children(cursor)
        n = self.label()
        self.targets.append(Target(f"break 'l{n};", f"continue 'l{n};"))
        test = "loop" if clang.constant(asked) not in (0, None) else f"while {self.asked(asked)}"
        lines = [f"'l{n}: {test} {{", *self._braced(body), "}"]
        self.targets.pop()
        return lines

    def _on_do_stmt(self, cursor: Any) -> list[str]:
        body, asked = clang.children(cursor)
        n = self.label()
        self.targets.append(Target(f"break 'l{n};", f"break 'c{n};"))
        inner = self._braced(body)
        self.targets.pop()
        constant = clang.constant(asked)
        if constant == 0:
            test = [f"break 'l{n};"]
        elif constant is None:
            test = [f"if !({self.asked(asked)}) {{ break 'l{n}; }}"]
        else:
            test = []
        return [f"'l{n}: loop {{", *_continued(inner, n), *test, "}"]

    def _on_for_stmt(self, cursor: Any) -> list[str]:
        first, asked, step, body = for_parts(cursor)
        n = self.label()
        lines = ["{", *(self.statement(first) if first is not None else [])]
        test = f"while {self.asked(asked)}" if asked is not None else "loop"
        self.targets.append(Target(f"break 'l{n};", f"break 'c{n};"))
        inner = self._braced(body)
        self.targets.pop()
        lines += [f"'l{n}: {test} {{", *_continued(inner, n)]
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
            for one in statements:
                if one.kind.name == "DECL_STMT":
                    declared, made = self._hoisted(one)
                    head += declared
                    lines += made
                else:
                    lines += self.statement(one)
            bodies.append(lines)
        self.targets.pop()
        arms, default = [], f"_ => break 's{n},"
        for at, (labels, _) in enumerate(groups):
            patterns = [pattern(one, rust) for one in labels if one is not None]
            if patterns:
                arms.append(f"{' | '.join(patterns)} => break 's{n}k{at},")
            if None in labels:
                default = f"_ => break 's{n}k{at},"
        lines = ["{", *head, f"'s{n}: {{"]
        lines += [f"'s{n}k{at}: {{" for at in reversed(range(len(groups)))]
        lines += [f"match {value} {{", *arms, default, "}"]
        for body in bodies:
            lines += ["}", *body]
        return [*lines, "}", "}"]

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

    def on_asm(self, _cursor: Any) -> list[str]:
        """Assembly is not read."""
        raise Unsupported("inline assembly")

    def _on_asm_stmt(self, cursor: Any) -> list[str]:
        if [one for one in clang.children(cursor) if one.kind.is_expression()]:
            raise Unsupported("inline assembly")
        words = [token.spelling for token in cursor.get_tokens()]
        if '""' in words or not words:  # a barrier for the compiler
            return ["core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);"]
        raise Unsupported("inline assembly")


def thread_local(name: str, rust: str, code: str) -> str:
    """A variable that each thread has for itself."""
    return (f"std::thread_local! {{ pub static {name}: core::cell::UnsafeCell<{rust}> ="
            f" const {{ core::cell::UnsafeCell::new(unsafe {{ {code} }}) }}; }}")  # fmt: skip


def thread_place(name: str) -> str:
    """Such a variable as a place."""
    return f"(*{name}.with(|__one| __one.get()))"


def _continued(inner: list[str], n: int) -> list[str]:
    """The body of a loop whose `continue` goes on to what follows it."""
    wanted = f"break 'c{n};"
    if not any(wanted in line for line in inner):
        return inner
    return [f"'c{n}: {{", *inner, "}"]


def _layers(type_: Any) -> list[int | None]:
    """Dimensions of an array, outermost first: a number, None when it is worked out, -1 when it is
    left out or a pointer stands for it."""
    type_ = plain(type_)
    found: list[int | None] = []
    if type_.kind.name == "POINTER":
        found.append(-1)
        type_ = plain(type_.get_pointee())
    while True:
        name = type_.kind.name
        if name == "CONSTANTARRAY":
            found.append(int(type_.element_count))
        elif name == "VARIABLEARRAY":
            found.append(None)
        elif name == "INCOMPLETEARRAY":
            found.append(-1)
        else:
            return found
        type_ = plain(type_.element_type)


def _names_itself(cursor: Any, value: Any) -> bool:
    """Whether a variable is named in its own initialiser, as in `T *p = malloc(sizeof *p)`."""
    kinds = clang.cindex().CursorKind
    found = clang.descendants(value, frozenset({kinds.DECL_REF_EXPR.value}))
    return any(one.referenced.hash == cursor.hash for one in [*found, value]
               if one.kind.name == "DECL_REF_EXPR")  # fmt: skip


def pattern(labels: list[Any], rust: str) -> str:
    """Case labels as a pattern for a value of a Rust type."""
    numbers = [clang.constant(one) for one in labels]
    if not all(isinstance(number, int) for number in numbers):
        raise Unsupported("a case that is no constant")
    return "..=".join(literal(int(number or 0), rust).strip("()") for number in numbers)
