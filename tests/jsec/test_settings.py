"""`.jarvis/jsec.toml`: what it does, and what is said when it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from folders import FLAWED, Scan, write

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.jsec.settings.settings import load_settings, settings_from


def found(scan: Scan, root: Path) -> dict[str, list[tuple[str, str]]]:
    by_file: dict[str, list[tuple[str, str]]] = {}
    for one in scan(root).findings:
        by_file.setdefault(one.file, []).append((one.rule, one.severity))
    return by_file


def toml(root: Path, text: str) -> Path:
    return write(root, {".jarvis/jsec.toml": text})


def test_rules_can_be_off_or_have_another_severity(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED, "old/b.c": FLAWED})
    ((rule, before),) = found(scan_folder, tmp_path)["a.c"]
    assert before != "medium"
    toml(tmp_path, f'rules.{rule} = "medium"\n[paths."old/**"]\nrules = {{ {rule} = "off" }}\n')
    assert found(scan_folder, tmp_path) == {"a.c": [(rule, "medium")]}


def test_least_confidence_by_path(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED, "old/b.c": FLAWED})
    toml(tmp_path, 'min_confidence = 1.0\n[paths."old/"]\nmin_confidence = 0.0\n')
    assert list(found(scan_folder, tmp_path)) == ["old/b.c"]


PATTERN = """
[[pattern]]
id = "no-legacy-log"
regex = 'legacy_log\\s*\\('
message = "legacy_log is gone."
severity = "high"
cwe = [477]
suggestion = "Use log_line."
"""

SOURCE = """\
// legacy_log(1);
const char *s = "legacy_log(2)";
void f(void) {
    legacy_log (3); legacy_log(4);
    legacy_log
      (5);
}
"""


def places(scan: Scan, root: Path, rule: str) -> list[tuple[str, int, int]]:
    return [
        (one.file, one.span.line, one.span.column)
        for one in scan(root).findings
        if one.rule == rule
    ]


def test_own_patterns_see_code_only_and_single_lines(tmp_path: Path, scan_folder: Scan) -> None:
    toml(write(tmp_path, {"a.c": SOURCE, "b.rs": "fn f() { legacy_log(1) }\n"}), PATTERN)
    assert places(scan_folder, tmp_path, "no-legacy-log") == [
        ("a.c", 4, 5),
        ("a.c", 4, 21),
        ("b.rs", 1, 10),
    ]
    (first, *_) = scan_folder(tmp_path).findings
    assert (str(first.message), first.severity, first.cwe) == (
        "legacy_log is gone.",
        "high",
        (477,),
    )


def test_own_patterns_can_ask_for_strings_comments_and_languages(
    tmp_path: Path, scan_folder: Scan
) -> None:
    write(tmp_path, {"a.c": SOURCE, "b.rs": "fn f() { legacy_log(1) }\n"})
    toml(tmp_path, PATTERN + 'languages = ["c"]\nstrings = true\ncomments = true\n')
    lines = [line for _, line, _ in places(scan_folder, tmp_path, "no-legacy-log")]
    assert lines == [1, 2, 4, 4]


def test_own_patterns_can_be_suppressed(tmp_path: Path, scan_folder: Scan) -> None:
    text = "void f(void) { legacy_log(1); } // jsec-ignore: no-legacy-log replaced next week\n"
    toml(write(tmp_path, {"a.c": text}), PATTERN)
    (one,) = scan_folder(tmp_path).findings
    assert one.suppressed == "comment: replaced next week"


@pytest.mark.parametrize("regex", ["(a+)+$", "(x*x*x*x*)*y", "(.*)*(.*)*(.*)*z"])
def test_own_patterns_take_linear_time(tmp_path: Path, scan_folder: Scan, regex: str) -> None:
    toml(tmp_path, f"[[pattern]]\nid = 'p'\nregex = '{regex}'\nmessage = 'm'\n")
    write(tmp_path, {"a.c": "int " + "a" * 30_000 + "!;\nint " + "x" * 30_000 + ";\n"})
    assert scan_folder(tmp_path, seconds=8.0).skipped == []


WRONG = [
    ("max_files = 3", "max_files", "is not known"),
    ("exclude = 'x'", "exclude", "must be a list"),
    ("exclude = ['[z-a]']", "exclude", "z-a"),
    ("min_confidence = 2", "min_confidence", "from 0 to 1"),
    ("max_file_size = -1", "max_file_size", "number of bytes"),
    ("default_excludes = 1", "default_excludes", "true or false"),
    ("rules.a = 'of'", "rules", "'a' must be one of"),
    ("rules = 3", "rules", "must be a table"),
    ("paths.x.min = 1", "paths.x.min", "is not known"),
    ("paths.x = 1", "paths.x", "must be a table"),
    ("[[pattern]]\nid='a'\nmessage='m'", "pattern[1].regex", "is missing"),
    ("[[pattern]]\nid='a'\nmessage='m'\nregex='('", "pattern[1].regex", "regular expression"),
    ("[[pattern]]\nid='a'\nmessage='m'\nregex='(?=a)'", "pattern[1].regex", "regular expression"),
    ("[[pattern]]\nid='a b'\nmessage='m'\nregex='a'", "pattern[1].id", "letters"),
    (
        "[[pattern]]\nid='a'\nmessage='m'\nregex='a'\nlanguages=['java']",
        "pattern[1].languages",
        "must be a list of",
    ),
    ("[[pattern]]\nid='a'\nmessage='m'\nregex='a'\n" * 2, "pattern", "two patterns"),
    ("pattern = 3", "pattern", "must be a list"),
    ("a = [", "", "jsec.toml"),
    ("x = " + "[" * 5000, "", "jsec.toml"),
    ("\0", "", "jsec.toml"),
]


@pytest.mark.parametrize(("text", "key", "what"), WRONG)
def test_a_wrong_key_is_named_with_its_file(tmp_path: Path, text: str, key: str, what: str) -> None:
    toml(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path)
    assert ".jarvis/jsec.toml" in str(caught.value)
    assert key in str(caught.value)
    assert what in str(caught.value)


def test_a_settings_file_must_be_a_small_regular_file(tmp_path: Path) -> None:
    folder = tmp_path / ".jarvis"
    folder.mkdir()
    (folder / "jsec.toml").symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match="symbolic link"):
        load_settings(tmp_path)
    (folder / "jsec.toml").unlink()
    (folder / "jsec.toml").write_bytes(b"#" * 2_000_000)
    with pytest.raises(ConfigError, match="size limit"):
        load_settings(tmp_path)


def test_the_editor_can_give_the_same_settings() -> None:
    base = settings_from({"exclude": ["a"], "rules": {"x": "off"}}, "editor")
    values: dict[str, Any] = {
        "exclude": ["b"],
        "rules": {"x": "low", "y": "off"},
        "max_file_size": 5,
    }
    settings = settings_from(values, "jsec.toml", base)
    assert settings.exclude == ("a", "b")
    assert dict(settings.rules) == {"x": "low", "y": "off"}
    assert settings.max_file_size == 5
    with pytest.raises(ConfigError, match="editor: colour"):
        settings_from({"colour": 1}, "editor")
