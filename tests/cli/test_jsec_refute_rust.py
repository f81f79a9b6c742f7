"""`jsec prove` refutes panics in Rust that the compiler shows cannot happen, with a real cargo."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.test_jsec_prove import jsec, prove
from tests.cli.test_jsec_prove_rust import MANIFEST, by_line, line_of

LIBRARY = """\
pub fn quarter(n: u8) -> u8 {
    match n % 4 {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => unreachable!("sound"),
    }
}

pub fn fifth(n: u8) -> u8 {
    match n % 5 {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => unreachable!("flawed"),
    }
}

pub fn of_any<const N: u8>() -> u8 {
    if N > 9 {
        unreachable!("generic");
    }
    N
}

pub fn of_one() -> u8 {
    of_any::<1>()
}

fn told(n: u8, ok: bool) -> u8 {
    if !ok {
        unreachable!("private");
    }
    n.rotate_left(3) ^ 5
}

pub fn tell(n: u8) -> u8 {
    told(n, true)
}

pub fn summed(data: &[u8], n: u8) -> u8 {
    if n % 3 > 2 { unreachable!("behind") } else { data[usize::from(n)] }
}
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cargo"), reason="cargo is not here"
)


def test_only_what_the_compiler_has_shown_is_refuted(tmp_path: Path) -> None:
    crate, home = tmp_path / "small", tmp_path / "home"
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text(MANIFEST)
    (crate / "src" / "lib.rs").write_text(LIBRARY)
    shown = by_line(prove(crate, home, "--all"))
    verdicts = {
        word: shown[line_of(LIBRARY, f'unreachable!("{word}')]["verdict"]
        for word in ("sound", "flawed", "generic", "private", "behind")
    }
    sound = shown[line_of(LIBRARY, '"sound"')]
    assert verdicts["sound"] == "refuted", sound["message"]
    assert (sound["rung"], sound["strength"]) == ("removed-checks", "proven")
    assert verdicts["flawed"] != "refuted"
    # What another crate makes of it, or panics in the same statement, is not known.
    assert "refuted" not in (verdicts["generic"], verdicts["behind"])
    # All calls of what is private are known.
    assert verdicts["private"] == "refuted", shown[line_of(LIBRARY, '"private"')]["message"]

    everything = ("scan", str(crate), "--min-confidence", "0")
    assert "refuted" in jsec(*everything, home=home).stdout
    (crate / "src" / "lib.rs").write_text(LIBRARY.replace("n % 4", "n % 6"))
    assert "refuted" not in jsec(*everything, home=home).stdout
