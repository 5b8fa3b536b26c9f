"""Ports for servers, such that suites running side by side never choose the same one."""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path
from typing import IO

# Below Linux's ephemeral range (32768 and up), so that no outgoing connection takes one.
_RANGE = range(20000, 32000)

# One locked file a port, held for the life of this process: the lock goes with it however it ends.
_held: list[IO[str]] = []


def free_port() -> int:
    """A TCP port that is free on loopback and that nobody else gets from here meanwhile."""
    folder = Path(tempfile.gettempdir()) / f"weir-test-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for port in random.SystemRandom().sample(_RANGE, len(_RANGE)):
        lock = open(folder / str(port), "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Without SO_REUSEADDR: a port with connections in TIME_WAIT is refused here too.
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            lock.close()
            continue
        _held.append(lock)
        return port
    raise RuntimeError(f"no free port in {_RANGE}")


def is_listening(address: str) -> bool:
    """Whether some socket listens at `127.0.0.1:PORT` or `unix:PATH`: asks the kernel, connects to
    nothing, so that a proxy under test counts no connection that the test did not make."""
    if address.startswith("unix:"):
        path = address.removeprefix("unix:")
        accepting = "00010000"  # __SO_ACCEPTCON in the column of flags
        rows = (line.split() for line in Path("/proc/net/unix").read_text().splitlines())
        return any(len(row) == 8 and row[7] == path and row[3] == accepting for row in rows)
    port = f":{int(address.rpartition(':')[2]):04X}"
    listen = "0A"  # TCP_LISTEN in the column of states
    # An IPv4 address may be bound through a dual-stack socket, which is listed with IPv6.
    tables = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    rows = (line.split() for table in tables for line in table.read_text().splitlines())
    return any(row[1].endswith(port) and row[3] == listen for row in rows)
