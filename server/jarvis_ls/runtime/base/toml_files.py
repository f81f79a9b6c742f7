"""TOML from untrusted files, as plain values."""

from __future__ import annotations

from typing import Any

from jarvis_ls.core.toml import read_toml


def parse_toml(data: bytes) -> Any:
    """Return the value of a TOML text. Raises `ValueError` saying what is wrong."""
    try:
        return read_toml(decode_utf8(data))
    except ValueError as error:
        raise ValueError(f"no TOML: {error}") from None


def decode_utf8(data: bytes) -> str:
    """Return the text of a file, without a byte order mark. Raises `ValueError` when it is not
    UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
