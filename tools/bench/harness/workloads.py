"""What is asked of every proxy, and what weir is to reach."""
from __future__ import annotations

import dataclasses

MIB = 1 << 20
GIB = 1 << 30

# The reference that is whichever of Debian's haproxy and nginx is cheaper at the workload.
BETTER = "better"


@dataclasses.dataclass(frozen=True)
class Workload:
    """A fixed amount of work in a closed loop; its cost is what the proxy spends on one unit."""
    name: str
    title: str
    unit: str                # what the cost is divided by
    connections: int         # open at a time
    exchanges: int           # in one run
    body: int = 0            # bytes after the 64-byte header, client to backend
    answer: int = 128        # bytes, backend to client
    reconnect: bool = False  # a new connection for each exchange
    cost: str = "us"         # a key of COSTS
    targets: tuple[tuple[str, float], ...] = ()  # (reference, largest ratio weir / reference)

    def words(self) -> list[str]:
        """As the client takes them."""
        return [f"connections={self.connections}", f"exchanges={self.exchanges}",
                f"body={self.body}", f"answer={self.answer}", f"reconnect={int(self.reconnect)}"]

    def units(self) -> float:
        """In one run."""
        if self.unit == "GiB":
            return self.exchanges * max(self.body, self.answer) / GIB
        return self.connections if self.unit == "session" else self.exchanges

    def quick(self) -> Workload:
        """A thirtieth of the work: enough to see the harness run, too little to believe."""
        few = max(self.connections, self.exchanges // 30) if self.exchanges else 0
        if self.unit == "GiB":
            return dataclasses.replace(self, body=self.body // 30,
                                       answer=max(64, self.answer // 30))
        if self.unit == "session":
            return dataclasses.replace(self, connections=self.connections // 30)
        return dataclasses.replace(self, exchanges=few)


@dataclasses.dataclass(frozen=True)
class Cost:
    """How a cost, kept in nanoseconds or bytes, is shown."""
    label: str
    divisor: float


COSTS = {
    "us": Cost("us CPU", 1e3),
    "s": Cost("s CPU", 1e9),
    "KiB": Cost("KiB", 1024),
}

# The bulk targets name their reference; nginx is measured beside them. Four connections keep a
# proxy busy; a single one would mostly measure how often it is woken.
_BULK = (("haproxy", 0.50), ("haproxy-splice", 0.80))

SHORT = Workload(
    "short", "64 short connections at a time: connect, 64 bytes asked, 128 answered, client closes",
    unit="connection", connections=64, exchanges=6000, reconnect=True, targets=((BETTER, 0.95),))

REQUESTS = Workload(
    "requests", "small requests: 64 bytes asked, 128 answered, on 64 persistent connections",
    unit="request", connections=64, exchanges=60_000, targets=((BETTER, 1.00),))

DOWNLOAD = Workload(
    "download", "bulk download on 4 connections",
    unit="GiB", connections=4, exchanges=16, answer=128 * MIB, cost="s", targets=_BULK)

UPLOAD = Workload(
    "upload", "bulk upload on 4 connections",
    unit="GiB", connections=4, exchanges=16, body=128 * MIB, answer=64, cost="s", targets=_BULK)

IDLE = Workload(
    "idle", "user-space memory of an established idle session, each round in a new process",
    unit="session", connections=4000, exchanges=0, cost="KiB", targets=(("haproxy", 0.50),))

SCALE = dataclasses.replace(SHORT, name="scale", targets=(), title=(
    "short connections with 1 worker and with 2: load and proxy share all the CPUs"))

ALL = {workload.name: workload for workload in (SHORT, REQUESTS, DOWNLOAD, UPLOAD, IDLE, SCALE)}

# Where haproxy's splice can matter at all.
SPLICED = ("download", "upload")
