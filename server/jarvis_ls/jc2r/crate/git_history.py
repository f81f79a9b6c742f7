"""The crate's own history in git: one commit for each file that was translated.

The repository is in the crate and is ours alone: no hook, template or setting of the user takes
part, and no other repository is touched, not even when the crate is inside one. A crate that the
user has put under git keeps that repository and gets no commits from us.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file

NO_GIT = "git was not found: the crate has no history with a commit for each file."
SECONDS = 120
"""How long one command of git may take."""
_OWN = "jc2r.own"
_HARMLESS = re.compile(
    r"jc2r\.own|user\.(?:name|email)|branch\..*|remote\..*\.(?:url|fetch|pushurl)"
    r"|core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|symlinks|ignorecase"
    r"|precomposeunicode|worktree)",
    re.DOTALL,
)
"""Settings of a repository that let nothing run when something is added to it and committed."""
_HEAD = "//! "
_HALF = re.compile(r"\.(?:\.gitignore|Cargo\.toml|build\.rs)\.\w{8}")
_IGNORED = b"/target\n"
_LOCKS = ("index.lock", "HEAD.lock", "refs/heads/main.lock", "config.lock")


class History:
    """The repository of one crate."""

    def __init__(self, crate: Path) -> None:
        """Open the repository of the crate. Raises `JarvisError` when git cannot make it."""
        self._crate = crate
        self._folder = crate / ".git"
        self._git = shutil.which("git")
        self.is_kept = self._git is not None and self._is_ours_or_new()
        """Whether commits are made: there is a git, and no repository of the user's own."""
        if self.is_kept:
            self._prepare()

    def commit(self, paths: Iterable[str], message: str) -> bool:
        """Keep the state of `paths` (relative, missing ones as deleted); whether that changed
        anything. Raises `JarvisError` with what git said."""
        if not self.is_kept:
            return False
        known = set(self._run("ls-files", "-z").split("\0"))
        wanted = [path for path in paths if (self._crate / path).exists() or _is_known(path, known)]
        if not wanted:
            return False
        self._run("add", "--all", "--force", "--", *wanted)
        # These alone, whatever a killed run or the user has staged besides.
        names = self._run("diff", "--cached", "--name-only", "-z", *self._base(), "--", *wanted)
        changed = [name for name in names.split("\0") if name]
        if not changed:
            return False
        self._run(
            "commit", "--quiet", "--no-verify", "--message", message, "--only", "--", *changed
        )
        return True

    def head(self) -> str:
        """Return the id of the last commit; empty when there is none."""
        if not self.is_kept:
            return ""
        done = self._call("rev-parse", "--verify", "--quiet", "HEAD")
        return done.stdout.strip() if done.returncode == 0 else ""

    def _base(self) -> list[str]:
        """Return what the index is compared with: nothing, before the first commit."""
        return ["HEAD"] if self.head() else []

    def _is_ours_or_new(self) -> bool:
        if not self._folder.exists() and not self._folder.is_symlink():
            return True
        if self._folder.is_symlink() or not self._folder.is_dir():
            return False
        if self._call("config", "--local", "--get", _OWN).stdout.strip() != "true":
            return False
        names = self._call("config", "--local", "--list", "--name-only", "-z").stdout.split("\0")
        return all(_HARMLESS.fullmatch(name) for name in names if name)

    def _prepare(self) -> None:
        if not self._folder.exists():
            self._make()
        for name in _LOCKS:  # a run that was killed; no one else writes here
            (self._folder / name).unlink(missing_ok=True)
        for path in self._crate.iterdir():  # what a killed run was about to put in place
            if _HALF.fullmatch(path.name) and path.is_file():
                path.unlink(missing_ok=True)
        ignored = self._crate / ".gitignore"
        if not ignored.exists():
            replace_file(ignored, _IGNORED)

    def _make(self) -> None:
        """Make a repository; it is marked as ours before it has its name."""
        final = self._folder
        self._folder = self._crate / ".git-jc2r"
        shutil.rmtree(self._folder, ignore_errors=True)
        try:
            self._run("init", "--quiet", "--template=", "--initial-branch=main")
            self._run("config", "--local", _OWN, "true")
            self._folder.rename(final)
        except OSError as error:
            raise JarvisError(f"{final}: {error.strerror}") from None
        finally:
            self._folder = final

    def _run(self, *words: str) -> str:
        done = self._call(*words)
        if done.returncode != 0:
            raise JarvisError(
                "git {words} failed in {crate}: {said}",
                words=words[0],
                crate=self._crate,
                said=done.stderr.strip()[:500],
            )
        return done.stdout

    def _call(self, *words: str) -> subprocess.CompletedProcess[str]:
        assert self._git is not None
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_")
        }
        environment |= {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
            "GIT_DIR": str(self._folder),
            "GIT_WORK_TREE": str(self._crate),
            "GIT_AUTHOR_NAME": "jc2r",
            "GIT_AUTHOR_EMAIL": "jc2r@localhost",
            "GIT_COMMITTER_NAME": "jc2r",
            "GIT_COMMITTER_EMAIL": "jc2r@localhost",
        }
        command = [
            self._git,
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "gc.auto=0",
            "-c",
            "commit.gpgSign=false",
            *words,
        ]
        try:
            return subprocess.run(
                command,
                cwd=self._crate,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise JarvisError(
                "git {words} in {crate}: {error}", words=words[0], crate=self._crate, error=error
            ) from None


def commit_baseline(crate: Path) -> str:
    """Commit what a translation wrote: what all share, then what came from each C file, as the
    first line of its module says. Returns why that is not possible here; empty when it is done, or
    the crate has a history of the user's own. Raises `JarvisError`."""
    history = History(crate)
    if not history.is_kept:
        return "" if shutil.which("git") else NO_GIT
    modules = []
    for path in [*(crate / "src").glob("*.rs"), *(crate / "src" / "bin").glob("*.rs")]:
        first = path.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
        if first.startswith(_HEAD) and Path(first[len(_HEAD) :]).suffix:
            modules.append((first[len(_HEAD) :], path.stem))
    shared = [
        ".gitignore",
        "Cargo.toml",
        "Cargo.lock",
        "rustfmt.toml",
        "build.rs",
        "src/lib.rs",
        "src/types.rs",
        "src/sys.rs",
    ]
    history.commit(shared, "Crate: types, what the system offers, how it is built")
    for file, module in sorted(modules):
        paths = [f"src/{module}.rs", f"src/bin/{module}.rs", f"c/{file}"]
        history.commit(paths, f"Baseline of {file}")
    history.commit(["src", "c"], "Headers and files that went away")
    return ""


def _is_known(path: str, known: set[str]) -> bool:
    return path in known or any(name.startswith(f"{path}/") for name in known)
