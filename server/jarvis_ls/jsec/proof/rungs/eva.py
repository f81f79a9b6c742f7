"""Refutes a finding by Frama-C's Eva, where it is installed: a sound analysis of values.

Eva begins in the function of the finding, in those that call it, or in `main`, with all that they
can be given, and has to come to its end without an alarm, wherever, those about calls of the C
library included: behind an alarm it goes on with what does not go wrong only, so that what it says
of places behind it holds for a part.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.languages import language_of, options_for
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words, together
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Strength, Verdict
from jarvis_ls.jsec.proof.places import current_hashes
from jarvis_ls.jsec.proof.programs import find_closure
from jarvis_ls.jsec.proof.refuting import Read, missing_packages, read_code
from jarvis_ls.jsec.proof.rungs.symbolic import goal_of
from jarvis_ls.jsec.proof.rungs.whole_program import WholeProgram
from jarvis_ls.jsec.proof.symbolic.goal import Check, Goal, checks_for
from jarvis_ls.jsec.proof.symbolic.roots import levels
from jarvis_ls.jsec.proof.symbolic.syntax import Function
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench

NAME = "eva"
_LEAST_SECONDS = 1.0
_MOST_ROOTS = 4
_MOST_NAMED = 6
_UNSET = frozenset({457, 908})
_DRIVER = "jsec_eva.c"
_FINDLIB = Path("/etc/ocamlfind.conf")
_ENTRY = "jsec_eva_main"
_RENAMED = "jsec_main_of_the_unit"
_ARGUMENTS, _LONGEST = 256, 65_535
_MEMORY = frozenset({"mem_access", "index_bound", "dangling_pointer", "pointer_value"})
_KINDS: dict[Check, frozenset[str]] = {
    **dict.fromkeys((Check.WRITE, Check.READ, Check.NULL, Check.LIFE), _MEMORY),
    Check.FREE: frozenset(),
    Check.BAD_FREE: frozenset(),
    Check.SIGNED: frozenset({"signed_overflow"}),
    Check.UNSIGNED: frozenset({"unsigned_overflow"}),
    Check.CONVERSION: frozenset(
        {"signed_downcast", "unsigned_downcast", "float_to_int", "bool_value"}
    ),
    Check.DIVISION: frozenset({"division_by_zero"}),
    Check.SHIFT: frozenset({"shift"}),
}
"""Kinds of conditions that are shown for what must hold; those of library functions come to the
first five."""
_BY_LIBRARY = frozenset(
    {Check.WRITE, Check.READ, Check.NULL, Check.LIFE, Check.FREE, Check.BAD_FREE}
)
_CALL = "precondition"
"""Kind of the conditions of calls of the C library."""
_UNFIT = re.compile(
    rb"\b(?:_?setjmp|sigsetjmp|longjmp|siglongjmp|pthread_create|thrd_create|asm|__asm(?:__)?|"
    rb"getcontext|swapcontext|(?:__builtin_)?alloca)\s*(?:volatile\s*|__volatile__\s*)?\("
)
"""What Eva does not follow as it is."""
_OPTIONS = (
    "-machdep gcc_x86_64 -kernel-warn-key annot:missing-spec=abort "
    "-kernel-warn-key typing:implicit-function-declaration=abort "
    "-eva-warn-key libc:unsupported-spec=abort -rte-initialized @all"
)
_OPEN = frozenset({"Unknown", "Invalid", "Invalid or unreachable", "Unknown but dead"})


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition of the project's code, and whether Eva has shown it."""

    file: str
    line: int
    kind: str
    holds: bool


class Eva:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`."""
        if not tools.frama_c:
            return Words(
                "Refuting by Frama-C's Eva needs frama-c, which is not here "
                "(such as the package frama-c-base)."
            )
        return WholeProgram().missing(tools) or missing_packages()

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        checks = checks_for(finding.cwe)
        is_unset = not _UNSET.isdisjoint(finding.cwe)
        if language_of(finding.file) != "c" or not (checks or is_unset):
            return None
        if not checks.isdisjoint({Check.HUGE, Check.KEPT}):
            return None
        read = read_code(bench, finding.file)
        function = read.code.at(finding.file, finding.span.line) if read is not None else None
        if read is None or function is None or not _is_fit(bench, read):
            return None
        goal = goal_of(bench, finding, checks)
        assert goal is not None
        kinds = _kinds(checks, is_unset=is_unset)
        read.code.need(function, goal.steps, is_whole=read.is_whole)
        for level, roots in levels(read.code, function, is_whole=read.is_whole):
            if len(roots) > _MOST_ROOTS or budget.left < _LEAST_SECONDS:
                continue
            shown = await _analyse_all(bench, read, roots, (goal, kinds), budget)
            if shown:
                return _refuted(bench, read, (level, roots, function), shown)
        return None


def _kinds(checks: Iterable[Check], *, is_unset: bool) -> frozenset[str]:
    found = {kind for check in checks for kind in _KINDS.get(check, ())}
    if not _BY_LIBRARY.isdisjoint(checks):
        found.add(_CALL)
    if is_unset:
        found.add("initialization")
    return frozenset(found)


def _is_fit(bench: Workbench, read: Read) -> bool:
    """Return whether nothing in a program is what Eva does not follow."""
    sources = [bench.source(file) for file in read.code.files]
    return all(source is not None and not _UNFIT.search(source.data) for source in sources)


async def _analyse_all(
    bench: Workbench,
    read: Read,
    roots: Sequence[Function],
    asked: tuple[Goal, frozenset[str]],
    budget: Budget,
) -> int:
    """Return how many conditions hold in the places of a goal when Eva begins in some functions; 0
    when one of them has an alarm."""
    goal, kinds = asked
    shown = 0
    for root in roots:
        found = await _analyse(bench, read, root, kinds, budget)
        if found is None or not all(item.holds for item in found):
            return 0
        shown += sum(
            item.kind in kinds
            and any(
                item.file == file and first <= item.line <= last
                for file, first, last in goal.places
            )
            for item in found
        )
    return shown


async def _analyse(
    bench: Workbench, read: Read, root: Function, kinds: frozenset[str], budget: Budget
) -> list[_Condition] | None:
    """Return the conditions of an analysis from a function on; None when it did not end."""
    arithmetic = [f"-{name}" for name in _warnings(kinds)]
    key = (NAME, root.file, root.name, *arithmetic)
    if key not in bench.results:
        own = Budget(budget.left, budget.stop)
        files = {_DRIVER: _driver().encode(), **_findlib()}
        output = await bench.run(_script(bench, read, root, arithmetic), own, files)
        budget.spend(own.spent)
        made = dict(output.made).get("found.csv", b"")
        is_whole = "\x1eended well" in output.text and not re.search(r"recursi", output.text)
        bench.results[key] = _conditions(made) if is_whole and made else None
    found = bench.results[key]
    return found if isinstance(found, list) else None


def _warnings(kinds: frozenset[str]) -> list[str]:
    """Return what Eva is to look at: elsewhere numbers wrap around, as compilers have it."""
    names = []
    if "signed_overflow" not in kinds:
        names.append("no-warn-signed-overflow")
    if "unsigned_overflow" in kinds:
        names.append("warn-unsigned-overflow")
    if "signed_downcast" in kinds:
        names += ["warn-signed-downcast", "warn-unsigned-downcast"]
    return names


def _script(bench: Workbench, read: Read, root: Function, options: Sequence[str]) -> str:
    build = find_closure(bench, root.file)
    assert not isinstance(build, str)
    files = [file for file in read.code.sources if language_of(file) == "c"]
    places = [shlex.quote(f"./{file}") for file in files]
    flags = " ".join(shlex.quote(flag) for flag in options_for("c", build.flags))
    entry = f"-main {root.name} -lib-entry"
    if root.name == "main":
        places.append(f'"$BENCH/{_DRIVER}"')
        flags += f" -Dmain={_RENAMED}"
        entry = f"-main {_ENTRY}"
    given = shlex.quote(flags)
    return "\n".join(
        (
            "export HOME=$(mktemp -d)",
            f'[ ! -e "$BENCH/{_FINDLIB.name}" ] || export OCAMLFIND_CONF="$BENCH/{_FINDLIB.name}"',
            f"frama-c {' '.join(places)} {_OPTIONS} -cpp-extra-args={given} {entry} "
            f"{' '.join(options)} -rte -then -eva -eva-precision 1 {' '.join(options)} "
            '-then -report-csv "$BENCH/found.csv" 2>&1 | grep -E "rror|abort|recursi" | head -n 5',
            '[ "${PIPESTATUS[0]}" -eq 0 ] && printf "\\036ended well\\n"',
        )
    )


def _findlib() -> dict[str, bytes]:
    """Return how OCaml finds its libraries here, which no sandbox shows."""
    try:
        return {_FINDLIB.name: _FINDLIB.read_bytes()}
    except OSError:
        return {}


def _driver() -> str:
    """Return the text of a file that calls `main` with all arguments that a program may be given.
    What they point to is two blocks, so that nothing is known of one from another."""
    return f"""\
#include <__fc_builtin.h>
#include <stddef.h>
extern int {_RENAMED}(int, char **);
static char jsec_word[{_LONGEST + 1}], jsec_other_word[{_LONGEST + 1}];
static char *jsec_words[{_ARGUMENTS + 2}];
int {_ENTRY}(void)
{{
    int count = Frama_C_interval(0, {_ARGUMENTS});
    int number;
    Frama_C_make_unknown(jsec_word, {_LONGEST});
    Frama_C_make_unknown(jsec_other_word, {_LONGEST});
    for (number = 0; number < {_ARGUMENTS + 2}; number++)
        jsec_words[number] =
            Frama_C_nondet_ptr(NULL, Frama_C_nondet_ptr(jsec_word, jsec_other_word));
    return {_RENAMED}(count, jsec_words);
}}
"""


def _conditions(data: bytes) -> list[_Condition]:
    """Return the conditions of a report that are about code of the project."""
    found = []
    for row in csv.DictReader(io.StringIO(data.decode("utf-8", "replace")), delimiter="\t"):
        folder, name = row["directory"], row["file"]
        if folder.startswith(("FRAMAC_SHARE", "/")) or name == _DRIVER:
            continue
        file = name if folder in ("", ".") else f"{folder.removeprefix('./')}/{name}"
        status = row["status"]
        if status != "Valid" and status not in _OPEN:
            continue
        kind = row["property kind"]
        kind = _CALL if kind.startswith("precondition of ") else kind
        found.append(_Condition(file, int(row["line"]), kind, status == "Valid"))
    return found


def _refuted(
    bench: Workbench, read: Read, begun: tuple[int, Sequence[Function], Function], shown: int
) -> Evidence:
    level, roots, function = begun
    names = together([f"'{root.name}'" for root in roots[:_MOST_NAMED]], ", ")
    assumptions = [
        Words("Sizes of types, macros and headers are those of this machine."),
        Words("Nothing that goes wrong before it has changed other memory."),
        Words("No other thread and no signal handler changes its data."),
        Words("Functions of the C library do what Frama-C's specifications of them say."),
    ]
    if level < 0:
        assumptions += [
            Words("The program begins in 'main' and consists of the project's files."),
            Words(
                "It is given at most {count} arguments of {length} characters.",
                count=_ARGUMENTS,
                length=_LONGEST,
            ),
        ]
    else:
        assumptions.append(
            Words("What its arguments and global variables point to does not overlap.")
        )
    if level > 0:
        assumptions.append(
            Words("Only functions of the project call '{function}'.", function=function.name)
        )
    hashed: dict[str, str] = {}
    for file in read.code.files:
        source = bench.source(file)
        if source is not None:
            hashed[f"{file}:"] = next(iter(current_hashes(source, {""})[""]))
    return Evidence(
        Verdict.REFUTED,
        NAME,
        Words(
            "Frama-C's Eva followed all executions from {functions} and has no alarm there; "
            "{count} conditions hold.",
            functions=names,
            count=shown,
        ),
        strength=Strength.PROVEN,
        assumptions=tuple(assumptions),
        functions=tuple(sorted(hashed.items())),
    )
