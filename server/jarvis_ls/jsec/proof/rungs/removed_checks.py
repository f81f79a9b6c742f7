"""Refutes a panic in Rust by what the compiler makes of it.

Safe Rust checks an index, a divisor, a sum, an `Option` where it is used. Where the optimizer has
removed the check and all that could panic in the statement, it has shown that none of it can fail.
The function is compiled by itself for that, not only where it was put into its callers, and once
more without optimization, to see that the check is there.
"""

from __future__ import annotations

import base64
import gzip
import re
import shlex
from pathlib import PurePosixPath

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.nodes import ancestors
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.harness.rust_target import functions_in, name_of
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Strength, Verdict
from jarvis_ls.jsec.proof.optimized_rust import KEPT, Lines, OptimizedCode, read_code
from jarvis_ls.jsec.proof.places import current_hashes, statement_lines
from jarvis_ls.jsec.proof.rungs.rust_runs import RustRuns
from jarvis_ls.jsec.proof.rust_build import crate_of
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import Settings

NAME = "removed-checks"
_PANICS = frozenset({119, 125, 126, 127, 129, 190, 191, 248, 369, 617, 754, 787, 788})
"""Weaknesses that are a panic in safe Rust whose overflow is checked."""
_GENERAL = frozenset({20, 682, 703})
_KEPT_SECONDS = 5.0
"""So much of a budget is left to the runs behind this rung."""
_MOST_FILES = 300
_FLAGS = (
    "--cap-lints allow -C debug-assertions=off -C overflow-checks=on -C debuginfo=1 "
    "-C codegen-units=1 -C panic=unwind -C lto=off --emit=llvm-ir -C opt-level={level}"
)
_MODULE = re.compile(r"^\x1emodule ([A-Za-z0-9+/=]+)$", re.MULTILINE)
_ROOT = re.compile(r"^\x1eroot (.+)$", re.MULTILINE)
_NOT_PLAIN = frozenset("trait_item closure_expression async_block const_item const_block".split())
"""What a place must not be in: code that others make more of, or that runs elsewhere."""
_MACRO = re.compile(r"(\w+)\s*!\s*[(\[{]")
_MACROS = frozenset(
    "assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne eprint eprintln "
    "format matches panic print println todo unimplemented unreachable vec write writeln".split()
)
"""Macros of the standard library: what they become has the line where they are written."""
_GENERIC = frozenset({"type_parameter", "const_parameter", "abstract_type"})


class RemovedChecks:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`."""
        return RustRuns().missing(tools)

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        source = bench.source(finding.file)
        if source is None or language_of(finding.file) != "rust" or not _is_panic(finding):
            return None
        function = _plain_function(source, finding)
        hashes = _hashes(bench, finding.file)
        if function is None or hashes is None:
            return None
        own = budget.without(_KEPT_SECONDS)
        try:
            is_shown = await _is_shown(finding, source, function, bench, own)
        finally:
            budget.spend(own.spent)
        if not is_shown:
            return None
        return Evidence(
            Verdict.REFUTED,
            NAME,
            Words(
                "The compiler has removed every check in it: it has shown that nothing there can "
                "panic, whatever safe code calls '{function}' with.",
                function=name_of(function),
            ),
            strength=Strength.PROVEN,
            assumptions=(
                Words("The optimizer of the compiler is right."),
                Words("Unsafe code elsewhere keeps its promises."),
                Words("Features and conditional code are those of a build on this machine."),
            ),
            functions=hashes,
        )


def _is_panic(finding: Finding) -> bool:
    own = set(finding.cwe) - _GENERAL
    return bool(own) and own <= _PANICS


def _plain_function(source: Source, finding: Finding) -> Node | None:
    """Return the function around a finding; None when more than one may be made of it, or when
    something in it is not checked."""
    at = source.offset(finding.span.line, finding.span.column)
    around = [item for item in functions_in(source) if item.start_byte <= at < item.end_byte]
    if not around:
        return None
    function = around[-1]
    inner = function.descendant_for_byte_range(at, at)
    outside = list(ancestors(function))
    inside = [] if inner is None else [inner, *ancestors(inner)]
    if any(node.type in _NOT_PLAIN for node in (*inside, *outside)):
        return None
    if any(_is_generic(node) for node in (function, *outside)):
        return None
    words = re.findall(rb"\w+", source.data[function.start_byte : function.end_byte])
    return None if {b"unsafe", b"async"} & set(words) else function


def _is_generic(node: Node) -> bool:
    if node.type not in ("function_item", "impl_item"):
        return False
    heads = [node.child_by_field_name(name) for name in ("type_parameters", "parameters")]
    waiting = [head for head in heads if head is not None]
    for head in waiting:
        if head.type in _GENERIC:
            return True
        if head.type == "type_parameters" and any(
            child.type not in ("lifetime", "lifetime_parameter") for child in head.named_children
        ):
            return True
        waiting += head.named_children
    return False


async def _is_shown(
    finding: Finding, source: Source, function: Node, bench: Workbench, budget: Budget
) -> bool:
    first, last = statement_lines(source, finding.span)
    written = "\n".join(source.line_text(line) for line in range(first, last + 1))
    if not _MACROS.issuperset(_MACRO.findall(written)):
        return False
    begin = source.line_of(function.start_byte)
    end = source.line_of(function.end_byte - 1)
    for level in (3, 0):
        found = await _compile(finding.file, source, function, bench, budget, level)
        if found is None:
            return False
        root, code = found
        path = str(PurePosixPath(root) / finding.file)
        statement, around = Lines(path, first, last), Lines(path, begin, end)
        if not code.defines(name_of(function), Lines(path, begin, _end_of_head(source, function))):
            return False
        if level and code.may_panic(statement, around):
            return False
        if not level and not code.checks(statement):
            return False
    return True


def _end_of_head(source: Source, function: Node) -> int:
    name = function.child_by_field_name("name")
    return source.line_of(name.start_byte if name is not None else function.start_byte)


async def _compile(
    file: str, source: Source, function: Node, bench: Workbench, budget: Budget, level: int
) -> tuple[str, OptimizedCode] | None:
    """Return the root of the copy and what the compiler makes of a crate; None when that cannot be
    read."""
    at = function.start_byte
    changed = source.data[:at] + b"#[inline(never)] " + source.data[at:]
    crate = crate_of(bench, file)
    flags = _FLAGS.format(level=level)
    script = [
        "printf '\\036root %s\\n' \"$PWD\"",
        "W=$(mktemp -d) || exit 1",
        '[ -z "$HOME" ] || mkdir -p "$HOME"',
    ]
    if crate is None:
        script.append(
            f"rustc --edition 2021 --crate-type lib {flags} {shlex.quote(f'./{file}')}"
            ' -o "$W/module.ll" >"$W/said" 2>&1 || { tail -c 3000 "$W/said"; exit 0; }'
        )
    else:
        script += [
            f"cd {shlex.quote(f'./{crate}')} || exit 1",
            f"export CARGO_TARGET_DIR=\"$W/target\" RUSTFLAGS='{flags}' CARGO_INCREMENTAL=0",
            'cargo build --offline >"$W/said" 2>&1 || { tail -c 3000 "$W/said"; exit 0; }',
        ]
    name = shlex.quote(PurePosixPath(file).name)
    script += [
        'find "$W" -name "*.ll" | while read -r module; do',
        f'    grep -q -a -F {name} "$module" || continue',
        "    printf '\\036module '",
        f'    grep -a -E {shlex.quote(KEPT)} "$module" | gzip -9 | base64 -w 0; echo',
        "done",
        "printf '\\036end\\n'",
    ]
    output = await bench.with_change(file, changed).run("\n".join(script), budget)
    root = _ROOT.search(output.text)
    modules = _MODULE.findall(output.text)
    if root is None or not modules or output.text.count("\x1emodule ") != len(modules):
        return None
    if "\x1eend\n" not in output.text:
        return None
    texts = [
        gzip.decompress(base64.b64decode(module)).decode("utf-8", "replace") for module in modules
    ]
    return root[1], read_code(texts)


def _hashes(bench: Workbench, file: str) -> tuple[tuple[str, str], ...] | None:
    """Return the hashes of all files of Rust of the workspace: any may call the function, or is
    called by it; None when they are too many."""
    files = [
        item.path
        for item in list_sources(bench.root, Settings(default_excludes=True)).files
        if language_of(item.path) == "rust"
    ]
    if len(files) > _MOST_FILES or file not in files:
        return None
    found = {}
    for path in files:
        source = bench.source(path)
        if source is None:
            return None
        found[f"{path}:"] = next(iter(current_hashes(source, {""})[""]))
    return tuple(sorted(found.items()))
