"""Skills from archives: good ones are unpacked, hostile ones leave nothing behind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.skills.install import unpack_skill
from jarvis_ls.runtime.skills.skills import Skills

SKILL = b"---\nname: good\ndescription: d\n---\nText\n"
Files = dict[str, bytes]


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name or "/", data)
    return buffer.getvalue()


def tarred(files: Files, pack: Callable[[bytes], bytes] = bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return pack(buffer.getvalue())


def special(**values: object) -> bytes:
    """A tar with a good skill, and one member that is something else."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("good/SKILL.md")
        info.size = len(SKILL)
        archive.addfile(info, io.BytesIO(SKILL))
        other = tarfile.TarInfo("good/other")
        for name, value in values.items():
            setattr(other, name, value)
        archive.addfile(other)
    return buffer.getvalue()


def linked_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("good/SKILL.md", SKILL)
        info = zipfile.ZipInfo("good/link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    return buffer.getvalue()


def lying_zip() -> bytes:
    """Says that a large member is small."""
    data = bytearray(zipped({"good/SKILL.md": SKILL, "good/x": b"\0" * 40_000_000}))
    for signature, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = data.rfind(signature)
        data[place + at : place + at + 4] = struct.pack("<I", 10)
    return bytes(data)


def encrypted_zip() -> bytes:
    data = bytearray(zipped({"good/SKILL.md": SKILL}))
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def overlapping_zip() -> bytes:
    """Many entries that share one body, as the better zip bombs do."""
    body = zlib.compress(b"\0" * 1_000_000, 9)[2:-4]
    crc = zlib.crc32(b"\0" * 1_000_000)
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 0, crc, len(body), 10**6, 1, 0)
    out = local + b"a" + body
    directory = b"".join(
        struct.pack(
            "<4s6H3L5H2L",
            b"PK\x01\x02",
            20,
            20,
            0,
            8,
            0,
            0,
            crc,
            len(body),
            10**6,
            4,
            0,
            0,
            0,
            0,
            0,
            0,
        )
        + f"{n:04d}".encode()
        for n in range(1500)
    )
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1500, 1500, len(directory), len(out), 0)
    return out + directory + end


BOMB = {"good/SKILL.md": SKILL, "good/x": b"\0" * 45_000_000}
BIG = {"good/SKILL.md": SKILL, "good/x": os.urandom(1000) * 52_000}
HOSTILE: dict[str, Callable[[], bytes]] = {
    "bomb.zip": lambda: zipped(BOMB),
    "bomb.tar.gz": lambda: tarred(BOMB, gzip.compress),
    "bomb.tar.bz2": lambda: tarred(BOMB, bz2.compress),
    "bomb.tar.xz": lambda: tarred(BOMB, lzma.compress),
    "endless.tar.gz": lambda: gzip.compress(b"\0" * 200_000_000, 1),
    "large.zip": lambda: zipped(BIG, zipfile.ZIP_STORED),
    "lying.zip": lying_zip,
    "overlapping.zip": overlapping_zip,
    "encrypted.zip": encrypted_zip,
    "odd-method.zip": lambda: zipped({"good/SKILL.md": SKILL}, zipfile.ZIP_LZMA),
    "link.zip": linked_zip,
    "link.tar": lambda: special(type=tarfile.SYMTYPE, linkname="/etc/passwd"),
    "hard.tar": lambda: special(type=tarfile.LNKTYPE, linkname="../../../etc/passwd"),
    "device.tar": lambda: special(type=tarfile.CHRTYPE, devmajor=1, devminor=3),
    "pipe.tar": lambda: special(type=tarfile.FIFOTYPE),
    "up.zip": lambda: zipped({"good/SKILL.md": SKILL, "../../evil": b"x"}),
    "up.tar": lambda: tarred({"good/SKILL.md": SKILL, "good/../../evil": b"x"}),
    "absolute.zip": lambda: zipped({"/tmp/evil": b"x", "good/SKILL.md": SKILL}),
    "absolute.tar": lambda: tarred({"/tmp/evil": b"x", "good/SKILL.md": SKILL}),
    "drive.zip": lambda: zipped({"C:/evil": b"x", "good/SKILL.md": SKILL}),
    "backslash.tar": lambda: tarred({"good\\..\\..\\evil": b"x", "good/SKILL.md": SKILL}),
    "reserved.tar": lambda: tarred({"good/NUL.txt": b"x", "good/SKILL.md": SKILL}),
    "control.tar": lambda: tarred({"good/a\nb": b"x", "good/SKILL.md": SKILL}),
    "twice.tar": lambda: tarred({"good/SKILL.md": SKILL, "good/skill.md": b"other"}),
    "file-and-folder.tar": lambda: tarred({"good/SKILL.md": SKILL, "good/a": b"", "good/a/b": b""}),
    "many.zip": lambda: zipped({"good/SKILL.md": SKILL, **{f"good/{n}": b"" for n in range(2500)}}),
    "many.tar": lambda: tarred({"good/SKILL.md": SKILL, **{f"good/{n}": b"" for n in range(2500)}}),
    "no-skill.zip": lambda: zipped({"readme.md": b"x"}),
    "two.zip": lambda: zipped({"a/SKILL.md": SKILL, "b/SKILL.md": SKILL}),
    "hidden.zip": lambda: zipped({".git/SKILL.md": SKILL}),
    "empty.zip": lambda: zipped({}),
    "torn.zip": lambda: zipped({"good/SKILL.md": SKILL * 100})[:-30],
    "torn.tar.gz": lambda: tarred({"good/SKILL.md": SKILL * 100}, gzip.compress)[:-20],
    "nothing.tar": lambda: b"",
    "text.zip": lambda: b"PK\x03\x04 nonsense",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    archive = tmp_path / name
    archive.write_bytes(HOSTILE[name]())
    skills = tmp_path / "home/skills"
    skills.mkdir(parents=True)
    before = sorted(p for p in tmp_path.rglob("*"))
    with pytest.raises(UsageError):
        unpack_skill(archive, skills)
    assert sorted(p for p in tmp_path.rglob("*")) == before
    assert not Path("/tmp/evil").exists()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.zip", zipped({"good/SKILL.md": SKILL, "good/a/b.md": b"more"})),
        ("good.skill", zipped({"SKILL.md": SKILL, "a/b.md": b"more"})),
        ("x.tar", tarred({"./good/SKILL.md": SKILL, "good/a/b.md": b"more"})),
        ("good.tar.gz", tarred({"SKILL.md": SKILL, "a/b.md": b"more"}, gzip.compress)),
        ("x.tbz2", tarred({"good/SKILL.md": SKILL, "good/a/b.md": b"more"}, bz2.compress)),
        ("x.tar.xz", tarred({"good/SKILL.md": SKILL, "good/a/b.md": b"more"}, lzma.compress)),
    ],
)
async def test_a_good_archive_becomes_a_skill(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    skills = Skills(tmp_path / "home")
    skill = await skills.install(tmp_path / name)
    assert skill.name == "good" and skill.folder.name == "good"
    assert skill.audit.files == ("SKILL.md", "a/b.md") and "Text" in await skills.load("good")
    with pytest.raises(UsageError, match="already"):
        await skills.install(tmp_path / name)
    (tmp_path / "new.zip").write_bytes(zipped({"good/SKILL.md": SKILL + b"New"}))
    await skills.install(tmp_path / "new.zip", replace=True)
    assert "New" in await skills.load("good")
    assert [p.name for p in (tmp_path / "home/skills").iterdir()] == ["good"]


async def test_what_is_no_skill_inside_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(zipped({"bad/SKILL.md": b"no front matter"}))
    with pytest.raises(UsageError, match="front matter"):
        await Skills(tmp_path / "home").install(tmp_path / "x.zip")
    with pytest.raises(UsageError, match="cannot be read"):
        await Skills(tmp_path / "home").install(tmp_path / "none.zip")


parts = st.sampled_from(["..", ".", "", "a", "good", "con", "C:", "~", "SKILL.md", "\\", "b "])
names = st.lists(parts, min_size=1, max_size=4).map("/".join)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(["x.zip", "x.tar"]), st.dictionaries(names, st.just(SKILL), max_size=4))
def test_no_archive_writes_outside(tmp_path: Path, name: str, files: Files) -> None:
    pack = zipped if name.endswith("zip") else tarred
    (tmp_path / name).write_bytes(pack(files))
    skills = tmp_path / "home/skills"
    skills.mkdir(parents=True, exist_ok=True)
    outside = {p for p in tmp_path.rglob("*") if skills not in p.parents}
    try:
        made = unpack_skill(tmp_path / name, skills, replace=True)
    except UsageError:
        pass
    else:
        assert made.parent == skills and (made / "SKILL.md").is_file()
    assert {p for p in tmp_path.rglob("*") if skills not in p.parents} == outside
    assert not [p for p in skills.iterdir() if p.name.startswith(".")]
