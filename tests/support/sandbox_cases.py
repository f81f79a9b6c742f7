"""What every rung of the ladder is put through, also as another user: `python sandbox_cases.py
FOLDER ROUNDS` runs it for all rungs its user can have and prints what came of it as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.edits.file_change import apply_changes
from jarvis_ls.runtime.sandbox.base import Sandbox, SandboxSettings, Script
from jarvis_ls.runtime.sandbox.bwrap import Bubblewrap, find_program, needs_stage
from jarvis_ls.runtime.sandbox.engine import find_engines
from jarvis_ls.runtime.sandbox.landlock import Landlock, missing
from jarvis_ls.runtime.sandbox.proof import prove

BY_USERS = ("bwrap", "bwrap-direct", "landlock")
RUNGS = ("engine", *(rung for rung in BY_USERS if os.geteuid() != 0 or rung != "bwrap-direct"))
"""Root never starts bubblewrap directly."""
NAMES = ("a", "b.txt", "d", "d/x", "d/y z", "d/e", "d/e/f", "Ünï", "n'q", "-dash", "link", "s")


def sandboxes(home: Path, settings: SandboxSettings | None = None) -> dict[str, Sandbox | str]:
    """Every rung this user can have by a name; why not, for those that cannot be."""
    settings = settings or SandboxSettings()
    found: dict[str, Sandbox | str] = {}
    program = find_program()
    for name, stage in (("bwrap", True), ("bwrap-direct", False)):
        if not program:
            found[name] = "bubblewrap is not installed"
        elif not stage and needs_stage():
            found[name] = "root never starts bubblewrap directly"
        else:
            found[name] = Bubblewrap(home, settings, program=program, stage=stage, overlay=stage)
    try:
        found["engine"] = find_engines(home, settings)[0]
    except JarvisError as error:
        found["engine"] = str(error)
    found["landlock"] = missing() or Landlock(home, settings)
    return found


def start(folder: Path) -> None:
    """The workspace before a script runs."""
    for name in ("a", "b.txt", "d/x", "d/y z", "d/e/f", "Ünï", "n'q"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"{name}\r\nsecond\nno end".encode())
    (folder / "link").symlink_to("d")
    (folder / "d/e/f").chmod(0o755)


def mutations(chance: random.Random) -> str:
    """A shell script that changes the workspace in ways that are hard to follow."""

    def one() -> str:
        x, y = (f"'./{name}'".replace("n'q", "n'\\''q") for name in chance.choices(NAMES, k=2))
        return chance.choice(
            [
                f"echo changed >> {x}",
                f"printf 'no end' > {x}",
                f"printf 'a\\r\\nb\\r\\n' > {x}",
                f"printf '\\000\\001\\377' > {x}",
                f"true > {x}",
                f"rm -rf {x}",
                f"rm -f {x}",
                f"mv {x} {y}",
                f"test -d {x} || cp {x} {y}",
                f"ln -sfn {y} {x}",
                f"ln -s /nonexistent/x {x}",
                f"rm -rf {x}; mkdir -p {x}; echo in > {x}/in",
                f"mkdir -p {x}/deep/er",
                f"rm -rf {x}; echo file > {x}",
                f"ln {x} {y}",
                f"sed -i s/second/2/ {x}",
                "mkfifo ./pipe",
                f"chmod 700 {x}",
                f"test -d {x} || chmod 644 {x}",
            ]
        )

    return "\n".join(one() for _ in range(chance.randint(1, 10))) + "\ntrue\n"


def picture(root: Path) -> dict[str, Any]:
    """Files and links below a folder."""
    found: dict[str, Any] = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = Path(folder, name)
            status = path.lstat()
            where = str(path.relative_to(root))
            if stat.S_ISLNK(status.st_mode):
                found[where] = ("link", str(path.readlink()))
            elif stat.S_ISREG(status.st_mode):
                found[where] = ("file", status.st_mode & 0o100, path.read_bytes())
    return found


async def round_trip(sandbox: Sandbox, folder: Path, seed: int) -> str:
    """Run a script in the sandbox, carry its changes over, and compare with what it does to a
    copy directly; what differs, in words."""
    shutil.rmtree(folder, ignore_errors=True)
    root, twin = folder / "work", folder / "twin"
    root.mkdir(parents=True)
    start(root)
    shutil.copytree(root, twin, symlinks=True)
    script = mutations(random.Random(seed))
    before = picture(root)
    ran = await sandbox.run(Script("sh", script, 30), [root])
    if ran.exit != 0:
        return f"{ran.output} {ran.ended}"
    if picture(root) != before:
        return "the script wrote into the workspace itself"
    subprocess.run(["sh", "-c", script], cwd=twin, capture_output=True, check=False, umask=0o022)
    if problems := apply_changes(ran.changes, [root]):
        return f"{script}\n{problems}"
    if picture(root) == picture(twin):
        return ""
    return f"{script}\n{picture(root)}\n{picture(twin)}"


async def everything(folder: Path, rounds: int) -> dict[str, Any]:
    """Proof and round trips of all rungs."""
    results: dict[str, Any] = {}
    for name, sandbox in sandboxes(folder / "home").items():
        if isinstance(sandbox, str):
            results[name] = {"skipped": sandbox}
            continue
        proof = await prove(sandbox, seconds=1)
        root = folder / f"work-{name}"
        root.mkdir(exist_ok=True)
        ran = await sandbox.run(Script("sh", "id -u", 20), [root])
        (root / ".gitignore").write_text("made/\n")
        build = "mkdir -p sub/made; echo 1 >>sub/made/n; cat sub/made/n; rm -rf sub/made/old"
        (root / "sub").mkdir(exist_ok=True)
        builds = [await sandbox.run(Script("sh", build, 20), [root]) for _ in range(3)]
        wrong = [await round_trip(sandbox, folder / "round", seed) for seed in range(rounds)]
        results[name] = {
            "tried": len(proof.tried),
            "reason": proof.reason,
            "isolation": ran.isolation,
            "user": ran.output.strip(),
            "kept": builds[-1].output,
            "made": len(builds[-1].changes) + (root / "sub/made").exists(),
            "wrong": [one for one in wrong if one],
        }
    return results


def other_users_python() -> Iterator[str]:
    """Interpreters that a user without rights might be able to run."""
    yield sys.executable
    yield "/usr/bin/python3"


if __name__ == "__main__":
    print(json.dumps(asyncio.run(everything(Path(sys.argv[1]), int(sys.argv[2])))))
