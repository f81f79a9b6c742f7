"""A crate from the units of a project: one module a file, one binary a `main`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from jarvis_ls.codeintel import clang
from jarvis_ls.codeintel.included_files import refuse_endless
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.generated import MARK
from jarvis_ls.core.words import Words, together
from jarvis_ls.jc2r.build.compile_commands import Unit
from jarvis_ls.jc2r.build.variants import meaning
from jarvis_ls.jc2r.crate.cargo import crate_name, run_cargo
from jarvis_ls.jc2r.crate.state import SkippedUnit
from jarvis_ls.jc2r.translate import complex_numbers
from jarvis_ls.jc2r.translate.libc_symbols import AT_LOAD, functions_of_system
from jarvis_ls.jc2r.translate.link_resolution import Part, linked_files, shared_definitions
from jarvis_ls.jc2r.translate.linking import libraries
from jarvis_ls.jc2r.translate.manifest import (
    RUSTFMT,
    build_script,
    defines_variadics,
    entry,
    format_source,
    manifest,
    quote_string,
    write_c,
)
from jarvis_ls.jc2r.translate.module import Translator, handed_over
from jarvis_ls.jc2r.translate.names import Names, Unsupported, rust_name, snake
from jarvis_ls.jc2r.translate.output import Crate, Left, Module, Stays
from jarvis_ls.jc2r.translate.recursion import deeply
from jarvis_ls.jc2r.translate.rust_support import support

BUILD_SECONDS = 900
_NAMED = 4
MANIFEST = "Cargo.toml"
_CLAIM = f".{MANIFEST}."
"""How a manifest begins its name while it is written."""

_RESERVED = tuple(
    "types sys lib main test core std alloc build deps examples incremental proc_macro "
    "crate_".split()
)


@dataclass
class Translated:
    """What became of a project."""

    folder: Path
    name: str
    modules: list[Module] = field(default_factory=list)
    skipped: list[SkippedUnit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a user should know of the crate, in words."""
    parts: list[str] = field(default_factory=list)
    """Files that mean nothing by themselves and are in the modules of those that include them."""


def translate(
    root: Path,
    units: Sequence[Unit],
    folder: Path,
    linked: Sequence[str] = (),
    stays: Stays = lambda _file, _name: "",
    without: Mapping[str, str] | None = None,
    unlinked: Mapping[str, str] | None = None,
) -> Translated:
    """Translate the C units of the project at `root` into a crate at `folder`.

    `linked` are libraries of the system that it needs; `stays` says what is to stay in C;
    `without` names files that are left out and `unlinked` files of which no program is made, each
    with the reason.

    Everything is thought through before anything is written. Raises `JarvisError` when there is
    nothing to translate or the disk refuses.
    """
    return deeply(_translate, root, units, folder, linked, stays, without or {}, unlinked or {})


def _translate(
    root: Path,
    units: Sequence[Unit],
    folder: Path,
    linked: Sequence[str],
    stays: Stays,
    without: Mapping[str, str],
    unlinked: Mapping[str, str],
) -> Translated:
    crate = Crate(stays=stays, variadic=defines_variadics())
    found = Translated(folder, crate_name(folder))
    translators = _read(root, units, crate, found, without, unlinked)
    crate.types.reserve({"types", "sys", "OnLeave", *complex_numbers.SUPPORT})
    parts = _find_asked(crate, translators)
    _name_apart(crate, translators)
    for _, translator in translators if len(translators) > 1 else ():
        crate.types.learn(translator.own_records())
    whole = _prepare(root, translators)
    checked = _compile_units(
        root, [(unit, whole[unit.path]) for unit, _ in translators if unit.path in whole]
    )
    for unit, translator in translators:
        if not isinstance(checked.get(unit.path), SkippedUnit):
            translator.offer(in_rust=unit.path not in whole)
    for unit, translator in translators:
        if unit.path not in whole:
            try:
                found.modules.append(translator.translate())
                continue
            except (JarvisError, Unsupported) as error:
                whole[unit.path] = str(error)
                checked.update(_compile_units(root, [(unit, str(error))]))
        left = checked[unit.path]
        if isinstance(left, SkippedUnit):
            found.skipped.append(left)
        else:
            found.modules.append(_whole_in_c(root, unit, translator, whole[unit.path], left))
    if not found.modules:
        raise JarvisError(
            "Nothing was translated: {why}",
            why=together(
                [
                    Words("{file}: {why}", file=skip.file, why=skip.reason)
                    for skip in found.skipped[:5]
                ],
                "; ",
            ),
        )
    found.notes = [_replacing(file, names) for file, names in sorted(crate.replacing.items())]
    _choose(crate, found.modules, parts)
    _forget_parts(root, translators, found, {*without, *unlinked})
    headers = {name for _, translator in translators for name in translator.system_headers}
    try:
        _write(found, crate, root, units, libraries(headers, linked))
    except OSError as error:
        raise JarvisError(
            "cannot write {path}: {why}", path=error.filename, why=error.strerror
        ) from None
    return found


def _forget_parts(
    root: Path,
    translators: Sequence[tuple[Unit, Translator]],
    found: Translated,
    refused: Collection[str],
) -> None:
    """Files that mean nothing by themselves and that a translated file includes are its parts,
    and were not left out."""
    translated = {module.file for module in found.modules}
    parts = {
        path
        for unit, translator in translators
        if unit.path in translated
        for path in translator.parts()
    }
    found.parts = [
        skip.file
        for skip in found.skipped
        if skip.file not in refused and root / skip.file in parts
    ]
    found.skipped = [skip for skip in found.skipped if skip.file not in found.parts]


def _prepare(root: Path, translators: Sequence[tuple[Unit, Translator]]) -> dict[str, str]:
    """Return why files stay in C as they are, by path; the others are translated as far as they can
    be by themselves.
    """
    doubted = [(unit, translator.problem) for unit, translator in translators if translator.problem]
    whole = {
        path: found.reason
        for path, found in _compile_units(root, doubted).items()
        if isinstance(found, SkippedUnit)
    }
    for begin in (Translator.prepare, Translator.keep_in_c):
        for unit, translator in translators:
            if unit.path not in whole:
                try:
                    begin(translator)
                except JarvisError as error:
                    whole[unit.path] = str(error)
        for unit, translator in translators:
            translator.keep_threads(in_rust=unit.path not in whole)
    return whole


def _compile_units(
    root: Path, units: Sequence[tuple[Unit, str]]
) -> dict[str, SkippedUnit | tuple[Path, ...]]:
    """Files that are to stay in C as they are, given with why: the headers of those that the
    machine's compiler takes."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        found = pool.map(lambda task: _compile(root, *task), units)
        return {unit.path: result for (unit, _), result in zip(units, found, strict=True)}


def _compile(root: Path, unit: Unit, reason: str) -> SkippedUnit | tuple[Path, ...]:
    compiler = shutil.which("cc")
    if compiler is None:
        return SkippedUnit(unit.path, reason)
    path = root / unit.path
    try:
        refuse_endless(path, unit.arguments, clang.system_includes())
    except SkippedFile as error:
        return SkippedUnit(unit.path, error.reason)
    commands = [
        [compiler, "-w", how, *unit.arguments, str(path)] for how in ("-M", "-fsyntax-only")
    ]
    try:
        asked, checked = (
            subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=120,
                check=False,
            )
            for command in commands
        )
    except subprocess.TimeoutExpired:
        return SkippedUnit(unit.path, reason)
    if asked.returncode != 0 or checked.returncode != 0:
        return SkippedUnit(unit.path, reason)
    files = asked.stdout.replace("\\\n", " ").partition(":")[2].split()
    own = {Path(os.path.realpath(file)) for file in files}
    return tuple(sorted(file for file in own if file.is_relative_to(root) and file != path))


def _find_asked(crate: Crate, translators: Sequence[tuple[Unit, Translator]]) -> list[Part]:
    """Return what the linker sees of each file, where that matters: names of which each program has
    its own, for files that are linked with it, and names that several files have.
    """
    several = crate.of_programs & crate.defined.keys()
    if not several and all(len(files) == 1 for files in crate.defined.values()):
        return []
    names = crate.of_programs | crate.defined.keys()
    parts = [
        replace(translator.seen_by_linker(names), of=unit.of, way=meaning(unit.arguments))
        for unit, translator in translators
        if translator.has_main or "main" not in translator.defined
    ]
    crate.asked_of_others.update(
        name for part in parts if not part.is_program for name in part.asked & several
    )
    crate.tied = shared_definitions(parts) if crate.variadic else {}
    return parts


def _name_apart(crate: Crate, translators: Sequence[tuple[Unit, Translator]]) -> None:
    """Give what the C library has functions for names of its own: all that a program has for
    itself, variables, and functions that are to take their place in other programs."""
    files = [translator for _, translator in translators]
    known = functions_of_system(frozenset().union(*(file.defined for file in files)))
    for unit, translator in translators if known else ():
        variables = translator.of_kind(known, "VAR_DECL")
        functions = translator.of_kind(known, "FUNCTION_DECL")
        if translator.has_main:
            functions -= _asked_by_others(translator, files, functions)
        elif crate.variadic and functions and translator.replaces:
            crate.replacing[unit.path] = functions
        else:
            functions &= AT_LOAD.keys()
        crate.homes.apart.update((translator.name, name) for name in variables | functions)


def _replacing(file: str, names: frozenset[str]) -> str:
    listed = sorted(names - AT_LOAD.keys(), key=lambda name: (name.startswith("_"), name))
    named = ", ".join([*listed[:_NAMED], *(["…"] if len(listed) > _NAMED else [])])
    return Words(
        "{file} overrides functions of the C library ({named}) in programs that load it; "
        "the programs of the crate do not contain it, and cargo build --release --lib "
        "--features preload builds the library",
        file=file,
        named=named,
    )


def _asked_by_others(
    program: Translator, files: Sequence[Translator], names: frozenset[str]
) -> frozenset[str]:
    """Functions of a program that files of the library mean."""
    others = [file for file in files if file is not program and not file.has_main] if names else []
    return frozenset().union(*(other.seen_by_linker(names).asked for other in others))


def _choose(crate: Crate, modules: Sequence[Module], parts: Sequence[Part]) -> None:
    """Give each program the functions that it means among those of one name."""
    by_file = {module.file: module for module in modules}
    for program in (part for part in parts if part.is_program and part.file in by_file):
        chosen = linked_files(program, parts, crate.tied) if crate.tied else {}
        for name, file in sorted(chosen.items()):
            if file != crate.tied[name][0] and file in by_file:
                by_file[program.file].items.append(handed_over(name, by_file[file]))


def _whole_in_c(
    root: Path, unit: Unit, translator: Translator, reason: str, headers: tuple[Path, ...]
) -> Module:
    """Return a file that stays in C as it is."""
    functions = translator.own_functions
    left = [Left(name, line, reason) for name, line in functions]
    module = Module(unit.path, translator.name, [], [], left)
    written = (root / unit.path).read_bytes()
    module.remainder = translator.head + written + translator.places_in_c(whole=True)
    module.headers = headers
    module.nested = translator.has_nested
    module.renamed = translator.renamed
    module.has_main = translator.has_main
    return module


def _read(
    root: Path,
    units: Sequence[Unit],
    crate: Crate,
    found: Translated,
    without: Mapping[str, str],
    unlinked: Mapping[str, str],
) -> list[tuple[Unit, Translator]]:
    """Return the translators of all files, with the names of their modules."""
    names = Names(_RESERVED)
    defined: dict[str, set[str]] = {}
    modules: list[tuple[Unit, Translator]] = []
    again: list[tuple[Unit, Translator]] = []
    """Other ways to compile a file that bring nothing new."""

    def take(unit: Unit, translator: Translator) -> None:
        for name in translator.defined if not translator.has_main else ():
            crate.defined.setdefault(name, set()).add(unit.path)
        stem = re.sub(r"[^A-Za-z0-9_]", "_", Path(unit.path).stem)
        if stem[:1].isdigit() or rust_name(stem) != stem:
            stem = f"m{stem}"
        if (
            stem == "main"
            and translator.has_main
            and all(module.name != stem for _, module in modules)
        ):
            translator.name = stem  # a binary of that name; a module would be taken for one
        else:
            translator.name = names.give(stem if translator.has_main else snake(stem))
        crate.sections.add(
            unit.path, unit.place, translator.sections, is_program=translator.has_main
        )
        modules.append((unit, translator))

    for unit in units:
        if unit.language != "c" or unit.path in without:
            reason = without.get(unit.path, "C++ is not translated")
            found.skipped.append(SkippedUnit(unit.path, reason))
            continue
        translator = Translator(root, unit.path, list(unit.arguments), crate)
        translator.of = unit.of
        try:
            translator.read()
        except SkippedFile as error:
            found.skipped.append(SkippedUnit(unit.path, error.reason))
            continue
        defined[unit.path] = translator.defined
        if unit.of in defined and "main" not in translator.defined <= defined[unit.of]:
            again.append((unit, translator))
            continue
        if unit.path in unlinked:
            translator.is_program = False
            found.skipped.append(SkippedUnit(unit.path, unlinked[unit.path]))
        if translator.has_main:
            crate.of_programs |= translator.defined
        take(unit, translator)
    asked = {meaning(unit.arguments) for unit, module in modules if module.has_main}
    for unit, translator in again if crate.variadic else ():
        if meaning(unit.arguments) in asked and translator.has_functions_only:
            take(unit, translator)
    return modules


def _write(
    found: Translated, crate: Crate, root: Path, units: Sequence[Unit], linked: Sequence[str]
) -> None:
    """Write the files of the crate: the old ones stay until all new ones are written."""
    _claim(found.folder)
    new = found.folder / "target" / "translated"
    shutil.rmtree(new, ignore_errors=True)
    source = new / "src"
    (source / "bin").mkdir(parents=True)
    inside = [module for module in found.modules if not module.has_main]
    programs = [module for module in found.modules if module.has_main]
    texts: dict[Path, tuple[str, ...]] = {}
    """Each in parts: those of a module stay as they were formatted when only their head changes."""
    for module in inside:
        others = [child.name for child in inside if child.name != module.name]
        uses = f"use crate::{{{', '.join(['sys', 'types', *others])}}};\n"
        texts[source / f"{module.name}.rs"] = (
            f"//! {module.file}\n\n{uses}",
            "\n\n".join(module.items),
        )
    for module in programs:
        others = [child.name for child in inside]
        uses = f"use {found.name}::{{{', '.join(['sys', 'types', *others])}}};\n"
        texts[source / "bin" / f"{module.name}.rs"] = (
            f"//! {module.file}\n\n{uses}",
            "\n\n".join(module.items) + entry(module),
        )
    constants = "\n".join([*crate.enumerators.values(), *crate.macros.items()])
    code = [*(item for module in found.modules for item in module.items), *crate.macros.items()]
    definitions = "\n\n".join(crate.types.definitions(code))
    helpers = support(crate.types.needed)
    head = "//! Types of all modules.\n\nuse crate::types;\n\n"
    texts[source / "types.rs"] = (f"{head}{constants}\n\n{definitions}\n{helpers}",)
    declared = "\n".join(crate.externals.declarations)
    links = "".join(f"#[link(name = {quote_string(name)})]\n" for name in linked)
    head = "//! What the system offers.\n\nuse crate::types;\n\n"
    offered = "".join(f"\n{function}\n" for function in crate.externals.functions)
    texts[source / "sys.rs"] = (f'{head}{links}extern "C" {{\n{declared}\n}}\n{offered}',)
    names = sorted(["sys", "types", *(module.name for module in inside)])
    mods = "".join(f"pub mod {name};\n" for name in names)
    texts[source / "lib.rs"] = (mods,)
    left = [module for module in found.modules if module.remainder]
    if left:
        write_c(new / "c", root, left)
        texts[new / "build.rs"] = (build_script(left, units, root, crate.sections.shared_files()),)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for path, text in zip(texts, pool.map(_format_parts, texts.values()), strict=True):
            replace_file(path, text.encode())
    for name in ("src", "c"):
        shutil.rmtree(found.folder / name, ignore_errors=True)
    (found.folder / "build.rs").unlink(missing_ok=True)
    for child in new.iterdir():
        child.rename(found.folder / child.name)
    shutil.rmtree(new)
    text = manifest(found.name, [module.name for module in programs], preload=bool(crate.replacing))
    replace_file(found.folder / "rustfmt.toml", RUSTFMT.encode())
    replace_file(found.folder / MANIFEST, text.encode())


def _format_parts(parts: Sequence[str]) -> str:
    return "\n".join(format_source(part) for part in parts if part)


def is_free(folder: Path) -> bool:
    """Return whether a crate may be written there: nothing is there, or only what a run left that
    was killed while it claimed the folder.
    """
    if folder.is_dir():
        return all(path.name.startswith(_CLAIM) for path in folder.iterdir())
    return not folder.exists()


def _claim(folder: Path) -> None:
    """Write the mark before everything else, so that what a killed run leaves is known as ours."""
    if is_free(folder):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / MANIFEST, f"{MARK}, which has not finished.\n".encode())
    for torn in folder.glob(f"{_CLAIM}*"):
        torn.unlink(missing_ok=True)


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """`cargo build --release`, offline. Raises `JarvisError` when cargo is not installed, or when
    it does not come to an end."""
    try:
        done = run_cargo(folder, "build", "--release", "--keep-going", seconds=BUILD_SECONDS)
    except subprocess.TimeoutExpired:
        raise JarvisError(
            "The crate at {folder} was not built within {seconds} s.",
            folder=folder,
            seconds=BUILD_SECONDS,
        ) from None
    said, objected = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, said, objected)
