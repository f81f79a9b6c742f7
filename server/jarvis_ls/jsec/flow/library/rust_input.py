"""Input in Rust, and where it must not get: commands, programs, paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow.checks import injection
from jarvis_ls.jsec.flow.library import strings
from jarvis_ls.jsec.flow.library.call import Call
from jarvis_ls.jsec.flow.library.rust_values import (
    RustCall,
    put_at,
    taint_of,
    trust,
)
from jarvis_ls.jsec.flow.rust_types import place_of
from jarvis_ls.jsec.flow.state import UNKNOWN_FILL, State
from jarvis_ls.jsec.flow.types import ANY
from jarvis_ls.jsec.flow.values import (
    NOT_NULL,
    ONE,
    OTHER,
    ZERO,
    Val,
    tainted,
    unknown,
)

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_SHELLS = frozenset({b"sh", b"bash", b"/bin/sh", b"/bin/bash", b"zsh", b"dash", b"cmd", b"cmd.exe",
                     b"powershell", b"pwsh"})  # fmt: skip
_SWITCHES = frozenset({b"-c", b"/C", b"/c", b"-Command"})


def _source(an: Analysis, st: State, call: RustCall) -> None:
    file, name = an.frame.function.file, str(call.extra[0])
    if name != "env::var()" or file.rpartition("/")[2] != "build.rs":  # Cargo sets it there
        call.value = tainted(ANY, (file, call.span, "text:" + name))


def _opened_source(an: Analysis, st: State, call: RustCall) -> None:
    _path(an, st, call)
    label = "text:" + str(call.extra[0])
    call.value = tainted(ANY, (an.frame.function.file, call.span, label, "file"))


def _fills(an: Analysis, st: State, call: RustCall) -> None:
    """Input is put where an argument leads to."""
    source = (an.frame.function.file, call.span, "text:" + str(call.extra[0]))
    for value in call.values[1:2]:
        cells = [value]
        if value.cells is not None:
            cells = [one for one in value.cells.values() if one.ptr]
        for one in cells:
            for target in one.ptr:
                pointer = st.mem.get(target[0], {}).get(place_of("ptr"))
                if pointer is not None and pointer.ptr:
                    strings.overwrite(an, st, pointer, source)
                elif an.kind(target[0]) != "string":
                    st.regs[target[0]] = an.reg(st, target[0]).but(taint=source, fill=UNKNOWN_FILL)
                    place = an.places[target[0]]
                    whole = place is not None and place.type[0] in ("?", "r")
                    st.mem[target[0]] = {0: tainted(ANY, source)} if whole else {}
    call.value = unknown(ANY)


def _like(an: Analysis, st: State, call: RustCall) -> None:
    """What comes from a value, as trustworthy as it."""
    _mix(an, st, call)
    if call.value is not None and call.value.taint is None and len(call.values) == 1:
        value = call.values[0]
        if strings.text_of(an, st, value) is not None:
            call.value = value
        elif len(value.ptr) == 1:
            held = st.mem.get(value.ptr[0][0], {}).get(value.ptr[0][1])
            if held is not None and held.ptr and strings.text_of(an, st, held) is not None:
                call.value = held


def _checked(an: Analysis, st: State, call: RustCall) -> None:
    """A text is tested: what it may be afterwards is not known."""
    for value in call.values:
        trust(an, st, value)


def _adds(an: Analysis, st: State, call: RustCall) -> None:
    """A text is added to another."""
    where, added = call.values[0], call.values[-1]
    source = taint_of(an, st, added)
    if source is not None and len(call.values) > 1:
        put_at(an, st, where, tainted(ANY, source))


def _text(an: Analysis, st: State, value: Val) -> bytes | None:
    found = strings.text_of(an, st, value)
    if found is None and len(value.ptr) == 1:
        held = st.mem.get(value.ptr[0][0], {}).get(value.ptr[0][1])
        found = strings.text_of(an, st, held) if held is not None else None
    return found


def _command(an: Analysis, st: State, call: RustCall) -> None:
    program = call.values[0]
    source = taint_of(an, st, program)
    if source is not None:
        an.fault(st, "program-injection", call.span, certain=True, source=source,
                 by="Command::new")  # fmt: skip
    shell = (_text(an, st, program) or b"") in _SHELLS
    cells = {0: ONE if shell else ZERO, 8: ZERO}
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, cells)


def _argument(an: Analysis, st: State, call: RustCall) -> None:
    """A program is given an argument; what a shell is told to carry out must not come from
    outside."""
    where = call.values[0]
    call.value = where
    if len(where.ptr) != 1 or len(call.values) < 2:
        return
    rid, at = where.ptr[0][0], where.ptr[0][1]
    cells = st.mem.get(rid, {})
    shell, switched = cells.get(at), cells.get(at + 8)
    if shell is None or switched is None:
        return
    given = [call.values[1]]
    if given[0].cells is not None:
        given = list(given[0].cells.values())
    elif len(given[0].ptr) == 1 and an.kind(given[0].ptr[0][0]) == "local":
        held = st.mem.get(given[0].ptr[0][0], {})
        given = [one for at_, one in sorted((k, v) for k, v in held.items() if k is not None)]
    for value in given:
        if shell.lo == 1 and switched.lo == 1:
            source = taint_of(an, st, value)
            if source is not None:
                an.fault(st, "command-injection", call.span, certain=True, source=source,
                         by="Command::arg")  # fmt: skip
        elif _text(an, st, value) in _SWITCHES:
            switched = ONE
            st.put(rid, at + 8, ONE)


def _chain(an: Analysis, st: State, call: RustCall) -> None:
    call.value = call.values[0]


def _path(an: Analysis, st: State, call: RustCall) -> None:
    source = taint_of(an, st, call.values[0]) if call.values else None
    if source is not None:
        held = Val(0, 0, OTHER, source)
        name = str(call.extra[0]) if call.name == "@path" else "fs::read"
        injection.path(an, st, held, Call(name, [], (), call.result, call.span, ()))


def _tested(an: Analysis, st: State, call: RustCall) -> None:
    for value in call.values:
        trust(an, st, value)


def _trusts(an: Analysis, st: State, call: RustCall) -> None:
    for value in call.values:
        trust(an, st, value)


def _mix(an: Analysis, st: State, call: RustCall) -> None:
    """A value that is made of others: as trustworthy as these."""
    source = next((t for t in (taint_of(an, st, v) for v in call.values) if t is not None), None)
    call.value = unknown(ANY) if source is None else tainted(ANY, source)


EFFECTS: dict[str, Callable[[Any, State, RustCall], Any]] = {
    "@mix": _mix,
    "@source": _source,
    "@opened source": _opened_source,
    "@fills": _fills,
    "@like": _like,
    "@checked": _checked,
    "@adds": _adds,
    "@command": _command,
    "@argument": _argument,
    "@chain": _chain,
    "@path": _path,
    "@tested": _tested,
    "@trust": _trusts,
}
