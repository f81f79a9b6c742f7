"""What test runners print is read as they mean it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ls.tester.junit import read_junit
from jarvis_ls.tester.results import Outcome, Place, read_lines, read_places

FAILED, PASSED, SKIPPED = Outcome.FAILED, Outcome.PASSED, Outcome.SKIPPED
LINES = {
    "go": (
        "=== RUN   TestTwice\n    lib_test.go:8: twice(2) = 6\n--- FAIL: TestTwice (0.00s)\n"
        "    --- FAIL: TestTwice/two (0.00s)\n--- PASS: TestOnce (0.00s)\n"
        "--- SKIP: TestOld (0.00s)\n",
        {"TestTwice": FAILED, "TestTwice/two": FAILED, "TestOnce": PASSED, "TestOld": SKIPPED},
    ),
    "cargo": (
        "test tests::a ... ok\ntest tests::b ... FAILED\ntest tests::c ... ignored\n"
        "test src/lib.rs - twice (line 3) ... ok\n",
        {
            "tests::a": PASSED,
            "tests::b": FAILED,
            "tests::c": SKIPPED,
            "src/lib.rs - twice (line 3)": PASSED,
        },
    ),
    "ctest": (
        "1/4 Test #1: twice ............................   Passed    0.00 sec\n"
        "2/4 Test  #2: half .............................***Failed    0.01 sec\n"
        "3/4 Test #3: crash ............***Exception: SegFault  0.10 sec\n"
        "4/4 Test #4: gone .............***Not Run   0.00 sec\n",
        {"twice": PASSED, "half": FAILED, "crash": FAILED, "gone": FAILED},
    ),
    "tap": (
        "ok 1 - adds\nnot ok 2 - divides\nok 3 - later # SKIP no reason\n",
        {"adds": PASSED, "divides": FAILED, "later": SKIPPED},
    ),
    "automake": (
        "PASS: a.sh\nFAIL: b.sh\nXFAIL: c.sh\nXPASS: d.sh\nSKIP: e.sh\n",
        {"a.sh": PASSED, "b.sh": FAILED, "c.sh": PASSED, "d.sh": FAILED, "e.sh": SKIPPED},
    ),
    "unittest": (
        "test_a (tests.test_x.T.test_a) ... ok\ntest_b (tests.test_x.T) ... FAIL\n"
        "test_c (tests.test_x.T.test_c) ... skipped 'why'\n",
        {
            "tests.test_x.T.test_a": PASSED,
            "tests.test_x.T.test_b": FAILED,
            "tests.test_x.T.test_c": SKIPPED,
        },
    ),
    "the worse of two": ("test a ... FAILED\ntest a ... ok\n", {"a": FAILED}),
    "nothing": ("all is well\n\x00\n", {}),
}


@pytest.mark.parametrize("runner", LINES)
def test_lines_of_runners(runner: str) -> None:
    text, expected = LINES[runner]
    assert {test.name: test.outcome for test in read_lines(text)} == expected


RECORDED = {
    "go-1.19.txt": (
        {"TestTwice": FAILED, "TestTwice/two": FAILED, "TestOnce": PASSED, "TestOld": SKIPPED},
        Place("lib_test.go", 9),
    ),
    "jest-29.txt": (
        {"doubles": FAILED, "keeps": PASSED, "old": SKIPPED},
        Place("lib.test.js", 3),
    ),
    "vitest-2.xml": (
        {
            "lib.test.js.numbers > doubles": FAILED,
            "lib.test.js.numbers > keeps": PASSED,
            "lib.test.js.old": SKIPPED,
        },
        Place("lib.test.js", 4),
    ),
    "maven-surefire-2.22.xml": (
        {
            "org.x.LibTest.doubles": FAILED,
            "org.x.LibTest.keeps": PASSED,
            "org.x.LibTest.old": SKIPPED,
        },
        Place("LibTest.java", 6),
    ),
    "gradle-4.4.xml": (
        {
            "org.x.LibTest.doubles": FAILED,
            "org.x.LibTest.keeps": PASSED,
            "org.x.LibTest.old": SKIPPED,
        },
        Place("LibTest.java", 6),
    ),
}
"""What these tools wrote of the same three tests, and the line of the failure."""


@pytest.mark.parametrize("file", RECORDED)
def test_what_tools_wrote(file: str) -> None:
    data = Path(__file__).with_name("recorded").joinpath(file).read_bytes()
    tests, place = RECORDED[file]
    found = read_junit(data) if file.endswith(".xml") else read_lines(data.decode())
    assert {test.name: test.outcome for test in found} == tests
    whys = [test.why for test in found] if file.endswith(".xml") else [data.decode()]
    assert place in [named for why in whys for named in read_places(why)]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('  File "/w/src/a.py", line 12, in f', Place("/w/src/a.py", 12)),
        ("src/a.py:7: AssertionError", Place("src/a.py", 7)),
        ("thread 'x' panicked at src/lib.rs:10:5:", Place("src/lib.rs", 10)),
        ("  --> src/lib.rs:3:9", Place("src/lib.rs", 3)),
        ("test_a: ../a.c:5: main: Assertion `x' failed.", Place("../a.c", 5)),
        ("    lib_test.go:8: twice(2) = 6", Place("lib_test.go", 8)),
        ("    at twice (/w/lib.js:2:9)", Place("/w/lib.js", 2)),
        ("    at file:///w/lib.mjs:2:9", Place("/w/lib.mjs", 2)),
        ("\tat org.x.AppTest.two(AppTest.java:14)", Place("AppTest.java", 14)),
    ],
)
def test_places_that_failures_name(line: str, place: Place) -> None:
    assert read_places(line) == [place]


def test_a_report_of_junit() -> None:
    report = b"""<?xml version="1.0"?><testsuites><testsuite>
    <testcase classname="tests.test_a.T" name="test_b" file="tests/test_a.py" line="3">
    <failure message="assert 1 == 2">tests/test_a.py:5: AssertionError</failure></testcase>
    <testcase classname="org.x.AppTest" name="two"/>
    <testcase classname="org.x.AppTest" name="old"><skipped/></testcase>
    <testcase classname="" name="tests.test_c"><error message="collection">x</error></testcase>
    </testsuite></testsuites>"""
    found = {test.name: (test.outcome, test.why) for test in read_junit(report)}
    assert found == {
        "tests/test_a.py::T::test_b": (FAILED, "assert 1 == 2\ntests/test_a.py:5: AssertionError"),
        "org.x.AppTest.two": (PASSED, ""),
        "org.x.AppTest.old": (SKIPPED, ""),
        "tests.test_c": (FAILED, "collection\nx"),
    }


@pytest.mark.parametrize(
    "report",
    [
        b"",
        b"<testsuite><testcase name='a'>",
        b'<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><t>&b;</t>',
        b'<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><t>&x;</t>',
        b"\xff\xfe\x00",
    ],
)
def test_what_is_no_report_is_refused(report: bytes) -> None:
    with pytest.raises(ValueError):
        read_junit(report)
