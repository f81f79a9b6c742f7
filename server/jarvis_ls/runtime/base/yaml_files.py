"""YAML and TOML from untrusted files, as plain values.

Aliases are refused: a page of them can represent gigabytes. Depth and size are limited, and the
loader builds nothing but plain values.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jarvis_ls.core.files import read_regular
from jarvis_ls.runtime.base.toml_files import decode_utf8, parse_toml

MAX_DEPTH = 50
MAX_BYTES = 256_000
MAX_FRONT = 20_000
"""Bytes of front matter."""


def parse_yaml(data: bytes) -> Any:
    """Return the value of a YAML text. Raises `ValueError` saying what is wrong."""
    import yaml

    text = decode_utf8(data)
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise ValueError("YAML aliases are not taken")
            if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                depth += 1
                if depth > MAX_DEPTH:
                    raise ValueError(f"nested more than {MAX_DEPTH} deep")
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                depth -= 1
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where is not None else ""
        raise ValueError(f"no YAML{line}: {getattr(error, 'problem', None) or error}") from None
    except RecursionError:
        raise ValueError("nested too deep") from None


def front_matter(data: bytes) -> tuple[dict[str, Any], str]:
    """Return the YAML between lines of `---` that a text begins with, and the text below it.

    Raises `ValueError` saying what is wrong.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    if lines[0].strip() != b"---":
        raise ValueError("it does not begin with front matter between lines of ---")
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == b"---"), 0)
    if not end:
        raise ValueError("its front matter has no end")
    front = b"\n".join(lines[1:end])
    if len(front) > MAX_FRONT:
        raise ValueError(f"its front matter has more than {MAX_FRONT} bytes")
    values = parse_yaml(front)
    if not isinstance(values, dict):
        raise ValueError("its front matter is not a mapping")
    return values, decode_utf8(b"\n".join(lines[end + 1 :]))


def read_settings(path: Path, root: Path | None = None) -> Any:
    """Return the value of a `.toml`, `.yaml`, `.yml` or `.json` file, `root` as in `read_regular`.

    Raises `SkippedFile` when it cannot be read, `ValueError` when it cannot be understood.
    """
    data = read_regular(path, limit=MAX_BYTES, root=root)
    return parse_toml(data) if path.suffix == ".toml" else parse_yaml(data)
