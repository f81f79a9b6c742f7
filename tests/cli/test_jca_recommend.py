"""`jca recommend`: words lead to symbols, and what the code leans on comes first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.test_jca_impact import jca
from tests.support.repositories import write

FILES = {
    "store.py": "class IndexStore:\n    def read_index(self, name):\n        return name\n",
    "old/unused.py": "def read_index_slowly(name):\n    return name\n",
    "net.py": "def open_socket(host):\n    return host\n\ndef close_socket(it):\n    pass\n",
    **{
        f"use_{i}.py": "from store import IndexStore\n\n"
        f"def job_{i}(store):\n    return IndexStore().read_index('{i}')\n"
        for i in range(4)
    },
    "tests/test_store.py": "def test_read_index():\n    pass\n",
}


def places(root: Path, *arguments: str) -> list[dict[str, Any]]:
    run = jca("recommend", "--format", "json", *arguments, cwd=root)
    told: list[dict[str, Any]] = json.loads(run.stdout)
    return told


def test_words_lead_to_symbols_that_are_used_most(tmp_path: Path) -> None:
    root = tmp_path / "work"
    write(root, FILES)
    found = places(root, "Why is reading the index broken?")
    assert found[0]["name"] == "IndexStore.read_index"
    assert "test_read_index" not in {place["name"] for place in found}
    assert all(place["reasons"] for place in found) and len(found) <= 10
    assert "open_socket" not in {place["name"] for place in found}


def test_without_a_matching_word_open_files_lead_to_what_they_use(tmp_path: Path) -> None:
    root = tmp_path / "work"
    write(root, FILES)
    assert places(root, "quux") == []
    found = places(root, "quux", "--open", "use_1.py")
    assert {place["path"] for place in found} == {"store.py"}
    assert "the open file use_1.py uses it" in found[0]["reasons"]


def test_odd_questions_are_answered(tmp_path: Path) -> None:
    root = tmp_path / "work"
    write(root, FILES)
    for words in ("", "   ", "索引 read_index", "x" * 10_000, "(((", "the of and"):
        places(root, words, "--open", "../elsewhere", "--open", "nothing.py")
    assert "No symbol" in jca("recommend", "quux", cwd=root).stdout
    assert "read_index" in jca("recommend", "索引 read_index", cwd=root).stdout
    chinese = jca("recommend", "index", cwd=root, LC_ALL="zh_CN.UTF-8").stdout
    assert "名称中含有" in chinese
    empty = tmp_path / "empty"
    empty.mkdir()
    assert places(empty, "index") == []
    jca("recommend", "index", "-C", "nowhere", cwd=root, status=2)
