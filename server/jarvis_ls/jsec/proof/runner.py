"""Builds a program in the copy and runs cases on it.

Everything is one script of the sandbox: the copy is fresh each time, so a build and its runs belong
together. Frames are named only of reports that are new, for that takes long; these cases are run
again: what does not repeat is no evidence.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jarvis_ls.codeintel.languages import language_of, options_for
from jarvis_ls.core.words import Words
from jarvis_ls.harness.target import CPP
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Build, Case
from jarvis_ls.jsec.proof.objects import KEEP, Compiling, objects_of, place_of, plain_line
from jarvis_ls.jsec.proof.reports import MARK, OWN, Seen, named_for_checks, parse_reports
from jarvis_ls.jsec.proof.rust_build import HARNESS, SYSTEMS, rust_lines
from jarvis_ls.jsec.proof.system_build import system_lines
from jarvis_ls.jsec.proof.toolchain import LINKED, Toolchain
from jarvis_ls.jsec.proof.workbench import INTERPOSERS, WALL, Output, Workbench

LEVELS = ("-O0", "-O1")
"""Levels of optimisation: the lower keeps what the higher removes as unused."""
COMMON = (
    "-g -fno-omit-frame-pointer -fno-builtin -fno-common -fno-strict-aliasing -w "
    "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0"
)
WRAPPED = (
    "malloc calloc realloc strdup fopen fdopen freopen open read write fread fwrite fgets fputs "
    "puts putchar fputc putc fgetws fputws fputwc putwc putwchar socket connect bind listen accept "
    "recv send fclose fflush fseek rename remove close chdir setuid setgid seteuid setegid "
    "setreuid setregid setresuid setresgid setgroups initgroups chroot getuid geteuid getgid "
    "getegid rand random srand srandom "
    "time printf fprintf wprintf fwprintf snprintf swprintf __isoc99_scanf __isoc99_fscanf "
    "__isoc99_sscanf __isoc99_wscanf __isoc99_fwscanf wcsdup wcscpy wcsncpy wmemcpy wmemmove "
    "wmemset _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t"
).split()
"""Functions that `interposers.c` stands in for."""
WITH_SIGNALS = (
    "signal __sysv_signal sigset sigaction free perror vprintf vfprintf localtime gmtime ctime "
    "asctime strsignal psignal setenv putenv system popen pclose opendir readdir closedir atexit "
    "getpwnam getpwuid openlog closelog syslog vsyslog exit longjmp _longjmp siglongjmp"
).split()
"""Further ones where signals arrive."""
ASAN = (
    "detect_leaks={leaks}:detect_stack_use_after_return=1:allocator_may_return_null=0:"
    "max_allocation_size_mb=64:exitcode=99:print_legend=0:detect_odr_violation=0:"
    "handle_abort=0:strict_string_checks=0:malloc_context_size=12"
)
MEMCHECK = (
    "valgrind -q --track-origins=yes --fullpath-after= --num-callers=12 --error-limit=no "
    "--undef-value-errors=yes --leak-check=no"
)
FIXED = '"$(setarch -R true 2>/dev/null && echo setarch -R)"'
"""Makes addresses the same in every run, where that can be had: what happens to look like a pointer
hides leaks."""
UBSAN = "print_stacktrace=0:halt_on_error=0:exitcode=99"
ERROR_BYTES = 7000
OUTPUT_BYTES = 3000
MOST_CRASHES = 10
"""After so many different crashes no more runs are made: each costs ten times what a good one
does, for the names of its frames are looked up."""
_INTERPOSERS = f'"$BENCH/{INTERPOSERS.name}"'
_PLAIN = "-O1 -w -fno-omit-frame-pointer -fno-optimize-sibling-calls"
"""Options of the interposers: stacks are unwound by frame pointers, so none may leave its out."""
_RECORD = re.compile(r"^\x1e(case|out|built|failed|left) ?(.*)$", re.MULTILINE)
_PATH = "/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one case."""

    case: Case
    status: int
    """Exit status; 124 or 137 when it took too long."""
    seen: tuple[Seen, ...]
    """Reports that were there both times."""
    output: str
    """Beginning of its standard output."""
    errors: str
    """Beginning of its standard error."""


@dataclass(frozen=True, slots=True)
class Runs:
    """What became of some cases."""

    done: tuple[Run, ...]
    """In order; fewer than were asked for when the time was up or a report was found."""
    failure: str = ""
    """Why the program could not be built, in `Words`; empty when it was."""
    over: bool = False
    """Whether the budget was spent before all was done."""
    compiled: int = 0
    """Files that were compiled and need not be again."""


async def run_cases(
    bench: Workbench,
    cases: Sequence[Case],
    level: str,
    budget: Budget,
    until: Sequence[str] = (),
    *,
    leaks: bool = True,
) -> Runs:
    """Build the program of some cases, which all have the same, and run them.

    `until` are extended regular expressions: no more cases are run once the standard error of one
    has all of them. Raises `NoSandbox`.
    """
    build = cases[0].build
    seconds = max(2.0, budget.left * WALL)
    files = {
        f"until{number}": pattern.encode("utf-8", "surrogateescape")
        for number, pattern in enumerate(until)
    }
    if build.harness:
        files[HARNESS if build.system in SYSTEMS else "harness.c"] = build.harness.encode()
    for number, case in enumerate(cases):
        files[f"in{number}"] = case.stdin
        for place, (_, data) in enumerate(case.files):
            files[f"in{number}.{place}"] = data
    key = ("runner", build, level)
    built = bench.results.get(key)
    if isinstance(built, bytes):
        files[_BUILT] = built
        begin = _BUILT_LINES
    else:
        compiling = Compiling(objects_of(bench), build, {})
        kept = _KEEP_LINES if _may_be_kept(build) else []
        begin = [*build_lines(build, level, bench.tools, compiling), *kept]
        files.update(compiling.files)
    script = [*begin, _run_function(cases, leaks=leaks)]
    for number, case in enumerate(cases):
        script += _case_lines(number, case, seconds * 0.8, budget.left)
    output = await bench.run("\n".join(script), budget, files)
    left = dict(output.made)
    if _may_be_kept(build) and (made := left.get(_BUILT)):
        bench.results[key] = made
    compiled = objects_of(bench).take(left)
    return replace(_read(output, cases, str(bench.root)), compiled=compiled)


_BUILT = "prog.built"
"""Name of a program in `$BENCH` that was built before."""
_LARGEST_KEPT = 8_000_000
"""Bytes of a program that is kept for the next finding."""
_BUILT_LINES = [
    "W=$(mktemp -d) || exit 1",
    "ulimit -c 0",
    *KEEP,
    f'take {_BUILT} "$W/prog" && chmod +x "$W/prog" || exit 1',
    "printf '\\036built\\n'",
]
_KEEP_LINES = [f'[ "$(stat -c %s "$W/prog")" -gt {_LARGEST_KEPT} ] || keep "$W/prog" {_BUILT}']


def _may_be_kept(build: Build) -> bool:
    """Return whether a program is the same whenever it is built, and another finding may ask for
    it: one with a harness is made for a single finding, one of the project's own build may need
    what lies beside it."""
    return not build.harness and not build.system


def build_lines(
    build: Build, level: str, tools: Toolchain, compiling: Compiling | None = None
) -> list[str]:
    """Return the lines of the script that build a program as `$W/prog` or end it; `compiling` says
    what need not be compiled, else everything is."""
    compile_line = compiling.line if compiling is not None else plain_line
    if build.system in SYSTEMS:
        return rust_lines(build)
    flags = {
        language: " ".join(map(shlex.quote, options_for(language, build.flags)))
        for language in ("c", "cpp")
    }
    linked = LINKED
    options = f"{level} {COMMON} {' '.join(tools.sanitizers)}"
    if build.checker:
        options, linked = f"{level} {COMMON} -gdwarf-4", ""
    begin = [
        "W=$(mktemp -d) || exit 1",
        "ulimit -c 0",
        "fail() { printf '\\036failed\\n'; tail -c 3000 \"$W/errors\"; exit 0; }",
        *(KEEP if compiling is not None else ()),
        compile_line(f"{build.linker} {_PLAIN}", _INTERPOSERS, '"$W/interposers.o"') + " || fail",
    ]
    for file, line, new in build.rewritten:
        place = shlex.quote(f"./{file}")
        begin.append(
            f"OLD={quoted(line)} NEW={quoted(new)} awk "
            '\'$0 == ENVIRON["OLD"] { print ENVIRON["NEW"]; next } { print }\' '
            f'{place} >"$W/rewritten" && cat "$W/rewritten" >{place} || fail'
        )
    names = [*WRAPPED, *(WITH_SIGNALS if build.signals else ())]
    wrap = " ".join(f"-Wl,--wrap={name}" for name in names)
    if build.system:
        plain = f"{level} {COMMON}"
        steps = system_lines(build, options, plain, wrap, tools)
        return [*begin, *steps, "printf '\\036built\\n'"]
    c = [source for source in build.sources if language_of(source) == "c"]
    cpp = [source for source in build.sources if language_of(source) != "c"]
    harness, own = build.compiler, flags["c"]
    if build.harness.startswith(CPP):
        harness, own = f"{tools.cpp} -x c++", flags["cpp"]
    linker = tools.cpp_linker if cpp or harness != build.compiler else build.linker
    lines = begin
    compiled = [
        *((source, f"{build.compiler} {options} {flags['c']}") for source in c),
        *((source, f"{tools.cpp} {options} {flags['cpp']}") for source in cpp),
    ]
    if build.harness:
        lines.append(
            f'{harness} {options} {own} -c "$BENCH/harness.c" -o "$W/h.o" 2>"$W/errors" || fail'
        )
    for number, (source, compiler) in enumerate(compiled):
        # What another file lacks may not be needed: then the linker does not miss it.
        is_needed = source == build.sources[0] and not build.harness
        failed = "fail" if is_needed else 'cat "$W/errors" >>"$W/first"'
        made = f'"$W/{number}.o"'
        lines.append(f"{compile_line(compiler, place_of(source), made)} || {failed}")
    libraries = " ".join(map(shlex.quote, build.libraries))
    link = f'{linker} {linked} {wrap} "$W"/*.o -o "$W/prog"'
    lines += [
        f'{link} {libraries} 2>"$W/unlinked" || {{',
        *_spare_lines(build, f"{build.compiler} {options} {flags['c']}", compile_line),
        f'[ -e "$W/spare.a" ] && {link} "$W/spare.a" {libraries} 2>/dev/null',
        '} || { cat "$W/unlinked" >>"$W/first"; cp "$W/first" "$W/errors"; fail; }',
        "printf '\\036built\\n'",
    ]
    return lines


def _spare_lines(
    build: Build, compiler: str, compile_line: Callable[[str, str, str], str]
) -> list[str]:
    """Return the lines that make a library of the spare files of a build that compile."""
    lines = ['mkdir "$W/spare"'] if build.spare else []
    for number, source in enumerate(build.spare):
        made = f'"$W/spare/{number}.o"'
        lines.append(f"{compile_line(compiler, place_of(source), made)} || rm -f {made}")
    if build.spare:
        lines.append('ar rcs "$W/spare.a" "$W"/spare/*.o 2>/dev/null')
    return lines


def _run_function(cases: Sequence[Case], *, leaks: bool) -> str:
    asan = ASAN.format(leaks=int(leaks))
    program = f'{MEMCHECK} "$W/prog"' if cases[0].build.checker == "memcheck" else '"$W/prog"'
    names = {name for case in cases for name, _ in case.files if name.startswith("/")}
    outside = " ".join(shlex.quote(name) for name in sorted(names))
    said = f"runtime error|panicked at|{OWN}"
    pattern = f"Sanitizer:|uninitialised|{said}"
    return f"""
once() {{
    rm -rf "$D"; rm -f -- {outside}; mkdir -p "$D"; cd "$D" || return
    place
    ( ulimit -t "$LIMIT"; ulimit -f 40000
      exec $FIXED timeout -k 1 "$WALL" env -i PATH={_PATH} HOME="$D" LC_ALL=C \
        ASAN_OPTIONS={asan}:symbolize=$NAMES UBSAN_OPTIONS={UBSAN} \
        LSAN_OPTIONS=print_suppressions=0 "${{SET[@]}}" \
        {program} "${{ARG[@]}}" <"$BENCH/in$N" >"$OUT" 2>"$W/err"
    ) 2>/dev/null
    STATUS=$?
}}
spent() {{
    local user system
    times >"$W/times"
    {{ read -r _; read -r user system; }} <"$W/times"
    user=${{user%%[.,]*}}; system=${{system%%[.,]*}}
    SPENT=$((60 * ${{user%m*}} + ${{user#*m}} + 60 * ${{system%m*}} + ${{system#*m}}))
}}
tell() {{ printf '\\036case %s %s\\n' "$N" "$STATUS"; head -c {ERROR_BYTES} "$W/err"; }}
try() {{
    D="$W/d"; OUT="$W/out"; [ -z "$FULL" ] || OUT=/dev/full
    : >"$W/out"; NAMES=0; once
    if grep -q -a -E '{pattern}' "$W/err"; then
        SIGN=$({{ sed -E '/{pattern}|^=====/q' "$W/err"
                 grep -a -E '^    #[0-9]+ 0x|^==[0-9]+==    |SUMMARY: |{said}' "$W/err"; }} |
            sed -E 's/.*panicked//; s/ 0x0{{9,}}[0-9a-f]{{1,3}}\\b/ null/; s/ 0x[0-9a-fA-F]*//g' |
            sed -E 's/^==[0-9]+==//; s/[0-9]* byte.*//' |
            cksum | tr ' ' -)
        grep -q -a '^{MARK}' "$W/err" && SIGN="$SIGN-$N"
        if [ -e "$W/known-$SIGN" ]; then
            cp "$W/known-$SIGN" "$W/err"; tell
        else
            NAMES=1
            once; tell; cp "$W/err" "$W/known-$SIGN"; once; tell
            grep -q -a 'ERROR: AddressSanitizer' "$W/err" && CRASHES=$((CRASHES + 1))
            [ ! -s "$BENCH/until0" ] || END=1
            for pattern in "$BENCH"/until*; do
                [ -s "$pattern" ] && grep -q -a -E -f "$pattern" "$W/err" || END=
            done
        fi
    else
        tell
    fi
    printf '\\n\\036out\\n'; head -c {OUTPUT_BYTES} "$W/out"; printf '\\n'
    [ "$CRASHES" -lt {MOST_CRASHES} ] || END=1
}}
END='' CRASHES=0 FIXED={FIXED}
"""


def _case_lines(number: int, case: Case, seconds: float, cpu: float) -> list[str]:
    """Return the lines that run a case, unless a report was found, or the seconds by the clock or
    those of the CPU are over."""
    place = [
        f"mkdir -p {shlex.quote(name.rpartition('/')[0])}; " if "/" in name else ""
        for name, _ in case.files
    ]
    places = "; ".join(
        f'{folder}cp "$BENCH/in{number}.{at}" {shlex.quote(name)}'
        for at, (folder, (name, _)) in enumerate(zip(place, case.files, strict=True))
    )
    variables = {**dict(case.environment), **case.settings.environment()}
    words = " ".join(quoted(f"{name}={value}") for name, value in variables.items())
    return [
        "spent",
        f'[ -n "$END" ] || [ "$SECONDS" -ge {int(seconds)} ] || [ "$SPENT" -ge {int(cpu)} ] || {{',
        f"  place() {{ {places or ':'}; }}",
        f"  N={number} SET=({words}) ARG=({' '.join(map(quoted, case.arguments))})",
        f"  LIMIT={max(1, round(case.seconds))} WALL={max(2, round(2 * case.seconds))}"
        f" FULL={'1' if case.settings.full else ''}",
        "  try",
        "}",
    ]


def quoted(text: str) -> str:
    """Return a text as a word of bash, whatever bytes are in it; NUL, which no word can hold, is
    left out."""
    data = text.encode("utf-8", "surrogateescape").replace(b"\0", b"")
    if re.fullmatch(rb"[\w./:=@%+,-]+", data):
        return data.decode()
    return "$'" + "".join(_escape(byte) for byte in data) + "'"


def _escape(byte: int) -> str:
    char = chr(byte)
    if (char.isalnum() and byte < 128) or char in " ./:=@%+,-_":
        return char
    return f"\\x{byte:02x}" if byte >= 128 or byte < 32 else f"\\{byte:03o}"


def _read(output: Output, cases: Sequence[Case], root: str) -> Runs:
    """Return what the output of the script says."""
    parts: list[tuple[str, str, str]] = []
    heads = list(_RECORD.finditer(output.text))
    ends = [*(head.start() for head in heads[1:]), len(output.text)]
    for head, end in zip(heads, ends, strict=False):
        parts.append((head[1], head[2], output.text[head.end() + 1 : end]))
    for kind, _, text in parts:
        if kind == "failed":
            return Runs((), Words("It could not be built: {error}", error=_first_error(text)))
    if not any(kind == "built" for kind, _, _ in parts):
        why = output.ended or output.text.strip()[-200:]
        return Runs((), Words("It could not be built: {error}", error=why), output.over)
    tries: dict[int, list[tuple[int, str]]] = {}
    outputs: dict[int, str] = {}
    number = -1
    for kind, about, text in parts:
        if kind == "case":
            number, status = map(int, about.split())
            tries.setdefault(number, []).append((status, text))
        elif kind == "out":
            outputs[number] = text
    return Runs(
        tuple(
            _run(cases[number], found, outputs[number], root)
            for number, found in tries.items()
            if number in outputs and number < len(cases)
        ),
        over=output.over,
    )


def _run(case: Case, tries: Sequence[tuple[int, str]], output: str, root: str) -> Run:
    status, errors = tries[0]
    source = case.build.sources[0] if case.build.sources else ""
    seen = parse_reports(errors, root, source)
    if len(tries) > 1:
        again = {_key(item) for item in parse_reports(tries[1][1], root, source)}
        seen = [item for item in seen if _key(item) in again]
    if case.build.rewritten:
        seen = [named_for_checks(item) for item in seen]
    return Run(case, status, tuple(seen), output, errors)


def _key(seen: Seen) -> tuple[object, ...]:
    return seen.kind, seen.frames[:1]


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = next((line for line in lines if "error" in line or "undefined" in line), "")
    return (found or (lines[0] if lines else ""))[:300]
