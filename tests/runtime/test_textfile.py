"""A user's file comes back as it was, but for what was changed."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.text_file import (
    Seen,
    WorkspacePath,
    decode,
    load,
    new_file,
    read_text,
    resolve_path,
)
from jarvis_ls.runtime.tools.tool import ToolContext

PLACE = WorkspacePath(Path("/root"), 0, "a.txt")
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-be-sig", "utf-32", "latin-1"]

words = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n\0"), max_size=6
)
ends = st.sampled_from(["\n", "\r\n", "\r"])
written = st.lists(st.tuples(words, ends), max_size=12).map(
    lambda lines: "".join(word + end for word, end in lines)
)


def encoded(text: str, encoding: str) -> bytes:
    if encoding == "utf-16-be-sig":
        return b"\xfe\xff" + text.encode("utf-16-be")
    return text.encode(encoding, "replace")


@given(st.binary(max_size=200))
def test_any_bytes_come_back_or_are_refused(raw: bytes) -> None:
    try:
        file = decode(PLACE, raw)
    except ToolRetry:
        return
    assert file.encode(file.text) == raw
    assert "\r" not in file.text


@given(written, words, st.sampled_from(ENCODINGS))
def test_text_comes_back_whatever_the_encoding_and_line_ends(
    text: str, last: str, encoding: str
) -> None:
    raw = encoded(text + last, encoding)
    try:
        file = decode(PLACE, raw)
    except ToolRetry:
        assert encoding == "latin-1"
        return
    assert file.encode(file.text) == raw


@given(written, st.integers(0, 12), st.lists(words, max_size=3), st.sampled_from(ENCODINGS[:5]))
def test_lines_that_stay_keep_their_ends(text: str, at: int, new: list[str], encoding: str) -> None:
    file = decode(PLACE, encoded(text, encoding))
    lines = file.text.split("\n")
    at = min(at, len(lines) - 1)
    changed = "\n".join([*lines[:at], *new, *lines[at:]])
    raw = file.encode(changed)
    again = decode(PLACE, raw)
    assert again.text == changed and again.bom == file.bom
    if again.text and again.raw.isascii() is False:
        assert again.encoding == file.encoding
    old = re.findall(r"\r\n|\n|\r", raw[len(again.bom) :].decode(again.encoding))
    kept = [file.ends] * file.text.count("\n") if isinstance(file.ends, str) else list(file.ends)
    assert old[:at] == kept[:at]
    if len(set(kept)) == 1:
        assert set(old) <= {kept[0]}


def test_a_mixed_file_keeps_each_line_end() -> None:
    file = decode(PLACE, b"a\r\nb\nc\rd\r\n")
    assert file.text == "a\nb\nc\nd\n"
    assert file.encode("a\nB\nc\nd\n") == b"a\r\nB\nc\rd\r\n"
    assert file.encode("a\nb\nnew\nc\nd\n") == b"a\r\nb\nnew\nc\rd\r\n"
    assert file.encode("a\r\nb\nc\nd") == b"a\r\nb\nc\rd"


def test_other_separators_are_no_line_ends() -> None:
    file = decode(PLACE, "a\x0cb\x0b\u2028c\x85d\x1ce\n".encode())
    assert len(file.lines) == 1


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"\0", "binary"),
        (b"text\0text", "binary"),
        (b"\xff\xfea", "malformed"),
        (b"\xff\xfe\x00\xd8", "malformed"),
        (b"\xff\xfe\0\0\xff\xff\xff\xff", "malformed"),
    ],
)
def test_what_is_no_text_is_refused(raw: bytes, said: str) -> None:
    with pytest.raises(ToolRetry, match=said):
        decode(PLACE, raw)


def test_a_character_the_file_cannot_hold_is_named() -> None:
    file = decode(PLACE, "é\n".encode("latin-1"))
    assert file.encode("éà\n") == "éà\n".encode("latin-1")
    with pytest.raises(ToolRetry, match=r"ISO 8859-1.*U\+2192"):
        file.encode("é→\n")
    with pytest.raises(ToolRetry, match=r"U\+D800"):
        decode(PLACE, b"a\n").encode("\ud800")
    with pytest.raises(ToolRetry, match=r"U\+D800"):
        new_file(PLACE, "\ud800")


def context(root: Path, **services: object) -> ToolContext:
    return ToolContext((root.resolve(),), node="n", services=services)


async def test_reading_and_what_goes_wrong(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.c").write_text("x\n")
    file = await read_text("src/a.c", context(tmp_path))
    assert (file.text, file.place.name) == ("x\n", "src/a.c")
    for path, said in [
        ("src", "a folder"),
        (".", "a folder"),
        ("src/b.c", "There is no file src/b.c. Similar: a.c."),
        ("src/A.C", "Similar: a.c"),
        ("no/b.c", "its folder does not exist"),
        ("src/a.c/x", "cannot be read|no file"),
        ("  ", "empty"),
        ("../x", "outside"),
        ("a\0b", "is not a valid path"),
    ]:
        with pytest.raises(ToolRetry, match=said):
            await read_text(path, context(tmp_path))


async def test_a_link_leads_to_its_file_inside_only(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("s")
    (root / "a.c").write_text("x\n")
    (root / "link.c").symlink_to("a.c")
    (root / "out.c").symlink_to("../secret")
    (root / "loop").symlink_to("loop")
    assert (await read_text("link.c", context(root))).place.path == "a.c"
    for path in ("out.c", "loop"):
        with pytest.raises(ToolRetry):
            await read_text(path, context(root))


async def test_unsaved_text_wins_unless_it_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(b"x\r\n")
    real = (tmp_path / "a.c").resolve()
    file = await read_text("a.c", context(tmp_path, buffers={real: "x\ny\n"}.get))
    assert file.unsaved and file.text == "x\ny\n" and file.raw == b"x\r\n"
    file = await read_text("a.c", context(tmp_path, buffers={real: "x\r\n"}.get))
    assert not file.unsaved
    file = await read_text("a.c", context(tmp_path, buffers={}.get))
    assert not file.unsaved


def test_names_that_look_alike_are_suggested(tmp_path: Path) -> None:
    (tmp_path / "cafe\u0301.c").write_text("x")
    with pytest.raises(ToolRetry, match="Similar"):
        load(resolve_path("caf\u00e9.c", context(tmp_path)))


def test_a_file_of_another_folder_is_named_whole(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "a.c").write_text("x")
    both = ToolContext((one.resolve(), two.resolve()))
    assert resolve_path("a.c", both).name == "a.c"
    place = resolve_path(str(two / "a.c"), both)
    assert place.number == 1 and resolve_path(place.name, both) == place


@pytest.mark.parametrize(
    "path", ["~/x", "~", "$HOME/x", "file:///tmp/x", "C:\\x", "C:/x", "src\\x.c", "..\\x"]
)
def test_forms_of_other_places_make_no_files(path: str, tmp_path: Path) -> None:
    with pytest.raises(ToolRetry, match="forward slashes"):
        resolve_path(path, context(tmp_path), reading=False)
    assert resolve_path(path, context(tmp_path)).number == 0


def test_odd_names_that_exist_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "a\\b.txt").write_text("x")
    assert resolve_path("a\\b.txt", context(tmp_path), reading=False).path == "a\\b.txt"


def test_an_agent_knows_what_it_has_seen(tmp_path: Path) -> None:
    seen = Seen()
    file = decode(PLACE, b"one\n")
    assert seen.has("n", file) is None
    seen.note("n", file)
    assert seen.has("n", file) and seen.has("other", file) is None
    assert seen.has("n", decode(PLACE, b"two\n")) is False
    seen.note_written("n", PLACE, b"two\n")
    assert seen.has("n", decode(PLACE, b"two\n"))


def test_modes_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text("x\n")
    file.chmod(0o754)
    assert stat.S_IMODE(load(resolve_path("run.sh", context(tmp_path))).mode) == 0o754
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ToolRetry, match="named pipe"):
        load(resolve_path("pipe", context(tmp_path)))
