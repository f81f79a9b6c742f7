"""Input that reaches a format, a command, a path or a search path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.ir import Span
from jarvis_ls.jsec.flow.library.tables import KEYS, is_known
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.values import OTHER, Val

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis
    from jarvis_ls.jsec.flow.library.call import Call


def _taint(an: Analysis, st: State, value: Val) -> Any:
    from jarvis_ls.jsec.flow.library import strings

    strings.reach(an, st, value)
    return strings.taint_of(an, st, value)


def format_string(an: Analysis, st: State, value: Val, call: Call) -> None:
    """The format of a function of the `printf` family."""
    taint = _taint(an, st, value)
    if taint is not None:
        an.fault(st, "format-string", call.span, certain=True, source=taint, by=call.name)


def command(an: Analysis, st: State, value: Val, call: Call, *, program: bool) -> None:
    """A command line, the program, or one of its arguments."""
    from jarvis_ls.jsec.flow.library import strings

    taint = _taint(an, st, value)
    if taint is not None:
        an.fault(st, "command-injection", call.span, certain=True, source=taint, by=call.name)
        return
    text = strings.text_of(an, st, value) if program else None
    if text is not None and text.strip() and _searched(call.name):
        name = text.split()[0]
        if b"/" not in name and b"\\" not in name and name not in _BUILT_IN:
            an.fault(st, "search-path", call.span, certain=True, by=call.name,
                     name=name.decode("utf-8", "replace"))  # fmt: skip


_BUILT_IN: Final = frozenset(
    {b"cd", b"exit", b"echo", b"pause", b"cls", b"set", b"export", b"test"}
)


def _searched(name: str) -> bool:
    return name.lstrip("_").removeprefix("w") in (
        "system", "popen", "execlp", "execvp", "execlpe", "execvpe", "spawnlp", "spawnvp",
        "CreateProcess", "CreateProcessA", "CreateProcessW", "WinExec",
    )  # fmt: skip


def path(an: Analysis, st: State, value: Val, call: Call) -> None:
    """The name of a file."""
    taint = _taint(an, st, value)
    if taint is None or taint[2] == "text:argv":  # whoever starts a program may name its files
        return
    _path_fault(an, st, value, taint, call.span, call.name)


def _path_fault(an: Analysis, st: State, value: Val, taint: Any, span: Span, by: str) -> None:
    relative = any(reg is not None and reg.below for reg in (st.regs.get(t[0]) for t in value.ptr))
    an.fault(st, "path-relative" if relative else "path-absolute", span, certain=True,
             source=taint, by=by)  # fmt: skip


def stream(an: Analysis, st: State, name: str, owner: str, values: list[Val], span: Span) -> None:
    """A file stream of C++ is opened."""
    if name in ("open", owner) and values:
        taint = _taint(an, st, values[0])
        if taint is not None:
            _path_fault(an, st, values[0], taint, span, owner)


def secret(an: Analysis, st: State, value: Val, by: str, span: Span) -> None:
    """A password or key: one that lies in the program or came from a file as it is."""
    from jarvis_ls.jsec.flow.library import strings

    taint = _taint(an, st, value)
    if taint is not None:
        opened = any(target[0] in an.opened for target in value.ptr)  # on a way that succeeds
        if len(taint) > 3 and taint[3] == "file" and not opened and by not in KEYS:
            an.fault(st, "plain-secret", span, certain=True, source=taint, by=by)
        return
    if strings.text_of(an, st, value) or _is_fixed(st, value):
        an.fault(st, "hard-coded-secret", span, certain=True, by=by)


def _is_fixed(st: State, value: Val) -> bool:
    """Whether a block holds nothing but what the program says."""
    if len(value.ptr) != 1 or value.flags & OTHER:
        return False
    rid = value.ptr[0][0]
    reg = st.regs.get(rid)
    cells = [one for one in st.mem.get(rid, {}).values() if one.lo == one.hi != 0 and not one.ptr]
    return (reg is not None and reg.fixed) or len(cells) >= _KEY_BYTES


_KEY_BYTES: Final = 8
"""Numbers in a row that make a key."""


def search_path(an: Analysis, st: State, value: Val, call: Call) -> None:
    """The environment that tells where programs are looked for."""
    taint = _taint(an, st, value)
    if taint is not None:
        an.fault(st, "search-path", call.span, certain=True, source=taint, by=call.name)


def library(an: Analysis, st: State, value: Val, call: Call) -> None:
    """The name of a library that is loaded."""
    from jarvis_ls.jsec.flow.library import strings

    taint = _taint(an, st, value)
    if taint is not None:
        an.fault(st, "search-path", call.span, certain=True, source=taint, by=call.name)
        return
    text = strings.text_of(an, st, value) if call.name.startswith("LoadLibrary") else None
    if text is not None and is_known(text.decode("utf-8", "replace")):
        return
    if text and not set(b"\\/") & set(text):  # the folder of the document is searched, too
        an.fault(st, "search-path", call.span, certain=False, by=call.name,
                 name=text.decode("utf-8", "replace"))  # fmt: skip
