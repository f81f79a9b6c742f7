"""Calls functions of one shared object, each call in a child process: a program of its own.

Run as `python executor.py LIBRARY` with nothing of the package imported, so that a child is made in
a millisecond. The first line on standard input is the set-up `{"data": {symbol: size}, "functions":
[symbol]}`; every other line is a request, answered by one line. Requests hold

- `symbol`, `result` and `arguments`: types are `i4`, `u8`, `f8`, `b1`, `p`, `v` or
  `["s", [type, …]]` for a structure; arguments are `[type, value]`. The value of a pointer is null,
  `[block, offset]`, `{"function": symbol}` or `{"file": number}`;
- `steps`: calls before that one, each `symbol`, `result` and `arguments`; the value of a pointer
  may be `{"made": number}`, what a step has returned, or `{"held": [block, offset]}`, what a step
  has put there; a step `{"turn": [block, offset, mask]}` turns bits of a byte over, and
  `{"put": [block, offset, hex]}` sets bytes;
- `blocks`: memory to be made, `{"data": hex, "pointers": [[offset, pointer]], "holes": [[offset,
  length]]}`; holes (padding) are not compared;
- `files`: what the streams hold that pointers represent, in hex; they can be read and written;
- `pokes`: `[symbol, offset, hex]`, bytes of variables to be set before the call;
- `large`: variables of more than 4096 bytes to be examined; smaller ones always are;
- `seconds`: how long it may take.

An answer says how it ended (`returned`, `exit N`, `signal N`, `timeout`), the result, errno, what
was printed, what streams hold and where they are, and every word that changed in what can be
reached. Addresses are named by what they are in, so that two libraries can be compared.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import struct
import sys
from pathlib import Path
from typing import Any

PRINTED = 8192
"""Bytes of output that are kept of each stream."""
MOST_WORDS = 20000
"""Changed words that are shown for one region."""
MOST_REGIONS = 2000
PAGE = 4096
STREAM = 216
"""Bytes of a `FILE` of glibc."""
FRESH = b"\xa5" * PAGE
"""What the shim fills new memory with."""
_C = {
    "i1": ctypes.c_int8,
    "i2": ctypes.c_int16,
    "i4": ctypes.c_int32,
    "i8": ctypes.c_int64,
    "u1": ctypes.c_uint8,
    "u2": ctypes.c_uint16,
    "u4": ctypes.c_uint32,
    "u8": ctypes.c_uint64,
    "f4": ctypes.c_float,
    "f8": ctypes.c_double,
    "b1": ctypes.c_bool,
    "p": ctypes.c_void_p,
    "v": None,
}


class _Allocation(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("size", ctypes.c_size_t), ("freed", ctypes.c_int))


class Library:
    """The shared object with its variables and functions by address."""

    def __init__(self, path: str, setup: Any) -> None:
        self.handle = ctypes.CDLL(path, use_errno=True, mode=os.RTLD_LAZY)
        self.data: dict[str, tuple[int, int]] = {}
        """Address and size of variables."""
        for name, size in setup["data"].items():
            with contextlib.suppress(ValueError):
                self.data[name] = (ctypes.addressof(ctypes.c_char.in_dll(self.handle, name)), size)
        self.functions: dict[int, str] = {}
        for name in setup["functions"]:
            with contextlib.suppress(ValueError):
                address = ctypes.addressof(ctypes.c_char.in_dll(self.handle, name))
                self.functions.setdefault(address, name)
        self.by_name = {name: address for address, name in self.functions.items()}
        for name in setup["functions"]:
            with contextlib.suppress(ValueError):
                self.by_name[name] = ctypes.addressof(ctypes.c_char.in_dll(self.handle, name))
        self.handle.harness_allocate.restype = ctypes.c_void_p
        self.handle.harness_allocate.argtypes = [ctypes.c_size_t]
        self.images = _images(path)
        self.allocations = (_Allocation * 65536).in_dll(self.handle, "harness_allocations")
        self.count = ctypes.c_int.in_dll(self.handle, "harness_count")


def _images(path: str) -> list[tuple[int, int, str]]:
    """Files that are mapped: (start, end, name); the library under test is called `self`. What is
    right behind one and has no name are its variables that begin as zeros."""
    found: dict[str, tuple[int, int]] = {}
    real = os.path.realpath(path)
    name, before = "", 0
    with Path("/proc/self/maps").open() as maps:
        for line in maps:
            words = line.split()
            start, end = (int(word, 16) for word in words[0].split("-"))
            if len(words) > 5:
                file = words[5] if words[5].startswith(("/", "[stack")) else ""
                name = "self" if os.path.realpath(file or "/") == real else Path(file).name
            elif start != before or not words[1].startswith("rw"):
                name = ""
            if name:
                low, high = found.get(name, (start, end))
                found[name] = (min(low, start), max(high, end))
            before = end
    return sorted((low, high, name) for name, (low, high) in found.items())


class Call:
    """One request, carried out in the child."""

    def __init__(self, library: Library, request: Any) -> None:
        self.library, self.request = library, request
        self.regions: list[list[Any]] = []
        """Start, size, name, bytes before, holes."""
        self.named: dict[int, str] = {}
        """Names of allocations that were met, by address."""
        self.queue: list[tuple[int, int, str]] = []
        """Allocations that were met and not examined."""
        self.memory = os.open("/proc/self/mem", os.O_RDONLY)
        self.files = [_stream(bytes.fromhex(content)) for content in request.get("files", ())]
        """Descriptor and address of each stream."""
        self.made: list[Any] = []
        """What the steps have returned."""

    def run(self) -> dict[str, Any]:
        """Call the function; what became of it."""
        blocks = self._make_blocks()
        for name, (address, size) in self.library.data.items():
            if size <= PAGE or name in self.request["large"]:
                self.regions.append([address, size, name, None, ()])
        for name, offset, data in self.request["pokes"]:
            start, size = self.library.data.get(name, (0, 0))
            if offset + len(data) // 2 <= size:
                ctypes.memmove(start + offset, bytes.fromhex(data), len(data) // 2)
        for region in self.regions:
            region[3] = ctypes.string_at(region[0], region[1])
        made = self.library.count.value
        for step in self.request.get("steps", ()):
            self.made.append(self._call(step, blocks) if "symbol" in step else None)
            if turned := step.get("turn"):
                self._turn(blocks[turned[0]] + turned[1], turned[2])
            elif put := step.get("put"):
                data = bytes.fromhex(put[2])
                ctypes.memmove(blocks[put[0]] + put[1], data, len(data))
        result = self._call(self.request, blocks)
        code = ctypes.get_errno()
        ctypes.CDLL(None).fflush(None)
        return self._answer_of(result, code, made)

    def _turn(self, address: int, mask: int) -> None:
        byte = ctypes.c_uint8.from_address(address)
        byte.value ^= mask

    def _call(self, asked: Any, blocks: list[int]) -> Any:
        function = ctypes.CFUNCTYPE(
            _type(asked["result"]), *(_type(kind) for kind, _ in asked["arguments"]), use_errno=True
        )(self.library.by_name[asked["symbol"]])
        arguments = [self._argument(kind, value, blocks) for kind, value in asked["arguments"]]
        ctypes.set_errno(0)
        return function(*arguments)

    def _make_blocks(self) -> list[int]:
        starts = []
        for number, block in enumerate(self.request["blocks"]):
            data = bytes.fromhex(block["data"])
            start = self.library.handle.harness_allocate(len(data))
            ctypes.memmove(start, data, len(data))
            starts.append(start)
            self.regions.append([start, len(data), f"block {number}", None, block["holes"]])
        for start, block in zip(starts, self.request["blocks"], strict=True):
            for offset, pointer in block["pointers"]:
                value = struct.pack("<Q", self._address(pointer, starts))
                ctypes.memmove(start + offset, value, 8)
        return starts

    def _address(self, pointer: Any, starts: list[int]) -> int:
        if pointer is None:
            return 0
        if isinstance(pointer, list):
            return int(starts[pointer[0]] + pointer[1])
        ((kind, value),) = pointer.items()
        if kind == "made":
            return int(self.made[value] or 0)
        if kind == "held":
            return int(ctypes.c_uint64.from_address(starts[value[0]] + value[1]).value)
        return int(self.files[value][1] if kind == "file" else self.library.by_name[value])

    def _argument(self, kind: Any, value: Any, starts: list[int]) -> Any:
        if kind == "p":
            return self._address(value, starts)
        if isinstance(kind, list):
            made = _type(kind)()
            data = bytes.fromhex(value["data"])
            ctypes.memmove(ctypes.addressof(made), data, min(len(data), ctypes.sizeof(made)))
            for offset, pointer in value["pointers"]:
                word = struct.pack("<Q", self._address(pointer, starts))
                ctypes.memmove(ctypes.addressof(made) + offset, word, 8)
            return made
        if kind.startswith("f"):
            return struct.unpack("<d", bytes.fromhex(value))[0]
        return value

    def _look(self, made: int) -> None:
        """Learn where everything is after the call; `made` allocations were there before."""
        count = self.library.count.value
        known = [
            (block.start, block.size, bool(block.freed), number)
            for number, block in enumerate(self.library.allocations[:count])
        ]
        self.allocated = sorted(known)
        self.starts = [block[0] for block in self.allocated]
        streams = [
            (start, STREAM, f"file {number}") for number, (_, start) in enumerate(self.files)
        ]
        regions = [(start, size, name) for start, size, name, _, _ in self.regions]
        self.region_list = sorted([*regions, *streams])
        self.region_starts = [block[0] for block in self.region_list]
        self.freed = {start for start, _, freed, number in known if freed and number < made}

    def _answer_of(self, result: Any, code: int, made: int) -> dict[str, Any]:
        self._look(made)
        kind = self.request["result"]
        answer: dict[str, Any] = {"end": "returned", "errno": code, "memory": {}}
        if isinstance(kind, list):
            data = ctypes.string_at(ctypes.addressof(result), ctypes.sizeof(result))
            answer["result"] = self._words(data, b"", ())
        elif kind == "p":
            answer["result"] = self._name(result or 0, True)
        elif kind.startswith("f"):
            answer["result"] = "nan" if result != result else struct.pack("<d", result).hex()
        else:
            answer["result"] = result
        answer["files"] = [
            [os.pread(file, PRINTED, 0).hex(), os.lseek(file, 0, os.SEEK_CUR)]
            for file, _ in self.files
        ]
        for step, value in zip(self.request.get("steps", ()), self.made, strict=True):
            if step.get("result") == "p":
                self._name(value or 0, True)  # it is examined, whatever came of it
        memory = answer["memory"]
        for start, size, name, before, holes in self.regions:
            if start in self.freed and name.startswith("block"):
                memory[name] = "freed"
                continue
            after = ctypes.string_at(start, size)
            if after != before:
                changed = self._words(after, before, holes)
                if changed:
                    memory[name] = changed
        while self.queue and len(memory) < MOST_REGIONS:
            start, size, name = self.queue.pop(0)
            memory[name] = self._words(ctypes.string_at(start, size), None, ())
        return answer

    def _words(self, after: bytes, before: bytes | None, holes: Any) -> list[tuple[int, str]]:
        """Words that are not what they were, as [offset, value]; `before` is None for memory
        that was allocated by the call."""
        if holes:
            after, before = _without(after, holes), _without(before or b"", holes)
        found: list[tuple[int, str]] = []
        for page in range(0, len(after), PAGE):
            new = after[page : page + PAGE]
            old = FRESH[: len(new)] if before is None else before[page : page + PAGE]
            if new == old:
                continue
            for offset in range(0, len(new), 8):
                word = new[offset : offset + 8]
                if word == old[offset : offset + 8]:
                    continue
                name = None
                if len(word) == 8:
                    name = self._name(int.from_bytes(word, "little"), False)
                found.append((page + offset, word.hex() if name is None else name))
            if len(found) >= MOST_WORDS:
                break
        return found

    def _name(self, value: int, pointer: bool) -> str | None:
        """Return how an address is called in every library; None for what is no address."""
        if value == 0 and pointer:
            return "null"
        if value < 65536:
            return str(value) if pointer else None
        name = self.library.functions.get(value)
        if name is not None:
            return f"function {name}"
        at = bisect.bisect_right(self.region_starts, value) - 1
        if at >= 0:
            start, size, name = self.region_list[at]
            if value <= start + size:
                return f"{name}+{value - start}"
        at = bisect.bisect_right(self.starts, value) - 1
        if at >= 0:
            start, size, freed, _ = self.allocated[at]
            if value <= start + size:
                if start not in self.named:
                    self.named[start] = f"allocation {len(self.named)}"
                    if not freed:
                        self.queue.append((start, size, self.named[start]))
                return f"{self.named[start]}{' freed' if freed else ''}+{value - start}"
        for low, high, image in self.library.images:
            if low <= value < high:
                if image == "self":
                    return "text " + self._text(value)
                if image.startswith("[stack"):
                    return "stack"
                return f"{image}+{value - low}"
        return "elsewhere" if pointer else None

    def _text(self, address: int) -> str:
        with contextlib.suppress(OSError):
            return os.pread(self.memory, 80, address).split(b"\0")[0].hex()
        return ""


def _stream(data: bytes) -> tuple[int, int]:
    """Return a stream of the system over memory; its descriptor here outlives a `fclose`."""
    file = os.memfd_create("stream")
    os.write(file, data)
    os.lseek(file, 0, os.SEEK_SET)
    system = ctypes.CDLL(None)
    system.fdopen.restype = ctypes.c_void_p
    return file, int(system.fdopen(os.dup(file), b"r+b"))


def _without(data: bytes, holes: Any) -> bytes:
    changed = bytearray(data)
    for offset, length in holes:
        changed[offset : offset + length] = bytes(length)
    return bytes(changed)


def _type(kind: Any) -> Any:
    if isinstance(kind, list):
        fields = [(f"m{number}", _member(member)) for number, member in enumerate(kind[1])]
        return type("S", (ctypes.Structure,), {"_fields_": fields})
    return _C[kind]


def _member(kind: Any) -> Any:
    if isinstance(kind, list) and kind[0] == "a":
        return _member(kind[1]) * kind[2]
    return _type(kind)


def answer(library: Library, line: bytes) -> str:
    """Carry out one request in a child and say how it ended."""
    request = json.loads(line)
    out, err = os.memfd_create("out"), os.memfd_create("err")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _be_child(library, request, read, write, out, err)
    os.close(write)
    told, timed_out = _collect(read, child, request["seconds"])
    _, status = os.waitpid(child, 0)
    found: dict[str, Any] = {"end": "", "memory": {}}
    if timed_out:
        found["end"] = "timeout"
    elif os.WIFSIGNALED(status):
        found["end"] = f"signal {os.WTERMSIG(status)}"
    elif told:
        found = json.loads(told)
    else:
        found["end"] = f"exit {os.WEXITSTATUS(status)}"
    for name, descriptor in (("stdout", out), ("stderr", err)):
        found[name] = os.pread(descriptor, PRINTED, 0).decode("latin-1")
        os.close(descriptor)
    return json.dumps(found)


def _be_child(library: Library, request: Any, read: int, write: int, out: int, err: int) -> None:
    try:
        os.close(read)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (out, 1), (err, 2)):
            os.dup2(source, target)
        limit = int(request["seconds"]) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        data = json.dumps(Call(library, request).run()).encode()
        while data:
            data = data[os.write(write, data) :]
        os._exit(0)
    except BaseException as error:
        os.write(2, f"executor: {error!r}".encode())
        os._exit(97)


def _collect(read: int, child: int, seconds: float) -> tuple[bytes, bool]:
    parts = [b""]
    while ready := select.select([read], [], [], seconds)[0]:
        part = os.read(read, 1 << 16)
        if not part:
            break
        parts.append(part)
    else:
        os.kill(child, signal.SIGKILL)
    os.close(read)
    return b"".join(parts), not ready


def main() -> None:
    """Answer requests until standard input closes."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    library = Library(sys.argv[1], json.loads(requests.readline()))
    there = {"functions": sorted(library.by_name), "data": sorted(library.data)}
    answers.write(json.dumps(there).encode())
    answers.write(b"\n")
    answers.flush()
    for line in requests:
        answers.write(answer(library, line).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
