"""Building Rust in the copy: a program of a crate, or its unit tests with a module of ours behind
one file. Overflow checks and debug assertions are on; crates that are not on this machine are not
fetched.
"""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

from jarvis_ls.jsec.proof.evidence import Build
from jarvis_ls.jsec.proof.workbench import Workbench

CARGO = "cargo"
RUSTC = "rustc"
SYSTEMS = frozenset({CARGO, RUSTC})
"""Values of `Build.system` that this module builds."""
ADDRESS = "address"
"""`Build.checker` with which the address sanitizer is in the program."""
HARNESS = "harness.rs"
_FLAGS = "--cap-lints allow -C debug-assertions=on -C overflow-checks=on -C debuginfo=1"
_EXECUTABLES = (
    'executables() { sed -n \'s/.*"executable":"\\([^"]*\\)".*/\\1/p\' "$W/built"; }',
    'build() { cargo "$@" --offline --message-format=json-render-diagnostics $TARGET'
    ' >"$W/built" 2>"$W/said" || {'
    ' grep -q \'no library targets\\|no bin target\' "$W/said" || cp "$W/said" "$W/errors";'
    " return 1; }; }",
)


def rust_build(bench: Workbench, file: str, harness: str = "", checker: str = "") -> Build:
    """Return how a file of Rust is built: with its crate, or by itself when it is in none."""
    folder = crate_of(bench, file)
    system = RUSTC if folder is None else CARGO
    flags = () if folder is None else (folder,)
    return Build(CARGO, "", flags, (file,), harness, system=system, checker=checker)


def crate_of(bench: Workbench, file: str) -> str | None:
    """Return the folder of the crate that a file is in, `.` for the workspace itself; None when
    there is no Cargo.toml above it."""
    for folder in PurePosixPath(file).parents:
        manifest = bench.source(str(folder / "Cargo.toml"))
        if manifest is not None and b"[package]" in manifest.data:
            return str(folder)
    return None


def rust_lines(build: Build) -> list[str]:
    """Return the lines of a script that build `$W/prog` in the copy or end it."""
    file = build.sources[0]
    flags, target = _FLAGS, ""
    if build.checker == ADDRESS:
        flags += " -Z sanitizer=address"
        target = "--target $(rustc -vV | sed -n 's/^host: //p')"
    lines = [
        "W=$(mktemp -d) || exit 1",
        "ulimit -c 0",
        "fail() { printf '\\036failed\\n'; tail -c 3000 \"$W/errors\"; exit 0; }",
        '[ -z "$HOME" ] || mkdir -p "$HOME"',
        'echo "error: no program of the crate has this file" >"$W/errors"',
        *(["export RUSTC_BOOTSTRAP=1"] if build.checker == ADDRESS else []),
    ]
    if build.harness:
        lines.append(f'cat "$BENCH/{HARNESS}" >>{shlex.quote(f"./{file}")} || exit 1')
    if build.system == RUSTC:
        test = "--test" if build.harness else ""
        lines.append(
            f'rustc --edition 2021 {flags} {target} {test} {shlex.quote(f"./{file}")} -o "$W/prog"'
            ' 2>"$W/errors" || fail'
        )
        return [*lines, "printf '\\036built\\n'"]
    lines += [
        f"cd {shlex.quote('./' + build.flags[0])} || fail",
        f"export CARGO_TARGET_DIR=\"$W/target\" RUSTFLAGS='{flags}' CARGO_INCREMENTAL=0",
        f'TARGET="{target}"',
        *_EXECUTABLES,
        *(_test_lines() if build.harness else _program_lines(file)),
        '[ -x "$W/prog" ] || fail',
        "printf '\\036built\\n'",
    ]
    return lines


def _test_lines() -> list[str]:
    return [
        "for kind in --lib --bins; do",
        '    [ ! -x "$W/prog" ] && build test --no-run $kind || continue',
        "    for place in $(executables); do",
        '        "$place" jsec_probe --list 2>/dev/null | grep -q jsec_probe || continue',
        '        cp "$place" "$W/prog"',
        "    done",
        "done",
    ]


def _program_lines(file: str) -> list[str]:
    """Return the lines that take the program of a file, else the first."""
    name = PurePosixPath(file).name
    return [
        "build build --bins || fail",
        'for place in $(executables); do [ -x "$W/prog" ] || cp "$place" "$W/prog"; done',
        f'grep -F {shlex.quote("/" + name + chr(34))} "$W/built" >"$W/own"'
        ' && cp "$W/own" "$W/built" && for place in $(executables); do cp "$place" "$W/prog"; done',
    ]
