"""Which files are scanned, which are left out, and what is said of them."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest
from folders import write

from jarvis_ls.jsec.scan.source_files import Listing, list_sources
from jarvis_ls.jsec.settings.settings import Settings


def names(listing: Listing) -> list[str]:
    return [one.path for one in listing.files]


def reasons(listing: Listing) -> dict[str, str]:
    return {one.path: one.reason for one in listing.skipped}


def test_sources_are_listed_in_order_and_nothing_else(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "b.c": "",
            "a/z.rs": "",
            "a.CPP": "",
            "a/b.hpp": "",
            "notes.txt": "",
            "Makefile": "",
            "a.h": "",
        },
    )
    assert names(list_sources(tmp_path, Settings())) == [
        "a/b.hpp",
        "a/z.rs",
        "a.CPP",
        "a.h",
        "b.c",
    ]


def test_default_folders_are_left_out_wherever_they_stand(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            f"x/{name}/a.c": ""
            for name in (
                ".git",
                ".pc",
                "build",
                "out",
                "target",
                "third_party",
                "vendor",
                "node_modules",
                ".venv",
                ".jarvis",
            )
        }
        | {"x/builder/a.c": "", "out.c": ""},
    )
    assert names(list_sources(tmp_path, Settings())) == ["out.c", "x/builder/a.c"]
    with_all = names(list_sources(tmp_path, Settings(default_excludes=False)))
    assert "x/vendor/a.c" in with_all
    assert not any(".git" in name or ".jarvis" in name for name in with_all)


@pytest.mark.parametrize(
    ("ignores", "kept"),
    [
        ({".gitignore": "*.c"}, ["d/deep/x.h", "d/x.h"]),
        ({".gitignore": "/a.c"}, ["d/a.c", "d/deep/a.c", "d/deep/x.h", "d/x.h"]),
        ({".gitignore": "d/"}, ["a.c"]),
        ({".gitignore": "*.c\n!a.c"}, ["a.c", "d/a.c", "d/deep/a.c", "d/deep/x.h", "d/x.h"]),
        (
            {".gitignore": "*.c", "d/.gitignore": "!a.c"},
            ["d/a.c", "d/deep/a.c", "d/deep/x.h", "d/x.h"],
        ),
        ({".gitignore": "d/", "d/.gitignore": "!a.c"}, ["a.c"]),
        ({"d/.gitignore": "/deep"}, ["a.c", "d/a.c", "d/x.h"]),
        ({"d/.gitignore": "**/x.h"}, ["a.c", "d/a.c", "d/deep/a.c"]),
        ({".git/info/exclude": "deep"}, ["a.c", "d/a.c", "d/x.h"]),
        (
            {".gitignore": "# a.c\n\\#a.c\n  \n[z-a]\n\\\n!"},
            ["a.c", "d/a.c", "d/deep/a.c", "d/deep/x.h", "d/x.h"],
        ),
    ],
)
def test_git_ignores_count(tmp_path: Path, ignores: dict[str, str], kept: list[str]) -> None:
    (tmp_path / ".git").mkdir()
    write(
        tmp_path,
        {"a.c": "", "d/a.c": "", "d/x.h": "", "d/deep/a.c": "", "d/deep/x.h": "", **ignores},
    )
    assert names(list_sources(tmp_path, Settings())) == sorted(kept, key=lambda n: n.split("/"))


def test_ignores_above_a_scanned_folder_count_inside_a_work_tree(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "gen.c", "top/src/gen.c": "", "top/src/a.c": ""})
    assert len(names(list_sources(tmp_path / "top", Settings()))) == 2
    (tmp_path / ".git").mkdir()
    assert names(list_sources(tmp_path / "top", Settings())) == ["src/a.c"]


def test_files_asked_for_by_name_are_scanned_whatever_git_says(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.c", "a.c": "", "b.c": "", "x.txt": "", "d/c.c": ""})
    asked = [tmp_path / "a.c", tmp_path / "x.txt", tmp_path / "d", tmp_path / "gone.c"]
    listing = list_sources(tmp_path, Settings(), asked)
    assert names(listing) == ["a.c"]
    assert reasons(listing)["x.txt"] == "not C, C++ or Rust"
    assert "not readable" in reasons(listing)["gone.c"]


def test_excludes_of_the_settings(tmp_path: Path) -> None:
    write(tmp_path, {"a.c": "", "tests/b.c": "", "lib/tests/c.c": ""})
    assert names(list_sources(tmp_path, Settings(exclude=("/tests/**",)))) == [
        "a.c",
        "lib/tests/c.c",
    ]
    assert names(list_sources(tmp_path, Settings(exclude=("tests/",)))) == ["a.c"]


def test_what_is_no_file_is_named_with_its_reason(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, {"a.c": "", "big.c": "x" * 2000})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.c").write_text("int secret;")
    os.mkfifo(root / "pipe.c")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(root / "socket.c"))
    (root / "out.c").symlink_to(tmp_path / "outside" / "secret.c")
    (root / "outdir").symlink_to(tmp_path / "outside")
    (root / "in.c").symlink_to("a.c")
    (root / "loop").symlink_to(".")
    (root / "broken.c").symlink_to("nowhere.c")
    (root / "self.c").symlink_to("self.c")
    listing = list_sources(root, Settings(max_file_size=1000))
    assert names(listing) == ["a.c"]
    assert reasons(listing) == {
        "big.c": "larger than the size limit",
        "broken.c": "a symbolic link that leads nowhere",
        "self.c": "a symbolic link that leads nowhere",
        "out.c": "a symbolic link that points outside the folder",
        "outdir": "a symbolic link that points outside the folder",
        "pipe.c": "a named pipe",
        "socket.c": "a socket",
    }
    listening.close()


def test_names_that_are_no_unicode_can_be_shown_and_opened(tmp_path: Path) -> None:
    name = b"b\xff\n.c"
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("")
    (file,) = list_sources(tmp_path, Settings()).files
    assert file.path == "b\\xff\n.c"
    assert os.fsencode(file.location).endswith(name)
    file.path.encode()


def test_hostile_ignore_patterns_cost_no_time(tmp_path: Path) -> None:
    write(tmp_path, {f"{'a' * 120}{n}.c": "" for n in range(30)})
    lines = ["*a" * 40 + "b", "**/" * 60 + "x", "[" * 500, "a" * 100_000, "(" * 900, "!" * 900]
    (tmp_path / ".gitignore").write_text("\n".join(lines * 20))
    started = time.process_time()
    assert len(list_sources(tmp_path, Settings()).files) == 30
    assert time.process_time() - started < 60, "backtracking takes hours"


def test_an_ignored_folder_is_scanned_when_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("cache/\n")
    inner = tmp_path / "cache" / "library"
    inner.mkdir(parents=True)
    (inner / "a.c").write_text("int x;\n")
    assert [one.path for one in list_sources(inner, Settings()).files] == ["a.c"]
    assert list_sources(tmp_path, Settings()).files == []
