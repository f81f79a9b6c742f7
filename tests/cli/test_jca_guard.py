"""`jca guard`: what is lost stops, what is moved or changed does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_jca_impact import jca
from tests.support.repositories import commit, git, make_repository, write

LONG = "".join(f"def name_{i}(value):\n    return value + {i}\n\n" for i in range(60))
TESTS = (
    "import a\n\n\ndef test_one():\n    assert a.name_1(1) == 2\n\n\n"
    "def test_two():\n    assert a.name_2(1) == 3\n"
)
BODY = "    first = value * 2\n    second = first + value\n    return [first, second]\n"
FILES = {
    "a.py": LONG,
    "b.py": f"def kept(value):\n{BODY}\n\ndef _own(value):\n{BODY}",
    "api.h": "#ifndef API_H\n#define API_H\n#define LIMIT 4\n"
    "int open_it(const char *name);\n#endif\n",
    "lib.rs": "pub fn shown() -> u8 { 1 }\nfn own() -> u8 { shown() }\n",
    "tests/test_a.py": TESTS,
    "web.test.js": "test('one', () => { expect(1).toBe(1) })\ntest('two', () => { f() })\n",
    "notes.txt": "".join(f"line {i}\n" for i in range(40)),
    "data.txt": "".join(f"row {i}\n" for i in range(900)),
}

LOST: dict[str, tuple[dict[str, str | None], str]] = {
    "a public function": ({"a.py": LONG.replace("def name_7(", "def other(")}, "'name_7' is gone"),
    "a file": ({"b.py": None}, "b.py is gone"),
    "most of a file": ({"notes.txt": "line 1\n"}, "notes.txt loses 98 %"),
    "many lines": (
        {"data.txt": "".join(f"row {i}\n" for i in range(690))},
        "210 lines fewer",
    ),
    "a file that is written anew": ({"b.py": "VALUE = 1\n" * 40}, "'kept' is gone from b.py"),
    "a body": (
        {"b.py": FILES["b.py"].replace(BODY, "    # later\n    pass\n", 1)},
        "nothing is left in 'kept'",
    ),
    "a declaration": (
        {"api.h": FILES["api.h"].replace("int open_it(const char *name);\n", "")},
        "'open_it' is gone",
    ),
    "what is public": (
        {"lib.rs": FILES["lib.rs"].replace("pub fn", "fn")},
        "'shown' in lib.rs is no longer public",
    ),
    "a test": (
        {"tests/test_a.py": TESTS.partition("\n\n\ndef test_two")[0] + "\n"},
        "test 'test_two' is gone",
    ),
    "a test by skipping": (
        {"tests/test_a.py": TESTS.replace("def test_two", "@pytest.mark.skip\ndef test_two")},
        "'test_two' in tests/test_a.py is skipped",
    ),
    "what a test asserts": (
        {"tests/test_a.py": TESTS.replace("assert a.name_2(1) == 3", "a.name_2(1)")},
        "'test_two' in tests/test_a.py asserts nothing",
    ),
    "a test of JavaScript": (
        {"web.test.js": "test('one', () => { expect(1).toBe(1) })\n"},
        "1 tests are gone",
    ),
}

KEPT: dict[str, dict[str, str | None]] = {
    "a function that moves": {
        "b.py": FILES["b.py"].partition("\n\ndef _own")[2].join(["def _own", ""]),
        "c.py": f"def kept(value):\n{BODY}",
    },
    "a file that is renamed": {"a.py": None, "names.py": LONG},
    "a file in a new folder, changed": {
        "a.py": None,
        "pkg/a.py": LONG.replace("value + 3\n", "value - 3\n"),
    },
    "bodies that change": {"a.py": LONG.replace("value + ", "value * 2 + ")},
    "a private function that goes": {"b.py": f"def kept(value):\n{BODY}\nADDED = 1\nMORE = 2\n"},
    "a guard of a header": {
        "api.h": "#pragma once\n#define LIMIT 4\nint open_it(const char *name);\n"
    },
    "a parameter": {"api.h": FILES["api.h"].replace("*name)", "*name, int flags)")},
    "a test that changes": {"tests/test_a.py": TESTS.replace("== 3", "== 4 - 1")},
    "more of everything": {name: text + "\n" for name, text in FILES.items()},
}


def change(root: Path, files: dict[str, str | None]) -> None:
    write(root, {path: text for path, text in files.items() if text is not None})
    for path in (path for path, text in files.items() if text is None):
        (root / path).unlink()


@pytest.mark.parametrize("what", LOST)
def test_what_is_lost_stops(what: str, tmp_path: Path) -> None:
    files, said = LOST[what]
    root = make_repository(tmp_path / "work", FILES)
    change(root, files)
    assert said in jca("guard", cwd=root, status=1).stdout


@pytest.mark.parametrize("what", KEPT)
def test_what_is_moved_or_changed_does_not_stop(what: str, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work", FILES)
    change(root, KEPT[what])
    assert "Nothing is lost." in jca("guard", cwd=root, status=0).stdout


def test_a_path_that_is_deleted_and_added_again_is_compared_as_a_whole(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work", FILES)
    git(root, "rm", "--quiet", "--cached", "b.py")
    (root / "b.py").unlink()
    (root / "b.py").write_text("def kept(value):\n    return [value * 2, value * 3]\n")
    told = json.loads(jca("guard", "--format", "json", cwd=root, status=1).stdout)
    assert told["stops"] and [loss["path"] for loss in told["losses"]] == ["b.py"]
    commit(root, "second")
    assert jca("guard", "HEAD~1..HEAD", cwd=root, status=1).stdout
    chinese = jca("guard", "HEAD~1..HEAD", cwd=root, status=1, LC_ALL="zh_CN.UTF-8").stdout
    assert "丢失" in chinese and "lines" not in chinese
