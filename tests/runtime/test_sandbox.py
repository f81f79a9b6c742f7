"""Nothing gets out of a sandbox, nothing is left of it, and what a script changes comes back
exactly. What a machine cannot try is skipped with its reason; one rung must hold everywhere."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from jarvis_ls.core.errors import ConfigError, JarvisError
from jarvis_ls.runtime.sandbox import ladder as ladder_module
from jarvis_ls.runtime.sandbox import landlock as landlock_module
from jarvis_ls.runtime.sandbox.base import (
    NoSandbox,
    Output,
    Ran,
    Sandbox,
    SandboxSettings,
    Script,
)
from jarvis_ls.runtime.sandbox.bwrap import Bubblewrap
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.sandbox.proof import prove
from jarvis_ls.runtime.sandbox.reading import read_sandbox
from tests.support.container_engine import container_engine
from tests.support.patience import HANGS
from tests.support.sandbox_cases import (
    BY_USERS,
    RUNGS,
    other_users_python,
    round_trip,
    sandboxes,
)

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's so far"),
    pytest.mark.watches(),
]

USER = 12345


@pytest.fixture(scope="module", autouse=True)
def engine() -> Iterator[str]:
    """Why no container engine can be tried; empty when one answers."""
    with container_engine() as problem:
        yield problem


@pytest.fixture(params=RUNGS)
def sandbox(request: pytest.FixtureRequest, tmp_path: Path, engine: str) -> Sandbox:
    if request.param == "engine" and engine:
        pytest.skip(engine)
    found = sandboxes(tmp_path / "home")[request.param]
    if isinstance(found, str):
        pytest.skip(f"{request.param}: {found}")
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a").write_text("a\n")
    return folder


async def sh(sandbox: Sandbox, root: Path, script: str, seconds: float = HANGS) -> Ran:
    return await sandbox.run(Script("bash", script, seconds), [root])


def leftovers(marker: str) -> list[str]:
    """Processes that carry a marker in their arguments."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        with contextlib.suppress(psutil.Error):
            if any(marker in word for word in process.info["cmdline"] or ()):
                found.append(f"{process.pid} {process.info['status']}")
    return found


async def gone(marker: str) -> bool:
    """Whether processes with a marker end, as they must, within a while."""
    for _ in range(1200):
        if not leftovers(marker):
            return True
        await asyncio.sleep(0.1)
    return False


# What gets out


async def test_one_rung_holds_here(tmp_path: Path) -> None:
    best = await Ladder(tmp_path / "home").best()
    assert best.name in ("engine", "bwrap", "landlock")


async def test_no_probe_gets_out(sandbox: Sandbox) -> None:
    proof = await prove(sandbox, seconds=1)
    assert proof.reason == ""
    assert len(proof.tried) >= 71 and proof.builds


async def test_with_the_network_only_the_network_is_open(sandbox: Sandbox) -> None:
    if sandbox.name == "engine":
        pytest.skip("the engine of the tests has no network")
    proof = await prove(sandbox, network=True)
    assert proof.problem == ""
    assert set(proof.escaped) - {"other_interfaces", "names"} == {
        "tcp (it arrived)",
        "udp (it arrived)",
    }


@pytest.fixture(scope="module")
def as_user(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All rungs as a user who is not root, who may have overlays."""
    if os.geteuid() != 0:
        pytest.skip("we are no root: the other tests are as a user already")
    folder = Path("/var/tmp") / f"jarvis-test-{os.getpid()}"
    folder.mkdir(mode=0o755)
    try:
        os.chown(folder, USER, USER)
        said = ""
        for python in other_users_python():
            try:
                done = subprocess.run(
                    [python, "tests/support/sandbox_cases.py", str(folder), "12"],
                    env={
                        "HOME": str(folder),
                        "PATH": "/usr/bin:/bin",
                        "PYTHONPATH": os.pathsep.join(["server", *filter(None, sys.path)]),
                    },
                    user=USER,
                    group=USER,
                    extra_groups=[],
                    capture_output=True,
                    text=True,
                )
            except OSError as error:
                said = str(error)
                continue
            if done.returncode == 0:
                return dict(json.loads(done.stdout))
            said = done.stderr[-1000:]
        pytest.skip(f"another user can run no Python that has our libraries: {said}")
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)


@pytest.mark.parametrize("rung", BY_USERS)
def test_as_a_user_nothing_gets_out_and_changes_come_back(
    as_user: dict[str, Any], rung: str
) -> None:
    result = as_user[rung]
    if "skipped" in result:
        pytest.skip(result["skipped"])
    assert result["reason"] == "" and result["tried"] >= 71
    assert result["user"] == str(USER)
    assert result["wrong"] == []
    assert result["kept"] == "1\n1\n1\n" and result["made"] == 0
    if rung == "bwrap":
        assert result["isolation"] == "bwrap (overlay)"


async def test_without_a_supervisor_landlock_says_that_nothing_compiled_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel (or a container we run in) may have nobody to hand calls to."""
    if isinstance(sandboxes(tmp_path / "home")["landlock"], str):
        pytest.skip("no Landlock here")
    monkeypatch.setattr(landlock_module, "seccomp_call", lambda: 9999)
    for _ in range(2):  # proven, then remembered
        best = await Ladder(tmp_path / "home", SandboxSettings(rungs=("landlock",))).best()
        assert not best.builds
    proof = await prove(best)
    assert proof.holds and not proof.builds


async def test_a_home_below_a_folder_for_temporary_files_refuses_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its tools are bound there, so that the sandbox has folders of these names of its own."""
    home = tmp_path / "somebody"
    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".cargo" / "registry").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for name, found in sandboxes(tmp_path / "state").items():
        if not isinstance(found, str) and name != "engine":
            proof = await prove(found)
            assert proof.reason == "", name


class Leaky(Sandbox):
    """Claims what it does not do."""

    name = "bwrap"

    def __init__(self, output: str, touch: bool = False) -> None:
        self.output, self.touch = output, touch

    async def run(self, script: Script, roots: Any, output: Output | None = None) -> Ran:
        if self.touch:
            (roots[0].parent / "outside" / "victim").write_text("touched")
        return Ran(0, self.output, "", 0.0, self.name)

    async def prepare(self, roots: Any, session: str) -> None:
        raise AssertionError("it is passed over")


@pytest.mark.parametrize(
    ("output", "touch", "reason"),
    [
        ("write_outside\tout\ndone\n", False, "write outside"),
        ("write_outside\tkept\ndone\n", True, "touched victim"),
        ("write_outside\tkept\n", False, "did not run"),
        ("", False, "printed nothing"),
    ],
)
async def test_a_sandbox_that_leaks_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, touch: bool, reason: str
) -> None:
    ladder = Ladder(tmp_path / "home", SandboxSettings(rungs=("bwrap",)))
    monkeypatch.setattr(ladder, "_candidates", lambda _: [(Leaky(output, touch), "")])
    with pytest.raises(NoSandbox, match=reason):
        await ladder.best()
    assert reason in ladder.rejected["bwrap"]


async def test_a_sandbox_that_cannot_start_is_no_failed_script(tmp_path: Path, root: Path) -> None:
    for program, stage in (("/nonexistent/bwrap", True), ("/bin/false", True), ("/bin/ls", True)):
        one = Bubblewrap(
            tmp_path / "home", SandboxSettings(), program=program, stage=stage, overlay=False
        )
        proof = await prove(one)
        assert not proof.holds and proof.reason
    missing = Bubblewrap(
        tmp_path / "home", SandboxSettings(), program="/nonexistent/b", stage=True, overlay=False
    )
    with pytest.raises(JarvisError, match="did not start"):
        await sh(missing, root, "echo ran")


async def test_a_proof_is_remembered_and_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SandboxSettings(rungs=("bwrap", "landlock"))
    first = await Ladder(tmp_path / "home", settings).best()
    proven = []

    async def count(sandbox: Sandbox, **_: Any) -> Any:
        proven.append(sandbox.name)
        return await prove(sandbox)

    monkeypatch.setattr(ladder_module, "prove", count)
    again = await Ladder(tmp_path / "home", settings).best()
    assert again.name == first.name and proven == []

    async def broken(sandbox: Sandbox) -> bool:
        return False

    monkeypatch.setattr(ladder_module, "_still_holds", broken)
    await Ladder(tmp_path / "home", settings).best()
    assert proven == [first.name]
    monkeypatch.undo()
    monkeypatch.setattr(ladder_module, "prove", count)
    monkeypatch.setattr(ladder_module, "identity", lambda _: ["another boot"])
    await Ladder(tmp_path / "home", settings).best()
    assert proven == [first.name] * 2


async def test_without_trust_nothing_runs_without_isolation(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "home", SandboxSettings(isolation="none", rungs=()))
    with pytest.raises(NoSandbox):
        await ladder.best()
    assert (await ladder.best(trusted=True)).name == "none"


# What a script finds


async def test_the_environment_is_a_short_list(
    sandbox: Sandbox, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "s3cret")
    ran = await sandbox.run(Script("bash", "env", 30, environment={"GIVEN": "yes"}), [root])
    assert "s3cret" not in ran.output and "GIVEN=yes" in ran.output
    names = {line.partition("=")[0] for line in ran.output.splitlines()}
    assert names <= {
        "PATH",
        "HOME",
        "TMPDIR",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "TERM",
        "NO_COLOR",
        "PAGER",
        "GIT_PAGER",
        "GIT_TERMINAL_PROMPT",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_KEY_0",
        "GIT_CONFIG_VALUE_0",
        "JARVIS_SANDBOX",
        "RUSTUP_HOME",
        "CARGO_NET_OFFLINE",
        "GOPROXY",
        "PIP_NO_INDEX",
        "TZ",
        "GIVEN",
        "PWD",
        "HOSTNAME",
        "container",
        "OLDPWD",
        "SHLVL",
        "_",
    }


async def test_each_run_sees_the_workspace_as_it_is_now(sandbox: Sandbox, root: Path) -> None:
    """An overlay that stays mounted would show a file's old contents after a rename."""
    assert (await sh(sandbox, root, "cat a; echo mine >> a")).output == "a\n"
    (root / "new").write_text("renamed\n")
    (root / "new").rename(root / "a")
    assert (await sh(sandbox, root, "cat a")).output == "renamed\n"


@pytest.mark.parametrize("name", ["a:b", "a,b", "a\\b", "a b", "ünï'\"", "$(touch x)", "-n", "\n"])
async def test_folders_of_any_name(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "f").write_text("f")
    try:
        ran = await sh(sandbox, folder, "cat f; echo g > g")
    except JarvisError as error:
        assert "Podman cannot" in str(error)  # an older one drops what it cannot quote
        pytest.skip(str(error))
    assert ran.output == "f" and [change.path for change in ran.changes] == ["g"]


async def test_a_workspace_that_holds_the_home_folder_is_refused(sandbox: Sandbox) -> None:
    for folder in (Path.home(), Path("/"), Path.home().parent):
        with pytest.raises(JarvisError, match="home folder"):
            await sh(sandbox, folder, "true")


async def test_a_copy_is_never_made_within_itself(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    for one in sandboxes(root / "state").values():
        if isinstance(one, str) or (one.name == "landlock" and os.geteuid() == 0):
            continue  # root's copies for Landlock lie elsewhere
        with pytest.raises(JarvisError, match="JARVIS_HOME"):
            await sh(one, root, "true")


async def test_a_workspace_too_large_to_copy_is_refused(tmp_path: Path, root: Path) -> None:
    found = sandboxes(tmp_path / "home", SandboxSettings(copy_files=3))["landlock"]
    if isinstance(found, str):
        pytest.skip(found)
    for number in range(5):
        (root / str(number)).write_text("x")
    with pytest.raises(JarvisError, match="too large to be copied"):
        await sh(found, root, "true")


async def test_special_files_of_the_workspace_do_no_harm(sandbox: Sandbox, root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "loop").symlink_to("loop")
    (root / "out").symlink_to("/etc/shadow")
    (root / "deep").mkdir()
    ran = await sh(sandbox, root, "cat out; mkfifo p2; echo done")
    assert "done" in ran.output and "root:" not in ran.output
    assert ran.changes == () and "pipes" in " ".join(ran.left_out)


async def test_a_script_may_be_any_text(sandbox: Sandbox, root: Path) -> None:
    assert (await sh(sandbox, root, "printf '%s' \"ü\udcff$0\" | wc -c")).exit == 0
    assert (await sh(sandbox, root, "exit 3")).exit == 3
    assert (await sh(sandbox, root, "kill -9 $$")).exit in (137, None)


async def test_unreadable_folders_a_script_makes_are_read_and_removed(
    sandbox: Sandbox, root: Path, tmp_path: Path
) -> None:
    if sandbox.name == "landlock":
        pytest.skip("modes cannot be changed on this rung")
    ran = await sh(sandbox, root, "mkdir -p x/y/z; echo f > x/y/f; chmod 000 x/y/f x/y/z x/y x")
    assert [change.path for change in ran.changes] == ["x/y/f"]
    assert list((tmp_path / "home/sandbox").glob("run-*")) == []


# Limits and ends


async def test_memory_is_bounded(tmp_path: Path, root: Path) -> None:
    for name, one in sandboxes(tmp_path / "home", SandboxSettings(memory=150_000_000)).items():
        if isinstance(one, str):
            continue
        ran = await sh(one, root, "perl -e '$x = \"x\" x 400_000_000; sleep 30'")
        assert "memory" in ran.ended, name


async def test_a_fork_bomb_is_bounded(tmp_path: Path, root: Path) -> None:
    settings = SandboxSettings(processes=40)
    for name, one in sandboxes(tmp_path / "home", settings).items():
        if isinstance(one, str):
            continue
        marker = f"7{random.getrandbits(48)}"
        script = f"for i in $(seq 200); do sleep {marker} & done"
        ran = await one.run(Script("sh", script, HANGS), [root])
        assert "Cannot fork" in ran.output and ran.exit != 0, name
        assert await gone(marker)


async def test_time_ends_everything_that_was_started(sandbox: Sandbox, root: Path) -> None:
    marker = f"7{random.getrandbits(48)}"
    script = (
        f"setsid sleep {marker} & (setsid nohup sleep {marker} >/dev/null 2>&1 &) ;"
        f" trap '' TERM INT HUP; sleep {marker}"
    )
    ran = await sh(sandbox, root, script, 1)
    assert "longer than 1 s" in ran.ended and ran.exit is None
    assert await gone(marker)


async def test_the_end_of_a_script_ends_what_it_left_behind(sandbox: Sandbox, root: Path) -> None:
    marker = f"7{random.getrandbits(48)}"
    script = f"(setsid nohup sleep {marker} >/dev/null 2>&1 &); sleep 0.1; echo done"
    assert (await sh(sandbox, root, script)).output == "done\n"
    assert await gone(marker)


async def test_cancelling_ends_everything(sandbox: Sandbox, root: Path, tmp_path: Path) -> None:
    marker = f"7{random.getrandbits(48)}"
    ready = asyncio.Event()
    script = Script("bash", f"setsid sleep {marker} & echo ready; sleep {marker}", 60)
    running = asyncio.ensure_future(sandbox.run(script, [root], lambda _: ready.set()))
    waiting = asyncio.ensure_future(ready.wait())
    await asyncio.wait({waiting, running}, return_when=asyncio.FIRST_COMPLETED)
    if not ready.is_set():
        waiting.cancel()
        pytest.fail(f"the script did not begin: {running}")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await gone(marker)
    assert not list(tmp_path.glob("home/sandbox/run-*"))


@pytest.mark.parametrize("sandbox", RUNGS[1:], indirect=True)  # an engine starts nothing here
async def test_cancelling_while_it_starts_ends_everything(sandbox: Sandbox, root: Path) -> None:
    """The loop is busy from the moment the process is there until the script is at work."""
    marker = f"7{random.getrandbits(48)}"
    before = set(psutil.Process().children())
    running = asyncio.ensure_future(sandbox.run(Script("bash", f"sleep {marker}", 60), [root]))
    while not running.done() and set(psutil.Process().children()) <= before:
        await asyncio.sleep(0)
    deadline = time.monotonic() + 60
    while not leftovers(marker) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await gone(marker)


async def test_fifty_rounds_leave_nothing(tmp_path: Path, root: Path) -> None:
    """Ended at random points, by time, by cancelling and by themselves."""
    marker = f"7{random.getrandbits(48)}"
    chance = random.Random(1)
    for one in sandboxes(tmp_path / "home").values():
        if isinstance(one, str):
            continue
        for number in range(17):
            script = Script(
                "bash", f"echo {number} > f; sleep {marker} & wait", chance.random() / 4
            )
            running = asyncio.ensure_future(one.run(script, [root]))
            if number % 2:
                await asyncio.sleep(chance.random() / 5)
                running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
    assert await gone(marker)
    # others mount and unmount too, such as the container engine of a test beside this one
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    assert list((tmp_path / "home/sandbox").glob("run-*")) == []
    assert (root / "a").read_text() == "a\n" and not (root / "f").exists()


SERVER = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from tests.support.sandbox_cases import sandboxes
    from jarvis_ls.runtime.sandbox.base import Script
    home, root, name, marker = sys.argv[1:]
    script = Script("bash", f"setsid sleep {marker} & echo ready; sleep {marker}", 600)
    def say(text):
        print("ready", flush=True)
    asyncio.run(sandboxes(Path(home))[name].run(script, [Path(root)], say))
    """
)


async def test_a_script_is_stopped_on_demand_and_what_it_did_counts(
    sandbox: Sandbox, root: Path
) -> None:
    marker = f"8{random.getrandbits(48)}"
    stop = asyncio.Event()
    script = Script("bash", f"echo made >made; echo ready; sleep {marker}", 600, stop=stop)
    running = asyncio.ensure_future(
        sandbox.run(script, [root], lambda text: stop.set() if "ready" in text else None)
    )
    ran = await asyncio.wait_for(running, 60)
    assert (ran.exit, ran.ended) == (None, "it was stopped")
    assert [change.path for change in ran.changes] == ["made"]
    assert await gone(marker)


@pytest.mark.parametrize("rung", RUNGS)
async def test_a_killed_server_takes_its_scripts_along(
    tmp_path: Path, root: Path, rung: str
) -> None:
    found = sandboxes(tmp_path / "home")[rung]
    if isinstance(found, str):
        pytest.skip(found)
    for _ in range(3):
        marker = f"7{random.getrandbits(48)}"
        server = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(tmp_path / "home"), str(root), rung, marker],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(["server", ".", *sys.path])},
        )
        assert server.stdout is not None
        assert await asyncio.to_thread(server.stdout.readline) == "ready\n"
        server.kill()
        server.wait()
        server.stdout.close()
        assert await gone(marker)
    assert (await sh(found, root, "echo next")).output == "next\n"
    assert list(tmp_path.glob("home/sandbox/run-*")) == []  # the next cleans up after the dead


async def test_it_works_from_any_thread(sandbox: Sandbox, root: Path) -> None:
    """A sandbox dies with the thread that started it: that must be the loop's, while it runs."""
    said: list[Ran] = []

    def other() -> None:
        said.append(asyncio.run(sh(sandbox, root, "sleep 0.5; echo alive")))

    thread = threading.Thread(target=other)
    thread.start()
    await asyncio.to_thread(thread.join)
    assert said[0].output == "alive\n"


# What comes back


@pytest.fixture
def seeds() -> Iterator[int]:
    return iter(range(1000, 1012))


async def test_changes_come_back_exactly(
    sandbox: Sandbox, tmp_path: Path, seeds: Iterator[int]
) -> None:
    wrong = [await round_trip(sandbox, tmp_path / "round", seed) for seed in seeds]
    assert [one for one in wrong if one] == []


async def test_what_a_build_makes_is_there_for_the_next_script(
    sandbox: Sandbox, root: Path, tmp_path: Path
) -> None:
    (root / ".gitignore").write_text("target/\nout/\n")
    (root / "sub").mkdir()
    (root / "out").mkdir()
    (root / "out" / "own").write_text("the user's")
    build = (
        "mkdir -p target/debug sub/target; echo 1 >>target/debug/n; echo 1 >>sub/target/n;"
        " echo mine >>out/made; echo evil/ >>.gitignore; mkdir evil; echo x >evil/x"
    )
    ran = await sh(sandbox, root, build)
    assert {change.path for change in ran.changes} == {".gitignore", "evil/x"}
    assert {"target", "sub/target"} <= set(ran.built)
    ran = await sh(sandbox, root, build + "; cat target/debug/n sub/target/n out/own; ls")
    assert ran.output.startswith("1\n1\n1\n1\nthe user's")
    assert sorted(path.name for path in root.iterdir()) == [".gitignore", "a", "out", "sub"]
    (root / "target").write_text("now a file of the user's")
    assert (await sh(sandbox, root, "cat target; cat sub/target/n")).output == (
        "now a file of the user's1\n1\n"
    )
    assert (await sh(sandbox, root, "rm -r sub/target; ls sub")).output == ""
    assert (await sh(sandbox, root, "ls sub")).output == ""
    other = tmp_path / "other"
    other.mkdir()
    (other / ".gitignore").write_text("target/\n")
    assert (await sh(sandbox, other, "ls")).output == ""


async def test_a_flood_of_files_is_bounded(sandbox: Sandbox, root: Path) -> None:
    ran = await sh(sandbox, root, "mkdir d; cd d; for i in $(seq 2100); do : >$i; done")
    assert len(ran.changes) == 2000
    assert "100 changed files more than can be checked" in ran.left_out


def test_settings_are_checked() -> None:
    given = {"isolation": "none", "rungs": ["bwrap"], "memory": 5, "environment": ["A"]}
    assert read_sandbox(given) == SandboxSettings("none", ("bwrap",), environment=("A",), memory=5)
    for wrong in (
        {"isolation": "off"},
        {"rungs": ["none"]},
        {"rungs": "bwrap"},
        {"memory": 0},
        {"memory": True},
        {"memory": "1"},
        {"image": 1},
        {"readable": [1]},
        {"unknown": 1},
    ):
        with pytest.raises(ConfigError):
            read_sandbox(wrong)
