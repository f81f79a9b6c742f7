"""Protocol types that are built cheaply compare as those of the library do."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

CODE = """
import json, sys
if sys.argv[1] == "lean":
    from jarvis_ls.lsp.pygls_fixes.lean import load_protocol_types
    load_protocol_types()
from lsprotocol import types as t

def at(line): return t.Range(t.Position(line, 1), t.Position(line, 2))

class Own(t.Hover): pass

some = [
    t.Hover("a"), t.Hover("a", at(1)), t.Hover("a", at(1)), t.Hover("a", at(2)), Own("a"),
    t.Position(1, 2), t.Position(1, 3), t.Range(t.Position(1, 2), t.Position(1, 3)), at(1),
    t.TextEdit(at(1), "x"), t.TextEdit(at(1), "x"), t.TextEdit(at(1), "y"), None, "a",
]
def hashed(one):
    try: hash(one)
    except TypeError: return False
    return True
print(json.dumps([[a == b, a != b] for a in some for b in some]))
print(json.dumps([hashed(one) for one in some]))
"""


def test_types_of_a_lean_start_compare_like_any_others():
    lean, plain = (_said(how) for how in ("lean", "plain"))
    assert lean == plain
    assert {tuple(pair) for pair in lean[0]} == {(True, False), (False, True)}


def _said(how: str) -> list[Any]:
    made = subprocess.run(
        [sys.executable, "-c", CODE, how], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in made.stdout.splitlines()]
