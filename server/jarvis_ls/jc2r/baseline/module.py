"""One C file as one Rust module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.jc2r.baseline.body import Body
from jarvis_ls.jc2r.baseline.kinds import FUNCTIONS, Types, kind
from jarvis_ls.jc2r.baseline.names import Names, Unsupported, rust_name
from jarvis_ls.jc2r.baseline.remainder import remainder, symbol

Stays = Callable[[str, str], str]
"""Why a function (file, name) is to stay in C; empty when it is not."""


@dataclass
class Crate:
    """What all modules share."""

    types: Types = field(default_factory=Types)
    externals: dict[str, str] = field(default_factory=dict)
    """Declarations of what the system or C offers, by name."""
    enumerators: dict[str, str] = field(default_factory=dict)
    """Enumeration constants by USR, as Rust constants."""
    names: Names = field(default_factory=Names)
    homes: dict[str, str] = field(default_factory=dict)
    """Module of each function and variable that other files may use, by name."""
    stays: Stays = lambda _file, _name: ""
    """What is to stay in C though it could be translated."""


@dataclass(frozen=True, slots=True)
class Left:
    """A function or variable that stays in C."""

    name: str
    line: int
    reason: str


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
    main_parameters: int = 0


class Translator:
    """Translates one unit. Implements `Surroundings` for its bodies."""

    def __init__(self, root: Path, path: str, arguments: list[str], crate: Crate) -> None:
        self.name = ""
        """Of the module; given once it is known what the file offers."""
        self.types = crate.types
        self._root, self._path, self._arguments = root, path, arguments
        self._crate = crate
        self._own: dict[str, str] = {}
        """Names by USR of what this module defines."""
        self._taken: set[str] = set()
        self._left: dict[str, Any] = {}
        """Functions that stay in C, by USR."""
        self._why: list[tuple[Any, str]] = []
        self._unit: Any = None
        self._problems: list[clang.Problem] = []
        self._functions: list[Any] = []
        self._variables: list[Any] = []
        self._shared = False
        """Whether C reaches for the statics of this module."""

    def read(self) -> None:
        """Parse the file, once. Raises `JarvisError` when that is not possible at all."""
        self._unit, self._problems = clang.parse(self._root / self._path, self._arguments)
        self._functions, self._variables = self._definitions(self._unit.cursor)

    @property
    def offered(self) -> set[str]:
        """Names of functions and variables that are defined for other files."""
        every = [*self._functions, *self._variables]
        return {one.spelling for one in every if one.linkage.name == "EXTERNAL"}

    @property
    def own_functions(self) -> list[tuple[str, int]]:
        """Names and lines of the functions that the file itself defines."""
        return [(one.spelling, one.location.line) for one in self._functions if self._is_own(one)]

    def prepare(self) -> None:
        """See what of the file can be translated: what cannot is not offered to other modules.
        Raises `JarvisError` when it does not compile, or when all of it is to stay in C."""
        self.types.begin()
        wanted = [self._crate.stays(self._path, name) for name, _ in self.own_functions]
        if wanted and all(wanted):
            raise JarvisError(wanted[0])
        if self._problems:
            first = self._problems[0]
            raise JarvisError(f"{first.file}:{first.line}: {first.text}")
        for cursor in [*self._variables, *self._functions]:
            self._own[cursor.get_usr()] = rust_name(cursor.spelling)
            self._taken.add(rust_name(cursor.spelling))
        self._why = self._cannot(self._functions)
        self._shared = bool(self._why)
        for cursor, _ in self._why:
            self._left[cursor.get_usr()] = cursor
            if self._crate.homes.get(cursor.spelling) == self.name:
                del self._crate.homes[cursor.spelling]

    def translate(self) -> Module:
        """The whole file, once all files are prepared. Raises `JarvisError`."""
        self.types.begin()
        unit, functions, variables = self._unit, self._functions, self._variables
        module = Module(self._path, self.name, [], [], [])
        for cursor, reason in self._why:
            module.left.append(Left(cursor.spelling, cursor.location.line, reason))
        placed = [(one.extent.start.offset, self._variable(one)) for one in variables]
        for cursor in functions:
            if cursor.get_usr() in self._left:
                continue
            placed.append((cursor.extent.start.offset, Body(cursor, self).translate()))
            module.functions.append(cursor.spelling)
            if cursor.spelling == "main":
                module.has_main = True
                module.main_parameters = len(list(cursor.get_arguments()))
        module.items = [code for _, code in sorted(placed, key=lambda one: one[0])]
        if self._why:
            names = [cursor.spelling for cursor, _ in self._why]
            path = self._root / self._path
            try:
                module.remainder = remainder(path, unit.cursor, self.name, names)
            except Unsupported as error:
                raise JarvisError(str(error)) from None
            module.headers = self._headers(unit)
        return module

    def withdraw(self) -> None:
        """Offer nothing to other modules."""
        homes = self._crate.homes
        for name in [name for name, home in homes.items() if home == self.name]:
            del homes[name]

    def _cannot(self, functions: list[Any]) -> list[tuple[Any, str]]:
        """Functions that are not translated, and why."""
        found = []
        for cursor in functions:
            wanted = self._crate.stays(self._path, cursor.spelling) if self._is_own(cursor) else ""
            if wanted:
                found.append((cursor, wanted))
                continue
            try:
                Body(cursor, self).translate()
            except Unsupported as error:
                if cursor.spelling == "main":
                    raise JarvisError(f"main is not translated: {error}") from None
                if not self._is_own(cursor):
                    raise JarvisError(
                        f"{cursor.spelling} of a header is not translated: {error}"
                    ) from None
                found.append((cursor, str(error)))
        return found

    def _is_own(self, cursor: Any) -> bool:
        """Whether something stands in the file itself, not in a header."""
        return Path(cursor.location.file.name) == self._root / self._path

    def _headers(self, unit: Any) -> tuple[Path, ...]:
        own = {Path(one.include.name).resolve() for one in unit.get_includes() if one.include}
        return tuple(sorted(path for path in own if path.is_relative_to(self._root)))

    def _definitions(self, top: Any) -> tuple[list[Any], list[Any]]:
        functions: list[Any] = []
        variables: dict[str, Any] = {}
        for cursor in clang.children(top):
            if clang.in_system_header(cursor) or cursor.location.file is None:
                continue
            name = cursor.kind.name
            if name == "FUNCTION_DECL" and cursor.is_definition():
                functions.append(cursor)
            elif name == "VAR_DECL" and clang.is_made_here(cursor):
                usr = cursor.get_usr()
                if usr not in variables or clang.initializer(cursor) is not None:
                    variables[usr] = cursor
        return functions, list(variables.values())

    def _variable(self, cursor: Any) -> str:
        try:
            rust = self.types.of(cursor.type)
            value = clang.initializer(cursor)
            body = Body(cursor, self)
            code = body.initial(cursor.type, value) if value is not None else body.zero(cursor.type)
        except Unsupported as error:
            raise JarvisError(f"{cursor.spelling} is not translated: {error}") from None
        head = "".join(f"{line}\n" for line in self.exported(cursor))
        return f"{head}pub static mut {rust_name(cursor.spelling)}: {rust} = unsafe {{ {code} }};"

    # -- what bodies ask for

    def name_of(self, declared: Any) -> str:
        """How a global variable or a function is named in the module."""
        usr = declared.get_usr()
        if usr in self._left:
            name = declared.spelling
            if declared.linkage.name == "INTERNAL":
                name = symbol(self.name, name)
            return self.external(name, declared)
        own = self._own.get(usr)
        if own is not None:
            return "main_0" if declared.spelling == "main" else own
        name = declared.spelling
        home = self._crate.homes.get(name)
        if home is not None:
            return f"{home}::{rust_name(name)}"
        return self.external(name, declared)

    def external(self, name: str, declared: Any) -> str:
        """How a function of the system is named in the module."""
        if name not in self._crate.externals:
            self._crate.externals[name] = self._declaration(name, declared)
        return f"sys::{rust_name(name)}"

    def _declaration(self, name: str, declared: Any) -> str:
        type_ = declared.type.get_canonical()
        if kind(type_) not in FUNCTIONS:
            return f"pub static mut {rust_name(name)}: {self.types.of(type_)};"
        parameters = []
        if type_.kind.name == "FUNCTIONPROTO":
            arguments = enumerate(type_.argument_types())
            parameters = [f"_{n}: {self.types.parameter(t)}" for n, t in arguments]
            if type_.is_function_variadic():
                parameters.append("_: ...")
        result = type_.get_result()
        back = "" if kind(result) == "VOID" else f" -> {self.types.of(result)}"
        return f"pub fn {rust_name(name)}({', '.join(parameters)}){back};"

    def enumerator(self, declared: Any) -> str:
        """How an enumeration constant is named in the module."""
        usr = declared.get_usr()
        known = self._crate.enumerators
        if usr not in known:
            rust = self.types.of(declared.semantic_parent.enum_type)
            name = self._crate.names.give(declared.spelling)
            known[usr] = f"pub const {name}: {rust} = {declared.enum_value};"
        return "types::" + known[usr].split(" ")[2].rstrip(":")

    def exported(self, cursor: Any) -> list[str]:
        """Attributes that give a definition its name for the linker."""
        if cursor.spelling == "main":
            return []
        if cursor.linkage.name == "EXTERNAL":
            return ["#[no_mangle]"]
        if self._shared:
            return [f'#[export_name = "{symbol(self.name, cursor.spelling)}"]']
        return []

    def taken(self) -> set[str]:
        """Names that locals must not have."""
        return self._taken
