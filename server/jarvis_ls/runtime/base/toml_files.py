"""TOML from untrusted files, as plain values."""

from __future__ import annotations

from typing import Any


def parse_toml(data: bytes) -> Any:
    """Return the value of a TOML text. Raises `ValueError` saying what is wrong."""
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        return tomllib.loads(decode_utf8(data))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"no TOML: {error}") from None
    except RecursionError:
        raise ValueError("nested too deep") from None


def decode_utf8(data: bytes) -> str:
    """Return the text of a file, without a byte order mark. Raises `ValueError` when it is not
    UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
