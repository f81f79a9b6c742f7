"""What the JSON schemas of settings share: their heads, and the sentences that describe keys."""

from __future__ import annotations

import ast
import inspect
import json
from typing import Any

Schema = dict[str, Any]


def sentence_under(record: type, name: str) -> str:
    """Return the sentence under a field of a dataclass; empty where there is none."""
    body = ast.parse(inspect.getsource(record)).body[0]
    assert isinstance(body, ast.ClassDef)
    lines = zip(body.body, body.body[1:], strict=False)
    for field, below in lines:
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and field.target.id == name
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            return " ".join(str(below.value.value).split())
    return ""


def whole(title: str, description: str, schema: Schema) -> str:
    """Return a schema as JSON, a line for each key: Draft 4 is what TOML plugins read."""
    head = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "title": title,
        "description": description,
    }
    return json.dumps({**head, **schema}, indent=None, separators=(",\n", ":")) + "\n"
