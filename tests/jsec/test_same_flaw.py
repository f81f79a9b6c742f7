"""One flaw is one finding: of two rules that see it, the one that says more reports it."""

from __future__ import annotations

import json
from pathlib import Path

from jarvis_ls.cli import jsec

PRODUCT = """\
#include <stdlib.h>

static void *make(void *unused, int items, int size)
{
    void *made = malloc(items * size);
    return made;
}

void *(*maker)(void *, int, int) = make;
"""


def test_a_product_that_is_too_narrow_for_a_size_is_told_once(tmp_path: Path, capsys) -> None:
    (tmp_path / "a.c").write_text(PRODUCT)
    assert jsec.main(["scan", str(tmp_path), "--format", "jsonl", "--min-confidence", "0"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (product,) = (one for one in found if one["line"] == 5)
    assert product["rule"] == "allocation-size-overflow"
    assert {190, 680} <= set(product["cwe"])
