"""Permission bits of files as C writes them: octal numbers, `S_I...` names, `|` between them."""

from __future__ import annotations

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.constants import constant

_BITS = {
    "S_ISUID": 0o4000,
    "S_ISGID": 0o2000,
    "S_ISVTX": 0o1000,
    "S_IRWXU": 0o700,
    "S_IRUSR": 0o400,
    "S_IWUSR": 0o200,
    "S_IXUSR": 0o100,
    "S_IRWXG": 0o070,
    "S_IRGRP": 0o040,
    "S_IWGRP": 0o020,
    "S_IXGRP": 0o010,
    "S_IRWXO": 0o007,
    "S_IROTH": 0o004,
    "S_IWOTH": 0o002,
    "S_IXOTH": 0o001,
    "S_IREAD": 0o400,
    "S_IWRITE": 0o200,
    "S_IEXEC": 0o100,
    "_S_IREAD": 0o400,
    "_S_IWRITE": 0o200,
    "ACCESSPERMS": 0o777,
    "DEFFILEMODE": 0o666,
    "ALLPERMS": 0o7777,
}


def mode_value(node: Node | None, call: Call) -> int | None:
    """Return the permission bits an expression represents, or None."""
    return _value(node, call, 16)


def _value(node: Node | None, call: Call, fuel: int) -> int | None:
    if node is None or fuel <= 0:
        return None
    node = bare(node)
    if node.type == "identifier" and text(node) in _BITS:
        return _BITS[text(node)]
    if node.type == "binary_expression" and operator_of(node) == "|":
        left = _value(field(node, "left"), call, fuel - 1)
        right = _value(field(node, "right"), call, fuel - 1)
        return None if left is None or right is None else left | right
    return constant(node, call.function, call.unit)
