"""One function on its way to Rust: its head, its parameters, and what its body asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate import vectors
from jarvis_ls.jc2r.translate.c_types import (
    FLOATS,
    is_function_pointer,
    is_integer,
    is_open,
    is_pointer,
    is_variadic,
    kind,
    plain,
)
from jarvis_ls.jc2r.translate.comments import Comments
from jarvis_ls.jc2r.translate.complex_numbers import is_complex
from jarvis_ls.jc2r.translate.inline_assembly import AssemblyStatement, written_in
from jarvis_ls.jc2r.translate.macro_constants import NAMED
from jarvis_ls.jc2r.translate.macro_uses import Function, Use, argument_values
from jarvis_ls.jc2r.translate.names import Names, Unsupported, rust_name
from jarvis_ls.jc2r.translate.rust_types import Types
from jarvis_ls.jc2r.translate.state_machine import Lowering, Machine, needs_machine
from jarvis_ls.jc2r.translate.statements import Target
from jarvis_ls.jc2r.translate.structured_goto import Jumps, structure_jumps

_WHOLE = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
"""Registers that whole numbers and pointers travel in, as the System V ABI for x86-64 has it."""


class Surroundings(Protocol):
    """What a body needs to know of its module."""

    types: Types
    variadic: bool
    """Whether variadic functions can be defined in Rust."""

    def name_of(self, declared: Any) -> str:
        """Return how a global variable or a function is named in the module."""

    def address_if_there(self, declared: Any) -> str:
        """Code for the address of what may not be there; empty for what is."""

    def enumerator(self, declared: Any) -> str:
        """Return how an enumeration constant is named in the module."""

    def constant(self, cursor: Any) -> str:
        """Return how the macro is named in the module that an expression represents; empty for
        none.
        """

    def uses_in(self, function: Any) -> Mapping[int, Use]:
        """Return where a function uses macros with parameters, by the hash of what represents
        one.
        """

    def called_macro(self, use: Use, body: Body) -> Function | None:
        """Return the function that a macro has become; None when the use stays as C has it."""

    def source_text(self, cursor: Any) -> bytes:
        """Return the text of C that an expression was written as."""

    def external(self, name: str, declared: Any) -> str:
        """Return how a function of the system is named in the module."""

    def external_called(self, declared: Any, arguments: list[str], result: Any) -> str:
        """Return the same for one without a prototype."""

    def reserved_names(self) -> set[str]:
        """Names that locals must not have."""

    def export_attributes(self, cursor: Any) -> list[str]:
        """Attributes that give a definition its name for the linker."""

    def assembly_of(self, statement: Any) -> list[str]:
        """Return what a statement of assembly may be written as."""

    def features(self, cursor: Any) -> list[str]:
        """Return what a function asks of the processor, in Rust's words."""

    def defined_name(self, cursor: Any) -> str:
        """Return the name of a function where it is defined."""


class Body(Lowering):
    """One function on its way to Rust."""

    def __init__(
        self, cursor: Any, module: Surroundings, comments: Comments | None = None, file: str = ""
    ) -> None:
        self.types = module.types
        self.names = Names(module.reserved_names())
        self.locals: dict[int, str] = {}
        self.sizes: dict[int, list[str]] = {}
        self.targets: list[Target] = []
        self.before: list[str] = []
        self.jumps = Jumps()
        self.machine: Machine | None = None
        self.comments, self.file = comments, file
        self.body: Any = None
        self.result: Any = None
        self._cursor = cursor
        self._module = module
        self._allocates = ""
        self.uses: Mapping[int, Use] = {}
        self._list_type = ""
        """The Rust type behind a `va_list`, once it was asked for."""
        self._assembly: list[tuple[Any, AssemblyStatement | None]] | None = None

    def translate(self) -> str:
        """Return the whole function. Raises `Unsupported`."""
        cursor = self._cursor
        variadic = is_variadic(cursor.type)
        if variadic and not self._module.variadic:
            raise Unsupported("variadic definitions, which need Rust 1.88 on x86-64 Linux")
        blocks = [c for c in clang.children(cursor) if c.kind.name == "COMPOUND_STMT"]
        if len(blocks) != 1:
            raise Unsupported("a function without a body")
        self.body, self.result = blocks[0], cursor.result_type
        self.uses = self._module.uses_in(cursor)
        self.begin_comments(self.body.extent.start.offset)
        parameters, first = self._parameters()
        lines = self._lines(self.body)
        if self._allocates:
            first.insert(0, f"let mut {self._allocates}: Vec<Vec<u128>> = Vec::new();")
        result = self.result
        back = "" if kind(result) == "VOID" else f" -> {self.types.of(result)}"
        name = self._module.defined_name(cursor)
        head = self._module.export_attributes(cursor)
        if any(vectors.MODULE in line for line in (*parameters, back, *lines)):
            asked = self._module.features(cursor)
            head += [f'#[target_feature(enable = "{",".join(asked)}")]'] if asked else []
        signature = f'pub unsafe extern "C" fn {name}({", ".join(parameters)}){back}'
        if variadic:
            trampoline = self._trampoline(name, back)
            listed = f"__args: *mut {self._list_type or 'core::ffi::c_void'}"
            inner = ", ".join([*parameters, listed])
            plain_ones = ", ".join(parameter.removeprefix("mut ") for parameter in parameters)
            return "\n".join(
                [
                    *head,
                    "#[unsafe(naked)]",
                    f'pub unsafe extern "C" fn {name}({plain_ones}){back} {{',
                    *trampoline,
                    "}",
                    "",
                    f'unsafe extern "C" fn {_list_name(name)}({inner}){back} {{',
                    *first,
                    *lines,
                    "}",
                ]
            )
        return "\n".join([*head, f"{signature} {{", *first, *lines, "}"])

    def _lines(self, block: Any) -> list[str]:
        jumps = None if needs_machine(block) else structure_jumps(block)
        if jumps is None:
            self.machine = Machine()
            self.lower(block)
            self.machine.emit(*self.rest_of_comments(block), self.end())
            return self.machine.lines()
        self.jumps = jumps
        lines = [*self.statements(block), *self.rest_of_comments(block)]
        children = clang.children(block)
        if kind(self.result) != "VOID" and (
            not children or children[-1].kind.name != "RETURN_STMT"
        ):
            lines.append(self.end())
        return lines

    def _parameters(self) -> tuple[list[str], list[str]]:
        """Parameters, and what is done with them first."""
        type_ = self._cursor.type.get_canonical()
        parameters = list(self._cursor.get_arguments())
        taken = list(type_.argument_types()) if kind(type_) == "FUNCTIONPROTO" else []
        if len(taken) != len(parameters):
            taken = [parameter.type for parameter in parameters]
        found: list[str] = []
        first: list[str] = []
        for argument, travels in zip(parameters, taken, strict=True):
            name = self.names.give(argument.spelling or "unused")
            self.locals[argument.hash] = name
            rust = self.types.parameter(travels)
            if is_narrower(
                argument.type, travels
            ) or (  # it was defined before there were prototypes
                is_function_pointer(travels) and self.types.parameter(argument.type) != rust
            ):
                first.append(f"let mut {name} = {self.cast(name, travels, argument.type)};")
                rust = self.types.of(travels)
            found.append(f"mut {name}: {rust}")
            if is_open(argument.type) or (
                is_pointer(argument.type) and is_open(plain(argument.type).get_pointee())
            ):
                sizes = self._dimensions(argument)
                first += [*sizes.declared, *sizes.set]
        return found, first

    def _trampoline(self, name: str, back: str) -> list[str]:
        """Assembly that lays out the arguments for `va_arg` and calls the function proper."""
        whole = floating = 0
        for argument in self._cursor.get_arguments():
            if kind(argument.type) in FLOATS:
                floating += 1
            elif is_complex(argument.type):
                floating += 1 if self.types.of(argument.type) == "types::Complex32" else 2
            elif (
                is_integer(argument.type)
                or is_pointer(argument.type)
                or self._is_array(argument.type)
            ):
                whole += 1
            else:
                raise Unsupported("a variadic definition that takes a struct")
        if floating > 8:
            raise Unsupported("a variadic definition with many floating parameters")
        if back and not (
            is_integer(self.result)
            or is_pointer(self.result)
            or kind(self.result) in FLOATS
            or is_complex(self.result)
        ):
            raise Unsupported("a variadic definition that returns a struct")
        behind = max(0, whole - len(_WHOLE))
        handed = (8 * (behind + 1) + 15) // 16 * 16 if whole >= len(_WHOLE) else 0
        frame = 216 + handed
        code = [f"sub rsp, {frame}"]
        code += [
            f"mov [rsp + {handed + 32 + 8 * n}], {register}" for n, register in enumerate(_WHOLE)
        ]
        code += ["test al, al", "je 2f"]
        code += [f"movaps [rsp + {handed + 80 + 16 * n}], xmm{n}" for n in range(8)]
        code += ["2:"]
        for n in range(behind):  # parameters that came on the stack continue over it
            code += [f"mov rax, [rsp + {frame + 8 + 8 * n}]", f"mov [rsp + {8 * n}], rax"]
        code += [
            f"mov dword ptr [rsp + {handed}], {8 * min(whole, len(_WHOLE))}",
            f"mov dword ptr [rsp + {handed + 4}], {48 + 16 * floating}",
            f"lea rax, [rsp + {frame + 8 + 8 * behind}]",
            f"mov [rsp + {handed + 8}], rax",
            f"lea rax, [rsp + {handed + 32}]",
            f"mov [rsp + {handed + 16}], rax",
        ]
        if handed:
            code += [f"lea rax, [rsp + {handed}]", f"mov [rsp + {8 * behind}], rax"]
        else:
            code += [f"mov {_WHOLE[whole]}, rsp"]
        code += ["call {inner}", f"add rsp, {frame}", "ret"]
        quoted = [f'"{line}",' for line in code]
        return ["core::arch::naked_asm!(", *quoted, f"inner = sym {_list_name(name)})"]

    def _is_array(self, type_: Any) -> bool:
        return self.types.parameter(type_).startswith("*")

    # -- what initialisers and expressions ask for

    def name_of(self, declared: Any) -> str:
        """See `Initials`."""
        return self.locals.get(declared.hash) or self._module.name_of(declared)

    def address_if_there(self, declared: Any) -> str:
        """See `Initials`."""
        return "" if declared.hash in self.locals else self._module.address_if_there(declared)

    def enumerator(self, declared: Any) -> str:
        """See `Initials`."""
        return self._module.enumerator(declared)

    def named_constant(self, cursor: Any) -> str:
        """See `Initials`."""
        return self._module.constant(cursor) if cursor.kind.name in NAMED else ""

    def called_macro(self, cursor: Any) -> tuple[str, str] | None:
        """See `Initials`."""
        use = self.uses.get(cursor.hash) if self.uses else None
        function = None if use is None else self._module.called_macro(use, self)
        if use is None or function is None:
            return None
        values = [self.value(argument_values(argument)[0]) for argument in use.arguments]
        return f"{function.definition.name}({', '.join(values)})", function.result

    def source_text(self, cursor: Any) -> bytes:
        """See `Initials`."""
        return self._module.source_text(cursor)

    def assembly_of(self, statement: Any) -> list[str]:
        """See `Statements`."""
        return self._module.assembly_of(statement)

    def assembly_in(self) -> list[tuple[Any, AssemblyStatement | None]]:
        """See `Assembly`."""
        if self._assembly is None:
            found = list(_assembly_below(self.body))
            written = written_in(clang.printed(self._cursor, whole=True))
            same = len(found) == len(written)
            self._assembly = list(zip(found, written, strict=True)) if same else []
        return self._assembly

    def external(self, name: str, declared: Any) -> str:
        """See `Initials`."""
        return self._module.external(name, declared)

    def external_called(self, declared: Any, arguments: list[Any], result: Any) -> str:
        """See `Calls`."""
        types = [self.types.parameter(argument.type) for argument in arguments]
        return self._module.external_called(declared, types, result)

    def temporary(self, rust: str, value: str) -> str:
        """See `Initials`."""
        name = self.names.give("literal")
        if self.machine is not None:
            self.machine.hoist(f"let mut {name}: {rust} = core::mem::zeroed();")
            self.before.append(f"{name} = {value};")
        else:
            self.before.append(f"let mut {name}: {rust} = {value};")
        return name

    def allocate_stack(self, count: str) -> str:
        """See `Calls`."""
        if not self._allocates:
            self._allocates = self.names.give("stack")
        return (
            f"{{ {self._allocates}.push(vec![0u128; ({count}) as usize / 16 + 1]);"
            f" {self._allocates}.last_mut().unwrap_unchecked().as_mut_ptr()"
            " as *mut core::ffi::c_void }"
        )

    def variadic_arguments(self, list_type: Any) -> str:
        """See `Calls`."""
        if list_type.kind.name != "POINTER":
            raise Unsupported("an unsupported kind of va_list")
        self._list_type = self.types.of(list_type.get_pointee())
        return "__args"

    def end(self) -> str:
        """See `Statements`."""
        if kind(self.result) == "VOID":
            return "return;"
        if self._cursor.spelling == "main":
            return "return 0;"
        return f"return {self.zero(self.result)};"


def is_narrower(type_: Any, travels: Any) -> bool:
    """Return whether a parameter of an old definition is narrower than what is passed for it."""
    return kind(type_) != kind(travels) and (
        (kind(type_) == "FLOAT" and kind(travels) == "DOUBLE")
        or (is_integer(type_) and is_integer(travels) and type_.get_size() < travels.get_size())
    )


def _list_name(name: str) -> str:
    """Return the name of a variadic function proper, which takes its arguments as a list."""
    return f"{rust_name(name).removeprefix('r#')}__listed"


def _assembly_below(cursor: Any) -> Iterator[Any]:
    """Yield the statements of assembly in a block, in their order."""
    for child in clang.children(cursor):
        if child.kind.name == "ASM_STMT":
            yield child
        else:
            yield from _assembly_below(child)
