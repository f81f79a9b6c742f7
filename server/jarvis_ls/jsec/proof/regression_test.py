"""A case as a regression test of the project: a folder with a script, the inputs and the
interposers, and an entry in the project's CTest or Makefile, or an integration test of its crate.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file, write_error
from jarvis_ls.jsec.proof.configured import configuring_lines
from jarvis_ls.jsec.proof.evidence import Case, Evidence, Report
from jarvis_ls.jsec.proof.reports import IN_HANDLER, LEAKED, OWN, UNSAFE
from jarvis_ls.jsec.proof.runner import ASAN, FIXED, LEVELS, MEMCHECK, UBSAN, build_lines, quoted
from jarvis_ls.jsec.proof.rust_build import HARNESS, SYSTEMS
from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.jsec.proof.workbench import INTERPOSERS

FOLDER = "tests"
SCRIPT = "run.sh"
_LIMIT = 4_000_000
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TARGET = re.compile(r"^(check|test)[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Planned:
    """A file of a test, before it is written."""

    path: str
    """Relative to the workspace, with forward slashes."""
    data: bytes
    """What will be in it."""
    mode: int | None = None
    """Its permissions; None for those that files have here."""


def plan_test(root: Path, evidence: Evidence) -> list[Planned]:
    """Return the files that make the case of some evidence a test, its script first; the last may
    be the project's own CTest or Makefile with one entry more. Raises `JarvisError`.
    """
    case = evidence.case
    if case is None:
        raise JarvisError("There is no case to make a test of.")
    name = f"jsec-{case.id}"
    folder = f"{FOLDER}/{name}"
    script = f"{folder}/{SCRIPT}"
    planned = [
        Planned(script, _script(root, case, evidence).encode("utf-8", "surrogateescape"), 0o755),
        Planned(f"{folder}/{INTERPOSERS.name}", INTERPOSERS.read_bytes()),
        Planned(f"{folder}/in0", case.stdin),
    ]
    planned += [
        Planned(f"{folder}/in0.{place}", data) for place, (_, data) in enumerate(case.files)
    ]
    is_rust = case.build.system in SYSTEMS
    if case.build.harness:
        harness = HARNESS if is_rust else "harness.c"
        planned.append(Planned(f"{folder}/{harness}", case.build.harness.encode()))
    if is_rust and case.build.flags:
        return [*planned, _cargo_test(case.build.flags[0], name, script)]
    return [*planned, *_entry(root, name, script)]


def save_test(root: Path, evidence: Evidence) -> Path:
    """Write the case of some evidence as a test and return its script, relative to `root`.

    What is there under its name is replaced. Raises `JarvisError` when it cannot be written.
    """
    planned = plan_test(root, evidence)
    for file in planned:
        *folders, name = Path(file.path).parts
        folder = _folder(root, *folders)
        replace_file(folder / name, file.data, mode=file.mode)
    return Path(planned[0].path)


def _folder(root: Path, *names: str) -> Path:
    """Return a folder below the root, made when it is missing; no link is followed."""
    folder = root
    for name in names:
        folder = folder / name
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise write_error(folder, error) from None
        if folder.is_symlink():
            raise JarvisError("{folder} is a link; nothing is written there", folder=folder)
    return folder


def _script(root: Path, case: Case, evidence: Evidence) -> str:
    report = evidence.report
    fails_call = report is not None and report.kind.startswith("failed ")
    variables = {**dict(case.environment), **case.settings.environment()}
    words = " ".join(quoted(f"{name}={value}") for name, value in variables.items())
    asan = ASAN.format(leaks=int(report is not None and report.kind == "leak"))
    places = [
        f'mkdir -p "$(dirname {shlex.quote(name)})" && cp "$BENCH/in0.{at}" {shlex.quote(name)}'
        for at, (name, _) in enumerate(case.files)
    ]
    is_copied = case.build.system in SYSTEMS or case.build.rewritten or case.build.configured
    program = f'{MEMCHECK} "$W/prog"' if case.build.checker == "memcheck" else '"$W/prog"'
    output = "/dev/full" if case.settings.full else '"$W/out"'
    said = f'grep -v -e "^{OWN}" -e "^    #" -e "^[[:space:]]*$" "$W/err"'
    check = (
        f'[ $STATUS -ne 0 ] || {said} >/dev/null || {{ echo "a failure was ignored"; exit 1; }}'
        if fails_call
        else f'if grep -q -a -E "{_pattern(report)}" "$W/err"; then cat "$W/err"; exit 1; fi'
    )
    return "\n".join(
        [
            "#!/usr/bin/env bash",
            f"# {evidence.message}".replace("\n", " "),
            "# Written by `jsec replay --save-test`; fails while the flaw is there.",
            'BENCH=$(cd "$(dirname "$0")" && pwd) || exit 2',
            'cd "$BENCH/../.." || exit 2',
            *(_COPIED if is_copied else ()),
            *(configuring_lines(root) if case.build.configured else ()),
            *(
                line.replace("exit 0", "exit 2").replace("printf '\\036failed\\n'; ", "")
                for line in build_lines(case.build, LEVELS[0], find_toolchain())
                if "036built" not in line
            ),
            'trap \'rm -rf "$W" "$COPY"\' EXIT',
            'mkdir "$W/d" && cd "$W/d" || exit 2',
            *places,
            f"FIXED={FIXED}",
            f"$FIXED env -i PATH=/usr/bin:/bin LC_ALL=C ASAN_OPTIONS={asan} UBSAN_OPTIONS={UBSAN} "
            f"{words} timeout 20 {program} {' '.join(map(quoted, case.arguments))} "
            f'<"$BENCH/in0" >{output} 2>"$W/err"',
            "STATUS=$?",
            check,
            "exit 0",
            "",
        ]
    )


_COPIED = (
    "COPY=$(mktemp -d) || exit 2  # a file is changed to be built",
    'tar --exclude=./target --exclude=./.git -cf - . | tar -xf - -C "$COPY" || exit 2',
    'cd "$COPY" || exit 2',
)


def _cargo_test(crate: str, name: str, script: str) -> Planned:
    """Return the integration test of a crate that runs a script."""
    folders = "" if crate == "." else f"{crate}/"
    up = "/.." * folders.count("/")
    text = (
        "//! Written by `jsec replay --save-test`; fails while the flaw is there.\n\n"
        f"#[test]\nfn {name.replace('-', '_')}() {{\n"
        f'    let script = concat!(env!("CARGO_MANIFEST_DIR"), "{up}/{script}");\n'
        '    let done = std::process::Command::new("bash").arg(script).status();\n'
        '    assert!(done.expect("bash").success(), "{} shows the flaw", script);\n}\n'
    )
    return Planned(f"{folders}{FOLDER}/{name.replace('-', '_')}.rs", text.encode())


def _pattern(report: Report | None) -> str:
    if report is not None and report.file.endswith(".rs"):
        return f"Sanitizer:|panicked at [^ ]*{re.escape(report.file.rpartition('/')[2])}:"
    own = f"|{LEAKED}" if report is not None and report.kind == "leak" else ""
    if report is not None and report.kind.startswith(IN_HANDLER):
        own = f"|{UNSAFE}{report.kind.removeprefix(IN_HANDLER)}"
    return f"Sanitizer:|runtime error:|uninitialised{own}"


def _entry(root: Path, name: str, script: str) -> list[Planned]:
    """Return the file that tells the project's own tests of a script, unless it does."""
    cmake = _text(root / "CMakeLists.txt", root)
    if cmake is not None:
        if name in cmake:
            return []
        enabled = "" if "enable_testing" in cmake else "enable_testing()\n"
        entry = f"\n{enabled}add_test(NAME {name} COMMAND bash ${{CMAKE_SOURCE_DIR}}/{script})\n"
        return [Planned("CMakeLists.txt", (cmake.rstrip("\n") + entry).encode())]
    for file in _MAKEFILES:
        makefile = _text(root / file, root)
        if makefile is None:
            continue
        if name in makefile:
            return []
        found = _TARGET.search(makefile)
        target = found[1] if found else "check"
        entry = f"\n.PHONY: {target} {name}\n{target}: {name}\n{name}:\n\tbash {script}\n"
        return [Planned(file, (makefile.rstrip("\n") + "\n" + entry).encode())]
    return []


def _text(path: Path, root: Path) -> str | None:
    try:
        return read_regular(path, limit=_LIMIT, root=root).decode("utf-8")
    except (SkippedFile, UnicodeDecodeError):
        return None
