"""What is watched of the weir process while it works."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from weir_process import Weir

_INTERVAL = 0.5  # seconds between samples: cheap, and many in the shortest warm-up

# With nobody connected weir may use next to no CPU: two ticks of the kernel's clock.
QUIET_SECONDS = 0.5
QUIET_CPU_SECONDS = 0.021


@dataclass
class Vitals:
    fds_before: int
    warm_kib: int = 0  # the highest resident memory of the warm-up
    peak_kib: int = 0
    peak_fds: int = 0
    end_kib: int = 0
    end_fds: int = 0
    cpu_seconds: float = 0.0
    quiet_cpu_seconds: float = 0.0

    async def watch(self, weir: Weir, warm_up: float) -> None:
        began = time.monotonic()
        while True:
            resident = weir.resident_kib()
            self.peak_kib = max(self.peak_kib, resident)
            self.peak_fds = max(self.peak_fds, weir.open_fds())
            if time.monotonic() - began < warm_up:
                self.warm_kib = max(self.warm_kib, resident)
            await asyncio.sleep(_INTERVAL)

    async def finish(self, weir: Weir) -> None:
        """When all sessions are over."""
        self.end_kib = weir.resident_kib()
        self.end_fds = weir.open_fds()
        self.cpu_seconds = weir.cpu_seconds()
        await asyncio.sleep(QUIET_SECONDS)
        self.quiet_cpu_seconds = weir.cpu_seconds() - self.cpu_seconds


def tolerated_kib(concurrency: int) -> int:
    """How far resident memory may be above the warm-up's at the end. A stuck direction holds at most
    64 KiB, so this is what all sessions at once may have needed later than in the warm-up, as malloc
    keeps such memory, and 4 MiB for what it keeps a thread and for pages first touched late. Five
    minutes are some 20,000 sessions: a leak of 1 KiB in each exceeds it."""
    return concurrency * 2 * 64 + 4096


# What a session and a MiB cost when measured, with nothing else running.
_SESSION_SECONDS = 0.001
_MIB_SECONDS = 0.002


def tolerated_cpu_seconds(sessions: int, mebibytes: float, factor: float) -> float:
    """Ten times what the work costs is far from any measuring error, and a loop that spins through
    the seconds of a dial or of a linger exceeds it soon."""
    return factor * (sessions * _SESSION_SECONDS + mebibytes * _MIB_SECONDS)
