"""`jsec prove` and `jsec replay` on Rust, with a real cargo in the sandbox."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_jsec_prove import jsec, prove

MANIFEST = '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n'
LIBRARY = """\
pub fn port(text: &str) -> u16 {
    text.parse().unwrap()
}

fn nth(text: &str, n: usize) -> char {
    text.chars().nth(n).unwrap()
}

pub fn first(text: &str) -> Option<char> {
    if text.is_empty() { None } else { Some(nth(text, 0)) }
}

pub fn byte_at(data: &[u8], at: usize) -> u8 {
    unsafe { *data.get_unchecked(at) }
}

pub fn number(text: &str) -> i64 {
    text.trim_end().parse().unwrap()
}

pub fn call(data: &[u8], at: usize) -> ! {
    std::process::exit(data[at] as i32)
}

pub struct Line {
    text: String,
}

impl Line {
    pub fn new(text: &str) -> Self {
        Line { text: text.to_string() }
    }

    pub fn number(&self) -> i64 {
        self.text.trim().parse().unwrap()
    }

    pub fn head(&self) -> char {
        if self.text.is_empty() {
            return ' ';
        }
        self.text.chars().next().unwrap()
    }
}
"""
PROGRAM = """\
use std::io::Read;

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let values: Vec<&str> = text.split_whitespace().collect();
    let at: usize = std::env::args().nth(1).unwrap_or_default().parse().unwrap_or(0);
    if !values.is_empty() {
        println!("{}", values[at]);
    }
}
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cargo"), reason="cargo is not here"
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's own folder."""
    return tmp_path / "home"


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    """A folder with a crate below it."""
    folder = tmp_path / "project" / "small"
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(MANIFEST)
    return folder


def by_line(told: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """What is shown of findings that a run can show, by their line."""
    return {
        finding["line"]: finding["proof"]
        for finding in told["findings"]
        if finding["rule"] != "unsafe-without-safety-comment"
    }


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_functions_are_called_from_a_test(crate: Path, home: Path) -> None:
    (crate / "src" / "lib.rs").write_text(LIBRARY)
    project = crate.parent
    shown = by_line(prove(project, home, "--all"))
    port = shown[line_of(LIBRARY, "text.parse()")]
    assert (port["verdict"], port["report"]["kind"]) == ("reproduced", "panic"), port["message"]
    assert port["report"]["file"] == "small/src/lib.rs"
    private = shown[line_of(LIBRARY, "text.chars().nth")]
    # A newer compiler sees that the only caller has looked whether there is a character.
    assert private["verdict"] in ("depends_on_caller", "refuted"), private["message"]
    unsafe = shown[line_of(LIBRARY, "get_unchecked")]
    assert unsafe["verdict"] == "reproduced", unsafe["message"]
    named = shown[line_of(LIBRARY, "text.trim_end")]
    assert named["verdict"] == "reproduced", named["message"]
    method = shown[line_of(LIBRARY, "self.text.trim")]
    assert (method["verdict"], method["rung"]) == ("reproduced", "rust-runs"), method["message"]
    guarded = shown.get(line_of(LIBRARY, "self.text.chars"), {"verdict": "unproven"})
    assert guarded["verdict"] == "unproven"
    assert sorted(path.name for path in crate.iterdir()) == ["Cargo.toml", "src"]

    case = port["case_id"]
    assert jsec("replay", case, str(project), "--trust", home=home).returncode == 1
    saved = jsec("replay", case, str(project), "--save-test", home=home)
    assert saved.returncode == 0, saved.stderr
    test = ["cargo", "test", "--offline", "--test", f"jsec_{case}"]
    flawed = subprocess.run(test, cwd=crate, capture_output=True, text=True, check=False)
    assert "shows the flaw" in flawed.stderr + flawed.stdout, flawed
    repaired = LIBRARY.replace("text.parse().unwrap()", "text.parse().unwrap_or(0)")
    (crate / "src" / "lib.rs").write_text(repaired)
    done = subprocess.run(test, cwd=crate, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_is_run_with_input(crate: Path, home: Path) -> None:
    (crate / "src" / "main.rs").write_text(PROGRAM)
    shown = by_line(prove(crate, home, "--all"))
    index = shown[line_of(PROGRAM, "values[at]")]
    assert index["verdict"] == "reproduced", index["message"]
    assert index["report"]["kind"] == "index-out-of-bounds"
    assert index["case"]["stdin"] and index["case"]["arguments"]


def test_what_does_not_compile_says_the_error(crate: Path, home: Path) -> None:
    (crate / "src" / "lib.rs").write_text(LIBRARY + "fn wrong() -> u8 { missing }\n")
    shown = by_line(prove(crate, home, "--all"))
    told = shown[line_of(LIBRARY, "text.parse()")]
    assert told["verdict"] == "unproven"
    assert "missing" in json.dumps(told["message"]), told["message"]
