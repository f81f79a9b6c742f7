"""One C file as one Rust module.

Bodies are translated once. What a name stands for in another file is known only when all files
have been read, so names of the project are written as marks and filled in at the end.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.jc2r.baseline import prelude
from jarvis_ls.jc2r.baseline.attributes import attributes_of
from jarvis_ls.jc2r.baseline.body import Body
from jarvis_ls.jc2r.baseline.comments import Comments
from jarvis_ls.jc2r.baseline.externals import Externals
from jarvis_ls.jc2r.baseline.homes import Homes, Offer
from jarvis_ls.jc2r.baseline.kinds import FUNCTIONS, Types, is_const, is_variadic, kind
from jarvis_ls.jc2r.baseline.names import Names, Unsupported, rust_name
from jarvis_ls.jc2r.baseline.remainder import remainder, symbol
from jarvis_ls.jc2r.baseline.statements import thread_local, thread_place

Stays = Callable[[str, str], str]
"""Why a function (file, name) is to stay in C; empty when it is not."""

_LOG = logging.getLogger(__name__)
_MARK = re.compile(r"__jc2r_(name|head)_(\d+)__")


@dataclass
class Crate:
    """What all modules share."""

    types: Types = field(default_factory=Types)
    externals: Externals = field(default_factory=Externals)
    enumerators: dict[str, str] = field(default_factory=dict)
    """Enumeration constants by USR, as Rust constants."""
    names: Names = field(default_factory=Names)
    homes: Homes = field(default_factory=Homes)
    stays: Stays = lambda _file, _name: ""
    """What is to stay in C though it could be translated."""
    variadic: bool = False
    """Whether Rust and the machine let variadic functions be defined."""


@dataclass(frozen=True, slots=True)
class Left:
    """A function or variable that stays in C."""

    name: str
    line: int
    reason: str
    at: int = 0
    """Line of what is not translated; 0 when that is no line of it."""


@dataclass
class Module:
    """A translated file."""

    file: str
    name: str
    items: list[str]
    """Rust items in the order of the C file."""
    functions: list[str]
    """Names of the functions translated."""
    left: list[Left]
    remainder: bytes = b""
    """The C file of what is left; empty when nothing is."""
    headers: tuple[Path, ...] = ()
    """Project files that the C file includes."""
    has_main: bool = False
    main: tuple[int, bool] = (3, True)
    """How many parameters `main` has, and whether it returns something."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Names that the C file's compiler must change."""


@dataclass
class _Item:
    """A definition on its way, with marks in it."""

    cursor: Any
    code: str


class Translator:
    """Translates one unit. Implements `Surroundings` for its bodies."""

    def __init__(self, root: Path, path: str, arguments: list[str], crate: Crate) -> None:
        self.is_program = True
        """Whether a `main` makes it one; not when the program could not be linked."""
        self.name = ""
        """Of the module; given once it is known what the file offers."""
        self.types = crate.types
        self.variadic = crate.variadic
        self._root, self._path, self._arguments = root, path, arguments
        self._crate = crate
        self._own: dict[str, Any] = {}
        """What this module defines, by USR."""
        self._taken: set[str] = set()
        self._left: dict[str, tuple[Any, str]] = {}
        self._lines: dict[str, int] = {}
        """What stays in C and why, by USR."""
        self._unit: Any = None
        self._problems: list[clang.Problem] = []
        self._functions: list[Any] = []
        self._variables: list[Any] = []
        self._items: list[_Item] = []
        self._marks: list[Any] = []
        self._adopted: dict[str, str] = {}
        """Names of functions of system headers that are defined here once more, by USR."""
        self._statics = 0
        self._comments: Comments | None = None

    def read(self) -> None:
        """Parse the file, once. Raises `JarvisError` when that is not possible at all."""
        path = self._root / self._path
        self._unit, self._problems = clang.parse(path, self._arguments, prelude=prelude.TEXT)
        if any("atomic_flag" in one.text for one in self._problems):
            self._unit, self._problems = clang.parse(
                path, self._arguments, prelude=prelude.TEXT + prelude.atomics()
            )
        self._functions, self._variables = self._definitions(self._unit.cursor)

    @property
    def has_main(self) -> bool:
        """Whether the file is a program."""
        return self.is_program and any(one.spelling == "main" for one in self._functions)

    @property
    def own_functions(self) -> list[tuple[str, int]]:
        """Names and lines of the functions that the file itself defines."""
        return [(one.spelling, one.location.line) for one in self._functions if self._is_own(one)]

    @property
    def system_headers(self) -> set[str]:
        """Headers outside of the project that the file includes."""
        names = {one.include.name for one in self._unit.get_includes() if one.include}
        return {name for name in names if not Path(name).is_relative_to(self._root)}

    @property
    def defined(self) -> set[str]:
        """Names that the file defines for others."""
        every = [*self._functions, *self._variables]
        return {one.spelling for one in every if one.linkage.name == "EXTERNAL"}

    def prepare(self) -> None:
        """Translate, but for the names of what other files offer. Raises `JarvisError` when the
        file does not compile, or when all of it is to stay in C."""
        self.types.begin()
        wanted = [self._crate.stays(self._path, name) for name, _ in self.own_functions]
        if wanted and all(wanted):
            raise JarvisError(wanted[0])
        if self._problems:
            first = self._problems[0]
            raise JarvisError(f"{self._relative(first.file)}:{first.line}: {first.text}")
        self._comments = Comments((self._root / self._path).read_bytes())
        for cursor in [*self._variables, *self._functions]:
            self._own[cursor.get_usr()] = cursor
            self._taken.add(rust_name(cursor.spelling))
        for cursor in self._variables:
            self._prepared(cursor, self._variable)
        for cursor in self._functions:
            wanted_in_c = self._wanted_in_c(cursor)
            if wanted_in_c:
                self._left[cursor.get_usr()] = (cursor, wanted_in_c)
            else:
                self._prepared(cursor, self._function)

    def _wanted_in_c(self, cursor: Any) -> str:
        return self._crate.stays(self._path, cursor.spelling) if self._is_own(cursor) else ""

    def _prepared(self, cursor: Any, translate: Callable[[Any], str]) -> None:
        try:
            self._items.append(_Item(cursor, translate(cursor)))
            return
        except Unsupported as error:
            reason, line = str(error), error.line
        except Exception as error:  # noqa: BLE001 - one function stops no other
            _LOG.exception("%s: %s", self._path, cursor.spelling)
            reason = f"the translator does not know this form ({type(error).__name__}: {error})"
            line = 0
        if not self._is_own(cursor):
            raise JarvisError(f"{cursor.spelling} of a header is not translated: {reason}")
        self._left[cursor.get_usr()] = (cursor, reason)
        self._lines[cursor.get_usr()] = line

    def offer(self, *, in_rust: bool) -> None:
        """Say what other files may use; nothing of a program is for others."""
        if self.has_main:
            return
        self.types.begin()
        for cursor in [*self._functions, *self._variables]:
            if cursor.linkage.name == "EXTERNAL":
                self._offer(cursor, in_rust)

    def _offer(self, cursor: Any, in_rust: bool) -> None:
        in_rust = in_rust and cursor.get_usr() not in self._left
        try:
            signature = self._signature(cursor) if in_rust else ""
        except Unsupported:
            signature = ""
        location = cursor.location
        place = f"{location.file.name}:{location.offset}"
        self._crate.homes.add(
            cursor.spelling, Offer(self.name, self._path, place, signature, in_rust)
        )

    def _signature(self, declared: Any) -> str:
        if kind(declared.type) in FUNCTIONS:
            return self.types.function(declared.type)
        return re.sub(r"; \d+\]$", "; 0]", self.types.of(declared.type))

    def translate(self) -> Module:
        """The whole file, once all files are prepared. Raises `JarvisError`."""
        self.types.begin()
        module = Module(self._path, self.name, [], [], [])
        for usr, (cursor, reason) in self._left.items():
            at = self._lines.get(usr, 0)
            module.left.append(Left(cursor.spelling, cursor.location.line, reason, at))
        last = 0
        for item in sorted(self._items, key=lambda one: one.cursor.extent.start.offset):
            cursor = item.cursor
            is_function = cursor.kind.name == "FUNCTION_DECL"
            if not is_function and self._is_defined_elsewhere(cursor):
                continue
            code = _MARK.sub(self._filled, item.code)
            if self._is_own(cursor) and self._comments is not None:
                start = cursor.extent.start.offset
                said = self._comments.before(last, start) if start > last else []
                last = max(last, cursor.extent.end.offset)
                code = "\n".join([*said, code])
            module.items.append(code)
            if is_function:
                module.functions.append(cursor.spelling)
        module.has_main = self.has_main
        for cursor in self._functions:
            if cursor.spelling == "main":
                returns = kind(cursor.result_type) != "VOID"
                module.main = (len(list(cursor.get_arguments())), returns)
        if self._left:
            self._check_shared()
            names = [cursor.spelling for cursor, _ in self._left.values()]
            try:
                module.remainder = remainder(
                    self._root / self._path, self._unit.cursor, self.name, names
                )
            except Unsupported as error:
                raise JarvisError(str(error)) from None
            module.headers = self._headers(self._unit)
            module.renamed = self.renamed
        return module

    def _check_shared(self) -> None:
        """What headers define would be there twice when the file is half in C."""
        for cursor in self._variables:
            if clang.is_thread_local(cursor):
                raise JarvisError(f"{cursor.spelling} is of each thread, which C cannot share")
            if not self._is_own(cursor) and not is_const(cursor.type):
                raise JarvisError(f"{cursor.spelling} of a header would be there twice")
        for cursor in self._functions:
            if not self._is_own(cursor) and cursor.linkage.name == "EXTERNAL":
                raise JarvisError(f"{cursor.spelling} of a header would be there twice")

    @property
    def renamed(self) -> dict[str, str]:
        """Names whose definitions here are known to the linker by another."""
        pairs = ((name, self._linked_as(name)) for name in sorted(self.defined))
        found = {name: linked for name, linked in pairs if linked != name and name != "main"}
        if self.has_main:  # it is begun from Rust all the same
            found["main"] = "main_0"
        return found

    def _linked_as(self, name: str) -> str:
        return self._crate.homes.linked_as(self.name, name)

    def _is_own(self, cursor: Any) -> bool:
        """Whether something stands in the file itself, not in a header."""
        return Path(cursor.location.file.name) == self._root / self._path

    def _relative(self, name: str) -> str:
        path = Path(name)
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else name

    def _headers(self, unit: Any) -> tuple[Path, ...]:
        own = {Path(one.include.name).resolve() for one in unit.get_includes() if one.include}
        return tuple(sorted(path for path in own if path.is_relative_to(self._root)))

    def _definitions(self, top: Any) -> tuple[list[Any], list[Any]]:
        functions: list[Any] = []
        variables: dict[str, Any] = {}
        for cursor in clang.children(top):
            name = cursor.kind.name
            if cursor.location.file is None or (
                clang.in_system_header(cursor)
                and (name != "VAR_DECL" or clang.initializer(cursor) is None)
            ):  # some headers define tables, such as `prioritynames` of syslog.h
                continue
            if name == "FUNCTION_DECL" and cursor.is_definition():
                functions.append(cursor)
            elif name == "VAR_DECL" and clang.is_made_here(cursor):
                usr = cursor.get_usr()
                if usr not in variables or clang.initializer(cursor) is not None or (
                    variables[usr].type.get_size() < 0
                ):  # fmt: skip
                    variables[usr] = cursor
        return functions, list(variables.values())

    # -- items

    def _function(self, cursor: Any) -> str:
        """A function, and what its attributes ask for."""
        own = self._is_own(cursor)
        file = cursor.location.file.name
        body = Body(cursor, self, self._comments if own else None, file)
        code = body.translate()
        name = self.defined_name(cursor)
        for attribute in attributes_of(cursor):
            if attribute in ("constructor", "destructor"):
                section = ".init_array" if attribute == "constructor" else ".fini_array"
                code += (f'\n\n#[used]\n#[link_section = "{section}"]\nstatic {name}_{attribute}: '
                         f'unsafe extern "C" fn() = {name};')  # fmt: skip
        return code

    def _variable(self, cursor: Any) -> str:
        rust = self.types.of(cursor.type)
        if kind(cursor.type) == "INCOMPLETEARRAY":  # `int x[];`, which makes one element
            rust = rust.replace("; 0]", "; 1]")
        value = clang.initializer(cursor)
        body = _Value(cursor, self)
        if value is None:
            code = body.zero(cursor.type) if not rust.endswith("; 1]") else "core::mem::zeroed()"
        else:
            code = body.initial(cursor.type, value)
        name = rust_name(cursor.spelling)
        parts = [f"{one}\n" for one in body.statics]
        if clang.is_thread_local(cursor):
            return "".join([*parts, thread_local(name, rust, code)])
        head = "".join(f"{line}\n" for line in self.exported(cursor))
        return "".join([*parts, f"{head}pub static mut {name}: {rust} = unsafe {{ {code} }};"])

    def static_name(self) -> str:
        """A name for a variable that C gives none."""
        self._statics += 1
        name = f"literal_{self._statics}"
        while name in self._taken:
            self._statics += 1
            name = f"literal_{self._statics}"
        self._taken.add(name)
        return name

    # -- what bodies ask for

    def name_of(self, declared: Any) -> str:
        """How a global variable or a function is named in the module: a mark, filled in later."""
        if declared.kind.name == "VAR_DECL" and clang.is_thread_local(declared):
            usr = declared.get_usr()
            if usr in self._own:
                return thread_place(rust_name(declared.spelling))
            raise Unsupported("a variable of each thread from another file")
        if clang.in_system_header(declared) and declared.linkage.name == "INTERNAL":
            return self._adopt(declared)
        self._marks.append(declared)
        return f"__jc2r_name_{len(self._marks) - 1}__"

    def _adopt(self, declared: Any) -> str:
        """A function that a system header defines for each file."""
        definition = declared.get_definition()
        if definition is None or declared.kind.name != "FUNCTION_DECL":
            raise Unsupported(f"{declared.spelling}, which only a header defines")
        usr = definition.get_usr()
        if usr not in self._adopted:
            self._adopted[usr] = rust_name(definition.spelling)
            self._taken.add(self._adopted[usr])
            try:
                code = Body(definition, self).translate()
            except Unsupported:
                del self._adopted[usr]
                raise
            self._items.append(_Item(definition, code))
        return self._adopted[usr]

    def _filled(self, match: re.Match[str]) -> str:
        declared = self._marks[int(match[2])]
        if match[1] == "head":
            return "\n".join(self._attributes(declared))
        return self._named(declared)

    def _named(self, declared: Any) -> str:
        usr, name = declared.get_usr(), declared.spelling
        externals = self._crate.externals
        if usr in self._left:
            return externals.name(self._symbol_of(declared), declared, self.types)
        own = self._own.get(usr)
        if own is not None:
            if is_variadic(own.type):
                return externals.name(self._symbol_of(own), own, self.types)
            if own.kind.name == "FUNCTION_DECL" or not self._is_defined_elsewhere(own):
                return self.defined_name(own)
        offer = self._crate.homes.nearest(name, self._path)
        if offer is None:
            return externals.name(name, declared, self.types)
        linked = self._crate.homes.linked_as(offer.module, name)
        same = offer.in_rust and offer.signature == self._signature(declared)
        if same and not is_variadic(declared.type):
            return f"{offer.module}::{rust_name(name)}"
        return externals.name(linked, declared, self.types)

    def _symbol_of(self, declared: Any) -> str:
        if declared.linkage.name == "INTERNAL":
            return symbol(self.name, declared.spelling)
        return self._linked_as(declared.spelling)

    def _is_defined_elsewhere(self, cursor: Any) -> bool:
        """Whether a variable of a header is defined by another file that includes it."""
        if self._is_own(cursor) or cursor.linkage.name != "EXTERNAL":
            return False
        location = cursor.location
        place = f"{location.file.name}:{location.offset}"
        home = self._crate.homes.first_of(self.name, cursor.spelling, place)
        return home != self.name

    def external(self, name: str, declared: Any) -> str:
        """How a function of the system is named in the module."""
        return self._crate.externals.name(name, declared, self.types)

    def external_called(self, declared: Any, arguments: list[str], result: Any) -> str:
        """The same for one without a prototype, called with arguments of these types."""
        usr, name = declared.get_usr(), declared.spelling
        if usr in self._own:
            raise Unsupported("a call of a function with another number of arguments")
        back = "" if kind(result) == "VOID" else f" -> {self.types.of(result)}"
        return self._crate.externals.called(name, arguments, back)

    def enumerator(self, declared: Any) -> str:
        """How an enumeration constant is named in the module."""
        usr = declared.get_usr()
        known = self._crate.enumerators
        value = f"= {declared.enum_value};"
        if usr in known and not known[usr].endswith(value):  # another one, of another file
            usr = f"{usr} {declared.enum_value}"
        if usr not in known:
            rust = self.types.of(declared.semantic_parent.enum_type)
            name = self._crate.names.give(declared.spelling)
            known[usr] = f"pub const {name}: {rust} {value}"
        return "types::" + known[usr].split(" ")[2].rstrip(":")

    def exported(self, cursor: Any) -> list[str]:
        """Attributes that give a definition its name for the linker: a mark, filled in later."""
        self._marks.append(cursor)
        return [f"__jc2r_head_{len(self._marks) - 1}__"]

    def _attributes(self, cursor: Any) -> list[str]:
        name = cursor.spelling
        if cursor.linkage.name == "EXTERNAL":
            if name == "main":
                return []
            linked = self._linked_as(name)
            if clang.is_inline(cursor) and not self._is_own(cursor) and linked != name:
                return []
            same = linked == self.defined_name(cursor).removeprefix("r#")
            return ["#[no_mangle]"] if same else [f'#[export_name = "{linked}"]']
        in_system = clang.in_system_header(cursor)
        if (self._left and not in_system) or is_variadic(cursor.type):
            return [f'#[export_name = "{symbol(self.name, name)}"]']
        return []

    def defined_name(self, cursor: Any) -> str:
        """The name of a definition in its own module."""
        return "main_0" if cursor.spelling == "main" else rust_name(cursor.spelling)

    def taken(self) -> set[str]:
        """Names that locals must not have."""
        return self._taken


class _Value(Body):
    """The value of a variable: compound literals in it are variables of their own."""

    def __init__(self, cursor: Any, module: Translator) -> None:
        super().__init__(cursor, module)
        self._home = module
        self.statics: list[str] = []

    def temporary(self, rust: str, value: str) -> str:
        """See `Initials`."""
        name = self._home.static_name()
        self.statics.append(f"static mut {name}: {rust} = unsafe {{ {value} }};")
        return name
