"""`jsec init`, `jsec rules --filter` and `jsec explain` of weaknesses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from commands import jsec, write

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.jsec.settings.settings import load_settings
from jarvis_ls.runtime.base.yaml_files import parse_toml


def uncommented(text: str) -> str:
    """The file with each example in it as a setting: what follows `# ` and looks like TOML."""
    return re.sub(r"^# (?=[a-z_-]+ = |\[)", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("locale", ["C.UTF-8", "zh_CN.UTF-8"])
def test_settings_to_begin_with_change_nothing(tmp_path: Path, locale: str) -> None:
    run = jsec("init", "project", cwd=write(tmp_path, {"project/a.c": ""}), LC_ALL=locale)
    file = tmp_path / "project/.jarvis/jsec.toml"
    assert str(file) in run.stdout
    assert load_settings(tmp_path / "project") == load_settings(tmp_path)
    file.write_text(uncommented(file.read_text(encoding="utf-8")), encoding="utf-8")
    settings = load_settings(tmp_path / "project")
    assert settings.exclude and settings.rules and settings.paths and settings.patterns
    assert [function.role for function in settings.functions] == ["source", "sink", "sanitizer"]


def test_editors_are_given_a_schema_of_the_settings(tmp_path: Path) -> None:
    jsec("init", cwd=tmp_path)
    file = tmp_path / ".jarvis/jsec.toml"
    text = file.read_text(encoding="utf-8")
    named = re.match(r"#:schema (\S+)\n", text)
    assert named is not None
    schema = json.loads((file.parent / named[1]).read_text(encoding="utf-8"))
    jsonschema.Draft4Validator.check_schema(schema)
    refuses = jsonschema.Draft4Validator(schema)
    assert refuses.is_valid(parse_toml(text.encode()))
    assert refuses.is_valid(parse_toml(uncommented(text).encode()))
    for wrong in (
        "flow = 1",
        "colour = true",
        "min_confidence = 2",
        '[rules]\ndouble-free = "of"',
        '[paths."a/"]\nrule = {}',
        '[[pattern]]\nid = "x"\nregex = "x"',
        '[[sink]]\nfunction = "f"\nargument = 0\nkind = "command"',
        '[[source]]\nfunction = "f"\nreturns = "word"',
    ):
        assert not refuses.is_valid(parse_toml(wrong.encode())), wrong
        file.write_text(wrong)
        with pytest.raises(ConfigError):
            load_settings(tmp_path)


def test_settings_that_are_there_are_not_changed(tmp_path: Path) -> None:
    write(tmp_path, {".jarvis/jsec.toml": "flow = false\n", "src/a.c": ""})
    for folder in (".", "src"):
        run = jsec("init", folder, cwd=tmp_path, status=2)
        assert f"{tmp_path / '.jarvis/jsec.toml'} is there already" in run.stderr
    assert (tmp_path / ".jarvis/jsec.toml").read_text() == "flow = false\n"
    assert not (tmp_path / "src/.jarvis").exists()
    assert "no such folder" in jsec("init", "src/a.c", cwd=tmp_path, status=2).stderr


def test_a_project_has_its_settings_in_one_place(tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": "", ".jarvis/sec/x": "", "src/a.c": ""})
    jsec("init", cwd=tmp_path / "src")
    assert (tmp_path / ".jarvis/jsec.toml").exists()
    assert not (tmp_path / "src/.jarvis").exists()


def test_a_link_in_place_of_the_settings_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "project/.jarvis").mkdir(parents=True)
    (tmp_path / "project/.jarvis/jsec.toml").symlink_to(tmp_path / "outside")
    jsec("init", "project", cwd=tmp_path, status=2)
    assert not (tmp_path / "outside").exists()


def test_rules_are_filtered_by_all_words(tmp_path: Path) -> None:
    found = json.loads(
        jsec("rules", "--filter", "rust", "CWE-416", "--format", "json", cwd=tmp_path).stdout
    )
    assert found and all(416 in rule["cwe"] and "rust" in rule["languages"] for rule in found)
    listed = jsec("rules", "--filter", "double-free", "c++", cwd=tmp_path).stdout
    assert listed.startswith("double-free ") and "\n1 rule;" in listed
    assert "…" not in listed, "cut where no terminal is"
    assert "0 rules" in jsec("rules", "--filter", "no such words", cwd=tmp_path).stdout
    chinese = jsec("rules", "--filter", "双重释放", cwd=tmp_path, LC_ALL="zh_CN.UTF-8").stdout
    assert "double-free" in chinese


@pytest.mark.parametrize("name", ["CWE-416", "cwe-416", "CWE416", "416"])
def test_a_weakness_is_explained_by_its_rules(tmp_path: Path, name: str) -> None:
    page = jsec("explain", name, cwd=tmp_path).stdout
    assert page.startswith("# CWE-416: Use After Free\n")
    assert "https://cwe.mitre.org/data/definitions/416.html" in page
    assert re.search(r"^use-after-free +high +CWE-416", page, re.MULTILINE)


def test_a_weakness_without_rules_is_an_error(tmp_path: Path) -> None:
    run = jsec("explain", "CWE-999999", cwd=tmp_path, status=2)
    assert "no rule is about CWE-999999" in run.stderr and run.stdout == ""
