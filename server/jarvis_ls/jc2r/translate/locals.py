"""Variables of a function: where they are declared, and arrays whose length is worked out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.attributes import alignment_of, attributes_of, cleanup_of
from jarvis_ls.jc2r.translate.c_types import (
    FUNCTIONS,
    element_of,
    is_array,
    is_open,
    is_pointer,
    is_record,
    kind,
    plain,
)
from jarvis_ls.jc2r.translate.expressions import Expressions
from jarvis_ls.jc2r.translate.macro_uses import Use
from jarvis_ls.jc2r.translate.names import Names, Unsupported
from jarvis_ls.jc2r.translate.rust_text import in_unsafe
from jarvis_ls.jc2r.translate.structured_goto import Jumps

_LARGE = 256
"""Arrays of so many bytes that are given no value are left without one."""


@dataclass
class Local:
    """A variable of the function as Rust declares it."""

    declared: list[str]
    """What must be there wherever it is used."""
    set: list[str]
    """What is done where it is declared in C."""


class Locals(Expressions):
    """Declarations of one function."""

    names: Names
    locals: dict[int, str]
    """Places by the hash of what C declares."""
    sizes: dict[int, list[str]]
    """Dimensions of arrays of variable length."""
    jumps: Jumps
    """What becomes of the jumps of the function."""
    uses: Mapping[int, Use]
    """Macros with parameters that are used in the function, by the hash of what represents one."""

    def local(self, cursor: Any, *, early: bool = False) -> Local:
        """Return a variable; with `early` it is declared before it is set."""
        name = cleanup_of(cursor)
        if not name or cursor.storage_class.name in ("STATIC", "EXTERN"):
            return self._variable(cursor, early=early)
        if early or self.jumps.goto:  # then it may be left elsewhere than in Rust
            raise Unsupported("the attribute cleanup beside jumps")
        local = self._variable(cursor, early=False)
        return Local(local.declared, [*local.set, *self._cleanup(cursor, name)])

    def _cleanup(self, cursor: Any, name: str) -> list[str]:
        """Return what has a function called when a variable is left."""
        every = clang.children(cursor.translation_unit.cursor)
        called = next(
            (
                declaration
                for declaration in every
                if declaration.spelling == name and declaration.kind.name == "FUNCTION_DECL"
            ),
            None,
        )
        taken = [] if called is None else list(called.type.get_canonical().argument_types())
        if called is None or len(taken) != 1:
            raise Unsupported("the attribute cleanup")
        self.types.need("OnLeave")
        place, held = self.names.give(f"{cursor.spelling}_place"), self.names.give("leaving")
        rust = self.types.parameter(taken[0])
        return [
            f"let {place} = &raw mut {self.locals[cursor.hash]} as {rust};",
            f"let {held} = types::OnLeave(move || {{ {self.name_of(called)}({place}); }});",
        ]

    def _variable(self, cursor: Any, *, early: bool) -> Local:
        storage = cursor.storage_class.name
        if storage == "EXTERN" or kind(cursor.type) in FUNCTIONS:
            return Local([], [])
        attributes_of(cursor)
        if is_open(cursor.type):
            return self._open_array(cursor)
        if is_pointer(cursor.type) and is_open(plain(cursor.type).get_pointee()):
            first = self._dimensions(cursor)
        else:
            first = Local([], [])
        name = self.names.give(cursor.spelling)
        rust, make = self.types.align(self.types.of(cursor.type), alignment_of(cursor))
        place = f"{name}.0" if make else name
        value = clang.initializer(cursor)
        if storage == "STATIC":
            return self._static(cursor, name, rust, make)
        if (
            value is None
            and cursor.type.get_size() >= _LARGE
            and (is_array(cursor.type) or is_record(cursor.type))
        ):
            self.locals[cursor.hash] = f"(*{name}.as_mut_ptr()){place.removeprefix(name)}"
            return Local(
                [
                    f"let mut {name}: core::mem::MaybeUninit<{rust}> ="
                    " core::mem::MaybeUninit::uninit();"
                ],
                [],
            )
        if not early and value is not None and not _names_itself(cursor, value):
            code = self.initial(cursor.type, value)  # the name of before is not shadowed yet
            self.locals[cursor.hash] = place
            code = f"{make}({code})" if make else code
            return Local(first.declared, [*first.set, f"let mut {name}: {rust} = {code};"])
        self.locals[cursor.hash] = place
        zero = f"{make}({self.zero(cursor.type)})" if make else self.zero(cursor.type)
        declared = f"let mut {name}: {rust} = {zero};"
        if value is None:
            return Local([*first.declared, declared], first.set)
        code = self.initial(cursor.type, value)
        return Local([*first.declared, declared], [*first.set, f"{place} = {code};"])

    def _static(self, cursor: Any, name: str, rust: str, make: str) -> Local:
        value = clang.initializer(cursor)
        uses, self.uses = self.uses, {}  # what it is set to is no call
        self.is_lasting = True
        code = self.initial(cursor.type, value) if value is not None else self.zero(cursor.type)
        self.is_lasting = False
        self.uses = uses
        code = f"{make}({code})" if make else code
        if clang.is_thread_local(cursor):
            self.locals[cursor.hash] = thread_place(name, aligned=bool(make))
            return Local([thread_local(name, rust, code)], [])
        self.locals[cursor.hash] = f"{name}.0" if make else name
        return Local([f"static mut {name}: {rust} = {in_unsafe(code)};"], [])

    def _open_array(self, cursor: Any) -> Local:
        """Return an array of variable length: memory of its own, and a pointer to its beginning."""
        sizes = self._dimensions(cursor)
        name = self.names.give(cursor.spelling)
        memory = self.names.give(f"{cursor.spelling}_memory")
        element = self.types.of(element_of(cursor.type))
        self.locals[cursor.hash] = name
        count = " * ".join(self.sizes[cursor.hash])
        held = f"core::mem::MaybeUninit<{element}>"
        rust = self.types.of(cursor.type)
        declared = [
            *sizes.declared,
            f"let mut {memory}: Vec<{held}> = Vec::new();",
            f"let mut {name}: {rust} = core::ptr::null_mut();",
        ]
        return Local(
            declared,
            [
                *sizes.set,
                f"{memory} = Vec::with_capacity({count});",
                f"{name} = {memory}.as_mut_ptr() as {rust};",
            ],
        )

    def _dimensions(self, cursor: Any) -> Local:
        """Variables for the dimensions of an array of variable length, or of a pointer to one."""
        layers = _layers(cursor.type)
        value = clang.initializer(cursor) if cursor.kind.name == "VAR_DECL" else None
        given = [
            child
            for child in clang.children(cursor)
            if child.kind.is_expression() and (value is None or child.hash != value.hash)
        ]
        given.reverse()  # libclang goes from the inside out
        needed = [layer for layer in layers if layer != -1]
        all_given = len(given) == len(needed)
        if not all_given and len(given) != needed.count(None):
            raise Unsupported("a variable-length array behind a typedef")
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
        """See `LvalueTranslation`."""
        if declared.hash not in self.sizes:
            raise Unsupported("a variable-length array of unknown size")
        return self.sizes[declared.hash]


def thread_local(name: str, rust: str, code: str) -> str:
    """Return a variable that each thread has for itself."""
    return (
        f"std::thread_local! {{ pub static {name}: core::cell::UnsafeCell<{rust}> ="
        f" const {{ core::cell::UnsafeCell::new(unsafe {{ {code} }}) }}; }}"
    )


def thread_place(name: str, *, aligned: bool = False) -> str:
    """Such a variable as a place."""
    return f"(*{name}.with(|__one| __one.get())){'.0' if aligned else ''}"


def _layers(type_: Any) -> list[int | None]:
    """Dimensions of an array, outermost first: a number, None when it is worked out, -1 when it is
    left out or a pointer represents it."""
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
    """Return whether a variable is named in its own initialiser, as in `T *p = malloc(sizeof
    *p)`.
    """
    kinds = clang.cindex().CursorKind
    found = clang.descendants(value, frozenset({kinds.DECL_REF_EXPR.value}))
    return any(
        node.referenced.hash == cursor.hash
        for node in [*found, value]
        if node.kind.name == "DECL_REF_EXPR"
    )
