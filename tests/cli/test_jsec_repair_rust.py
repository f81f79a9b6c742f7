"""`jsec fix --check-patch` on a finding in Rust, as a process with a real cargo.

Each patch that is no repair is stopped by the gate that is for it."""

from __future__ import annotations

import difflib
import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.test_jarvis_command import place as model_place
from tests.cli.test_jsec_repair import fix
from tests.cli.test_jsec_repair_agent import edit, gates
from tests.cli.test_jsec_repair_agent import fix as fix_by_agent

pytestmark = [
    pytest.mark.watches(),
    pytest.mark.skipif(
        sys.platform != "linux" or not shutil.which("cargo"), reason="cargo is not here"
    ),
]

LIBRARY = """\
/// Returns what a length of two bytes stands before.
pub fn body(data: &[u8]) -> &[u8] {
    let length = u16::from_le_bytes([data[0], data[1]]) as usize;
    &data[2..2 + length]
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_body_is_read() {
        assert_eq!(super::body(&[2, 0, 7, 8, 9]), [7, 8]);
    }
}
"""
LENGTH = "    let length = u16::from_le_bytes([data[0], data[1]]) as usize;\n"
SLICE = "    &data[2..2 + length]\n"
SHORT = "    if data.len() < 2 {\n        return &[];\n    }\n"
CHECKED = "    data[2..].get(..length).unwrap_or(&[])\n"
RIGHT = LIBRARY.replace(LENGTH + SLICE, SHORT + LENGTH + CHECKED)
WRONG = [
    ("scope", LIBRARY.replace("[7, 8]);", "[7]);")),
    ("scope", RIGHT.replace(SHORT, f"    #[cfg(not(test))]\n{SHORT}")),
    ("builds", RIGHT.replace("unwrap_or(&[])", "unwrap_or(0)")),
    ("tests", RIGHT.replace("get(..length)", "get(1..length)")),
    ("case", LIBRARY.replace(LENGTH, SHORT.replace("< 2", "== 3") + LENGTH)),
    ("same", RIGHT.replace("data.len() < 2", "data.len() < 2 || data.len() > 99")),
]


def write_crate(folder: Path) -> None:
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n'
    )
    (folder / "src" / "lib.rs").write_text(LIBRARY)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crate whose evidence is found once, and a home."""
    folder = tmp_path_factory.mktemp("repair-rust")
    write_crate(folder / "project")
    return folder


def judge(place: Path, after: str) -> tuple[int, dict[str, str], str]:
    """Judge a patch of the first finding: the exit status, the states of the gates, the output."""
    lines = difflib.unified_diff(
        LIBRARY.splitlines(keepends=True),
        after.splitlines(keepends=True),
        "a/src/lib.rs",
        "b/src/lib.rs",
    )
    patch = place / "change.diff"
    patch.write_text("".join(lines))
    status, output, errors = fix(
        *("--check-patch", patch, "1", place / "project", "--trust", "--format", "json"),
        home=place / "home",
    )
    assert output, errors
    assert (place / "project" / "src" / "lib.rs").read_text() == LIBRARY
    gates = json.loads(output)["attempts"][0]["judgement"]["gates"]
    return status, {gate["gate"]: gate["state"] for gate in gates}, output


def test_a_right_patch_passes_all_gates(place: Path) -> None:
    status, states, output = judge(place, RIGHT)
    assert status == 0, output
    assert {gate for gate, state in states.items() if state != "passed"} == {"runs"}, output
    assert states["runs"] == "none"


@pytest.mark.parametrize(("gate", "after"), WRONG)
def test_a_patch_that_is_no_repair_is_stopped(place: Path, gate: str, after: str) -> None:
    assert after != LIBRARY
    status, states, output = judge(place, after)
    assert status == 1
    assert [name for name, state in states.items() if state == "failed"] == [gate], output


async def test_an_agent_is_told_why_it_was_refused_until_a_patch_passes(tmp_path: Path) -> None:
    async with model_place(tmp_path) as p:
        write_crate(p.folder / "project")
        edit(p, "[7, 8]", "[7]", "src/lib.rs")
        edit(p, LENGTH + SLICE, SHORT + LENGTH + CHECKED, "src/lib.rs")
        status, told, err = await fix_by_agent(p)
    assert status == 0, (told, err)
    assert (told["status"], told["by"]) == ("repaired", "agent")
    assert [gates(attempt) for attempt in told["attempts"]] == [["scope"], []]
    assert "unwrap_or(&[])" in told["diff"]
