"""A program of its own that tries to get out of a sandbox it runs in; nothing of ours is
imported. Each attempt is harmless where it succeeds: it touches only what the tester laid out.

Prints a line `name<TAB>out` for each attempt that got out, `name<TAB>kept` for each that did not.
What it must know is JSON in the variable `JARVIS_PROBE`.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import platform
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

KNOWN = json.loads(os.environ["JARVIS_PROBE"])
OUTSIDE, SECRET, TOKEN = KNOWN["outside"], KNOWN["secret"], KNOWN["token"].encode()
VICTIM = os.path.join(OUTSIDE, "victim")
SERVER = KNOWN["pid"]
LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
PROBES: dict[str, Callable[[], bool]] = {}


def probe(run: Callable[[], bool]) -> Callable[[], bool]:
    PROBES[run.__name__] = run
    return run


def call(x86: int, arm: int, *arguments: Any) -> int:
    """Return a system call; its result, negative when it failed."""
    LIBC.syscall.restype = ctypes.c_long
    result: int = LIBC.syscall(
        ctypes.c_long(arm if ARM else x86),
        *(a if isinstance(a, (bytes, ctypes.Array)) else ctypes.c_long(a) for a in arguments),
    )
    return result


def write(path: str) -> bool:
    with open(path, "ab") as file:
        file.write(b"x")
    return True


def write_new(path: str) -> bool:
    """Make a file, and take it away again when that was possible."""
    write(path)
    os.unlink(path)
    return True


@contextlib.contextmanager
def opened(path: str) -> Iterator[int]:
    """Give a descriptor that allows nothing but to name the file."""
    descriptor = os.open(path, os.O_PATH)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@probe
def write_outside() -> bool:
    return write(os.path.join(OUTSIDE, "new"))


@probe
def overwrite_outside() -> bool:
    return write(VICTIM)


@probe
def truncate_outside() -> bool:
    os.truncate(VICTIM, 0)
    return True


@probe
def remove_outside() -> bool:
    os.unlink(VICTIM)
    return True


@probe
def rename_into_the_workspace() -> bool:
    os.rename(VICTIM, "stolen")
    return True


@probe
def rename_out_of_the_workspace() -> bool:
    with open("mine", "w") as file:
        file.write("x")
    os.rename("mine", os.path.join(OUTSIDE, "mine"))
    return True


@probe
def hard_link_to_outside() -> bool:
    os.link(VICTIM, "hard")
    return write("hard")


@probe
def symbolic_link_to_outside() -> bool:
    os.symlink(VICTIM, "soft")
    return write("soft")


@probe
def symbolic_link_as_a_folder() -> bool:
    os.symlink(OUTSIDE, "softdir")
    return write("softdir/new2")


@probe
def write_by_climbing() -> bool:
    return write("../" * 40 + OUTSIDE.lstrip("/") + "/climbed")


@probe
def make_folder_outside() -> bool:
    os.mkdir(os.path.join(OUTSIDE, "folder"))
    return True


@probe
def change_mode_outside() -> bool:
    os.chmod(VICTIM, 0o777)
    return True


@probe
def change_times_outside() -> bool:
    os.utime(VICTIM, (1, 1))
    return True


@probe
def change_attributes_outside() -> bool:
    os.setxattr(VICTIM, "user.jarvis", b"x")
    return True


@probe
def change_mode_by_descriptor() -> bool:
    descriptor = os.open(VICTIM, os.O_RDONLY)
    os.fchmod(descriptor, 0o777)
    return True


@probe
def change_mode_by_descriptor_in_proc() -> bool:
    with opened(VICTIM) as descriptor:
        os.chmod(f"/proc/self/fd/{descriptor}", 0o777)
    return True


@probe
def change_mode_through_a_link() -> bool:
    os.symlink(VICTIM, "soft-mode")
    os.chmod("soft-mode", 0o777)
    return True


@probe
def change_mode_through_a_linked_folder() -> bool:
    os.symlink(OUTSIDE, "soft-folder")
    os.chmod("soft-folder/victim", 0o777)
    return True


@probe
def change_mode_from_outside() -> bool:
    before = os.getcwd()
    os.chdir(OUTSIDE)
    try:
        os.chmod("victim", 0o777)
    finally:
        os.chdir(before)
    return True


@probe
def change_mode_by_folder() -> bool:
    with opened(OUTSIDE) as folder:
        os.chmod("victim", 0o777, dir_fd=folder)
    return True


@probe
def change_times_by_descriptor() -> bool:
    os.utime(os.open(VICTIM, os.O_RDONLY), (1, 1))
    return True


@probe
def change_times_without_following() -> bool:
    os.utime(VICTIM, (1, 1), follow_symlinks=False)
    return True


@probe
def change_mode_while_the_name_changes() -> bool:
    """Change a mode while the name changes: who looks first and changes then is told one name and
    finds another. Whether it worked is seen from outside."""
    inside = os.path.realpath("own-mode")
    with open(inside, "w"):
        pass
    longest = max(len(inside), len(VICTIM)) + 1
    names = [os.fsencode(name).ljust(longest, b"\0") for name in (inside, VICTIM)]
    named = ctypes.create_string_buffer(names[0], longest)
    ended = threading.Event()

    def exchange() -> None:
        while not ended.is_set():
            for name in names:
                ctypes.memmove(named, name, longest)
            for target in (inside, VICTIM):
                os.symlink(target, "next-mode")
                os.rename("next-mode", "turn-mode")

    thread = threading.Thread(target=exchange, daemon=True)
    thread.start()
    for _ in range(150):
        LIBC.chmod(named, 0o777)
        LIBC.chmod(b"turn-mode", 0o777)
    ended.set()
    thread.join()
    return False


@probe
def change_flags_outside() -> bool:
    descriptor = os.open(VICTIM, os.O_RDONLY)
    fcntl.ioctl(descriptor, 0x40086602, struct.pack("<Q", 0x40))  # "not to be dumped"
    return True


@probe
def answer_calls_in_place_of_the_supervisor() -> bool:
    """Put on a filter of one's own with somebody of one's own to ask, who says: continue."""
    if os.fork():
        _, status = os.wait()
        return status == 0
    LIBC.prctl(38, 1, 0, 0, 0)
    rule = ctypes.create_string_buffer(struct.pack("<HBBI", 0x06, 0, 0, 0x7FFF0000), 8)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    given = Program(1, ctypes.addressof(rule))
    LIBC.syscall.restype = ctypes.c_long
    listener = LIBC.syscall(
        ctypes.c_long(277 if ARM else 317), 1, ctypes.c_ulong(8), ctypes.byref(given)
    )
    os._exit(0 if listener >= 0 else 1)


@probe
def hard_link_by_descriptor() -> bool:
    with opened(VICTIM) as descriptor:
        os.link(f"/proc/self/fd/{descriptor}", "hard-mode", follow_symlinks=True)
    os.chmod("hard-mode", 0o777)
    return True


@probe
def read_secret_outside() -> bool:
    with open(os.path.join(OUTSIDE, "secret")) as file:
        return SECRET in file.read()


@probe
def read_through_process_root() -> bool:
    for pid in ("1", str(os.getppid()), str(SERVER)):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/root{OUTSIDE}/secret") as file:
            if SECRET in file.read():
                return True
    return False


@probe
def write_system_programs() -> bool:
    return write_new("/usr/bin/jarvis-probe")


@probe
def write_system_settings() -> bool:
    return write_new("/etc/jarvis-probe")


@probe
def write_into_the_root() -> bool:
    return write_new("/jarvis-probe")  # would vanish without a word


@probe
def write_home() -> bool:
    """Write into the home folder. Whether it came there is seen from outside: where the home folder
    is below a folder for temporary files, a script has its own folders of this name."""
    write(os.path.join(KNOWN["home"], KNOWN["mark"]))
    return False


@probe
def core_pattern() -> bool:
    with open("/proc/sys/kernel/core_pattern", "r+b"):
        return True


@probe
def kernel_settings() -> bool:
    for name in (
        "sys/kernel/modprobe",
        "sys/vm/drop_caches",
        "sys/fs/binfmt_misc/register",
        "sysrq-trigger",
        "sys/kernel/hotplug",
    ):
        with contextlib.suppress(OSError), open(f"/proc/{name}", "wb"):
            return True
    return False


@probe
def system_tree() -> bool:
    for name in ("kernel/uevent_helper", "kernel/mm/ksm/run", "power/state"):
        with contextlib.suppress(OSError), open(f"/sys/{name}", "r+b"):
            return True
    return False


@probe
def cgroup_release_agent() -> bool:
    for top, folders, files in os.walk("/sys/fs/cgroup"):
        for name in {"release_agent", "cgroup.procs", "notify_on_release"} & set(files):
            with contextlib.suppress(OSError), open(os.path.join(top, name), "r+b"):
                return True
        if top.count("/") > 5:
            folders.clear()
    return False


@probe
def remount_writable() -> bool:
    return bool(LIBC.mount(None, b"/", None, ctypes.c_ulong(32 | 4096), None) == 0)


@probe
def remount_programs_writable() -> bool:
    return bool(LIBC.mount(None, b"/usr", None, ctypes.c_ulong(32 | 4096), None) == 0)


@probe
def mount_something() -> bool:
    os.mkdir("mount")  # no one else would notice
    done = bool(LIBC.mount(b"tmpfs", b"mount", b"tmpfs", ctypes.c_ulong(0), None) == 0)
    if done:
        LIBC.umount2(b"mount", 2)
    return done


@probe
def mount_the_new_way() -> bool:
    return call(430, 430, b"tmpfs\0", 0) >= 0


@probe
def unmount() -> bool:
    for place in (b"/usr", b"/etc/localtime", b"/proc", b"/dev", b"."):
        # "Mark as expired" changes nothing the first time, but tells whether one may.
        if LIBC.umount2(place, 4) == 0 or ctypes.get_errno() in (errno.EAGAIN, errno.EBUSY):
            return True
    return False


@probe
def change_root() -> bool:
    os.chroot(".")
    return True


@probe
def enter_namespace() -> bool:
    descriptor = os.open("/proc/1/ns/mnt", os.O_RDONLY)
    try:
        return call(308, 268, descriptor, 0) == 0
    finally:
        os.close(descriptor)


@probe
def new_user_namespace() -> bool:
    return bool(LIBC.unshare(0x10000000) == 0)


@probe
def new_user_namespace_by_clone() -> bool:
    pid = call(56, 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
    return pid > 0


@probe
def new_user_namespace_by_clone3() -> bool:
    given = struct.pack("<8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = call(435, 435, given, len(given))
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
    return pid > 0


@probe
def trace_parent() -> bool:
    for pid in {1, os.getppid(), SERVER} - {os.getpid()}:
        if call(101, 117, 0x4206, pid, 0, 0) == 0:  # seize
            call(101, 117, 17, pid, 0, 0)
            if not _is_confined(pid):
                return True
    return False


def _is_confined(pid: int) -> bool:
    """Return whether a process is under a filter of system calls, as we are."""
    with open(f"/proc/{pid}/status") as file:
        return "Seccomp:\t2" in file.read()


@probe
def read_memory_of_server() -> bool:
    return any(_readable_memory(pid) for pid in (SERVER, KNOWN["parent"]))


def _readable_memory(pid: int) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/mem", "rb"):
        return _is_theirs(pid)
    return False


def _is_theirs(pid: int) -> bool:
    """Return whether the process of this number is the tester's, not one of the sandbox's own."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return bool(file.read().decode(errors="replace") == KNOWN["command"])
    return False


@probe
def read_environment_of_server() -> bool:
    for pid in (SERVER, KNOWN["parent"]):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            if _is_theirs(pid) and file.read():
                return True
    return False


@probe
def signal_server() -> bool:
    try:
        os.kill(SERVER, 0)
    except ProcessLookupError:
        return False
    return _is_theirs(SERVER)


@probe
def secrets_in_environment() -> bool:
    if any(SECRET in value for value in os.environ.values() if value != os.environ["JARVIS_PROBE"]):
        return True
    for pid in os.listdir("/proc"):
        if pid.isdigit() and int(pid) != os.getpid():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
                if f"JARVIS_CANARY={SECRET}".encode() in file.read():
                    return True
    return False


@probe
def inherited_descriptors() -> bool:
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            leads = os.readlink(f"/proc/self/fd/{name}")
            if leads == os.path.realpath(sys.argv[0]):  # Python reads it while it runs
                continue
            if int(name) > 2 and not leads.startswith(("/proc/", "/dev/", "pipe:")):
                return True
    return False


@probe
def tcp() -> bool:
    with socket.create_connection(("127.0.0.1", KNOWN["tcp"]), 1) as connected:
        connected.sendall(TOKEN + b" tcp")
    return False  # the listener knows better


@probe
def udp() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(TOKEN + b" udp", ("127.0.0.1", KNOWN["udp"]))
    return False


@probe
def other_interfaces() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("192.0.2.1", 53))  # an address of no one; only a route is asked for
        return True


@probe
def names() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(0.2)
        for server in ("192.0.2.53", *_name_servers()):
            sender.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", (server, 53))
            return True
    return False


def _name_servers() -> list[str]:
    with contextlib.suppress(OSError), open("/etc/resolv.conf") as file:
        return [line.split()[1] for line in file if line.startswith("nameserver ")]
    return []


@probe
def unix_socket() -> bool:
    with socket.socket(socket.AF_UNIX) as connected:
        connected.connect(KNOWN["unix"])
        connected.sendall(TOKEN + b" unix")
    return True


@probe
def unix_datagram() -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(TOKEN + b" dgram", KNOWN["dgram"])
    return True


@probe
def abstract_socket() -> bool:
    with socket.socket(socket.AF_UNIX) as connected:
        connected.connect("\0" + KNOWN["abstract"])
        connected.sendall(TOKEN + b" abstract")
    return True


@probe
def container_engine_sockets() -> bool:
    known = ["docker.sock", "podman/podman.sock", "containerd/containerd.sock", "crio/crio.sock"]
    for path in (*(f"/run/{name}" for name in known), "/var/run/docker.sock", KNOWN["engine"]):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connected:
            connected.connect(path)
            return True
    return False


@probe
def raw_socket() -> bool:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW):
        return True


@probe
def socket_to_the_hypervisor() -> bool:
    with socket.socket(40, socket.SOCK_STREAM):  # AF_VSOCK: only whether it can be made
        return True


@probe
def become_root() -> bool:
    os.setuid(0)
    return os.path.exists(OUTSIDE)


@probe
def become_root_by_setuid_program() -> bool:
    for name in ("/usr/bin/su", "/usr/bin/sudo", "/usr/bin/mount", "/bin/ping"):
        if os.path.exists(name):
            done = subprocess.run(
                [name, "-n", "true"], capture_output=True, stdin=subprocess.DEVNULL
            )
            if done.returncode == 0 and name.endswith("sudo"):
                return True
    with open("/proc/self/status") as file:
        return "NoNewPrivs:\t1" not in file.read()


@probe
def own_setuid_program() -> bool:
    with open("suid", "wb") as file:
        file.write(b"#!/bin/sh\n")
    os.chown("suid", 0, 0)
    os.chmod("suid", 0o4755)
    return os.stat("suid").st_uid == 0


@probe
def capabilities() -> bool:
    with open("/proc/self/status") as file:
        found = {line.split(":")[0]: line.split()[1] for line in file if line.startswith("Cap")}
    return any(int(found[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb"))


@probe
def type_into_the_terminal() -> bool:
    for name in (0, 1, 2, "/dev/tty", "/dev/console"):
        with contextlib.suppress(OSError):
            descriptor = name if isinstance(name, int) else os.open(name, os.O_RDWR)
            fcntl.ioctl(descriptor, 0x5412, b"\n")
            return True
    return False


@probe
def io_uring() -> bool:
    return call(425, 425, 4, ctypes.create_string_buffer(120)) >= 0


@probe
def shared_memory() -> bool:
    LIBC.shmat.restype = ctypes.c_void_p
    place = LIBC.shmat(KNOWN["memory"], None, 0)
    return place not in (None, ctypes.c_void_p(-1).value) and SECRET.encode() in ctypes.string_at(
        place, len(SECRET)
    )


@probe
def kernel_programs() -> bool:
    return call(321, 280, 0, ctypes.create_string_buffer(128), 128) >= 0


@probe
def performance_events() -> bool:
    given = struct.pack("<II", 1, 120) + bytes(112)
    return call(298, 241, ctypes.create_string_buffer(given, 120), 0, -1, -1, 0) >= 0


@probe
def load_module() -> bool:
    result = call(175, 105, b"", 0, b"\0")
    return result == 0 or ctypes.get_errno() not in (1, 38)


@probe
def keyring() -> bool:
    return call(250, 219, 0, -3, 0) >= 0


@probe
def files_by_handle() -> bool:
    buffer = ctypes.create_string_buffer(struct.pack("<Ii", 64, 0) + bytes(64), 72)
    number = ctypes.create_string_buffer(8)
    path = b"/usr\0"
    return call(303, 264, -100, path, buffer, number, 0) == 0


@probe
def devices() -> bool:
    for name in sorted(os.listdir("/dev")):
        path = os.path.join("/dev", name)
        if name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"):
            continue
        with contextlib.suppress(OSError):
            kind = os.lstat(path).st_mode & 0o170000
            if kind in (0o020000, 0o060000):
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
                return True
    return False


@probe
def make_device() -> bool:
    os.mknod("device", 0o060600, os.makedev(254, 0))
    return True


@probe
def kernel_log() -> bool:
    return bool(LIBC.klogctl(10, None, 0) >= 0)


@probe
def more_processes() -> bool:
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if hard == resource.RLIM_INFINITY:
        return bool(KNOWN["limits"])
    resource.setrlimit(resource.RLIMIT_NPROC, (hard + 1, hard + 1))
    return True


@probe
def higher_priority() -> bool:
    os.nice(-5)
    return True


@probe
def live_on() -> bool:
    """Leave a child behind that writes outside later, and holds on to nothing of ours."""
    if os.fork():
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    for descriptor in (0, 1, 2):
        os.dup2(os.open("/dev/null", os.O_RDWR), descriptor)
    import time

    for _ in range(KNOWN["seconds"] * 20):
        time.sleep(0.05)
        with contextlib.suppress(OSError):
            write(os.path.join(OUTSIDE, "late"))
    os._exit(0)


def modes_of_own_files() -> bool:
    """Return whether what a linker makes could be made a program."""
    with open("own-program", "w") as file:
        file.write("#!/bin/sh\n")
    os.chmod("own-program", 0o700)
    os.utime("own-program", (1, 1))
    return os.access("own-program", os.X_OK)


def main() -> None:
    for name, run in PROBES.items():
        try:
            out = bool(run())
        except BaseException:
            out = False
        print(f"{name}\t{'out' if out else 'kept'}", flush=True)
    able = False
    with contextlib.suppress(OSError):
        able = modes_of_own_files()
    print(f"modes_of_own_files\t{'able' if able else 'unable'}", flush=True)
    print("done", flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
