"""`jarvis test-repair` with the test runners of several languages, as they are installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.repair_bench import repair_bench
from tests.support.repositories import write

pytestmark = pytest.mark.watches()

C = {
    "lib.c": '#include "lib.h"\n\nint twice(int a)\n{\n    return a * 3;\n}\n',
    "lib.h": "int twice(int a);\n",
    "other.c": "int other(void)\n{\n    return 1;\n}\n",
    "tests/test_lib.c": '#include <assert.h>\n#include "../lib.h"\n\n'
    "int main(void)\n{\n    assert(twice(2) == 4);\n    return 0;\n}\n",
}
MAKE = {
    **C,
    "Makefile": "test: tests/test_lib\n\t./tests/test_lib\n"
    "tests/test_lib: tests/test_lib.c lib.c\n\t$(CC) -o $@ tests/test_lib.c lib.c\n",
}
CMAKE = {
    **C,
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nenable_testing()\n"
    "add_executable(test_lib tests/test_lib.c lib.c)\n"
    "add_test(NAME twice COMMAND test_lib)\n",
}
CARGO = {
    "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "x"\nversion = "0.1.0"\n',
    "src/lib.rs": "mod number;\n\npub fn twice(a: i32) -> i32 {\n    number::times(a, 3)\n}\n\n"
    "#[cfg(test)]\nmod tests {\n    #[test]\n    fn doubles() {\n"
    "        assert_eq!(super::twice(2), 4);\n    }\n}\n",
    "src/number.rs": "pub fn times(a: i32, b: i32) -> i32 {\n    a * b\n}\n",
    ".gitignore": "target\n",
}
NODE = {
    "package.json": '{"name": "x", "version": "1.0.0", "type": "commonjs"}',
    "lib.js": "exports.twice = function twice(a) {\n  return a * 3;\n};\n",
    "test/lib.test.js": "const test = require('node:test');\n"
    "const assert = require('node:assert');\n"
    "const { twice } = require('../lib.js');\n\n"
    "test('doubles', () => {\n  assert.strictEqual(twice(2), 4);\n});\n",
}
GO = {
    "go.mod": "module example.org/x\n\ngo 1.16\n",
    "lib.go": "package x\n\nfunc Twice(a int) int {\n\treturn a * 3\n}\n",
    "lib_test.go": 'package x\n\nimport "testing"\n\nfunc TestTwice(t *testing.T) {\n'
    '\tif Twice(2) != 4 {\n\t\tt.Errorf("got %d", Twice(2))\n\t}\n}\n',
}
UNITTEST = {
    "lib.py": "def twice(a):\n    return a * 3\n",
    "test_lib.py": "import unittest\n\nfrom lib import twice\n\n\n"
    "class TwiceTest(unittest.TestCase):\n    def test_two(self):\n"
    "        self.assertEqual(twice(2), 4)\n",
    ".tester/config.yaml": "validation: {test_command: python3 -m unittest -v}\n",
}
JUNIT = {
    **{name: text for name, text in UNITTEST.items() if name != ".tester/config.yaml"},
    ".tester/config.yaml": "validation:\n"
    "  test_command: mkdir out; python3 -m pytest -q --junitxml=out/r.xml >/dev/null\n"
    "  junit: [out/*.xml]\n",
}
SYSTEMS = {
    "make": ("make", MAKE, "lib.c", "a * 3", "a * 2", ["lib.c", "lib.h"], 1),
    "ctest": ("ctest", CMAKE, "lib.c", "a * 3", "a * 2", ["lib.c", "lib.h"], 1),
    "cargo": ("cargo", CARGO, "src/lib.rs", "(a, 3)", "(a, 2)", ["src/lib.rs", "src/number.rs"], 1),
    "node": ("node", NODE, "lib.js", "a * 3", "a * 2", ["lib.js"], 1),
    "go": ("go", GO, "lib.go", "a * 3", "a * 2", ["lib.go"], 1),
    "unittest": ("python3", UNITTEST, "lib.py", "a * 3", "a * 2", ["lib.py"], 1),
    "junit": ("python3", JUNIT, "lib.py", "a * 3", "a * 2", ["lib.py"], 1),
}


@pytest.mark.parametrize("system", SYSTEMS)
async def test_a_failing_test_of_each_system_is_repaired(tmp_path: Path, system: str) -> None:
    program, files, path, search, replace, scope, total = SYSTEMS[system]
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    async with repair_bench(tmp_path, files) as bench:
        before = bench.state()
        bench.plan(cause=path)
        bench.patch([(path, search, replace.replace("2", "5"))], [(path, search, replace)])
        answer = await bench.request()
        assert answer["status"] == "candidates", (answer, bench.audit())
        assert answer["repairable_scope"] == scope
        assert [candidate["id"] for candidate in answer["candidates"]] == ["fix-2"]
        summaries = [r["summary"] for r in bench.audit() if r["event"] == "validation"]
        assert [s["tests_passed"] for s in summaries] == [0, total], bench.audit()
        assert bench.state() == before


async def test_installed_packages_are_there_and_stay_as_they_are(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("needs node")
    spoil = "try { require('fs').writeFileSync(require.resolve('half'), ''); } catch {}\n"
    test = NODE["test/lib.test.js"] + f"require('half')(4);\n{spoil}"
    async with repair_bench(tmp_path, {**NODE, "test/lib.test.js": test}) as bench:
        write(
            bench.root,
            {
                ".gitignore": "node_modules/\n",
                "node_modules/half/index.js": "module.exports = (a) => a / 2;\n",
            },
        )
        before = bench.state()
        bench.plan(cause="lib.js")
        bench.patch([("lib.js", "a * 3", "a * 2")])
        answer = await bench.request(human_in_the_loop=False)
        assert answer["status"] == "fixed", (answer, bench.audit())
        assert list(answer["fixed_files"]) == ["lib.js"]
        assert bench.state() == before


async def test_an_inline_test_of_rust_may_not_be_weakened(tmp_path: Path) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    async with repair_bench(tmp_path, CARGO) as bench:
        bench.plan(cause="src/lib.rs")
        bench.patch([("src/lib.rs", "twice(2), 4", "twice(2), 6")])
        for _ in range(2):
            bench.patch([("src/lib.rs", "#[test]", "#[test]\n    #[ignore]")])
        answer = await bench.request()
        assert answer["status"] == "unfixable"
        refusals = [record["why"] for record in bench.audit() if record["event"] == "refused"]
        assert refusals[0] == "The patch changes the test 'tests.doubles'"
        assert refusals[1].startswith("The patch changes the test")


async def test_a_compiler_error_is_repaired(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("needs make")
    broken = {**MAKE, "lib.c": MAKE["lib.c"].replace("a * 3", "b * 2")}
    async with repair_bench(tmp_path, broken) as bench:
        bench.plan(cause="lib.c")
        bench.patch([("lib.c", "b * 2", "a * 2")])
        answer = await bench.request(human_in_the_loop=False)
        assert answer["status"] == "fixed", answer
        assert answer["validation_summary"]["type_check"] == "passed"
        assert "lib.c:5" in bench.told()


MYPY = {
    "mypy.ini": "[mypy]\nstrict = True\n",
    "lib.py": "def twice(a: int) -> int:\n    return a * 3\n",
    "test_lib.py": "from lib import twice\n\n\ndef test_twice() -> None:\n"
    "    assert twice(2) == 4\n",
}


async def test_a_patch_that_passes_the_tests_but_not_the_types_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs mypy")
    async with repair_bench(tmp_path, MYPY) as bench:
        bench.plan(cause="lib.py")
        bench.patch([("lib.py", "a * 3", "a + str(a) if a > 9 else a * 2")])
        bench.patch([("lib.py", "a * 3", "a * 2")])
        answer = await bench.request(human_in_the_loop=False)
        assert answer["status"] == "fixed", (answer, bench.audit())
        assert answer["validation_summary"]["type_check"] == "passed"
        assert answer["fixed_files"]["lib.py"].endswith("return a * 2\n")
        types = [r["summary"]["type_check"] for r in bench.audit() if r["event"] == "validation"]
        assert types == ["failed", "passed"]
        assert "New complaints of the type checker" in bench.told()
        assert "lib.py:2" in bench.told()
