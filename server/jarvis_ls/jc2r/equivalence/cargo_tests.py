"""Recorded cases as tests of the crate, for `cargo test`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.harness.program_cases import Recorded


def write_cargo_tests(crate: Path, cases: Sequence[Recorded]) -> None:
    """Cases as files below `tests/recorded` of the crate, and `tests/recorded.rs` that runs them.

    Raises `JarvisError`.
    """
    folder = crate / "tests" / "recorded"
    try:
        shutil.rmtree(folder, ignore_errors=True)
        for number, case in enumerate(case for case in cases if case.expected is not None):
            _write_case(folder / f"{number:04}-{_plain_name(case.name)}", case)
        (crate / "tests" / "recorded.rs").write_text(_RUNNER)
    except OSError as error:
        raise JarvisError(
            "cannot write {path}: {why}", path=error.filename, why=error.strerror
        ) from None


def _write_case(folder: Path, case: Recorded) -> None:
    expected = case.expected
    assert expected is not None
    for name, files in (("in", case.files), ("out", expected.files)):
        (folder / name).mkdir(parents=True)
        for path, (data, mode) in files.items():
            place = folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            place.chmod(mode | 0o400)
    words = [case.program, case.called or case.program, *case.arguments]
    (folder / "arguments").write_bytes(b"\0".join(os.fsencode(word) for word in words))
    (folder / "stdin").write_bytes(case.stdin)
    (folder / "stdout").write_bytes(expected.stdout)
    (folder / "stderr").write_bytes(expected.stderr)
    (folder / "status").write_text(str(expected.status))


def _plain_name(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)[:60]


_RUNNER = """//! Runs the cases below `tests/recorded`, each in a folder of its own.
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn files(folder: &Path, base: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, base, found);
        } else {
            let name = path.strip_prefix(base).unwrap().to_path_buf();
            found.push((name, fs::read(&path).unwrap_or_default()));
        }
    }
    found.sort();
}

fn all(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    files(folder, folder, &mut found);
    found
}

fn copy(from: &Path, to: &Path) {
    for (name, _) in all(from) {
        fs::create_dir_all(to.join(&name).parent().unwrap()).unwrap();
        fs::copy(from.join(&name), to.join(&name)).unwrap();
    }
}

fn check(case: &Path, programs: &Path) -> Result<(), String> {
    let words = fs::read(case.join("arguments")).unwrap();
    let words: Vec<&OsStr> = words.split(|byte| *byte == 0).map(OsStr::from_bytes).collect();
    let number = std::process::id();
    let name = case.file_name().unwrap().to_string_lossy();
    let folder = std::env::temp_dir().join(format!("recorded-{number}-{name}"));
    fs::create_dir_all(&folder).unwrap();
    copy(&case.join("in"), &folder);
    let mut child = Command::new(programs.join(words[0]))
        .arg0(words[1])
        .args(&words[2..])
        .current_dir(&folder)
        .env_clear()
        .envs([("PATH", "/bin:/usr/bin"), ("LC_ALL", "C"), ("TZ", "UTC"), ("HOME", "/nonexistent")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{:?}: {error}", words[0]))?;
    let input = fs::read(case.join("stdin")).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let left = all(&folder);
    fs::remove_dir_all(&folder).unwrap();
    let status = output.status.code().unwrap_or_else(|| -output.status.signal().unwrap_or(0));
    let expected = fs::read_to_string(case.join("status")).unwrap();
    if status.to_string() != expected {
        return Err(format!("exit status {status}, expected {expected}"));
    }
    if output.stdout != fs::read(case.join("stdout")).unwrap() {
        return Err("standard output differs".into());
    }
    if output.stderr != fs::read(case.join("stderr")).unwrap() {
        return Err("standard error differs".into());
    }
    if left != all(&case.join("out")) {
        return Err("the files that are left differ".into());
    }
    Ok(())
}

#[test]
fn recorded_cases() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let own = std::env::current_exe().unwrap();
    let programs = own.parent().unwrap().parent().unwrap();
    let mut cases: Vec<PathBuf> =
        fs::read_dir(tests).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            check(case, programs).err().map(|why| format!("{}: {why}", case.display()))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\\n"));
}
"""
