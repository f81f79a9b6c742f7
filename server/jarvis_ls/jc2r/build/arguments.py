"""Arguments of compilers that say something of the language, the headers or the machine, and no
more: others load plugins, run programs or write files, and a project may name any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_WITH_VALUE = ("-I", "-D", "-U", "-isystem", "-iquote", "-include", "-imacros", "-idirafter", "-x")
"""Options whose value is in the same word or in the next."""
_ALONE = ("-ansi", "-pthread")
_NEVER = re.compile(
    r"-(?:fplugin|fpass-plugin|fmodule|fdump|fsave|ftime|fopt-info|fcallgraph|fcompare-debug|fcrash"
    r"|fproc-stat|fself-test|fdeps|fembed|foffload|fbuild-session|femit|fuse-ld|fprofile|fstack-usage"
    r"|mllvm)"
)
"""What loads or runs something, or writes a file."""
_VALUES = re.compile(
    r"-(?:std|f(?:visibility|(?:wide-)?exec-charset|input-charset|pack-struct|abi-version|tls-model"
    r"|fp-contract|excess-precision|permitted-flt-eval-methods|(?:constexpr|template|bracket)-depth"
    r"|constexpr-(?:steps|ops-limit|loop-limit|cache-depth)|message-length|max-errors"
    r"|lax-vector-conversions|gnuc-version|(?:file|macro|debug)-prefix-map|max-type-align"
    r"|trivial-auto-var-init|strict-flex-arrays|ms-compatibility-version|sanitize|cf-protection"
    r"|patchable-function-entry|align-\w+|zero-call-used-regs|diagnostics-color|vect-cost-model"
    r"|simd-cost-model|stack-protector|inline-limit|float-store|openmp-version|macro-backtrace-limit"
    r"|wchar-type|char-type)|m[\w-]+)=[^|@]*"
)
"""Options whose value is a word or a number, or a map of names."""


def harmless_arguments(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the arguments that a compiler may be given for an untrusted project."""
    rest = iter(arguments)
    for word in rest:
        if word in _WITH_VALUE:
            value = next(rest, None)
            if value is not None:
                yield word
                yield value
        elif _is_harmless(word):
            yield word


def _is_harmless(word: str) -> bool:
    if word.startswith(("-f", "-m", "-std=")):
        if _NEVER.match(word):
            return False
        return "=" not in word or _VALUES.fullmatch(word) is not None
    return word in _ALONE or word.startswith(_WITH_VALUE)
