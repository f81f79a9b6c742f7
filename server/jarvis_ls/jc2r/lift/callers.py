"""A crate without `unsafe` that calls every safe function of another with extreme arguments.

Callers of safe functions may hand over anything that safe code can make: the least and the largest
numbers, structures with null and dangling pointers in them, empty slices. Each function is called
in a process of its own by the program that is written here, which tells how each process ended.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.crate.cargo import crate_name
from jarvis_ls.jc2r.crate.vendor import share_vendored
from jarvis_ls.jc2r.lift.program import Key, module_of
from jarvis_ls.jc2r.lift.rust import Source, below, field, name_of, parse_source
from jarvis_ls.jc2r.lift.safety import unsafe_word

CASES = 24
"""Calls of one function, at most."""
_DEPTH = 6
"""Structures in structures."""
_SIGNED = ("0", "1", "-1", "{}::MIN", "{}::MAX")
_UNSIGNED = ("0", "1", "{}::MAX", "{}::MAX / 2 + 1")
_FLOATS = ("0.0", "-1.0", "{}::NAN", "{}::MAX", "{}::INFINITY")
_MANY = 300
"""Elements of the longest slices."""
_CELL = "core::cell::Cell<"
_ENTRY = "main"
PROGRAM = "callers"


@dataclass(frozen=True, slots=True)
class Caller:
    """One safe function and the calls of it."""

    key: Key
    calls: tuple[str, ...]
    """Expressions; none when there is a parameter that safe code cannot make a value of."""
    missing: str = ""
    """Type of that parameter."""


def callers_of(sources: Sequence[Source]) -> list[Caller]:
    """Return the safe functions of a crate with the calls of each."""
    types = _Types(sources)
    found = []
    for source in sources:
        for function in source.functions:
            name = name_of(function)
            if unsafe_word(function) is not None or name == _ENTRY or is_helper(source, function):
                continue
            parameters = field(function, "parameters")
            kinds = [
                kind
                for parameter in (() if parameters is None else parameters.named_children)
                if (kind := field(parameter, "type")) is not None
            ]
            key = module_of(source), name
            values = [types.values(source.text(kind).decode()) for kind in kinds]
            if not all(values):
                missing = kinds[values.index([])]
                found.append(Caller(key, (), source.text(missing).decode()))
                continue
            path = f"lifted::{_module(key[0])}::{name}"
            calls = tuple(f"{path}({', '.join(chosen)})" for chosen in _choices(values))
            found.append(Caller(key, calls))
    return found


def is_helper(source: Source, function: Node) -> bool:
    """Return whether a function is no function of C: one of what the translation brings along."""
    return source.path.stem == "sys" or field(function, "type_parameters") is not None


def write_callers(folder: Path, crate: Path, callers: Sequence[Caller], *, programs: bool) -> None:
    """Write the crate that calls, and `crate` with all of its functions visible, to `folder`;
    `programs`: with the functions of programs as modules of the library."""
    lifted = folder / "lifted"
    own = crate_name(crate)
    for path in sorted([*(crate / "src").glob("*.rs"), *(crate / "src" / "bin").glob("*.rs")]):
        program = path.parent.name == "bin"
        if program and not programs:
            continue
        text = path.read_text()
        if program:
            text = re.sub(r"^#!\[allow\(\w+\)\]\n|^#\[no_mangle\]\n", "", text, flags=re.MULTILINE)
            text = re.sub(rf"\b{re.escape(own)}::", "crate::", text)
        if path.name == "lib.rs" and programs:
            text += "".join(
                f"pub mod {_module(f'bin/{other.stem}')};\n"
                for other in sorted((crate / "src" / "bin").glob("*.rs"))
            )
        name = f"{_module(f'bin/{path.stem}')}.rs" if program else path.name
        _keep(lifted / "src" / name, _visible(path, text))
    manifest = (crate / "Cargo.toml").read_text()
    manifest = re.sub(r"^\[\[bin\]\]\n(?:.+\n)*", "", manifest, flags=re.MULTILINE)
    manifest = re.sub(r"^crate-type = .*$", 'crate-type = ["rlib"]', manifest, flags=re.MULTILINE)
    _keep(lifted / "Cargo.toml", manifest.replace("[workspace]\n", ""))
    for file in [crate / "build.rs", *(crate / "c").rglob("*")]:
        if file.is_file():
            _keep(lifted / file.relative_to(crate), file.read_text(errors="surrogateescape"))
    _keep(
        folder / "Cargo.toml",
        f'[package]\nname = "{PROGRAM}"\nversion = "0.1.0"\nedition = "2021"\npublish = false\n\n'
        f'[dependencies]\nlifted = {{ path = "lifted", package = "{own}" }}\n\n[workspace]\n\n'
        "[profile.dev]\noverflow-checks = false\ndebug-assertions = true\ndebug = 1\n",
    )
    share_vendored(crate, folder)
    chosen = [caller for caller in callers if programs or not caller.key[0].startswith("bin/")]
    _keep(folder / "src" / "main.rs", _program(chosen))


def _program(callers: Sequence[Caller]) -> str:
    arms = "".join(
        f"        ({number}, {case}) => drop({call}),\n"
        for number, caller in enumerate(callers)
        for case, call in enumerate(caller.calls)
    )
    counts = ", ".join(str(len(caller.calls)) for caller in callers)
    return _MAIN.replace("ARMS", arms).replace("COUNTS", counts)


def _choices(values: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield values for all parameters: every combination when there are few; else each parameter
    goes through its values, by itself and with the others."""
    if not values:
        return iter([()])
    whole = 1
    for each in values:
        whole *= len(each)
    if whole <= CASES:
        return itertools.product(*values)
    most = max(len(each) for each in values)
    together = [tuple(each[at % len(each)] for each in values) for at in range(most)]
    shifted = [
        tuple(each[(at + step * place) % len(each)] for place, each in enumerate(values))
        for step in range(1, 4)
        for at in range(most)
    ]
    alone = [
        tuple(
            other[at % len(other)] if place == chosen else other[1 % len(other)]
            for place, other in enumerate(values)
        )
        for chosen, each in enumerate(values)
        for at in range(len(each))
    ]
    return itertools.islice(dict.fromkeys([*together, *shifted, *alone]), CASES)


class _Types:
    """Makes values of the types of a crate."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._items: dict[str, tuple[Source, Node]] = {}
        for source in sources:
            for item in below(source.root, "struct_item", "union_item", "type_item"):
                self._items.setdefault(name_of(item), (source, item))

    def values(self, kind: str, depth: int = 0) -> list[str]:
        """Return extreme values of a type, as expressions; none when safe code cannot make any."""
        kind = " ".join(kind.split())
        if re.fullmatch(r"i(?:8|16|32|64|128|size)", kind):
            return [text.format(kind) for text in _SIGNED]
        if re.fullmatch(r"u(?:8|16|32|64|128|size)", kind):
            return [text.format(kind) for text in _UNSIGNED]
        if kind in ("f32", "f64"):
            return [text.format(kind) for text in _FLOATS]
        if kind == "bool":
            return ["false", "true"]
        if kind.startswith(("*mut ", "*const ")):
            null = "core::ptr::null_mut()" if kind.startswith("*mut") else "core::ptr::null()"
            return [null, f"64usize as {self._outside(kind)}"]
        if kind.startswith("Option<&"):
            inner = self.values(kind[7:-1], depth)
            return ["None", *(f"Some({value})" for value in inner[:2])]
        if kind.startswith("Option<"):
            return ["None"]
        if kind.startswith("&"):
            return self._references(kind, depth)
        if kind.startswith("Vec<"):
            return ["Vec::new()"]
        if kind.startswith(_CELL):
            inner = self.values(kind[len(_CELL) : -1], depth)
            return [f"core::cell::Cell::new({value})" for value in inner]
        if kind.startswith("[") and ";" in kind:
            inner = self.values(kind[1:-1].rpartition(";")[0], depth)
            return [f"core::array::from_fn(|_| {value})" for value in inner]
        return self._values_of(kind.rsplit("::", 1)[-1], depth)

    def _references(self, kind: str, depth: int) -> list[str]:
        changing = kind.startswith("&mut ")
        head, target = ("&mut ", kind[5:]) if changing else ("&", kind[1:])
        if target.startswith("[") and ";" not in target:
            element = target[1:-1]
            inner = self.values(element, depth)
            of = f"[{self._outside(element)}]"
            own = self._outside(element)
            filled = [
                f"{head}<[{own}; 3]>::from([{', '.join([value] * 3)}]) as {head}{of}"
                for value in inner[:2]
            ]
            if not inner:
                return []
            many = f"core::array::from_fn::<{own}, {_MANY}, _>(|_| {inner[-1]})"
            return [f"{head}[] as {head}{of}", *filled, f"{head}{many} as {head}{of}"]
        return [f"{head}{{ {value} }}" for value in self.values(target, depth)]

    def _values_of(self, name: str, depth: int) -> list[str]:
        found = self._items.get(name)
        if found is None or depth > _DEPTH:
            return []
        source, item = found
        if item.type == "type_item":
            kind = field(item, "type")
            return [] if kind is None else self.values(source.text(kind).decode(), depth + 1)
        members: list[tuple[str, list[str]]] = []
        for member in below(item, "field_declaration"):
            label, kind = field(member, "name"), field(member, "type")
            shown = any(child.type == "visibility_modifier" for child in member.children)
            if label is None or kind is None or not shown:
                return []
            values = self.values(source.text(kind).decode(), depth + 1)
            members.append((source.text(label).decode(), values))
        path = f"lifted::{_module(module_of(source))}::{name}"
        if item.type == "union_item":
            return [f"{path} {{ {label}: {v} }}" for label, values in members for v in values[:2]]
        if not all(values for _, values in members):
            return []
        most = max((len(values) for _, values in members), default=1)
        return [
            f"{path} {{ "
            + ", ".join(f"{label}: {values[at % len(values)]}" for label, values in members)
            + " }"
            for at in range(most)
        ]

    def _outside(self, kind: str) -> str:
        """Return a type as the crate that calls writes it."""
        return re.sub(r"\btypes::", "lifted::types::", kind)


def _module(name: str) -> str:
    """Return what a module, or a program, is called in the crate that is called."""
    return f"of_program_{name[4:]}" if name.startswith("bin/") else name


def _visible(path: Path, text: str) -> str:
    """Return the text of a file with all of its functions public."""
    source = parse_source(path, text.encode())
    parts, at = [], 0
    for function in source.functions:
        if not any(child.type == "visibility_modifier" for child in function.children):
            parts += [source.data[at : function.start_byte], b"pub "]
            at = function.start_byte
    return b"".join([*parts, source.data[at:]]).decode()


def _keep(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text.encode(errors="surrogateescape"))


_MAIN = """//! Calls safe functions with extreme arguments, each function in a process of its own.
#![forbid(unsafe_code)]
#![allow(warnings)]
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CASES: &[usize] = &[COUNTS];
const SECONDS: u64 = 4;

fn main() {
    let words: Vec<usize> = std::env::args().skip(1).map(|word| word.parse().unwrap()).collect();
    if words.len() == 2 {
        return call_all(words[0], words[1]);
    }
    for function in 0..CASES.len() {
        let mut case = 0;
        let mut slow = 0;
        while case < CASES[function] && slow < 2 {
            let (last, status, said) = run(function, case);
            println!("\\u{1e}{function} {last} {status} {}", said.escape_default());
            std::io::stdout().flush().unwrap();
            slow += (status == "timeout") as usize;
            case = if status == "done" { CASES[function] } else { last.max(case) + 1 };
        }
    }
}

fn run(function: usize, case: usize) -> (usize, String, String) {
    let own = std::env::current_exe().unwrap();
    let mut child = Command::new(own)
        .args([function.to_string(), case.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut heard = Vec::new();
        let mut part = [0; 4096];
        while let Ok(count) = pipe.read(&mut part) {
            if count == 0 { break; }
            heard.extend_from_slice(&part[..count]);
            let over = heard.len().saturating_sub(60_000);
            heard.drain(..over);
        }
        heard
    });
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() { break Some(status); }
        if begun.elapsed() > Duration::from_secs(SECONDS) {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let heard = String::from_utf8_lossy(&reader.join().unwrap()).into_owned();
    let rest = heard.rfind('\\u{1e}').map_or(heard.as_str(), |at| &heard[at + 1..]);
    let last = rest.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(case);
    let said: String = rest.chars().take(1200).collect();
    let status = match status {
        None => "timeout".to_string(),
        Some(status) => match (status.code(), status.signal()) {
            (Some(0), _) => "done".to_string(),
            (Some(code), _) => format!("exit:{code}"),
            (None, signal) => format!("signal:{}", signal.unwrap_or(0)),
        },
    };
    (last, status, said)
}

fn call_all(function: usize, from: usize) {
    for case in from..CASES[function] {
        eprintln!("\\u{1e}{case} ");
        let _ = std::panic::catch_unwind(|| call(function, case));
    }
}

fn call(function: usize, case: usize) {
    match (function, case) {
ARMS        _ => {}
    }
}
"""
