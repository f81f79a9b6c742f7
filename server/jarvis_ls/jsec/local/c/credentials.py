"""Functions that take passwords and keys, and where such values come from."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.library.c_functions import KEYS, PASSWORDS
from jarvis_ls.jsec.local.c.string_lengths import COPIES, contents_before, names_of, only_literals
from jarvis_ls.jsec.local.constants import string_literal

_CURL = {
    "CURLOPT_PASSWORD",
    "CURLOPT_USERPWD",
    "CURLOPT_PROXYPASSWORD",
    "CURLOPT_PROXYUSERPWD",
    "CURLOPT_KEYPASSWD",
    "CURLOPT_XOAUTH2_BEARER",
    "CURLOPT_SSLKEYPASSWD",
}


_SETTINGS = frozenset(
    "disable disabled enable enabled none null no off on yes true false auto default optional"
    " required require ask prompt always never any all plain hidden stdin env file keyring".split()
)
_NAME = re.compile(
    r"[A-Za-z]+[0-9]{0,2}(?:[-_. ][A-Za-z]*[0-9]{0,2}){0,8}|[A-Z0-9_]+|[a-z0-9_]*_[a-z0-9_]*"
)
"""A name of something: words with few digits, or of one case with underscores."""
_PATH_ENDS = re.compile(
    r"^[A-Za-z]:[\\/]|\.(?:pem|key|crt|cer|der|txt|conf|cfg|ini|json|pub|p12|pfx)$"
)
_SHORTEST = 8
_FEWEST_CHARACTERS = 6

_BLOCK_COPIES = frozenset({"memcpy", "memmove", "strncpy", "strlcpy", "wcsncpy"})


def secret_argument(call: Call) -> Node | None:
    """Return the argument of a call that is a password or key, or None."""
    place = PASSWORDS.get(call.name, KEYS.get(call.name))
    if place is None or call.is_method:
        return None
    if call.name == "curl_easy_setopt" and text(call.arg(1)) not in _CURL:
        return None
    return call.arg(place)


def literal_value(node: Node | None, function: Function | None) -> str | None:
    """Return the text of an argument that comes from string literals alone: written there, in a
    macro or variable, or copied into a buffer before. None when it may be anything.
    """
    if node is None:
        return None
    node = bare(node)
    written = string_literal(node, function)
    if written is not None or function is None:
        return written
    at, names = node.start_byte, names_of(node, function)
    latest = next(contents_before(function, names, at), None)
    if latest is None:
        return _initial_literal(node, function)
    if latest.call is not None and latest.argument == 0 and latest.call.name in _BLOCK_COPIES:
        return string_literal(latest.call.arg(1), function)
    if not only_literals(node, function, at):
        return None
    for event in contents_before(function, names, at):
        if event.call is not None and event.call.name in COPIES:
            return string_literal(event.call.arg(1), function)
    return None


def _initial_literal(node: Node, function: Function) -> str | None:
    """Return the literal that an array is declared with."""
    variable = function.variable(text(node), node.start_byte)
    if variable is None or not variable.is_array or variable.initial is None:
        return None
    return string_literal(variable.initial)


def looks_random(value: str) -> bool:
    """Return whether a literal looks like a real password or key: long enough, of several kinds of
    characters with a digit among them, and no name, path, number or repetition."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda c: not c.isalnum())
    present = [any(kind(c) for c in value) for kind in kinds]
    return (
        len(value) >= _SHORTEST
        and len(set(value)) >= _FEWEST_CHARACTERS
        and present[2]
        and sum(present) > 1
        and not is_path(value)
        and not _NAME.fullmatch(value)
    )


def is_path(value: str) -> bool:
    """Return whether a literal is the path of a file."""
    return (
        value.startswith(("/", "~/", "./", "../", "file:")) or _PATH_ENDS.search(value) is not None
    )


def is_setting(value: str) -> bool:
    """Return whether a literal is a word that says how something is done, as `disable`."""
    return value.lower() in _SETTINGS


def is_placeholder(value: str) -> bool:
    """Return whether a literal is no secret: empty, a format, a prompt, a word such as `changeme`
    in angle brackets, or one between stars, which is shown in place of the secret.
    """
    stripped = value.strip()
    return (
        not stripped
        or "%" in stripped
        or " " in stripped
        or stripped.startswith(("<", "${", "$(", "{{"))
        or stripped.endswith((":", "=", "?"))
        or set(stripped) <= {"x", "X"}
        or (stripped[0] == "*" == stripped[-1])
        or not any(c.isalnum() for c in stripped)
    )
