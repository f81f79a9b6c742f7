"""What a script finds of this machine: programs to run, and a few variables; no secrets."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from jarvis_ls.runtime.sandbox.base import SandboxSettings, Script

SYSTEM = tuple("/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /nix/store /gnu/store".split())
"""Folders of programs."""
_ETC = tuple(
    "alternatives ld.so.cache ld.so.conf ld.so.conf.d localtime mime.types ssl/certs "
    "ssl/openssl.cnf ca-certificates pki/tls/certs pki/ca-trust nsswitch.conf protocols "
    "services fonts java-11-openjdk java-17-openjdk java-21-openjdk perl python3 "
    "python3.11 python3.12 python3.13 os-release debian_version timezone magic gai.conf hosts "
    "maven/m2.conf maven/logging gradle".split()
)
_NETWORK_ETC = ("resolv.conf", "host.conf")
_HOME_TOOLS = tuple(
    ".rustup .cargo/bin .pyenv .nvm .volta .local/bin .local/share/uv/python "
    ".local/share/uv/tools .local/share/pnpm .bun/bin .deno/bin go/bin .sdkman/candidates "
    ".asdf .local/share/mise/installs".split()
)
_SEARCH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DOWNLOADED = ".m2/repository go/pkg/mod".split()
"""Below the home folder: packages that build tools have downloaded, beside those of Cargo."""
HOME = "/tmp/home"
"""Home folder inside."""


def readable(settings: SandboxSettings, script: Script) -> Iterator[tuple[str, str]]:
    """Yield the places that a script may read: the path on this machine, and the path inside."""
    seen = set()
    names = [*(f"/etc/{name}" for name in _ETC), *_programs(), *settings.readable]
    names += script.readable
    if script.network:
        names += [f"/etc/{name}" for name in _NETWORK_ETC]
    for name in names:
        place = os.path.abspath(os.path.expanduser(name))  # noqa: PTH100, PTH111
        if place in seen or not os.path.exists(place) or _is_secret(place):  # noqa: PTH110
            continue
        seen.add(place)
        yield os.path.realpath(place), place
    cargo = _rust_folder("CARGO_HOME", ".cargo")
    for name in ("registry", "git"):  # crates that are there already
        place = os.path.realpath(f"{cargo}/{name}")
        if cargo and os.path.isdir(place):  # noqa: PTH112
            yield place, f"{HOME}/.cargo/{name}"
    for name in _DOWNLOADED:
        place = os.path.realpath(Path.home() / name)
        if os.path.isdir(place) and not _is_secret(place):  # noqa: PTH112
            yield place, f"{HOME}/{name}"


def system_folders() -> Iterator[tuple[str, str]]:
    """Folders of programs: the place, and where its link leads when it is one."""
    for name in SYSTEM:
        if os.path.islink(name):  # noqa: PTH114
            yield name, os.readlink(name)  # noqa: PTH115
        elif os.path.isdir(name):  # noqa: PTH112
            yield name, ""


def variables(
    names: Iterable[str], given: Mapping[str, str], *, isolation: str, network: bool
) -> dict[str, str]:
    """Return the whole environment of a script."""
    mine = {
        "PATH": search_path(),
        "HOME": HOME,
        "TMPDIR": "/tmp",
        "USER": "sandbox",
        "LOGNAME": "sandbox",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_NOSYSTEM": "1",  # one that it may not read ends git
        "GIT_CONFIG_COUNT": "1",  # the copy may belong to another user than the script
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "JARVIS_SANDBOX": isolation,
    }
    if rustup := _rust_folder("RUSTUP_HOME", ".rustup"):
        mine["RUSTUP_HOME"] = rustup
    if not network:
        mine |= {"CARGO_NET_OFFLINE": "true", "GOPROXY": "off", "PIP_NO_INDEX": "1"}
    mine |= {name: os.environ[name] for name in ("TZ", *names) if name in os.environ}
    return {**mine, **given}


def search_path() -> str:
    """Return the search path for programs: ours, then the system's."""
    own = os.environ.get("PATH", "").split(os.pathsep)
    every = [*(folder for folder in own if folder.startswith("/")), *_SEARCH.split(":")]
    return ":".join(dict.fromkeys(every))


def _programs() -> Iterator[str]:
    home = Path.home()
    yield from (str(home / name) for name in _HOME_TOOLS)
    if rustup := _rust_folder("RUSTUP_HOME", ".rustup"):
        yield rustup
    if cargo := _rust_folder("CARGO_HOME", ".cargo"):
        yield f"{cargo}/bin"
    yield from (sys.base_prefix, sys.prefix)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder.startswith("/") and not folder.startswith(
            tuple(f"{system}/" for system in SYSTEM)
        ):
            yield folder
            if Path(folder).name == "shims":  # they look for what they represent beside them
                yield str(Path(folder).parent)


def _rust_folder(variable: str, name: str) -> str:
    """Return where the Rust toolchain has its folder: as a variable says, in the home folder, or
    beside the programs that are on the search path; empty when there is none."""
    places = [os.environ.get(variable, ""), str(Path.home() / name)]
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder.startswith("/") and folder.rstrip("/").endswith("/.cargo/bin"):
            places.append(str(Path(folder).parent.parent / name))
    found = (place for place in places if place.startswith("/") and os.path.isdir(place))  # noqa: PTH112
    return next(found, "")


def _is_secret(place: str) -> bool:
    """Return whether reading a place would show the user's whole home, or more."""
    real = os.path.realpath(place)
    home = os.path.realpath(Path.home())
    return (
        real == "/"
        or real == home
        or home.startswith(real + os.sep)
        or any(
            real == f"{home}/{name}" or real.startswith(f"{home}/{name}/")
            for name in (".ssh", ".gnupg", ".aws", ".jarvis", ".config", ".docker", ".kube")
        )
    )
