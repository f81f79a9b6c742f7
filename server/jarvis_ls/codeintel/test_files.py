"""Which files only tests, fuzzers, benchmarks and examples run.

Rust's are known by Cargo's folders; those of C and C++ by folder, by file name and by the test
framework that they include.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.rust_tests import is_test_path
from jarvis_ls.codeintel.source import Source

_FOLDERS = frozenset(
    "test tests testing testsuite testsuites test-suite unittest unittests unit-test unit-tests "
    "unit_test unit_tests selftest selftests autotest autotests regress regression testcases "
    "fuzz fuzzer fuzzers fuzzing fuzz-test ossfuzz oss-fuzz bench benches benchmark benchmarks "
    "example examples sample samples demo demos tutorial tutorials doc docs "
    "googletest gtest".split()
)
_TEST_OF = re.compile(r"test[-_]?[a-z]|[a-z]+[-_]tests?$", re.IGNORECASE)
"""Folders of the tests of something: `testcurl`, `test_lib`, `api-tests`."""
_WORDS = frozenset(
    "test tests unittest unittests fuzz fuzzer fuzztest bench benchmark benchmarks example "
    "examples testcase testcases selftest perftest stresstest loadtest smoketest demo".split()
)
"""First or last of several words of a file's name that says what the file is for."""
_NAME_WORDS = re.compile(r"[A-Za-z]+|\d+")
_FRAMEWORK = re.compile(
    rb"#[ \t]*include[ \t]*[<\"](?:gtest/|gmock/|catch2/|catch\.hpp|doctest|check\.h>|"
    rb"cmocka\.h|CUnit/|boost/test/|benchmark/benchmark\.h|QtTest|cppunit/|unity\.h)"
)
"""An include of a test framework. (Looking for the start of its line as well takes ten times as
long.)"""
_FUZZER = re.compile(rb"\bLLVMFuzzerTestOneInput[ \t]*\(")
_SEARCHED = 65_536
"""Bytes at the start of a file in which an include of a test framework is looked for."""


_GENERATED = re.compile(
    rb"^[ \t/*#;-]*(?:(?:this|the|an?)[ ]+)?"
    rb"(?:(?:file|code|(?:Bison )?parser|lexical scanner)[ ,]+)?"
    rb"(?:(?:was|is|has been)[ ]+)?"
    rb"(?:(?:auto(?:matically)?[- ]?)?generated[ ]+(?:by|from|with|using|automatically|file)\b"
    rb"|auto(?:matically)?[- ]?generated\b|@generated\b|made by GNU Bison"
    rb"|do not (?:edit|modify)\b)"
    rb"|\bdo not edit (?:this file|by hand|manually)\b|\b(?-i:DO NOT (?:EDIT|MODIFY))\b",
    re.IGNORECASE | re.MULTILINE,
)
_BANNER = 1500
"""Bytes at the start of a file in which a generator says that it made it."""


def counts_less(source: Source, language: LanguageName) -> bool:
    """Return whether findings in a file are of less use: only tests run it, or, of C and C++, a
    generator made it, so that no one edits it."""
    return is_test_file(source, language) or (
        language != "rust" and _GENERATED.search(source.data, 0, _BANNER) is not None
    )


def is_test_file(source: Source, language: LanguageName) -> bool:
    """Return whether only tests, fuzzers, benchmarks and examples run the code of a file."""
    if language == "rust":
        return is_test_path(source.path)
    *folders, name = source.path.split("/")
    if PurePath(source.path).is_absolute():
        folders = []  # of a file outside every workspace: they say nothing of it
    if any(folder.lower() in _FOLDERS or _TEST_OF.match(folder) for folder in folders):
        return True
    words = _NAME_WORDS.findall(name.rpartition(".")[0].lower())
    if folders and words in (["test"], ["tests"]):
        return True
    if len(words) > 1 and (words[0] in _WORDS or words[-1] in _WORDS or "test" in words):
        return True
    return _uses_framework(source.data[:_SEARCHED])


def _uses_framework(start: bytes) -> bool:
    """Return whether a text includes a test framework, or is what a fuzzer calls."""
    for match in _FRAMEWORK.finditer(start):
        before = start[start.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        if not before.strip(b" \t"):
            return True
    return b"LLVMFuzzer" in start and _FUZZER.search(start) is not None
