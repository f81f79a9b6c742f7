"""What the system or C offers, declared once for all modules."""

from __future__ import annotations

from typing import Any

from jarvis_ls.jc2r.translate.c_remainder import place_function
from jarvis_ls.jc2r.translate.c_types import FUNCTIONS, is_variadic, kind
from jarvis_ls.jc2r.translate.names import Names, rust_name
from jarvis_ls.jc2r.translate.rust_types import Types


class Externals:
    """Declarations by their text; files that see one symbol differently have one each."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        """Names given to symbols as they are declared."""
        self._given = Names()
        self.declarations: list[str] = []
        self.functions: list[str] = []
        """Functions that ask the linker what is there."""
        self._doubted: dict[str, str] = {}
        """Their names by what they ask for."""

    def name(self, symbol: str, declared: Any, types: Types, linked: str = "") -> str:
        """Return the path of a function or variable, which the linker knows as `linked` when that
        is another name. Raises `Unsupported` for types that Rust lacks.
        """
        type_ = declared.type.get_canonical()
        if kind(type_) not in FUNCTIONS:
            return self._declare(symbol, f"pub static mut NAME: {types.of(type_)};", linked)
        parameters = []
        if type_.kind.name == "FUNCTIONPROTO":
            arguments = enumerate(type_.argument_types())
            parameters = [f"_{n}: {types.parameter(t)}" for n, t in arguments]
            if is_variadic(type_):
                parameters.append("_: ...")
        result = type_.get_result()
        back = "" if kind(result) == "VOID" else f" -> {types.of(result)}"
        return self._declare(symbol, f"pub fn NAME({', '.join(parameters)}){back};", linked)

    def called(self, symbol: str, arguments: list[str], back: str, linked: str = "") -> str:
        """Return the path of a function without a prototype that is called with such arguments: the
        first is declared and the rest travels like arguments without a name."""
        first = f"_0: {arguments[0]}"
        rest = ", _: ..." if len(arguments) > 1 else ""
        return self._declare(symbol, f"pub fn NAME({first}{rest}){back};", linked)

    def place(self, symbol: str, type_: Any, types: Types) -> str:
        """Return the path of the function that gives the place of a variable of each thread in
        C.
        """
        return self._declare(place_function(symbol), f"pub fn NAME() -> *mut {types.of(type_)};")

    def if_there(self, symbol: str) -> str:
        """Return a call that gives the address of what may not be there, 0 then. Who defines it is
        not made weak by that, also where both become one object file.
        """
        if symbol not in self._doubted:
            name = self._doubted[symbol] = self._given.give(f"{symbol}_if_there")
            self.functions.append(
                f"#[inline(never)]\npub unsafe fn {name}() -> usize {{\nlet at: usize;\n"
                f'core::arch::asm!(".weakref {name}.symbol, {symbol}",'
                f' "mov {{at}}, qword ptr [rip + {name}.symbol@GOTPCREL]", at = out(reg) at,'
                " options(nomem, nostack, preserves_flags));\nat\n}"
            )
        return f"sys::{self._doubted[symbol]}()"

    def _declare(self, symbol: str, form: str, linked: str = "") -> str:
        linked = linked or symbol
        key = (linked, form)
        if key not in self._names:
            name = self._given.give(symbol)
            self._names[key] = name
            plain = name in (linked, rust_name(linked)) and name.removeprefix("r#") == linked
            head = "" if plain else f'#[link_name = "{linked}"]\n'
            self.declarations.append(head + form.replace("NAME", name, 1))
        return f"sys::{self._names[key]}"
