"""What a user without rights is told: files, folders and places that cannot be read or written."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import TWICE, command, write
from tests.lsp.editor import COMMAND, running
from tests.support.patience import HANGS

POWERS = "-dac_override,-dac_read_search,-fowner"
WITHOUT_RIGHTS = (
    ["setpriv", f"--bounding-set={POWERS}", "--inh-caps=-all", "--"] if os.geteuid() == 0 else []
)
"""Before a command of root, to which closed files are open otherwise."""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder that cannot be written, with a file and a folder that cannot be read."""
    root = tmp_path / "work"
    write(
        root,
        {
            "a.c": TWICE,
            "sub/b.c": TWICE,
            "locked/c.c": TWICE,
            "secret.c": TWICE,
            "secret.h": "",
            "uses.c": '#include "secret.h"\nint x;\n',
        },
    )
    for name in ("locked", "secret.c", "secret.h"):
        (root / name).chmod(0)
    for folder in ("sub", "."):
        (root / folder).chmod(0o555)
    yield root
    for folder in (".", "sub", "locked"):
        (root / folder).chmod(0o755)


def jsec(*arguments: str | Path, home: Path, status: int) -> subprocess.CompletedProcess[str]:
    run = subprocess.run(
        [*WITHOUT_RIGHTS, *command(*arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "JARVIS_HOME": str(home), "HOME": str(home)},
        timeout=HANGS,
    )
    assert run.returncode == status, run.stderr + run.stdout
    assert "Traceback" not in run.stderr
    return run


@pytest.mark.parametrize("flow", [(), ("--no-flow",)])
def test_what_cannot_be_read_is_named_and_the_rest_is_scanned(
    root: Path, tmp_path: Path, flow: tuple[str, ...]
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o555)
    text = jsec("scan", root, *flow, home=home, status=0).stdout
    assert text.count("double-free") == 2
    for name in ("locked", "secret.c", "secret.h"):
        assert f"  {root / name}: not readable\n" in text
    text = " ".join(text.split())  # notes are wrapped
    assert "the cache was not written" in text and "the scan record was not written" in text
    found = json.loads(jsec("scan", root, *flow, "--format", "json", home=home, status=0).stdout)
    assert [one["file"] for one in found["issues"]] == ["a.c", "sub/b.c"]
    assert not (root / ".jarvis").exists() and list(home.iterdir()) == []


def test_what_cannot_be_opened_or_written_is_said_in_one_line(root: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    told = jsec("scan", root / "locked", home=home, status=2).stderr
    assert told == f"jsec: {root / 'locked'}: directory is not readable\n"
    told = jsec("scan", root, "-o", root / "report.txt", home=home, status=2).stderr
    assert told.count("\n") == 1 and "report.txt: Permission denied" in told
    told = jsec("baseline", root, home=home, status=2).stderr
    assert told.count("\n") == 1 and "Permission denied" in told
    told = jsec("fix", root, "--rule", "double-free", "--unsafe", "--write", home=home, status=1)
    assert "a.c: Permission denied" in told.stderr
    assert "0 fixes in 0 files applied, 2 not applied" in told.stderr
    assert (root / "a.c").read_text() == TWICE


def test_settings_that_cannot_be_read_are_not_passed_over(root: Path, tmp_path: Path) -> None:
    root.chmod(0o755)
    write(root, {".jarvis/jsec.toml": 'exclude = ["a.c"]\n'})
    (root / ".jarvis").chmod(0)
    told = jsec("scan", root, home=tmp_path / "home", status=2).stderr
    (root / ".jarvis").chmod(0o755)
    assert told == "jsec: .jarvis/jsec.toml: not readable\n"


async def test_the_editor_names_what_cannot_be_read(root: Path) -> None:
    async with running(root, command=(*WITHOUT_RIGHTS, *COMMAND)) as editor:
        result = await editor.request("jarvis/scanWorkspace", {})
        assert (result.files, result.findings) == (3, 2)
        skipped = {one.uri.rpartition("/")[2]: one.reason for one in result.skipped}
        assert skipped == dict.fromkeys(("locked", "secret.c", "secret.h"), "not readable")
        again = await editor.request("jarvis/scanWorkspace", {})
        assert again.findings == 2
    assert not (root / ".jarvis").exists()
