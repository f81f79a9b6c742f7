"""Whether an error can leave a function of Rust with `?`, and how another one becomes fit to.

Only what the signature says is known: that an error type of the program can be made of another
error is not seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.rust.shapes import path_of, return_type

_RESULT = re.compile(r"((?:\w+::)*Result)\s*<(.*)>", re.DOTALL)
_ANY = re.compile(r"Box\s*<\s*dyn\b[^>]*\bError\b|\b(?:anyhow|eyre|color_eyre)::")
_QUESTIONED = re.compile(r"\b(\w{1,80})(?:::<[^<>()]{0,80}>)?\([^()]{0,200}\)\?")
_OF_IO = frozenset(
    "open create create_new read read_exact read_to_end read_to_string read_dir read_link "
    "read_line write write_all write_fmt flush seek remove_file remove_dir remove_dir_all rename "
    "copy create_dir create_dir_all hard_link symlink set_permissions metadata symlink_metadata "
    "canonicalize bind connect accept sync_all sync_data set_len try_clone spawn output status "
    "wait kill current_dir shutdown set_nonblocking set_read_timeout set_write_timeout".split()
)
"""Functions of the standard library that fail with `std::io::Error`."""


@dataclass(frozen=True, slots=True)
class Errors:
    """What a function returns when it fails."""

    any: bool = False
    """Whether every error of the standard library becomes what the function returns."""
    io: str = ""
    """What the function calls the module of `ErrorKind`; empty for other errors than those of
    input and output."""
    option: bool = False
    """Whether it returns an `Option`."""


@once_per_function
def errors_of(function: Function) -> Errors:
    """Return what a function fails with, as far as its signature says."""
    written = return_type(function)
    if written.startswith("Option<"):
        return Errors(option=True)
    match = _RESULT.fullmatch(written.strip())
    if match is None:
        return Errors()
    name, inner = match.groups()
    error = _last_argument(inner)
    spelled = error or name
    path = path_of(spelled, function.unit)
    if _ANY.search(spelled) or _ANY.search(path):
        return Errors(any=True)
    if path in ("std::io::Error", "io::Error", "std::io::Result", "io::Result"):
        module = spelled.rpartition("::")[0] or "std::io"
        return Errors(io=module)
    return Errors()


def fits(function: Function | None, call: Node) -> bool:
    """Return whether the error of a call can leave the function around it with `?`."""
    if function is None or any(
        outer.type in ("closure_expression", "async_block")
        for outer in ancestors(call, function.node)
    ):
        return False
    errors, name = errors_of(function), called_name(call)
    if errors.any or (errors.io and name in _OF_IO):
        return True
    return name in _questioned_names(function)


@once_per_function
def _questioned_names(function: Function) -> frozenset[str]:
    """Return the names of the calls whose errors leave a function with `?`."""
    return frozenset(_QUESTIONED.findall(text(function.node)))


def converted(function: Function | None, place: Node, target: str, value: str) -> str:
    """Return the conversion of a number that leaves the function when it does not fit; empty where
    its errors do not allow that."""
    if function is None or any(
        outer.type in ("closure_expression", "async_block")
        for outer in ancestors(place, function.node)
    ):
        return ""
    errors = errors_of(function)
    if errors.any:
        return f"{target}::try_from({value})?"
    if errors.option:
        return f"{target}::try_from({value}).ok()?"
    if errors.io:
        return f"{target}::try_from({value}).map_err(|_| {errors.io}::ErrorKind::InvalidInput)?"
    return ""


def _last_argument(inner: str) -> str:
    """Return the second of two generic arguments; empty when there is one."""
    depth = 0
    for index, character in enumerate(inner):
        if character in "<([":
            depth += 1
        elif character in ">)]" and inner[index - 1 : index] != "-":
            depth -= 1
        elif character == "," and depth == 0:
            return " ".join(inner[index + 1 :].strip(" ,\n").split())
    return ""
