"""The C and the Rust of a project as shared objects in which every function can be called.

Statics are made visible under `module__name`: in the C by renaming symbols of object files, in
the Rust by `export_name` in a copy of the crate. The C is built twice, once with the sanitizers and
with another pattern in fresh locals, so that what depends on undefined behaviour shows itself.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.harness.shared_object import (
    BUILD_SECONDS,
    COVERAGE,
    find_compiler,
    link_shared,
    run_tool,
    visible_arguments,
)
from jarvis_ls.harness.signature import Signatures
from jarvis_ls.jc2r.build.compile_commands import Unit, Units
from jarvis_ls.jc2r.crate.cargo import crate_name, run_cargo
from jarvis_ls.jc2r.crate.vendor import dependency_table, read_dependencies, share_vendored
from jarvis_ls.jc2r.translate.c_remainder import symbol
from jarvis_ls.jc2r.translate.libc_symbols import AT_LOAD
from jarvis_ls.jc2r.translate.manifest import LINTS
from jarvis_ls.jc2r.translate.names import rust_name, spellings

_LAZY = ("-C", "relro-level=off")
"""With it calls find their function when they are made: a library may call what its user brings."""
OTHERWISE = (
    "-O1",
    "-fkeep-static-functions",
    "-fno-inline",
    "-fno-ipa-cp",
    "-fno-ipa-sra",
    "-fno-ipa-icf",
    "-fno-partial-inlining",
    "-fno-toplevel-reorder",
)
"""In place of the sanitizers where there are none."""
_ITEM = re.compile(
    r'^(?:pub(?:\(\w+\))? )?(?:static (?:mut )?|(?:const )?(?:unsafe )?extern "C" fn )'
    r"(?:r#)?(\w+)",
    re.MULTILINE,
)
FROM_C = "// From C: "
"""Begins the line above a function whose signature is another than in C: a function that calls it
as C would. It is compiled only here."""
_FROM_C = re.compile(re.escape(FROM_C) + r'(unsafe extern "C" fn (?:r#)?(\w+)_from_c\(.*)')
_WEAK = re.compile(r'^core::arch::global_asm!\("\.weak (\w+)".*$', re.MULTILINE)
"""What gives way to another function of its name."""
_HANDED_OVER = re.compile(r'^core::arch::global_asm!\("\.globl .*$', re.MULTILINE)
"""What says for one program which function of several it means."""
_STRONG = re.compile(r'^#\[no_mangle\]\n(?:#\[.*\]\n)*pub unsafe extern "C" fn (\w+)', re.MULTILINE)
_HEAD = re.compile(r"\A//! (\S[^\n]*)\n")
_USES = re.compile(r"^use (\w+)::\{", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Symbols:
    """How functions and variables of the files are called in all shared objects."""

    modules: dict[str, str]
    """Rust module of each C file."""
    programs: frozenset[str]
    """Files with a `main`."""
    shared: frozenset[str]
    """External names that programs define and other files, too."""
    later: frozenset[tuple[str, str]] = frozenset()
    """Functions that a file of the library defines as one before it does: file and name."""
    external: frozenset[tuple[str, str]] = frozenset()
    """What files define for others."""
    defined: frozenset[tuple[str, str]] = frozenset()
    """All that files define: file and name."""

    def plain(self, module: str) -> frozenset[str]:
        """Return what a module defines for others and is called as in C."""
        return frozenset(
            name
            for file, name in self.external
            if self.modules.get(file) == module and self.of(file, name, False) == name
        )

    def spellings_in(self, module: str, items: Set[str]) -> dict[str, str]:
        """Return what of the `items` of a module has another name than in C, with the name that was
        translated."""
        names = [name for file, name in self.defined if self.modules.get(file) == module]
        found: dict[str, str] = {}
        for plain, *others in map(spellings, names):
            if items.isdisjoint((plain, others[0] if plain.startswith("r#") else plain)):
                other = next((word for word in others if word in items), None)
                found |= {} if other is None else {other: plain.removeprefix("r#")}
        return found

    def of(self, file: str, name: str, static: bool) -> str:
        """Return the name of one in shared objects."""
        if name == "main" and file in self.programs:
            return symbol(self.modules[file], "main_0")
        in_turn = file in self.programs and name in self.shared
        if static or in_turn or name in AT_LOAD or (file, name) in self.later:
            return symbol(self.modules[file], rust_name(name).removeprefix("r#"))
        return name


class Project(Protocol):
    """What is built of."""

    root: Path
    units: Units
    symbols: Symbols


def symbols_of(crate: Path, found: Signatures) -> Symbols:
    """Return how things are called, by what the modules of the crate say they come from."""
    modules = {**_modules_in(crate / "src"), **program_modules(crate)}
    programs = frozenset(function.file for function in found.functions if function.name == "main")
    defined: dict[str, set[str]] = {}
    for file, name, static in found.definitions:
        if not static:
            defined.setdefault(name, set()).add(file)
    shared = frozenset(
        name for name, files in defined.items() if len(files) > 1 and not programs.isdisjoint(files)
    )
    first: dict[str, str] = {}
    outside = [
        function
        for function in found.functions
        if not function.static and function.file not in programs
    ]
    later = frozenset(
        (definition.file, definition.name)
        for definition in outside
        if first.setdefault(definition.name, definition.file) != definition.file
    )
    external = frozenset((file, name) for file, name, static in found.definitions if not static)
    names = frozenset((file, name) for file, name, _ in found.definitions)
    return Symbols(modules, programs, shared, later, external, names)


def program_modules(crate: Path) -> dict[str, str]:
    """Return the programs of a crate by the C file that each comes from."""
    return _modules_in(crate / "src" / "bin")


def _modules_in(folder: Path) -> dict[str, str]:
    found = {}
    for path in folder.glob("*.rs"):
        match = _HEAD.match(_text(path))
        if match is not None and Path(match[1]).suffix:
            found[match[1]] = path.stem
    return found


def build_c(
    root: Path,
    units: Sequence[Unit],
    found: Signatures,
    symbols: Symbols,
    folder: Path,
    linked: Sequence[str],
    options: Sequence[str],
    name: str,
) -> Path:
    """Return a shared object `name` below `folder` of all C units. Raises `JarvisError`."""
    compiler = find_compiler()
    objects = folder / name.removesuffix(".so")
    shutil.rmtree(objects, ignore_errors=True)
    objects.mkdir(parents=True)
    made = []
    for unit in units:
        if unit.path not in symbols.modules:
            continue
        made.append(objects / f"{symbols.modules[unit.path]}.o")
        run_tool(
            [
                compiler,
                "-c",
                "-fPIC",
                "-w",
                *options,
                *visible_arguments(unit.arguments),
                str(root / unit.path),
                "-o",
                str(made[-1]),
            ]
        )
        _rename(made[-1], unit.path, found, symbols)
    return link_shared(compiler, made, folder / name, linked, options)


def copy_crate(crate: Path, folder: Path, symbols: Symbols) -> None:
    """Copy the crate as one static library in which everything has a linker name. Files that have
    not changed keep their time, so that cargo builds only what it must.

    Files that have not changed are left as they are, so that cargo builds only what it must.
    """
    own = crate_name(crate)
    source = folder / "src"
    source.mkdir(parents=True, exist_ok=True)
    programs = sorted(symbols.modules[file] for file in symbols.programs if file in symbols.modules)
    wanted = {"lib.rs"}
    paths = [*(crate / "src").glob("*.rs"), *(crate / "src" / "bin").glob("*.rs")]
    strong = {name for path in paths for name in _STRONG.findall(_text(path))} - symbols.shared
    for path in paths:
        text = _WEAK.sub(lambda match: "" if match[1] in strong else match[0], _text(path))
        program = path.parent.name == "bin"
        if path.name == "lib.rs":
            text += "".join(f"pub mod {name};\n" for name in programs)
        elif _HEAD.match(text):
            text = _export_all(
                text,
                path.stem,
                symbols.spellings_in(path.stem, frozenset(_ITEM.findall(text))),
                symbols.shared if program else frozenset(),
                symbols.plain(path.stem),
            )
            if program:
                text = _HANDED_OVER.sub("", text)
                text = _USES.sub(lambda m: "use crate::{" if m[1] == own else m[0], text).replace(
                    f"{own}::", "crate::"
                )
        _keep(source / path.name, text)
        wanted.add(path.name)
    for old in source.glob("*.rs"):
        if old.name not in wanted:
            old.unlink()
    share_vendored(crate, folder)
    _keep(
        folder / "Cargo.toml",
        '[package]\nname = "under_test"\nversion = "0.1.0"\n'
        'edition = "2021"\npublish = false\nautobins = false\n\n[lib]\n'
        'crate-type = ["staticlib"]\n\n'
        + dependency_table(read_dependencies(crate))
        + LINTS
        + "[workspace]\n\n[profile.release]\nopt-level = 3\n"
        'panic = "abort"\ncodegen-units = 1\n',
    )


def build_rust(
    folder: Path,
    crate: Path,
    units: Sequence[Unit],
    symbols: Symbols,
    linked: Sequence[str],
    name: str = "rust.so",
) -> Path:
    """Return a shared object of the copy at `folder` and of what the crate keeps in C.

    Raises `JarvisError` with what cargo said.
    """
    try:
        done = run_cargo(folder, "rustc", "--release", "--", *_LAZY, seconds=BUILD_SECONDS)
    except subprocess.TimeoutExpired:
        raise JarvisError(
            "{command} took longer than {seconds} s", command="cargo rustc", seconds=BUILD_SECONDS
        ) from None
    if done.returncode != 0:
        objected = done.stderr.decode(errors="replace").strip()[:2000]
        raise JarvisError(
            "{command} … failed:\n{said}", command="cargo rustc --release", said=objected
        )
    library = folder / "target" / "release" / "libunder_test.a"
    compiler = find_compiler()
    objects = []
    for unit in units:
        rest = crate / "c" / unit.path
        if unit.path in symbols.modules and rest.is_file():
            objects.append(folder / f"{symbols.modules[unit.path]}.o")
            plain = [
                word
                for word in unit.arguments
                if not word.startswith(("-I", "-isystem", "-iquote", "-idirafter", "/"))
            ]
            run_tool(
                [
                    compiler,
                    "-c",
                    "-fPIC",
                    "-w",
                    "-O2",
                    f"-I{crate / 'c'}",
                    *visible_arguments(plain),
                    str(rest),
                    "-o",
                    str(objects[-1]),
                ]
            )
    return link_shared(compiler, objects, folder.parent / name, linked, (), library)


def link_programs(
    project: Project, folder: Path, options: Sequence[str], name: str
) -> dict[str, Path]:
    """Return the C programs of a project below `folder / name`, by stem of the file with the
    `main`.

    Raises `JarvisError`.
    """
    compiler = find_compiler()
    place = folder / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    counted = any("trace-pc" in word for word in options)
    rest: list[tuple[str, Path]] = []
    mains: list[tuple[str, Path]] = []
    for unit in project.units.units:
        if unit.path in project.symbols.modules:
            made = place / f"{project.symbols.modules[unit.path]}.o"
            run_tool(
                [
                    compiler,
                    "-c",
                    "-w",
                    *options,
                    *visible_arguments(unit.arguments),
                    str(project.root / unit.path),
                    "-o",
                    str(made),
                ]
            )
            (mains if unit.path in project.symbols.programs else rest).append((unit.path, made))
    library = [str(place / "rest.a")] if rest else []
    if rest:
        run_tool(["ar", "crs", *library, *(str(made) for _, made in rest)])
    if counted:
        run_tool([compiler, "-c", "-O2", str(COVERAGE), "-o", str(place / "coverage.o")])
        library.insert(0, str(place / "coverage.o"))
    found = {}
    for path, made in mains:
        found[Path(path).stem] = made.with_suffix("")
        run_tool(
            [
                compiler,
                *options,
                str(made),
                *library,
                *(f"-l{library}" for library in project.units.libraries),
                "-lm",
                "-lpthread",
                "-ldl",
                "-o",
                str(found[Path(path).stem]),
            ]
        )
    return found


def link_rust_program(project: Project, folder: Path, file: str) -> Path:
    """Return the Rust program of the C file `file`, from the static library of the copy at `folder
    / "rust"`; it is called like the C file. Raises `JarvisError`.
    """
    compiler = find_compiler()
    target = folder / Path(file).stem
    begin = symbol(project.symbols.modules[file], "main_0")
    stub = folder / f"{target.name}.begin.c"
    stub.write_text(
        f"int {begin}(int, char **, char **);\n"
        f"int main(int c, char **v, char **e) {{ return {begin}(c, v, e); }}\n"
    )
    objects = [str(path) for path in sorted((folder / "rust").glob("*.o"))]
    archive = folder / "rust" / "target" / "release" / "libunder_test.a"
    run_tool(
        [
            compiler,
            str(stub),
            *objects,
            "-Wl,--whole-archive",
            str(archive),
            "-Wl,--no-whole-archive",
            *(f"-l{library}" for library in project.units.libraries),
            "-lm",
            "-lpthread",
            "-ldl",
            "-lgcc_s",
            "-o",
            str(target),
        ]
    )
    return target


def _rename(made: Path, file: str, found: Signatures, symbols: Symbols) -> None:
    """Give what is static, or defined by several programs, a name of its own in an object."""
    changes = {}
    for home, name, static in found.definitions:
        new = symbols.of(file, name, static)
        if home == file and new != name:
            changes[name] = new
    if not changes:
        return
    names = made.with_suffix(".names")
    names.write_text(
        "".join(f"{old} {new}\n__odr_asan.{old} __odr_asan.{new}\n" for old, new in changes.items())
    )
    words = made.with_suffix(".global")
    words.write_text("".join(f"{old}\n" for old in changes))
    middle = made.with_suffix(".renamed")
    run_tool(["objcopy", f"--globalize-symbols={words}", str(made), str(middle)])
    run_tool(["objcopy", f"--redefine-syms={names}", str(middle), str(made)])


def _export_all(
    text: str,
    module: str,
    written: Mapping[str, str],
    shared: frozenset[str],
    plain: frozenset[str],
) -> str:
    """Rust source in which every function and variable has a name for the linker, that of C for
    what is `plain`; lines stay where they are. `written` has the translated names of what is called
    otherwise. Weak functions have theirs from assembly."""
    made: list[str] = []
    nameless = plain.difference(_WEAK.findall(text))
    for line in text.split("\n"):
        match = _FROM_C.match(line)
        if match is not None:
            own = written.get(match[2], match[2])
            linked = own if own in nameless else symbol(module, own)
            made.append(f'#[export_name = "{linked}"] {match[1]}')
            continue
        match = _ITEM.match(line)
        if match is not None:
            first = len(made)
            while first and made[first - 1].startswith("#["):
                first -= 1
            attributes = made[first:]
            own = written.get(match[1], match[1])
            name = f'#[export_name = "{symbol(module, own)}"]'
            alone = f'#[export_name = "{own}"]' if own in nameless else name
            if "#[no_mangle]" in attributes:
                if own in shared:
                    made[first + attributes.index("#[no_mangle]")] = name
            elif own in plain and name in attributes:
                made[first + attributes.index(name)] = "#[no_mangle]"
            elif not any("export_name" in attribute for attribute in attributes):
                line = f"{alone} {line}"
        made.append(line)
    return "\n".join(made)


def _keep(path: Path, text: str) -> None:
    """Write a file unless it holds just that."""
    data = text.encode()
    try:
        if read_regular(path, limit=256_000_000) == data:
            return
    except SkippedFile:
        pass  # it is not there yet
    replace_file(path, data)


def _text(path: Path) -> str:
    try:
        return read_regular(path, limit=256_000_000).decode("utf-8", "replace")
    except SkippedFile as error:
        raise JarvisError(f"{path}: {error.reason}") from None
