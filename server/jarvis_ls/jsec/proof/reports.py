"""Reports of sanitizers: what kind, where, and whether they bear out a finding.

A report bears out a finding only when its kind fits a weakness (CWE) of the rule and the first of
its frames that is in the project is the finding's statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.proof.evidence import Report

OWN = "JSEC: "
"""How lines of the interposers begin."""
MARK = f"{OWN}failed "
"""What they write when they let a call fail, before its name and its stack."""

FAILED = "failed "
"""How the kinds of `MARK` begin, before the name of what failed."""
UNFIT = f"{OWN}unfit "
"""What they write when something is closed that the function cannot close, before its name."""
LOST = f"{OWN}lost "
"""What they write of a block that `realloc` left where it was."""
LEAKED = f"{OWN}leaked "
"""What they write of a stream or descriptor that is never closed, before what opened it."""

ITSELF = f"{OWN}itself "
"""What they write when a call that they let fail elsewhere fails by itself, before its name."""

SHORT = f"{OWN}short "
"""What they write when a read that they let fail elsewhere gives less than was asked for, before
its name and its number."""

UNSAFE = f"{OWN}unsafe "
"""What they write when the handler of a signal calls what none may, before its name and its stack.
"""

_HEAD = re.compile(
    r"^(?:==\d+==)?(?:ERROR|WARNING): (?:Address|Memory|Leak)Sanitizer: (.{1,300})"
    r"|^(Direct|Indirect) leak of \d+ byte"
    r"|^(\S[^\n]{0,500}?):(\d{1,9}):(\d{1,9}): runtime error: ([^\n]{1,300})"
    rf"|^{MARK}(\w+)"
    rf"|^{LEAKED}(\w+)"
    r"|^==\d+== ([^\n]{1,200}\buninitialised (?:value|byte)[^\n]{0,100})"
    r"|^thread '[^\n]{0,200}' (?:\(\d+\) )?panicked at ([^\n]{1,500}?):(\d{1,9}):\d+:\n"
    r"([^\n]{0,300})"
    rf"|^{UNSAFE}(\w+)"
    rf"|^{LOST}(\w+)"
    rf"|^{UNFIT}(\w+)",
    re.MULTILINE,
)
_FRAME = re.compile(
    r"^ {4}#\d+ 0x[0-9a-f]+ (?:in )?(\S[^\n]{0,300}?) (\S+?):(\d{1,9})(?::\d+)?$", re.MULTILINE
)
_END = re.compile(r"^\s*$", re.MULTILINE)
_FREED = re.compile(
    r"^freed by thread |^==\d+==  Uninitialised value was created by ", re.MULTILINE
)
_FRAME_OF_MEMCHECK = re.compile(
    r"^==\d+==    (?:at|by) 0x[0-9A-F]+: (\S[^\n]{0,300}?) \((\S+?):(\d{1,9})\)$", re.MULTILINE
)
_END_OF_MEMCHECK = re.compile(r"^==\d+== (?: ?\S.*)?$", re.MULTILINE)
_ZERO_PAGE = re.compile(r"SEGV on unknown address (?:0x0{9,}[0-9a-f]{1,3}\b|\(nil\))")
_ASAN_KINDS = (
    ("attempting double-free", "double-free"),
    ("attempting free on address which was not", "bad-free"),
    ("requested allocation size", "allocation-size-too-big"),
    ("calloc parameters overflow", "allocation-size-too-big"),
    ("reallocarray parameters overflow", "allocation-size-too-big"),
    ("allocator is out of memory", "allocation-size-too-big"),
    ("out of memory", "allocation-size-too-big"),
    ("specified RSS limit", "allocation-size-too-big"),
    ("FPE on", "division-by-zero"),
    ("BUS on", "wild-access"),
    ("unknown-crash", "wild-access"),
    ("detected memory leaks", ""),
)
_UBSAN_KINDS = (
    ("unsigned integer overflow", "unsigned-integer-overflow"),
    ("signed integer overflow", "signed-integer-overflow"),  # part of the words above
    ("negation of", "signed-integer-overflow"),
    ("division of", "signed-integer-overflow"),
    ("division by zero", "division-by-zero"),
    ("shift exponent", "shift"),
    ("left shift of", "shift"),
    ("implicit conversion", "implicit-conversion"),
    ("null pointer", "null-dereference"),
    ("applying non-zero offset", "pointer-overflow"),
    ("pointer index expression", "pointer-overflow"),
    ("applying zero offset", ""),
    ("out of bounds for type", "index-out-of-bounds"),
    ("insufficient space for an object", "object-size"),
    ("is outside the range of representable values", "float-cast-overflow"),
    ("is outside the range of representable values", "value-out-of-range"),
    ("variable length array bound", "vla-bound"),
    ("is not a valid value for type", "invalid-value"),
)
_INDEX = "index-out-of-bounds"
_PANIC_KINDS = (
    (re.compile(r"index out of bounds|(?:range (?:start|end)|byte|slice) index "), _INDEX),
    (re.compile(r"unsafe precondition.* (?:within the slice|in bounds|within the string)"), _INDEX),
    (re.compile(r"attempt to (?:divide by zero|calculate the remainder)"), "division-by-zero"),
    (re.compile(r"attempt to [\w ]{3,40} with overflow"), "integer-overflow"),
    (re.compile(r"capacity overflow|memory allocation of"), "allocation-size-too-big"),
    (re.compile(r"null pointer dereference"), "null-dereference"),
)
"""What panics of Rust say; others are of the kind `panic`."""

_BEYOND = frozenset(
    "heap-buffer-overflow stack-buffer-overflow stack-buffer-underflow global-buffer-overflow "
    "dynamic-stack-buffer-overflow container-overflow index-out-of-bounds object-size "
    "negative-size-param wild-access use-after-poison".split()
)
_DEAD = frozenset("heap-use-after-free stack-use-after-return stack-use-after-scope".split())
_OVERFLOW = frozenset(
    "signed-integer-overflow unsigned-integer-overflow implicit-conversion "
    "value-out-of-range".split()
)
OUT_OF_RANGE = "value-out-of-range"
"""Kind of what `checked_conversions.py` makes gcc report."""
_HUGE = frozenset("allocation-size-too-big vla-bound stack-overflow negative-size-param".split())
LEAKS = frozenset({"leak", "lost-block"})
"""Kinds that say that nothing leads to something any more; the second of a block that could not be
enlarged."""
_KINDS: dict[frozenset[str], str] = {
    _BEYOND: "119 120 121 122 123 124 125 126 127 129 131 170 193 242 467 468 676 786 787 788 "
    "805 806 823 839 843",
    _DEAD: "416 562 672 825",
    frozenset({"double-free"}): "415 1341",
    frozenset({"bad-free"}): "590 761",
    frozenset({"bad-free", "unfit-release"}): "763",
    frozenset({"alloc-dealloc-mismatch", "bad-free"}): "762",
    frozenset({"leak"}): "401 404 772 775",
    LEAKS: "771",
    frozenset({"null-dereference"}): "476 690",
    frozenset({"division-by-zero"}): "369",
    _OVERFLOW: "190 191 128",
    _OVERFLOW | _BEYOND | _HUGE: "680",
    frozenset({"shift"}): "1335",
    frozenset({"implicit-conversion", "float-cast-overflow", "value-out-of-range"}): "197 681",
    frozenset({"implicit-conversion", "value-out-of-range"}) | _BEYOND | _HUGE: "194 195 196",
    _HUGE: "770 789",
    frozenset({"use-of-uninitialized-value", "invalid-value"}): "457 908",
    frozenset({"wild-access", "use-of-uninitialized-value"}): "824",
    frozenset({"wild-access", "null-dereference"}) | _BEYOND: "134",
    frozenset({"stack-overflow"}): "674",
}
_BY_CWE = {int(cwe): kinds for kinds, numbers in _KINDS.items() for cwe in numbers.split()}
IN_HANDLER = "signal-handler-calls-"
"""How the kinds of `UNSAFE` begin, before the name of what was called."""
UNSET = frozenset({"use-of-uninitialized-value"})
"""Kinds that only Valgrind reports."""
_IMPLICIT = frozenset({"implicit-conversion"})
_CAST = re.compile(
    r"(?<!\w)(?<!sizeof )"
    r"\(\s*(?:(?:un)?signed\s+)?(?:char|short|int|long|u?int\d+_t)\b[\w ]{0,20}\)"
)
"""A conversion that is written: no sanitizer reports what it cuts off."""
OF_CLANG = frozenset({"unsigned-integer-overflow", "implicit-conversion"})
"""Kinds that only clang reports."""
_CUT_OFF = frozenset({197, 681})
"""Weaknesses that are a conversion."""
_ALLOCATION_CWES = frozenset({252, 690})
"""Weaknesses whose flaw is a result that is not looked at."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a stack that is in the project."""

    function: str
    file: str
    """Relative to the project."""
    line: int


@dataclass(frozen=True, slots=True)
class Seen:
    """A report and its frames in the project, the innermost first."""

    kind: str
    """A word of the sanitizers, `leak`, or `failed NAME`."""
    text: str
    frames: tuple[Frame, ...]
    origin: tuple[Frame, ...] = ()
    """Of memory that is dead or was never set: where that was done, the innermost first."""

    @property
    def report(self) -> Report:
        """Return it as evidence has it."""
        first = self.frames[0] if self.frames else Frame("", "", 0)
        return Report(self.kind, first.file, first.line, first.function, self.text)


def kinds_for(finding: Finding) -> frozenset[str]:
    """Return the kinds of reports that bear out a finding; empty when no sanitizer can."""
    kinds: frozenset[str] = frozenset()
    for cwe in finding.cwe:
        kinds |= _BY_CWE.get(cwe, frozenset())
    if kinds >= _DEAD and finding.evidence.startswith("return "):
        kinds |= {_RETURNED}
    return kinds - _IMPLICIT if _CAST.search(finding.evidence) else kinds


def without_cast(finding: Finding, line: str) -> str:
    """Return the line of a finding without the cast on it, so that a conversion is reported; empty
    when there is not exactly one, or what is said of the finding is no conversion."""
    if _CUT_OFF.isdisjoint(finding.cwe):
        return ""
    return _CAST.sub("", line) if len(_CAST.findall(line)) == 1 else ""


_RETURNED = "use-of-returned"
"""No kind of a report: that what the finding says is returned may be used by the caller."""
_WORDLESS = LEAKS | {"unfit-release", _RETURNED} | {"null-dereference", "wild-access"}
"""Kinds that reports do not say by their name."""


def kinds_pattern(kinds: frozenset[str]) -> str:
    """Return an extended regular expression that finds what reports of some kinds say."""
    words = [text for text, kind in (*_ASAN_KINDS, *_UBSAN_KINDS) if kind in kinds]
    words += [kind for kind in kinds if kind not in _WORDLESS]
    words += ["leak of", LEAKED] if "leak" in kinds else []
    words += [UNFIT] if "unfit-release" in kinds else []
    words += [LOST] if "lost-block" in kinds else []
    words += ["SEGV"] if kinds & {"null-dereference", "wild-access"} else []
    return "|".join(sorted(words))


def places_pattern(places: Iterable[tuple[str, tuple[int, int]]]) -> str:
    """Return one that finds the lines of some places, each from first to last, in a report."""
    return "|".join(
        rf"{re.escape(file)}:{line}\b" for file, (a, b) in places for line in range(a, b + 1)
    )


def named_for_checks(seen: Seen) -> Seen:
    """Return a report of a program whose conversions are checked as what it says of the code as it
    is written."""
    return replace(seen, kind=OUT_OF_RANGE) if seen.kind == "float-cast-overflow" else seen


def parse_reports(text: str, root: str, source: str = "") -> list[Seen]:
    """Return what sanitizers, interposers and panics have written to standard error, in order.
    `root` is the real path of the project; paths of Rust are relative to a folder above `source`.
    """
    found = []
    heads = list(_HEAD.finditer(text))
    stops = [*(head.start() for head in heads[1:]), len(text)]
    for head, stop in zip(heads, stops, strict=False):
        kind = _kind(head)
        if not kind:
            continue
        if head[3] or head[10]:
            file = _relative(head[3] or head[10], root, source)
            frames = [Frame("", file, int(head[4] or head[11]))] if file else []
        else:
            begin = text.find("\n", head.end()) + 1 or stop
            end = _end_of(head).search(text, begin, stop)
            frames = [*_frames(text[begin : end.start() if end else stop], root)]
        found.append(Seen(kind, _line(head), tuple(frames), _origin(text[head.end() : stop], root)))
    return found


Place = tuple[str, tuple[int, int]]
"""A file with the first and last line of a statement."""


def confirms(seen: Seen, kinds: frozenset[str], place: Place, path: Sequence[Place] = ()) -> bool:
    """Return whether a report is of one of `kinds` and its first frame in the project is the place.

    Of memory that was freed, or never set, it may be a frame further out, for what is handed to a
    function is used there; then that must have been done at one of `path`: the finding's steps.
    What is returned is used by the caller of the function that freed it at such a step.
    What is lost may be from a function that many call: then the call of it must be on the path.
    """
    if seen.kind not in kinds or not seen.frames:
        return False
    if seen.kind == "leak" and path and len(seen.frames) > 1:
        around = (seen.frames[0], path[-1]), *((seen.frames[1], step) for step in path)
        if not any(is_at(frame, step) for frame, step in around):
            return False
    if is_at(seen.frames[0], place):
        return True
    if not any(is_at(frame, step) for frame in seen.origin[:1] for step in path):
        return False
    if any(is_at(frame, place) for frame in seen.frames[1:]):
        return True
    callers = {(frame.file, frame.function) for frame in seen.origin[1:2]}
    above = {(frame.file, frame.function) for frame in seen.frames}
    return _RETURNED in kinds and bool(callers & above)


def is_at(frame: Frame, place: Place) -> bool:
    """Return whether a frame is in a statement."""
    file, (first, last) = place
    return frame.file == file and first <= frame.line <= last


def is_unchecked_result(finding: Finding) -> bool:
    """Return whether a finding says that the result of a call is not looked at."""
    return not _ALLOCATION_CWES.isdisjoint(finding.cwe)


def _end_of(head: re.Match[str]) -> re.Pattern[str]:
    """Return what ends the frames behind the first line of a report."""
    return _END_OF_MEMCHECK if head[9] else _END


def _kind(head: re.Match[str]) -> str:
    if head[9]:
        return "use-of-uninitialized-value"
    if head[10]:
        found = (kind for pattern, kind in _PANIC_KINDS if pattern.search(head[12]))
        return next(found, "panic")
    if head[7]:
        return f"{FAILED}{head[7]}"
    if head[13]:
        return f"{IN_HANDLER}{head[13]}"
    if head[15]:
        return "unfit-release"
    if head[14]:
        return "lost-block"
    if head[2] or head[8]:
        return "leak"
    if head[6]:
        return next((kind for words, kind in _UBSAN_KINDS if words in head[6]), "")
    text = head[1]
    for words, kind in _ASAN_KINDS:
        if words in text:
            return kind
    if text.startswith("SEGV"):
        return "null-dereference" if _ZERO_PAGE.match(text) else "wild-access"
    return re.split(r"[\s:(]", text, maxsplit=1)[0]


def _line(head: re.Match[str]) -> str:
    text = head[12] or head[9] or head[6] or head[1] or head[0]
    return re.sub(r"0x[0-9a-f]{6,}", "0x…", text).strip()[:300]


def _frames(text: str, root: str) -> Iterator[Frame]:
    for frame in (*_FRAME.finditer(text), *_FRAME_OF_MEMCHECK.finditer(text)):
        if file := _relative(frame[2], root):
            yield Frame(frame[1].partition("(")[0], file, int(frame[3]))


def _origin(text: str, root: str) -> tuple[Frame, ...]:
    """Return the frames of what freed, or made without setting it, what a report is about."""
    head = _FREED.search(text)
    if head is None:
        return ()
    begin = text.find("\n", head.end()) + 1 or len(text)
    end = (_END if text[head.start()] == "f" else _END_OF_MEMCHECK).search(text, begin)
    return tuple(_frames(text[begin : end.start() if end else len(text)], root))


def _relative(path: str, root: str, source: str = "") -> str:
    """Return a path relative to the project; empty when it is outside. Libraries of the system have
    relative paths as well."""
    if path.startswith(root + "/"):
        return path[len(root) + 1 :].removeprefix("./")
    if path.startswith(("/", "..", "<")):
        return ""
    for folder in PurePosixPath(source or "a").parents:
        try:
            if Path(root, folder, path).is_file():
                return str(folder / path)
        except OSError:
            return ""  # a program may print anything: no file has such a name
    return ""
