"""A crate from the units of a project: one module a file, one binary a `main`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.baseline.module import Crate, Left, Module, Stays, Translator
from jarvis_ls.jc2r.baseline.names import Names
from jarvis_ls.jc2r.commands import Unit
from jarvis_ls.jc2r.records import MARK, SkippedUnit

EDITION = "2021"
BUILD_SECONDS = 900
MANIFEST = "Cargo.toml"
_CLAIM = f".{MANIFEST}."
"""How a manifest begins its name while it is written."""

_ALLOWED = ("dead_code", "non_camel_case_types", "non_snake_case", "non_upper_case_globals",
            "static_mut_refs", "unused_assignments", "unused_labels", "unused_mut",
            "unused_parens", "unused_unsafe", "unused_variables", "unreachable_code",
            "unreachable_patterns", "clashing_extern_declarations", "improper_ctypes",
            "improper_ctypes_definitions", "unused_braces", "unused_imports",
            "path_statements", "unpredictable_function_pointer_comparisons")  # fmt: skip


_MAIN_IN_C = """extern "C" {
    fn main_0(argc: i32, argv: *mut *mut i8) -> i32;
}"""
_BITS = """
/// The `width` bits from bit `offset` of a record on.
pub const unsafe fn get_bits(record: *const u8, offset: usize, width: usize) -> u64 {
    let mut value: u128 = 0;
    let first = offset / 8;
    let last = (offset + width + 7) / 8;
    let mut at = first;
    while at < last {
        value |= (*record.add(at) as u128) << (8 * (at - first));
        at += 1;
    }
    ((value >> (offset % 8)) as u64) & (u64::MAX >> (64 - width))
}

/// Sets the `width` bits from bit `offset` of a record on.
pub const unsafe fn set_bits(record: *mut u8, offset: usize, width: usize, value: u64) {
    let mut bit = 0;
    while bit < width {
        let byte = record.add((offset + bit) / 8);
        let mask = 1u8 << ((offset + bit) % 8);
        if value >> bit & 1 == 1 {
            *byte |= mask;
        } else {
            *byte &= !mask;
        }
        bit += 1;
    }
}
"""


@dataclass
class Translated:
    """What became of a project."""

    folder: Path
    name: str
    modules: list[Module] = field(default_factory=list)
    skipped: list[SkippedUnit] = field(default_factory=list)


def translate(
    root: Path, units: Sequence[Unit], folder: Path, linked: Sequence[str] = (),
    stays: Stays = lambda _file, _name: "",
) -> Translated:  # fmt: skip
    """Translate the C units of the project at `root` into a crate at `folder`.

    `linked` are libraries of the system that it needs; `stays` says what is to stay in C.

    Everything is thought through before anything is written. Raises `JarvisError` when there is
    nothing to translate or the disk refuses.
    """
    crate = Crate(stays=stays)
    name = re.sub(r"\W", "_", folder.name)
    found = Translated(folder, name)
    modules = _homes(root, units, crate, found)
    crate.types.reserve({"types", "sys"})
    ready: list[tuple[Unit, Translator]] = []
    whole: dict[str, str] = {}
    for one in modules:
        unit, translator = one
        try:
            translator.prepare()
            ready.append(one)
        except JarvisError as error:
            whole[unit.path] = str(error)
            translator.withdraw()
    for unit, translator in ready:
        try:
            found.modules.append(translator.translate())
        except JarvisError as error:
            whole[unit.path] = str(error)
    for unit, translator in modules:
        if unit.path in whole:
            module = _whole_in_c(root, unit, translator, whole[unit.path])
            if isinstance(module, SkippedUnit):
                found.skipped.append(module)
            else:
                found.modules.append(module)
    if not found.modules:
        raise JarvisError("Nothing was translated: " + "; ".join(
            f"{one.file}: {one.reason}" for one in found.skipped[:5]))  # fmt: skip
    _write(found, crate, root, units, linked)
    return found


def _whole_in_c(
    root: Path, unit: Unit, translator: Translator, reason: str
) -> Module | SkippedUnit:
    """A file that stays in C as it is, when the machine's compiler takes it."""
    compiler = shutil.which("cc")
    if compiler is None:
        return SkippedUnit(unit.path, reason)
    path = root / unit.path
    asked = subprocess.run(
        [compiler, "-w", "-MM", *unit.arguments, str(path)], capture_output=True, text=True,
        errors="replace", timeout=60, check=False,
    )  # fmt: skip
    checked = subprocess.run(
        [compiler, "-w", "-fsyntax-only", *unit.arguments, str(path)], capture_output=True,
        timeout=120, check=False,
    )  # fmt: skip
    if asked.returncode != 0 or checked.returncode != 0:
        return SkippedUnit(unit.path, reason)
    files = asked.stdout.replace("\\\n", " ").partition(":")[2].split()
    own = [Path(os.path.realpath(file)) for file in files]
    functions = translator.own_functions
    left = [Left(name, line, reason) for name, line in functions]
    module = Module(unit.path, translator.name, [], [], left)
    module.remainder = path.read_bytes()
    module.headers = tuple(
        sorted(file for file in own if file.is_relative_to(root) and file != path)
    )
    if "main" in (one for one, _ in functions):
        module.has_main, module.main_parameters = True, 2
        module.items = [_MAIN_IN_C]
    return module


def _homes(
    root: Path, units: Sequence[Unit], crate: Crate, found: Translated
) -> list[tuple[Unit, Translator]]:
    """The modules with their names; `crate` learns which of them offers what to the others."""
    names = Names({"types", "sys", "lib", "main", "test"})
    modules: list[tuple[Unit, Translator]] = []
    for unit in units:
        if unit.language != "c":
            found.skipped.append(SkippedUnit(unit.path, "C++ is not translated"))
            continue
        stem = re.sub(r"\W", "_", Path(unit.path).stem)
        translator = Translator(root, unit.path, list(unit.arguments), crate)
        translator.read()
        offered = translator.offered
        if stem == "main" and "main" in offered and all(one.name != stem for _, one in modules):
            name = stem  # a binary of that name; a module would be taken for one
        else:
            name = names.give(stem if not stem[:1].isdigit() else f"m{stem}")
        translator.name = name
        if "main" not in offered:
            for one in offered:
                crate.homes.setdefault(one, name)
        modules.append((unit, translator))
    return modules


def _write(
    found: Translated, crate: Crate, root: Path, units: Sequence[Unit], linked: Sequence[str]
) -> None:
    _claim(found.folder)
    source = found.folder / "src"
    for old in (source, found.folder / "c"):
        shutil.rmtree(old, ignore_errors=True)
    (found.folder / "build.rs").unlink(missing_ok=True)
    (source / "bin").mkdir(parents=True, exist_ok=True)
    libraries = [module for module in found.modules if not module.has_main]
    programs = [module for module in found.modules if module.has_main]
    allow = "".join(f"#![allow({lint})]\n" for lint in _ALLOWED)
    for module in libraries:
        others = [one.name for one in libraries if one.name != module.name]
        uses = f"use crate::{{{', '.join(['sys', 'types', *others])}}};\n\n"
        _rust(
            source / f"{module.name}.rs", f"//! {module.file}\n\n{uses}" + "\n\n".join(module.items)
        )
    for module in programs:
        others = [one.name for one in libraries]
        uses = f"use {found.name}::{{{', '.join(['sys', 'types', *others])}}};\n\n"
        text = f"//! {module.file}\n{allow}\n{uses}" + "\n\n".join(module.items) + _main(module)
        _rust(source / "bin" / f"{module.name}.rs", text)
    constants = "\n".join(crate.enumerators.values())
    definitions = "\n\n".join(crate.types.items.values())
    _rust(source / "types.rs", f"//! Types of all modules.\n\nuse crate::types;\n\n{constants}\n\n"
                               f"{definitions}\n{_BITS}")  # fmt: skip
    declared = "\n".join(crate.externals.values())
    links = "".join(f"#[link(name = {_quoted(name)})]\n" for name in linked)
    head = "//! What the system offers.\n\nuse crate::types;\n\n"
    _rust(source / "sys.rs", f'{head}{links}extern "C" {{\n{declared}\n}}\n')
    names = sorted(["sys", "types", *(module.name for module in libraries)])
    mods = "".join(f"pub mod {name};\n" for name in names)
    _rust(source / "lib.rs", f"{allow}\n{mods}")
    left = [module for module in found.modules if module.remainder]
    for module in left:
        _write_c(found.folder / "c", root, module)
    if left:
        _rust(found.folder / "build.rs", _build_script(left, units))
    manifest = (
        f"{MARK} from the C sources; changes are overwritten.\n\n"
        f'[package]\nname = "{found.name}"\nversion = "0.1.0"\n'
        f'edition = "{EDITION}"\n'
        "publish = false\n\n"
        '[lib]\ncrate-type = ["rlib", "cdylib", "staticlib"]\n\n'
        "[profile.dev]\noverflow-checks = false\ndebug-assertions = false\n\n"
        '[profile.release]\nopt-level = 3\npanic = "abort"\ncodegen-units = 1\n'
    )
    replace_file(found.folder / MANIFEST, manifest.encode())


def is_free(folder: Path) -> bool:
    """Whether a crate may be written there: nothing is there, or only what a run left that was
    killed while it claimed the folder."""
    return not folder.exists() or all(one.name.startswith(_CLAIM) for one in folder.iterdir())


def _claim(folder: Path) -> None:
    """The mark comes before everything else: what a killed run leaves is known as ours."""
    if is_free(folder):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / MANIFEST, f"{MARK}, which has not finished.\n".encode())
    for torn in folder.glob(f"{_CLAIM}*"):
        torn.unlink(missing_ok=True)


def _write_c(folder: Path, root: Path, module: Module) -> None:
    """The C that is left of a module, and the headers it needs, in the crate."""
    for path, data in [
        (module.file, module.remainder),
        *((one.relative_to(root).as_posix(), one.read_bytes()) for one in module.headers),
    ]:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, data)


def _build_script(left: Sequence[Module], units: Sequence[Unit]) -> str:
    """`build.rs`: compiles what is left with the machine's C compiler."""
    plain = {unit.path: _plain(unit.arguments) for unit in units}
    files = ", ".join(
        f"({_quoted(module.file)}, {_quoted(module.name)}, {str(module.has_main).lower()},"
        f" &[{', '.join(map(_quoted, plain[module.file] + _renamed(module)))}])"
        for module in left
    )
    return f"""//! Compiles the functions that are still in C.
use std::process::Command;

type Unit = (&'static str, &'static str, bool, &'static [&'static str]);
const UNITS: &[Unit] = &[{files}];

fn main() {{
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut objects = Vec::new();
    println!("cargo:rerun-if-changed=c");
    for (file, module, program, arguments) in UNITS {{
        let object = format!("{{out}}/{{module}}.o");
        run(Command::new(&compiler)
            .args(["-c", "-O2", "-w", "-fPIC", "-Ic"])
            .args(*arguments)
            .arg(format!("c/{{file}}"))
            .args(["-o", &object]));
        if *program {{
            println!("cargo:rustc-link-arg-bin={{module}}={{object}}");
        }} else {{
            objects.push(object);
        }}
    }}
    if !objects.is_empty() {{
        run(Command::new("ar").args(["crs", &format!("{{out}}/libremainder.a")]).args(&objects));
        println!("cargo:rustc-link-search=native={{out}}");
        println!("cargo:rustc-link-lib=static=remainder");
    }}
}}

fn run(command: &mut Command) {{
    let status = command.status().expect("a C compiler is needed for what is still in C");
    assert!(status.success(), "{{command:?}} failed");
}}
"""


def _renamed(module: Module) -> list[str]:
    """A program whose `main` is in C is begun from Rust all the same."""
    return ["-Dmain=main_0"] if module.has_main and not module.functions else []


def _plain(arguments: Sequence[str]) -> list[str]:
    """Arguments that do not name folders of this machine."""
    return [word for word in arguments if not word.startswith(("-I", "-isystem", "-iquote",
                                                                "-idirafter", "/"))]  # fmt: skip


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _main(module: Module) -> str:
    arguments = ["(arguments.len() - 1) as i32", "arguments.as_mut_ptr() as _",
                 "core::ptr::null_mut()"][: module.main_parameters]  # fmt: skip
    return f"""

pub fn main() {{
    use std::os::unix::ffi::OsStrExt;
    let owned: Vec<std::ffi::CString> = std::env::args_os()
        .map(|one| std::ffi::CString::new(one.as_bytes()).unwrap_or_default())
        .collect();
    let mut arguments: Vec<*mut i8> = owned.iter().map(|one| one.as_ptr() as *mut i8).collect();
    arguments.push(core::ptr::null_mut());
    std::process::exit(unsafe {{ main_0({", ".join(arguments)}) }});
}}
"""


def _rust(path: Path, text: str) -> None:
    """Write Rust source, formatted where rustfmt is installed."""
    rustfmt = shutil.which("rustfmt")
    if rustfmt is not None:
        done = subprocess.run(
            [rustfmt, "--edition", EDITION, "--config", "max_width=100"], input=text.encode(),
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            text = done.stdout.decode()
    replace_file(path, text.encode())


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """`cargo build --release`, offline. Raises `JarvisError` when cargo is not installed."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise JarvisError("The crate was written but not built: cargo is not installed.")
    return subprocess.run(
        [cargo, "build", "--release", "--offline", "--quiet"], cwd=folder, capture_output=True,
        text=True, errors="replace", timeout=BUILD_SECONDS, check=False,
        env={**os.environ, "CARGO_TERM_COLOR": "never"},
    )  # fmt: skip
