"""What functions of the C library do, as its standard says."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import z3

from jarvis_ls.jsec.proof.symbolic import terms
from jarvis_ls.jsec.proof.symbolic.allocations import Allocations, bytes_of, size_of
from jarvis_ls.jsec.proof.symbolic.expressions import Results
from jarvis_ls.jsec.proof.symbolic.goal import INVARIANT, Check
from jarvis_ls.jsec.proof.symbolic.machine import GaveUp
from jarvis_ls.jsec.proof.symbolic.memory import (
    NULL,
    Block,
    Life,
    Origin,
    Pointer,
    Rest,
    State,
    Value,
    Wild,
    is_null,
    wild,
)
from jarvis_ls.jsec.proof.symbolic.syntax import INT, THROW, Node
from jarvis_ls.jsec.proof.symbolic.terms import Number

_RAND_MAX = (1 << 31) - 1
_MOST_CELLS = 1 << 12
_NOTHING = frozenset(
    "srand srandom time clock putchar putc fputc puts_unlocked fclose fflush rewind feof ferror "
    "clearerr fgetc getc getchar ungetc close socket listen shutdown htons htonl ntohs ntohl "
    "isalpha isdigit isspace isupper islower isalnum isprint isxdigit ispunct iscntrl toupper "
    "tolower abs labs sleep usleep getpid getuid geteuid isatty fileno ftell fseek lseek fputwc "
    "putwchar fgetwc getwc getwchar iswalpha iswdigit iswspace towupper towlower tolower umask "
    "sqrt fabs pow floor ceil log exp sin cos fmod __errno_location __ctype_b_loc".split()
)
"""Functions that change nothing that is followed, and read no memory of the program."""
_READERS = {
    **dict.fromkeys(["atoi", "atol", "atoll", "atof", "puts", "fputs", "perror", "unlink"], (0,)),
    **dict.fromkeys(["remove", "system", "chdir", "rmdir", "inet_addr"], (0,)),
    **dict.fromkeys(["rename", "strcmp", "strcasecmp", "strspn", "strcspn", "strcoll"], (0, 1)),
    "link": (0, 1),
}
"""Functions that read strings: which of their arguments."""
_WIDE_READERS = {
    **dict.fromkeys(["fputws"], (0,)),
    **dict.fromkeys(["wcscmp", "wcsspn", "wcscspn"], (0, 1)),
}
_NULL_ALLOWED = frozenset({"free", "realloc", "time", "fflush", "system", "alloca"})
"""Functions that take null pointers."""
_MAY_BE_NULL = frozenset(
    {("snprintf", 0)}
    | {(name, 1) for name in ("strtol", "strtoul", "strtoll", "strtoull", "strtod")}
)
"""Arguments that may be null, though others may not."""
_ENDS = frozenset("exit _exit _Exit abort __assert_fail longjmp quick_exit".split()) | {THROW}
_OPENERS = frozenset({"fopen", "fdopen", "popen", "freopen", "tmpfile", "opendir"})
_PRINTERS = {
    **dict.fromkeys(["printf"], 0),
    **dict.fromkeys(["fprintf", "dprintf"], 1),
    "syslog": 1,
}
_WIDE_PRINTERS = {"wprintf": 0, "fwprintf": 1}
_DIRECTIVE = re.compile(
    r"%(?P<flags>[-+ #0']*)(?P<width>\*|\d{0,6})(?:\.(?P<precision>\*|\d{0,6}))?"
    r"(?P<length>hh|h|ll|l|j|z|t|L|q)?(?P<kind>[a-zA-Z%])"
)
_DIGITS = {"": 11, "hh": 11, "h": 11}


class Library(Allocations):
    """Follows calls of the C library."""

    def library(
        self, state: State, name: str, values: Sequence[Value], node: Node
    ) -> Results | None:
        """See `Statements`."""
        name = name.removeprefix("__builtin_").removeprefix("__isoc99_")
        if name == INVARIANT and len(values) == 1:
            truth = self.truth(values[0])
            if Check.INVARIANT in self.goal.checks:
                self.require(state, Check.INVARIANT, truth, node)
            return [(state, self.anything(node.type))] if self.assume(state, truth) else []
        if name not in _NULL_ALLOWED:
            self._require_objects(state, name, values, node)
        if name in _NOTHING:
            return [(state, self._result(state, name, node))]
        if name in _ENDS:
            leaves = name in ("longjmp", THROW)
            if leaves and (self.goal.is_of_ends or self.guards):
                raise GaveUp(name)
            return []
        if name in _READERS or name in _WIDE_READERS:
            unit = 1 if name in _READERS else 4
            for number in (_READERS if unit == 1 else _WIDE_READERS)[name]:
                if number < len(values):
                    self.length(state, values[number], unit, node)
            return [(state, self.anything(node.type))]
        if name in _OPENERS:
            return self._open_stream(state, values, node)
        if name in _PRINTERS:
            return self._print(state, values, _PRINTERS[name], 1, node)
        if name in _WIDE_PRINTERS:
            return self._print(state, values, _WIDE_PRINTERS[name], 4, node)
        found = _MODELS.get(name)
        if found is None:
            return None
        count, model = found
        return model(self, state, values, node) if len(values) >= count else None

    def _require_objects(
        self, state: State, name: str, values: Sequence[Value], node: Node
    ) -> None:
        """Ask that no argument is null where none may be."""
        for number, value in enumerate(values):
            if isinstance(value, Pointer | Wild) and (name, number) not in _MAY_BE_NULL:
                self.require(state, Check.NULL, self.truth(value), node)

    def _result(self, state: State, name: str, node: Node) -> Value:
        value = self.anything(node.type)
        if name in ("rand", "random"):
            state.path.append(terms.bits(value, node.type.bits) >= 0)
        return value

    # -- memory

    def memset(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `memset`."""
        return self._set(state, values, 1, node)

    def wmemset(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `wmemset`."""
        return self._set(state, values, 4, node)

    def _set(self, state: State, values: Sequence[Value], unit: int, node: Node) -> Results:
        pointer, byte, count = values[0], values[1], size_of(values[2])
        size = bytes_of(count, unit)
        self.access(state, pointer, size, node, write=True)
        if not isinstance(pointer, Pointer):
            self.forget_exposed(state)
            return [(state, pointer)]
        self.forget_bytes(state, pointer, size)
        block = state.blocks.get(pointer.block)
        offset = pointer.offset
        if (
            isinstance(byte, int)
            and isinstance(size, int)
            and isinstance(offset, int)
            and block is not None
            and not block.constant
            and _has_room(block, offset, size)
        ):
            self._fill_with(state, pointer.block, offset, (size, unit, int(byte)))
        return [(state, pointer)]

    def _fill_with(
        self, state: State, number: int, offset: int, what: tuple[int, int, int]
    ) -> None:
        size, unit, byte = what
        block = state.blocks[number]
        value = (byte + 128) % 256 - 128 if unit == 1 else byte
        if byte == 0 and offset == 0 and size == block.size:
            state.blocks[number] = replace(block, cells={}, rest=Rest.ZERO)
        elif 0 < size // unit <= _MOST_CELLS:
            cells = dict(block.cells)
            cells.pop(offset, None)
            cells.update(dict.fromkeys(range(offset, offset + size, unit), (unit, value)))
            state.blocks[number] = replace(block, cells=cells)

    def memcpy(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `memcpy` and `memmove`."""
        return self._copy(state, values, 1, node)

    def wmemcpy(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `wmemcpy` and `wmemmove`."""
        return self._copy(state, values, 4, node)

    def _copy(self, state: State, values: Sequence[Value], unit: int, node: Node) -> Results:
        target, source, size = values[0], values[1], bytes_of(size_of(values[2]), unit)
        self.access(state, source, size, node, write=False)
        self.access(state, target, size, node, write=True)
        self._transfer(state, target, source, size)
        return [(state, target)]

    def _transfer(self, state: State, target: Value, source: Value, size: Number) -> None:
        """Copy bytes as far as they are known."""
        block = state.blocks.get(source.block) if isinstance(source, Pointer) else None
        data = None
        if (
            isinstance(source, Pointer)
            and block is not None
            and isinstance(size, int)
            and isinstance(source.offset, int)
            and _has_room(block, source.offset, size)
        ):
            data = self._part(block, source.offset, size)
        room = state.blocks.get(target.block) if isinstance(target, Pointer) else None
        self.forget_bytes(state, target, size)
        if (
            data is not None
            and isinstance(target, Pointer)
            and room is not None
            and not room.constant
            and isinstance(target.offset, int)
            and isinstance(size, int)
            and size > 0
            and _has_room(room, target.offset, size)
        ):
            self._store_bytes(state, target.block, target.offset, data)
        elif block is not None:
            self._expose_all(state, block)

    def memcmp(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `memcmp`."""
        for value in values[:2]:
            self.access(state, value, size_of(values[2]), node, write=False)
        return [(state, self.anything(node.type))]

    # -- strings

    def strlen(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `strlen`."""
        return [(state, self.length(state, values[0], 1, node))]

    def wcslen(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `wcslen`."""
        return [(state, self.length(state, values[0], 4, node))]

    def strcpy(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `strcpy`."""
        return self._append(state, values, (1, False), node)

    def wcscpy(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `wcscpy`."""
        return self._append(state, values, (4, False), node)

    def strcat(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `strcat`."""
        return self._append(state, values, (1, True), node)

    def wcscat(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `wcscat`."""
        return self._append(state, values, (4, True), node)

    def strncat(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `strncat`."""
        return self._append(state, values, (1, True), node)

    def wcsncat(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `wcsncat`."""
        return self._append(state, values, (4, True), node)

    def _append(
        self, state: State, values: Sequence[Value], how: tuple[int, bool], node: Node
    ) -> Results:
        """Put a string behind the one that is there, or in its place; of the string at most as many
        characters as a third argument says."""
        target, source = values[0], values[1]
        unit, is_behind = how
        before: Number = self.length(state, target, unit, node) if is_behind else 0
        if len(values) > 2:
            added = self._at_most(state, source, unit, size_of(values[2]), node)
        else:
            added = self.length(state, source, unit, node)
        whole = terms.add_sizes(before, added)
        size = terms.add_sizes(bytes_of(whole, unit), unit)
        self.access(state, target, size, node, write=True)
        if not is_behind and isinstance(added, int) and added <= _MOST_CELLS:
            self._transfer(state, target, source, size)
        else:
            self.set_string(state, target, whole, unit)
        return [(state, target)]

    def _at_most(self, state: State, source: Value, unit: int, most: Number, node: Node) -> Number:
        """Return how many characters are taken of a string; it need not end when `most` fit."""
        with self.unobserved():
            length = self.length(state, source, unit, node)
        if self.wants(Check.READ, Check.NULL, Check.LIFE):
            self.length(state, source, unit, node)
        if isinstance(length, int) and isinstance(most, int):
            return min(length, most % (1 << 64))
        first, second = terms.bits(length, 64), terms.bits(most, 64)
        return terms.plain_size(z3.If(z3.ULT(first, second), first, second))

    def strncpy(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `strncpy`: it always writes as many characters as it is told."""
        return self._copy_padded(state, values, 1, node)

    def wcsncpy(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `wcsncpy`."""
        return self._copy_padded(state, values, 4, node)

    def _copy_padded(self, state: State, values: Sequence[Value], unit: int, node: Node) -> Results:
        target, source, count = values[0], values[1], size_of(values[2])
        size = bytes_of(count, unit)
        if self.wants(Check.READ, Check.NULL, Check.LIFE):
            with_room = isinstance(source, Pointer) and isinstance(count, int)
            if not (with_room and self._reads_enough(state, source, size)):
                self.length(state, source, unit, node)
        self.access(state, target, size, node, write=True)
        length: Number | None = None
        if isinstance(source, Pointer):
            with self.unobserved():
                length = self._length(state, source, unit)
        self.forget_bytes(state, target, size)
        if isinstance(length, int) and isinstance(count, int) and length < count:
            self._transfer(state, target, source, (length + 1) * unit)
        return [(state, target)]

    def _reads_enough(self, state: State, source: Value, size: Number) -> bool:
        """Return whether so many bytes may be read, whatever is in them."""
        if not isinstance(source, Pointer):
            return False
        block = state.blocks.get(source.block)
        if block is None or block.life is not Life.ALIVE:
            return False
        return self.proves(state, self._fits(block, source, size))

    def strchr(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `strchr`, `strrchr` and `strstr`: null, or a place in the string."""
        return self._find(state, values[0], 1, node)

    def wcschr(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `wcschr` and the like."""
        return self._find(state, values[0], 4, node)

    def _find(self, state: State, pointer: Value, unit: int, node: Node) -> Results:
        length = self.length(state, pointer, unit, node)
        if not isinstance(pointer, Pointer):
            return [(state, wild())]
        self.begin_path()
        missing = state.fork()
        index = terms.fresh_size("index")
        state.path.append(z3.ULE(index, terms.bits(length, 64)))
        offset = terms.add_sizes(pointer.offset, bytes_of(index, unit))
        return [
            (missing, NULL),
            (state, Pointer(pointer.block, offset, pointer.low, pointer.high)),
        ]

    def strdup(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `strdup`."""
        length = self.length(state, values[0], 1, node)
        found = self._allocate(state, terms.add_sizes(length, 1), Rest.UNKNOWN, node)
        for path, pointer in found:
            if not is_null(pointer):
                self.set_string(path, pointer, length, 1)
        return found

    def strtol(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `strtol` and the like."""
        self.length(state, values[0], 1, node)
        if not is_null(values[1]):
            self.access(state, values[1], 8, node, write=True)
            self.expose(state, values[0])
            self.forget_bytes(state, values[1], 8)
        return [(state, self.anything(node.type))]

    # -- input and output

    def rand(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `rand`: at most `RAND_MAX`."""
        number = terms.fresh(INT, "rand")
        state.path.append(number >= 0)
        return [(state, terms.convert(number, INT, node.type))]

    def fgets(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `fgets`."""
        return self._line(state, values, 1, node)

    def fgetws(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `fgetws`."""
        return self._line(state, values, 4, node)

    def _line(self, state: State, values: Sequence[Value], unit: int, node: Node) -> Results:
        target = values[0]
        count = terms.plain_size(terms.wide(values[1], INT)) if _is_whole(values[1]) else None
        if count is None:
            return [(state, self.anything(node.type))]
        self.access(state, target, bytes_of(count, unit), node, write=True)
        self.begin_path()
        ended = state.fork()
        self.forget_bytes(ended, target, bytes_of(count, unit))
        found: Results = [(ended, NULL)]
        length = terms.fresh_size("line")
        most = terms.bits(terms.add_sizes(count, -1), 64)
        if self.assume(state, z3.And(most >= 0, z3.ULE(length, most))):
            self._set_prefix(state, target, length, (unit, bytes_of(count, unit)))
            found.append((state, target))
        return found

    def _set_prefix(
        self, state: State, target: Value, length: Number, how: tuple[int, Number]
    ) -> None:
        """Note a string at a place where so many bytes may have been written."""
        unit, size = how
        self.forget_bytes(state, target, size)
        if isinstance(target, Pointer) and isinstance(target.offset, int):
            self.set_string(state, target, length, unit)
            block = state.blocks.get(target.block)
            if block is not None:
                strings = block.strings
                self.forget_bytes(state, target, size)
                block = state.blocks[target.block]
                state.blocks[target.block] = replace(block, strings=strings)

    def read(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `read` and `recv`: at most so many bytes are written, the result is their
        number, or -1."""
        size = size_of(values[2])
        self.access(state, values[1], size, node, write=True)
        self.forget_bytes(state, values[1], size)
        count = terms.fresh(node.type, "count")
        wide = terms.wide(count, node.type)
        state.path.append(z3.And(wide >= -1, z3.Or(wide < 0, z3.ULE(wide, terms.bits(size, 64)))))
        return [(state, count)]

    def fread(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `fread`."""
        width, most = size_of(values[1]), size_of(values[2])
        size = _product(width, most)
        self.access(state, values[0], size, node, write=True)
        self.forget_bytes(state, values[0], size)
        count = terms.fresh_size("count")
        state.path.append(z3.ULE(count, terms.bits(most, 64)))
        return [(state, count)]

    def fwrite(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `fwrite`."""
        size = _product(size_of(values[1]), size_of(values[2]))
        self.access(state, values[0], size, node, write=False)
        count = terms.fresh_size("count")
        state.path.append(z3.ULE(count, terms.bits(size_of(values[2]), 64)))
        return [(state, count)]

    def getenv(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `getenv`: null, or a string of any length."""
        self.length(state, values[0], 1, node)
        self.begin_path()
        missing = state.fork()
        length = self._any_length(state)
        pointer = self.new_block(state, terms.add_sizes(length, 1), Rest.UNKNOWN, Origin.CALLER)
        self.set_string(state, pointer, length, 1)
        return [(missing, NULL), (state, pointer)]

    def _open_stream(self, state: State, values: Sequence[Value], node: Node) -> Results:
        for value in values:
            if isinstance(value, Pointer) and not is_null(value):
                self.length(state, value, 1, node)
        return [(state, self.anything(node.type))]

    def _print(
        self, state: State, values: Sequence[Value], place: int, unit: int, node: Node
    ) -> Results:
        if place < len(values):
            self._follow_format(state, values[place], values[place + 1 :], unit, node)
        return [(state, self.anything(node.type))]

    def sprintf(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `sprintf`."""
        target = values[0]
        most = self._follow_format(state, values[1], values[2:], 1, node)
        if most is None:
            self.require(state, Check.WRITE, False, node)
            self.havoc_call(state, [target], frees=False)
            return [(state, self.anything(node.type))]
        size = terms.add_sizes(most, 1)
        self.access(state, target, size, node, write=True)
        length = terms.fresh_size("printed")
        state.path.append(z3.ULE(length, terms.bits(most, 64)))
        self._set_prefix(state, target, length, (1, size))
        return [(state, self.anything(node.type))]

    def snprintf(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `snprintf`."""
        target, size = values[0], size_of(values[1])
        self._follow_format(state, values[2], values[3:], 1, node)
        self.access(state, target, size, node, write=True)
        if isinstance(size, int) and size == 0:
            return [(state, self.anything(node.type))]
        length = terms.fresh_size("printed")
        most = terms.add_sizes(size, -1)
        path = z3.ULE(length, terms.bits(most, 64))
        if isinstance(size, int):
            state.path.append(path)
            self._set_prefix(state, target, length, (1, size))
        else:
            self.forget_bytes(state, target, size)
        return [(state, self.anything(node.type))]

    def swprintf(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `swprintf`."""
        size = bytes_of(size_of(values[1]), 4)
        self._follow_format(state, values[2], values[3:], 4, node)
        self.access(state, values[0], size, node, write=True)
        self.forget_bytes(state, values[0], size)
        return [(state, self.anything(node.type))]

    def sscanf(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `sscanf`: what it is given may be changed; `%s` has no limit."""
        return self._scan_into(state, values, 1, node)

    def fscanf(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `fscanf`."""
        return self._scan_into(state, values, 1, node)

    def scanf(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `scanf`."""
        return self._scan_into(state, values, 0, node)

    def _scan_into(self, state: State, values: Sequence[Value], place: int, node: Node) -> Results:
        text = self._text(state, values[place], 1)
        numbers = {"d", "i", "u", "x", "o", "c", "f", "e", "g", "n"}
        found = [m for m in _DIRECTIVE.finditer(text or "") if m["kind"] != "%"]
        is_plain = text is not None and all(
            m["kind"] in numbers and not (m["kind"] == "c" and m["width"]) for m in found
        )
        if not is_plain or len(found) != len(values) - place - 1:
            self.require(state, Check.WRITE, False, node)
            self.havoc_call(state, values[place + 1 :], frees=False)
            return [(state, self.anything(node.type))]
        for match, value in zip(found, values[place + 1 :], strict=True):
            size = _scanned_size(match)
            self.access(state, value, size, node, write=True)
            self.forget_bytes(state, value, size)
        return [(state, self.anything(node.type))]

    def _follow_format(
        self, state: State, text: Value, values: Sequence[Value], unit: int, node: Node
    ) -> Number | None:
        """Return how many characters a format gives at most; None when that is not known. Asks for
        what printing needs."""
        form = self._text(state, text, unit)
        if form is None:
            self.require(state, Check.READ, False, node)
            self.require(state, Check.WRITE, False, node)
            return None
        total: Number | None = len(_DIRECTIVE.sub("", form))
        waiting = list(values)
        for match in _DIRECTIVE.finditer(form):
            part = self._directive(state, match, waiting, node)
            total = None if total is None or part is None else terms.add_sizes(total, part)
        if "%" in _DIRECTIVE.sub("", form):
            return None
        return total

    def _directive(
        self, state: State, match: re.Match[str], values: list[Value], node: Node
    ) -> Number | None:
        kind, length = match["kind"], match["length"] or ""
        if kind == "%":
            return 1
        if "*" in (match["width"], match["precision"]) or not values:
            self.require(state, Check.READ, False, node)
            self.require(state, Check.WRITE, False, node)
            return None
        value = values.pop(0)
        least = int(match["width"] or 0)
        if kind == "s":
            most = self._printed_string(state, value, match, node)
            if most is None or isinstance(most, int):
                return None if most is None else max(most, least)
            return most if least == 0 else terms.add_sizes(most, least)
        precision = int(match["precision"] or 0)
        if kind in "diuxXoc":
            return max(least, precision + 3, _DIGITS.get(length, 22) + (kind == "o"))
        if kind == "p":
            return max(least, 20)
        if kind == "n":
            self.require(state, Check.WRITE, False, node)
            self.havoc_call(state, [value], frees=False)
        return None

    def _printed_string(
        self, state: State, value: Value, match: re.Match[str], node: Node
    ) -> Number | None:
        unit = 4 if match["length"] == "l" else 1
        if match["precision"] is None:
            return bytes_of(self.length(state, value, unit, node), 4 if unit == 4 else 1)
        most = int(match["precision"] or 0)
        if unit == 1 and self._reads_enough(state, value, most):
            return most
        self.length(state, value, unit, node)
        return most

    def _text(self, state: State, pointer: Value, unit: int) -> str | None:
        """Return the text of a literal; None when it is none."""
        block = state.blocks.get(pointer.block) if isinstance(pointer, Pointer) else None
        if block is None or not isinstance(pointer, Pointer):
            return None
        if not isinstance(pointer.offset, int):
            return None
        found: list[str] = []
        for at in range(pointer.offset, pointer.offset + _MOST_CELLS * unit, unit):
            cell = block.cells.get(at)
            if cell is None or cell[0] != unit or not isinstance(cell[1], int):
                return None
            if cell[1] == 0:
                return "".join(found)
            found.append(chr(int(cell[1]) % 0x110000))
        return None


Model = Callable[[Library, State, Sequence[Value], Node], Results]
_MODELS: dict[str, tuple[int, Model]] = {
    "malloc": (1, Library.malloc),
    "calloc": (2, Library.calloc),
    "realloc": (2, Library.realloc),
    "free": (1, Library.free),
    "alloca": (1, Library.alloca),
    "memset": (3, Library.memset),
    "wmemset": (3, Library.wmemset),
    "memcpy": (3, Library.memcpy),
    "memmove": (3, Library.memcpy),
    "wmemcpy": (3, Library.wmemcpy),
    "wmemmove": (3, Library.wmemcpy),
    "memcmp": (3, Library.memcmp),
    "strlen": (1, Library.strlen),
    "wcslen": (1, Library.wcslen),
    "strcpy": (2, Library.strcpy),
    "wcscpy": (2, Library.wcscpy),
    "strcat": (2, Library.strcat),
    "wcscat": (2, Library.wcscat),
    "strncat": (3, Library.strncat),
    "wcsncat": (3, Library.wcsncat),
    "strncpy": (3, Library.strncpy),
    "wcsncpy": (3, Library.wcsncpy),
    "strchr": (2, Library.strchr),
    "strrchr": (2, Library.strchr),
    "strstr": (2, Library.strchr),
    "strpbrk": (2, Library.strchr),
    "wcschr": (2, Library.wcschr),
    "wcsrchr": (2, Library.wcschr),
    "wcsstr": (2, Library.wcschr),
    "strdup": (1, Library.strdup),
    "strtol": (3, Library.strtol),
    "strtoul": (3, Library.strtol),
    "strtoll": (3, Library.strtol),
    "strtoull": (3, Library.strtol),
    "strtod": (2, Library.strtol),
    "rand": (0, Library.rand),
    "random": (0, Library.rand),
    "fgets": (3, Library.fgets),
    "fgetws": (3, Library.fgetws),
    "read": (3, Library.read),
    "recv": (4, Library.read),
    "fread": (4, Library.fread),
    "fwrite": (4, Library.fwrite),
    "getenv": (1, Library.getenv),
    "sprintf": (2, Library.sprintf),
    "snprintf": (3, Library.snprintf),
    "swprintf": (3, Library.swprintf),
    "sscanf": (2, Library.sscanf),
    "fscanf": (2, Library.fscanf),
    "scanf": (1, Library.scanf),
}
"""Functions by name, with how many arguments they have at least."""


def _is_whole(value: Value) -> bool:
    return isinstance(value, int | z3.ExprRef)


def _product(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    return terms.plain_size(terms.bits(left, 64) * terms.bits(right, 64))


def _has_room(block: Block, offset: int, size: int) -> bool:
    if not isinstance(block.size, int):
        return False
    return offset >= 0 and size >= 0 and offset + size <= block.size


def _scanned_size(match: re.Match[str]) -> int:
    length, kind = match["length"] or "", match["kind"]
    if kind in "feg":
        return 8 if length == "l" else 4 if not length else 16
    if kind == "c":
        return 1
    return {"hh": 1, "h": 2, "": 4}.get(length, 8)
