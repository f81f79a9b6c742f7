"""The functions of a program, who calls them, and what its variables begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jsec.proof.symbolic import declarations as declared
from jarvis_ls.jsec.proof.symbolic.reader import Reader, Unit, called_signature
from jarvis_ls.jsec.proof.symbolic.syntax import (
    THROW,
    Form,
    Function,
    Node,
    Unsupported,
    Variable,
)

_DEEPEST = 400
_SAME = frozenset({"PAREN_EXPR"})
_Key = tuple[str, str]
"""File and name of a function."""


class Program:
    """What some files define. All of it is read at once, bodies when they are asked for."""

    def __init__(
        self,
        root: Path,
        files: Sequence[str],
        arguments: Sequence[str],
        changed: tuple[str, bytes] | None = None,
    ) -> None:
        """Read the files; `changed` is one of them with a text that stands in for it. Raises
        `Unsupported` when a file does not compile."""
        self._root = root
        self._reader = Reader(root, arguments)
        self._units: dict[str, Unit] = {}
        self._bodies: dict[_Key, Node | Unsupported] = {}
        self._owner: dict[_Key, Unit] = {}
        self._functions: dict[_Key, Function] = {}
        self._exported: dict[str, Function] = {}
        self._calls: dict[_Key, set[_Key]] = {}
        self._taken: set[_Key] = set()
        """Functions whose address is used."""
        self._open: set[_Key] = set()
        """Those of them that code outside of the files may call: their address is handed to a call,
        put where the system sees it, or cast."""
        self._through: dict[str, set[_Key]] = {}
        """Functions that call something by its address, by the type of what they call."""
        self._changing: dict[str, set[_Key]] = {}
        """Variables that something is done with but to read them, and the functions that do it;
        initialisers of other variables are of no function."""
        self._kept: set[str] = set()
        """Variables whose address may be kept somewhere: others change them without their name."""
        self._calls_outside: set[_Key] = set()
        """Functions that call what neither the files nor the system define."""
        self._changers: dict[_Key, Callable[[str], bool]] = {}
        self._initials: dict[str, Any] = {}
        self._needed: set[_Key] = set()
        self._relevant: set[_Key] = set()
        self._is_pointed_to = False
        """Whether a place or a step is in a function, or below one, whose address is taken: then
        any function may come to it."""
        self._is_whole = False
        self._has_other_addresses = False
        """Whether what is called by address may be another function than those whose address is
        used with their own type: one is cast, one of the system is used, or one is looked up."""
        self._system: set[str] = set()
        for file in files:
            text = changed[1] if changed is not None and changed[0] == file else None
            self._add(file, self._reader.read(file, text))
        for unit in self._units.values():
            self._read_uses(unit)
        self._open_unseen()
        self._add_calls_by_address()

    @property
    def begins_before_main(self) -> bool:
        """Return whether code runs before `main`, to initialise variables."""
        return any(unit.is_dynamic for unit in self._units.values())

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files of the project that were read, headers too."""
        return tuple(sorted(self._reader.files))

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the files that it was made of."""
        return tuple(self._units)

    def _add(self, file: str, unit: Unit) -> None:
        self._units[file] = unit
        self._system |= unit.system
        for function in unit.functions.values():
            key = function.file, function.name
            if key in self._functions:
                continue
            self._functions[key] = function
            self._owner[key] = unit
            if not function.static:
                if function.name in self._exported:
                    raise Unsupported("a function that is defined twice")
                self._exported[function.name] = function
        for key_, (_, cursor) in unit.globals.items():
            if key_ not in self._initials or clang.initializer(cursor) is not None:
                self._initials[key_] = cursor

    # -- what `Sources` of `statements` asks for

    def function(self, name: str, file: str) -> Function | None:
        """Return the function of that name that a file sees; None when none is defined."""
        own = self._functions.get((file, name))
        if own is not None:
            return own
        unit = self._units.get(file)
        if unit is not None and name in unit.functions:
            return unit.functions[name]
        if unit is None:  # a header: it may see a function of another one
            found = [item for (_, other), item in self._functions.items() if other == name]
            return found[0] if len(found) == 1 else self._exported.get(name)
        return self._exported.get(name)

    def body(self, function: Function) -> Node:
        """Return the body of a function. Raises `Unsupported`."""
        key = function.file, function.name
        known = self._bodies.get(key)
        if known is None:
            try:
                known = self._reader.body(function, self._owner[key])
            except Unsupported as error:
                known = error
            self._bodies[key] = known
        if isinstance(known, Unsupported):
            raise known
        return known

    def is_needed(self, function: Function) -> bool:
        """Return whether a place lies in a function or in what it calls."""
        return (function.file, function.name) in self._needed

    def is_relevant(self, function: Function) -> bool:
        """Return whether a place, or a step to one, lies in a function or in what it calls."""
        return self._is_pointed_to or (function.file, function.name) in self._relevant

    def changes_by_name(self, function: Function) -> Callable[[str], bool]:
        """Return whether a call of a function may change the variable of a key by its name: it, or
        what it comes to, does something with it but read it. Functions whose address is used may be
        called by whatever is called."""
        key = function.file, function.name
        known = self._changers.get(key)
        if known is None:
            reached = self._reached_from([key, *self._taken])
            outside = not self._is_whole and not self._calls_outside.isdisjoint(reached)
            known = self._changers[key] = lambda name: (
                (outside and ":" not in name)
                or name in self._kept
                or not self._changing.get(name, set()).isdisjoint(reached)
            )
        return known

    def _reached_from(self, waiting: list[_Key]) -> set[_Key]:
        """Return functions, and those that they call, and so on."""
        found: set[_Key] = set()
        while waiting:
            key = waiting.pop()
            if key not in found:
                found.add(key)
                waiting += self._calls.get(key, ())
        return found

    def is_system(self, name: str) -> bool:
        """Return whether a header of the system declares a function."""
        return name in self._system or name == THROW

    def initial_value(self, variable: Variable) -> Node | None:
        """Return the initialiser of a global variable; None without one."""
        cursor = self._initials.get(variable.key)
        return None if cursor is None else self._reader.initial(cursor)

    def is_initial(self, variable: Variable) -> bool:
        """Return whether a global variable surely has the value it begins with: it is constant, or
        nothing changes it in the files that see it."""
        if variable.key not in self._initials or variable.type.form is Form.OTHER:
            return False
        if variable.constant:
            return clang.initializer(self._initials[variable.key]) is not None
        is_seen = ":" in variable.key or self._is_whole
        return is_seen and variable.key not in self._changing

    def local_initial(self, declaration: object) -> Node | None:
        """Return the initialiser of a static local variable."""
        return self._reader.initial(declaration)

    # -- who calls whom

    def at(self, file: str, line: int) -> Function | None:
        """Return the function around a line of a file; None when there is none, or several."""
        found = [
            function
            for (own, _), function in self._functions.items()
            if own == file and function.line <= line <= function.last
        ]
        return found[0] if len(found) == 1 else None

    def need(
        self,
        function: Function,
        steps: Iterable[tuple[str, int, int]],
        *,
        is_whole: bool,
        also: Sequence[_Key] = (),
    ) -> None:
        """Set the function that a place lies in, the statements that lead to it, whether no other
        files belong to the program, and what else must be executed where it is called."""
        self._is_whole = is_whole
        self._needed = self._leading_to([(function.file, function.name), *also])
        around = [self.at(file, first) for file, first, _ in steps]
        found = [(item.file, item.name) for item in around if item is not None]
        self._relevant = self._needed | self._leading_to(found)
        self._is_pointed_to = not self._open.isdisjoint(self._relevant)

    def _leading_to(self, waiting: list[_Key]) -> set[_Key]:
        """Return functions, and those that call them, and so on."""
        found: set[_Key] = set()
        while waiting:
            key = waiting.pop()
            if key not in found:
                found.add(key)
                waiting += [caller for caller, called in self._calls.items() if key in called]
        return found

    def callers(self, function: Function) -> list[Function] | None:
        """Return the functions that call another; None when not all are known: its address is
        used in what others link with, or where code outside of the files sees it. Where it is used
        otherwise, all that call a function of its type by address are callers."""
        key = function.file, function.name
        if key in self._open or (key in self._taken and not self._is_whole):
            return None
        return [
            self._functions[caller]
            for caller, called in self._calls.items()
            if key in called and caller in self._functions
        ]

    def called_through(self, signature: str) -> tuple[list[Function], bool]:
        """Return the functions of a type whose address is used: a call of that type by address may
        come to them. Behind it, whether it can only come to one of them; if not, those that no
        place is in or below are left out."""
        found = [
            self._functions[key]
            for key in sorted(self._taken)
            if self._functions[key].signature == signature
        ]
        if self._is_whole and found and not self._has_other_addresses:
            return found, True
        return [item for item in found if (item.file, item.name) in self._needed], False

    def called_by_address(self, entered: Iterable[_Key]) -> list[str]:
        """Return the names of those of some functions whose address is used."""
        return sorted({name for file, name in entered if (file, name) in self._taken})

    def main(self) -> Function | None:
        """Return where the program begins."""
        return self._exported.get("main")

    def _add_calls_by_address(self) -> None:
        """Count who calls a type of function by address as a caller of each such function; one
        that is called without a prototype somewhere has callers that are not known."""
        if any(signature.endswith("()") for signature in self._through):
            self._open |= self._taken
        for key in self._taken:
            for caller in self._through.get(self._functions[key].signature, ()):
                self._calls[caller].add(key)

    def _read_uses(self, unit: Unit) -> None:
        for name, cursor in unit.bodies.items():
            function = unit.functions[name]
            key = function.file, function.name
            self._calls.setdefault(key, set())
            for use, above in _uses(cursor):
                if use.kind.name == "CALL_EXPR":
                    self._note_call(use, key)
                    continue
                is_default = any(around.kind.name == "PARM_DECL" for around in above)
                self._note_use(use, above, function.file, None if is_default else key)
        for _, cursor in unit.globals.values():
            for use, above in _uses(cursor):
                if use.kind.name == "DECL_REF_EXPR":
                    self._note_use(use, [*above, cursor], self._file(cursor), None)

    def _note_call(self, call: Any, by: _Key) -> None:
        """Note what a function calls: methods and constructors, or something by its address."""
        if declared.is_named(call):
            method = self.function(declared.symbol(call.referenced), by[0])
            if method is not None:
                self._calls[by].add((method.file, method.name))
            elif not clang.in_system_header(call.referenced):
                self._calls_outside.add(by)
            return
        signature = called_signature(call)
        if signature is not None:
            self._through.setdefault(signature, set()).add(by)

    def _open_unseen(self) -> None:
        """Note functions that may be called without their name, and those that have a name which is
        in a template: their callers are not known."""
        names = {name for unit in self._units.values() for name in unit.other_names}
        for key in self._functions:
            plain = key[1].split("(")[0].rsplit("::", 1)[-1]
            if key[1] in self._owner[key].unseen or plain in names:
                self._taken.add(key)
                self._open.add(key)

    def _file(self, cursor: Any) -> str:
        return self._reader.file_of(cursor)

    def _note_use(self, use: Any, above: list[Any], file: str, by: _Key | None) -> None:
        """Note what a name in the function `by`, or outside of functions, is used for."""
        referenced = use.referenced
        if referenced is None:
            return
        if referenced.kind.name in declared.FUNCTIONS:
            name = declared.symbol(referenced)
            function = self.function(name, file)
            if function is None:
                if by is not None and not self.is_system(name):
                    self._calls_outside.add(by)
                if by is None or name in _LOOK_UP or not _is_called(use, above):
                    self._has_other_addresses = True
                return
            key = function.file, function.name
            if by is not None and _is_called(use, above):
                self._calls[by].add(key)
            else:
                self._taken.add(key)
                self._has_other_addresses |= any(a.kind.name == "CSTYLE_CAST_EXPR" for a in above)
                is_plain = referenced.kind.name == "FUNCTION_DECL" and function.static
                if not (is_plain and _stays_inside(use, above)):
                    self._open.add(key)
        elif referenced.kind.name == "VAR_DECL" and not _is_read(use, above):
            changers = self._changing.setdefault(self._reader.variable(referenced).key, set())
            if by is not None:
                changers.add(by)
            if by is None or _may_be_kept(use, above):
                self._kept.add(self._reader.variable(referenced).key)


def _uses(cursor: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Yield all names of functions and variables and all calls below a cursor, with what is around
    them."""
    waiting: list[tuple[Any, list[Any]]] = [(cursor, [])]
    while waiting:
        node, above = waiting.pop()
        if node.kind.name == "DECL_REF_EXPR":
            yield node, above
            continue
        if node.kind.name == "CALL_EXPR" and clang.children(node):
            yield node, above
        if len(above) < _DEEPEST:
            around = [*above[-5:], node]
            waiting += [(child, around) for child in clang.children(node)]


def _is_called(use: Any, above: list[Any]) -> bool:
    """Return whether a name of a function is what a call calls."""
    inner = use
    for around in reversed(above):
        name = around.kind.name
        if name == "CALL_EXPR":
            first = clang.children(around)[0]
            return bool(first == inner)
        if name not in ("UNEXPOSED_EXPR", "PAREN_EXPR"):
            return False
        inner = around
    return False


_LOOK_UP = frozenset({"dlsym", "dlvsym", "GetProcAddress"})
"""Functions that give addresses of functions."""
_KEEPS = frozenset({"UNEXPOSED_EXPR", "PAREN_EXPR", "INIT_LIST_EXPR", "CONDITIONAL_OPERATOR"})


def _stays_inside(use: Any, above: list[Any]) -> bool:
    """Return whether the address of a function is put, or compared with what is, in a variable or
    member that the project declares, without a cast."""
    inner = use
    for around in reversed(above):
        name = around.kind.name
        if name in _KEEPS or (name == "UNARY_OPERATOR" and inner.kind.name == "DECL_REF_EXPR"):
            if name == "INIT_LIST_EXPR" and clang.in_system_header(_declared(around.type)):
                return False
            inner = around
            continue
        if name == "VAR_DECL":
            return not clang.in_system_header(_declared(around.type))
        if name == "BINARY_OPERATOR":
            return _is_of_project(clang.children(around)[0])
        return False
    return False


def _declared(type_: Any) -> Any:
    """Return what declares a type, or the one of an array's elements."""
    found = type_.get_canonical()
    while found.kind.name in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
        found = found.element_type.get_canonical()
    return found.get_declaration()


def _is_of_project(place: Any) -> bool:
    """Return whether a variable or member is declared by the project."""
    while place.kind.name in ("PAREN_EXPR", "ARRAY_SUBSCRIPT_EXPR", "UNEXPOSED_EXPR"):
        place = clang.children(place)[0]
    referenced = place.referenced
    return (
        place.kind.name in ("DECL_REF_EXPR", "MEMBER_REF_EXPR")
        and referenced is not None
        and not clang.in_system_header(referenced)
    )


def _is_read(use: Any, above: list[Any]) -> bool:
    """Return whether a name of a variable only reads it, or one of its elements."""
    node = use
    for around in reversed(above):
        name = around.kind.name
        if name in ("PAREN_EXPR", "MEMBER_REF_EXPR"):
            if name == "MEMBER_REF_EXPR" and node.type.get_canonical().kind.name == "POINTER":
                return True
            node = around
        elif name == "UNEXPOSED_EXPR":
            before = node.type.get_canonical().kind.name
            if before not in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
                return True
            node = around
        elif name == "ARRAY_SUBSCRIPT_EXPR":
            if clang.children(around)[0] != node or not _is_decayed(node):
                return True
            node = around
        elif name == "CALL_EXPR":
            return _only_reads(around, node)
        else:
            return bool(name == "CXX_UNARY_EXPR")
    return False


def _may_be_kept(use: Any, above: list[Any]) -> bool:
    """Return whether the address of a variable may be kept where it is used: all but what writes to
    it directly, and calls of the system whose result is not used, or is no address."""
    node = use
    for number, around in enumerate(reversed(above)):
        name = around.kind.name
        if name == "CALL_EXPR":
            callee = around.referenced
            if callee is None or not clang.in_system_header(callee):
                return True
            outer = above[-number - 2].kind.name if number + 2 <= len(above) else ""
            is_address = around.type.get_canonical().kind.name == "POINTER"
            return is_address and outer != "COMPOUND_STMT"
        is_pointer = node.type.get_canonical().kind.name == "POINTER"
        if name in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR", "ARRAY_SUBSCRIPT_EXPR"):
            if clang.children(around)[0] != node:
                return True
            if not is_pointer and name != "ARRAY_SUBSCRIPT_EXPR":
                return False
        elif name not in ("UNEXPOSED_EXPR", "PAREN_EXPR", "MEMBER_REF_EXPR"):
            return True
        node = around
    return True


_PRINTERS = frozenset("printf fprintf dprintf sprintf snprintf syslog".split())
_CHARACTERS = frozenset({"CHAR_S", "SCHAR", "CHAR_U", "UCHAR", "VOID"})


def _only_reads(call: Any, argument: Any) -> bool:
    """Return whether a function of the system only reads the array that an argument of it is: its
    parameter says so and no address comes back, or it is printed."""
    callee = call.referenced
    if callee is None or callee.kind.name != "FUNCTION_DECL" or not clang.in_system_header(callee):
        return False
    place = clang.children(call).index(argument) - 1
    parameters = list(callee.get_arguments())
    if not 0 <= place < len(parameters):
        pointee = argument.type.get_canonical().get_pointee().get_canonical()
        return callee.spelling in _PRINTERS and pointee.kind.name in _CHARACTERS
    result = callee.result_type.get_canonical()
    pointee = result.get_pointee().get_canonical()
    if result.kind.name == "POINTER" and pointee.kind.name in _CHARACTERS:
        return False
    type_ = parameters[place].type.get_canonical()
    is_pointer = type_.kind.name == "POINTER"
    return is_pointer and bool(type_.get_pointee().get_canonical().is_const_qualified())


def _is_decayed(node: Any) -> bool:
    below = clang.children(node)
    return len(below) == 1 and below[0].type.get_canonical().kind.name in (
        "CONSTANTARRAY",
        "INCOMPLETEARRAY",
    )
