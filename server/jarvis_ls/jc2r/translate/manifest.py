"""What surrounds the modules of a crate: `Cargo.toml`, `build.rs`, the C that is left."""

from __future__ import annotations

import functools
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.core.files import replace_file
from jarvis_ls.core.generated import MARK
from jarvis_ls.jc2r.build.compile_commands import Unit
from jarvis_ls.jc2r.build.variants import CALLED
from jarvis_ls.jc2r.crate.cargo import TOP, program, version_of
from jarvis_ls.jc2r.translate.output import Module

EDITION = "2021"
FORMAT_SECONDS = 120
_ALLOWED = tuple(
    "dead_code non_camel_case_types non_snake_case non_upper_case_globals static_mut_refs "
    "unused_assignments unused_labels unused_mut unused_parens unused_unsafe "
    "unused_variables unreachable_code unreachable_patterns clashing_extern_declarations "
    "improper_ctypes improper_ctypes_definitions unused_braces unused_imports "
    "unused_must_use path_statements unpredictable_function_pointer_comparisons "
    "unused_comparisons ambiguous_wide_pointer_comparisons unconditional_recursion "
    "while_true overflowing_literals unused_doc_comments integer_to_ptr_transmutes "
    "useless_ptr_null_checks unknown_lints".split()
)
_STYLE = "max_width=100,use_small_heuristics=Max"
RUSTFMT = 'max_width = 100\nuse_small_heuristics = "Max"\n'
"""The file `rustfmt.toml` of a crate, so that `cargo fmt` leaves it as it is: what fits on a line
is on one."""
LINTS = "[lints.rust]\n" + "".join(f'{lint} = "allow"\n' for lint in _ALLOWED) + "\n"
"""What C does and rustc would warn of, for a manifest."""

_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")


@functools.cache
def defines_variadics() -> bool:
    """Return whether functions with arguments without a name can be defined in Rust: by a few lines
    of assembly in a naked function, which came with Rust 1.88.
    """
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return False
    compiler = program("rustc")
    if compiler is None:
        return True  # it is not built here
    version = version_of(compiler)
    return version is None or version >= (1, 88)


def manifest(name: str, programs: Sequence[str], *, preload: bool) -> str:
    """`Cargo.toml`."""
    bins = "".join(
        f'[[bin]]\nname = "{name}"\npath = "src/bin/{name}.rs"\ntest = false\n\n'
        for name in programs
    )
    features = "[features]\npreload = []\n\n" if preload else ""
    return (
        f"{MARK} from the C sources; changes are overwritten.\n\n"
        f'[package]\nname = "{name}"\nversion = "0.1.0"\n'
        f'edition = "{EDITION}"\nautobins = false\n'
        "publish = false\n\n"
        '[lib]\ncrate-type = ["rlib", "cdylib", "staticlib"]\ndoctest = false\n\n'
        f"{bins}{features}"
        f"{LINTS}"
        "[workspace]\n\n"  # a manifest in a folder above has no say
        "[profile.dev]\noverflow-checks = false\ndebug-assertions = false\n\n"
        '[profile.release]\nopt-level = 3\npanic = "abort"\ncodegen-units = 1\n'
    )


_ENTRY = """

pub fn main() {
    use std::os::unix::ffi::OsStrExt;
    extern "C" {
ENVIRON        fn signal(number: i32, handler: usize) -> usize;
    }
    let __owned: Vec<std::ffi::CString> = std::env::args_os()
        .map(|__one| std::ffi::CString::new(__one.as_bytes()).unwrap_or_default())
        .collect();
    let mut __arguments: Vec<*mut i8> =
        __owned.iter().map(|__one| __one.as_ptr() as *mut i8).collect();
    __arguments.push(core::ptr::null_mut());
    // SAFETY: no other thread runs yet, and the arguments live until the process ends.
    unsafe {
        signal(13, 0); // Rust has SIGPIPE ignored
        BEGIN
    }
}
"""


def entry(module: Module) -> str:
    """Return the beginning of a program, which calls what was `main` in C."""
    count, returns = module.main
    given = ["(__arguments.len() - 1) as _", "__arguments.as_mut_ptr() as _", "environ as _"][
        :count
    ]
    call = f"main_0({', '.join(given)})"
    begin = f"std::process::exit({call} as i32)" if returns else f"{call};"
    declared = ""
    if "main" not in module.functions:
        types = ", ".join(["_: i32", "_: *mut *mut i8", "_: *mut *mut i8"][:count])
        back = " -> i32" if returns else ""
        declared = f'\n\nextern "C" {{\n    fn main_0({types}){back};\n}}\n'
    named = "        static mut environ: *mut *mut i8;\n" if count > 2 else ""
    return declared + _ENTRY.replace("ENVIRON", named).replace("BEGIN", begin)


def write_c(folder: Path, root: Path, left: Sequence[Module]) -> None:
    """Write the C that is left of modules, and the headers it needs, into the crate. A file that
    another one includes is written twice: whole for that one, and its rest for itself.
    """
    texts = {
        _below(header, root): header.read_bytes() for module in left for header in module.headers
    }
    for module in left:
        rest, whole = module.remainder, texts.get(module.file)
        if whole is not None:
            rest = b"#ifdef %s\n#line 1\n%s\n#else\n#line 1\n%s\n#endif\n" % (
                _inclusion_macro(module.file).encode(),
                whole,
                rest,
            )
        texts[module.file] = rest
    for path, data in texts.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, data)


def _below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _inclusion_macro(file: str) -> str:
    """Return the macro by which a file knows that another one includes it."""
    return "JC2R_INCLUDED_" + re.sub(r"\W", "_", file)


def build_script(
    left: Sequence[Module], units: Sequence[Unit], root: Path, ordered: Sequence[str]
) -> str:
    """`build.rs`: compiles what is left with the machine's C compiler. What is in the files
    `ordered` keeps its order: the objects of those that are no programs become one."""
    known = {unit.path: unit.arguments for unit in units}
    own = {module.file for module in left}

    def arguments(module: Module) -> list[str]:
        included = sorted(own.intersection(_below(header, root) for header in module.headers))
        return [
            *_in_crate(known.get(module.file, ()), root, module),
            *(f"-D{_inclusion_macro(folder)}" for folder in included),
            *(["-fno-toplevel-reorder"] if module.file in ordered else []),
        ]

    files = ", ".join(
        f"({quote_string(module.file)}, {quote_string(module.name)},"
        f" {str(module.has_main).lower()}, &[{', '.join(map(quote_string, arguments(module)))}])"
        for module in left
    )
    stack = (
        '    println!("cargo:rustc-link-arg=-Wl,-z,execstack");\n'
        if any(module.nested for module in left)
        else ""
    )
    by_file = {module.file: module for module in left}
    sharing = [by_file[file] for file in ordered if file in by_file]
    names = ", ".join(quote_string(module.name) for module in sharing if not module.has_main)
    joining = (_WALKED if sharing else "") + (_JOINING.replace("NAMES", names) if names else "")
    return f"""//! Compiles the functions that are still in C.
use std::process::Command;

type Unit = (&'static str, &'static str, bool, &'static [&'static str]);
const UNITS: &[Unit] = &[{files}];

fn main() {{
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut objects = Vec::new();
    println!("cargo:rerun-if-changed=c");
{stack}    for (file, module, program, arguments) in UNITS {{
        let object = format!("{{out}}/{{module}}.o");
        run(Command::new(&compiler)
            .args(["-c", "-O2", "-w", "-fPIC", "-fcommon", "-Ic"])
            .args(*arguments)
            .arg(format!("c/{{file}}"))
            .args(["-o", &object]));
        if *program {{
            println!("cargo:rustc-link-arg-bin={{module}}={{object}}");
        }} else {{
            objects.push(object);
        }}
    }}
    println!("cargo:rustc-link-search=native={{out}}");
{joining}    if !objects.is_empty() {{
        run(Command::new("ar").args(["crs", &format!("{{out}}/libremainder.a")]).args(&objects));
        println!("cargo:rustc-link-lib=static=remainder");
    }}
}}

fn run(command: &mut Command) {{
    let status = command.status().expect("a C compiler is needed for what is still in C");
    assert!(status.success(), "{{command:?}} failed");
}}
"""


_JOINING = """\
    let joined = [NAMES].map(|module| format!("{out}/{module}.o"));
    objects.retain(|one| !joined.contains(one));
    let whole = format!("{out}/joined.o");
    run(Command::new(&compiler).args(["-r", "-nostdlib", "-o", &whole]).args(&joined));
    run(Command::new("ar").args(["crs", &format!("{out}/libjoined.a"), &whole]));
    println!("cargo:rustc-link-lib=static:+whole-archive=joined");
"""
_WALKED = """\
    println!("cargo:rustc-link-arg=-Wl,-z,nostart-stop-gc"); // who walks a section has all of it
"""


def _in_crate(arguments: Sequence[str], root: Path, module: Module) -> list[str]:
    """Arguments for the copy of a file in the crate: none names a folder of the project."""
    kept: list[str] = []
    rest = iter(arguments)
    for word in rest:
        option = next((folder for folder in _FOLDERS if word.startswith(folder)), None)
        if option is not None:
            folder = Path(word[len(option) :] or next(rest, ""))
            if folder.is_relative_to(root):
                below = folder.relative_to(root).as_posix()
                kept += [option, "c" if below == "." else f"c/{below}"]
            elif folder.is_absolute():  # of a library
                kept += [option, str(folder)]
        elif word == "-include":
            file = Path(next(rest, ""))
            if file.is_relative_to(root):
                kept += [word, f"c/{_below(file, root)}"]
        elif not word.startswith(("/", CALLED)):
            kept.append(word)
    return [
        *kept,
        f"{CALLED}c/=",
        *(f"-D{name}={linked}" for name, linked in module.renamed.items() if name != "main"),
    ]


def quote_string(text: str) -> str:
    """Return a string of Rust."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@functools.lru_cache(maxsize=1024)
def format_source(text: str) -> str:
    """Rust source as `rustfmt` writes it, where that is installed and comes to an end: deep nests
    take it long, so what has not changed since the last time is not asked again."""
    rustfmt = program("rustfmt")
    if rustfmt is None:
        return text
    try:
        done = subprocess.run(
            [rustfmt, "--edition", EDITION, "--config", _STYLE],
            input=text.encode(),
            capture_output=True,
            timeout=FORMAT_SECONDS,
            check=False,
            cwd=TOP,  # it acts on a rustfmt.toml in the current folder and above
        )
    except subprocess.TimeoutExpired:
        return text
    return done.stdout.decode() if done.returncode == 0 else text
