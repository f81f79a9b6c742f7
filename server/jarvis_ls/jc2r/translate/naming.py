"""What a name of C is in the module, and what a definition is for the linker.

What a name represents in another file is known only when all files have been read, so names of
the project are written as marks and filled in at the end.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.jc2r.translate import vectors
from jarvis_ls.jc2r.translate.attributes import (
    alignment_of,
    is_weak,
    label_of,
    placement_attributes,
)
from jarvis_ls.jc2r.translate.c_remainder import symbol
from jarvis_ls.jc2r.translate.c_types import FUNCTIONS, is_variadic, kind
from jarvis_ls.jc2r.translate.locals import thread_place
from jarvis_ls.jc2r.translate.macro_constants import UnitMacros
from jarvis_ls.jc2r.translate.macro_uses import Definitions, Use
from jarvis_ls.jc2r.translate.names import Unsupported, rust_name
from jarvis_ls.jc2r.translate.output import Crate
from jarvis_ls.jc2r.translate.source import Source
from jarvis_ls.jc2r.translate.symbol_owners import Offer

_MARK = re.compile(r"__jc2r_(name|head)_(\d+)__")
_WEAK = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+weak[ \t]+(\w+)[ \t]*$", re.MULTILINE)


class Naming(Source):
    """Names of one unit. Implements that part of `Surroundings`."""

    def __init__(self, root: Path, path: str, arguments: list[str], crate: Crate) -> None:
        super().__init__(root, path, arguments)
        self.name = ""
        """Of the module; given once it is known what the file offers."""
        self.types = crate.types
        self._crate = crate
        self._own: dict[str, Any] = {}
        """What this module defines, by USR."""
        self._left: dict[str, tuple[Any, str]] = {}
        """What stays in C and why, by USR."""
        self._taken: set[str] = set()
        self._names: set[str] = set()
        """Names of its functions and variables."""
        self._known: UnitMacros | None = None
        """Macros the file may use."""
        self._defining: Definitions | None = None
        """Those of them that may become functions."""
        self._marks: list[Any] = []
        self._statics = 0
        self._doubted: dict[str, bool] = {}
        """Whether what others define may not be there, by USR."""
        self._said_weak: set[str] | None = None

    @abstractmethod
    def adopt(self, declared: Any) -> str:
        """Return a function that a system header defines for each file, made one of the module."""

    def offer(self, *, in_rust: bool) -> None:
        """Say what other files may use; nothing of a program is for others, and which of several
        definitions a weak one gives way to only the linker knows."""
        if "main" in self.defined:
            return
        self.types.begin()
        for cursor in [*self._functions, *self._variables]:
            if (
                cursor.linkage.name == "EXTERNAL"
                and not self.gives_way(cursor)
                and (
                    cursor.spelling not in self._crate.tied
                    and cursor.spelling not in self.replacing
                )
            ):
                self._offer(cursor, in_rust)

    def gives_way(self, cursor: Any) -> bool:
        """Return whether a definition gives way to others of its name: C says so, or a program has
        one for what calls it here, as a parser calls each program's own actions, or may mean that
        of another file.
        """
        if is_weak(cursor):
            return True
        in_rust = cursor.kind.name == "FUNCTION_DECL"
        if label_of(cursor):
            return False
        if cursor.spelling in self._crate.tied:
            return self._crate.tied[cursor.spelling][0] == self._path
        return (
            cursor.linkage.name == "EXTERNAL"
            and cursor.spelling in self._crate.asked_of_others
            and "main" not in self.defined
            and (self._crate.variadic if in_rust else not clang.is_thread_local(cursor))
            and self.is_own(cursor)
            and self._crate.is_alone(cursor.spelling, self._path)
        )

    def _offer(self, cursor: Any, in_rust: bool) -> None:
        in_rust = in_rust and cursor.get_usr() not in self._left
        try:
            plain = in_rust and not alignment_of(cursor)
            signature = self.signature(cursor) if plain else ""
        except Unsupported:
            signature = ""
        location = cursor.location
        place = f"{location.file.name}:{location.offset}"
        self._crate.homes.add(
            cursor.spelling, Offer(self.name, self._path, place, signature, in_rust)
        )

    def signature(self, declared: Any) -> str:
        """Return the Rust type of a function or variable."""
        if kind(declared.type) in FUNCTIONS:
            return self.types.function(declared.type)
        return re.sub(r"; \d+\]$", "; 0]", self.types.of(declared.type))

    @property
    def replacing(self) -> frozenset[str]:
        """See `Crate.replacing`."""
        return self._crate.replacing.get(self._path, frozenset())

    @property
    def renamed(self) -> dict[str, str]:
        """Names whose definitions here are known to the linker by another; see `head`, too."""
        pairs = ((name, self.linked_as(name)) for name in sorted(self.defined))
        found = {name: linked for name, linked in pairs if linked != name and name != "main"}
        for module, name in sorted(self._crate.homes.apart):
            offer = None if name in self.defined else self._crate.homes.nearest(name, self._path)
            if offer is not None and offer.module == module:
                found[name] = symbol(module, name)
        if self.has_main:  # it is begun from Rust all the same
            found["main"] = "main_0"
        elif "main" in self.defined:
            found["main"] = self.linked_as("main")
        return found

    @property
    def head(self) -> bytes:
        """Return what the C that is left begins with: what gives way, and the linker's name of
        `main`, which is still called so where C says how a function is called.
        """
        main = next((function for function in self._functions if function.spelling == "main"), None)
        if main is None:
            every = [*self._functions, *self._variables]
            weak = "".join(
                f"#pragma weak {cursor.spelling}\n" for cursor in every if self.gives_way(cursor)
            )
            return f"{weak}#line 1\n".encode() if weak else b""
        written = main.type.get_canonical().spelling
        linked = self.renamed["main"]
        return f'extern __typeof__({written}) main __asm__("{linked}");\n#line 1\n'.encode()

    def linked_as(self, name: str) -> str:
        """Return the linker's name of what the module defines for others, which is its own where no
        program is made of it."""
        another = self._path in self._crate.tied.get(name, ())[1:]
        if another or ("main" in self.defined and not self.has_main):
            return symbol(self.name, name)
        return self._crate.homes.linked_as(self.name, name)

    def static_name(self) -> str:
        """Return a name for a variable that C gives none."""
        self._statics += 1
        name = f"literal_{self._statics}"
        while name in self._taken:
            self._statics += 1
            name = f"literal_{self._statics}"
        self._taken.add(name)
        return name

    def name_of(self, declared: Any) -> str:
        """Return how a global variable or a function is named in the module: a mark, filled in
        later.
        """
        internal = declared.linkage.name == "INTERNAL" or vectors.is_plain(declared)
        if internal and clang.in_system_header(declared) and declared.get_usr() not in self._own:
            return self.adopt(declared)  # tables are the module's already
        if declared.kind.name == "FUNCTION_DECL":
            self._check_values(declared)
        self._marks.append(declared)
        return f"__jc2r_name_{len(self._marks) - 1}__"

    def address_if_there(self, declared: Any) -> str:
        """See `Surroundings`. The linker is asked when the program runs: to Rust everything that is
        declared is there."""
        usr = declared.get_usr()
        if usr in self._own or declared.linkage.name != "EXTERNAL":
            return ""
        if usr not in self._doubted:
            self._doubted[usr] = is_weak(declared) or declared.spelling in self._weak()
        if not self._doubted[usr]:
            return ""
        if not self._crate.variadic or is_of_each_thread(declared):
            raise Unsupported("a weak symbol, which is supported on x86-64 Linux only")
        return self._crate.externals.if_there(declared.spelling)

    def _weak(self) -> set[str]:
        """Names that the file or its headers say are weak, of which the parser tells nothing."""
        if self._said_weak is None:
            files = [self._root / self._path, *self.headers(self._unit)]
            texts = (self._crate.macros.text(str(file)) for file in files)
            self._said_weak = {name.decode() for text in texts for name in _WEAK.findall(text)}
        return self._said_weak

    def _check_values(self, function: Any) -> None:
        """Raise `Unsupported` where Rust cannot say what a function takes or gives."""
        type_ = function.type.get_canonical()
        taken = type_.argument_types() if type_.kind.name == "FUNCTIONPROTO" else ()
        for type__ in (type_.get_result(), *taken):
            if kind(type__) in ("LONGDOUBLE", "COMPLEX"):
                self.types.of(type__)

    def filled(self, code: str) -> str:
        """Code with its marks replaced by names, once all files are prepared."""
        return _MARK.sub(self._fill_mark, code)

    def _fill_mark(self, match: re.Match[str]) -> str:
        declared = self._marks[int(match[2])]
        if match[1] == "head":
            return "\n".join(self._attributes(declared))
        return self._name_declaration(declared)

    def _name_declaration(self, declared: Any) -> str:
        usr, name = declared.get_usr(), declared.spelling
        externals = self._crate.externals
        if is_of_each_thread(declared):
            return self._of_each_thread(declared)
        if usr in self._left:
            return externals.name(self.symbol_of(declared), declared, self.types)
        own = self._own.get(usr)
        if own is not None:
            if is_variadic(own.type) or self.gives_way(own):
                return externals.name(self.symbol_of(own), own, self.types)
            if own.kind.name == "FUNCTION_DECL":
                return self.defined_name(own)
            if not self.is_defined_elsewhere(own):
                return f"{self.defined_name(own)}{'.0' if alignment_of(own) else ''}"
        label = label_of(declared)
        if label and (meant := self._own_called(label)) is not None:
            return self._name_declaration(meant)
        if label and self._crate.homes.nearest(label, self._path) is not None:
            name = label
        offer = self._crate.homes.nearest(name, self._path)
        if offer is None or name in self._crate.tied:
            return externals.name(name, declared, self.types, label)
        linked = self._crate.homes.linked_as(offer.module, name)
        same = offer.in_rust and offer.signature == self.signature(declared)
        if same and not is_variadic(declared.type):
            return f"{offer.module}::{rust_name(name)}"
        return externals.name(linked, declared, self.types)

    def _own_called(self, name: str) -> Any:
        """Return what the unit itself defines for others by that name; None when there is no
        such.
        """
        return next(
            (
                cursor
                for cursor in self._own.values()
                if cursor.spelling == name
                and cursor.linkage.name == "EXTERNAL"
                and not label_of(cursor)
            ),
            None,
        )

    def _of_each_thread(self, declared: Any) -> str:
        """Return a variable of each thread: C is asked for the place of its own."""
        usr, name = declared.get_usr(), declared.spelling
        if usr in self._own and usr not in self._left:
            return thread_place(rust_name(name), aligned=alignment_of(declared) > 0)
        symbol, offer = self.symbol_of(declared), None
        if usr not in self._own:
            offer = self._crate.homes.nearest(name, self._path)
            if offer is None:
                raise JarvisError(
                    "{name} is thread-local, and no file of the project defines it", name=name
                )
            if offer.in_rust:
                return thread_place(f"{offer.module}::{rust_name(name)}")
            symbol = self._crate.homes.linked_as(offer.module, name)
        return f"(*{self._crate.externals.place(symbol, declared.type, self.types)}())"

    def symbol_of(self, declared: Any) -> str:
        """Return the linker's name of a definition of the unit."""
        if declared.linkage.name == "INTERNAL":
            return symbol(self.name, declared.spelling)
        return self.linked_as(declared.spelling)

    def is_defined_elsewhere(self, cursor: Any) -> bool:
        """Return whether a variable of a header is defined by another file that includes it."""
        if self.is_own(cursor) or cursor.linkage.name != "EXTERNAL":
            return False
        location = cursor.location
        place = f"{location.file.name}:{location.offset}"
        home = self._crate.homes.first_of(self.name, cursor.spelling, place)
        return home != self.name

    def external(self, name: str, declared: Any) -> str:
        """Return how a function of the system is named in the module."""
        return self._crate.externals.name(name, declared, self.types)

    def external_called(self, declared: Any, arguments: list[str], result: Any) -> str:
        """Return the same for one without a prototype, called with arguments of these types."""
        usr, name = declared.get_usr(), declared.spelling
        if usr in self._own:
            raise Unsupported("a call with the wrong number of arguments")
        back = "" if kind(result) == "VOID" else f" -> {self.types.of(result)}"
        return self._crate.externals.called(name, arguments, back, label_of(declared))

    def enumerator(self, declared: Any) -> str:
        """Return how an enumeration constant is named in the module."""
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

    def constant(self, cursor: Any) -> str:
        """Return how the macro is named in the module that an expression represents; empty for
        none.
        """
        return "" if self._known is None else self._known.name(cursor, self._names)

    def source_text(self, cursor: Any) -> bytes:
        """Return the text of C that an expression was written as."""
        return self._crate.macros.source_text(cursor)

    def export_attributes(self, cursor: Any) -> list[str]:
        """Attributes that give a definition its name for the linker, a mark that is filled in
        later, and its place."""
        self._marks.append(cursor)
        return [f"__jc2r_head_{len(self._marks) - 1}__", *placement_attributes(cursor)]

    def _attributes(self, cursor: Any) -> list[str]:
        name = cursor.spelling
        if cursor.linkage.name == "EXTERNAL":
            if name == "main" or self.gives_way(cursor):  # which the linker knows by other means
                return []
            linked = self.linked_as(name)
            if clang.is_inline(cursor) and not self.is_own(cursor) and linked != name:
                return []
            same = linked == self.defined_name(cursor).removeprefix("r#")
            return ["#[no_mangle]"] if same else [f'#[export_name = "{linked}"]']
        in_system = clang.in_system_header(cursor)
        if (self._left and not in_system) or is_variadic(cursor.type):
            return [f'#[export_name = "{symbol(self.name, name)}"]']
        return []

    def assembly_of(self, statement: Any) -> list[str]:
        """See `Surroundings`."""
        text = self.source_text(statement).decode("utf-8", "replace")
        name = text.partition("(")[0].strip()
        bodies = {} if self._defining is None else self._defining.bodies
        return [body for body in bodies.get(name, [text]) if "asm" in body]

    def features(self, cursor: Any) -> list[str]:
        """See `Surroundings`."""
        return vectors.features(clang.printed(cursor).partition("{")[0], self._arguments)

    def defined_name(self, cursor: Any) -> str:
        """Return the name of a definition in its own module."""
        return "main_0" if cursor.spelling == "main" else rust_name(cursor.spelling)

    def uses_in(self, function: Any) -> Mapping[int, Use]:
        """Return where a function uses macros with parameters, by the hash of what represents
        one.
        """
        return {} if self._defining is None else self._defining.uses(function)

    def same(self, code: str) -> str:
        """Code with what is still to be named told by what it is."""
        return _MARK.sub(lambda match: str(self._marks[int(match[2])].get_usr()), code)

    def reserved_names(self) -> set[str]:
        """Names that locals must not have."""
        return self._taken


def is_of_each_thread(declared: Any) -> bool:
    """Return whether a declaration is of a variable that each thread has for itself."""
    return declared.kind.name == "VAR_DECL" and clang.is_thread_local(declared)
