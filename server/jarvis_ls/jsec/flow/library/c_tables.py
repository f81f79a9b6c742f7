"""Types, constants, macros and functions of C libraries whose headers are rarely part of a project.

The files in `c/` say what the headers would. Each has some of these sections, an entry a line:

- `[headers]`: patterns of the names of the headers that the file stands for.
- `[types]`: `unsigned int: guint guint32`: names of a type that words already represent.
- `[constants]`: `G_MAXINT 2147483647`.
- `[macros]`: `g_new(type, n) = …`: those with parameters, as their headers define them.
- `[words]`: `G_STMT_START do`: what stands for part of a statement in the macros of others.
- `[structures]`: C, one declaration a line.
- `[results]`: `char *: g_strdup …`: what functions return.
- `[effects]`: `g_free: free ["malloc", 0]; …`: in the words of `c_functions`, members as JSON.

What a project declares itself comes before all of it.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from jarvis_ls.codeintel.declarations import FunctionMacro
from jarvis_ls.jsec.flow.ir.c_types import INT, LONG, NAMED, UINT, ULONG, limits
from jarvis_ls.jsec.flow.ir.nodes import Number
from jarvis_ls.jsec.flow.ir.types import Type, pointer_to, record_type

_FOLDER: Final = Path(__file__).with_name("c")
_MACRO: Final = re.compile(r"(\w+)\(([^)]*)\) = (.+)")
_RECORD: Final = re.compile(r"(?:typedef )?struct (\w+) \{")
_ALIASES: Final = re.compile(r"\} ([\w, ]+);$")

Effect = tuple[Any, ...]


class Library:
    """What the files say, all of them together."""

    def __init__(self) -> None:
        self.headers: list[str] = []
        """Names of headers, `*` in place of what follows."""
        self.types: dict[str, Type] = {}
        """Types by name."""
        self.constants: dict[str, tuple[Number, Type]] = {}
        """Values and types of constants."""
        self.macros: dict[str, FunctionMacro] = {}
        """Macros with parameters."""
        self.words: dict[str, str] = {}
        """Parts of statements by name."""
        self.structures: dict[str, str] = {}
        """The declaration of a structure, by its tag."""
        self.results: dict[str, Type] = {}
        """What functions return."""
        self.effects: dict[str, tuple[Effect, ...]] = {}
        """What functions do."""

    def read(self, text: str) -> None:
        """Take in what a file says."""
        readers = {
            "[headers]": self._read_headers,
            "[types]": self._read_types,
            "[constants]": self._read_constant,
            "[macros]": self._read_macro,
            "[words]": self._read_word,
            "[structures]": self._read_structure,
            "[results]": self._read_results,
            "[effects]": self._read_effects,
        }
        reader = self._read_types
        for line in text.splitlines():
            if line[:1] == "[":
                reader = readers[line]
            elif line and line[0] != "#":
                reader(line)

    def stands_for(self, header: str) -> bool:
        """Return whether some file says what a header would."""
        return any(fnmatchcase(header, pattern) for pattern in self.headers)

    def _read_headers(self, line: str) -> None:
        self.headers += line.split()

    def _read_types(self, line: str) -> None:
        written, _, names = line.partition(": ")
        self.types.update(dict.fromkeys(names.split(), self._type(written)))

    def _read_constant(self, line: str) -> None:
        name, _, digits = line.partition(" ")
        value = int(digits)
        type_ = next(t for t in (INT, UINT, LONG, ULONG) if limits(t)[0] <= value <= limits(t)[1])
        self.constants[name] = value, type_

    def _read_macro(self, line: str) -> None:
        match = _MACRO.fullmatch(line)
        if match is None:
            raise ValueError(line)
        parameters = tuple(word.strip() for word in match[2].split(",") if word.strip())
        self.macros[match[1]] = FunctionMacro(parameters, match[3])

    def _read_word(self, line: str) -> None:
        name, _, written = line.partition(" ")
        self.words[name] = written

    def _read_structure(self, line: str) -> None:
        match = _RECORD.match(line)
        if match is None:
            raise ValueError(line)
        self.structures[match[1]] = line
        aliases = _ALIASES.search(line)
        for alias in aliases[1].split(", ") if aliases is not None else ():
            self.types[alias] = record_type(match[1])

    def _read_results(self, line: str) -> None:
        written, _, names = line.partition(": ")
        self.results.update(dict.fromkeys(names.split(), self._type(written)))

    def _read_effects(self, line: str) -> None:
        names, _, written = line.partition(": ")
        effects = tuple(_effect(part) for part in written.split("; "))
        self.effects.update(dict.fromkeys(names.split(), effects))

    def _type(self, written: str) -> Type:
        words = written.replace("*", "").strip()
        found = self.types.get(words) or NAMED[words]
        for _ in range(written.count("*")):
            found = pointer_to(found)
        return found


def _effect(written: str) -> Effect:
    kind, _, members = written.partition(" [")
    return (kind, *(_tuples(member) for member in json.loads(f"[{members}")))


def _tuples(member: Any) -> Any:
    return tuple(member) if isinstance(member, list) else member


def _read_all() -> Library:
    library = Library()
    for path in sorted(_FOLDER.glob("*.txt")):
        library.read(path.read_text("utf-8"))
    return library


LIBRARY: Final = _read_all()
