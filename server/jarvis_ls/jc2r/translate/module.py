"""One C file as one Rust module. Bodies are translated once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.jc2r.translate.assembly import in_rust
from jarvis_ls.jc2r.translate.attributes import alignment_of, attributes_of, is_weak, section_of
from jarvis_ls.jc2r.translate.body import Body
from jarvis_ls.jc2r.translate.c_remainder import places, remainder, symbol
from jarvis_ls.jc2r.translate.c_types import is_const, is_variadic, kind
from jarvis_ls.jc2r.translate.comments import Comments
from jarvis_ls.jc2r.translate.libc_symbols import AT_LOAD
from jarvis_ls.jc2r.translate.locals import thread_local
from jarvis_ls.jc2r.translate.macro_constants import Constant, UnitMacros
from jarvis_ls.jc2r.translate.macro_functions import Functions
from jarvis_ls.jc2r.translate.macro_uses import Definitions, Function, Use
from jarvis_ls.jc2r.translate.names import Unsupported, rust_name
from jarvis_ls.jc2r.translate.naming import Naming, is_of_each_thread
from jarvis_ls.jc2r.translate.output import Crate, Left, Module
from jarvis_ls.jc2r.translate.rust_text import in_unsafe
from jarvis_ls.jc2r.translate.source import REFERENCES

_LOG = logging.getLogger(__name__)
_LONG = 20_000
"""Values of so many characters are left as they are by rustfmt, which takes long for them."""
IF_PRELOADED = '#[cfg(feature = "preload")]'
_LAST = 1 << 62
"""Behind everything of the file."""


@dataclass
class _Item:
    """A definition on its way, with marks in it."""

    cursor: Any
    code: str
    macros: set[str] = field(default_factory=set)
    """Functions it calls that were macros."""


class Translator(Naming):
    """Translates one unit. Implements `Surroundings` for its bodies."""

    def __init__(self, root: Path, path: str, arguments: list[str], crate: Crate) -> None:
        super().__init__(root, path, arguments, crate)
        self.variadic = crate.variadic
        self._lines: dict[str, int] = {}
        """Where what stays in C is not translated, by USR."""
        self._items: list[_Item] = []
        self._adopted: dict[str, str] = {}
        """Names of functions of system headers that are defined here once more, by USR."""
        self._remainder = b""
        """The C that is left."""
        self._comments: Comments | None = None
        self._inlined = Functions(self.same)
        self._calling: set[str] = set()
        """Macros that are functions and that what is being translated calls."""

    def prepare(self) -> None:
        """Translate, but for the names of what other files offer. A definition that the parser
        objects to stays in C. Raises `JarvisError` when the objection is elsewhere, or when all
        of the file is to stay in C."""
        self.types.begin()
        wanted = [self._crate.stays(self._path, name) for name, _ in self.own_functions]
        if wanted and all(wanted):
            raise JarvisError(wanted[0])
        rejected = self.rejections()
        self._comments = Comments((self._root / self._path).read_bytes())
        for cursor in [*self._variables, *self._functions]:
            self._own[cursor.get_usr()] = cursor
            self._names.add(rust_name(cursor.spelling))
        own, headers = str(self._root / self._path), list(map(str, self.headers(self._unit)))
        self._known = UnitMacros(self._crate.macros, own, headers)
        self._defining = Definitions(self._crate.macros, own, headers, self._names)
        self._taken |= self._names | self._known.own
        for cursor in [*self._variables, *self._functions]:
            usr, is_function = cursor.get_usr(), cursor.kind.name == "FUNCTION_DECL"
            wanted_in_c = self._wanted_in_c(cursor) if is_function else ""
            if usr in rejected:
                self._left[usr] = (cursor, rejected[usr].text)
                self._lines[usr] = rejected[usr].line
            elif wanted_in_c:
                self._left[usr] = (cursor, wanted_in_c)
            elif not is_function and self.gives_way(cursor):  # Rust has no word for it
                self._left[usr] = (cursor, "a program also defines a variable of that name")
            elif not is_function and (beside := self._beside_others(cursor)):
                self._left[usr] = (cursor, beside)
            else:
                self._prepare(cursor, self._function if is_function else self._variable)
        while again := [item for item in self._items if item.macros & self._inlined.refused]:
            self._items = [item for item in self._items if item not in again]
            for item in again:
                self._prepare(item.cursor, self._function)

    def _beside_others(self, variable: Any) -> str:
        section = section_of(variable)
        return self._crate.sections.reason(section, self._path) if section else ""

    def _wanted_in_c(self, cursor: Any) -> str:
        name = self.other_name_of(cursor) or cursor.spelling
        return self._crate.stays(self._path, name) if self.is_own(cursor) else ""

    def _prepare(self, cursor: Any, translate: Callable[[Any], str]) -> None:
        try:
            self._calling = set()
            self._items.append(_Item(cursor, translate(cursor), self._calling))
            clang.forget(cursor)
            return
        except Unsupported as error:
            reason, line = str(error), error.line
        except Exception as error:  # noqa: BLE001 - one function stops no other
            _LOG.exception("%s: %s", self._path, cursor.spelling)
            reason = f"unsupported construct ({type(error).__name__}: {error})"
            line = 0
        one_of_many = cursor.linkage.name == "INTERNAL" or is_weak(cursor)
        if not self.is_own(cursor) and not one_of_many:
            raise JarvisError(
                "{name} from a header is not translated: {reason}",
                name=cursor.spelling,
                reason=reason,
            )
        self._left[cursor.get_usr()] = (cursor, reason)
        self._lines[cursor.get_usr()] = line

    def _constant(self, constant: Constant, last: int) -> str:
        macro = constant.macro
        said: list[str] = []
        if self._comments is not None:
            said = self._comments.before(last, macro.start) if macro.start > last else []
            said += [f"/{comment}" for comment in self._comments.between(macro.start, macro.end)]
        return "\n".join([*said, constant.item(macro.name)])

    def _from_macro(self, function: Function, last: int) -> str:
        macro = function.definition
        comments, first = self._comments, last
        if macro.file != str(self._root / self._path):  # of a header, its own comments alone
            data = self._crate.macros.text(macro.file)
            comments, first = Comments(data), data.rfind(b"\n\n", 0, macro.start) + 1
        said: list[str] = []
        if comments is not None:
            said = comments.before(first, macro.start) if macro.start > first else []
            if macro.file != str(self._root / self._path):
                said = [line for line in said if line.startswith("///")]
            said += [f"/{line}" for line in comments.between(macro.start, macro.end)]
        return "\n".join([*said, self.filled(function.item())])

    def called_macro(self, use: Use, body: Body) -> Function | None:
        """See `Surroundings`."""
        function = self._inlined.called(use, body, self)
        if function is not None:
            self._calling.add(function.definition.name)
        return function

    def keep_threads(self, *, in_rust: bool) -> None:
        """Variables of each thread that C uses stay in C, and Rust asks C where they are."""
        staying = [item for item, _ in self._left.values()] if in_rust else self._functions
        for cursor in staying:
            for declared in (
                descendant.referenced for descendant in clang.descendants(cursor, REFERENCES)
            ):
                if declared is not None and is_of_each_thread(declared):
                    self._crate.threads.add(declared.get_usr())

    def keep_in_c(self) -> None:
        """Work out the C that is left of the file, with what Rust and C would both have. Raises
        `JarvisError` when that cannot be distinguished."""
        for cursor in [*self._variables, *self._functions]:
            usr = cursor.get_usr()
            shared = usr in self._crate.threads or (self._left and self._is_also_in_c(cursor))
            if shared and usr not in self._left:
                self._left[usr] = (cursor, "functions that stay in C use it")
                self._items = [item for item in self._items if item.cursor != cursor]
        if self._left:
            names = [cursor.spelling for cursor, _ in self._left.values()]
            headers = (self._crate.macros.text(str(part)) for part in self.parts())
            try:
                self._remainder = remainder(
                    self._root / self._path, self._unit.cursor, self.name, names, headers
                )
            except Unsupported as error:
                raise JarvisError(str(error)) from None

    def _is_also_in_c(self, cursor: Any) -> bool:
        """Return whether a header defines something of which C has another one, when it has
        functions of the file. What is only tentative the linker makes one of; constants of a file
        may be there twice.
        """
        static = cursor.linkage.name == "INTERNAL"
        if self.is_own(cursor) or (static and is_const(cursor.type)):
            return False
        if cursor.kind.name == "FUNCTION_DECL":
            only_named = cursor.spelling in self._versions  # which the remainder does not
            return not static and not clang.is_inline(cursor) and not only_named
        return static or clang.initializer(cursor) is not None

    def translate(self) -> Module:
        """Return the whole file, once all files are prepared. Raises `JarvisError`."""
        self.types.begin()
        module = Module(self._path, self.name, [], [], [])
        for usr, (cursor, reason) in self._left.items():
            module.left.append(
                Left(
                    cursor.spelling,
                    cursor.location.line,
                    reason,
                    self._lines.get(usr, 0),
                    cursor.kind.name == "VAR_DECL",
                )
            )
        last = 0
        entries: list[tuple[int, _Item | Constant | Function]] = [
            (item.cursor.extent.start.offset, item) for item in self._items
        ]
        found = self._known.constants.values() if self._known is not None else ()
        entries += [(shared.macro.start, shared) for shared in found if shared is not None]
        own = str(self._root / self._path)
        entries += [
            (function.definition.start if function.definition.file == own else _LAST, function)
            for function in self._inlined.kept
            if any(function.definition.name in item.macros for item in self._items)
        ]
        for place, item in sorted(entries, key=lambda pair: pair[0]):
            if isinstance(item, Constant):
                module.items.append(self._constant(item, last))
                last = max(last, item.macro.end)
                continue
            if isinstance(item, Function):
                module.items.append(self._from_macro(item, last))
                if item.definition.file == own:
                    last = max(last, item.definition.end)
                continue
            cursor = item.cursor
            is_function = cursor.kind.name == "FUNCTION_DECL"
            if not is_function and self.is_defined_elsewhere(cursor):
                continue
            code = self.filled(item.code)
            if self.is_own(cursor) and self._comments is not None:
                said = self._comments.before(last, place) if place > last else []
                behind, end = self._comments.behind(cursor.extent.end.offset)
                said += [f"/{comment}" for comment in behind]
                last = max(last, end)
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
            module.remainder = self.head + self._remainder + self.places_in_c()
            module.headers = self.headers(self._unit)
            module.nested = self.has_nested
            module.renamed = self.renamed
        else:
            module.items += [in_rust(text) for _, text in self._assembly]
        module.items += self._replacements()
        return module

    def _replacements(self) -> list[str]:
        """Return what gives functions the names of those of the C library, in the library that
        takes their place: no program of the crate is to have it.
        """
        made = []
        for cursor in self._functions:
            name = cursor.spelling
            if name not in self.replacing:
                continue
            inner, where = self.symbol_of(cursor), ""
            if cursor.get_usr() not in self._left:
                inner, where = "{inner}", f", inner = sym {self.defined_name(cursor)}"
            if name in AT_LOAD and not where:
                raise Unsupported("{name}, which the linker defines", name=name)
            if name in AT_LOAD:
                made.append(
                    f'{IF_PRELOADED}\n#[used]\n#[link_section = "{AT_LOAD[name]}"]\nstatic'
                    f" {name}_called: {self.signature(cursor)} = {self.defined_name(cursor)};"
                )
            else:
                made.append(
                    f'{IF_PRELOADED}\n#[unsafe(naked)]\n#[export_name = "{name}"]\npub unsafe'
                    f' extern "C" fn {name}__replaced() {{\ncore::arch::naked_asm!("jmp {inner}"'
                    f"{where})\n}}"
                )
        return made

    def places_in_c(self, *, whole: bool = False) -> bytes:
        """Return what tells Rust where C has its variables of each thread; with `whole` all are in
        C.
        """
        return places(
            (variable, self.symbol_of(variable))
            for variable in self._variables
            if clang.is_thread_local(variable)
            and (variable.linkage.name == "EXTERNAL" if whole else variable.get_usr() in self._left)
        )

    def _function(self, cursor: Any) -> str:
        """Return a function, and what its attributes ask for."""
        if target := self.other_name_of(cursor):
            code = self._other_name(cursor, target)
            if self.gives_way(cursor):
                code += "\n\n" + self._giving_way(cursor, self.defined_name(cursor))
            return code
        own = self.is_own(cursor)
        file = cursor.location.file.name
        body = Body(cursor, self, self._comments if own else None, file)
        code = body.translate()
        name = self.defined_name(cursor)
        attributes = attributes_of(cursor)
        if self.gives_way(cursor):
            code += "\n\n" + self._giving_way(cursor, name)
        for attribute in attributes:
            if attribute == "weak":
                continue
            section = ".init_array" if attribute == "constructor" else ".fini_array"
            when = f"{IF_PRELOADED}\n" if self.replacing else ""
            code += (
                f'\n\n{when}#[used]\n#[link_section = "{section}"]\nstatic'
                f' {name}_{attribute}: unsafe extern "C" fn() = {name};'
            )
        return code

    def _giving_way(self, cursor: Any, name: str) -> str:
        """Return what makes a function known to the linker as one that gives way to others of its
        name: Rust has a word for that in its nightly versions only. Another one of this library
        would be one too many for it.
        """
        if not self.variadic:
            raise Unsupported("the attribute weak, which needs Rust 1.88 on x86-64 Linux")
        if not self.is_own(cursor):
            raise Unsupported("the attribute weak of a function of a header")
        linked = cursor.spelling
        if not self._crate.is_alone(linked, self._path) and linked not in self._crate.tied:
            raise Unsupported("the attribute weak, where another file has one of that name")
        # In a section of its own: what a program does not call asks for nothing.
        return (
            f'core::arch::global_asm!(".weak {linked}", ".type {linked}, @function",'
            f' ".pushsection .text.{linked},\\"ax\\",@progbits", "{linked}:",'
            f' "jmp {{inner}}", ".popsection", inner = sym {name});'
        )

    def _other_name(self, cursor: Any, target: str) -> str:
        """Return a function that is another name of one of the file: it hands over to that."""
        meant = next(
            (function for function in self._functions if function.spelling == target), None
        )
        if meant is None or cursor.type.get_canonical().kind.name != "FUNCTIONPROTO":
            raise Unsupported("the attribute alias")
        taken = list(map(self.types.parameter, cursor.type.get_canonical().argument_types()))
        parameters = ", ".join(f"__{n}: {type_}" for n, type_ in enumerate(taken))
        result = cursor.result_type
        back = "" if kind(result) == "VOID" else f" -> {self.types.of(result)}"
        names = ", ".join(f"__{n}" for n in range(len(taken)))
        lines, call = self.export_attributes(cursor), f"{self.name_of(meant)}({names})"
        if is_variadic(cursor.type):
            if not self.variadic:
                raise Unsupported("variadic definitions, which need Rust 1.88 on x86-64 Linux")
            lines += ["#[unsafe(naked)]"]
            call = f'core::arch::naked_asm!("jmp {{inner}}", inner = sym {self.name_of(meant)})'
        head = f'pub unsafe extern "C" fn {self.defined_name(cursor)}({parameters}){back}'
        return "\n".join([*lines, f"{head} {{", call, "}"])

    def _variable(self, cursor: Any) -> str:
        attributes_of(cursor)
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
        rust, make = self.types.align(rust, alignment_of(cursor))
        code = f"{make}({code})" if make else code
        parts = [f"{static}\n" for static in body.statics]
        if clang.is_thread_local(cursor):
            return "".join([*parts, thread_local(name, rust, code)])
        head = "".join(f"{line}\n" for line in self.export_attributes(cursor))
        if len(code) > _LONG:
            head = f"{head}#[rustfmt::skip]\n"
        return "".join([*parts, f"{head}pub static mut {name}: {rust} = {in_unsafe(code)};"])

    def adopt(self, declared: Any) -> str:
        """Return a function that a system header defines for each file."""
        definition = declared.get_definition()
        if definition is None or declared.kind.name != "FUNCTION_DECL":
            raise Unsupported("{name}, which only a header defines", name=declared.spelling)
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


def handed_over(name: str, to: Module) -> str:
    """Return what makes a program mean the function `name` of that module, where several have
    one.
    """
    inner, where = symbol(to.name, name), ""
    if name in to.functions:
        inner, where = "{inner}", f", inner = sym {to.name}::{rust_name(name)}"
    return (
        f'core::arch::global_asm!(".globl {name}", ".type {name}, @function",'
        f' ".pushsection .text.{name},\\"ax\\",@progbits", "{name}:", "jmp {inner}",'
        f' ".popsection"{where});'
    )


class _Value(Body):
    """The value of a variable: compound literals in it are variables of their own."""

    is_lasting = True

    def __init__(self, cursor: Any, module: Translator) -> None:
        super().__init__(cursor, module)
        self._home = module
        self.statics: list[str] = []

    def temporary(self, rust: str, value: str) -> str:
        """See `Initials`."""
        name = self._home.static_name()
        self.statics.append(f"static mut {name}: {rust} = {in_unsafe(value)};")
        return name

    def address_if_there(self, declared: Any) -> str:
        """See `Initials`; only a run knows that."""
        if super().address_if_there(declared):
            raise Unsupported("a variable initialised with a weak symbol")
        return ""

    def function_at(self, code: str, rust: str) -> str:
        """See `Conversions`; Rust has no such constants."""
        raise Unsupported("a variable initialised with a function at a fixed address")
