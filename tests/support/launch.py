"""Stands where a program was started: hands streams, folder, environment and arguments on to the
nursery whose socket is the first argument, passes signals on, and ends as the program does."""

import os
import signal
import socket
import sys

LENGTH = 4


def main(path: str, *arguments: str) -> int:
    with socket.socket(socket.AF_UNIX) as nursery:
        nursery.connect(path)
        texts = [os.getcwdb(), b"", *map(os.fsencode, arguments)]  # noqa: PTH109  # quick to start
        texts += [b"=".join(pair) for pair in os.environb.items()]
        body = b"\0".join(texts)
        head = len(body).to_bytes(LENGTH, "big") + len(arguments).to_bytes(LENGTH, "big")
        socket.send_fds(nursery, [head], [0, 1, 2])
        nursery.sendall(body)
        child = int.from_bytes(nursery.recv(LENGTH, socket.MSG_WAITALL), "big")
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda given, _: os.kill(child, given))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # they are the program's alone: who reads them sees its end
            os.dup2(nothing, stream)
        status = int.from_bytes(nursery.recv(LENGTH, socket.MSG_WAITALL), "big", signed=True)
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


sys.exit(main(*sys.argv[1:]))
