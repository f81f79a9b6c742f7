"""Reading and writing where nobody vouches for what stands under a name."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file, state_folder
from jarvis_ls.core.store import Appender, line_of, read_records, replace_records


def reason_of(path: Path, **options: object) -> str:
    with pytest.raises(SkippedFile) as caught:
        read_regular(path, **{"limit": 100, **options})
    return caught.value.reason


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"text")
    assert read_regular(tmp_path / "plain", limit=4) == b"text"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("plain")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "socket"))
    assert reason_of(tmp_path / "pipe") == "a named pipe"
    assert reason_of(tmp_path / "link") == "a symbolic link"
    assert reason_of(tmp_path / "socket") == "a socket"
    assert reason_of(tmp_path) == "a folder"
    assert reason_of(Path("/dev/zero")) == "a device"
    assert reason_of(tmp_path / "plain", limit=3) == "larger than the size limit"
    assert "not readable" in reason_of(tmp_path / "absent")
    assert "not readable" in reason_of(tmp_path / "a\0b")
    listening.close()


def test_a_file_that_does_not_tell_its_size_is_read_whole_or_refused() -> None:
    told = Path("/proc/version")
    assert told.stat().st_size == 0
    text = told.read_bytes()
    assert read_regular(told, limit=len(text)) == text
    assert reason_of(told, limit=len(text) - 1) == "larger than the size limit"


def test_a_folder_that_is_a_link_does_not_lead_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "secret.c").write_text("secret")
    (root / "inside").symlink_to(outside)
    assert "points outside" in reason_of(root / "inside" / "secret.c", root=os.path.realpath(root))


def test_replacing_keeps_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    replace_file(path, b"new", mode=path.stat().st_mode)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(JarvisError, match="cannot write"):
        replace_file(tmp_path / "absent" / "file", b"new")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("kind", ["file", "link"])
def test_state_is_never_written_through_something_else(tmp_path: Path, kind: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    if kind == "file":
        (root / ".jarvis").write_text("")
    else:
        (root / ".jarvis").symlink_to(outside)
    with pytest.raises(JarvisError, match="not a folder"):
        state_folder(root, "cache")
    assert not list(outside.iterdir())


def test_records_survive_a_torn_tail(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    replace_records(path, [{"n": 1}, {"n": 2}])
    with path.open("ab") as file:
        file.write(b'{"n": 3')  # the process was killed here
    assert [one["n"] for one in read_records(path)] == [1, 2]
    with Appender(path) as records:
        records.append(line_of({"n": 4}))
    assert [one["n"] for one in read_records(path)] == [1, 2, 4]


@pytest.mark.parametrize("torn", range(1, 40))
def test_no_cut_costs_more_than_the_last_record(tmp_path: Path, torn: int) -> None:
    path = tmp_path / "records.jsonl"
    lines = b"".join(line_of({"number": n, "text": "x" * 30}) for n in range(3))
    path.write_bytes(lines[:-torn])
    whole = lines[:-torn].count(b"\n")
    with Appender(path) as records:
        records.append(line_of({"number": 9}))
    assert [one["number"] for one in read_records(path)] == [*range(whole), 9]


def test_records_are_not_appended_to_a_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "records.jsonl").symlink_to("victim")
    with pytest.raises(JarvisError):
        Appender(tmp_path / "records.jsonl")
    assert (tmp_path / "victim").read_text() == "precious"


def test_text_that_is_no_unicode_is_kept_as_escapes(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    replace_records(path, [{"name": "a\udcff"}])
    assert list(read_records(path)) == [{"name": "a\udcff"}]
