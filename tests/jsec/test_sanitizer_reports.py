"""What the sanitizers of gcc and clang print, as kinds of faults."""

from __future__ import annotations

import pytest

from jarvis_ls.jsec.proof.reports import parse_reports


@pytest.mark.parametrize("kind", ["signed", "unsigned"])
def test_signed_and_unsigned_overflow_are_told_apart(kind: str) -> None:
    said = (
        f"/project/a.c:5:25: runtime error: {kind} integer overflow: 70000 * 70000 cannot be "
        "represented in type 'int'\n    #0 0x55d in main /project/a.c:5:25\n"
    )
    (seen,) = parse_reports(said, "/project")
    assert seen.kind == f"{kind}-integer-overflow"
