"""Input that reaches a format, a command, a path or a search path."""

from __future__ import annotations

from typing import Any, Final

from jarvis_ls.jsec.flow.domain import strings
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import OTHER, AbstractValue
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.library.c_functions import KEYS, is_known


def _taint(engine: Engine, state: AbstractState, value: AbstractValue) -> Any:
    strings.materialise(engine, state, value)
    return strings.taint_of(engine, state, value)


def format_string(
    engine: Engine, state: AbstractState, value: AbstractValue, by: str, span: Span
) -> None:
    """Check the format of a function of the `printf` family."""
    taint = _taint(engine, state, value)
    if taint is not None:
        engine.fault(state, "format-string", span, certain=True, source=taint, by=by)


def command(
    engine: Engine,
    state: AbstractState,
    value: AbstractValue,
    by: str,
    span: Span,
    *,
    program: bool,
) -> None:
    """Check a command line, the program, or one of its arguments."""
    taint = _taint(engine, state, value)
    if taint is not None:
        engine.fault(state, "command-injection", span, certain=True, source=taint, by=by)
        return
    text = strings.text_of(engine, state, value) if program else None
    if text is not None and text.strip() and _searches_path(by):
        name = text.split()[0]
        if b"/" not in name and b"\\" not in name and name not in _BUILT_IN:
            engine.fault(
                state,
                "search-path",
                span,
                certain=True,
                by=by,
                name=name.decode("utf-8", "replace"),
            )


_BUILT_IN: Final = frozenset(
    {b"cd", b"exit", b"echo", b"pause", b"cls", b"set", b"export", b"test"}
)


def _searches_path(name: str) -> bool:
    return name.lstrip("_").removeprefix("w") in (
        "system",
        "popen",
        "execlp",
        "execvp",
        "execlpe",
        "execvpe",
        "spawnlp",
        "spawnvp",
        "CreateProcess",
        "CreateProcessA",
        "CreateProcessW",
        "WinExec",
    )


def path(engine: Engine, state: AbstractState, value: AbstractValue, by: str, span: Span) -> None:
    """Check the name of a file."""
    taint = _taint(engine, state, value)
    if taint is None or taint[2] == "text:argv":  # anyone who starts a program may name its files
        return
    _path_fault(engine, state, value, taint, span, by)


def _path_fault(
    engine: Engine, state: AbstractState, value: AbstractValue, taint: Any, span: Span, by: str
) -> None:
    relative = any(
        reg is not None and reg.below
        for reg in (state.region_states.get(t[0]) for t in value.targets)
    )
    engine.fault(
        state,
        "path-relative" if relative else "path-absolute",
        span,
        certain=True,
        source=taint,
        by=by,
    )


def stream(
    engine: Engine,
    state: AbstractState,
    name: str,
    owner: str,
    values: list[AbstractValue],
    span: Span,
) -> None:
    """Check the name of the file that a stream of C++ opens."""
    if name in ("open", owner) and values:
        taint = _taint(engine, state, values[0])
        if taint is not None:
            _path_fault(engine, state, values[0], taint, span, owner)


def secret(engine: Engine, state: AbstractState, value: AbstractValue, by: str, span: Span) -> None:
    """Check a password or key: whether it is in the program or came from a file as it is."""
    taint = _taint(engine, state, value)
    if taint is not None:
        opened = any(
            target[0] in engine.opened for target in value.targets
        )  # on a way that succeeds
        if len(taint) > 3 and taint[3] == "file" and not opened and by not in KEYS:
            engine.fault(state, "plain-secret", span, certain=True, source=taint, by=by)
        return
    if strings.text_of(engine, state, value) or _is_fixed(state, value):
        engine.fault(state, "hard-coded-secret", span, certain=True, by=by)


def _is_fixed(state: AbstractState, value: AbstractValue) -> bool:
    """Return whether a block holds nothing but what the program says."""
    if len(value.targets) != 1 or value.flags & OTHER:
        return False
    rid = value.targets[0][0]
    reg = state.region_states.get(rid)
    cells = [
        cell
        for cell in state.memory.get(rid, {}).values()
        if cell.low == cell.high != 0 and not cell.targets
    ]
    return (reg is not None and reg.fixed) or len(cells) >= _KEY_BYTES


_KEY_BYTES: Final = 8
"""Numbers in a row that make a key."""


def search_path(
    engine: Engine, state: AbstractState, value: AbstractValue, by: str, span: Span
) -> None:
    """Check the environment variable that says where programs are found."""
    taint = _taint(engine, state, value)
    if taint is not None:
        engine.fault(state, "search-path", span, certain=True, source=taint, by=by)


def library(
    engine: Engine, state: AbstractState, value: AbstractValue, by: str, span: Span
) -> None:
    """Check the name of a library that is loaded."""
    taint = _taint(engine, state, value)
    if taint is not None:
        engine.fault(state, "search-path", span, certain=True, source=taint, by=by)
        return
    text = strings.text_of(engine, state, value) if by.startswith("LoadLibrary") else None
    if text is not None and is_known(text.decode("utf-8", "replace")):
        return
    if text and not set(b"\\/") & set(text):  # the folder of the document is searched, too
        engine.fault(
            state,
            "search-path",
            span,
            certain=False,
            by=by,
            name=text.decode("utf-8", "replace"),
        )
