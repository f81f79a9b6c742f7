"""The copy of a crate that passes are tried on: its files, read, written and put back."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.crate.vendor import VENDOR, share_vendored
from jarvis_ls.jc2r.lift.rust import Source, parse_source, read_sources
from jarvis_ls.jc2r.translate.manifest import format_source


class CrateCopy:
    """Modules and programs of one crate; a file that has not changed is not parsed again."""

    def __init__(self, path: Path) -> None:
        """`path` is its folder."""
        self.path = path
        self._parsed: dict[Path, Source] = {}

    def sources(self) -> list[Source]:
        """Return the files as they are."""
        return read_sources(self.path, self._parsed)

    def texts(self) -> dict[Path, bytes]:
        """Return the text of each file."""
        return {source.path: source.data for source in self.sources()}

    def left_in_c(self) -> list[bytes]:
        """Return the text of each file of C that is built into the crate."""
        return [path.read_bytes() for path in (self.path / "c").rglob("*") if path.is_file()]

    def write(self, path: Path, data: bytes) -> None:
        """Give a file another text, formatted, unless that cannot be parsed."""
        if parse_source(path, data).root.has_error or path.read_bytes() == data:
            return
        replace_file(path, format_source(data.decode()).encode())

    def write_all(self, texts: Mapping[int, bytes]) -> None:
        """Give files other texts, by their place in `sources`."""
        sources = self.sources()
        for number, data in texts.items():
            self.write(sources[number].path, data)

    def restore(self, texts: Mapping[Path, bytes]) -> None:
        """Put texts back as they were."""
        for path, data in texts.items():
            if path.read_bytes() != data:
                replace_file(path, data)


def duplicate_crate(crate: Path, folder: Path) -> Path:
    """Return a fresh copy of a crate below `folder`; what was built in it before stays. Raises
    `JarvisError`."""
    copy = folder / crate.name
    for old in (copy / name for name in ("src", "c", "tests")):
        shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        ignored = shutil.ignore_patterns("target", ".git", VENDOR)
        # cargo takes a file that is older than what was built of it for unchanged
        shutil.copytree(
            crate,
            copy,
            dirs_exist_ok=True,
            symlinks=True,
            ignore=ignored,
            copy_function=shutil.copy,
        )
    except (OSError, shutil.Error) as error:
        raise JarvisError(
            "The crate cannot be copied to {folder}: {error}", folder=copy, error=error
        ) from None
    share_vendored(crate, copy)
    return copy
