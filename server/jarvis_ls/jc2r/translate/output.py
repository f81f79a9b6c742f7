"""What translating makes: modules, what is left in C, and what all modules of a crate share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.jc2r.translate.extern_block import Externals
from jarvis_ls.jc2r.translate.macro_constants import Macros
from jarvis_ls.jc2r.translate.names import Names
from jarvis_ls.jc2r.translate.rust_types import Types
from jarvis_ls.jc2r.translate.sections import Sections
from jarvis_ls.jc2r.translate.symbol_owners import Homes

Stays = Callable[[str, str], str]
"""Why a function (file, name) is to stay in C; empty when it is not."""


@dataclass
class Crate:
    """What all modules share."""

    types: Types = field(default_factory=Types)
    externals: Externals = field(default_factory=Externals)
    enumerators: dict[str, str] = field(default_factory=dict)
    """Enumeration constants by USR, as Rust constants."""
    names: Names = field(default_factory=Names)
    homes: Homes = field(default_factory=Homes)
    threads: set[str] = field(default_factory=set)
    """Variables of each thread that functions use which stay in C, by USR."""
    sections: Sections = field(default_factory=Sections)
    stays: Stays = lambda _file, _name: ""
    """What is to stay in C though it could be translated."""
    variadic: bool = False
    """Whether Rust and the machine let variadic functions be defined."""

    defined: dict[str, set[str]] = field(default_factory=dict)
    """Names that the linker knows, with the files of the library that define them."""
    of_programs: set[str] = field(default_factory=set)
    """What programs define."""
    asked_of_others: set[str] = field(default_factory=set)
    """Names that a file of the library has and a program, too, and that another file of the library
    means: each program its own."""

    tied: dict[str, list[str]] = field(default_factory=dict)
    """Functions that several files of one folder define for others, with those files: each program
    says which of them it means."""

    replacing: dict[str, frozenset[str]] = field(default_factory=dict)
    """Functions that take the place of those of the C library in programs that a library is loaded
    into, by the file that defines them."""

    def is_alone(self, name: str, file: str) -> bool:
        """Return whether no other file of the library defines what a file does."""
        return self.defined.get(name, set()) <= {file}

    def __post_init__(self) -> None:
        self.macros = Macros(self.names)


@dataclass(frozen=True, slots=True)
class Left:
    """A function or variable that stays in C."""

    name: str
    line: int
    reason: str
    at: int = 0
    """Line of what is not translated; 0 when that is no line of it."""
    variable: bool = False


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
    nested: bool = False
    """Whether the C that is left may have functions in functions, which gcc calls by way of code
    on the stack."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Names that the C file's compiler must change."""
