"""Types, constants and references as a compiler knows them, by libclang: for translation.

The `libclang` wheel brings library and bindings; another library can be named by
`CLANG_LIBRARY_FILE`, or a folder by `LIBCLANG_PATH` or `LLVM_HOME`. Version 17 or newer is needed,
because operator kinds came with it. What the bindings have no method for is asked of the library
itself: kinds of operators, values of constants, initialisers.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_ls.codeintel.included_files import refuse_endless
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.words import Words

if TYPE_CHECKING:
    from clang.cindex import Cursor, TranslationUnit

OLDEST = 17
"""Major version of the oldest library that knows kinds of operators."""

_LENIENT = tuple(
    f"-Wno-error={name}"
    for name in (
        "implicit-function-declaration",
        "implicit-int",
        "int-conversion",
        "return-type",
        "incompatible-function-pointer-types",
    )
)
"""What gcc, up to its version 13, only warns of."""
_NESTING = "-fbracket-depth=4096"
"""gcc knows no limit, clang's is 256."""
_PRELUDE = "/jarvis/prelude.h"
"""Name of a header that is on no disk."""
_NAMES = ("libclang.so", "libclang.so.1", "libclang.dylib", "libclang.dll")
_INCLUDES = re.compile(r"^#include <\.\.\.> [^\n]*:\n(.*?)^End of", re.MULTILINE | re.DOTALL)


class ClangMissing(JarvisError):
    """There is no libclang that can be used; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something the compiler objects to."""

    file: str
    line: int
    column: int
    severity: int
    """3 error, 4 fatal, as libclang counts."""
    text: str


@functools.cache
def cindex() -> Any:
    """Return the bindings, with a library that fits. Raises `ClangMissing`."""
    try:
        from clang import cindex as bindings
    except ImportError:
        raise ClangMissing(
            "Reading C for translation needs libclang: pip install 'jarvis-ls[migrate]'."
        ) from None
    chosen = chosen_library()
    if chosen is not None and not bindings.Config.loaded:
        bindings.Config.set_library_file(str(chosen))
    try:
        library = bindings.conf.lib
    except bindings.LibclangError as error:
        if chosen is not None:  # one that is too old lacks what the bindings ask it for at once
            _check_age(chosen)
        raise ClangMissing(
            Words(
                "libclang at {place} cannot be used: {error}",
                place=chosen or "its default place",
                error=_reason(error),
            )
        ) from None
    _check_age(chosen, library)
    for name in ("clang_getCursorBinaryOperatorKind", "clang_getCursorUnaryOperatorKind"):
        function = getattr(library, name)
        function.argtypes, function.restype = [bindings.Cursor], ctypes.c_int
    _declare(library, bindings)
    _quicken(library, bindings)
    return bindings


class _Text(ctypes.Structure):
    """`CXString`."""

    _fields_ = (("data", ctypes.c_void_p), ("private_flags", ctypes.c_uint))


def _check_age(place: Path | None, library: Any = None) -> None:
    """Raise `ClangMissing` when a library is too old; nothing when it cannot even be loaded."""
    try:
        loaded = ctypes.CDLL(library._name if library is not None else str(place))
        told, text = loaded.clang_getClangVersion, loaded.clang_getCString
    except (OSError, AttributeError):
        return  # no libclang at all: the bindings have said so
    told.restype, text.argtypes, text.restype = _Text, [_Text], ctypes.c_char_p
    match = re.search(rb"(\d+)\.\d+", text(told()) or b"")
    found = int(match[1]) if match else 0
    if found < OLDEST:
        raise ClangMissing(
            Words(
                "libclang {found} at {place} is too old; {oldest} or newer is needed. "
                "Unset CLANG_LIBRARY_FILE, LIBCLANG_PATH and LLVM_HOME to use the one that "
                "comes with jarvis-ls[migrate].",
                found=found,
                place=place or "its default place",
                oldest=OLDEST,
            )
        )


def parse(
    path: Path,
    arguments: Sequence[str],
    *,
    macros: bool = False,
    prelude: str = "",
    text: bytes | None = None,
) -> tuple[TranslationUnit, list[Problem]]:
    """Return a translation unit and what the compiler objects to in it (errors only).

    `arguments` are those of the compiler, without its name, the file and `-o`; `prelude` is a
    header that is read before the file, `text` stands in for what is on the disk. Raises
    `SkippedFile` when the file cannot be parsed at all, or it includes what has no end.
    """
    bindings = cindex()
    language = "c++" if language_of(path.name) == "cpp" else "c"
    refuse_endless(path, arguments, system_includes(language))
    options = 0
    if macros:
        options |= bindings.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    words = [*arguments, _NESTING, *_LENIENT]
    words += [f"-isystem{folder}" for folder in system_includes(language)]
    unsaved: list[tuple[str, str | bytes]] = []
    if prelude:
        words += ["-include", _PRELUDE]
        unsaved = [(_PRELUDE, prelude)]
    if text is not None:
        unsaved.append((str(path), text))
    try:
        unit = bindings.Index.create().parse(
            str(path), args=words, options=options, unsaved_files=unsaved
        )
    except bindings.TranslationUnitLoadError:
        raise SkippedFile("libclang cannot read it") from None
    problems = [
        Problem(
            found.location.file.name if found.location.file else str(path),
            found.location.line,
            found.location.column,
            found.severity,
            found.spelling,
        )
        for found in unit.diagnostics
        if found.severity >= bindings.Diagnostic.Error
    ]
    return unit, problems


@functools.cache
def system_includes(language: str = "c") -> tuple[str, ...]:
    """Folders in which the machine's own compiler looks for headers of C or `c++`, in its order.

    The wheel brings no `stddef.h`. Empty without a compiler: then most files do not parse.
    """
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return ()
    asked = subprocess.run(
        [compiler, "-E", "-v", "-x", language, os.devnull],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=30,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    match = _INCLUDES.search(asked.stderr)
    folders = [
        line.strip().removesuffix(" (framework directory)")
        for line in (match[1] if match else "").splitlines()
    ]
    return tuple(folder for folder in folders if folder)


def binary_operator(cursor: Cursor) -> int:
    """Kind of a binary or compound assignment operator, as `CXBinaryOperatorKind` counts."""
    return int(cindex().conf.lib.clang_getCursorBinaryOperatorKind(cursor))


def unary_operator(cursor: Cursor) -> int:
    """Kind of a unary operator, as `CXUnaryOperatorKind` counts."""
    return int(cindex().conf.lib.clang_getCursorUnaryOperatorKind(cursor))


def constant(cursor: Cursor) -> int | float | None:
    """Return the value of a constant expression; None when it is none, or no number."""
    library = cindex().conf.lib
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = library.clang_EvalResult_getKind(result)
        if kind == 1:
            if library.clang_EvalResult_isUnsignedInt(result):
                return int(library.clang_EvalResult_getAsUnsigned(result))
            return int(library.clang_EvalResult_getAsLongLong(result))
        return float(library.clang_EvalResult_getAsDouble(result)) if kind == 2 else None
    finally:
        library.clang_EvalResult_dispose(result)


def initializer(cursor: Cursor) -> Cursor | None:
    """Return the initialiser of a variable; None without one."""
    bindings = cindex()
    found = bindings.conf.lib.clang_Cursor_getVarDeclInitializer(cursor)
    if found.kind == bindings.CursorKind.INVALID_FILE or found.kind.is_invalid():
        return None
    found._tu = cursor._tu
    return found


def value_type(type_: Any) -> Any:
    """Return what an `_Atomic` type holds."""
    found = cindex().conf.lib.clang_Type_getValueType(type_)
    found._tu = type_._tu
    return found


def is_inline(function: Cursor) -> bool:
    """Return whether a function is declared `inline`."""
    return bool(cindex().conf.lib.clang_Cursor_isFunctionInlined(function))


def written_at(cursor: Cursor) -> tuple[int, int, int]:
    """Return where an expression is written: a number that represents the file, begin and end in
    bytes. An argument of a macro is written where it is given, everything else that a macro brings
    where the macro is named.
    """
    bindings = cindex()
    ask = bindings.conf.lib.clang_getFileLocation
    extent = cursor.extent
    file, start, end = bindings.c_object_p(), ctypes.c_uint(), ctypes.c_uint()
    ask(extent.start, ctypes.byref(file), None, None, ctypes.byref(start))
    ask(extent.end, None, None, None, ctypes.byref(end))
    return ctypes.cast(file, ctypes.c_void_p).value or 0, start.value, end.value


_SHORT = (6, 17)
"""`CXPrintingPolicy_SuppressInitializers` and `CXPrintingPolicy_TerseOutput`."""


_WITH_TYPES = 4
"""`CXPrintingPolicy_IncludeTagDefinition`."""


def printed(cursor: Cursor, *, whole: bool = False, types: bool = False) -> str:
    """Return a declaration as the parser writes it, macros filled in, without body and value but
    with
    `whole`; with `types` it defines the type that it names."""
    library = cindex().conf.lib
    policy = library.clang_getCursorPrintingPolicy(cursor)
    for setting in () if whole else _SHORT:
        library.clang_PrintingPolicy_setProperty(policy, setting, 1)
    library.clang_PrintingPolicy_setProperty(policy, _WITH_TYPES, int(types))
    try:
        return str(library.clang_getCursorPrettyPrinted(cursor, policy))
    finally:
        library.clang_PrintingPolicy_dispose(policy)


def is_thread_local(variable: Cursor) -> bool:
    """Return whether each thread has a variable of its own."""
    return int(cindex().conf.lib.clang_getCursorTLSKind(variable)) != 0


def is_made_here(variable: Cursor) -> bool:
    """Return whether a declaration makes the variable: a definition, or a tentative one (`int x;`
    at file scope).
    """
    return bool(variable.is_definition() or variable.storage_class.name != "EXTERN")


def children(cursor: Cursor) -> list[Cursor]:
    """Return the children of a cursor, which it keeps until `forget`; less costly than the
    bindings' way, which matters for units with thousands of declarations. A statement with
    attributes, which all only advise the compiler, is the statement.
    """
    known: list[Cursor] | None = getattr(cursor, "_known", None)
    if known is None:
        known = [
            _without_attributes(child) if child._kind_id == _ATTRIBUTED else child
            for child in _below(cursor)
        ]
        cursor._known = known
    return known


_ATTRIBUTED = 200
"""`CXCursor_UnexposedStmt`."""


def _without_attributes(statement: Cursor) -> Cursor:
    found = [child for child in _below(statement) if not child.kind.is_attribute()]
    return found[-1] if found else statement


def _below(cursor: Cursor) -> list[Cursor]:
    found: list[Cursor] = []
    unit = cursor._tu

    def visit(child: Any, _parent: Any, _data: Any) -> int:
        child._tu = unit
        found.append(child)
        return 1

    _visit(cursor, visit)
    return found


def forget(cursor: Cursor) -> None:
    """Let go of what is below a cursor."""
    cursor._known = None


def descendants(cursor: Cursor, kinds: frozenset[int]) -> list[Cursor]:
    """Everything below a cursor that is of one of `kinds` (numbers of `CursorKind`), parents
    before children. Others cost one look at a number each."""
    found: list[Cursor] = []
    unit = cursor._tu

    def visit(child: Any, _parent: Any, _data: Any) -> int:
        if child._kind_id in kinds:
            child._tu = unit
            found.append(child)
        return 2

    _visit(cursor, visit)
    return found


def in_system_header(cursor: Cursor) -> bool:
    """Return whether a cursor is in a header of the system, cheaper to ask than its file."""
    library = cindex().conf.lib
    return bool(library.clang_Location_isInSystemHeader(library.clang_getCursorLocation(cursor)))


def own_file(cursor: Cursor) -> str | None:
    """Name of the file that a cursor is in, as the parser knows it; None for headers of the
    system and for what no file holds. A unit is asked once for each name."""
    library = cindex().conf.lib
    place = library.clang_getCursorLocation(cursor)
    if library.clang_Location_isInSystemHeader(place):
        return None
    file = ctypes.c_void_p()
    library.clang_getExpansionLocation(place, ctypes.byref(file), None, None, None)
    if file.value is None:
        return None
    unit = cursor._tu
    names: dict[int, str] | None = getattr(unit, "_names", None)
    if names is None:
        names = unit._names = {}
    name = names.get(file.value)
    if name is None:
        bindings = cindex()
        handle = ctypes.cast(file, bindings.c_object_p)
        name = names[file.value] = str(bindings.File(handle).name)
    return name


def identity(declared: Cursor) -> int:
    """Return a number that no other declaration of its unit has."""
    return int(declared.data[0])


def _visit(cursor: Cursor, visitor: Any) -> None:
    bindings = cindex()
    bindings.conf.lib.clang_visitChildren(cursor, bindings.callbacks["cursor_visit"](visitor), [])


def chosen_library() -> Path | None:
    """Return the library the environment names; None for the default. Raises `ClangMissing`."""
    if named := os.environ.get("CLANG_LIBRARY_FILE"):
        if not Path(named).is_file():
            raise ClangMissing(
                Words("CLANG_LIBRARY_FILE names {named}, which is not a file.", named=named)
            )
        return Path(named)
    for variable, below in (("LIBCLANG_PATH", ("",)), ("LLVM_HOME", ("lib", "bin"))):
        if not (folder := os.environ.get(variable)):
            continue
        if Path(folder).is_file():
            return Path(folder)
        for place in (Path(folder, part) for part in below):
            for name in _NAMES:
                if (place / name).is_file():
                    return place / name
        raise ClangMissing(
            Words(
                "{variable} names {folder}, which contains no libclang.",
                variable=variable,
                folder=folder,
            )
        )
    return None


_UNNAMED_KINDS = {"FLOAT16": 32, "BFLOAT16": 39}
"""Kinds of types for which the bindings have no name, by their numbers in the library."""


def _declare(library: Any, bindings: Any) -> None:
    """Say what types the functions have that the bindings do not know."""
    for kind, value in _UNNAMED_KINDS.items():
        if not hasattr(bindings.TypeKind, kind):
            setattr(bindings.TypeKind, kind, bindings.TypeKind(value))
    pointer = ctypes.c_void_p
    number = ctypes.POINTER(ctypes.c_uint)
    for name, arguments, result in (
        ("clang_Cursor_Evaluate", [bindings.Cursor], pointer),
        ("clang_EvalResult_getKind", [pointer], ctypes.c_int),
        ("clang_EvalResult_isUnsignedInt", [pointer], ctypes.c_uint),
        ("clang_EvalResult_getAsUnsigned", [pointer], ctypes.c_ulonglong),
        ("clang_EvalResult_getAsLongLong", [pointer], ctypes.c_longlong),
        ("clang_EvalResult_getAsDouble", [pointer], ctypes.c_double),
        ("clang_EvalResult_dispose", [pointer], None),
        ("clang_Location_isInSystemHeader", [bindings.SourceLocation], ctypes.c_int),
        ("clang_Cursor_getVarDeclInitializer", [bindings.Cursor], bindings.Cursor),
        ("clang_Type_getValueType", [bindings.Type], bindings.Type),
        ("clang_Cursor_isFunctionInlined", [bindings.Cursor], ctypes.c_uint),
        ("clang_getCursorTLSKind", [bindings.Cursor], ctypes.c_int),
        ("clang_getCursorPrintingPolicy", [bindings.Cursor], pointer),
        ("clang_PrintingPolicy_dispose", [pointer], None),
        (
            "clang_getFileLocation",
            [bindings.SourceLocation, ctypes.POINTER(bindings.c_object_p), number, number, number],
            None,
        ),
        (
            "clang_getExpansionLocation",
            [bindings.SourceLocation, ctypes.POINTER(pointer), number, number, number],
            None,
        ),
        ("clang_PrintingPolicy_setProperty", [pointer, ctypes.c_int, ctypes.c_uint], None),
    ):
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result
    function = library.clang_getCursorPrettyPrinted
    function.argtypes, function.restype = [bindings.Cursor, pointer], bindings._CXString
    function.errcheck = bindings._CXString.from_result


_GIVING_TYPES = (
    "clang_getCanonicalType",
    "clang_getCursorType",
    "clang_getPointeeType",
    "clang_getArrayElementType",
    "clang_getResultType",
    "clang_getCursorResultType",
)
_GIVING_CURSORS = (
    "clang_getCursorReferenced",
    "clang_getCursorSemanticParent",
    "clang_getCursorDefinition",
    "clang_getTypeDeclaration",
)
_NO_CURSOR = 70
"""`CXCursor_InvalidFile`, the kind of the null cursor."""


def _quicken(library: Any, bindings: Any) -> None:
    """Have the bindings look up once what they are asked for a million times a project: the names
    of kinds, and which unit a type is of."""
    if not hasattr(bindings.CursorKind, "_kinds"):
        return  # they are another release's, which knows kinds in another way
    name = functools.cached_property(bindings.BaseEnumeration.name.fget)
    name.__set_name__(bindings.BaseEnumeration, "name")
    bindings.BaseEnumeration.name = name
    cursors, types = bindings.CursorKind._kinds, bindings.TypeKind._kinds
    bindings.Cursor.kind = property(lambda cursor: cursors[cursor._kind_id])
    bindings.Type.kind = property(lambda type_: types[type_._kind_id])

    def of_its_unit(result: Any, _function: Any, arguments: Sequence[Any]) -> Any:
        result._tu = arguments[0]._tu
        return result

    for function in _GIVING_TYPES:
        getattr(library, function).errcheck = of_its_unit

    def some_of_its_unit(result: Any, _function: Any, arguments: Sequence[Any]) -> Any:
        if result._kind_id == _NO_CURSOR:
            return None
        result._tu = arguments[0]._tu
        return result

    for function in _GIVING_CURSORS:
        getattr(library, function).errcheck = some_of_its_unit


def _reason(error: Exception) -> str:
    """Return why a library cannot be used, without what a program of Python could do about it."""
    return str(error).partition("\n")[0].partition(" To provide a path")[0].rstrip(".")
