"""A process that calls functions of one shared object, and what it says of each call."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError

_EXECUTOR = Path(__file__).with_name("executor.py")
_SANITIZER = {
    "ASAN_OPTIONS": "detect_leaks=0:exitcode=99:allocator_may_return_null=1"
    ":detect_stack_use_after_return=0:print_legend=0:verify_asan_link_order=0",
    "UBSAN_OPTIONS": "print_stacktrace=0:exitcode=99",
}
_ARITHMETIC = re.compile(r"^(\S+?):(\d+):(\d+): runtime error: ([^\n]+)", re.MULTILINE)
_MEMORY = re.compile(r"ERROR: AddressSanitizer: ([\w-]+)")
_FRAME = re.compile(r"^    #\d+ 0x\w+ in (\w+) (/\S+?):(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Undefined:
    """Undefined behaviour that a sanitizer saw."""

    what: str
    """In the sanitizer's words, without values and addresses."""
    file: str
    """Absolute; empty when it is not known."""
    line: int
    of_input: bool
    """Whether memory that the harness made was left, so that a length may just have been wrong."""


class Executor:
    """The process; calls are answered in order."""

    def __init__(
        self,
        library: Path,
        data: Mapping[str, int],
        functions: Sequence[str],
        sanitizer: str = "",
    ) -> None:
        """`sanitizer` is the library to be loaded before anything else. Raises `JarvisError` when
        the shared object cannot be loaded."""
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", **_SANITIZER}
        if sanitizer:
            environment["LD_PRELOAD"] = sanitizer
        command = [sys.executable, "-I", "-S", str(_EXECUTOR), str(library)]
        setarch = shutil.which("setarch")
        if sanitizer and setarch is not None:  # else its shadow memory may find its place taken
            command = [setarch, "--addr-no-randomize", *command]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=library.parent,
            start_new_session=True,
        )
        there = self._ask({"data": dict(data), "functions": list(functions)})
        self.functions = frozenset(there["functions"])
        """Functions the shared object has."""
        self.data = frozenset(there["data"])
        """Variables it has."""

    def call(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return what became of a request. Raises `JarvisError` when the process is gone."""
        return self._ask(request)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except (OSError, ValueError):
            line = b""
        if not line:
            self._process.kill()
            _, errors = self._process.communicate()
            said = errors.decode("utf-8", "replace").strip()[-1000:]
            raise JarvisError("The shared object cannot be run: {why}", why=said or "it ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


def undefined_behaviour(answer: Mapping[str, Any]) -> Undefined | None:
    """Undefined behaviour that an answer of the sanitized C tells of."""
    text = str(answer.get("stderr", ""))
    found = _ARITHMETIC.search(text)
    if found is not None:
        words = re.sub(r"-?\b(0x)?[0-9a-f]*\d[0-9a-f.e+]*\b", "N", found[4])
        wild = found[4].startswith(("load of", "store to", "member access", "null pointer"))
        return Undefined(words, found[1], int(found[2]), wild)
    found = _MEMORY.search(text)
    if found is None:
        return None
    frames = [
        match
        for match in _FRAME.finditer(text.partition("located")[0])
        if not match[2].endswith("shim.c")
    ]
    file, line = (frames[0][2], int(frames[0][3])) if frames else ("", 0)
    own = found[1] in ("stack-buffer-overflow", "stack-buffer-underflow", "global-buffer-overflow")
    return Undefined(found[1], file, line, not own)


def sanitizer_library(compiler: str) -> str:
    """Return the library of the address sanitizer; empty when there is none."""
    asked = subprocess.run(
        [compiler, "-print-file-name=libasan.so"],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    path = asked.stdout.strip()
    return os.path.realpath(path) if Path(path).is_absolute() else ""
