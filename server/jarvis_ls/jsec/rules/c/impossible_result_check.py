"""Incorrect check of a function return value.

## What it does
Finds tests of a result that cannot detect the failure: a pointer or a count compared with a
negative number, `mmap` with NULL, an error number of `pthread_...` with -1, `printf` with 0, a
signed result stored in an unsigned variable and compared with `< 0`, `scanf` in a loop until `EOF`
only, and success of `rename` or `remove` treated as failure.

## Why is this bad?
The error branch is dead code: failures go undetected although the code appears to check for them.

## Example
```c
if (fgets(line, sizeof line, file) < 0)
    return -1;
```

Use instead:
```c
if (fgets(line, sizeof line, file) == NULL)
    return -1;
```

## References
- CWE-253: Incorrect Check of Function Return Value
- CWE-252: Unchecked Return Value
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.c.integers import declared_width
from jarvis_ls.jsec.local.c.result_checks import (
    Test,
    branch_of,
    is_of_program,
    is_step,
    is_write,
    reports_failure,
    tests_of,
)
from jarvis_ls.jsec.local.constants import declaration, string_literal
from jarvis_ls.jsec.local.guards import NULLS, enclosing_loop

_POINTERS = frozenset(
    "fgets fgetws fopen fdopen freopen tmpfile popen opendir malloc calloc realloc strdup "
    "strndup strchr strrchr strstr getenv fopen64 _wfopen gets_s localtime gmtime readdir "
    "dlopen dlsym setlocale getcwd realpath".split()
)
_COUNTS = frozenset({"fread", "fwrite", "fread_unlocked", "fwrite_unlocked", "strlen"})
_PRINTS = frozenset(
    "printf fprintf vprintf vfprintf sprintf snprintf vsnprintf puts fputs putc fputc "
    "putchar wprintf fwprintf swprintf fputws putwc fputwc putwchar _snprintf".split()
)
_ZERO_IS_SUCCESS = frozenset(
    "remove rename unlink chdir mkdir rmdir fseek chmod setuid setgid fclose fsetpos "
    "pthread_create pthread_join pthread_mutex_init stat lstat fstat _wremove _wrename "
    "_chdir _unlink _mkdir".split()
)
_ERROR_NUMBERS = frozenset(
    "pthread_create pthread_join pthread_detach pthread_mutex_init pthread_mutex_lock "
    "pthread_mutex_unlock pthread_mutex_trylock pthread_cond_init pthread_cond_wait "
    "pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast pthread_key_create "
    "pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_setspecific "
    "pthread_attr_init posix_memalign posix_fallocate posix_spawn getaddrinfo".split()
)
_SIGNED = frozenset(
    "read write recv send recvfrom sendto pread pwrite snprintf vsnprintf readlink "
    "getline ftell lseek sysconf".split()
)
_DESCRIPTORS = frozenset(["open", "open64", "openat", "socket", "creat", "accept", "dup"])
_HANDLES = frozenset(
    "CreateFile CreateFileA CreateFileW CreateNamedPipe CreateNamedPipeA CreateNamedPipeW "
    "FindFirstFile FindFirstFileA FindFirstFileW CreateMailslot CreateMailslotA "
    "CreateMailslotW".split()
)
_NULL_HANDLES = frozenset(
    "CreateMutex CreateMutexA CreateMutexW CreateEvent CreateEventA CreateEventW "
    "CreateSemaphore CreateSemaphoreA CreateSemaphoreW CreateThread OpenProcess "
    "OpenThread OpenMutexA OpenMutexW OpenEventA OpenEventW CreateFileMapping "
    "CreateFileMappingA CreateFileMappingW LoadLibrary LoadLibraryA LoadLibraryW".split()
)
"""Windows functions that return a handle, or NULL on failure."""
_BOOLS = frozenset(
    "ImpersonateNamedPipeClient ImpersonateSelf ImpersonateLoggedOnUser ReadFile "
    "WriteFile CopyFile CopyFileA CopyFileW MoveFile MoveFileA MoveFileW DeleteFileA "
    "DeleteFileW CloseHandle LogonUserA LogonUserW ConnectNamedPipe".split()
)
_SCANS = {"scanf": 0, "fscanf": 1, "sscanf": 1, "wscanf": 0, "fwscanf": 1, "swscanf": 1}
_ORDERS = frozenset({"strcmp", "strncmp", "memcmp", "strcasecmp", "strncasecmp", "wcscmp"})
_CONDITIONAL = frozenset(
    {
        "if_statement",
        "while_statement",
        "do_statement",
        "for_statement",
        "for_range_loop",
        "case_statement",
    }
)
_INT = 4
_UNSIGNED = re.compile(r"\b(unsigned|size_t|uint\d+_t|DWORD|ULONG|UINT)\b")
_NAMES = (
    _POINTERS
    | _COUNTS
    | _PRINTS
    | _ZERO_IS_SUCCESS
    | _ERROR_NUMBERS
    | _SIGNED
    | _HANDLES
    | _NULL_HANDLES
    | _DESCRIPTORS
    | _BOOLS
    | _ORDERS
    | frozenset(_SCANS)
    | {"mmap", "mmap64"}
)


@rule(
    query=calls(*_NAMES),
    category="error_handling",
    cwe=(253,),
    confidence=0.8,
    severity="medium",
    suggestion="Compare the result of '{name}' with its value on failure: {failure}.",
    fixable=True,
)
def impossible_result_check(call: Call) -> Iterator[Report]:
    tests = list(tests_of(call))
    if not tests or is_of_program(call):
        return
    if call.name in _PRINTS and any(test.operator in (">", ">=", "<", "<=") for test in tests):
        return
    if any(_is_failure(call.name, test.other) for test in tests):
        return  # the other tests check whether there is a mapping or handle at all
    if call.name in _NULL_HANDLES and any(_is_null_test(test) for test in tests):
        return  # the other tests are superfluous
    if _is_alternative(call):
        return  # the test is for the function that another build calls
    for test in tests:
        found = None if _is_cast(test) else _wrong(call, test)
        if found is None or _may_be_reassigned(call, test):
            continue
        failure, confidence = found
        yield Report(
            test.node,
            "'{test}' does not detect failure of '{name}', which returns {failure}.",
            confidence=confidence,
            pattern=call.name,
            test=text(test.node)[:80],
            name=call.name,
            failure=failure,
            fix=_compare_with_null(call, test),
        )
        return


def _may_be_reassigned(call: Call, test: Test) -> bool:
    """Return whether the tested variable may hold another value: assigned in another branch, or
    changed by the loop that tests it.
    """
    function, target = call.function, call.target
    if function is None or target is None or test.subject.start_byte < call.node.end_byte:
        return False
    name = text(target)
    if _may_be_skipped(call.node, test.node):
        variable = function.variable(name, target.start_byte)
        if variable is not None and variable.is_parameter:
            return True
        before = function.uses(name, end=call.node.start_byte)
        if any(is_write(use) and use != target for use in before):
            return True
    loop = enclosing_loop(test.subject, function)
    if loop is None or loop.start_byte < call.node.start_byte:
        return False
    inside = function.uses(name, loop.start_byte, loop.end_byte)
    return any(is_write(use) or is_step(use) for use in inside)


def _may_be_skipped(node: Node, other: Node) -> bool:
    """Return whether a conditional statement encloses `node` but not `other`."""
    outer = node.parent
    while outer is not None and not outer.start_byte <= other.start_byte < outer.end_byte:
        if outer.type in _CONDITIONAL:
            return True
        outer = outer.parent
    return False


def _wrong(call: Call, test: Test) -> tuple[str, float] | None:
    """Return the value on failure and the confidence when the test is wrong; None otherwise."""
    name, operator, other = call.name, test.operator, test.other.replace(" ", "")
    negative = (operator in ("<", ">=") and other == "0") or (
        other in ("-1", "EOF") and (operator in ("==", "!=", ">", "<="))
    )
    zero = operator == "!" or (operator in ("==", "!=") and other in NULLS)
    fails_if_true = operator in ("==", "!", "<")
    if name in _POINTERS and negative:
        return "a null pointer", 0.85
    if name in _COUNTS and negative:
        # a length beyond the range of an int becomes negative
        narrowed = name == "strlen" and other == "0" and _is_narrowed(call)
        return None if narrowed else ("a count that is never negative", 0.85)
    if name in ("mmap", "mmap64") and (zero or operator in ("", "<")):
        return "MAP_FAILED", 0.8
    if name in _HANDLES and zero:
        return "INVALID_HANDLE_VALUE", 0.8
    if name in _BOOLS and (negative or other.startswith("ERROR_")):
        return "0", 0.75
    if name in _NULL_HANDLES and (negative or other == "INVALID_HANDLE_VALUE"):
        return "NULL", 0.8
    if name in _ERROR_NUMBERS and negative:
        return "an error number above 0", 0.8
    if name in _PRINTS and zero and (operator == "!" or other == "0") and fails_if_true:
        return "a negative number", 0.65
    if name in _ORDERS and operator in ("==", "!=") and other in ("1", "-1"):
        return "any number below or above 0", 0.55
    if name in _SIGNED and negative and operator in ("<", ">=") and _is_unsigned(call):
        return "-1, which an unsigned variable cannot hold", 0.8
    if name in _DESCRIPTORS and operator in ("!", "", "==") and (zero or not operator):
        if operator == "==" and call.target is None:
            return None  # the lowest descriptor that is free is to be 0
        if not operator and _frees_lowest(call):
            return None  # the descriptor that is free becomes 0
        failing = reports_failure(branch_of(test)) and operator and _is_local(call)
        return ("-1", 0.65) if call.target is None or failing else None
    if name in _ZERO_IS_SUCCESS and operator == "==" and other == "1":
        return "-1 or an error number", 0.7
    if name in _SCANS:
        return _wrong_scan(call, test)
    if name in _ZERO_IS_SUCCESS and zero and fails_if_true and _fails_only_then(test):
        return "a value other than 0", 0.6
    return None


def _fails_only_then(test: Test) -> bool:
    """Return whether the branch of a test reads like the handling of an error and the other does
    not."""
    branch = branch_of(test)
    other = None if branch is None else field(branch.parent, "alternative")
    return reports_failure(branch) and not reports_failure(other)


def _is_failure(name: str, value: str) -> bool:
    """Return whether `value` is what a function returns on failure, other than NULL or -1."""
    return value == "MAP_FAILED" or (value == "INVALID_HANDLE_VALUE" and name in _HANDLES)


def _is_null_test(test: Test) -> bool:
    return test.operator in ("", "!") or test.other in NULLS


def _is_alternative(call: Call) -> bool:
    """Return whether a directive chooses between the call and another way to set the variable."""
    for node in ancestors(call.node, call.function.node if call.function is not None else None):
        if node.type in ("preproc_else", "preproc_elif", "preproc_elifdef"):
            return True
        if node.type in ("preproc_if", "preproc_ifdef"):
            return field(node, "alternative") is not None
    return False


def _is_narrowed(call: Call) -> bool:
    """Return whether the result is stored in a signed variable that is narrower than it."""
    target = call.target
    declared = declaration(target, call.function) if target is not None else None
    held = declared_width(declared, call.function) if call.function is not None else None
    return held is not None and held <= _INT and not _is_unsigned(call)


def _frees_lowest(call: Call) -> bool:
    """Return whether the function closes standard input before: the next descriptor is 0."""
    return call.function is not None and any(
        other.name == "close"
        and other.node.start_byte < call.node.start_byte
        and text(other.arg(0)) in ("0", "STDIN_FILENO")
        for other in call.function.calls
    )


def _is_cast(test: Test) -> bool:
    parent = test.subject.parent
    return parent is not None and parent.type == "cast_expression"


def _wrong_scan(call: Call, test: Test) -> tuple[str, float] | None:
    template = string_literal(call.arg(_SCANS[call.name]), call.function) or ""
    numbers = re.search(r"%[0-9hlLjzt]*[diouxXfegap]", template)
    in_loop = (
        test.node.parent is not None
        and test.node.parent.parent is not None
        and (test.node.parent.parent.type in ("while_statement", "do_statement"))
    )
    if test.other == "EOF" and numbers and call.name not in ("sscanf", "swscanf"):
        return ("fewer conversions than asked for, or EOF", 0.75 if in_loop else 0.5)
    if test.operator == "!" or (test.operator == "==" and test.other == "0"):
        return "fewer conversions than asked for, or EOF", 0.55
    return None


def _is_local(call: Call) -> bool:
    """Return whether the result is stored in a local variable: others may hold 0 for "none"."""
    target = call.target
    if target is None or call.function is None:
        return False
    variable = call.function.variable(text(target), target.start_byte)
    return variable is not None and not variable.is_static


def _is_unsigned(call: Call) -> bool:
    target = call.target
    if target is None or call.function is None:
        return False
    variable = call.function.variable(text(target), target.start_byte)
    return (
        variable is not None
        and not variable.pointers
        and bool(_UNSIGNED.search(variable.type))
        and "ssize_t" not in variable.type
    )


def _compare_with_null(call: Call, test: Test) -> Rewrite | None:
    """For pointers: `f() < 0` to `f() == NULL`, `f() >= 0` to `f() != NULL`."""
    if call.name not in _POINTERS or test.operator not in ("<", ">=", "==", "!="):
        return None
    operator = "==" if test.operator in ("<", "==") else "!="
    end = test.subject
    for _ in range(8):
        parent = end.parent
        if parent is None or parent == test.node:
            break
        end = parent
    if end.start_byte != test.node.start_byte:
        return None
    return Rewrite(
        "Compare with NULL", [((end.end_byte, test.node.end_byte), f" {operator} NULL")], safe=False
    )
