"""Which files of C and C++ only tests, fuzzers, benchmarks and examples run."""

from __future__ import annotations

import pytest

from jarvis_ls.codeintel.source import Source
from jarvis_ls.codeintel.test_files import is_test_file


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.c",
        "src/Testing/a.c",
        "unit-tests/x/a.cc",
        "fuzz/a.c",
        "examples/simple/a.c",
        "src/utf8-test.c",
        "src/test_utf8.c",
        "util/env_unittest.cc",
        "src/parse_fuzzer.cc",
        "src/example3.c",
    ],
)
def test_by_name(path: str) -> None:
    assert is_test_file(Source(path, b""), "c")


@pytest.mark.parametrize(
    "path", ["src/a.c", "test.c", "demo.c", "src/latest.c", "contest/a.c", "src/attest_key.c"]
)
def test_not_by_name(path: str) -> None:
    assert not is_test_file(Source(path, b"int main(void) { return 0; }"), "c")


@pytest.mark.parametrize(
    "text",
    [
        b"#include <gtest/gtest.h>\n",
        b"/* a */\n  # include <cmocka.h>\n",
        b"int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {}\n",
    ],
)
def test_by_framework(text: bytes) -> None:
    assert is_test_file(Source("src/a.cc", text), "cpp")
    assert not is_test_file(Source("src/a.rs", text), "rust")
