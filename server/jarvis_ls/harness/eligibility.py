"""Which functions can be called with generated inputs, and why the others cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from jarvis_ls.core.words import Words
from jarvis_ls.harness.inputs import writes_bytes
from jarvis_ls.harness.opaque_handles import Handles
from jarvis_ls.harness.signature import Function, Kind, Record, Signatures

_CALLABLE = """
memcpy memmove memset memcmp memchr memrchr memmem mempcpy strlen strnlen strcpy strncpy stpcpy
stpncpy strcat strncat strcmp strncmp strcasecmp strncasecmp strchr strrchr strchrnul strstr
strcasestr strspn strcspn strpbrk strtok strtok_r strsep strdup strndup strcoll strxfrm strerror
strerror_r bcmp bcopy bzero index rindex swab ffs ffsl ffsll malloc calloc realloc free atoi atol
atoll atof strtol strtoll strtoul strtoull strtod strtof strtoimax strtoumax abs labs llabs div
ldiv lldiv imaxabs qsort bsearch rand srand random srandom drand48 srand48 isalnum isalpha iscntrl
isdigit isgraph islower isprint ispunct isspace isupper isxdigit isblank isascii toascii tolower
toupper __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc towlower towupper iswalnum iswalpha
iswdigit iswspace wcslen wcscpy wcscmp wcsncmp wcschr wmemcpy wmemset wmemcmp mbtowc wctomb
mbstowcs wcstombs mblen fgetc getc ungetc fgets fread feof ferror clearerr rewind fseek ftell
fseeko ftello fclose fscanf vfscanf getc_unlocked fgetc_unlocked putc_unlocked setvbuf getline
getdelim printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf puts putchar fputs
fputc putc fwrite fflush perror sscanf vsscanf putchar_unlocked fputs_unlocked
__errno_location exit abort __assert_fail time difftime gmtime gmtime_r mktime timegm strftime sin
cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p
pow sqrt cbrt hypot floor ceil round trunc rint nearbyint lround llround lrint llrint fmod
remainder fabs fmin fmax fma frexp ldexp modf scalbn copysign nextafter erf erfc tgamma lgamma
sinf cosf tanf asinf acosf atanf atan2f expf exp2f logf log2f log10f powf sqrtf cbrtf hypotf
floorf ceilf roundf truncf rintf fmodf fabsf fminf fmaxf fmaf frexpf ldexpf modff copysignf
lroundf lrintf setlocale localeconv htonl htons ntohl ntohs
"""
CALLABLE = frozenset(_CALLABLE.split())
"""Functions of the system that do nothing outside of memory, standard output and streams they are
handed."""


class Suitability:
    """Says of each function of a project whether it is called."""

    def __init__(self, found: Signatures, offered: Set[tuple[str, str]], absent: str) -> None:
        """`offered` are the functions (file, name) that can be called; `absent` says why the others
        cannot."""
        self._found, self._offered, self._absent = found, offered, absent
        self._own: dict[tuple[str, str], Function] = {}
        self._shared: dict[str, Function] = {}
        for function in found.functions:
            self._own[function.file, function.name] = function
            if not function.static:
                self._shared.setdefault(function.name, function)
        self._far: dict[tuple[str, str], str] = {}
        self.handles = Handles(
            found,
            lambda function: (
                (function.file, function.name) in offered and not self._reaches(function)
            ),
        )
        """Who makes the structures that no one else can."""

    def why_not(self, function: Function) -> str:
        """Return why a function is not called, in words; empty when it is."""
        if function.name == "main":
            return "a main is run as a program"
        if (function.file, function.name) not in self._offered:
            return self._absent
        if function.variadic:
            return "it is variadic"
        for parameter in function.parameters:
            if not self.handles.makers(parameter.kind) and (
                why := unsupported_reason(parameter.kind, self._found.records, 0)
            ):
                name = parameter.name or Words("a parameter")
                return Words("{name} is {why}", name=name, why=why)
        if function.result.form != "pointer" and (  # what it leads to is seen anyway
            why := unsupported_reason(function.result, self._found.records, 0)
        ):
            return Words("the result is {why}", why=why)
        return self._reaches(function)

    def _reaches(self, function: Function) -> str:
        """Return what it does outside of memory, by itself or by what it calls."""
        key = function.file, function.name
        if key not in self._far:
            self._far[key] = self._farthest(function)
        return self._far[key]

    def _farthest(self, function: Function) -> str:
        for reached, path in self.closure(function):
            for file, name in self._calls(reached):
                if (
                    self._callee(file, name) is None
                    and name not in CALLABLE
                    and not (name.startswith("__builtin_"))
                ):
                    return Words("it calls {name}", name=_chain([*path, name]))
        return ""

    def closure(self, function: Function) -> Iterator[tuple[Function, tuple[str, ...]]]:
        """Yield the function and all it may call, each with the names on the way to it."""
        seen: set[tuple[str, str]] = set()
        queue: list[tuple[Function, tuple[str, ...]]] = [(function, ())]
        for reached, path in queue:
            if (reached.file, reached.name) in seen:
                continue
            seen.add((reached.file, reached.name))
            yield reached, path
            for file, name in self._calls(reached):
                called = self._callee(file, name)
                if called is not None:
                    queue.append((called, (*path, name)))

    def _calls(self, function: Function) -> list[tuple[str, str]]:
        """Return what a function may call: the file that says so, and the name. Through a pointer
        that is everything that variables point to.
        """
        direct = [(function.file, name) for name in function.calls]
        return [*direct, *(sorted(self._found.taken) if function.indirect else ())]

    def _callee(self, file: str, name: str) -> Function | None:
        return self._own.get((file, name)) or self._shared.get(name)

    def writers(self, file: str) -> list[Function]:
        """Functions that can be called and that write bytes where they are told to, such as those
        that pack what others unpack; of the file itself where it has any."""
        found = [
            function
            for function in self._found.functions
            if any(writes_bytes(parameter.kind) for parameter in function.parameters)
            and not self.why_not(function)
        ]
        return [function for function in found if function.file == file] or found

    def callbacks(self, type_: str) -> list[Function]:
        """Functions of the project that can represent a pointer to `type_`."""
        return [
            function
            for function in self._found.functions
            if function.type == type_
            and function.name != "main"
            and not function.variadic
            and (function.file, function.name) in self._offered
            and not self._reaches(function)
        ]


def _chain(names: Sequence[str]) -> str:
    """Return the names of functions of which each calls the next, in words."""
    first, *others = names
    if not others:
        return first
    return Words("{name}, which calls {other}", name=first, other=_chain(others))


def unsupported_reason(kind: Kind, records: Mapping[str, Record], depth: int) -> str:
    """Return why no value of a type can be made, in words; empty when it can."""
    if kind.form == "unsupported":
        return Words("of type {type}, for which no input can be generated", type=kind.name)
    if kind.form == "opaque":
        return Words("of an unknown type ({type})", type=kind.name)
    if kind.form == "array" and kind.target is not None:
        return unsupported_reason(kind.target, records, depth + 1)
    if kind.form == "pointer" and kind.target is not None:
        if depth > 0:
            return ""  # null will do
        if kind.target.form in ("opaque", "unsupported"):
            return Words("a pointer to an unknown type ({type})", type=kind.target.name)
        if kind.target.form == "record":
            return _members(records[kind.target.name], records)
        return unsupported_reason(kind.target, records, depth + 1)
    if kind.form == "record":
        record = records[kind.name]
        if depth == 0 and record.union:
            return "a union passed by value"
        if depth == 0 and any(member.width for member in record.members):
            return "a struct with bit-fields passed by value"
        return _members(record, records)
    return ""


def _members(record: Record, records: Mapping[str, Record]) -> str:
    for member in record.members:
        if member.kind.form in ("unsupported",):
            why = unsupported_reason(member.kind, records, 1)
            return Words("a struct with {member}, {why}", member=member.name, why=why)
    return ""
